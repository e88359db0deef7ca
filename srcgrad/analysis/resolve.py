"""Which function a call reaches, with which arguments; and the program: all functions at hand.

A `Program` lives for one compilation.  It knows the rules in force, lowers each function once, and
answers what a function returns for given argument types.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from srcgrad.analysis import webs
from srcgrad.analysis.recursion import Recursion
from srcgrad.analysis.targets import Bound
from srcgrad.analysis.types import constructors
from srcgrad.analysis.types.dims import plain_result
from srcgrad.errors import SourceUnavailable, UnsupportedSyntax, located
from srcgrad.frontend import source as source_module
from srcgrad.frontend.lower import lower
from srcgrad.frontend.namespace import Handed
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.outside import member
from srcgrad.ir.verify import checked
from srcgrad.rules import registry
from srcgrad.rules.registry import Entry

if TYPE_CHECKING:
    from srcgrad.analysis.effects import Summary
    from srcgrad.analysis.facts import Facts

_LOWERED: WeakKeyDictionary[Any, tuple[str, ir.Function]] = WeakKeyDictionary()


def user_source(value: Any) -> Any:
    """What `source.read` finds for a callable, or None when it has no Python source."""
    if isinstance(value, type):
        return None
    try:
        return source_module.read(value)
    except SourceUnavailable:
        return None


def lowered(found: Any) -> ir.Function:
    """The lowered function of a source, made once per function object and text."""
    old = _LOWERED.get(found.fn)
    if old is not None and old[0] == found.digest and _still_means(old[1]):
        return old[1]
    made = checked(webs.split(checked(lower(found), "lowering")), "telling webs apart")
    code = getattr(getattr(found.fn, "__srcgrad_stands_for__", None), "__code__", None)
    if code is not None:  # it is shown as the function that it stands for
        line = code.co_firstlineno
        made = dataclasses.replace(made, loc=ir.Loc(code.co_filename, line, 0, line, 0))
    _LOWERED[found.fn] = (found.digest, made)
    return made


def _seen(facts: Facts) -> tuple[Any, ...]:
    """What callers of a function see of its types."""
    return plain_result(facts.result), facts.arguments()


def _still_means(fn: ir.Function) -> bool:
    """Whether the global names of a lowered function name what they named."""
    return all(map(_is_same, fn.meanings))


def _is_same(a: ir.Global) -> bool:
    if a.root.kind == "module":
        found: Any = sys.modules.get(a.root.key, ir.MISSING)
    elif a.root.obj is None:
        return True
    else:
        found = a.root.obj
    for part in a.path:
        found = member(found, part)
    return found is a.value


def constant_atom(value: Any, name: str) -> ir.Atom:
    """A value known when compiling, as an atom: a literal, or an object handed to the module."""
    simple = value is None or isinstance(value, bool | int | float | complex | str | bytes)
    if simple and type(value).__module__ == "builtins":
        return ir.Const(value)
    root = ir.Root("namespace", name, Handed(value))
    return ir.Global(root, ("value",), value)


_Key = tuple[ir.Function, tuple[ty.Type, ...]]
_KINDS = 64  # types of arguments with which one function may be reached from itself


class Program:
    """All functions and rules of one compilation."""

    def __init__(
        self, scopes: Sequence[Mapping[Hashable, Entry]] = (), builtin: bool = False
    ) -> None:
        self.builtin = builtin  # functions of libraries have the rules that srcgrad has for them
        self.scopes = tuple(scopes)  # strongest first: `rules=`, then scoped overrides
        self.used_rules: set[Hashable] = set()  # keys of the targets whose overrides were used
        self._lexical: dict[int, tuple[Any, Mapping[Hashable, Entry]]] = {}
        self.reverses = False  # are moves between memory reversed by the source of their helpers
        self.checkpoints = True  # are loops marked by `checkpointed` run again from snapshots
        self.derivatives: dict[Any, Any] = {}  # made inside: what `grad(h)` gave, once for each h
        self.requires: list[Any] = []  # derivatives seen through, whose own inputs count too
        self.reruns = False  # definitions may be run again in the reverse sweep rather than taped
        self.unifies = False  # a variable holds values of one type, as under Numba
        self.inlines = False  # statements of small functions stand where these are called
        self.slices = False  # slices from outside are written out
        self.parts = False  # small arrays of which single elements are used are numbers
        self.sources: dict[str, str] = {}  # what the result depends on: function -> digest
        self.lowered: list[ir.Function] = []  # the functions with source that were reached
        self._facts: Recursion[_Key, Facts] = Recursion(_seen)
        self.summaries: Recursion[tuple[ir.Function, tuple[ty.Type, ...]], Summary] = Recursion(
            lambda s: s
        )
        self._constants: dict[ir.Function, dict[str, Any]] = {}
        self._constructors: dict[type, ir.Function | None] = {}
        self.for_nested: dict[object, ir.Function] = {}  # see `made_for_nested`
        self._variants: dict[tuple[ir.Function, tuple[bool, ...]], ir.Function] = {}

    @property
    def is_recursive(self) -> bool:
        """Whether the function whose types are being found calls one whose types are, too."""
        return self._facts.is_recursive

    def again(self, facts: Facts) -> None:
        """The types of a function are gone through once more."""
        self._facts.again((facts.base or facts.fn, facts.params))

    def moved(self, facts: Facts) -> bool:
        """Whether types of other functions that were found from those of this one have changed."""
        return self._facts.moved((facts.base or facts.fn, facts.params))

    # ---- rules ----

    def rule(self, value: Any, lexical: Iterable[Mapping[Hashable, Entry]] = ()) -> Entry | None:
        """The rule in force for a function, the strongest first (DESIGN section 2: precedence);
        `lexical` are those of the blocks that a call stands in."""
        found, used = registry.in_force(value, (*lexical, *self.scopes))
        self.used_rules |= used
        if used or found is getattr(value, "__srcgrad_entry__", None):
            return found
        while self.builtin and found is not None and found.given and found.builtin is not None:
            found = found.builtin
        return found

    def lexical(self, stmt: ir.With) -> Mapping[Hashable, Entry]:
        """The rules of `with sg.override({...})` inside a differentiated function."""
        from srcgrad.rules.scope import entries_of

        pairs = tuple((_value(k), _value(v)) for k, v in stmt.value)
        made = self._lexical.get(stmt.sid)
        if made is None or made[0] != pairs:
            made = self._lexical[stmt.sid] = (pairs, entries_of(pairs))
        return made[1]

    # ---- functions ----

    def reached(self, found: source_module.Source) -> ir.Function:
        """The lowered function of a source, noted as one that the result depends on."""
        fn = lowered(found)
        self.sources[f"{fn.loc.file}:{fn.loc.line}:{fn.name}"] = found.digest
        self.lowered.append(fn)
        return fn

    def function(
        self, value: Any, where: ir.Atom
    ) -> tuple[ir.Function, tuple[ir.Atom, ...], tuple[tuple[str, ir.Atom], ...]]:
        """A callable with source: its lowered function and the arguments that it carries."""
        found = source_module.read(value)
        fn = self.reached(found)
        name = fn.name if fn.name.isidentifier() else "function"
        before = tuple(constant_atom(v, f"{name}_bound{k}") for k, v in enumerate(found.bound))
        if before and isinstance(where, ir.Global) and inspect.ismethod(where.value):
            path = (*where.path, "__self__")
            before = (ir.Global(where.root, path, where.value.__self__), *before[1:])
        named = tuple(
            (k, constant_atom(v, f"{name}_{k}")) for k, v in dict(found.bound_kwargs).items()
        )
        return fn, before, named

    def derivative_arguments(
        self,
        value: Any,
        args: Sequence[ir.Atom | ir.Star],
        kwargs: Sequence[tuple[str | None, ir.Atom]],
    ) -> tuple[ir.Atom, ...]:
        """All arguments of the generated function behind a derivative, in its order."""
        outer = _of_derivative(value)
        full = outer.full(tuple(args))
        given = dict(zip(outer.signature.parameters, full, strict=False))
        given.update({k: v for k, v in kwargs if k is not None})
        out: list[ir.Atom] = []
        for name, p in outer.signature.parameters.items():
            got = given.get(name, p.default)
            if isinstance(got, ir.Var | ir.Const | ir.Global):
                out.append(got)
            elif got is p.empty:
                raise UnsupportedSyntax(f"{value!r} is called without its argument {name}")
            else:
                out.append(constant_atom(got, name))
        return tuple(out)

    def defaults(self, fn: ir.Function) -> dict[str, ir.Atom]:
        if fn.fn is None:
            return dict(fn.defaults)
        out: dict[str, ir.Atom] = {}
        for p in inspect.signature(fn.fn, follow_wrapped=False).parameters.values():
            if p.default is not p.empty:
                out[p.name] = constant_atom(p.default, f"{fn.name}_{p.name}_default")
        return out

    def leaving_out(
        self, fn: ir.Function, bound: tuple[Bound, ...]
    ) -> tuple[ir.Function, tuple[Bound, ...]]:
        """A nested function for a call that leaves defaults out which it captured where it was
        defined: those parameters become variables that start as the captured ones."""
        defaults = dict(fn.defaults)
        held = [
            isinstance(b, ir.Var) and b is defaults.get(p.name)
            for p, b in zip(fn.params, bound, strict=True)
        ]
        if not any(held):
            return fn, bound
        key = (fn, tuple(held))
        if key not in self._variants:
            first = 1 + max((s.sid for s in ir.walk(fn.body)), default=0)
            out = [p for p, gone in zip(fn.params, held, strict=True) if gone]
            start = tuple(
                ir.Assign(first + k, fn.loc, ir.Var(p.name), defaults[p.name])
                for k, p in enumerate(out)
            )
            kept = tuple(p for p in fn.params if p not in out)
            self._variants[key] = dataclasses.replace(fn, params=kept, body=(*start, *fn.body))
        rest = tuple(b for b, gone in zip(bound, held, strict=True) if not gone)
        return self._variants[key], rest

    def constructor(self, cls: type) -> ir.Function | None:
        """The function that stands for the constructor of a class, if it can be followed."""
        if cls not in self._constructors:
            source = (
                user_source(inspect.getattr_static(cls, "__init__"))
                if constructors.has_own(cls)
                else None
            )
            made = None if source is None else constructors.as_function(cls, lowered(source))
            self._constructors[cls] = made
            if source is not None and made is not None:
                self.lowered.append(lowered(source))
                self.sources[f"{made.loc.file}:{made.loc.line}:{made.name}"] = source.digest
        return self._constructors[cls]

    # ---- types ----

    def returns(self, fn: ir.Function, types: tuple[ty.Type, ...]) -> ty.Type | None:
        return plain_result(self.facts(fn, types).result)

    def settled(self, fn: ir.Function, types: tuple[ty.Type, ...]) -> Facts | None:
        """What is known of a function, unless that is being found just now."""
        return None if self._facts.runs((fn, types)) else self.facts(fn, types)

    def facts(self, fn: ir.Function, types: tuple[ty.Type, ...]) -> Facts:
        """What is known of a function for these argument types, in its final form."""
        from srcgrad.analysis.facts import Facts
        from srcgrad.analysis.infer import Inference
        from srcgrad.analysis.rewrites.elements import elements
        from srcgrad.analysis.rewrites.inline import inline
        from srcgrad.analysis.rewrites.inplace import desugar
        from srcgrad.analysis.rewrites.slices import written_out
        from srcgrad.analysis.sharpen import sharpen

        key = (fn, types)
        found = self._facts.get(key)
        if found is not None:
            return found
        self._refuse_endless(fn)
        current = written_out(fn) if self.slices else fn
        with self._facts.running(key) as so_far:
            while True:
                facts = Facts(current, types, base=fn)
                before = self._facts.before(key)
                if before is not None:
                    facts.start_from(before)
                so_far(facts)
                Inference(self, facts).run()
                better = sharpen(facts) or desugar(facts)
                if better is None and self.inlines:
                    better = inline(self, facts)
                if better is None and self.parts:
                    better = elements(self, facts)
                if better is None:
                    return facts
                current = checked(better, "sharpening by types")
                self._facts.anew(key)

    def _refuse_endless(self, fn: ir.Function) -> None:
        if sum(running is fn for running, _ in self._facts.open()) < _KINDS:
            return
        raise located(
            UnsupportedSyntax,
            fn.loc,
            f"{fn.name} calls itself with other types each time, such as a tuple or function that "
            "grows: there is no end to what would have to be compiled",
            fixes=[
                "write the recursion as a loop over a list",
                f"give {fn.name} a rule with @srcgrad.rule",
            ],
        )

    def known(self) -> list[Facts]:
        """The facts of all functions that were looked at."""
        return self._facts.values()

    def constant_of(self, atom: ir.Atom, fn: ir.Function) -> Any:
        """The tuple of literals that a variable surely is: `axis=(0, 1)`; wrapped in Const."""
        if not isinstance(atom, ir.Var):
            return None
        table = self._constants.get(fn)
        if table is None:
            table = self._constants[fn] = _literal_tuples(fn)
        return table.get(atom.name)


def _of_derivative(value: Any) -> Any:
    """The parameters of a derivative, as its own derivative would see them."""
    return value.as_primal()


def _value(atom: Any) -> Any:
    return atom.value


def _literal_tuples(fn: ir.Function) -> dict[str, ir.Const]:
    statements = ir.walk(fn.body)
    displays = [
        (stmt.target.name, stmt.value)
        for stmt in statements
        if isinstance(stmt, ir.Assign)
        and isinstance(stmt.value, ir.Build)
        and stmt.value.kind in ("tuple", "list")
    ]
    if not displays:
        return {}
    binds = Counter(v.name for stmt in statements for v in ir.writes(stmt))
    binds.update(p.name for p in fn.params)
    reads = Counter(v.name for stmt in statements for v in ir.reads(stmt))
    out: dict[str, ir.Const] = {}
    for name, display in displays:
        if binds[name] != 1:
            continue
        if display.kind == "list" and reads[name] > 1:
            continue  # something may be appended to it
        parts = [
            a if isinstance(a, ir.Const) else out.get(a.name) if isinstance(a, ir.Var) else None
            for a in display.items
        ]
        if all(p is not None for p in parts):
            values = [p.value for p in parts if p is not None]
            out[name] = ir.Const(tuple(values) if display.kind == "tuple" else values)
    return out
