"""Does the function that a decorator puts around another change what comes out of it?

A decorator that logs, times or counts can be passed over; one that scales, converts or caches on
its own terms can't, since the derivative of what runs is wanted.  Decided from the syntax alone:
yes only when every value returned is the untouched result of calling the inner function with the
arguments as they came.
"""

from __future__ import annotations

import ast
import types

_CHANGES = (ast.Store, ast.Del)


def adds_nothing(fn: types.FunctionType, node: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether `fn`, whose definition is `node`, only calls the function it wraps.

    >>> import functools
    >>> def logged(f):
    ...     @functools.wraps(f)
    ...     def wrapper(*args, **kwargs):
    ...         print("call")
    ...         return f(*args, **kwargs)
    ...     return wrapper
    >>> text = '''def wrapper(*args, **kwargs):
    ...     print("call")
    ...     return f(*args, **kwargs)'''
    >>> adds_nothing(logged(lambda x: x), ast.parse(text).body[0])
    True
    """
    inner = _captured_names(fn)
    if not inner or not isinstance(node, ast.FunctionDef):
        return False
    return _Check(node, inner).passes()


def _captured_names(fn: types.FunctionType) -> set[str]:
    """The captured variables that hold the wrapped function."""
    wrapped = getattr(fn, "__wrapped__", None)
    names = set()
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            if cell.cell_contents is wrapped:
                names.add(name)
        except ValueError:  # the cell is still empty
            continue
    return names


class _Check:
    """The reading of one decorator's function."""

    def __init__(self, node: ast.FunctionDef, inner: set[str]) -> None:
        self.node = node
        self.inner = inner
        self.params = node.args
        self.guarded = inner | {arg.arg for arg in _all_args(node.args)}
        self.results = self._result_names()

    def passes(self) -> bool:
        inside = [n for stmt in self.node.body for n in ast.walk(stmt)]
        return (
            _ends_in_return(self.node.body)
            and not any(isinstance(n, _FORBIDDEN) for n in inside)
            and not any(self._disturbs(n) for n in inside)
            and all(self._returns_result(n) for n in inside if isinstance(n, ast.Return))
        )

    def _result_names(self) -> set[str]:
        """Locals bound once or more to a call of the inner function, and to nothing else."""
        good, bad = set(), set()
        for n in ast.walk(self.node):
            if isinstance(n, ast.Assign) and self._is_call(n.value):
                good |= {t.id for t in n.targets if isinstance(t, ast.Name)}
            elif isinstance(n, ast.Name) and isinstance(n.ctx, _CHANGES):
                bad.add(n)
        fine = {
            id(t)
            for n in ast.walk(self.node)
            if isinstance(n, ast.Assign) and self._is_call(n.value)
            for t in n.targets
        }
        return good - {n.id for n in bad if id(n) not in fine}

    def _is_call(self, node: ast.expr | None) -> bool:
        """`f(*args, **kwargs)` with the parameters just as they came."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            return False
        if node.func.id not in self.inner:
            return False
        return _shape_of_call(node) == _shape_of_params(self.params)

    def _returns_result(self, node: ast.Return) -> bool:
        if isinstance(node.value, ast.Name):
            return node.value.id in self.results
        return self._is_call(node.value)

    def _disturbs(self, node: ast.AST) -> bool:
        """Whether a node may change an argument, the result or the inner function."""
        kept = self.guarded | self.results
        if isinstance(node, ast.Name) and isinstance(node.ctx, _CHANGES):
            return node.id in self.guarded
        if isinstance(node, ast.AugAssign):
            return _root(node.target) in kept
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, _CHANGES):
            # A store into anything else may be into something that shares memory with a result.
            return _root(node) is None or _root(node) in kept
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root = _root(node.func)
            return root in (kept - self.inner)
        return False


# Nested scopes could do any of it out of sight.
_FORBIDDEN = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Global,
    ast.NamedExpr,
)


def _all_args(args: ast.arguments) -> list[ast.arg]:
    stars = [a for a in (args.vararg, args.kwarg) if a is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *stars]


def _shape_of_params(args: ast.arguments) -> list[tuple[str, str]]:
    shape = [("", a.arg) for a in (*args.posonlyargs, *args.args)]
    shape += [("*", args.vararg.arg)] if args.vararg else []
    shape += [(a.arg, a.arg) for a in args.kwonlyargs]
    return shape + ([("**", args.kwarg.arg)] if args.kwarg else [])


def _shape_of_call(node: ast.Call) -> list[tuple[str, str]]:
    shape = []
    for arg in node.args:
        star = "*" if isinstance(arg, ast.Starred) else ""
        value = arg.value if isinstance(arg, ast.Starred) else arg
        shape.append((star, value.id if isinstance(value, ast.Name) else ""))
    for keyword in node.keywords:
        name = keyword.value.id if isinstance(keyword.value, ast.Name) else ""
        shape.append((keyword.arg or "**", name))
    return shape


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _ends_in_return(body: list[ast.stmt]) -> bool:
    """Whether a block can't be left at its end, which would return None."""
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.With(body=inner):
            return _ends_in_return(inner)
        case ast.If(body=inner, orelse=orelse):
            return bool(orelse) and _ends_in_return(inner) and _ends_in_return(orelse)
        case ast.Try(body=inner, handlers=handlers, orelse=orelse, finalbody=final):
            if final and _ends_in_return(final):
                return True
            arms = [orelse or inner, *(h.body for h in handlers)]
            return all(_ends_in_return(arm) for arm in arms)
        case _:
            return False
