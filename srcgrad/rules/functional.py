"""The rules of the helpers around functions that are called for each part of an array."""

from __future__ import annotations

import numpy as np

from srcgrad.rules.registry import linear, nondiff, refuse
from srcgrad.rules.shapes import M, T, V, W
from srcgrad.runtime import support

_CONDITIONS = [V > 0.4, V < -1.0]

linear(
    support.lines_along,
    "a, axis",
    a="support.lines_along_back(g, a, axis)",
    view="maybe",
    at=[(M, 0), (T, 1), (V, -1)],
)
linear(
    support.lines_along_back,
    "ct, a, axis",
    ct="support.lines_along(g, axis)",
    zero=("a",),
    at=[(M.T, M, 0), (T.reshape(-1, 3)[:8], np.swapaxes(T, 1, 2)[:, :4], -1)],
)
linear(
    support.along_axis,
    "results, a, axis",
    results="support.along_axis_back(g, results, a, axis)",
    zero=("a",),
    at=[([1.0, 2.0], M, 1), ([V, W], M, 1), ([M, M + 1.0, M * 2.0], M, 0)],
)
linear(
    support.along_axis_back,
    "ct, results, a, axis",
    ct="support.along_axis(g, a, axis)",
    zero=("results", "a"),
    at=[(V[:2], [1.0, 2.0], M, 1), (M, [V, W], M, 1)],
)
linear(
    support.with_axis,
    "found, value, axis",
    found="np.reshape(g, np.shape(found))",
    zero=("value",),
    at=[(V, M, 0), (M, M, 0)],
)
linear(
    support.vectorized,
    "results, like",
    results="support.vectorized_back(g, results)",
    zero=("like",),
    at=[([1.0, 2.0], V[:2]), ([1.0, 2.0, 3.0], V[:3, None])],
)
linear(
    support.vectorized_back,
    "ct, results",
    ct="support.vectorized(g, ct)",
    zero=("results",),
    at=[(V[:2], [1.0, 2.0])],
)
linear(
    support.pieces,
    "parts, conditions, x",
    parts="support.pieces_back(g, parts, conditions)",
    zero=("conditions", "x"),
    at=[([V[V > 0.4], 0.7], _CONDITIONS, V), ([0.3, W[V > 0.4]], [V > 0.0, V > 0.4], V)],
)
linear(
    support.pieces_back,
    "ct, parts, conditions",
    ct="support.pieces(g, conditions, ct)",
    zero=("parts", "conditions"),
    at=[(W, [V[V > 0.4], 0.7], _CONDITIONS)],
)
for _of, _back, _at in (
    (support.row_of, "row_back", [((V, 0.3, W),), ((M, M + 1.0),)]),
    (support.column_of, "column_back", [((V, W),), ((M, M[:, 0]),), ((0.3, 0.4),)]),
):
    linear(_of, "parts", parts=f"support.{_back}(g, parts)", at=_at)
    linear(
        getattr(support, _back),
        "ct, parts",
        ct=f"support.{_of.__name__}(g)",
        zero=("parts",),
        at=[(np.sin(_of(parts) + 1.0), parts) for (parts,) in _at],
    )
nondiff(support.otherwise)

# ---- where the function called can't be seen ---------------------------------------------------

refuse(
    np.apply_along_axis,
    np.apply_over_axes,
    np.fromfunction,
    why="its arguments are starred, or its axes or shape not written out here; "
    "write them out, or write a loop",
)
refuse(
    np.piecewise,
    why="its conditions and functions are not written out as lists here; write them out, "
    "or write np.select",
)
refuse(
    np.frompyfunc,
    np.vectorize,
    why="it is not called at once, or has options that change what the function is given; write "
    "np.vectorize(f)(x), the function for whole arrays, or a loop",
)
