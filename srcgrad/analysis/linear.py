"""Is a function linear in some of its arguments?

Forward mode through a rule that was given for reverse mode is the transpose of the rule as a
function of its cotangent, and only a linear function has one.  Decided from the program: every
operation that the arguments reach has to be linear in them, and nothing may be added to them.
What can't be told counts as not linear.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.partials import expand_let
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import Bound, Container, Library, Packed, User, bound_atoms
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry
from srcgrad.rules.short import specialised

_BY_SHAPE = frozenset(
    [
        "zeros_like",
        "ones_like",
        "empty_like",
        "shape",
        "ndim",
        "size",
        "len",
        "isinstance",
        "seed",
        "zeros",
    ]
)
_ZEROS = frozenset(("zeros", "zeros_like"))
_SHAPE_OF = frozenset(("shape", "ndim", "size", "dtype"))
_PASSES = frozenset(("alias", "list", "tuple"))


class NotLinear(Exception):
    """Why a function is not, or may not be, linear; `line` is where."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(why)
        self.line = line


def check(
    program: Program, fn: ir.Function, types: tuple[ty.Type, ...], names: Iterable[str],
    leaves: Iterable[int] | None = None,
) -> None:  # fmt: skip
    """Raise `NotLinear` unless what the function returns is linear in the parameters `names`.

    Arguments: `leaves` are the items of the returned tuple that matter, None for all of them."""
    work = _Check(program, program.facts(fn, types), set(names), leaves)
    work.run()


@dataclass
class _Check:
    program: Program
    facts: Facts
    tainted: set[str]
    leaves: Iterable[int] | None = None
    zeros: set[str] = field(default_factory=set)
    line: int = 0

    def run(self) -> None:
        body = self.facts.fn.body
        while True:
            before = set(self.tainted)
            for stmt in ir.walk(body):
                self.spread(stmt)
            if self.tainted == before:
                break
        self.find_zeros(body)
        for stmt in ir.walk(body):
            self.line = stmt.loc.line
            self.stmt(stmt)

    # ---- what depends on the parameters ----

    def depends(self, atoms: Iterable[ir.Atom]) -> bool:
        return any(isinstance(a, ir.Var) and a.name in self.tainted for a in atoms)

    def spread(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Assign():
                if self.depends(ir.operands(stmt.value)) and not self.by_shape(stmt):
                    self.tainted.add(stmt.target.name)
            case ir.Store(base=ir.Var(name)):
                if self.depends([stmt.value]):
                    self.tainted.add(name)

    def by_shape(self, stmt: ir.Assign) -> bool:
        """Whether a value depends on the shape of what it is made from alone."""
        target = self.facts.targets.get(stmt.sid)
        match stmt.value:
            case ir.Attr(_, name):
                return name in _SHAPE_OF
            case ir.Op(op, args):
                return op in ("is", "is_not") and ir.Const(None) in args
        if not isinstance(target, Library):
            return False
        entry = target.entry
        if entry.kind == "nondiff":
            return _last(entry) in _BY_SHAPE
        # Helpers take an array for its shape alone, as `support.sum_back(g, a)` does.
        hit = {p for p, b in target.args if self.depends(bound_atoms(b))}
        return entry.name.startswith("srcgrad.runtime.support.") and hit <= entry.zero

    def find_zeros(self, body: ir.Block) -> None:
        """Variables that hold zeros wherever they don't depend on the parameters."""
        values: dict[str, list[ir.Stmt]] = {}
        for stmt in ir.walk(body):
            for v in ir.writes(stmt):
                values.setdefault(v.name, []).append(stmt)
        for name, found in values.items():
            if all(isinstance(s, ir.Assign) and self.makes_zeros(s) for s in found):
                self.zeros.add(name)

    def makes_zeros(self, stmt: ir.Assign) -> bool:
        target = self.facts.targets.get(stmt.sid)
        if isinstance(target, Library) and _last(target.entry) in _ZEROS:
            return True
        return isinstance(stmt.value, ir.Const) and _is_zero(stmt.value)

    def zero(self, a: ir.Atom) -> bool:
        if isinstance(a, ir.Var):
            return a.name in self.zeros and a.name not in self.tainted
        return isinstance(a, ir.Const) and _is_zero(a)

    # ---- whether it is linear ----

    def fail(self, why: str) -> NotLinear:
        return NotLinear(why, self.line)

    def stmt(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Assign():
                self.assign(stmt)
            case ir.Store():
                self.store(stmt)
            case ir.Exit(kind="return"):
                self.returned(stmt)
            case ir.If() | ir.While():
                if self.depends(ir.operands(stmt.test)):
                    raise self.fail("which way it goes depends on it")
            case _:
                if self.depends(v for e in ir.exprs(stmt) for v in ir.operands(e)):
                    raise self.fail("it is used by a statement that isn't followed")

    def assign(self, stmt: ir.Assign) -> None:
        if stmt.target.name not in self.tainted:
            return
        if self.depends(ir.operands(stmt.value)) and not self.by_shape(stmt):
            self.value(stmt)
        elif not self.makes_zeros(stmt):
            plain = isinstance(stmt.value, ir.Const | ir.Var)
            if not plain or not self.zero(stmt.value):  # type: ignore[arg-type]
                name = _shown(stmt.target.name)
                raise self.fail(f"{name} has a part that doesn't depend on it")

    def value(self, stmt: ir.Assign) -> None:
        match stmt.value:
            case ir.Var():
                return
            case ir.Build(_, items, _):
                if not self.only_returned(stmt.target) and not all(
                    self.depends([a]) or self.zero(a) for a in map(ir.unstar, items)
                ):
                    raise self.fail("it is put together with something that doesn't depend on it")
            case ir.Index(_, key):
                if self.depends(ir.key_atoms(key)):
                    raise self.fail("it is used as an index")
            case ir.Op(op, args):
                self.operator(op, args)
            case ir.Attr(_, name):
                if name not in ("T", "real") and isinstance(
                    self.facts.of(ir.operands(stmt.value)[0]), ty.Array | ty.Number | ty.Unknown
                ):
                    raise self.fail(f"its attribute {name} is used")
            case _:
                self.call(stmt)

    def operator(self, op: str, args: tuple[ir.Atom, ...]) -> None:
        if op in ("neg", "pos"):
            return
        hit = [self.depends([a]) for a in args]
        other = args[1] if hit[0] else args[0]
        if op in ("add", "sub"):
            if not all(hit) and not self.zero(other):
                raise self.fail("something that doesn't depend on it is added to it")
            return
        fine = op in ("mul", "matmul") and not all(hit)
        if not fine and not (op == "truediv" and hit == [True, False]):
            raise self.fail(f"the operator {op} is not linear in it")

    def call(self, stmt: ir.Assign) -> None:
        target = self.facts.targets.get(stmt.sid)
        match target:
            case Library():
                self.library(target)
            case User(fn, args, None, types):
                names = [p.name for p in fn.params] + list(fn.free)
                hit = [n for n, b in zip(names, args, strict=True) if self.depends(bound_atoms(b))]
                check(self.program, fn, types, hit)
            case Container(name) if name in _PASSES:
                return
            case _:
                raise self.fail("it goes through a call that isn't followed")

    def library(self, call: Library) -> None:
        entry = call.entry
        hit = [p for p, b in call.args if self.depends(bound_atoms(b))]
        rest = {p: b for p, b in call.args if p not in hit and p in entry.vjps}
        if entry.kind == "linear":
            fixed = [p for p, b in rest.items() if not all(self.zero(a) for a in bound_atoms(b))]
            if fixed:
                raise self.fail(f"{entry.name} joins it with something that doesn't depend on it")
            return
        if entry.kind not in ("elementwise", "structured") or len(hit) != 1:
            raise self.fail(f"{entry.name} is not linear in it")
        table = entry.vjps if entry.kind == "elementwise" else entry.jvps
        given = [p for p, _ in call.args]
        short = specialised(entry, hit[0], {}, given, mode="jvp")
        # The derivative, which must not depend on where it is taken.
        formula = table.get(hit[0]) if short is None else short
        if formula is None or {hit[0], "out"} & _free(expand_let(formula.node, entry.let)):
            raise self.fail(f"{entry.name} is not linear in it")
        also = {p for p, b in rest.items() if self.all_zero(b)}
        if not _vanishes(entry, {hit[0], *also}, {p for p, _ in call.args}):
            raise self.fail(f"{entry.name} adds something that doesn't depend on it")

    def all_zero(self, b: Bound) -> bool:
        return not isinstance(b, Packed) and self.zero(b)

    def store(self, stmt: ir.Store) -> None:
        if self.depends(ir.key_atoms(stmt.key)):
            raise self.fail("it is used as an index")
        if not self.depends([stmt.base]):
            return
        value = self.depends([stmt.value])
        if stmt.op in (None, "add", "sub"):
            if not value and not self.zero(stmt.value):
                raise self.fail("something that doesn't depend on it is stored beside it")
        elif value or stmt.op not in ("mul", "truediv"):
            raise self.fail(f"the operator {stmt.op} is not linear in it")

    def returned(self, stmt: ir.Exit) -> None:
        if stmt.value is None:
            return
        for a in self.leaf_atoms(stmt.value):
            if not self.depends([a]) and not self.zero(a):
                raise self.fail("a part of the result doesn't depend on it")

    def only_returned(self, v: ir.Var) -> bool:
        """Whether a variable is read by the return alone, which looks at its parts."""
        reads = [s for s in ir.walk(self.facts.fn.body) if v in ir.reads(s)]
        return all(isinstance(s, ir.Exit) for s in reads)

    def leaf_atoms(self, value: ir.Atom) -> list[ir.Atom]:
        """The items of a returned tuple, or the value itself."""
        seen: set[str] = set()
        while isinstance(value, ir.Var) and value.name not in seen:
            seen.add(value.name)
            defs = [
                s for s in ir.walk(self.facts.fn.body) if any(v == value for v in ir.writes(s))
            ]
            if len(defs) != 1 or not isinstance(defs[0], ir.Assign):
                break
            made = defs[0].value
            if isinstance(made, ir.Build) and made.kind == "tuple":
                items = [ir.unstar(i) for i in made.items]
                return [a for k, a in enumerate(items) if self.leaves is None or k in self.leaves]
            if not isinstance(made, ir.Var):
                break
            value = made
        return [value]


def _vanishes(entry: Entry, zero: set[str], given: set[str]) -> bool:
    """Whether the function is zero where these arguments are, at those of the rule's own sample
    points that pass what the call passes and no more."""
    tried = False
    if entry.params is None or not entry.at or not entry.pure:
        return False
    for sample in entry.at:
        args, kwargs = sample if len(sample) == 2 and isinstance(sample[1], dict) else (sample, {})
        try:
            bound = entry.params.bind(*args, **kwargs)
            if not set(bound.arguments) <= given:
                continue
            for p in zero & set(bound.arguments):
                bound.arguments[p] = np.multiply(bound.arguments[p], 0.0)
            with np.errstate(all="ignore"):
                value: Any = entry.target(*bound.args, **bound.kwargs)
            if np.any(np.asarray(value) != 0):
                return False
            tried = True
        except Exception:  # a sample that the function can't be tried on says nothing
            continue
    return tried


def _free(node: ast.expr) -> set[str]:
    """The names that a formula reads; their shapes alone do not count."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.shape":
        return set()
    own = {node.id} if isinstance(node, ast.Name) else set()
    parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr | ast.keyword)]
    inner = [n.value if isinstance(n, ast.keyword) else n for n in parts]
    return own.union(*map(_free, inner))


def _last(entry: Entry) -> str:
    return entry.name.rpartition(".")[2]


def _is_zero(a: ir.Const) -> bool:
    """Whether a constant is zero, or the None that stands for it."""
    return a.value is None or (type(a.value) in (int, float, complex) and a.value == 0)


def _shown(name: str) -> str:
    return name.split("%")[0] or "a value"
