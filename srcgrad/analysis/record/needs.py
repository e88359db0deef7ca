"""What the reverse sweep reads at each statement.

`before` are variables as they were before the statement, `after` as they were after it (the
statement's own result, conditions, loop bounds); `contents` are memory classes whose elements are
read.  Temporaries that are cheap to compute again stand for what they are computed from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from srcgrad.analysis.partials import (
    Term,
    is_no_place,
    must_reduce,
    same_shape,
    stays_thin,
    takes_thin,
    vjp_term,
)
from srcgrad.analysis.record.again import SHAPE, Again
from srcgrad.analysis.record.callees import read_back
from srcgrad.analysis.record.lanes import Lanes, source
from srcgrad.analysis.record.tracking import tracked_classes
from srcgrad.analysis.record.varying import may_get_nothing
from srcgrad.analysis.targets import Construct, Container, Library, User, bound_atoms
from srcgrad.analysis.types.user_rules import rule_call
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


@dataclass
class Needs:
    """What the reverse of a statement reads: variables before and after it, contents of memory."""

    before: set[str] = field(default_factory=set)
    after: set[str] = field(default_factory=set)
    contents: set[str] = field(default_factory=set)


@dataclass
class NeedsTable(Again):
    """Answers for one unit; `terms` caches the partials of each statement."""

    terms: dict[int, list[Term]] = field(default_factory=dict)

    @cached_property
    def lanes(self) -> Lanes:
        """Which variables have a mask of the lanes that count."""
        return Lanes(self.unit, self.library_terms).run()

    # ---- statements ----

    def of(self, stmt: ir.Stmt) -> Needs:
        out = Needs()
        if not self.unit.differentiates(stmt):
            return out
        match stmt:
            case ir.Assign():
                self._assign(stmt, out)
                if may_get_nothing(self.unit, stmt) or self._is_made(stmt):
                    out.after.add(SHAPE + stmt.target.name)
            case ir.Store():
                self._store(stmt, out)
            case ir.StoreAttr():
                self._read(out, [stmt.base, stmt.value])
            case ir.Effect():
                self._effect(stmt, out)
            case ir.With(special="adjoint_of"):
                for inner in stmt.body:
                    self._read(out, ir.reads(inner))
        return out

    def _is_made(self, stmt: ir.Assign) -> bool:
        """Whether an array is made whose shadow the reverse sweep makes of its shape."""
        unit, name = self.unit, stmt.target.name
        if stmt.inplace or unit.kind(name) != "memory" or unit.aliases(stmt) is not None:
            return False
        return not self.tracked.get(unit.fx.root(name), True)

    @cached_property
    def tracked(self) -> dict[str, bool]:
        return tracked_classes(self.unit)

    def _read(self, out: Needs, atoms: Iterable[ir.Atom]) -> None:
        names, contents = self.roots_of(atoms)
        out.before |= names
        out.contents |= contents

    def _shape(self, out: Needs, atom: ir.Atom) -> None:
        """Only the shape is read: the elements may have changed.  A shadow has the same shape."""
        out.before |= self.shapes_of([] if self.has_shadow(atom) else [atom])

    def _reference(self, out: Needs, atom: ir.Atom) -> None:
        """The object itself is read, whatever it holds by then."""
        out.before |= self.roots_of([] if self.has_shadow(atom) else [atom])[0]

    def _assign(self, stmt: ir.Assign, out: Needs) -> None:
        unit = self.unit
        target = unit.facts.targets.get(stmt.sid)
        expr = stmt.value
        if stmt.inplace is not None and isinstance(expr, ir.Op):
            self._inplace(stmt, out)
            return
        alias = unit.aliases(stmt)
        if alias is not None and unit.kind(stmt.target.name) == "memory":
            self._read_keys(out, expr)
            return
        match expr:
            case ir.Index(obj, key):
                self._read(out, ir.key_atoms(key))
                if (
                    isinstance(obj, ir.Var)
                    and unit.is_active(obj)
                    and unit.kind(obj.name) == "value"
                    and not (isinstance(key, ir.Const) and self._of_numbers(obj))
                ):
                    self._shape(out, self.container(obj))
            case ir.Var() if self.decides_kind(stmt):
                self._shape(out, expr)
            case ir.Build(_, _, keys):
                self._read(out, [k for k in keys if k is not None])
            case ir.Var() | ir.Closure():
                return
            case ir.Attr(obj, _) if target is None:
                self._shape(out, self.container(obj) if isinstance(obj, ir.Var) else obj)
            case _:
                self._call(stmt, expr, target, out)

    def _of_numbers(self, obj: ir.Var) -> bool:
        """Whether the adjoint that holds the place is a display of numbers, made of nothing."""
        root = self.container(obj)
        return self.unit.kind(root.name) == "value" and _are_numbers(self.unit.type(root.name))

    def decides_kind(self, stmt: ir.Assign) -> bool:
        """Whether a variable of unknown type takes its value from one of known type."""
        unknown = isinstance(self.unit.type(stmt.target.name), ty.Unknown)
        return unknown and not isinstance(self.unit.facts.of(stmt.value), ty.Unknown)  # type: ignore[arg-type]

    def container(self, v: ir.Var) -> ir.Var:
        """The variable whose adjoint holds the place: `t = p["a"]; t["b"]` is a place in p."""
        again = self.again(v.name)
        while again is not None and isinstance(again.value, ir.Index | ir.Attr):
            obj = again.value.obj
            if not isinstance(obj, ir.Var) or is_no_place(self.unit.facts, again):
                break
            v, again = obj, self.again(obj.name)
        return v

    def has_shadow(self, a: ir.Atom) -> bool:
        """Whether a variable's shadow is at hand wherever its reverse reads its shape."""
        unit = self.unit
        if not isinstance(a, ir.Var) or not isinstance(unit.type(a.name), ty.Array):
            return False
        return unit.is_active(a) and unit.kind(a.name) == "memory"

    def _read_keys(self, out: Needs, expr: ir.Expr) -> None:
        atoms = ir.operands(expr)[1:] if not isinstance(expr, ir.Var) else ()
        self._read(out, atoms)

    def _call(self, stmt: ir.Stmt, expr: ir.Expr, target: object, out: Needs) -> None:
        match target:
            case Library() if target.entry.kind in ("function", "jvp"):
                self._read(out, rule_call(target.entry, target.args).atoms())
                self._result(out, stmt)
            case Library() if target.entry.kind == "custom":
                out.after.add(saved_name(stmt))
                for a in rule_call(target.entry, target.args).atoms():
                    if self.unit.is_active(a):
                        self._shape(out, a)
                if not isinstance(self.unit.type(stmt.target.name), ty.Number | ty.Array):  # type: ignore[union-attr]
                    self._result(out, stmt)
            case Library():
                for term in self.library_terms(stmt, expr, target):
                    names, contents = self.roots_of(term.values)
                    out.before |= names | self.shapes_of(term.shapes)
                    out.contents |= contents
                    if term.reads_out() and isinstance(stmt, ir.Assign):
                        out.after.add(stmt.target.name)
                        if self.unit.fx.memory(stmt.target.name):
                            out.contents.add(self.unit.fx.root(stmt.target.name))
                    if term.fills and isinstance(term.operand, ir.Var):
                        out.before |= self.thin_needs(term.operand, stmt)
                    if term.reduces and isinstance(term.operand, ir.Var):
                        if not isinstance(self.unit.type(term.operand.name), ty.Number):
                            self._shape(out, term.operand)
            case User():
                out.after.add(saved_name(stmt))
                if target.closure is not None:
                    self._reference(out, target.closure)
                assert isinstance(stmt, ir.Assign | ir.Effect)
                out.contents |= read_back(self.unit, stmt, target)
            case Container() if isinstance(expr, ir.Op):
                self._reference(out, expr.args[0])  # where the two were joined
            case Container():
                if target.name == "pop" and isinstance(stmt, ir.Assign):
                    out.after.add(stmt.target.name)
                for a in ir.operands(expr):
                    if isinstance(a, ir.Var):
                        self._reference(out, a)
            case Construct():
                return

    def _result(self, out: Needs, stmt: ir.Stmt) -> None:
        """The value of the statement's own result is read."""
        if isinstance(stmt, ir.Assign):
            out.after.add(stmt.target.name)
            if self.unit.fx.memory(stmt.target.name):
                out.contents.add(self.unit.fx.root(stmt.target.name))

    def thin_needs(
        self, v: ir.Var, reader: ir.Stmt, seen: frozenset[str] = frozenset()
    ) -> set[str]:
        """Whose shapes turn one number back into an array where that becomes necessary."""
        unit = self.unit
        defs = unit.defs.get(v.name, [])
        # Of several values, or of one in a loop, the one that v has may be an earlier one.
        only = len(defs) == 1 and not unit.loops[defs[0].sid] and v.name not in unit.params
        out = set() if only else self.shapes_of([v])
        for definition in defs:
            # An adjoint that goes from one round of a loop to the next, or into it, is an array.
            there = unit.loops[definition.sid] == unit.loops[reader.sid]
            before = unit.place[definition.sid] < unit.place[reader.sid]
            if v.name not in seen and there and before:
                out |= self._thin_through(v, definition, seen | {v.name})
        return out

    def _thin_through(self, v: ir.Var, definition: ir.Stmt, seen: frozenset[str]) -> set[str]:
        """The same where v has the value of this definition."""
        unit = self.unit
        if not isinstance(definition, ir.Assign):
            return self.shapes_of([v])
        if isinstance(definition.value, ir.Var):
            return self.shapes_of([v]) | self.thin_needs(definition.value, definition, seen)
        call = unit.facts.targets.get(definition.sid)
        if not isinstance(call, Library):
            return self.shapes_of([v])
        out: set[str] = set()
        result = unit.type(v.name)
        for term in self.library_terms(definition, definition.value, call):
            if not isinstance(term.operand, ir.Var):
                return self.shapes_of([v])
            if not takes_thin(term, unit.type(term.operand.name), result):
                return self.shapes_of([v])
            if stays_thin(unit.facts, term, result) or source(term) is not None:
                out |= self.thin_needs(term.operand, definition, seen)
        return out

    def library_terms(self, stmt: ir.Stmt, expr: ir.Expr, call: Library) -> list[Term]:
        """The contributions of a library call to its active arguments."""
        got = self.terms.get(stmt.sid)
        if got is None:
            got = self.terms[stmt.sid] = []
            out = self.unit.type(stmt.target.name) if isinstance(stmt, ir.Assign) else ty.UNKNOWN
            some = [(p, b) for p, b in call.args if any(map(self.unit.is_active, bound_atoms(b)))]
            for param, operand in some:
                term = vjp_term(self.unit.facts, call, param, operand, out)
                if term is not None:
                    got.append(self.with_shape_at_hand(term) if term.fills else term)
            got[:] = Term.joined(got)
        return got

    def with_shape_at_hand(self, term: Term) -> Term:
        """`t.size` of a temporary is the size of what it was computed from, element by element."""
        v = term.operand
        while isinstance(v, ir.Var) and v.is_temp:
            defs = self.unit.defs.get(v.name, [])
            call = self.unit.facts.targets.get(defs[0].sid) if len(defs) == 1 else None
            if not isinstance(call, Library) or call.entry.kind != "elementwise":
                break
            shape = self.unit.type(v.name)
            same = [
                b
                for _, b in call.args
                if isinstance(b, ir.Var) and same_shape(self.unit.type(b.name), shape)
            ]
            if not same:
                break
            v = same[0]
        if v == term.operand or not isinstance(v, ir.Var):
            return term
        return replace(term, env={**term.env, term.param: v})

    def _inplace(self, stmt: ir.Assign, out: Needs) -> None:
        """`u op= e` on an array: the term of e may read the old u, that of u may read e."""
        target = self.unit.facts.targets.get(stmt.sid)
        assert isinstance(stmt.value, ir.Op)
        if isinstance(target, Library):
            for term in self.library_terms(stmt, stmt.value, target):
                names, contents = self.roots_of(term.reads)
                out.before |= names
                out.contents |= contents
                if term.reads_out():
                    out.contents.add(self.unit.fx.root(stmt.target.name))
                    out.before.add(stmt.target.name)
                if isinstance(term.operand, ir.Var) and self._is_reduced(stmt, term.operand):
                    self._shape(out, term.operand)
        self._reference(out, stmt.value.args[0])

    def _is_reduced(self, stmt: ir.Assign, operand: ir.Var) -> bool:
        """Whether what is added to an array in place may have fewer elements than that."""
        whole = self.unit.type(stmt.target.name)
        if stmt.inplace not in ("add", "sub") or not isinstance(whole, ty.Array):
            return True
        t = self.unit.facts.of(operand)
        return not isinstance(t, ty.Number) and must_reduce(t, whole)

    def _store(self, stmt: ir.Store, out: Needs) -> None:
        self._read(out, ir.key_atoms(stmt.key))
        self._reference(out, stmt.base)
        plain = stmt.op in (None, *ir.AT_OPERATORS)
        plain |= stmt.op in ("add", "sub") and self.unit.basic(stmt.key)
        place = self.unit.place_type(stmt) if plain else ty.UNKNOWN
        if must_reduce(self.unit.facts.of(stmt.value), place):
            if not isinstance(self.unit.facts.of(stmt.value), ty.Number):
                self._shape(out, stmt.value)
        if stmt.op in ("mul", "truediv", "pow", "mod", "matmul"):
            self._read(out, [stmt.value])
            if self.reads_overwritten(stmt) and isinstance(stmt.base, ir.Var):
                out.contents.add(self.unit.fx.root(stmt.base.name))
                out.before |= self.roots_of([stmt.base])[0]

    def reads_overwritten(self, stmt: ir.Store) -> bool:
        """Whether the reverse of `u[k] op= e` reads the elements that it overwrote."""
        return self.unit.is_active(stmt.value) or stmt.op not in ("mul", "truediv")

    def _effect(self, stmt: ir.Effect, out: Needs) -> None:
        target = self.unit.facts.targets.get(stmt.sid)
        if isinstance(target, Library | User):
            self._call(stmt, stmt.value, target, out)
            if isinstance(target, Library):
                self._read(out, ir.operands(stmt.value))
            return
        for a in ir.operands(stmt.value):
            if isinstance(a, ir.Var):
                self._reference(out, a)


def saved_name(stmt: ir.Stmt) -> str:
    """The variable that holds what a callee's reverse sweep needs."""
    return f"saved%{stmt.sid}"


def _are_numbers(t: ty.Type) -> bool:
    if isinstance(t, ty.Tuple) and t.cls is tuple:
        return all(map(_are_numbers, t.items))
    return isinstance(t, ty.Number)
