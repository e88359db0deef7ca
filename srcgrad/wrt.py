"""With respect to what: positions and names of parameters, and of items of `*args`."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.analysis.types.typeof import is_users
from srcgrad.errors import ArgumentError
from srcgrad.ir import types as ty

Wrt = int | str | Sequence[int | str]


@dataclass(frozen=True)
class Item:
    """One thing to differentiate with respect to: a parameter, or one item of `*args`."""

    param: str
    position: int | None = None  # inside *args
    key: str | None = None  # inside **kwargs


def items_of(primal: Any, wrt: Wrt) -> tuple[Item, ...]:
    if not isinstance(wrt, int | str | tuple | list):
        raise ArgumentError(
            f"wrt must be a position, a parameter name, or a tuple of them, got {wrt!r}"
        )
    wanted = (wrt,) if isinstance(wrt, int | str) else tuple(wrt)
    return tuple(_item(primal, w) for w in wanted)


def reach(wrt: Wrt) -> int:
    """How many positional arguments there are at least, for `wrt` to mean something."""
    wanted = wrt if isinstance(wrt, tuple | list) else (wrt,)
    return max((w + 1 for w in wanted if isinstance(w, int)), default=0)


def _item(primal: Any, w: int | str) -> Item:
    P = inspect.Parameter
    free = primal.free()
    names = [p.name for p in free if p.kind not in (P.VAR_POSITIONAL, P.VAR_KEYWORD)]
    star = next((p.name for p in free if p.kind is P.VAR_POSITIONAL), None)
    double = next((p.name for p in free if p.kind is P.VAR_KEYWORD), None)
    if isinstance(w, str):
        if w in names or w in (star, double):
            return Item(w)
        if double is not None:
            return Item(double, key=w)
        raise ArgumentError(
            f"wrt: {primal.name} has no parameter {w!r} (it has {', '.join(names)})"
        )
    if isinstance(w, bool) or not isinstance(w, int):
        raise ArgumentError(
            f"wrt must be a position, a parameter name, or a tuple of them, got {w!r}"
        )
    positional = [p.name for p in free if p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)]
    if 0 <= w < len(positional):
        return Item(positional[w])
    if star is not None and w >= 0:
        return Item(star, position=primal.bound_rest() + w - len(positional))
    raise ArgumentError(
        f"wrt: {primal.name} has no argument at position {w} (it has {len(positional)})"
    )


def picker(items: tuple[Item, ...], single: bool) -> Callable[[Any], Any]:
    params = list(dict.fromkeys(i.param for i in items))

    def pick(grads: Any) -> Any:
        table = dict(zip(params, grads, strict=True))
        out = []
        for i in items:
            g = table[i.param]
            if i.position is not None:
                g = g[i.position]
            elif i.key is not None:
                g = g[i.key]
            out.append(g)
        return out[0] if single else tuple(out)

    return pick


def gathered(
    items: tuple[Item, ...], tangents: Sequence[Any], arguments: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Tangents of items of `*args` and `**kwargs` as tangents of the parameters."""
    from srcgrad.runtime import support

    out: dict[str, Any] = {}
    for item, t in zip(items, tangents, strict=True):
        if item.position is None and item.key is None:
            out[item.param] = t
            continue
        if item.param not in out:
            out[item.param] = support.zeros(arguments[item.param])
        out[item.param][item.key if item.key is not None else item.position] = t
    return tuple(
        tuple(v) if isinstance(v, list) and isinstance(arguments[k], tuple) else v
        for k, v in out.items()
    )


def as_numbers(first: Any, args: Sequence[Any], mode: str) -> Any:
    """A cotangent or tangents in which arrays without dimensions are numbers: that of a number
    is added to under several names, which would change such an array under all of them.  The
    cotangent of an array without dimensions stays what it is.

    Example:
        >>> as_numbers((np.array(1.0), np.ones(2)), (0.5, np.ones(2)), "jvp")
        (np.float64(1.0), array([1., 1.]))
    """
    cls = first.__class__
    if cls is np.ndarray and not first.ndim:
        kept = mode == "vjp" and any(isinstance(a, np.ndarray) and not a.ndim for a in args)
        return first if kept else first[()]
    if cls is tuple or cls is list:
        return cls(as_numbers(item, args, mode) for item in first)
    if cls is dict:
        return {k: as_numbers(v, args, mode) for k, v in first.items()}
    return first


def check_types(primal: Any, items: tuple[Item, ...], types: tuple[ty.Type, ...]) -> None:
    """Raise when an argument of these types can't be differentiated by."""
    names = list(primal.signature.parameters)
    for item in items:
        t = types[names.index(item.param)]
        if item.position is not None and isinstance(t, ty.Tuple):
            if item.position >= len(t.items):
                raise ArgumentError(
                    f"wrt names argument {item.position} of *{item.param}, which was not passed"
                )
            t = t.items[item.position]
        if item.key is not None and isinstance(t, ty.Dict) and t.items is not None:
            t = dict(t.items).get(item.key, ty.UNKNOWN)
        problem = not_floating(t)
        if problem:
            raise ArgumentError(
                f"{primal.name}: can't differentiate with respect to "
                f"{item.key or item.param}, which is {problem}"
            )


def not_floating(t: ty.Type) -> str | None:
    """What is wrong with an argument as something to differentiate by."""
    match t:
        case ty.Number(cls) if not issubclass(cls, float | complex | np.inexact):
            return f"an integer ({cls.__name__}): pass 3.0 instead of 3, a float dtype is needed"
        case ty.Array(dtype, _) if dtype == np.dtype(object):
            return "an array of dtype object"
        case ty.Array(dtype, _) if not ty.is_float(dtype):
            return f"an array of dtype {dtype}: pass an array of a floating dtype, x.astype(float)"
        case ty.Literal(value):
            return f"{value!r}, not a floating number or array"
        case ty.Object(cls, None) if issubclass(cls, np.ndarray):
            return f"a {cls.__name__}, a subclass of ndarray: pass np.asarray(x)"
        case ty.Object(cls, _) if is_users(t) and not dataclasses.is_dataclass(cls):
            return f"an object of the class {cls.__name__}: make the class a dataclass"
        case ty.Static() | ty.Other():
            return "not a floating number, array or container of them"
        case _:
            return None


def doc_of(name: str, mode: str, items: tuple[Item, ...]) -> str:
    wrt = ", ".join(i.key or i.param for i in items)
    what = {
        "grad": "Gradient",
        "value_and_grad": "Value and gradient",
        "vjp": "Value and vector-Jacobian product",
        "jvp": "Value and Jacobian-vector product",
    }[mode]
    return f"{what} of {name} with respect to {wrt}."
