"""The partial derivatives of one statement, from the rule in force.

A `Term` says how the cotangent of a result becomes a contribution to one operand: a formula, what
its names stand for, and whether the contribution has to be summed down to the operand's shape.
The names of the formula are what the reverse sweep must have at hand.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.imaginary import drops_imaginary, is_complex, is_real
from srcgrad.analysis.targets import Bound, Library, Packed, bound_atoms
from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules import short, ufuncs
from srcgrad.rules.registry import Entry, Formula

HELPERS = frozenset(("np", "math", "support"))


@dataclass(frozen=True)
class Term:
    """The contribution to parameter `param`, which is `operand`, of a call of `entry`."""

    entry: Entry
    param: str
    operand: Bound
    formula: ast.expr
    env: dict[str, Bound | ast.expr]
    reduces: bool
    fills: bool = False  # the contribution is one number that fills the operand's shape
    raw: ast.expr | None = None  # the formula with the names of `let` in place
    alone: bool = False  # the operand is the only array, so that the result has its shape
    let: Mapping[str, Formula] = field(default_factory=dict)  # what the names in `raw` stand for

    @cached_property
    def reads(self) -> tuple[ir.Atom, ...]:
        """The atoms that the formula reads (the result's own value is `out`)."""
        out: list[ir.Atom] = []
        for name in _names(self.formula):
            b = self.env.get(name)
            if isinstance(b, Packed):
                out += [ir.unstar(i) for i in b.items]
            elif isinstance(b, ir.Var | ir.Const | ir.Global):
                out.append(b)
        return tuple(out)

    @cached_property
    def values(self) -> tuple[ir.Atom, ...]:
        """Those of which more than the shape is read."""
        return tuple(a for a in self.reads if a not in self.shapes)

    @cached_property
    def shapes(self) -> tuple[ir.Atom, ...]:
        """The atoms of which the formula reads the shape only."""
        names, only = _names(self.formula), _known(self.formula).shaped
        found = [b for n in only if isinstance(b := self.env.get(n), ir.Var)]
        if not found:
            return ()
        other = [b for n in names if n not in only and (b := self.env.get(n)) is not None]
        kept = [a for b in other if not isinstance(b, ast.expr) for a in bound_atoms(b)]
        return tuple(a for a in found if a not in kept)

    @staticmethod
    def joined(terms: list[Term]) -> list[Term]:
        """One term of an operand that stands in both places and contributes the same in either:
        `2.0 * g * x` for x * x."""
        both = _doubled(*terms) if len(terms) == 2 else None
        return terms if both is None else [both]

    def reads_out(self) -> bool:
        return "out" in _names(self.formula)

    def cotangents(self) -> int:
        """How often the formula mentions the cotangent."""
        return _known(self.formula).cotangents

    def compares(self) -> bool:
        """Whether the formula may be a truth value."""
        return _known(self.formula).compares


# Helpers that read of the argument at a position no more than its shape and dtype.
_SHAPED = {
    "unbroadcast": 1,
    "sum_back": 1,
    "concatenate_back": 1,
    "vstack_back": 1,
    "stack_back": 1,
}
_SHAPES = ("shape", "size", "ndim", "dtype")


def valued(node: ast.AST) -> set[str]:
    """Names in a piece of syntax of which more is read than shape and dtype."""
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Attribute(ast.Name(), attr) if attr in _SHAPES:
            return set()
        case ast.Call(ast.Attribute(ast.Name("support"), name), args, keywords):
            spared = _SHAPED.get(name)
            parts = [a for k, a in enumerate(args) if k != spared or not isinstance(a, ast.Name)]
            return set().union(*map(valued, [*parts, *(k.value for k in keywords)]))
        case ast.Call(ast.Attribute(ast.Name("np"), "shape" | "size" | "ndim"), [ast.Name()]):
            return set()
    return set().union(*map(valued, ast.iter_child_nodes(node)))


class _About(NamedTuple):
    """What is asked of a formula, which is never changed."""

    node: ast.expr
    names: tuple[str, ...]  # its free names, each once, in order of appearance
    shaped: tuple[str, ...]  # those of which it reads no more than shape and dtype
    cotangents: int
    compares: bool


_KNOWN: dict[int, _About] = {}  # by id of a formula, which is kept alive here


def _names(node: ast.expr) -> tuple[str, ...]:
    return _known(node).names


def _known(node: ast.expr) -> _About:
    known = _KNOWN.get(id(node))
    if known is not None and known.node is node:
        return known
    inner = asts.walk(node)
    found = [n.id for n in inner if isinstance(n, ast.Name)]
    seen = dict.fromkeys(found)
    read = {"g", "out", *valued(node)}
    if len(_KNOWN) > 20_000:
        _KNOWN.clear()
    made = _KNOWN[id(node)] = _About(
        node,
        tuple(seen),
        tuple(n for n in seen if n not in read),
        found.count("g"),
        any(isinstance(n, ast.Compare | ast.BoolOp) for n in inner),
    )
    return made


def environment(call: Library) -> dict[str, Bound | ast.expr]:
    """What the parameter names of a rule stand for at one call: arguments or defaults."""
    env: dict[str, Bound | ast.expr] = dict(call.args)
    assert call.entry.params is not None
    for p in call.entry.params.parameters.values():
        if p.name in env:
            continue
        if p.kind is p.VAR_POSITIONAL:
            env[p.name] = Packed("tuple", ())
        elif p.default is not p.empty:
            env[p.name] = ir.Const(p.default)
    return env


def short_formula(
    facts: Facts, call: Library, param: str, env: dict[str, Any], forward: bool = False,
    out: ty.Type | None = None,
) -> Formula | None:  # fmt: skip
    """A shorter formula where a constant argument or the number of dimensions allows one."""
    if call.called is not None:
        return None  # a user's rule, whatever the function is
    known = {k: v.value for k, v in env.items() if isinstance(v, ir.Const)}
    types = {
        k: facts.of(v) for k, v in env.items() if isinstance(v, ir.Var | ir.Const | ir.Global)
    }
    ndims = {}
    for k, t in (*types.items(), ("out", out)):
        if isinstance(t, ty.Array):
            ndims[k] = len(t.dims)
        elif isinstance(t, ty.Number):
            ndims[k] = 0
        elif isinstance(t, ty.List | ty.Tuple) and k in env and facts.is_row(env[k], not forward):
            ndims[k] = short.ROW
    given, mode = [k for k, _ in call.args], "jvp" if forward else "vjp"
    real = all(not is_complex(t) for t in types.values())
    found = short.specialised(call.entry, param, ndims, given, real, mode)
    if found is not None:
        return found
    return ufuncs.specialised(call.entry, param, known, types, forward)


def lets(
    facts: Facts, call: Library, env: dict[str, Any], forward: bool = False
) -> dict[str, Formula]:
    """The formulas of the names in a rule's `let`, the shorter ones where the call allows them."""
    return {
        name: short_formula(facts, call, name, env, forward) or formula
        for name, formula in call.entry.let.items()
    }


def expand_let(node: ast.expr, let: Mapping[str, Formula]) -> ast.expr:
    """A formula with the names of a rule's `let` replaced by what they stand for."""
    if not let or not set(_names(node)) & set(let):
        return node

    def put(n: ast.Name) -> ast.expr:
        f = let.get(n.id)
        return asts.copied(n) if f is None else expand_let(f.node, let)

    return asts.rewritten(node, {ast.Name: put})


def vjp_term(facts: Facts, call: Library, param: str, operand: Bound, out: ty.Type) -> Term | None:
    """The reverse contribution to one argument, or None when the rule has none for it."""
    entry = call.entry
    env = environment(call)
    found = short_formula(facts, call, param, env, out=out) or entry.vjps.get(param)
    if found is None:
        return None
    let = lets(facts, call, env)
    formula = expand_let(found.node, let)
    t = ty.UNKNOWN if isinstance(operand, Packed) else facts.of(operand)
    elementwise = entry.kind == "elementwise"
    reduces = drops_imaginary(t, out) and not is_real(found.node, param, t)
    alone = elementwise and not reduces and _alone(facts, call, param, t, out)
    if elementwise and not reduces:
        reduces = must_reduce(t, out) and not alone and not _alike(facts, call, t)
    if isinstance(t, ty.Array) and not reduces:
        number = _filling(formula, env)
        if number is not None:
            return Term(entry, param, operand, number, env, False, True)
    return Term(entry, param, operand, formula, env, reduces, raw=found.node, alone=alone, let=let)


def _filling(formula: ast.expr, env: dict[str, Bound | ast.expr]) -> ast.expr | None:
    """The number that fills the operand when a reduction runs over all axes.

    `support.sum_back(g, a, axis)` with axis None is an array filled with g."""
    match formula:
        case ast.Call(
            ast.Attribute(ast.Name("np"), "full"),
            [ast.Attribute(ast.Name(), "shape"), number, ast.Attribute(ast.Name(), "dtype")],
        ):
            return number
        case ast.Call(
            ast.Attribute(ast.Name("support"), "sum_back"), [number, ast.Name(), *more], keywords
        ):
            extra = [*more, *(k.value for k in keywords)]
            for node in extra:
                value = env.get(node.id) if isinstance(node, ast.Name) else node
                default = isinstance(value, ir.Const) and value.value in (None, False)
                default = default or (isinstance(value, ir.Const) and value.value is True)
                if not default and not (
                    isinstance(value, ast.Constant) and value.value in (None, False, True)
                ):
                    return None
                if any(k.arg == "keepdims" and k.value is node for k in keywords):
                    return None
            return number
    return None


def _doubled(one: Term, two: Term) -> Term | None:
    if one.operand != two.operand or not isinstance(one.operand, ir.Var) or one.fills or two.fills:
        return None
    if one.reduces != two.reduces or _with_operand(one) != _with_operand(two):
        return None
    two_g: ast.expr = ast.Constant(2.0)
    match one.formula:
        case ast.BinOp(left, ast.Mult(), right):
            node = ast.BinOp(ast.BinOp(two_g, ast.Mult(), left), ast.Mult(), right)
        case _:
            node = ast.BinOp(two_g, ast.Mult(), one.formula)
    return replace(one, formula=node, raw=None)


def _with_operand(term: Term) -> str:
    """A formula in terms of what the names of its rule stand for."""

    def meant(n: ast.Name) -> ast.expr:
        bound = term.env.get(n.id)
        return ast.Name(f"<{bound.name}>") if isinstance(bound, ir.Var) else n

    return ast.dump(asts.rewritten(term.formula, {ast.Name: meant}))


def same_shape(a: ty.Type, b: ty.Type) -> bool:
    """Whether two arrays surely have the same shape (or using them together raises)."""
    if not isinstance(a, ty.Array) or not isinstance(b, ty.Array) or len(a.dims) != len(b.dims):
        return False
    return all(
        (m == n and m != "?") or m[0] == n[0] == "n" for m, n in zip(a.dims, b.dims, strict=True)
    )


def takes_thin(term: Term, operand: ty.Type, out: ty.Type) -> bool:
    """Whether a formula may be given one number for an array filled with it."""
    same = term.alone or same_shape(out, operand)
    return term.entry.kind == "elementwise" and not term.reduces and same


def stays_thin(facts: Facts, term: Term, out: ty.Type) -> bool:
    """Whether the value of a formula given one number is again one number."""
    types = [facts.of(a) for a in term.reads if not isinstance(a, ir.Const)]
    if term.alone and any(isinstance(t, ty.Array) for t in types):
        return False
    return not term.reads_out() and not any(same_shape(out, t) for t in types)


def jvp_terms(facts: Facts, call: Library, param: str) -> tuple[ast.expr, dict[str, Any]] | None:
    """The forward formula of one argument, with `g` or `<param>_dot` for its tangent."""
    entry = call.entry
    env = environment(call)
    found = short_formula(facts, call, param, env, forward=True)
    if found is None:
        table = entry.vjps if entry.kind == "elementwise" else entry.jvps
        found = table.get(param)
    return None if found is None else (expand_let(found.node, lets(facts, call, env, True)), env)


def is_no_place(facts: Facts, stmt: ir.Stmt) -> bool:
    """Whether what a statement takes out of a value is no place in it: its adjoint is none in the
    adjoint.  A slice of a list is a new list."""
    value = stmt.value if isinstance(stmt, ir.Assign) else None
    if isinstance(value, ir.Index) and not isinstance(facts.of(value.obj), ty.Array):
        keys = value.key.items if isinstance(value.key, ir.KeyTuple) else (value.key,)
        plain = ty.Number | ty.Literal
        return not all(
            not isinstance(k, ir.Slice) and isinstance(facts.of(k), plain) for k in keys
        )
    return is_imaginary_part(facts, stmt)


def is_imaginary_part(facts: Facts, stmt: ir.Stmt) -> bool:
    """Whether a statement takes the imaginary part of what may be complex.

    The adjoint of `z.imag` is not the imaginary part of the adjoint of z, but minus it: no view of
    the one mirrors a view of the other."""
    target = facts.targets.get(stmt.sid)
    if not isinstance(target, Library) or target.entry.target is not np.imag:
        return False
    t = facts.of(bound_atoms(target.args[0][1])[0])
    dtype = np.dtype(t.cls) if isinstance(t, ty.Number) else getattr(t, "dtype", None)
    return dtype is None or dtype.kind not in "fiub"


def must_reduce(operand: ty.Type, out: ty.Type) -> bool:
    """Whether a cotangent of the result may have to be summed (or made real) for the operand."""
    if drops_imaginary(operand, out):
        return True
    match operand, out:
        case ty.Number(), ty.Number():
            return False
        case ty.Array(_, m), ty.Array(_, n):
            return len(m) != len(n) or not all(map(keeps_length, m, n))
        case ty.Array(_, ()), ty.Number():
            return False
        case _:
            return True


def keeps_length(operand: str, out: str) -> bool:
    """Whether broadcasting leaves a dimension as long as it was: one that isn't one does (or the
    function raises), and a dimension such as "?u.0-2" is the same wherever it stands."""
    return operand[0] == "n" or (operand == out and operand != "?")


def _alone(facts: Facts, call: Library, param: str, t: ty.Type, out: ty.Type) -> bool:
    """Whether an array meets nothing but numbers, so that the result has its shape."""
    others = [a for p, b in call.args if p != param for a in bound_atoms(b)]
    numbers = all(isinstance(facts.of(a), ty.Number | ty.Literal | ty.Static) for a in others)
    return numbers and isinstance(t, ty.Array) and isinstance(out, ty.Array)


def _alike(facts: Facts, call: Library, t: ty.Type) -> bool:
    """Whether all arrays of a call, of which one has this type, surely have one shape: that is the
    shape of the result, too, whatever else it is called."""
    arrays = [facts.of(a) for _, b in call.args for a in bound_atoms(b)]
    if not isinstance(t, ty.Array) or "?" in t.dims:
        return False
    plain = ty.Number | ty.Literal | ty.Static
    return all(
        a.dims == t.dims if isinstance(a, ty.Array) else isinstance(a, plain) for a in arrays
    )


def parameter_names(entry: Entry) -> list[str]:
    assert entry.params is not None
    return [
        p.name
        for p in entry.params.parameters.values()
        if p.kind is not inspect.Parameter.VAR_KEYWORD
    ]
