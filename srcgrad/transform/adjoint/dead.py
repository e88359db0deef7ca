"""Statements of the user's that the forward sweep leaves out: nobody reads their values, and they
neither have effects nor raise errors that the reverse sweep would not raise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush

from srcgrad.analysis.partials import Term, same_shape
from srcgrad.analysis.recording import Recording
from srcgrad.analysis.rewrites.solvers import FOR_SOLUTION
from srcgrad.analysis.targets import Construct, Library, User, bound_atoms, writes_argument
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform.adjoint.closures import forward_uses
from srcgrad.transform.adjoint.forward import Forward

MayRaise = Callable[[ir.Stmt], bool]


def forward_reads(unit: Unit) -> dict[str, list[int]]:
    """Reads of variables by the printed forward sweep."""
    uses = forward_uses(unit.facts, unit.body)
    for stmt in ir.walk(unit.body):
        if isinstance(stmt, ir.Assign | ir.Effect) and isinstance(stmt.value, ir.Call):
            target = unit.facts.targets.get(stmt.sid)
            fn = stmt.value.fn
            if isinstance(target, User) and target.closure is None and isinstance(fn, ir.Var):
                if stmt.sid in uses.get(fn.name, ()) and unit.differentiates(stmt):
                    uses[fn.name].remove(stmt.sid)
    return uses


def dead_statements(
    unit: Unit, found: Recording, forward: Forward, want_value: bool
) -> tuple[set[int], MayRaise]:
    """Statements whose value nobody reads; what may raise, print or draw random numbers stays.
    Also: whether one more that turns out to be dead may raise."""
    uses = forward_reads(unit)
    live: set[str] = set(found.needed)
    for stmt in ir.walk(unit.body):
        for save in found.saves.get(stmt.sid, ()):
            live.add(save.var)
        if forward.hooked(stmt):
            live |= {v.name for v in (*ir.reads(stmt), *ir.writes(stmt))}
        if isinstance(stmt, ir.Exit) and stmt.kind == "return" and not want_value:
            if isinstance(stmt.value, ir.Var) and stmt.value.name not in found.needed:
                uses[stmt.value.name] = [s for s in uses.get(stmt.value.name, ()) if s != stmt.sid]
    dead: set[int] = set()
    fits = _Dropping(unit, found, dead)
    read_by: dict[int, list[str]] = {}  # what each statement reads, once per read
    for name, sids in uses.items():
        for sid in sids:
            read_by.setdefault(sid, []).append(name)
    left = {name: len(sids) for name, sids in uses.items()}  # reads by statements that stay
    order = [s for s in ir.walk(unit.body) if isinstance(s, ir.Assign)]
    at = {s.sid: k for k, s in enumerate(order)}
    # Round after round in the order of the program; what is read no more waits for the next.
    now, after = list(range(len(order))), set[int]()
    while now:
        k = heappop(now)
        stmt, name = order[k], order[k].target.name
        own = read_by.get(stmt.sid, [])
        if stmt.sid not in dead and name not in live and left.get(name, 0) == own.count(name):
            if fits.droppable(stmt):
                dead.add(stmt.sid)
                for read in own:
                    left[read] -= 1
                for definition in (d for n in own for d in unit.defs.get(n, ())):
                    p = at.get(definition.sid, k)
                    if p > k:
                        heappush(now, p)
                    else:
                        after.add(p)
        if not now:
            now, after = sorted(after), set()
    return dead, fits.may_raise


def unread_statements(unit: Unit, uses: dict[str, list[int]]) -> tuple[set[int], MayRaise]:
    """Statements of a function that a tangent is written beside whose values nobody reads."""
    dead: set[int] = set()
    fits = _Dropping(unit, None, dead)
    for stmt in ir.walk(unit.body):
        if isinstance(stmt, ir.Assign) and not uses.get(stmt.target.name):
            passive = isinstance(stmt.value, ir.Closure) or not unit.is_active(stmt.target)
            if passive and fits.droppable(stmt):
                dead.add(stmt.sid)
    return dead, fits.may_raise


@dataclass
class _Dropping:
    """Which statements of a unit may be left out besides those that are `dead` already."""

    unit: Unit
    found: Recording | None  # None where there is no reverse sweep
    dead: set[int]
    _may_raise: dict[int, bool] = field(default_factory=dict)
    _repeated: dict[int, bool] = field(default_factory=dict)

    def may_raise(self, stmt: ir.Stmt) -> bool:
        """Whether leaving out a statement of which nobody reads the value may hide an error."""
        got = self._may_raise.get(stmt.sid)
        if got is None:
            got = not isinstance(stmt, ir.Assign) or not self.droppable(stmt)
            self._may_raise[stmt.sid] = got
            if not got:
                self.dead.add(stmt.sid)  # it vouches for no other
        return got

    def droppable(self, stmt: ir.Assign) -> bool:
        """Whether leaving a statement out can't be noticed but by its value."""
        unit, expr = self.unit, stmt.value
        target = unit.facts.targets.get(stmt.sid)
        if stmt.target.name.startswith(FOR_SOLUTION):
            return not unit.differentiates(stmt)
        if stmt.sid in self.guarded and _may_raise(unit, expr, target):
            return False
        if stmt.inplace is not None and self.is_shared(stmt.target.name):
            return False
        if self.runs_again(stmt):
            return True
        match expr:
            case ir.Var() | ir.Const() | ir.Global() | ir.Closure() | ir.Opaque() | ir.Build():
                return True
            case ir.Index(obj, key):
                whole = unit.facts.of(obj)
                if isinstance(whole, ty.Dict):
                    return isinstance(key, ir.Const) and key.value in dict(whole.items or ())
                if not isinstance(whole, ty.Array):
                    return isinstance(key, ir.Const) and isinstance(whole, ty.Tuple)
                # The place in the adjoint is looked up with the same key.
                return _slices(key, whole) or self.reverses(stmt)
            case ir.Attr(obj, name):
                return _has(unit.facts.of(obj), name)
            case ir.Call(ir.Global(value=fn), (obj,)) if fn is len:
                known = ty.Array | ty.List | ty.Tuple | ty.Dict
                return isinstance(unit.facts.of(ir.unstar(obj)), known)
            case ir.Op(_, args) if stmt.inplace is None:
                if all(isinstance(unit.facts.of(a), ty.Number | ty.Literal) for a in args):
                    return _of_numbers(unit, stmt, expr)
                return self.fits(stmt)
        if isinstance(target, Library) and target.entry.pure and not writes_argument(target):
            return _never_raises(unit, expr, target) or self.fits(stmt)
        return isinstance(target, Construct)

    def runs_again(self, stmt: ir.Assign) -> bool:
        """Whether the reverse sweep computes the same once more, with the same errors."""
        if stmt.sid not in self._repeated:
            self._repeated[stmt.sid] = self._is_repeated(stmt)
        return self._repeated[stmt.sid]

    def _is_repeated(self, stmt: ir.Assign) -> bool:
        if self.found is None:
            return False
        name = stmt.target.name
        if any(s.when == "again" and s.var == name for s in self.found.saves.get(stmt.sid, ())):
            return True
        readers = self.unit.readers.get(name, ())
        folded = stmt.target.is_temp and self.found.needs.again(name) is not None
        return (
            folded
            and bool(readers)
            and all(isinstance(r, ir.Assign) and self.runs_again(r) for r in readers)
        )

    def is_shared(self, name: str) -> bool:
        """Whether a variable's memory may be read under another name, here or by the caller."""
        unit = self.unit
        if isinstance(unit.type(name), ty.Number):
            return False
        if name in unit.params or not unit.fx.memory(name):
            return True
        root = unit.fx.root(name)
        others = (n for n in unit.facts.types if n != name and unit.fx.memory(n))
        return any(unit.fx.root(n) == root for n in others)

    @cached_property
    def guarded(self) -> set[int]:
        """Statements whose errors the program itself may catch, and then goes another way."""
        out: set[int] = set()
        for s in ir.walk(self.unit.body):
            if isinstance(s, ir.Try) or (isinstance(s, ir.With) and s.special is None):
                out |= {inner.sid for inner in ir.walk(s.body)}
        return out

    def reverses(self, stmt: ir.Assign) -> bool:
        """Whether the reverse sweep surely does something for a statement."""
        return self.found is not None and self.unit.differentiates(stmt)

    # ---- shapes ----

    def fits(self, stmt: ir.Assign) -> bool:
        """Whether the shapes of arrays surely fit, or misfits raise elsewhere."""
        needs = self.equal(stmt)
        if needs is None:
            return False
        open_ = [dims for dims in needs if len(dims) > 1 or not _is_named(dims)]
        if not open_:
            return True
        if all(d[0] == "n" for dims in open_ for d in dims) and self.raises_in_reverse(stmt):
            return True
        if not all(map(_is_named, open_)):
            return False
        classes = _Classes()
        for s in ir.walk(self.unit.body):
            if s is not stmt and self.comes_before(s, stmt) and self.raises(s):
                for dims in self.equal(s) or self.square(s):
                    if _is_named(dims):
                        classes.join(dims)
        return all(len({classes.of(d) for d in dims}) == 1 for dims in open_)

    def equal(self, stmt: ir.Stmt) -> list[set[str]] | None:
        """The dimensions that have to be of one length for a statement not to raise; None where
        it may raise for another reason."""
        if not isinstance(stmt, ir.Assign) or stmt.inplace is not None:
            return None
        target = self.unit.facts.targets.get(stmt.sid)
        if not isinstance(target, Library):
            return None
        args = [a for _, b in target.args for a in bound_atoms(b)]
        if not all(isinstance(self.unit.facts.of(a), _PLAIN) for a in args):
            return None
        name = target.entry.name.rpartition(".")[2]
        if name in ("det", "slogdet"):
            return self.square(stmt)
        if name in ("matmul", "dot") and len(args) == 2:
            return self.unit.facts.extents.multiplying(*args)
        chosen = name == "where" and len(args) == 3
        if target.entry.kind != "elementwise" and not chosen:
            return None
        return self.unit.facts.extents.meeting(args)

    def square(self, stmt: ir.Stmt) -> list[set[str]]:
        """The two dimensions of a matrix that linear algebra takes only if it is square."""
        target = self.unit.facts.targets.get(stmt.sid)
        if not isinstance(target, Library) or not isinstance(stmt, ir.Assign):
            return []
        args = [a for _, b in target.args for a in bound_atoms(b)]
        first = self.unit.facts.of(args[0]) if args else None
        name = target.entry.name.removeprefix("numpy.linalg.")
        if name not in ("inv", "solve", "cholesky", "det", "slogdet", "eigh", "eigvalsh"):
            return []
        return [set(first.dims[-2:])] if isinstance(first, ty.Array) else []

    def raises(self, stmt: ir.Stmt) -> bool:
        """Whether the text raises where the shapes of a statement don't fit."""
        return stmt.sid not in self.dead or self.raises_in_reverse(stmt)

    def raises_in_reverse(self, stmt: ir.Stmt) -> bool:
        """Whether the cotangent of an operand is made of the other one, `g * a` for a product
        a * b, and then meets something of its own shape: `g * a / x` for b = np.log(x)."""
        if not isinstance(stmt, ir.Assign) or self.found is None:
            return False
        arrays = [
            a for a in ir.operands(stmt.value) if isinstance(self.unit.facts.of(a), ty.Array)
        ]
        if len(arrays) != 2:
            return False
        return any(
            term.operand == mine and other in term.reads and self.is_met(stmt, mine)
            for mine, other in (arrays, arrays[::-1])
            for term in self.terms(stmt)
        )

    def is_met(self, stmt: ir.Stmt, operand: ir.Atom) -> bool:
        """Whether the reverse of a variable's definition reads an array of its shape."""
        unit = self.unit
        made = unit.defs.get(operand.name, ()) if isinstance(operand, ir.Var) else ()
        if len(made) != 1 or not self.comes_before(made[0], stmt):
            return False
        shape = unit.facts.of(operand)
        return self.is_multiplied(made[0], shape) or any(
            term.entry.kind == "elementwise" and same_shape(unit.facts.of(a), shape)
            for term in self.terms(made[0])
            for a in term.reads
            if isinstance(a, ir.Var)
        )

    def is_multiplied(self, made: ir.Stmt, shape: ty.Type) -> bool:
        """Whether the cotangent of a vector X @ b is multiplied by X.T."""
        target = self.unit.facts.targets.get(made.sid)
        name = target.entry.name.rpartition(".")[2] if isinstance(target, Library) else ""
        if name not in ("matmul", "dot") or not isinstance(made, ir.Assign):
            return False
        kinds = [self.unit.facts.of(a) for a in ir.operands(made.value)]
        if not isinstance(shape, ty.Array) or len(shape.dims) != 1 or not self.reverses(made):
            return False
        return any(
            isinstance(t, ty.Array) and len(t.dims) == 2 and self.unit.is_active(other)
            for t, other in zip(kinds, reversed(ir.operands(made.value)), strict=True)
        )

    def terms(self, stmt: ir.Stmt) -> list[Term]:
        target = self.unit.facts.targets.get(stmt.sid)
        if self.found is None or not isinstance(stmt, ir.Assign):
            return []
        if not isinstance(target, Library):
            return []
        if target.entry.kind != "elementwise" or not self.unit.differentiates(stmt):
            return []
        return self.found.needs.library_terms(stmt, stmt.value, target)

    def comes_before(self, first: ir.Stmt, then: ir.Stmt) -> bool:
        """Whether one statement surely has run when another runs."""
        here, there = self.unit.place[first.sid], self.unit.place[then.sid]
        if len(here) > len(there) or here[:-1] != there[: len(here) - 1]:
            return False
        (arm, at), (other, later) = here[-1], there[len(here) - 1]
        return arm == other and at < later


class _Classes:
    """Lengths that are known to be equal (union-find)."""

    def __init__(self) -> None:
        self.parent: dict[str, str] = {}

    def of(self, dim: str) -> str:
        while dim in self.parent:
            dim = self.parent[dim]
        return dim

    def join(self, dims: set[str]) -> None:
        first, *rest = sorted({self.of(d) for d in dims})
        self.parent.update(dict.fromkeys(rest, first))


_PLAIN = ty.Number | ty.Array | ty.Literal | ty.Static | ty.Other


def _is_named(dims: set[str]) -> bool:
    """Whether all dimensions that meet have names, and none may be broadcast."""
    return all(len(d) > 1 for d in dims) and (len(dims) == 1 or all(d[0] == "n" for d in dims))


def _slices(key: ir.Key, t: ty.Array) -> bool:
    """Whether a key takes slices alone, whose ends may be anywhere."""
    items = key.items if isinstance(key, ir.KeyTuple) else (key,)
    taken = [i for i in items if i not in (ir.Const(None), ir.Const(...))]
    return len(taken) <= len(t.dims) and all(isinstance(i, ir.Slice) for i in taken)


def _has(t: ty.Type, name: str) -> bool:
    """Whether something surely has an attribute that is no property."""
    if isinstance(t, ty.Object):
        return t.fields is not None and name in dict(t.fields)
    return isinstance(t, ty.Array)


def _of_numbers(unit: Unit, stmt: ir.Assign, expr: ir.Op) -> bool:
    """NumPy's numbers never raise; Python's do when divided by zero."""
    if any(_is_numpy(unit.facts.of(a)) for a in expr.args):
        return True
    op, other = expr.op, expr.args[-1]
    if op == "pow":
        return isinstance(other, ir.Const) and isinstance(other.value, int) and other.value >= 0
    if op not in ("truediv", "floordiv", "mod"):
        return True
    if isinstance(other, ir.Const):
        return bool(other.value)
    # The cotangent of the dividend is divided by the same number.
    return op == "truediv" and unit.is_active(expr.args[0]) and unit.differentiates(stmt)


def _is_numpy(t: ty.Type) -> bool:
    return isinstance(t, ty.Number) and t.cls.__module__ == "numpy"


def _may_raise(unit: Unit, expr: ir.Expr, target: object) -> bool:
    """Whether a value of some arguments raises an error."""
    match expr:
        case ir.Var() | ir.Const() | ir.Global() | ir.Closure() | ir.Build():
            return False
        case ir.Op(op, args):
            plain = all(isinstance(unit.facts.of(a), ty.Number | ty.Literal) for a in args)
            return not plain or op in ("truediv", "floordiv", "mod", "pow")
    return not (isinstance(target, Library) and _never_raises(unit, expr, target))


def _never_raises(unit: Unit, expr: ir.Expr, target: Library) -> bool:
    """Whether a library function takes whatever is of its arguments' types."""
    types = [unit.facts.of(a) for a in ir.operands(expr)]
    arrays = [t for t in types if isinstance(t, ty.Array)]
    if not all(isinstance(t, _PLAIN) for t in types) or len(arrays) > 1:
        return False
    if target.entry.target in (float, abs, min, max):
        return not arrays
    module = (getattr(target.entry.target, "__module__", "") or "numpy").split(".")
    return module[0] not in ("math", "builtins") and "linalg" not in module


__all__ = ["dead_statements", "forward_reads"]
