"""The helpers of generated code for arrays of other libraries: dask.array, CuPy, sparse.

Such an array implements `__array_function__`, so NumPy's functions give arrays of its own library.
Nothing here writes into an array or makes one of NumPy's from it: what is lazy stays lazy, what
lies elsewhere stays there.  A derivative that needs a helper which isn't here is refused.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from srcgrad.errors import ArgumentError, UnsupportedSyntax
from srcgrad.ir import types as ty
from srcgrad.runtime.support import add as add
from srcgrad.runtime.support import outline as outline

Value = Any


def is_foreign(x: Any) -> bool:
    """Whether x is an array of another library that NumPy's functions accept.

    >>> is_foreign(np.ones(2)), is_foreign(1.0)
    (False, False)
    """
    return is_foreign_class(type(x))


def is_foreign_class(cls: type) -> bool:
    """Whether a class is that of arrays of another library."""
    return hasattr(cls, "__array_function__") and not issubclass(cls, np.ndarray | np.generic)


def found_in(t: ty.Type) -> str:
    """The name of the class of foreign arrays in an argument's type; "" when there are none."""
    match t:
        case ty.Object(cls, _) if is_foreign_class(cls):
            return f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
        case ty.Tuple(items):
            return next(filter(None, map(found_in, items)), "")
        case ty.List(item) if item is not None:
            return found_in(item)
        case ty.Dict(items) if items is not None:
            return next(filter(None, (found_in(v) for _, v in items)), "")
        case _:
            return ""


def admit(tree: ast.Module, what: str) -> None:
    """Have a module use these helpers; refuse what is not for foreign arrays.

    Raises: UnsupportedSyntax for functions that write into arrays (slices of foreign arrays are
    copies in some libraries and views in others), and for helpers that are not here.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "srcgrad.runtime":
            node.names = [ast.alias("foreign", "support")]
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            raise _refused(what, "the function or its derivative writes into an array")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "support" and node.attr not in __all__:
                raise _refused(what, f"the derivative needs the helper {node.attr}")


def _refused(what: str, why: str) -> Exception:
    return UnsupportedSyntax(
        f"there is no derivative for an argument of type {what}: {why}",
        fixes=["differentiate with NumPy arrays", "differentiate the function of one block"],
    )


# ---- what generated code calls ---------------------------------------------


def seed(x: Value) -> Any:
    """The cotangent 1 of a function's result, which has to be one real number."""
    if np.shape(x) == () and np.result_type(x).kind in "fiub":
        return 1.0
    raise ArgumentError(
        f"grad needs a scalar output, but the function returned an array of shape {np.shape(x)}; "
        "use vjp or jacobian"
    )


def gradient(g: Value, x: Value) -> Any:
    """The gradient of argument x from its adjoint, with the shape and dtype of x."""
    if not is_foreign(x) and not isinstance(x, np.ndarray):
        return _number(g, x)
    if x.dtype.kind not in "fc":
        return None
    if g is None:
        return np.zeros_like(x)
    if np.iscomplexobj(g) and x.dtype.kind == "f":
        g = np.real(g)
    g = np.broadcast_to(g, _shape(x)) if np.shape(g) != np.shape(x) else g
    return g if g.dtype == x.dtype else g.astype(x.dtype)


def _number(g: Value, x: Value) -> Any:
    if not isinstance(x, float | complex | np.inexact):
        return None
    return 0.0 if g is None else g


def unbroadcast(ct: Value, x: Value) -> Any:
    """ct summed over the dimensions along which broadcasting repeated x; ct itself if none."""
    if np.iscomplexobj(ct) and not np.iscomplexobj(x):
        ct = np.real(ct)
    shape = _shape(x)
    if np.shape(ct) == shape:
        return ct
    full = np.broadcast_shapes(np.shape(ct), shape)
    if full != np.shape(ct):
        ct = np.broadcast_to(ct, full)
    extra = len(full) - len(shape)
    ones = tuple(k + extra for k, n in enumerate(shape) if n == 1 and full[k + extra] != 1)
    axes = (*range(extra), *ones)
    return np.reshape(np.sum(ct, axis=axes, keepdims=True), shape) if axes else ct


def sum_back(
    ct: Value, a: Value, axis: Any = None, keepdims: Any = False, where: Any = True
) -> Any:
    """The cotangent of a sum over `axis`, repeated to the shape of a."""
    found = np.broadcast_to(_expanded(ct, np.ndim(a), axis), _shape(a))
    return found if where is True else np.where(where, found, 0.0)


def count(a: Value, axis: Any = None, keepdims: Any = False, where: Any = True) -> Any:
    """How many elements of a are summed into one element of the result."""
    if where is not True:
        return np.sum(np.broadcast_to(where, _shape(a)), axis=axis, keepdims=bool(keepdims))
    shape = _shape(a)
    return int(np.prod([shape[k] for k in _axes(axis, len(shape))], dtype=int))


def ties(
    a: Value, out: Value, axis: Any = None, keepdims: Any = False, where: Any = True,
    initial: Any = None,
) -> Any:  # fmt: skip
    """The share of each element in its maximum or minimum `out`: equal for equal elements."""
    best = _expanded(out, np.ndim(a), axis)
    same = np.equal(a, best)
    if where is not True:
        same = np.logical_and(same, where)
    share = same.astype(a.dtype)
    total = np.sum(share, axis=_axes(axis, np.ndim(a)), keepdims=True)
    if initial is not None:
        total = total + np.equal(best, initial)
    return share / np.where(total == 0, total + 1, total)


def matmul_back_a(ct: Value, a: Value, b: Value) -> Any:
    """The cotangent of `a` in `a @ b`."""
    c, x, y = _columns(ct, a, b)
    return np.reshape(unbroadcast(c @ np.swapaxes(y, -1, -2), x), _shape(a))


def matmul_back_b(ct: Value, a: Value, b: Value) -> Any:
    """The cotangent of `b` in `a @ b`."""
    c, x, y = _columns(ct, a, b)
    return np.reshape(unbroadcast(np.swapaxes(x, -1, -2) @ c, y), _shape(b))


def _columns(ct: Value, a: Value, b: Value) -> tuple[Any, Any, Any]:
    """The three as matrices, or stacks of them: vectors become rows and columns."""
    if np.ndim(a) == 1:
        a, ct = np.expand_dims(a, 0), np.expand_dims(ct, -1 if np.ndim(b) == 1 else -2)
        if np.ndim(b) == 1:
            return np.expand_dims(ct, -1), a, np.expand_dims(b, -1)
        return ct, a, b
    if np.ndim(b) == 1:
        return np.expand_dims(ct, -1), a, np.expand_dims(b, -1)
    return ct, a, b


def reshape_back(ct: Value, a: Value, order: str) -> Any:
    """The cotangent of `a` in `np.reshape(a, shape)` and `np.ravel(a)`."""
    if order != "C":
        raise _refused(type(a).__name__, f"it is reshaped in order {order!r}")
    return np.reshape(ct, _shape(a))


def transpose_back(ct: Value, axes: Any) -> Any:
    """The cotangent of `a` in `np.transpose(a, axes)`."""
    return np.transpose(ct) if axes is None else np.transpose(ct, tuple(np.argsort(axes)))


def zeros(x: Value) -> Any:
    """The zero adjoint of an array or number."""
    if is_foreign(x) or isinstance(x, np.ndarray):
        return np.zeros_like(x) if x.dtype.kind in "fc" else None
    return _number(None, x)


def direction(x: Value) -> Any:
    """The derivative of |x|: conj(x) / |x|, the sign of a real x; zero at zero."""
    return safe_divide(np.conj(x), np.abs(x)) if np.iscomplexobj(x) else np.sign(x)


def own(x: Value) -> Any:
    """Nothing writes into these arrays: there is no need for a copy."""
    return x


def masked(mask: Value, x: Value) -> Any:
    """x where the mask is true, else zero."""
    return np.where(mask, x, 0.0)


def any_lane(mask: Value, x: Value) -> Any:
    """Whether any of the lanes is true that an element of x was broadcast to."""
    shape = _shape(x)
    whole = np.broadcast_to(mask, np.broadcast_shapes(np.shape(mask), shape))
    extra = np.ndim(whole) - len(shape)
    ones = tuple(k + extra for k, n in enumerate(shape) if n == 1 and whole.shape[k + extra] != 1)
    return np.reshape(np.any(whole, axis=(*range(extra), *ones), keepdims=True), shape)


def safe_divide(x1: Value, x2: Value) -> Any:
    """x1 / x2, and zero where x2 is zero."""
    zero = np.equal(x2, 0)
    return np.where(zero, 0.0, x1 / np.where(zero, 1.0, x2))


def full_tangent(t: Value, x: Value) -> Any:
    """A tangent of x without gaps: where there is none it is zero."""
    return (np.zeros_like(x) if np.ndim(x) else 0.0) if t is None else t


def broadcast_like(t: Value, x: Value) -> Any:
    """The tangent t, repeated to the shape of x."""
    return t if np.shape(t) == _shape(x) else np.broadcast_to(t, _shape(x))


def _expanded(reduced: Value, ndim: int, axis: Any) -> Any:
    if np.ndim(reduced) == ndim:
        return reduced
    return np.expand_dims(reduced, _axes(axis, ndim))


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    return tuple(int(k) % ndim for k in given)


def _shape(x: Value) -> tuple[int, ...]:
    shape: tuple[int, ...] = np.shape(x)
    if any(n != n for n in shape):  # nan: dask's word for a length that it doesn't know
        raise ArgumentError(
            "the shape of an array is not known before it is computed",
            fixes=["call compute_chunk_sizes() on it"],
        )
    return shape


__all__ = [
    "add", "any_lane", "broadcast_like", "count", "direction", "full_tangent", "gradient",
    "masked", "matmul_back_a", "matmul_back_b", "outline", "own", "reshape_back", "safe_divide",
    "seed", "sum_back", "ties", "transpose_back", "unbroadcast", "zeros",
]  # fmt: skip
