"""Derivative rules of users that are one expression, as formulas.

    def rule(dy, y, a):          g * np.cos(a)
        return dy * np.cos(a)

Only what has one meaning wherever it stands is taken: the parameters, numbers, operators, and pure
functions of NumPy and math.  All other rules are called.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from srcgrad.errors import SrcgradError
from srcgrad.frontend import source
from srcgrad.frontend.formulas import Formulas, NotPlain, fail
from srcgrad.frontend.namespace import outside
from srcgrad.ir import asts
from srcgrad.rules.registry import Entry

_RESERVED = frozenset(("g", "out", "np", "math", "support", "special", "linalg", "signal"))
_Names = Mapping[str, ast.expr]


@dataclass(frozen=True)
class PlainRule:
    """The formulas of a rule, one for each argument in order; None stands for no derivative.

    `params` are the names of the arguments in them, `g` is the cotangent and `out` the result.
    Those of a forward rule are its share of the tangent, with `g` for the argument's own."""

    params: tuple[str, ...]
    items: tuple[ast.expr | None, ...]
    forward: bool = False


def plain_rule(entry: Entry) -> PlainRule | None:
    """The formulas of a user's rule, or None where it is not that plain.

    >>> from srcgrad.rules import custom
    >>> def twice(x): ...
    >>> found = plain_rule(custom.entry_for(twice, lambda dy, y, a: dy * 2.0))
    >>> found is None or ast.unparse(found.items[0])
    'g * 2.0'
    """
    read = _reader(entry)
    if read is None:
        return None
    try:
        return read(entry.target, *functions_of(entry))
    except (NotPlain, SrcgradError):
        return None


def functions_of(entry: Entry) -> tuple[Any, Any, Any]:
    """The Python functions of a rule: the rule or forward function, backward, forward rule."""
    fns = (entry.fn, entry.backward, entry.jvp_fn)
    return tuple(f if inspect.isfunction(f) else None for f in fns)  # type: ignore[return-value]


def _reader(entry: Entry) -> Callable[..., PlainRule] | None:
    if not inspect.isfunction(entry.fn or entry.jvp_fn):
        return None
    match entry.kind:
        case "function":
            return _of_function
        case "custom":
            return _of_returned if entry.backward is None else _of_pair
        case "jvp":
            return _of_forward
        case _:
            return None


# ---- the forms of rules -------------------------------------------------------------------------


def _of_function(target: Any, fn: Any, *_: Any) -> PlainRule:
    """`rule(g, out, *args)`"""
    params, body = _opened(fn)
    g, out, *rest = params if len(params) > 1 else fail()
    if len(body) != 1:
        fail()
    names = _mangled(rest)
    every = {g: _name("g"), out: _name("out"), **{p: _name(n) for p, n in names.items()}}
    return PlainRule(tuple(names.values()), _items(body[0], fn, every, len(rest)))


def _of_returned(target: Any, fn: Any, *_: Any) -> PlainRule:
    """A function that returns its value and a function of the cotangent, which captures no more
    than parameters."""
    params, body = _opened(fn)
    *defs, last = body
    pair = _returned(last)
    if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
        fail()
    match defs, pair.elts[1]:
        case [ast.FunctionDef() as inner], ast.Name(name) if inner.name == name:
            inside: ast.FunctionDef | ast.Lambda = inner
        case [], ast.Lambda() as inside:
            pass
        case _:
            fail()
    own, inner_body = _parts(inside)
    if len(own) != 1 or own[0] in params or len(inner_body) != 1:
        fail()
    names = _mangled(params)
    every = {own[0]: _name("g"), **{p: _name(n) for p, n in names.items()}}
    items = _items(inner_body[0], fn, every, len(params))
    return PlainRule(tuple(names.values()), items)


def _of_pair(target: Any, fn: Any, backward: Any, *_: Any) -> PlainRule:
    """`fwd(*args)` returns the call itself and what `bwd(saved, g)` reads, each part once."""
    params, body = _opened(fn)
    pair = _returned(body[0]) if len(body) == 1 else fail()
    if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
        fail()
    if not _calls(pair.elts[0], fn, target, params):
        fail()
    names = _mangled(params)
    every: dict[str, ast.expr] = {p: _name(n) for p, n in names.items()}
    (saved, g), back = _opened(backward, 2)
    parts = {g: _name("g")}
    kept = pair.elts[1]
    if len(back) == 2:
        parts |= _unpacked(back[0], saved, [_formula(e, fn, every) for e in _tuple(kept)])
    elif len(back) == 1:
        if isinstance(kept, ast.Tuple):
            fail()
        parts[saved] = _formula(kept, fn, every)
    else:
        fail()
    items = _items(back[-1], backward, parts, len(params))
    _check_used_once(back[-1], parts)
    return PlainRule(tuple(names.values()), items)


def _of_forward(target: Any, _fn: Any, _backward: Any, forward: Any) -> PlainRule:
    """`(x,), (x_dot,) = primals, tangents`, then the call itself and the tangent of it, a sum of
    which each part has one tangent."""
    (primals, tangents), body = _opened(forward, 2)
    if len(body) != 2:
        fail()
    xs, dots = _two_unpacked(body[0], primals, tangents)
    pair = _returned(body[1])
    if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
        fail()
    if not _calls(pair.elts[0], forward, target, xs):
        fail()
    names = _mangled(xs)
    known = {p: _name(n) for p, n in names.items()}
    shares: dict[str, ast.expr] = {}
    for term in _terms(pair.elts[1]):
        own = [d for d in dots if d in asts.names(term)]
        if len(own) != 1:
            fail()
        made = _formula(term, forward, {**known, own[0]: _name("g")})
        old = shares.get(own[0])
        shares[own[0]] = made if old is None else ast.BinOp(old, ast.Add(), made)
    return PlainRule(tuple(names.values()), tuple(shares.get(d) for d in dots), forward=True)


# ---- pieces of syntax ---------------------------------------------------------------------------


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _tuple(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else fail()


def _opened(fn: Any, count: int | None = None) -> tuple[list[str], list[ast.stmt]]:
    """Parameters and statements of a function that is what it looks like: it has no decorator and
    brings nothing along."""
    found = source.read(fn)
    if found.fn is not fn or found.bound or found.bound_kwargs or found.notes:
        fail()
    if isinstance(found.node, ast.AsyncFunctionDef) or fn.__kwdefaults__:
        fail()
    params, body = _parts(found.node, own=True)
    if count is not None and len(params) != count:
        fail()
    return params, body


def _parts(
    node: ast.FunctionDef | ast.Lambda, own: bool = False
) -> tuple[list[str], list[ast.stmt]]:
    a = node.args
    if a.vararg or a.kwarg or a.kwonlyargs or a.defaults:
        fail()
    params = [p.arg for p in (*a.posonlyargs, *a.args)]
    if isinstance(node, ast.Lambda):
        return params, [ast.Return(node.body)]
    if node.decorator_list and not own:
        fail()
    body = list(node.body)
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # the docstring
    return params, body or fail()


def _returned(stmt: ast.stmt) -> ast.expr:
    if not isinstance(stmt, ast.Return) or stmt.value is None:
        fail()
    return stmt.value


def _mangled(params: list[str]) -> dict[str, str]:
    """Names for the parameters that mean nothing else in a formula."""
    out: dict[str, str] = {}
    for p in params:
        name = p
        while name in _RESERVED or name in out.values() or (name != p and name in params):
            name += "_"
        out[p] = name
    return out


def _unpacked(stmt: ast.stmt, saved: str, values: list[ast.expr]) -> dict[str, ast.expr]:
    match stmt:
        case ast.Assign([ast.Tuple(targets) | ast.List(targets)], ast.Name(name)) if name == saved:
            names = [t.id if isinstance(t, ast.Name) else fail() for t in targets]
        case _:
            fail()
    if len(names) != len(values) or len(set(names)) != len(names):
        fail()
    return dict(zip(names, values, strict=True))


def _two_unpacked(stmt: ast.stmt, primals: str, tangents: str) -> tuple[list[str], list[str]]:
    match stmt:
        case ast.Assign(
            [ast.Tuple([ast.Tuple(xs), ast.Tuple(dots)])],
            ast.Tuple([ast.Name(one), ast.Name(two)]),
        ) if (one, two) == (primals, tangents):
            names = [t.id if isinstance(t, ast.Name) else fail() for t in (*xs, *dots)]
        case _:
            fail()
    if len(xs) != len(dots) or len(set(names)) != len(names):
        fail()
    return names[: len(xs)], names[len(xs) :]


def _check_used_once(stmt: ast.stmt, parts: _Names) -> None:
    """What was computed in the forward sweep is computed no more often than that."""
    read = [n.id for n in ast.walk(stmt) if isinstance(n, ast.Name)]
    if any(read.count(n) > 1 for n, e in parts.items() if not isinstance(e, ast.Name)):
        fail()


def _calls(node: ast.expr, fn: Any, target: Any, params: list[str]) -> bool:
    """Whether an expression is the call of the decorated function with its own arguments."""
    match node:
        case ast.Call(ast.Name(name), args, []):
            given = [a.id if isinstance(a, ast.Name) else None for a in args]
            return outside(fn).get(name) is target and given == params
        case _:
            return False


def _terms(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left, ast.Add(), right):
            return [*_terms(left), *_terms(right)]
        case ast.BinOp(left, ast.Sub(), right):
            return [*_terms(left), *(ast.UnaryOp(ast.USub(), t) for t in _terms(right))]
        case _:
            return [node]


# ---- expressions --------------------------------------------------------------------------------


def _items(stmt: ast.stmt, fn: Any, names: _Names, n: int) -> tuple[ast.expr | None, ...]:
    """The cotangents that a rule returns."""
    value = _returned(stmt)
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    if len(parts) != n:
        fail()
    return tuple(
        None if isinstance(p, ast.Constant) and p.value is None else _formula(p, fn, names)
        for p in parts
    )


def _formula(node: ast.expr, fn: Any, names: _Names) -> ast.expr:
    """An expression with the names of a formula."""
    return Formulas(names, outside(fn)).expr(node)
