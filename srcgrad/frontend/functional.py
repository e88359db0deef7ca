"""Calls that call a function for each part of an array, written out as what they do.

np.apply_along_axis(f, 0, a)  ->  along_axis([f(v) for v in lines_along(a, 0)], a, 0)
np.vectorize(f)(x)            ->  vectorized([f(v) for v in np.ravel(x)], x)
np.piecewise(x, [p], [f, c])  ->  pieces([f(x[p]), c], [p, otherwise([p])], x)
np.fromfunction(f, (n, m))    ->  f(*np.indices((n, m), dtype=float)), its parts one by one
np.fromiter(xs, float)        ->  np.array(list(xs), dtype=float)
dict(a=x)                     ->  {"a": x}
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from srcgrad.frontend.resolve import builtin, callee, fold, helper
from srcgrad.frontend.scope import Ref, Scope, atom, expression
from srcgrad.ir.nodes import Expr, Global, Root


def written_out(scope: Scope, node: ast.Call, target: Any) -> Expr | None:
    """The lowering of such a call; None for any other, and where its parts can't be told."""
    made = None
    if any(isinstance(a, ast.Starred) for a in node.args):
        return None
    if isinstance(node.func, ast.Call) and callee(scope, node.func.func) is np.vectorize:
        plain = len(node.func.args) == 1 and not node.func.keywords
        made = _vectorize(scope, node, node.func.args[0]) if plain else None
    elif isinstance(target, np.vectorize):
        made = _vectorize(scope, node, _inside(scope, node.func, target))
    elif target is dict and node.keywords and not node.args:
        made = _dict(node)
    else:
        for function, write in _WRITERS.items():
            if target is function and None not in _named(node):
                made = write(scope, _positional(node, _FIRST[function]))
    return None if made is None else expression(scope, _placed(made, node))


def _named(node: ast.Call) -> set[str | None]:
    return {k.arg for k in node.keywords}


def _positional(node: ast.Call, names: tuple[str, ...]) -> ast.Call:
    """The call with those of its arguments that have these names given by position."""
    named = {k.arg: k.value for k in node.keywords}
    args = list(node.args)
    for name in names[len(args) :]:
        if name not in named:
            break
        args.append(named.pop(name))
    rest = [k for k in node.keywords if k.arg in named]
    return ast.copy_location(ast.Call(node.func, args, rest), node)


def _placed(made: ast.expr, node: ast.expr) -> ast.expr:
    """New syntax at the place of the old."""
    for part in ast.walk(made):
        if isinstance(part, ast.expr | ast.keyword) and not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return made


def _ref(found: Any) -> Ref:
    made = Ref()
    made.atom = found
    return made


def _held(scope: Scope, node: ast.expr) -> ast.expr:
    """An argument evaluated here and now; functions stay as they are written."""
    if isinstance(node, ast.Lambda | ast.Constant | Ref):
        return node
    if isinstance(node, ast.Name) and node.id in scope.inlined:
        return node
    return ast.copy_location(_ref(atom(scope, node)), node)


def _support(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(_ref(helper(name)), list(args), [])


def _numpy(name: str, *args: ast.expr, **kwargs: ast.expr) -> ast.Call:
    fn = Global(Root("module", "numpy"), (name,), getattr(np, name))
    return ast.Call(_ref(fn), list(args), [ast.keyword(k, v) for k, v in kwargs.items()])


def _each(elt: ast.expr, name: str, over: ast.expr) -> ast.ListComp:
    loop = ast.comprehension(ast.Name(name, ast.Store()), over, [], 0)
    return ast.ListComp(elt, [loop])


# ---- one writer for each function --------------------------------------------------------------


def _dict(node: ast.Call) -> ast.expr | None:
    if None in _named(node):
        return None
    return ast.Dict([ast.Constant(k.arg) for k in node.keywords], [k.value for k in node.keywords])


def _along_axis(scope: Scope, node: ast.Call) -> ast.expr | None:
    if len(node.args) < 3:
        return None
    function, axis, array, *more = (_held(scope, a) for a in node.args)
    named = [ast.keyword(k.arg, _held(scope, k.value)) for k in node.keywords]
    call = ast.Call(function, [ast.Name("line_", ast.Load()), *more], named)
    results = _each(call, "line_", _support("lines_along", array, axis))
    return _support("along_axis", results, array, axis)


def _over_axes(scope: Scope, node: ast.Call) -> ast.expr | None:
    if len(node.args) != 3 or node.keywords:
        return None
    function, array, axes = node.args
    items = axes.elts if isinstance(axes, ast.Tuple | ast.List) else [axes]
    numbers = [_whole(i) for i in items]
    if None in numbers:
        return None
    function, value = _held(scope, function), _held(scope, _numpy("asarray", array))
    for axis in map(ast.Constant, numbers):
        found = ast.Call(function, [value, axis], [])
        value = _held(scope, _placed(_support("with_axis", found, value, axis), node))
    return value


def _whole(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def _inside(scope: Scope, node: ast.expr, made: Any) -> ast.expr | None:
    """The function of an `np.vectorize` object that has no options."""
    found = fold(scope, node)
    if found is None or made.signature is not None or made.excluded or made.otypes is not None:
        return None
    return _ref(Global(found.root, (*found.path, "pyfunc"), made.pyfunc))


def _vectorize(scope: Scope, node: ast.Call, function: ast.expr | None) -> ast.expr | None:
    """`np.vectorize(f)(x, y)`: a result for each element of the arguments broadcast together."""
    if function is None or node.keywords or not node.args:
        return None
    function = _held(scope, function)
    arrays = [_held(scope, a) for a in node.args]
    if len(arrays) > 1:
        both = _held(scope, _placed(_numpy("broadcast_arrays", *arrays), node))
        arrays = [_held(scope, _placed(_item(both, k), node)) for k in range(len(arrays))]
    flat = [_held(scope, _placed(_numpy("ravel", a), node)) for a in arrays]
    index = ast.Name("index_", ast.Load())
    call = ast.Call(function, [ast.Subscript(f, index, ast.Load()) for f in flat], [])
    length = ast.Call(ast.Name("len", ast.Load()), [flat[0]], [])
    over = ast.Call(ast.Name("range", ast.Load()), [length], [])
    return _support("vectorized", _each(call, "index_", over), arrays[0])


def _item(node: ast.expr, k: int) -> ast.expr:
    return ast.Subscript(node, ast.Constant(k), ast.Load())


def _piecewise(scope: Scope, node: ast.Call) -> ast.expr | None:
    x, conditions, functions = (*node.args[:3], *[ast.Constant(None)] * 3)[:3]
    if not isinstance(conditions, ast.List) or not isinstance(functions, ast.List):
        return None
    if len(node.args) < 3 or len(functions.elts) - len(conditions.elts) not in (0, 1):
        return None
    parts = [x, *conditions.elts, *functions.elts]
    if any(isinstance(p, ast.Starred) for p in parts):
        return None
    x = _held(scope, _placed(_numpy("asarray", x), node))
    tests = [_held(scope, c) for c in conditions.elts]
    if len(functions.elts) > len(tests):
        rest = _support("otherwise", ast.List(list(tests), ast.Load()))
        tests.append(_held(scope, _placed(rest, node)))
    more = [_held(scope, a) for a in node.args[3:]]
    named = [ast.keyword(k.arg, _held(scope, k.value)) for k in node.keywords]
    values: list[ast.expr] = []
    for test, function in zip(tests, functions.elts, strict=True):
        if not _is_function(scope, function):
            values.append(function)
            continue
        part = ast.Subscript(x, test, ast.Load())
        values.append(ast.Call(_held(scope, function), [part, *more], named))
    return _support("pieces", ast.List(values, ast.Load()), ast.List(tests, ast.Load()), x)


def _is_function(scope: Scope, node: ast.expr) -> bool:
    if isinstance(node, ast.Lambda):
        return True
    if isinstance(node, ast.Name) and node.id in scope.inlined:
        return True
    return callable(callee(scope, node)) if isinstance(node, ast.Name | ast.Attribute) else False


def _fromfunction(scope: Scope, node: ast.Call) -> ast.expr | None:
    if len(node.args) != 2 or not isinstance(node.args[1], ast.Tuple):
        return None
    function, shape = node.args
    dtype = next((k.value for k in node.keywords if k.arg == "dtype"), None)
    if len(node.keywords) > (dtype is not None) or not isinstance(shape, ast.Tuple):
        return None
    dtype = ast.Name("float", ast.Load()) if dtype is None else dtype
    grids = _held(scope, _placed(_numpy("indices", shape, dtype=dtype), node))
    return ast.Call(function, [_item(grids, k) for k in range(len(shape.elts))], [])


def _fromiter(scope: Scope, node: ast.Call) -> ast.expr | None:
    if len(node.args) != 2 or node.keywords:
        return None
    items, dtype = node.args
    if isinstance(items, ast.GeneratorExp):
        every: ast.expr = ast.ListComp(items.elt, items.generators)
    else:
        every = ast.Call(_ref(builtin("list")), [items], [])
    return _numpy("array", every, dtype=dtype)


_WRITERS: dict[Any, Any] = {
    np.fromiter: _fromiter,
    np.apply_along_axis: _along_axis,
    np.apply_over_axes: _over_axes,
    np.piecewise: _piecewise,
    np.fromfunction: _fromfunction,
}
_FIRST: dict[Any, tuple[str, ...]] = {
    np.fromiter: ("iter", "dtype"),
    np.apply_along_axis: ("func1d", "axis", "arr"),
    np.apply_over_axes: ("func", "a", "axes"),
    np.piecewise: ("x", "condlist", "funclist"),
    np.fromfunction: ("function", "shape"),
}
