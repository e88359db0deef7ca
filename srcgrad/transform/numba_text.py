"""From the functions of a generated module to ones that Numba compiles.

Only forms change that Numba does not know: calls with arguments it does not take, scatter-add,
literals that would widen float32.  What needs a loop is a call of `jit`, whose functions Numba
inlines.  Names of the user's modules become names of this one: Numba freezes them when it
compiles, so their values are part of the text.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.comments import Comment
from srcgrad.ir.frozen import describe, holds_array
from srcgrad.transform import syntax as syn
from srcgrad.transform.module import Module

# NumPy functions that Numba has with fewer arguments than NumPy, or not at all.
_REDUCTIONS = frozenset(
    [
        "sum",
        "max",
        "min",
        "amax",
        "amin",
        "mean",
        "prod",
        "any",
        "all",
        "argmax",
        "argmin",
        "var",
        "std",
        "cumsum",
        "cumprod",
    ]
)
_REPLACED = _REDUCTIONS | frozenset(["einsum", "clip", "diagonal", "squeeze"])
_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "add_to", ast.Sub: "subtract_from", ast.Mult: "multiply_by", ast.Div: "divide_by",
}  # fmt: skip
_METHODS = _REDUCTIONS | {"squeeze", "clip"}
_SHARED = ("numpy", "math", "builtins")  # modules that Numba knows


def by_their_names(functions: Sequence[ast.stmt], objects: Mapping[str, Any]) -> list[ast.stmt]:
    """Functions that call NumPy's by its own names: a closure may know them by others, and what
    Numba lacks of NumPy has a twin of that name.

    >>> fn = ast.parse("def f(x): return dg(x)").body
    >>> print(ast.unparse(by_their_names(fn, {"dg": np.diagonal})[0]))
    def f(x):
        return np.diagonal(x)
    """
    known: dict[str, ast.expr] = {}
    for name, value in objects.items():
        own = getattr(value, "__name__", "")
        if callable(value) and own.isidentifier() and getattr(np, own, None) is value:
            known[name] = syn.expr(f"np.{own}")
    return [syn.substitute(fn, known) for fn in functions] if known else list(functions)


def adapt(
    functions: Sequence[ast.stmt], options: Mapping[str, Any], single: bool
) -> list[ast.stmt]:
    """Functions with their decorators, in what Numba compiles.

    >>> fn = ast.parse("def f(x): return np.sum(x, axis=0)").body
    >>> print(ast.unparse(adapt(fn, {"error_model": "numpy"}, False)[0]))
    @njit(error_model='numpy')
    def f(x):
        return jit.sum(x, axis=0)

    `single`: the program knows no floating type but float32.
    """
    rules = dict(_ADAPTED)
    if single:
        rules[ast.Constant] = _in_single
    out: list[ast.stmt] = []
    for fn in functions:
        made = asts.changed(fn, rules)
        if isinstance(made, ast.FunctionDef):
            made.decorator_list = [decorator(options)]
        out.append(made)
    return out


def decorator(options: Mapping[str, Any]) -> ast.expr:
    return syn.call("njit", **{k: _option(v) for k, v in sorted(options.items())})


def _option(value: Any) -> ast.expr:
    if isinstance(value, set | frozenset):
        return ast.Set([ast.Constant(v) for v in sorted(value)])
    if isinstance(value, dict):
        return ast.Dict([ast.Constant(k) for k in value], [_option(v) for v in value.values()])
    if isinstance(value, bool | int | str):
        return ast.Constant(value)
    return _option({k: v for k, v in vars(value).items() if v})  # parallel options


def _call(node: ast.Call) -> ast.expr:
    match node:
        case ast.Call(ast.Attribute(ast.Attribute(ast.Name("np"), ufunc), "at"), args, []):
            return syn.call(f"jit.{ufunc}_at", *args)
        case ast.Call(ast.Attribute(ast.Name("np"), name)) if name in _REPLACED:
            return _renamed(node, f"jit.{name}", node.args)
        case ast.Call(ast.Attribute(ast.Name(), "astype"), [dtype, *_], _):
            node.args, node.keywords = [dtype], []
        case ast.Call(ast.Attribute(obj, name), args, keywords) if name in _METHODS and (
            args or keywords
        ):
            if not (isinstance(obj, ast.Name) and obj.id in ("support", "jit", "np", "math")):
                return _renamed(node, f"jit.{name}", [obj, *args])
        case ast.Call(ast.Name("float"), [ast.Constant(str(text))], []):
            return syn.number(float(text))
    return node


def _in_place(node: ast.AugAssign) -> ast.stmt:
    """`a[1:, None] += g`: as loops, with NumPy's meaning where g overlaps with a."""
    name = _IN_PLACE.get(type(node.op))
    place = node.target
    if name is None or not isinstance(place, ast.Subscript) or not _has_slice(place.slice):
        return node
    view = ast.Subscript(place.value, place.slice, ast.Load())
    made = ast.Expr(syn.call(f"jit.{name}", view, node.value))
    if hasattr(node, "srcgrad_origin"):
        made.srcgrad_origin = node.srcgrad_origin  # type: ignore[attr-defined]
    return made


def _attribute(node: ast.Attribute) -> ast.expr:
    if isinstance(node.value, ast.Call) and node.attr == "real":
        return syn.call("jit.real", node.value)
    return node


def _in_single(node: ast.Constant) -> ast.expr:
    return syn.call("np.float32", node) if type(node.value) is float else node


def _subscript(node: ast.Subscript) -> ast.expr:
    """`a[...]` is a; Numba has it as a target only."""
    whole = isinstance(node.slice, ast.Constant) and node.slice.value is Ellipsis
    return node.value if whole and isinstance(node.ctx, ast.Load) else node


_ADAPTED: dict[type, Callable[[Any], ast.AST]] = {
    ast.Call: _call,
    ast.AugAssign: _in_place,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
}


def _has_slice(key: ast.expr) -> bool:
    items = asts.items(key)
    return any(
        isinstance(i, ast.Slice) or (isinstance(i, ast.Constant) and i.value is None)
        for i in items
    )


def _renamed(node: ast.Call, name: str, args: Sequence[ast.expr]) -> ast.expr:
    return ast.copy_location(ast.Call(syn.expr(name), list(args), node.keywords), node)


# ---- the top of the module -----------------------------------------------------------------


def imports(functions: Iterable[ast.stmt], module: Module) -> list[ast.stmt]:
    """Import statements for what the functions name."""
    used = {n.id for f in functions for n in asts.walk(f) if isinstance(n, ast.Name)}
    for name in ("numpy", "srcgrad.runtime.support"):
        usual = "np" if name == "numpy" else "support"
        if usual in used:
            module.imports.setdefault(name, usual)
    out = [s for s in module.import_statements() if not _is_support(s)]
    wanted = ["njit", "prange"] if "prange" in used else ["njit"]
    out.append(ast.ImportFrom("numba", [ast.alias(n) for n in wanted], 0))
    helpers = [ast.alias(n) for n in ("jit",) if n in used]
    if helpers:
        out.append(ast.ImportFrom("srcgrad.runtime.support", helpers, 0))
    return out + [s for s in module.import_statements() if _is_support(s)]


def _is_support(s: ast.stmt) -> bool:
    return isinstance(s, ast.ImportFrom) and s.module == "srcgrad.runtime"


def frozen(module: Module, options: Mapping[str, Any]) -> list[ast.stmt]:
    """`K = model.K` for each global that the functions read; functions are compiled."""
    out: list[ast.stmt] = []
    plain = {k: v for k, v in options.items() if k in ("error_model", "fastmath")}
    for name, place in sorted(module.frozen.items()):
        node: ast.expr = syn.name(module.bind_import(place.root.key))
        for part in place.path:
            node = ast.Attribute(node, part, ast.Load())
        if isinstance(place.value, FunctionType):
            node = ast.Call(decorator(plain), [node], [])
        out.append(syn.assign(name, node))
    return out


def notes(module: Module, sources: Mapping[str, str]) -> list[ast.stmt]:
    """Comments with what Numba's own cache does not look at: values of globals and the sources of
    functions called; another value makes another text, which is compiled anew."""
    out: list[ast.stmt] = []
    values = {name: place.value for name, place in module.frozen.items()}
    values |= {name: value for name, value in module.objects.items() if holds_array(value)}
    for name, value in sorted(values.items()):
        out.append(Comment(f"Compiled for {name} = {describe(value)}."))
    if sources:
        text = "\n".join(f"{k.rsplit(':', 1)[-1]} {v}" for k, v in sorted(sources.items()))
        out.append(Comment(f"Sources: {hashlib.sha256(text.encode()).hexdigest()[:16]}."))
    return out


def is_single(types: Iterable[ty.Type]) -> bool:
    """Whether float32 is the only floating dtype among the arguments."""
    dtypes: set[Any] = set()
    for t in types:
        if isinstance(t, ty.Array) and ty.is_float(t.dtype):
            dtypes.add(t.dtype)
        elif isinstance(t, ty.Number) and issubclass(t.cls, np.inexact):
            dtypes.add(np.dtype(t.cls))
    return dtypes == {np.dtype(np.float32)}


def is_cacheable(module: Module) -> bool:
    """Whether another process can load the same module: nothing in it lives in this one only."""
    return not module.objects


def is_shared(a: ir.Global) -> bool:
    """Whether a global belongs to a module whose functions Numba knows."""
    return a.root.kind == "builtins" or a.root.key.split(".")[0] in _SHARED
