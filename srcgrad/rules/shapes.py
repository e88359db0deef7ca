"""Rules for functions that move, repeat, join, cut or order array elements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from srcgrad.rules.registry import linear, nondiff, refuse, source, structured
from srcgrad.rules.short import ROW, short
from srcgrad.runtime.support import sampled

V = np.array([0.3, -1.7, 0.6])
W = np.array([1.1, 0.4, -0.8])
M = np.array([[0.5, -1.2, 0.3], [2.0, 0.7, -0.4]])
N = np.array([[1.5, 0.2], [-0.3, 0.9]])
S = np.array([[1.0, 2.0, 0.3], [0.4, -0.5, 0.6], [0.7, 1.8, -0.9]])
T = np.sin(np.arange(1.0, 25.0)).reshape(2, 3, 4)

# ---- the same elements in another shape -----------------------------------------------

structured(
    np.reshape,
    "a, /, shape, order='C', *, copy=None",
    vjp={"a": "support.reshape_back(g, a, order)"},
    jvp={"a": "support.reshape_as(a_dot, a, np.shape(out), order)"},
    view="maybe",
    at=[(M, (3, 2)), (M, -1), (M, (2, -1), "F"), (2.0, (1, 1)), (T, (4, 6)), (M, (3, 2), "A")],
)
short(np.reshape, absent=("order",), a="np.reshape(g, np.shape(a))")
short(np.reshape, absent=("order",), mode="jvp", a="np.reshape(a_dot, shape)")
structured(
    np.ravel,
    "a, order='C'",
    vjp={"a": "support.reshape_back(g, a, order)"},
    jvp={"a": "support.reshape_as(a_dot, a, np.shape(out), order)"},
    view="maybe",
    at=[(M,), (V,), (T,), (0.5,), (M, "F"), (M, "K")],
)
short(np.ravel, absent=("order",), a="np.reshape(g, np.shape(a))")
short(np.ravel, absent=("order",), mode="jvp", a="np.ravel(a_dot)")
linear(
    np.transpose,
    "a, axes=None",
    a="support.transpose_back(g, axes)",
    view="always",
    at=[(M,), (V,), (T, (1, 2, 0)), (T, (-1, 0, 1)), (2.0,)],
)
short(np.transpose, {"a": 2}, absent=("axes",), a="g.T")
short(np.transpose, absent=("axes",), a="np.transpose(g)")
if hasattr(np, "matrix_transpose"):  # NumPy 2
    for _transpose in (np.matrix_transpose, np.linalg.matrix_transpose):
        linear(_transpose, "a, /", a="np.matrix_transpose(g)", view="always", at=[(M,), (T,)])
linear(
    np.swapaxes,
    "a, axis1, axis2",
    a="np.swapaxes(g, axis1, axis2)",
    view="always",
    at=[(M, 0, 1), (T, -1, 0), (V, 0, 0)],
)
linear(
    np.moveaxis,
    "a, source, destination",
    a="np.moveaxis(g, destination, source)",
    view="always",
    at=[(M, 0, -1), (T, 2, 0), (T, (0, 1), (-1, 0))],
)
linear(
    np.rollaxis,
    "a, axis, start=0",
    a="support.rollaxis_back(g, axis, start)",
    view="always",
    at=[(T, 2), (T, 1, 3), (T, -1, 1), (T, 0, 2), (T, 0, -1)],
)
linear(
    np.squeeze,
    "a, axis=None",
    a="np.reshape(g, np.shape(a))",
    view="maybe",
    at=[(M,), (M[:, None],), (M[:, None], 1), (V[:1],), (V[None, :, None], (0, -1)), (2.0,)],
)
linear(
    np.expand_dims,
    "a, axis",
    a="np.reshape(g, np.shape(a))",
    view="always",
    at=[(M, 1), (V, -1), (V, (0, 2)), (2.0, 0)],
)
for shaped in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    several = linear(
        shaped,
        "*arrays",
        arrays="support.shaped_back(g, arrays)",
        view="maybe",
        at=[(M, 2.0), (V, T)],
    )
    several.variants[1] = linear(
        shaped,
        "a, /",
        a="np.reshape(g, np.shape(a))",
        view="maybe",
        at=[(M,), (V,), (0.7,), (T,)],
        register=False,
    )
linear(
    np.broadcast_to,
    "array, shape, subok=False",
    array="support.unbroadcast(g, array)",
    view="maybe",
    at=[(V, (2, 3)), (M, (2, 3)), (N[:, :1], (4, 2, 3)), (2.0, (2, 2))],
)
linear(
    np.broadcast_arrays,
    "*arrays, subok=False",
    arrays="support.broadcast_arrays_back(g, arrays)",
    view="maybe",
    at=[(V, M), (2.0, V), (N[:, :1], V)],
)

# ---- the same elements in another place ------------------------------------------------

linear(
    np.flip,
    "m, axis=None",
    m="np.flip(g, axis)",
    view="always",
    at=[(V,), (M,), (M, 1), (T, (0, -1))],
)
linear(np.fliplr, "m", m="np.fliplr(g)", view="always", at=[(M,), (T,)])
linear(np.flipud, "m", m="np.flipud(g)", view="always", at=[(M,), (V,)])
linear(
    np.rot90,
    "m, k=1, axes=(0, 1)",
    m="np.rot90(g, -k, axes)",
    view="always",
    at=[(M,), (M, 2), (M, -1), (T, 1, (1, 2)), (M, 4)],
)
linear(
    np.roll,
    "a, shift, axis=None",
    a="np.roll(g, np.negative(shift), axis)",
    at=[(V, 1), (M, 2), (M, -1, 1), (M, (1, -1), (0, 1)), (M, 1, (0, 1))],
)
short(np.roll, {"shift": 0}, absent=("axis",), a="np.roll(g, -shift)")
short(np.roll, {"shift": 0}, a="np.roll(g, -shift, axis)")
linear(np.fft.fftshift, "x, axes=None", x="np.fft.ifftshift(g, axes)", at=[(V,), (M,), (M, 1)])
linear(np.fft.ifftshift, "x, axes=None", x="np.fft.fftshift(g, axes)", at=[(V,), (M,), (M, (1,))])

# ---- repeated elements -----------------------------------------------------------------

linear(
    np.repeat,
    "a, repeats, axis=None",
    a="support.repeat_back(g, a, repeats, axis)",
    at=[(V, 2), (M, 3), (M, 2, 1), (M, [2, 0, 1], 1), (M, [1, 2], -2), (2.0, 3)],
)
linear(
    np.tile,
    "A, reps",
    A="support.tile_back(g, A, reps)",
    at=[(V, 2), (M, (2, 1)), (V, (2, 1, 2)), (M, 3), (2.0, 3)],
)
linear(
    np.resize,
    "a, new_shape",
    a="support.scatter(g, np.resize(support.places(a), new_shape), np.shape(a))",
    at=[(V, 5), (M, (3, 3)), (M, (2, 2))],
)
structured(
    np.pad,
    "array, pad_width, mode='constant', *, constant_values=0, end_values=0, stat_length=None,"
    " reflect_type='even'",
    vjp={"array": "support.pad_back(g, array, pad_width, mode, stat_length, reflect_type)"},
    jvp={"array": "support.pad_dot(array_dot, pad_width, mode, stat_length, reflect_type)"},
    otherwise=source(
        np.pad,
        sampled.pad_valued,
        at=[
            ((V, 2), {"constant_values": 0.4}),
            ((M, ((1, 0), (0, 2))), {"constant_values": np.array([[0.4, 0.3], [0.2, 0.1]])}),
        ],
        register=False,
    ),
    at=[
        (V, 2),
        (M, ((1, 0), (0, 2))),
        ((V, 1), {"constant_values": 3.0}),
        (V, (1, 2), "edge"),
        (M, 1, "edge"),
        (V, 2, "reflect"),
        (V, 5, "reflect"),
        (V, 2, "symmetric"),
        (M, ((0, 1), (2, 3)), "wrap"),
        ((V, 2, "reflect"), {"reflect_type": "odd"}),
        ((M, 2, "symmetric"), {"reflect_type": "odd"}),
        (V, 2, "linear_ramp"),
        ((M, (1, 2), "linear_ramp"), {"end_values": 2.0}),
        (M, 1, "mean"),
        ((V, (2, 1), "mean"), {"stat_length": 2}),
    ],
)

# ---- joined ----------------------------------------------------------------------------

linear(
    np.concatenate,
    "arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'",
    arrays="support.concatenate_back(g, arrays, axis)",
    writes=("out",),
    at=[([V, W, V],), ((M, N), 1), ([M, M], -1), ([M, V], None), (M,)],
)
linear(
    np.stack,
    "arrays, axis=0, out=None, *, dtype=None, casting='same_kind'",
    arrays="support.stack_back(g, arrays, axis)",
    writes=("out",),
    at=[([V, W],), ((V, W), 1), ([M, M, M], -1), ([1.0, 2.0],), (M,)],
)
linear(
    np.vstack,
    "tup, *, dtype=None, casting='same_kind'",
    tup="support.vstack_back(g, tup)",
    at=[([V, W],), ((M, V),), ([1.0, 2.0],), (M,)],
)
linear(
    np.hstack,
    "tup, *, dtype=None, casting='same_kind'",
    tup="support.hstack_back(g, tup)",
    at=[([V, W],), ((M, N),), ([1.0, V],), ([T, T],)],
)
linear(np.dstack, "tup", tup="support.dstack_back(g, tup)", at=[([V, W],), ((M, M),), ([T, T],)])
linear(
    np.column_stack,
    "tup",
    tup="support.column_stack_back(g, tup)",
    at=[([V, W],), ((S, V),), ([N, M],)],
)
linear(
    np.block,
    "arrays",
    arrays="support.block_back(g, arrays)",
    at=[([V, 2.0],), ([[N, M], [M.T @ N, S]],), ([[V], [W]],), (V,)],
)
linear(
    np.append,
    "arr, values, axis=None",
    arr="support.concatenate_back(g, (arr, values), axis)[0]",
    values="support.concatenate_back(g, (arr, values), axis)[1]",
    at=[(V, W), (V, 2.0), (M, N), (M, M, 0), (M, N, 1)],
)
linear(
    np.insert,
    "arr, obj, values, axis=None",
    arr="support.insert_back(g, arr, obj, values, axis)[0]",
    values="support.insert_back(g, arr, obj, values, axis)[1]",
    at=[
        (V, 1, 2.0),
        (V, [0, 2], W[:2]),
        (M, 1, 0.5, 1),
        (M, 1, V, 0),
        (M, [0, 2], N, 1),
        (V, slice(0, 2), 1.5),
        (M, -1, W[:2], 1),
    ],
)
linear(
    np.delete,
    "arr, obj, axis=None",
    arr="support.scatter(g, np.delete(support.places(arr), obj, axis), np.shape(arr))",
    at=[(V, 1), (M, [0, 2], 1), (M, 3), (M, 0, 0), (V, slice(0, 2))],
)

# ---- cut -------------------------------------------------------------------------------

for cut in (np.split, np.array_split):
    linear(
        cut,
        "ary, indices_or_sections, axis=0",
        ary="support.split_back(g, ary, indices_or_sections, axis)",
        view="always",
        at=[(V, 3), (M, [1, 2], 1), (V, [2]), (V, [2, 1]), (T, 2, -1)],
    )
linear(
    np.hsplit,
    "ary, indices_or_sections",
    ary="support.split_back(g, ary, indices_or_sections, support.hsplit_axis(ary))",
    view="always",
    at=[(V, 3), (M, [1, 2])],
)
for along, axis in ((np.vsplit, 0), (np.dsplit, 2)):
    linear(
        along,
        "ary, indices_or_sections",
        ary=f"support.split_back(g, ary, indices_or_sections, {axis})",
        view="always",
        at=[(T, 2), (T, [1])],
    )
if hasattr(np, "unstack"):
    linear(
        np.unstack,
        "x, /, *, axis=0",
        x="np.stack(support.filled(g, out), axis)",
        view="always",
        at=[(M,), ((M,), {"axis": 1})],
    )
linear(
    np.take,
    "a, indices, axis=None, out=None, mode='raise'",
    a="support.take_back(g, a, indices, axis, mode)",
    writes=("out",),
    at=[
        (V, [0, 0, 2]),
        (M, [4, 1]),
        (M, [2, 0, 2], 1),
        (M, -1, -1),
        (V, 1),
        ((V, [5, -1]), {"mode": "clip"}),
        ((V, [5, -2]), {"mode": "wrap"}),
        (T, [[0, 1], [2, 0]], 1),
    ],
)
linear(
    np.take_along_axis,
    "arr, indices, axis=-1",
    arr="support.scatter(g, np.take_along_axis(support.places(arr), indices, axis),"
    " np.shape(arr))",
    at=[(M, np.array([[2, 2], [0, 1]]), 1), (M, np.array([[0, 1, 0]]), 0), (V, np.array([1]), 0)],
)
linear(
    np.compress,
    "condition, a, axis=None, out=None",
    a="support.scatter(g, np.compress(condition, support.places(a), axis), np.shape(a))",
    writes=("out",),
    at=[([True, False, True], V), ([True, False, True], M, 1), ([False, True], M)],
)
linear(
    np.extract,
    "condition, arr",
    arr="support.scatter(g, np.extract(condition, support.places(arr)), np.shape(arr))",
    at=[(V > 0, V), (M > 0, M)],
)
linear(
    np.lib.stride_tricks.sliding_window_view,
    "x, window_shape, axis=None, *, subok=False, writeable=False",
    x="support.scatter(g, np.lib.stride_tricks.sliding_window_view("
    "support.places(x), window_shape, axis), np.shape(x))",
    view="maybe",
    at=[(V, 2), (M, (2, 2)), (M, 2, 1)],
)

# ---- diagonals and triangles -------------------------------------------------------------

linear(
    np.diag,
    "v, k=0",
    v="support.diag_back(g, v, k)",
    view="maybe",
    at=[(V,), (M,), (S, 1), (V, -1), (M, -1)],
)
short(np.diag, {"v": 1}, absent=("k",), v="np.diag(g)")
short(np.diag, {"v": 1}, v="np.diag(g, k)")
linear(
    np.diagflat,
    "v, k=0",
    v="np.reshape(np.diag(g, k), np.shape(v))",
    at=[(V,), (M,), (V, 1), (N, -2)],
)
linear(
    np.diagonal,
    "a, offset=0, axis1=0, axis2=1",
    a="support.scatter(g, np.diagonal(support.places(a), offset, axis1, axis2), np.shape(a))",
    view="maybe",
    at=[(M,), (S, 1), (T, 0, 1, 2), (T, -1, -1, 0)],
)
short(
    np.diagonal,
    {"a": 2},
    absent=("offset", "axis1", "axis2"),
    a="support.diagonal_matrix(g, np.shape(a)[0], np.shape(a)[1])",
)
if hasattr(np.linalg, "diagonal"):  # NumPy 2
    linear(
        np.linalg.diagonal,
        "x, /, *, offset=0",
        x="support.scatter(g, np.diagonal(support.places(x), offset, -2, -1), np.shape(x))",
        view="maybe",
        at=[(M,), (T,), ((T,), {"offset": 1})],
    )
for part in (np.tril, np.triu):
    linear(
        part,
        "m, k=0",
        m=f"support.unbroadcast(np.{part.__name__}(g, k), m)",
        at=[(M,), (S, 1), (S, -1), (T,), (V,)],
    )
    short(part, {"m": (2, 3, 4)}, absent=("k",), m=f"np.{part.__name__}(g)")
    short(part, {"m": (2, 3, 4)}, m=f"np.{part.__name__}(g, k)")
linear(
    np.trace,
    "a, offset=0, axis1=0, axis2=1, dtype=None, out=None",
    a="support.trace_back(g, a, offset, axis1, axis2)",
    writes=("out",),
    at=[(S,), (M, 1), (T,), (T, -1, 2, 0)],
)
if hasattr(np.linalg, "trace"):  # NumPy 2
    linear(
        np.linalg.trace,
        "x, /, *, offset=0, dtype=None",
        x="support.trace_back(g, x, offset, -2, -1)",
        at=[(S,), (T,), ((M,), {"offset": 1})],
    )

# ---- copies and new arrays ---------------------------------------------------------------

linear(np.copy, "a, order='K', subok=False", a="g", at=[(M,), (V,)])
linear(
    np.array,
    "object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, ndmax=0, like=None",
    object="support.array_back(g, object)",
    view="maybe",
    at=[
        (M,),
        ([0.3, 1.0, -0.2],),
        ([[0.3, 1.0], [0.4, 2.0]],),
        ([V, W],),
        (0.3,),
        ((V, (1.0, 2.0, 3.0)),),
        ((V,), {"ndmin": 2}),
    ],
)
short(np.array, {"object": ROW}, absent=("dtype", "ndmin", "ndmax"), object="g")
linear(
    np.asarray,
    "a, dtype=None, order=None, *, device=None, copy=None, like=None",
    a="support.array_back(g, a)",
    view="maybe",
    at=[(M,), ([0.3, 1.0],), ([[0.3], [1.0]],), (0.3,)],
)
short(np.asarray, {"a": ROW}, absent=("dtype",), a="g")
linear(
    np.asanyarray,
    "a, dtype=None, order=None, *, device=None, copy=None, like=None",
    a="support.array_back(g, a)",
    view="maybe",
    at=[(M,), ([0.3, 1.0],)],
)
linear(
    np.asarray_chkfinite,
    "a, dtype=None, order=None",
    a="support.array_back(g, a)",
    view="maybe",
    at=[(M,), ([0.3, 1.0],)],
)
for laid_out in (np.ascontiguousarray, np.asfortranarray):
    linear(
        laid_out,
        "a, dtype=None, *, like=None",
        a="support.array_back(g, a)",
        view="maybe",
        at=[(M,), (M.T,), ([0.3, 1.0],), (0.3,)],
    )
short(np.array, {"object": (1, 2, 3, 4)}, absent=("dtype", "ndmin"), object="g")
for as_is in (np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray):
    short(as_is, {"a": (1, 2, 3, 4)}, absent=("dtype",), a="g")
if hasattr(np, "astype"):
    linear(
        np.astype,
        "x, dtype, /, *, copy=True, device=None",
        x="support.cast_like(g, x)",
        view="maybe",
        at=[(M, float), (V, complex)],
    )
linear(
    np.full,
    "shape, fill_value, dtype=None, order='C', *, device=None, like=None",
    fill_value="support.unbroadcast(g, fill_value)",
    at=[((2, 3), 0.4), (4, 2.0), ((2, 3), V)],
)
short(np.full, {"fill_value": 0}, fill_value="np.sum(g)")
linear(
    np.full_like,
    "a, fill_value, dtype=None, order='K', subok=True, shape=None, *, device=None",
    fill_value="support.unbroadcast(g, fill_value)",
    zero=("a",),
    at=[(M, 0.4), (M, V)],
)
short(np.full_like, {"fill_value": 0}, fill_value="np.sum(g)")
_grid = linear(
    np.meshgrid,
    "*xi, copy=True, sparse=False, indexing='xy'",
    xi="support.meshgrid_back(g, xi, indexing)",
    at=[
        (V, W[:2]),
        ((V, W[:2]), {"indexing": "ij"}),
        ((V, W[:2]), {"sparse": True}),
        (V, W[:2], V),
        (V,),
    ],
)
_grid.variants["copy"] = replace(
    _grid, view="maybe", at=(((V, W[:2]), {"copy": False}),), variants={}
)

# ---- order -------------------------------------------------------------------------------

structured(
    np.sort,
    "a, axis=-1, kind=None, order=None, *, stable=None",
    vjp={"a": "support.sort_back(g, a, out, axis)"},
    jvp={"a": "support.sort_dot(a_dot, a, out, axis)"},
    at=[(V,), (M,), (M, 0), (M, None), (T, 1)],
)
structured(
    np.partition,
    "a, kth, axis=-1, kind='introselect', order=None",
    vjp={"a": "support.sort_back(g, a, out, axis)"},
    jvp={"a": "support.sort_dot(a_dot, a, out, axis)"},
    at=[(V, 1), (S, 1), (M, 1, 0), (M, 2, None)],
)
refuse(
    np.lib.stride_tricks.as_strided,
    why="its elements may share memory in any way; use sliding_window_view or slices",
    params="x, shape=None, strides=None, subok=False, writeable=True",
    view="always",
)
refuse(
    memoryview,
    why="what is written through it can't be seen; write into the array itself",
    params="object",
    view="always",
)
nondiff(
    np.ix_,
    np.tril_indices,
    np.triu_indices,
    np.tril_indices_from,
    np.triu_indices_from,
    np.diag_indices,
    np.diag_indices_from,
    np.mask_indices,
    np.indices,
    np.unravel_index,
    np.ravel_multi_index,
    np.tri,
    np.eye,
    np.identity,
    np.fft.fftfreq,
    np.fft.rfftfreq,
    np.broadcast_shapes,
)
