"""The rules of the helpers around user rules (`support/rulechecks.py`), so that rules have
derivatives themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.ir import types as ty
from srcgrad.rules.registry import linear, nondiff
from srcgrad.runtime import support

_V = np.array([0.3, -1.7, 0.6])
_W = np.array([1.3, 0.7, -0.6])


def _like(value: Any, argument: Any, *_: Any) -> ty.Type:
    """A checked cotangent has the type of its argument."""
    del value
    plain = isinstance(argument, ty.Number | ty.Array)
    return argument if plain else ty.UNKNOWN


def _each(value: Any, arguments: Any, *_: Any) -> ty.Type:
    if not isinstance(arguments, ty.Tuple):
        return ty.UNKNOWN
    none = ty.Literal(None)
    return ty.Tuple(tuple(t if t == none else _like(value, t) for t in arguments.items))


linear(
    support.cotangent,
    "value, argument, about, summed=False",
    value="support.cotangent_back(g, value, argument)",
    zero=("argument", "about", "summed"),
    result=_like,
    at=[(0.3, 0.7, "a rule"), (_V, _W, "a rule"), ((_V,), _W, "a rule")],
)
linear(
    support.cotangent_back,
    "ct, value, argument",
    ct="support.cotangent_again(g, value, argument)",
    zero=("value", "argument"),
    at=[(_V, _W, _W), (_V, (_W,), _W)],
)
linear(
    support.cotangent_again,
    "ct, value, argument",
    ct="support.cotangent_back(g, value, argument)",
    zero=("value", "argument"),
    at=[(_V, _W, _W), ((_V,), (_W,), _W)],
)
linear(
    support.cotangents,
    "value, arguments, about, summed=False",
    value="support.cotangents_back(g, value, arguments)",
    zero=("arguments", "about", "summed"),
    result=_each,
    at=[((0.3, _V), (0.7, _W), "a rule")],
)
linear(
    support.cotangents_back,
    "ct, value, arguments",
    ct="support.cotangents_again(g, value, arguments)",
    zero=("value", "arguments"),
    at=[((0.3, _V), (0.7, _W), (0.7, _W))],
)
linear(
    support.cotangents_again,
    "ct, value, arguments",
    ct="support.cotangents_back(g, value, arguments)",
    zero=("value", "arguments"),
    at=[((0.3, _V), (0.7, _W), (0.7, _W))],
)
linear(
    support.cotangent_of,
    "ct, result",
    ct="support.cotangent_of_back(g, ct)",
    zero=("result",),
    at=[(_V, _W), ((0.3, _V), (0.7, _W))],
)
linear(
    support.cotangent_of_back,
    "ct, like",
    ct="support.cotangent_of(g, like)",
    zero=("like",),
    at=[(_V, _W)],
)


def _captured(closure: Any, k: Any, name: Any) -> ty.Type:
    del name
    items: tuple[ty.Type, ...] = ()
    if isinstance(closure, ty.Tuple):
        items = closure.items
    elif isinstance(closure, ty.ClosureType):
        items = closure.free
    at = getattr(k, "value", None)
    return items[at] if isinstance(at, int) and at < len(items) else ty.UNKNOWN


linear(
    support.captured,
    "closure, k, name",
    closure="support.captured_back(g, closure, k)",
    zero=("k", "name"),
    result=_captured,
    at=[((0.3, _V), 1, "x")],
)
linear(
    support.captured_back,
    "ct, closure, k",
    ct="support.captured(g, k, '')",
    zero=("closure", "k"),
    at=[(_V, (0.3, _W), 1)],
)
nondiff(support.check_apart, support.zero_tangent)
