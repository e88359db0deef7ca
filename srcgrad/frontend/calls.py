"""Calls: of globals, of local functions and of methods; and calls that need more than a call."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from srcgrad.frontend import comprehensions, functional
from srcgrad.frontend.expressions import held, operands, unpacked
from srcgrad.frontend.functions import function_atom
from srcgrad.frontend.resolve import (
    callee,
    check_attribute,
    extend,
    fold,
    global_of,
    helper,
    own_function,
)
from srcgrad.frontend.scope import Scope, expression, lowers
from srcgrad.ir.nodes import Atom, Call, Expr, Global, Method, Star, Var

_REFUSED = {
    id(getattr(builtins, name)): (name, reason)
    for names, reason in (
        ("eval exec compile __import__", "runs code that can't be read when compiling"),
        ("locals vars globals dir", "reads variables by name, which hides the flow of data"),
        ("input open", "talks to the outside world"),
        ("super", "needs the class a method was defined in"),
    )
    for name in names.split()
}
_FIXES = {
    "eval": "write the expression itself",
    "exec": "write the statements themselves",
    "locals": "name the variable",
    "vars": "name the attribute",
    "globals": "name the variable",
    "open": "read the file before and pass its contents in",
    "input": "pass the value in",
    "super": "name the base class",
}

# These keep a function to call it later; any other call is taken to use it at once.
_KEEPERS = (functools.partial, map, filter, iter, itertools.starmap, itertools.accumulate)
_KEEPING_METHODS = ("append", "appendleft", "extend", "insert", "add", "setdefault", "update")


@lowers(ast.Call)
def _call(scope: Scope, node: ast.Call) -> Expr:
    above = _of_base_class(scope, node)
    if above is not None:
        return above
    target = callee(scope, node.func)
    _check_allowed(scope, node, target)
    special = comprehensions.consume(scope, node, target)
    if special is None:
        special = functional.written_out(scope, node, target)
    if special is not None:
        return special
    if (target is max or target is min) and len(node.args) == 1 and not node.keywords:
        if isinstance(node.args[0], ast.Starred):  # of its items, as of the items of a list
            node = ast.copy_location(ast.Call(node.func, [node.args[0].value], []), node)
    if target is iter and scope.name == "__iter__" and len(node.args) == 1:
        # For a loop, which takes the items one by one.
        return Call(helper("sequence"), operands(scope, node.args))
    if _makes_namedtuple(target) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        every = ast.copy_location(ast.Starred(node.args[0], ast.Load()), node)  # `P._make(items)`
        node = ast.copy_location(ast.Call(node.func.value, [every], []), node)
    if (target is max or target is min) and len(node.args) > 1 and node.keywords:
        items = ast.copy_location(ast.List(node.args, ast.Load()), node)  # `max(a, b, key=f)`
        node = ast.copy_location(ast.Call(node.func, [items], node.keywords), node)
    if target is dict and node.keywords and not node.args:
        return expression(scope, _as_display(node))
    if isinstance(node.func, ast.Attribute) and fold(scope, node.func) is None:
        return _method(scope, node, node.func)
    scope.session.called.add(id(node.func))
    fn = function_atom(scope, node.func)
    if fn is None:
        fn = held(scope, node.func, (*node.args, *node.keywords))
    keeps = any(target is kept for kept in _KEEPERS) or _is_users_class(target)
    derives = getattr(target, "__srcgrad_special__", None) == "derivative"
    keeps |= derives and id(node) not in scope.session.called
    args, kwargs = arguments(scope, node, "keep" if keeps else "call")
    return Call(fn, args, kwargs)


def _makes_namedtuple(target: Any) -> bool:
    """Whether a function is `_make` of a namedtuple, which makes one of any iterable."""
    cls = getattr(target, "__self__", None)
    named = inspect.ismethod(target) and target.__name__ == "_make" and isinstance(cls, type)
    return named and getattr(cls, "__new__", None) is not None and _is_plain_namedtuple(cls)


def _is_plain_namedtuple(cls: Any) -> bool:
    return issubclass(cls, tuple) and "_fields" in vars(cls) and "__new__" in vars(cls)


def _of_base_class(scope: Scope, node: ast.Call) -> Expr | None:
    """`super().value(x)` as `Base.value(self, x)`, where no class has two bases to go through."""
    match node.func:
        case ast.Attribute(
            value=ast.Call(func=ast.Name(id="super"), args=[], keywords=[]), attr=name
        ):
            pass
        case _:
            return None
    held = scope.session.cells.get("__class__")
    cls = None if held is None else held.value
    params = scope.node.args.posonlyargs + scope.node.args.args
    if not isinstance(cls, type) or scope.parent is not None or not params or _forked(cls):
        return None
    for base in cls.__mro__[1:]:
        found = vars(base).get(name)
        if inspect.isfunction(found):
            args, kwargs = arguments(scope, node, "call")
            owner = global_of(base)
            fn = Global(owner.root, (*owner.path, name), found)
            return Call(fn, (Var(params[0].arg), *args), kwargs)
        if found is not None or (name == "__init__" and base is object):
            return None
    return None


def _forked(cls: type) -> bool:
    """Whether an object of this class may look methods up along more than one line of bases."""
    todo, lines = [cls], 0
    while todo:
        one = todo.pop()
        lines += len([b for b in one.__bases__ if vars(b).get("__init__")]) > 1
        todo += type.__subclasses__(one)
    return lines > 0


def _as_display(node: ast.Call) -> ast.Dict:
    """`dict(a=x, **more)` as `{"a": x, **more}`."""
    keys = [None if k.arg is None else ast.Constant(k.arg) for k in node.keywords]
    made = ast.Dict([*keys], [k.value for k in node.keywords])
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _is_users_class(target: object) -> bool:
    """An object may keep what it is made with."""
    return isinstance(target, type) and target.__module__ != "builtins"


def _method(scope: Scope, node: ast.Call, func: ast.Attribute) -> Expr:
    check_attribute(scope, func)
    obj = held(scope, func.value, (*node.args, *node.keywords))
    args, kwargs = arguments(scope, node, "keep" if func.attr in _KEEPING_METHODS else "call")
    inner = None
    if isinstance(obj, Global):
        extended = extend(scope.session, obj, func.attr)
        inner = extended or own_function(scope.session, obj, func.attr)
    if inner is not None:
        return Call(inner, args, kwargs)
    return Method(obj, func.attr, args, kwargs)


def arguments(
    scope: Scope, node: ast.Call, use: str
) -> tuple[tuple[Atom | Star, ...], tuple[tuple[str | None, Atom], ...]]:
    """The arguments of a call, in order of evaluation."""
    nodes: list[ast.expr] = [*node.args, *(keyword.value for keyword in node.keywords)]
    found: list[Atom | Star] = []
    for k, part in enumerate(nodes):
        later = nodes[k + 1 :]
        if isinstance(part, ast.Starred):
            found.append(unpacked(scope, part.value, later))
        else:
            found.append(_argument(scope, part, later, use))
    split = len(node.args)
    values = [value for value in found[split:] if not isinstance(value, Star)]
    names = [keyword.arg for keyword in node.keywords]
    return tuple(found[:split]), tuple(zip(names, values, strict=True))


def _argument(scope: Scope, node: ast.expr, later: Sequence[ast.AST], use: str) -> Atom:
    fn = function_atom(scope, node, use)
    if fn is not None:
        return fn
    if isinstance(node, ast.GeneratorExp):
        raise scope.refusal(
            node,
            "a generator handed to a function that may run it later, or in part",
            "write a list: [...] instead of (...)",
        )
    return held(scope, node, later)


def _check_allowed(scope: Scope, node: ast.Call, target: object) -> None:
    if id(target) in _REFUSED and callable(target):
        name, reason = _REFUSED[id(target)]
        fix = _FIXES.get(name)
        raise scope.refusal(node, f"{name} {reason}", *([fix] if fix else []))
    makes_array = target is np.array or target is np.asarray
    if makes_array and node.args and isinstance(node.args[0], ast.GeneratorExp):
        raise scope.refusal(
            node,
            "NumPy makes an object array of a generator, not an array of its values",
            "write a list: [...] instead of (...)",
        )


@lowers(ast.GeneratorExp)
def _generator(scope: Scope, node: ast.GeneratorExp) -> Expr:
    raise scope.refusal(
        node,
        "a generator kept as a value runs later, or in part",
        "write a list: [...] instead of (...)",
    )
