"""Comprehensions, and calls that run a generator at once (`sum(x * x for x in xs)`): loops."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from srcgrad.frontend import loops
from srcgrad.frontend.expressions import test
from srcgrad.frontend.resolve import builtin, callee
from srcgrad.frontend.scope import Scope, atom, expression, lowers, ref
from srcgrad.frontend.sources import as_generator, makes_items, source_of, stored_names
from srcgrad.frontend.verbatim import verbatim
from srcgrad.ir.nodes import (
    MISSING,
    Assign,
    Build,
    Call,
    Const,
    Effect,
    Exit,
    Expr,
    If,
    Method,
    Op,
    Store,
    Var,
)

# These go through the whole of an iterable before they return.
_EAGER = (list, tuple, set, frozenset, sorted, dict, min, max, math.prod, math.fsum)
_STACKING = (np.stack, np.concatenate, np.hstack, np.vstack, np.column_stack, np.dstack, np.block)


def loop_nest(
    scope: Scope,
    node: ast.AST,
    generators: list[ast.comprehension],
    innermost: Callable[[], None],
    after: Callable[[], None] | None = None,
) -> None:
    """The loops of a comprehension, one inside the other, with hidden variables.

    `after` adds what stands after each inner loop."""
    part, rest = generators[0], generators[1:]
    if part.is_async:
        raise scope.refusal(node, "an async comprehension is not supported")
    source = source_of(scope, part.iter)
    names = {name: scope.hidden(name) for name in sorted(stored_names(part.target))}

    def inside() -> None:
        if rest:
            loop_nest(scope, node, rest, innermost, after)
            if after is not None:
                after()
        else:
            innermost()

    with scope.renamed(names):
        body = partial(_filtered, scope, part.ifs, inside)
        loops.run(scope, node, source, part.target, lambda name: True, body)


def _filtered(scope: Scope, conditions: list[ast.expr], inside: Callable[[], None]) -> None:
    if not conditions:
        inside()
        return
    found = test(scope, conditions[0])
    sid = scope.sid()
    body = scope.block(lambda: _filtered(scope, conditions[1:], inside))
    scope.emit(If(sid, scope.loc(conditions[0]), found, body, ()))


# ---- displays ------------------------------------------------------------------------------


@lowers(ast.ListComp)
def _list(scope: Scope, node: ast.ListComp) -> Expr:
    return as_list(scope, node)


def as_list(scope: Scope, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Var:
    """All items of a comprehension or generator, in a list."""
    result = scope.temp()
    scope.assign(node, result, Build("list", ()))

    def append() -> None:
        value = atom(scope, node.elt)
        call = Method(result, "append", (value,))
        scope.emit(Effect(scope.sid(), scope.loc(node.elt), call))

    loop_nest(scope, node, node.generators, append)
    return result


@lowers(ast.SetComp)
def _set(scope: Scope, node: ast.SetComp) -> Expr:
    return Call(builtin("set"), (as_list(scope, node),))


@lowers(ast.DictComp)
def _dict(scope: Scope, node: ast.DictComp) -> Expr:
    result = scope.temp()
    scope.assign(node, result, Build("dict", ()))

    def store() -> None:
        found = atom(scope, node.key)
        value = atom(scope, node.value)
        scope.emit(Store(scope.sid(), scope.loc(node.value), result, found, value))

    loop_nest(scope, node, node.generators, store)
    return result


# ---- generators that are run at once -----------------------------------------------------------


def consume(scope: Scope, node: ast.Call, target: Any) -> Expr | None:
    """A call that runs a generator, or `map`, at once; None for any other call."""
    if not node.args or isinstance(node.args[0], ast.Starred):
        return None
    adds = isinstance(node.func, ast.Attribute) and node.func.attr in ("extend", "update")
    if adds and isinstance(node.args[0], ast.Call) and makes_items(scope, node.args[0]):
        return _listed(scope, node)
    generator = as_generator(scope, node.args[0])
    if target is builtins.next and not node.keywords:
        generator = generator or _of_iterator(scope, node.args[0])
        if generator is not None:
            return _first(scope, node, generator)
    if generator is None:
        return None
    if target is builtins.sum or (target is np.sum and len(node.args) == 1 and not node.keywords):
        return _sum(scope, node, generator)
    if target in (builtins.any, builtins.all) and len(node.args) == 1:
        return _any_all(scope, generator, target is builtins.any)
    joins = isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "extend", "update")
    if joins or target in _EAGER or target in _STACKING:
        return _collected(scope, node, generator, target)
    return None


def _collected(scope: Scope, node: ast.Call, generator: ast.GeneratorExp, target: Any) -> Expr:
    if target is builtins.list and len(node.args) == 1:
        return as_list(scope, generator)
    func = node.func
    if isinstance(func, ast.Attribute) and target is MISSING:  # a method: its object comes first
        obj = ref(atom(scope, func.value), func.value)
        func = ast.copy_location(ast.Attribute(obj, func.attr, ast.Load()), func)
    items = ref(as_list(scope, generator), generator)
    again = ast.Call(func, [items, *node.args[1:]], node.keywords)
    return expression(scope, ast.copy_location(again, node))


def _listed(scope: Scope, node: ast.Call) -> Expr:
    """`rows.extend(zip(a, b))` takes the items from a list: nobody else holds the iterator."""
    whole = ast.Call(ref(builtin("list"), node), [node.args[0]], [])
    items = ast.copy_location(whole, node.args[0])
    again = ast.Call(node.func, [items, *node.args[1:]], node.keywords)
    return expression(scope, ast.copy_location(again, node))


def _sum(scope: Scope, node: ast.Call, generator: ast.GeneratorExp) -> Expr:
    """`sum(...)`: an accumulator, as the built-in adds (never in place)."""
    given = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "start")]
    result = scope.temp()
    start = atom(scope, given[0]) if given else Const(0)
    scope.assign(node, result, start)

    def add() -> None:
        value = atom(scope, generator.elt)
        scope.assign(generator.elt, result, Op("add", (result, value)))

    loop_nest(scope, generator, generator.generators, add)
    return result


def _any_all(scope: Scope, generator: ast.GeneratorExp, wanted: bool) -> Expr:
    """`any` and `all` stop at the first item that settles the answer."""
    result = scope.temp()
    scope.assign(generator, result, Const(not wanted))

    def check() -> None:
        found = test(scope, generator.elt)
        sid = scope.sid()
        loc = scope.loc(generator.elt)
        settle = (Assign(scope.sid(), loc, result, Const(wanted)), Exit(scope.sid(), loc, "break"))
        scope.emit(If(sid, loc, found, settle if wanted else (), () if wanted else settle))

    def after() -> None:
        loc = scope.loc(generator)
        settled: Expr = result if wanted else Op("not", (result,))
        sid = scope.sid()
        scope.emit(If(sid, loc, settled, (Exit(scope.sid(), loc, "break"),), ()))

    loop_nest(scope, generator, generator.generators, check, after)
    return result


def _of_iterator(scope: Scope, node: ast.expr) -> ast.GeneratorExp | None:
    """An iterator that is made where it is used, `iter(xs)` or `zip(a, b)`, as a generator."""
    if not isinstance(node, ast.Call):
        return None
    of_one = callee(scope, node.func) is builtins.iter and len(node.args) == 1
    if not of_one and not makes_items(scope, node):
        return None
    items = node.args[0] if of_one else node
    store, read = ast.Name("item%", ast.Store()), ast.Name("item%", ast.Load())
    made = ast.GeneratorExp(read, [ast.comprehension(store, items, [], 0)])
    for part in (made, store, read):
        ast.copy_location(part, node)
    return made


def _first(scope: Scope, node: ast.Call, generator: ast.GeneratorExp) -> Expr:
    """`next(x for x in xs if good(x))`: the loop ends where the first item is found."""
    result, found = scope.temp(), scope.temp()
    loc = scope.loc(node)
    if len(node.args) > 1:
        scope.assign(node, result, atom(scope, node.args[1]))
    scope.assign(node, found, Const(False))

    def take() -> None:
        scope.assign(generator.elt, result, expression(scope, generator.elt))
        scope.assign(generator.elt, found, Const(True))
        scope.emit(Exit(scope.sid(), loc, "break"))

    def after() -> None:
        sid = scope.sid()
        scope.emit(If(sid, loc, found, (Exit(scope.sid(), loc, "break"),), ()))

    loop_nest(scope, generator, generator.generators, take, after)
    if len(node.args) == 1:
        raised = ast.copy_location(ast.Raise(ref(builtin("StopIteration"), node)), node)
        sid = scope.sid()
        none = scope.block(lambda: scope.emit(verbatim(scope, raised)))
        scope.emit(If(sid, loc, Op("not", (found,)), none, ()))
    return result
