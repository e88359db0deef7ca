"""Rules of the helpers in `srcgrad.runtime.support` for writing in place, and for lanes."""

from __future__ import annotations

import numpy as np

from srcgrad.rules.registry import elementwise, linear, nondiff, structured
from srcgrad.runtime import support

_V = np.array([0.3, -1.7, 0.6, 2.2])
_M = np.array([[0.5, -1.2, 0.3], [2.0, 0.7, -0.4]])
_K = (np.array([0, 3, 1, 1, 2]),)

nondiff(
    support.choice_index,
    support.flat_index,
    support.flat_place,
    support.mask_index,
    support.diagonal_index,
    support.along_axis_index,
    support.distinct_index,
    support.winners,
    support.any_lane,
    support.lanes_at,
)
elementwise(
    support.masked,
    "mask, x",
    zero=("mask",),
    x="support.masked(mask, g)",
    at=[(_V > 0.5, _V), (True, 0.4), (_M > 0.4, 0.7)],
)
linear(
    support.masked_alike,
    "mask, x",
    zero=("mask",),
    x="support.masked_alike(mask, g)",
    at=[(_V > 0.5, _V), (True, 0.4), (_M > 0.4, 0.7)],
)
linear(
    support.cycled,
    "values, index",
    values="support.scatter(g, support.cycled(support.places(values), index), np.shape(values))",
    at=[(_V, _K), (_V[:2], _K), (0.4, _K), (_M, _K)],
)
linear(
    support.cycled_like,
    "values, a",
    zero=("a",),
    values="support.scatter(g, support.cycled_like(support.places(values), a), np.shape(values))",
    at=[(_V, _M), (_V[:2], _V), (0.4, _M)],
)
linear(
    support.added_at,
    "a, key, b",
    zero=("a",),
    b="support.unbroadcast(g[key], b)",
    at=[(_V, [0, 0, 2], _V[1:]), (_M, ([0, 1], [1, 1]), 0.4)],
)
structured(
    support.sorted_array,
    "a, axis=-1",
    vjp={"a": "support.sort_back(g, a, out, axis)"},
    jvp={"a": "support.sort_dot(a_dot, a, out, axis)"},
    at=[(_V,), (_M,), (_M, 0)],
)
for _target in (support.maximum_at, support.minimum_at):
    structured(
        _target,
        "a, key, b",
        let={"share": "1.0 / support.winners(a, key, b, out)"},
        vjp={
            "a": "g * (a == out) * share",
            "b": "support.unbroadcast((g * share)[key] * (b == out[key]), b)",
        },
        jvp={
            "a": "a_dot * (a == out) * share",
            "b": "support.added_at(a, key, b_dot * (b == out[key])) * share",
        },
        at=[(_V, [0, 0, 2], _V[1:]), (_M, ([0, 1], [1, 1]), 0.4)],
    )
