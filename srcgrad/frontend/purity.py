"""Which expressions can be kept as the user wrote them.

An expression is pure when evaluating it changes nothing and calls no code of the user's, so that
it can stand in a condition unchanged.
"""

from __future__ import annotations

import ast
import builtins
import math
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from srcgrad.frontend.resolve import callee, fold, lookup
from srcgrad.frontend.scope import Ref, Scope
from srcgrad.ir.nodes import MISSING
from srcgrad.rules import registry

_BUILTIN_NAMES = (
    "abs all any ascii bin bool bytes callable chr complex dict divmod enumerate float format "
    "frozenset getattr hasattr hash hex id int isinstance issubclass len list max min oct ord pow "
    "range repr reversed round set slice sorted str sum tuple type zip"
)
PURE_BUILTINS = frozenset(id(getattr(builtins, name)) for name in _BUILTIN_NAMES.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


READ_ONLY_METHODS = _words(
    "all any argmax argmin argsort astype conj conjugate copy count cumprod cumsum dot endswith "
    "find flatten format get index is_integer isalnum isalpha isdecimal isdigit isdisjoint "
    "isidentifier islower isnumeric isspace issubset issuperset istitle isupper item items join "
    "keys lower lstrip max mean min nonzero prod ptp ravel repeat replace reshape rfind round "
    "rsplit rstrip searchsorted split splitlines squeeze startswith std strip sum swapaxes take "
    "title tolist trace transpose upper values var zfill"
)

# NumPy functions that write to an argument, keep state, touch files or call back.
_IMPURE_NUMPY = _words(
    "apply_along_axis apply_over_axes copyto fill_diagonal frompyfunc fromfile fromregex "
    "fromfunction genfromtxt get_printoptions load loadtxt memmap nditer piecewise place "
    "printoptions put put_along_axis putmask save savetxt savez savez_compressed "
    "set_printoptions seterr seterrcall setbufsize test vectorize"
)
_PURE_NODES = (
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.Dict,
    ast.FormattedValue,
    ast.IfExp,
    ast.JoinedStr,
    ast.List,
    ast.Set,
    ast.Slice,
    ast.Starred,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
    ast.keyword,
)
_IGNORED = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)


def is_pure(scope: Scope, node: ast.AST) -> bool:
    """Can the expression be evaluated here, or not at all, without a difference?"""
    if isinstance(node, ast.Constant | Ref):
        return True
    if isinstance(node, ast.Name):
        return not hasattr(lookup(scope, node.id, node), "owner")
    if isinstance(node, ast.Attribute):
        return fold(scope, node) is not None or is_pure(scope, node.value)
    if isinstance(node, ast.Call):
        return _pure_call(scope, node)
    if isinstance(node, _PURE_NODES):
        return all(
            is_pure(scope, child)
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, _IGNORED)
        )
    return False


def _pure_call(scope: Scope, node: ast.Call) -> bool:
    found = fold(scope, node.func)
    if found is not None:
        known = is_pure_function(found.value)
    elif isinstance(node.func, ast.Attribute):
        known = _pure_method(scope, node.func)
    else:
        return False
    return (
        known
        and not any(_has_effect(scope, keyword) for keyword in node.keywords)
        and not _gives_out(node, None if found is None else found.value)
        and all(is_pure(scope, part) for part in (*node.args, *node.keywords))
    )


def _gives_out(node: ast.Call, target: Any) -> bool:
    """Is there a positional argument that a ufunc writes its result to?"""
    starred = any(isinstance(arg, ast.Starred) for arg in node.args)
    return isinstance(target, np.ufunc) and (starred or len(node.args) > target.nin)


def _has_effect(scope: Scope, keyword: ast.keyword) -> bool:
    """`out=` writes, and `key=` calls what it is given."""
    if keyword.arg == "key":
        return not is_pure_function(callee(scope, keyword.value))
    return keyword.arg in ("out", None)


def _pure_method(scope: Scope, node: ast.Attribute) -> bool:
    base = fold(scope, node.value)
    if base is not None and isinstance(base.value, np.ufunc):
        return node.attr in ("accumulate", "outer", "reduce", "reduceat")
    if base is not None and not isinstance(
        base.value, np.ndarray | np.generic | str | bytes | dict | list | tuple | set | frozenset
    ):
        return False  # an object of the user's: its methods may do anything
    return node.attr in READ_ONLY_METHODS and is_pure(scope, node.value)


def is_pure_function(value: Any) -> bool:
    """Is a call of this object known to do nothing but compute its result?

    >>> is_pure_function(np.sin), is_pure_function(np.random.rand), is_pure_function(print)
    (True, False, False)
    """
    if value is MISSING:
        return False
    entry = registry.lookup(value)
    if entry is not None:
        return entry.pure and set(entry.writes) <= {"out"}  # whose use the call shows
    if id(value) in PURE_BUILTINS:
        return True
    if isinstance(value, np.ufunc):
        return True
    if isinstance(value, BuiltinFunctionType) and value.__module__ == "math":
        return getattr(math, value.__name__, None) is value
    return _pure_numpy(value)


def _pure_numpy(value: Any) -> bool:
    module = getattr(value, "__module__", None) or ""
    name = getattr(value, "__name__", "")
    if isinstance(value, type) and issubclass(value, np.generic | np.dtype):
        return True
    top = module.split(".")
    return top[0] == "numpy" and "random" not in top and name not in _IMPURE_NUMPY


def gives_bool_or_text(node: ast.expr) -> bool:
    """Can the expression only be a bool or a string, whatever its operands are?"""
    match node:
        case ast.Compare(ops=ops):
            return len(ops) > 1 or all(
                isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops
            )
        case ast.UnaryOp(op=ast.Not()) | ast.JoinedStr():
            return True
        case ast.BoolOp(values=values):
            return all(_truth_valued(value) for value in values)
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str())):
            return True
    return False


def _truth_valued(node: ast.expr) -> bool:
    """Like `gives_bool_or_text`, where a comparison may also give an array of truth values."""
    match node:
        case ast.Compare():
            return True
        case ast.Call(func=ast.Name(id="isinstance" | "callable" | "hasattr" | "issubclass")):
            return True
        case ast.Constant(value=bool()):
            return True
    return gives_bool_or_text(node)
