"""Types of derivatives that are made and called inside a differentiated function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from srcgrad.analysis.rewrites import derived
from srcgrad.analysis.targets import Constant, Uncharted
from srcgrad.analysis.types import probe
from srcgrad.analysis.types.dims import plain_dims
from srcgrad.analysis.types.objects import Args, Kwargs, ObjectTypes
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import name_of


class DerivativeTypes(ObjectTypes):
    """The part of inference that sees to derivatives."""

    def make_derivative(
        self,
        stmt: ir.Stmt,
        value: Any,
        args: Args,
        kwargs: Kwargs,
    ) -> ty.Type:
        """`sg.grad(h)` inside a differentiated function, for an h known when compiling."""
        given = [self.fixed(ir.unstar(a)) for a in args]
        named = {k: self.fixed(v) for k, v in kwargs}
        nested = self.atom(ir.unstar(args[0])) if args else None
        if isinstance(nested, ty.ClosureType) and all((*given[1:], *named.values())):
            made = self.made_once(value, given[1:], named, nested.fn)
            if made is not None:
                self.facts.derived[stmt.sid] = made
                what = f"{name_of(value)} of the nested function {nested.fn.name}"
                why = "what it captures can't be followed here"
                self.target(stmt, Uncharted(what, why, pending=True))
                return ty.UNKNOWN
        starred = any(isinstance(a, ir.Star) for a in args) or None in named
        if starred or not all((*given, *named.values())):
            why = "its function is not known when compiling"
            self.target(stmt, Uncharted(name_of(value), why))
            return ty.UNKNOWN
        found = ty.Static(self.made_once(value, given, named))
        self.target(stmt, Constant(found))
        return found

    def made_once(
        self, maker: Any, given: Sequence[Any], named: Mapping[str | None, Any],
        nested: ir.Function | None = None,
    ) -> Any:  # fmt: skip
        """What `maker` makes of known arguments, behind a nested function if there is one: one
        derivative for all rounds of inference."""
        values = [g.value for g in given]
        options = {str(k): v.value for k, v in named.items()}
        of = None if nested is None else nested.written
        key = id(maker), id(of), repr(values), repr(sorted(options.items()))
        table = self.program.derivatives
        if key not in table:
            if nested is None:
                table[key] = maker(*values, **options)
            else:
                table[key] = derived.of_nested(maker, nested, values, options)
        return table[key]

    def fixed(self, a: ir.Atom) -> Any:
        """What is known of an argument when compiling: a literal, a tuple of literals, a
        function."""
        t = self.atom(a)
        if isinstance(a, ir.Const):
            return probe.Known(a.value)
        if isinstance(t, ty.Static | ty.Literal):
            return probe.Known(t.value)
        found = self.program.constant_of(a, self.facts.fn)
        return None if found is None else probe.Known(found.value)

    def derivative(
        self,
        stmt: ir.Stmt,
        value: Any,
        args: Args,
        kwargs: Kwargs,
    ) -> ty.Type | None:
        """A call of a derivative inside a differentiated function: its generated function is
        called."""
        if any(isinstance(a, ir.Star) for a in args) or any(k is None for k, _ in kwargs):
            why, known = "a starred argument has an unknown length", self.taken_apart(args, kwargs)
            self.target(stmt, Uncharted(name_of(value), why, pending=known))
            return ty.UNKNOWN
        atoms = self.program.derivative_arguments(value, args, kwargs)
        types = tuple(plain_dims(self.atom(a) or ty.UNKNOWN) for a in atoms)
        made = value.for_types(types)
        self.program.requires.append(made)
        return self.invoke_object(stmt, made.function, atoms, (), atoms[0])

    def taken_apart(self, args: Args, kwargs: Kwargs) -> bool:
        """Whether the next form of a call may have the items of what is starred one by one."""
        spread = [a.value for a in args if isinstance(a, ir.Star)]
        spread += [v for k, v in kwargs if k is None]
        return any(isinstance(self.atom(a), ty.Tuple | ty.List | ty.Dict) for a in spread)
