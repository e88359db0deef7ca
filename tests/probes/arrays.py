"""NumPy: attributes and methods of arrays, functions, indexing, dtypes, memory."""

from __future__ import annotations

import math

import numpy
import numpy as np
import numpy.linalg as la
from numpy import dot
from numpy import sum as total_of
from numpy.linalg import norm as length

from tests.probes.table import M, P, S, V, probe

# ---- attributes and methods ----


@probe(M)
def attr_all(m):
    return (
        (m.T @ m).sum() * m.shape[1] + m.size * m[0, 0] ** 2 + m.ndim * m[1, 2] + len(m) * m[0, 1]
    )


@probe(M)
def attr_real_imag(m):
    return (m.real * 2.0 + m.imag).sum() ** 2


@probe(M)
def attr_dtype_itemsize(m):
    z = np.zeros(m.shape, dtype=m.dtype)
    z[...] = m * m
    return z.sum() * m.itemsize / 8 if m.dtype == np.float64 else z.sum()


@probe(M)
def method_reductions(m):
    return (
        m.sum() * m.mean()
        + m.prod()
        + m.std() * m.var()
        + m.max() * m.min()
        + m.sum(axis=0).prod()
    )


@probe(M)
def method_reductions_axes(m):
    return (
        (m.sum(0, keepdims=True) * m.mean(axis=1, keepdims=True)).sum()
        + m.std(axis=-1, ddof=1).sum()
        + m.var(0).sum()
    )


@probe(M)
def method_shapes(m):
    return (
        (m.reshape(3, 2) @ m.reshape((2, -1))).sum()
        + m.ravel()[1] * m.flatten()[2]
        + m.T.reshape(-1)[1] ** 2
        + m.transpose(1, 0)[0, 1] * m.swapaxes(0, 1)[2, 1]
        + m[None].squeeze()[1, 1] ** 2
    )


@probe(V)
def method_dot_clip_copy(x):
    return x.dot(x) * x.clip(-1.0, 1.5).sum() + x.copy()[0] + x.clip(min=0.0).sum() ** 2


@probe(V)
def method_cumulative(x):
    return (x.cumsum() ** 2).sum() * x.cumprod()[-1]


@probe(V)
def method_take_repeat(x):
    return x.take([0, 2, 2]).prod() + (x.repeat(2) * np.arange(6.0)).sum() ** 2


@probe(S)
def method_trace_diagonal(a):
    return a.trace() * a.diagonal().prod() + a.diagonal(1)[0] ** 2


@probe(V)
def method_astype(x):
    return (x.astype(float) ** 2).sum() + x.astype(np.float32).astype(np.float64).sum() * 0.0


@probe(V)
def method_item(x):
    return x.item(1) * x[2].item() + x.sum().item() ** 2


@probe(V)
def method_tolist(x):
    a, b, c = x.tolist()
    return a * b + c**2


@probe(P)
def method_sort_in_place(x):
    y = x.copy()
    y.sort()
    return (y * np.arange(1.0, 5.0)).sum() ** 2


@probe(P)
def method_argsort_argmax(x):
    return x[x.argsort()][0] * x[x.argmax()] + x[x.argmin()] ** 2


@probe(V)
def method_fill_then_set(x):
    y = np.empty(3)
    y.fill(x[0])
    y[1] = x[1]
    return (y**2).sum()


@probe(V)
def method_round_any(x):
    return ((x + 0.2).round() * x).sum() * (2.0 if (x > 0).any() and not (x > 0).all() else 1.0)


@probe(V)
def method_conj_dot(x):
    z = x + 1j * x**2
    return (z.conj() * z).real.sum() + np.vdot(z, z).real + np.angle(z).sum() + np.abs(z).sum()


@probe(V)
def method_searchsorted_nonzero(x):
    k = np.nonzero(x > 0)[0]
    j = np.searchsorted(np.array([0.0, 1.0, 2.5]), x)
    return (x[k] ** 2).sum() + (j * x).sum()


@probe(V)
def method_put_copyto(x):
    y = np.zeros(3)
    np.copyto(y, x * 2.0)
    y.put([0], x[1])
    np.put(y, [2], [x[0] * x[0]])
    return (y**2).sum()


@probe(M)
def method_resize_view_flat(m):
    y = m.copy()
    y.flat[2] = m[0, 0] * 3.0
    return (y**2).sum() + m.flat[3] ** 2


@probe(V)
def method_ptp_choose(x):
    return np.ptp(x) * x.compress([True, False, True]).sum()


# ---- import spellings ----


@probe(V)
def spell_numpy(x):
    return numpy.sum(numpy.sin(x)) * numpy.linalg.norm(x)


@probe(S, V, wrt=(0, 1))
def spell_from(a, x):
    return total_of(dot(a, x)) * length(x) + la.det(a)


@probe(V)
def spell_alias_inside(x):
    xp = np
    return xp.exp(xp.sin(x)).sum()


@probe(V, np)
def spell_module_argument(x, xp):
    return xp.exp(xp.sin(x)).sum()


# ---- elementwise ----


@probe(np.array([0.3, 0.6, 0.8]))
def np_trigonometry(x):
    return (np.sin(x) * np.cos(x) + np.tan(x) + np.arcsin(x) * np.arccos(x) + np.arctan(x)).sum()


@probe(np.array([0.3, 0.6, 0.8]))
def np_hyperbolic(x):
    return (
        np.sinh(x) * np.cosh(x) + np.tanh(x) + np.arcsinh(x) * np.arccosh(x + 1.0) + np.arctanh(x)
    ).sum()


@probe(np.array([0.3, 0.6, 0.8]))
def np_exponentials(x):
    return (
        np.exp(x)
        + np.exp2(x) * np.expm1(x)
        + np.log(x) * np.log2(x)
        + np.log10(x)
        + np.log1p(x)
        + np.logaddexp(x, 0.5)
        + np.logaddexp2(x, 0.2)
    ).sum()


@probe(np.array([0.3, 0.6, 0.8]))
def np_roots(x):
    return (
        np.sqrt(x) * np.cbrt(x)
        + np.square(x)
        + np.reciprocal(x)
        + np.power(x, 3)
        + np.float_power(x, 1.5)
        + np.hypot(x, 0.3)
    ).sum()


@probe(P)
def np_steps(x):
    return (
        np.floor(x) * x
        + np.ceil(x) * x
        + np.rint(x)
        + np.trunc(x) * x
        + np.sign(x) * x
        + np.abs(x) * np.fabs(x)
        + np.heaviside(x, 0.5) * x
    ).sum()


@probe(V, V[::-1] + 0.3, wrt=(0, 1))
def np_two_arguments(x, y):
    return (
        np.add(x, y) * np.subtract(x, y)
        + np.multiply(x, y) / np.divide(x, y + 5.0)
        + np.maximum(x, y) * np.minimum(x, y + 0.1)
        + np.fmax(x, 0.1)
        + np.fmin(y, 0.2)
        + np.arctan2(x, y)
        + np.copysign(x, y)
        + np.mod(x, 1.7)
        + np.fmod(y, 0.7)
        + np.remainder(x, 0.9)
    ).sum()


@probe(V)
def np_degrees_sinc(x):
    return (np.degrees(x) * np.radians(x) + np.deg2rad(x) + np.rad2deg(x) + np.sinc(x)).sum()


@probe(V)
def np_nan_to_num_isfinite(x):
    y = np.where(np.isfinite(x) & ~np.isnan(x), np.nan_to_num(x), 0.0)
    return (y**2).sum()


@probe(0.6)
def math_all_one(x):
    return (
        math.sin(x)
        + math.cos(x) * math.tan(x)
        + math.asin(x) * math.acos(x)
        + math.atan(x)
        + math.sinh(x) * math.cosh(x)
        + math.tanh(x)
        + math.asinh(x)
        + math.acosh(x + 1.0)
        + math.atanh(x)
    )


@probe(0.6)
def math_all_two(x):
    return (
        math.exp(x) * math.expm1(x)
        + math.log(x)
        + math.log(x, 3.0) * math.log2(x)
        + math.log10(x) * math.log1p(x)
        + math.sqrt(x)
        + math.pow(x, 2.5)
        + math.fabs(x)
        + math.erf(x) * math.erfc(x)
        + math.gamma(x) * math.lgamma(x)
    )


@probe(0.6, 1.7, wrt=(0, 1))
def math_all_three(x, y):
    return (
        math.atan2(x, y)
        + math.hypot(x, y)
        + math.fmod(y, x)
        + math.copysign(x, -y)
        + math.dist((x, y), (1.0, 2.0))
        + math.degrees(x)
        + math.radians(y)
        + math.remainder(y, x)
        + math.ldexp(x, 2)
        + math.floor(y) * x
        + math.ceil(x) * y
        + math.trunc(y) * x
    )


@probe(0.6, 1.7, wrt=(0, 1))
def math_sums(x, y):
    return (
        math.fsum([x, y, x * y]) + math.prod([x, y, 2.0]) + math.exp2(x)
        if hasattr(math, "exp2")
        else x
    )


@probe(0.6, 1.7, wrt=(0, 1))
def math_cbrt_modf(x, y):
    f, i = math.modf(y)
    return (
        f * i * x
        + (math.cbrt(x) if hasattr(math, "cbrt") else x)
        + (y if math.isclose(x, y) else 0.0)
        + math.inf * 0.0
        if False
        else f * x
    )


# ---- reductions ----


@probe(M)
def np_reductions(m):
    return (
        np.sum(m) * np.mean(m)
        + np.prod(m)
        + np.std(m)
        + np.var(m, ddof=1)
        + np.max(m) * np.amin(m)
        + np.median(m)
        + np.ptp(m)
    )


@probe(M)
def np_reductions_axis_tuple(m):
    t = np.stack([m, m**2])
    return (
        np.sum(t, axis=(0, 2)).prod()
        + np.mean(t, axis=(-1, 0))[0] ** 2
        + np.max(t, axis=(1, 2)).sum()
    )


@probe(M)
def np_reductions_where(m):
    return (
        np.sum(m, where=m > 0) ** 2
        + np.mean(m, axis=1, where=m > -1.0).prod()
        + np.max(m, initial=0.5, where=m < 1.5)
    )


@probe(M)
def np_nan_reductions(m):
    w = np.where(m > 1.5, np.nan, m)
    return (
        np.nansum(w) ** 2
        + np.nanmean(w) * np.nanmax(w)
        + np.nanstd(w)
        + np.nanmin(w)
        + np.nanprod(w)
    )


@probe(M)
def np_average_weights(m):
    return np.average(m) * np.average(m, axis=1, weights=[1.0, 2.0, 3.0]).prod()


@probe(M)
def np_cumulative(m):
    return (
        (np.cumsum(m, axis=1) ** 2).sum()
        + np.cumprod(m, axis=0).sum()
        + np.cumsum(m)[3] ** 2
        + np.diff(m, axis=1).prod()
        + (np.diff(m, n=2) ** 2).sum()
    )


@probe(P)
def np_percentiles(x):
    return np.percentile(x, 30) * np.quantile(x, 0.7) + np.median(x) ** 2


@probe(M)
def np_norms(m):
    return (
        np.linalg.norm(m) * np.linalg.norm(m[0], 1)
        + np.linalg.norm(m, axis=1).prod()
        + np.linalg.norm(m[1], np.inf)
        + np.linalg.norm(m, "fro")
    )


@probe(M)
def np_logsumexp_by_hand(m):
    c = m.max(axis=1, keepdims=True)
    return (c[:, 0] + np.log(np.exp(m - c).sum(axis=1))).prod()


@probe(V)
def np_softmax_by_hand(x):
    e = np.exp(x - np.max(x))
    p = e / e.sum()
    return -(p * np.log(p)).sum()


@probe(M)
def np_ufunc_methods(m):
    return (
        np.add.reduce(m).prod()
        + np.multiply.reduce(m, axis=1).sum()
        + np.maximum.reduce(m, axis=0).sum()
        + np.add.outer(m[0], m[1]).prod()
        + np.add.accumulate(m[0])[-1] ** 2
    )


@probe(P)
def np_add_at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 0, 2, 1], x)
    np.subtract.at(y, [1], x[0])
    return (y**2).sum()


# ---- shapes and joins ----


@probe(M)
def np_shapes(m):
    return (
        (np.reshape(m, (3, 2)) @ np.transpose(m).T).sum()
        + np.ravel(m)[4] * np.squeeze(m[:, :1])[1]
        + (np.expand_dims(m, 0) * np.swapaxes(m, 0, 1)[:, :, None]).sum()
        + np.moveaxis(m[None], 0, 2)[1, 1, 0] ** 2
    )


@probe(V, P, wrt=(0, 1))
def np_joins(x, y):
    a = np.concatenate([x, y])
    b = np.hstack((x, y[:2]))
    c = np.vstack([x, x**2])
    d = np.stack((x, y[:3]), axis=1)
    e = np.column_stack((x, y[1:]))
    f = np.append(x, y)
    g = np.r_[x, y]
    h = np.c_[x, x]
    return (a**2).sum() * b.prod() + c.sum() * d.prod() + (e**2).sum() + f[3] * g[4] + h.sum()


@probe(M)
def np_splits(m):
    a, b, c = np.split(m, 3, axis=1)
    d, e = np.hsplit(m, [1])
    f, g = np.array_split(m[0], 2)
    return (
        (a * b * c).sum() + d.sum() * e.prod() + f.sum() * g.sum() + np.vsplit(m, 2)[1].sum() ** 2
    )


@probe(V)
def np_repeats(x):
    return (
        (np.tile(x, 2) * np.repeat(x, 2)).sum()
        + (np.tile(x, (2, 1)) ** 2).sum()
        + np.broadcast_to(x, (2, 3)).prod()
    )


@probe(M)
def np_flips(m):
    return (
        (np.flip(m) * m).sum()
        + (np.fliplr(m) * np.flipud(m)).sum()
        + (np.rot90(m) ** 3).sum()
        + (np.roll(m, 1, axis=1) * m).sum()
        + (np.roll(m, 2) * m).sum()
    )


@probe(V)
def np_builders(x):
    a = np.array([x[0], 2.0, x[1] * x[2]])
    b = np.array([[x[0], 1.0], [x[1], x[2]]])
    c = np.asarray([x, x**2])
    d = np.full((2, 2), x[0])
    e = np.full_like(x, x[1])
    f = np.ones_like(x) * x + np.zeros_like(x) + np.eye(3)[0] * x + np.identity(3)[1]
    return a.prod() + np.linalg.det(b) + c.prod() + d.sum() * e.prod() + f.prod()


@probe(1.3)
def np_ranges(x):
    return (
        np.linspace(0.0, x, 4).prod()
        + np.linspace(x, 2.0, 3).sum()
        + (np.arange(4) * x).sum() ** 2
        + np.logspace(0.0, x, 3).sum()
        + np.geomspace(1.0, x, 3).sum()
    )


@probe(V)
def np_meshgrid(x):
    a, b = np.meshgrid(x, x[:2])
    c, d = np.meshgrid(x, x, indexing="ij")
    return (a * b).sum() + (c * d**2).sum()


@probe(V)
def np_diag_tri(x):
    a = np.diag(x)
    return (
        (a @ np.outer(x, x)).sum()
        + np.diag(np.outer(x, x)).prod()
        + np.triu(np.outer(x, x)).sum()
        + np.tril(np.outer(x, x), -1).sum()
        + np.trace(np.outer(x, x))
        + np.vander(x, 3).sum()
    )


@probe(V)
def np_atleast_block(x):
    return (
        (np.atleast_2d(x) @ np.atleast_1d(x)).sum()
        + np.block([[x, x**2], [x, x]]).prod()
        + np.insert(x, 1, x[0] * 2.0).prod()
        + np.delete(x, 1).prod()
    )


@probe(P)
def np_sorting(x):
    return (
        (np.sort(x) * np.arange(4.0)).sum() ** 2
        + x[np.argsort(x)][1] * np.partition(x, 2)[2]
        + np.sort(x)[::-1][0]
        + np.max(x) * x[np.argmax(x)]
        + np.unique(x).prod()
    )


@probe(P)
def np_convolve_gradient(x):
    return (
        (np.convolve(x, [1.0, 2.0, 1.0]) ** 2).sum()
        + (np.convolve(x, x[:2], mode="same") ** 2).sum()
        + (np.correlate(x, x[:2], "valid") ** 2).sum()
        + (np.gradient(x) ** 2).sum()
        + (np.ediff1d(x) ** 2).sum()
    )


@probe(P)
def np_polynomials(x):
    return (
        np.polyval(x, 1.3)
        + np.polyval([1.0, 2.0, 3.0], x).sum()
        + (np.polynomial.polynomial.polyval(0.7, x)) ** 2
    )


# ---- products ----


@probe(S, V, wrt=(0, 1))
def np_products(a, x):
    return (
        np.dot(a, x) @ np.matmul(a, x)
        + np.inner(x, x) * np.vdot(x, a[0])
        + np.outer(x, x).sum()
        + np.tensordot(a, x, 1).prod()
        + np.tensordot(a, a, axes=([0], [1])).sum()
        + np.kron(x, x).prod()
        + np.cross(x, a[1]).sum()
    )


@probe(S, V, wrt=(0, 1))
def np_einsums(a, x):
    return (
        np.einsum("ij,j->i", a, x).prod()
        + np.einsum("ii", a)
        + np.einsum("ij,jk->ik", a, a).sum()
        + np.einsum("i,i", x, x)
        + np.einsum("ij->ji", a)[0, 1] ** 2
        + np.einsum("i,j->ij", x, x).sum()
    )


@probe(np.arange(8.0).reshape(2, 2, 2) * 0.3 + 0.1)
def np_batched(t):
    return (
        (t @ t).sum()
        + np.matmul(t, t[0]).prod()
        + np.einsum("bij,bjk->bik", t, t).sum()
        + (t.transpose(0, 2, 1) @ t).sum()
        + np.linalg.inv(t + 2.0 * np.eye(2)).sum()
    )


@probe(S, V, wrt=(0, 1))
def np_linalg_solvers(a, b):
    return (
        np.linalg.solve(a, b).sum() ** 2
        + np.linalg.inv(a)[0].prod()
        + np.linalg.det(a)
        + np.linalg.slogdet(a)[1]
        + np.linalg.solve(a, np.outer(b, b)).sum()
    )


@probe(S)
def np_linalg_factors(a):
    m = a @ a.T + 3.0 * np.eye(3)
    c = np.linalg.cholesky(m)
    w, v = np.linalg.eigh(m)
    u, s, vt = np.linalg.svd(a)
    q, r = np.linalg.qr(a)
    return (
        c.sum()
        + w[0] * w[2]
        + (v[:, 0] ** 4).sum()
        + s.prod()
        + (u * u * u * u).sum()
        + np.abs(r).sum()
    )


@probe(P)
def np_fft(x):
    f = np.fft.fft(x)
    r = np.fft.rfft(x)
    return (
        (np.abs(f) ** 2 * np.arange(4)).sum()
        + (r.real * r.imag).sum()
        + (np.fft.ifft(f * f).real).prod()
        + np.fft.irfft(r * 2.0)[1] ** 2
    )


# ---- indexing ----


@probe(M)
def index_basic(m):
    return m[0, 1] * m[-1, -1] + m[1].prod() + m[:, 1].prod() + m[0][2] ** 2 + m[:1, 1:].sum() ** 2


@probe(P)
def index_boolean(x):
    k = x > 0.5
    return (x[k] ** 2).sum() * x[~k].sum() + x[x == x.max()][0]


@probe(M)
def index_boolean_2d(m):
    return (
        (m[m > 0] ** 2).sum()
        + m[:, [True, False, True]].prod()
        + m[np.array([True, False])].sum() ** 2
    )


@probe(P)
def index_integers(x):
    i = np.array([0, 2, 2, 1])
    return (x[i] * x).sum() + x[[3, 0]].prod() + (x[np.array([[0, 1], [1, 1]])] ** 2).sum()


@probe(M)
def index_pairs(m):
    return (
        m[[0, 1, 1], [2, 0, 0]].prod()
        + m[np.arange(2), [0, 2]].sum() ** 2
        + (m[np.ix_([0, 1], [2, 0])] ** 3).sum()
        + m[[1, 0]][0, 0] ** 2
    )


@probe(M)
def index_mixed(m):
    return (m[0, [0, 2, 2]] ** 2).sum() + (m[:, [1, 1]] * m[:, None, 2]).sum() + m[..., [0]].prod()


@probe(P)
def index_store_forms(x):
    y = np.zeros(4)
    y[0] = x[0] ** 2
    y[1:3] = x[2:] * 2.0
    y[[3]] = x[1]
    y[y > 3.0] = x[0]
    y[-1] += x[3]
    y[...] *= x
    return (y**2).sum()


@probe(M)
def index_store_2d(m):
    y = np.zeros((2, 3))
    y[0] = m[1]
    y[:, 2] = m[:, 0] * 2.0
    y[1, 0] = m[0, 0] ** 2
    y[m > 1.0] += m[0, 1]
    y[[0, 1], [1, 1]] -= m[0, :2]
    return (y**2).sum()


@probe(P)
def index_take_along(x):
    return (
        np.take(x, [0, 0, 3]).prod()
        + np.take_along_axis(x, np.argsort(x), 0)[0] ** 2
        + np.compress([1, 0, 1, 0], x).sum() ** 2
        + np.extract(x > 0.5, x).prod()
        + np.choose([0, 1, 0, 1], [x, x**2]).sum()
    )


@probe(P)
def index_by_float_computed_int(x):
    n = int(np.floor(x[1]))
    return x[n] * x[: n + 2].sum()


@probe(P)
def index_nested_containers(x):
    d = {"a": [x, x**2], "b": (x[0], {"c": x[1:]})}
    return d["a"][1][2] * d["b"][1]["c"][0] + d["a"][0].sum() * d["b"][0]


# ---- in place and memory ----


@probe(P)
def memory_view_then_write(x):
    y = x * 1.0
    v = y[1:3]
    v *= 2.0
    w = v[::-1]
    w[0] = x[0] ** 2
    return (y**2).sum()


@probe(P)
def memory_out_argument(x):
    y = np.empty(4)
    np.multiply(x, 2.0, out=y)
    np.sin(y, out=y)
    np.add(y, x, y)
    return (y**2).sum()


@probe(P)
def memory_out_where(x):
    y = np.ones(4)
    np.log(x, out=y, where=x > 0.5)
    return (y * x).sum()


@probe(P)
def memory_swap_elements(x):
    y = x.copy()
    y[0], y[3] = y[3], y[0]
    y[[1, 2]] = y[[2, 1]]
    return (y * np.arange(1.0, 5.0)).sum() ** 2


@probe(P)
def memory_argument_written(x):
    x[0] = x[1] * x[2]
    x += 1.0
    return (x**2).sum()


@probe(M)
def memory_transposed_write(m):
    y = m.copy()
    y.T[2] = m[:, 0] ** 2
    y.reshape(-1)[0] *= 3.0
    y.ravel()[1] += m[0, 0]
    return (y**2).sum()


@probe(P)
def memory_overlap(x):
    y = x.copy()
    y[1:] += y[:-1]
    y[:-1] = y[1:] * 2.0
    return (y**2).sum()


@probe(P)
def memory_container_alias(x):
    y = x.copy()
    items = [y, y[1:]]
    items[1][0] = x[0] * 5.0
    d = {"y": y}
    d["y"][3] *= 2.0
    return (y**2).sum() + items[0][1]


@probe(P)
def memory_ping_pong(x):
    a, b = x.copy(), np.zeros(4)
    for _ in range(3):
        b[1:-1] = 0.5 * (a[:-2] + a[2:]) * a[1:-1]
        b[0], b[-1] = a[0], a[-1]
        a, b = b, a
    return (a**2).sum()


@probe(S)
def memory_cholesky_by_hand(a):
    m = a @ a.T + np.eye(3)
    n = m.shape[0]
    c = np.zeros_like(m)
    for i in range(n):
        for j in range(i + 1):
            s = m[i, j] - c[i, :j] @ c[j, :j]
            c[i, j] = np.sqrt(s) if i == j else s / c[j, j]
    return c.sum()


@probe(M)
def memory_diagonal_of_rows(m):
    rows = [r for r in m.copy()]
    rows[0][1] = m[1, 1] ** 2
    rows[0], rows[1] = rows[1], rows[0]
    return rows[0].prod() + rows[1].prod()


# ---- dtypes ----

F32 = np.array([0.5, -1.2, 2.0], dtype=np.float32)


@probe(F32, tol=1e-5)
def dtype_float32(x):
    return (np.sin(x) * 2.0 * x).sum()


@probe(np.float32(1.3), tol=1e-5)
def dtype_float32_scalar(x):
    return np.sin(x) * x


@probe(F32.astype(np.longdouble))
def dtype_longdouble(x):
    return (np.exp(x) * x).sum()


@probe(F32.astype(np.float16), tol=5e-3)
def dtype_float16(x):
    return (x * x * np.float16(0.5)).sum()


@probe(F32, V, wrt=(0, 1), tol=1e-5)
def dtype_mixed(x, y):
    return (x * y).sum() + (x.astype(np.float64) ** 2).sum()


@probe(V, np.array([1, 2, 3]))
def dtype_integer_other(x, n):
    return (x**n * n).sum() + (n // 2 * x).sum()


@probe(np.array([1, 2, 3]), 1.3, wrt=1)
def dtype_integer_array_promoted(n, x):
    return (n * x).sum() ** 2 + (n / x).sum()


@probe(V)
def dtype_bool_mask_times(x):
    return ((x > 0) * x**2).sum() + (x > 0).sum() * x[0] + np.count_nonzero(x > 0) * x[1]


@probe(np.array(1.3))
def dtype_zero_dim(x):
    return np.sin(x) * x[()] + x.sum()


@probe(np.array([1.3]))
def dtype_one_element(x):
    return x[0] ** 2 * x.sum()


@probe(np.zeros(0), 1.3, wrt=(0, 1))
def dtype_empty(x, y):
    return (x**2).sum() * y + y**2


@probe(np.float64(1.3))
def dtype_numpy_scalar(x):
    return x**2 * np.float64(2.0) + x.real


@probe(M[:, ::2])
def dtype_not_contiguous(m):
    return (m**2).sum() + m.ravel()[1] ** 3


@probe(np.array([1.0 + 2.0j, 0.5 - 1.0j]))
def dtype_complex_argument(z):
    return (z * z.conj()).real.sum() + z.real[0] * z.imag[1]


@probe(P)
def np_add_reduceat(x):
    return (np.add.reduceat(x, [0, 2]) ** 2).sum()


@probe(V)
def np_pad_where(x):
    a = np.pad(x, 1)
    b = np.pad(x, (1, 2), mode="edge")
    c = np.where(x > 0, x**2, -x)
    d = np.select([x < 0, x < 1], [x**2, x**3], default=x)
    e = np.piecewise(x, [x < 0, x >= 0], [lambda v: v**2, lambda v: v**3])
    return (a**2).sum() + (b * b).sum() + c.prod() + d.sum() + e.sum()


@probe(S)
def np_linalg_others(a):
    return (
        np.linalg.matrix_power(a, 3).sum()
        + np.linalg.pinv(a).sum()
        + np.linalg.multi_dot([a, a, a]).sum()
        + np.linalg.cond(a + 5.0 * np.eye(3))
        + np.linalg.eigvalsh(a + a.T).prod()
    )
