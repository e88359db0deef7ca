"""Arguments and options of NumPy's functions that have formulas or sources of their own."""

from __future__ import annotations

import numpy as np

from tests.probes.table import M, P, S, V, probe

C = np.array([0.4 - 0.3j, -1.3 + 0.2j, 0.7 + 0.9j])

# ---- what is put at the ends, and spacings ----


@probe(V, 0.7, wrt=(0, 1))
def diff_with_an_end(x, y):
    return np.diff(x, append=y)


@probe(M, np.array([[0.3], [0.8]]), wrt=(0, 1))
def diff_twice_with_a_start(m, y):
    return np.diff(m, n=2, axis=1, prepend=y)


@probe(V, 0.7, wrt=(0, 1))
def ediff1d_with_an_end(x, y):
    return np.ediff1d(x, to_end=y, to_begin=[1.0])


@probe(P, 0.3, wrt=(0, 1))
def gradient_of_a_spacing(f, h):
    return np.gradient(f, h)


@probe(P, np.array([0.0, 0.3, 1.0, 2.2]), wrt=(0, 1))
def gradient_of_coordinates(f, x):
    return np.gradient(f, x, edge_order=2)


@probe(M, 0.4, np.array([0.0, 0.3, 1.0]), wrt=(0, 1, 2))
def gradient_of_two_spacings(f, h, x):
    a, b = np.gradient(f, h, x)
    return a * b


@probe(M, 0.4, wrt=(0, 1))
def pad_with_a_value(m, c):
    return np.pad(m, ((1, 0), (0, 2)), constant_values=c)


@probe(P, 0.37, wrt=(0, 1))
def quantile_of_its_place(x, q):
    return np.quantile(x, q)


@probe(M, np.array([31.0, 77.0]), wrt=(0, 1))
def percentile_of_its_places(m, q):
    return np.percentile(m, q, axis=1)


@probe(M)
def quantile_by_other_methods(m):
    return [
        np.quantile(m, 0.3, axis=1, method=how)
        for how in ("hazen", "weibull", "inverted_cdf", "median_unbiased")
    ]


@probe(0.3, 2.0, wrt=(0, 1))
def linspace_with_its_step(a, b):
    x, h = np.linspace(a, b, 4, retstep=True)
    return x * h


# ---- statistics ----


@probe(V, np.array([0.2, 0.9, -0.4]), wrt=(0, 1))
def cov_of_two(x, y):
    return np.cov(x, y)


@probe(M, np.array([0.2, 0.5, 0.9]), wrt=(0, 1))
def cov_with_weights(m, w):
    return np.cov(m, aweights=w)


@probe(V, np.array([0.2, 0.9, -0.4]), wrt=(0, 1))
def corrcoef_of_two(x, y):
    return np.corrcoef(x, y)


# ---- results with named parts ----


@probe(S)
def slogdet_by_name(a):
    return np.linalg.slogdet(a).logabsdet


@probe(S)
def qr_by_name(a):
    r = np.linalg.qr(a)
    return r.Q * r.R


@probe(M)
def svd_by_name(m):
    r = np.linalg.svd(m, full_matrices=False)
    return r.S * r[1]


# ---- numbers ----


@probe(V)
def float64_of_an_array_is_the_array(x):
    y = np.float64(x)
    y[0] = 3.0
    return x * y


@probe(V)
def float64_of_a_copy(x):
    y = np.float64(x * 1.0)
    y[1] *= x[0]
    return x * y


if not np.__version__.startswith("1."):

    @probe(C)
    def sign_of_complex(z):
        return np.sign(z) * z


@probe(V)
def constant_of_negative_imaginary_part(x):
    return np.abs(x * (0 - 1j) + -1j + (2 - 3j))


@probe(M)
def einsum_with_ellipsis_by_lists(m):
    return np.einsum(m, [Ellipsis, 0], [Ellipsis])


@probe(V, np.array([0.3, 1.7, 2.2]), wrt=(0, 1))
def interp_in_a_list(y, x):
    return np.interp(x, [0.0, 1.0, 2.5], y, left=0.0)


@probe(np.array([0.3, 1.7, -1.0]), V, wrt=(0, 1))
def interp_with_a_period_in_a_list(x, y):
    return np.interp(x, [0.0, 1.0, 2.5], y, period=3.0)


@probe(M)
def reshape_to_a_starred_shape(m):
    return m.T.reshape(1, *m.shape) * np.reshape(m, (3, *m.shape[:1])).sum()


# ---- tests that types settle ----


def _total(a):
    if isinstance(a, tuple | list):
        s = 0.0
        for v in a:
            s = s + _total(v)
        return s
    if np.iscomplexobj(a):
        return np.sum(np.real(a) ** 2)
    return np.sum(np.sin(a))


@probe([V, (P, 0.4)], wrt=0)
def recursion_over_containers(x):
    return _total(x)


@probe(M, V, wrt=(0, 1))
def dimensions_decide(m, v):
    def lifted(a):
        if np.ndim(a) == 1 and hasattr(a, "shape"):
            return a[:, None]
        return a if a.ndim > 1 or not isinstance(a, np.ndarray) else a + 1.0

    return lifted(m) @ lifted(v)


@probe(0.7)
def type_decides(x):
    y = x if type(x) is float else np.sin(x)
    return y * x if np.isscalar(y) else y


# ---- values that the reverse sweep changes back ----


def _written(x):
    y = x * x
    y[0] = 3 * y[0] * y[1]
    y[1] *= y[0]
    return y


def _writes(y):
    y[0] = y[0] * y[1]
    y[0] *= y[1]


def _filled(xs, x):
    xs.append(x * x)
    xs.append(x * 2.0)


@probe(V)
def returns_a_list_of_items(x):
    return [x * h for h in (1.0, 2.0)]


@probe(V)
def returns_a_list_of_a_callee(x):
    return returns_a_list_of_items(x)


@probe(V)
def returns_a_list_that_a_callee_fills(x):
    xs = []
    _filled(xs, x)
    return xs


@probe(M)
def returns_lists_of_lists(m):
    rows = []
    for i in range(2):
        row = []
        for j in range(3):
            row.append(m[i, j] * j)
        rows.append(row)
    return rows


@probe(V)
def returns_what_a_callee_wrote(x):
    return _written(x)


@probe(V)
def returns_what_a_callee_wrote_into(x):
    y = x * 1.0
    _writes(y)
    return y, y[1:]


@probe(V)
def returns_what_callees_of_a_callee_wrote(x):
    return returns_what_a_callee_wrote_into(x)[0]
