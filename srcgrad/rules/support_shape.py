"""Rules of the helpers in `srcgrad.runtime.support` that move elements.

The reverse of a linear function is linear in the cotangent, and its reverse the function itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.rules.registry import linear, nondiff
from srcgrad.rules.shapes import M, N, S, T, V, W
from srcgrad.runtime import support

X6 = np.cos(np.arange(1.0, 7.0))

nondiff(support.places, support.hsplit_axis)

linear(support.cast_like, "x, a", x="support.cast_like(g, x)", zero=("a",), at=[(M, M), (V, V)])
linear(
    support.scatter,
    "ct, where, shape",
    ct="support.unbroadcast(np.reshape(np.take(g, where), np.shape(where)), ct)",
    zero=("where",),
    at=[(V, np.array([0, 2, 2]), (3,)), (M, np.array([[0, 1, 1], [3, 4, 0]]), (2, 3))],
)
linear(
    support.filled,
    "parts, like",
    parts="g",
    zero=("like",),
    at=[([V, 2.0], [W, 1.0]), (S, S), ([V, None], [V, W])],
)
linear(
    support.reshape_as,
    "x, a, shape, order",
    x="support.reshape_back(g, a, order)",
    zero=("a",),
    at=[(M, M, (3, 2), "C"), (M, M, (6,), "F"), (V, V, (3, 1), "A")],
)
linear(
    support.reshape_back,
    "ct, a, order",
    ct="support.reshape_as(g, a, np.shape(ct), order)",
    zero=("a",),
    at=[(X6, M, "C"), (X6, M, "F"), (M.T, M, "A")],
)
linear(
    support.transpose_back,
    "ct, axes",
    ct="np.transpose(g, axes)",
    at=[(M, None), (T, (1, 2, 0)), (T, (-1, 0, 1))],
)
linear(
    support.rollaxis_back,
    "ct, axis, start",
    ct="np.rollaxis(g, axis, start)",
    at=[(T, 2, 0), (T, 1, 3)],
)
linear(
    support.repeat_back,
    "ct, a, repeats, axis",
    ct="np.repeat(g, repeats, axis)",
    zero=("a",),
    at=[(X6, V, 2, None), (M, M[:, :2], [1, 2], 1)],
)
linear(
    support.tile_back,
    "ct, a, reps",
    ct="np.tile(g, reps)",
    zero=("a",),
    at=[(X6, V, 2), (T, T[:1, :, :2], (2, 1, 2))],
)
linear(
    support.concatenate_back,
    "ct, arrays, axis",
    ct="np.concatenate(support.filled(g, arrays), axis)",
    zero=("arrays",),
    at=[(M, [N, V[:2, None]], 1)],
)
linear(
    support.stack_back,
    "ct, arrays, axis",
    ct="np.stack(support.filled(g, arrays), axis)",
    zero=("arrays",),
    at=[(M, [M[0], M[1]], 0)],
)
for back, join, sample in (
    (support.vstack_back, "np.vstack", (M, [V, W])),
    (support.hstack_back, "np.hstack", (V, (W[:2], 1.0))),
    (support.dstack_back, "np.dstack", (T, [T[..., :1], T[..., 1:]])),
    (support.column_stack_back, "np.column_stack", (S, [V, S[:, 1:]])),
    (support.block_back, "np.block", (M, [[V], [W]])),
):
    linear(
        back,
        "ct, arrays",
        ct=f"{join}(support.filled(g, arrays))",
        zero=("arrays",),
        at=[sample],
    )
linear(
    support.array_back,
    "ct, obj",
    ct="support.as_array(g, ct)",
    zero=("obj",),
    at=[(M, M), (V, [1.0, 2.0, 3.0]), (N, [[1.0, 2.0], (3.0, 4.0)]), (M, [V, W])],
)
linear(
    support.as_array,
    "obj, like",
    obj="support.array_back(g, obj)",
    zero=("like",),
    at=[([0.3, 1.0], V[:2]), ([[0.3, 1.0], V[:2]], N)],
)
linear(
    support.split_back,
    "ct, ary, sections, axis",
    ct="np.array_split(g, sections, axis)",
    zero=("ary",),
    at=[([V[:1], V[1:]], V, [1], 0), ([M[:, :1], M[:, 1:]], M, [1], 1)],
)
linear(
    support.shaped_back,
    "ct, arrays",
    ct="support.shaped_dot(g, arrays, ct)",
    zero=("arrays",),
    at=[((V[None], M), (V, M))],
)
linear(
    support.shaped_dot,
    "dots, arrays, like",
    dots="support.shaped_back(g, arrays)",
    zero=("arrays", "like"),
    at=[((V, M), (V, M), (V[None], M))],
)
linear(
    support.broadcast_arrays_back,
    "ct, arrays",
    ct="support.broadcast_arrays_dot(g, arrays, ct)",
    zero=("arrays",),
    at=[([M, M], (V, M))],
)
linear(
    support.broadcast_arrays_dot,
    "dots, arrays, like",
    dots="support.broadcast_arrays_back(g, arrays)",
    zero=("arrays", "like"),
    at=[((V, M), (V, M), [M, M])],
)
linear(
    support.meshgrid_back,
    "ct, arrays, indexing",
    ct="support.meshgrid_dot(g, arrays, ct, indexing)",
    zero=("arrays",),
    at=[([M, M], (V, W[:2]), "xy"), ([M, M], (W[:2], V), "ij")],
)
linear(
    support.meshgrid_dot,
    "dots, arrays, like, indexing",
    dots="support.meshgrid_back(g, arrays, indexing)",
    zero=("arrays", "like"),
    at=[((V, W[:2]), (V, W[:2]), [M, M], "xy")],
)
linear(
    support.insert_back,
    "ct, arr, obj, values, axis",
    ct="np.insert(support.filled(g[0], arr), obj, support.filled(g[1], values), axis)",
    zero=("arr", "values"),
    at=[(V, W[:2], 1, 2.0, None), (M, N, 1, W[:2], 1)],
)
linear(
    support.diag_back,
    "ct, v, k",
    ct="np.diag(g, k)",
    zero=("v",),
    at=[(S, V, 0), (V, S, 0), (V[:2], S, 1)],
)
linear(
    support.trace_back,
    "ct, a, offset, axis1, axis2",
    ct="np.trace(g, offset, axis1, axis2)",
    zero=("a",),
    at=[(0.7, S, 0, 0, 1), (V, T[:, :, :3], 0, 0, 1)],
)
linear(
    support.take_back,
    "ct, a, indices, axis, mode",
    ct="np.take(g, indices, axis, mode=mode)",
    zero=("a",),
    at=[(V, V, [0, 0, 2], None, "raise"), (M, S[:2], [1, 1, 0], 1, "wrap")],
)
linear(
    support.sort_back,
    "ct, a, ordered, axis",
    ct="support.sort_dot(g, a, ordered, axis)",
    zero=("a", "ordered"),
    at=[(W, V, np.sort(V), -1), (M, M * 2, np.sort(M * 2, 0), 0)],
)
linear(
    support.sort_dot,
    "a_dot, a, ordered, axis",
    a_dot="support.sort_back(g, a, ordered, axis)",
    zero=("a", "ordered"),
    at=[(W, V, np.sort(V), -1), (np.sin(M), M, np.sort(M, None), None)],
)
linear(
    support.unique_back,
    "ct, ar",
    ct="support.unique_dot(g, ar)",
    zero=("ar",),
    at=[(V, W)],
)
linear(
    support.unique_dot,
    "ar_dot, ar",
    ar_dot="support.unique_back(g, ar)",
    zero=("ar",),
    at=[(V, W)],
)
_PADS: list[Any] = [
    (2, "constant"),
    ((1, 2), "edge"),
    (2, "linear_ramp"),
    (1, "mean"),
    (2, "reflect"),
]
linear(
    support.pad_dot,
    "a_dot, width, mode, stat_length=None, reflect_type='even'",
    a_dot="support.pad_back(g, a_dot, width, mode, stat_length, reflect_type)",
    at=[(V, *p) for p in _PADS],
)
linear(
    support.pad_back,
    "ct, a, width, mode, stat_length=None, reflect_type='even'",
    ct="support.pad_dot(g, width, mode, stat_length, reflect_type)",
    zero=("a",),
    at=[(np.sin(np.arange(np.pad(V, p[0]).size) + 1.0), V, *p) for p in _PADS],
)
linear(support.fit, "x, a", x="support.fit(g, x)", zero=("a",), at=[(V, W[:2]), (N, S), (M, S)])
linear(support.flatten, "a, order='C'", a="support.reshape_back(g, a, order)", at=[(M,), (M, "F")])
linear(
    support.item,
    "a, *index",
    a="support.item_back(g, a, index)",
    at=[(M, 2), (M, 1, 1), (M, (0, 2)), (np.array(0.3),)],
)
linear(
    support.item_back,
    "ct, a, index",
    ct="support.item(g, *index)",
    zero=("a",),
    at=[(0.5, M, (2,)), (0.5, M, (1, 1))],
)
linear(support.tolist, "a", a="support.tolist_back(g, a)", at=[(M,), (V,), (np.array(0.3),)])
linear(
    support.tolist_back,
    "ct, a",
    ct="support.tolist(g)",
    zero=("a",),
    at=[([0.3, 1.0, 2.0], V), ([[0.3, 1.0], [2.0, 0.1]], N)],
)
linear(
    support.astype,
    "a, dtype, order='K', casting='unsafe', subok=True, copy=True",
    a="support.cast_like(g, a)",
    view="maybe",
    at=[(M, float), (V, complex)],
)
