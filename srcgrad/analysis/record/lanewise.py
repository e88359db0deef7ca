"""Does a user's rule work lane by lane: is each element of what it returns made of the one element
of its cotangent in the same place?

    def rule(g, out, x):            def rule(g, out, x):
        r = g / x          yes          return g / x + np.sum(g)        no
        return r

What can't be told counts as no.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.resolve import Program, user_source
from srcgrad.analysis.targets import Library, User, bound_atoms
from srcgrad.analysis.unit import Unit
from srcgrad.errors import SrcgradError
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

GIVEN = ("function", "custom", "jvp")  # kinds of rules that are called, not written out
_OPERATORS = frozenset(("add", "sub", "mul", "truediv", "neg", "pos", "pow"))
_SHAPE_OF = frozenset(("shape", "ndim", "size", "dtype"))
_OF_SHAPE = frozenset(
    ("shape", "ndim", "size", "isinstance", "zeros_like", "ones_like", "result_type")
)


def works_by_lanes(unit: Unit, call: Library) -> bool:
    """Whether the rule of a call gives each operand's cotangent lane by lane."""
    program, entry = unit.program, call.entry
    cache: dict[int, bool] = program.__dict__.setdefault("_lanewise", {})
    key = id(entry)
    if key not in cache:
        try:
            found = _rule(program, call)
            cache[key] = found is not None and _function(program, *found, ())
        except SrcgradError:  # the rule can't be read
            cache[key] = False
    return cache[key]


def _rule(program: Program, call: Library) -> tuple[ir.Function, tuple[ty.Type, ...], str] | None:
    """The rule as a function, its types, and its parameter that the cotangent goes to."""
    entry = call.entry
    if entry.kind == "custom" and entry.backward is None:
        return _returned(program, call)
    place = 0 if entry.kind == "function" else 1
    rule: Any = {"function": entry.fn, "custom": entry.backward, "jvp": entry.jvp_fn}[entry.kind]
    if rule is None or user_source(rule) is None:
        return None
    fn, before, _ = program.function(rule, ir.Const(None))
    names = [p.name for p in fn.params]
    if len(names) <= place + len(before):
        return None
    types: list[ty.Type] = [ty.UNKNOWN] * (len(names) + len(fn.free))
    if entry.kind == "jvp":
        types[0] = types[1] = ty.Tuple((ty.UNKNOWN,) * len(call.args))
    return fn, tuple(types), names[place + len(before)]


def _returned(
    program: Program, call: Library
) -> tuple[ir.Function, tuple[ty.Type, ...], str] | None:
    """The gradient that a function returns beside its value."""
    if call.source is not None:
        result = program.returns(call.source.fn, call.source.types)
    elif call.entry.fn is not None and user_source(call.entry.fn) is not None:
        outer, _, _ = program.function(call.entry.fn, ir.Const(None))
        result = program.returns(outer, (ty.UNKNOWN,) * (len(outer.params) + len(outer.free)))
    else:
        return None
    made = result.items[1] if isinstance(result, ty.Tuple) and len(result.items) == 2 else None
    if not isinstance(made, ty.ClosureType) or not made.fn.params:
        return None
    types = (ty.UNKNOWN,) * len(made.fn.params)
    return made.fn, (*types, *made.free), made.fn.params[0].name


def _function(
    program: Program,
    fn: ir.Function,
    types: tuple[ty.Type, ...],
    name: str,
    running: tuple[ir.Function, ...],
) -> bool:
    if fn in running:
        return False
    return _Walk(program, program.facts(fn, types), {name}, (*running, fn)).run()


@dataclass
class _Walk:
    program: Program
    facts: Facts
    reached: set[str]  # the variables that the cotangent reaches
    running: tuple[ir.Function, ...]

    def run(self) -> bool:
        body = self.facts.fn.body
        while True:
            before = len(self.reached)
            if not all(map(self.stmt, ir.walk(body))):
                return False
            if len(self.reached) == before:
                return True

    def hit(self, atoms: Any) -> bool:
        return any(isinstance(a, ir.Var) and a.name in self.reached for a in atoms)

    def stmt(self, stmt: ir.Stmt) -> bool:
        match stmt:
            case ir.Exit(kind="return"):
                return True
            case ir.Assign():
                if not self.hit(ir.operands(stmt.value)) or self.by_shape(stmt):
                    return True
                self.reached.add(stmt.target.name)
                return self.keeps(stmt)
            case ir.Store(value=value, base=base):
                return not self.hit((value, base))
            case _:
                return not self.hit(v for e in ir.exprs(stmt) for v in ir.operands(e))

    def by_shape(self, stmt: ir.Assign) -> bool:
        """Whether a value depends on the shape of what it is made from alone."""
        target = self.facts.targets.get(stmt.sid)
        match stmt.value:
            case ir.Attr(_, name):
                return name in _SHAPE_OF
            case ir.Op(op, args):
                return op in ("is", "is_not") and ir.Const(None) in args
        named = isinstance(target, Library) and target.entry.kind == "nondiff"
        return named and target.entry.name.rpartition(".")[2] in _OF_SHAPE  # type: ignore[union-attr]

    def keeps(self, stmt: ir.Assign) -> bool:
        target = self.facts.targets.get(stmt.sid)
        match stmt.value:
            case ir.Var():
                return True
            case ir.Build(kind, _, _):
                return kind == "tuple"
            case ir.Op(op, _):
                return op in _OPERATORS
            case ir.Index(ir.Var() as obj, key):
                plain = isinstance(key, ir.Const) and isinstance(key.value, int)
                return plain and isinstance(self.facts.of(obj), ty.Tuple)
        if isinstance(target, Library):
            return target.entry.kind == "elementwise" or target.entry.lanes
        if isinstance(target, User) and target.closure is None:
            names = [p.name for p in target.fn.params] + list(target.fn.free)
            hit = [n for n, b in zip(names, target.args, strict=True) if self.hit(bound_atoms(b))]
            return all(
                _function(self.program, target.fn, target.types, n, self.running) for n in hit
            )
        return False
