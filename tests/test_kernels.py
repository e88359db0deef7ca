"""Numerical kernels as they are written in benchmark suites: they write into their arguments.

Each is differentiated as a procedure, `sg.vjp(kernel, wrt=..., out=...)`, and compared with the
forward mode and with differences.
"""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg

RNG = np.random.default_rng(7)


def vector(n):
    return RNG.uniform(0.3, 1.2, n)


def matrix(m, n):
    return RNG.uniform(0.3, 1.2, (m, n))


def dominant(n):
    a = RNG.uniform(-0.5, 0.5, (n, n))
    return a @ a.T + n * np.eye(n)


def jacobi_1d(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def jacobi_2d(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]
        )


def seidel_2d(TSTEPS, N, A):
    for _ in range(0, TSTEPS - 1):
        for i in range(1, N - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2]
                + A[i + 1, 1:-1] + A[i + 1, 2:]
            )  # fmt: skip
            for j in range(1, N - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0


def heat_3d(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, 0:-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A[1:-1, 1:-1, 1:-1] = (
            0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
            + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
            + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, 0:-2])
            + B[1:-1, 1:-1, 1:-1]
        )


def adi(TSTEPS, N, u):
    v, p, q = np.empty(u.shape), np.empty(u.shape), np.empty(u.shape)
    a, b, c, d, e, f = -0.4, 1.8, -0.4, -0.3, 1.6, -0.3
    for _ in range(1, TSTEPS + 1):
        v[0, 1 : N - 1] = 1.0
        p[1 : N - 1, 0] = 0.0
        q[1 : N - 1, 0] = v[0, 1 : N - 1]
        for j in range(1, N - 1):
            p[1 : N - 1, j] = -c / (a * p[1 : N - 1, j - 1] + b)
            q[1 : N - 1, j] = (
                -d * u[j, 0 : N - 2] + (1.0 + 2.0 * d) * u[j, 1 : N - 1] - f * u[j, 2:N]
                - a * q[1 : N - 1, j - 1]
            ) / (a * p[1 : N - 1, j - 1] + b)  # fmt: skip
        v[N - 1, 1 : N - 1] = 1.0
        for j in range(N - 2, 0, -1):
            v[j, 1 : N - 1] = p[1 : N - 1, j] * v[j + 1, 1 : N - 1] + q[1 : N - 1, j]
        u[1 : N - 1, 0] = 1.0
        p[1 : N - 1, 0] = 0.0
        q[1 : N - 1, 0] = u[1 : N - 1, 0]
        for j in range(1, N - 1):
            p[1 : N - 1, j] = -f / (d * p[1 : N - 1, j - 1] + e)
            q[1 : N - 1, j] = (
                -a * v[0 : N - 2, j] + (1.0 + 2.0 * a) * v[1 : N - 1, j] - c * v[2:N, j]
                - d * q[1 : N - 1, j - 1]
            ) / (d * p[1 : N - 1, j - 1] + e)  # fmt: skip
        u[1 : N - 1, N - 1] = 1.0
        for j in range(N - 2, 0, -1):
            u[1 : N - 1, j] = p[1 : N - 1, j] * u[1 : N - 1, j + 1] + q[1 : N - 1, j]


def fdtd_2d(TMAX, ex, ey, hz, _fict_):
    for t in range(TMAX):
        ey[0, :] = _fict_[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def durbin(r, y):
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha


def ludcmp(A, b, x):
    n = A.shape[0]
    y = np.zeros(n)
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]


def lu(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


def cholesky(A):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def gramschmidt(A, Q, R):
    for k in range(A.shape[1]):
        nrm = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]


def trisolv(L, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def doitgen(NR, NQ, NP, A, C4):
    for r in range(NR):
        for q in range(NQ):
            total = A[r, q, :] @ C4
            A[r, q, :] = total


def doitgen_reshaped(NR, NQ, NP, A, C4):
    A[:] = np.reshape(np.reshape(A, (NR, NQ, 1, NP)) @ C4, (NR, NQ, NP))


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def correlation(M, float_n, data, corr):
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float_n) * stddev
    for i in range(M):
        corr[i, i] = 1.0
    for i in range(M - 1):
        corr[i + 1 : M, i] = corr[i, i + 1 : M] = data[:, i] @ data[:, i + 1 : M]


def covariance(M, float_n, data, cov):
    data -= np.mean(data, axis=0)
    for i in range(M):
        cov[i:M, i] = cov[i, i:M] = data[:, i] @ data[:, i:M] / (float_n - 1.0)


def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def symm(alpha, beta, C, A, B):
    temp2 = np.empty((C.shape[1],))
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp2[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp2


def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


def gesummv(alpha, beta, A, B, x, y):
    y[:] = alpha * A @ x + beta * B @ x


def atax(A, x, y):
    y[:] = (A @ x) @ A


def deriche_row(alpha, img, out):
    k = (1.0 - np.exp(-alpha)) ** 2
    y1 = np.zeros(img.shape)
    y2 = np.zeros(img.shape)
    y1[:, 0] = k * img[:, 0]
    for j in range(1, img.shape[1]):
        y1[:, j] = k * img[:, j] + np.exp(-alpha) * y1[:, j - 1]
    y2[:, -1] = 0.0
    for j in range(img.shape[1] - 2, -1, -1):
        y2[:, j] = k * img[:, j + 1] + np.exp(-alpha) * y2[:, j + 1]
    out[:] = y1 + y2


def cavity_pressure(nit, p, dx, dy, b):
    pn = np.empty_like(p)
    for _ in range(nit):
        pn[:] = p
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2.0 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2.0 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0


def triangle(n):
    return np.tril(matrix(n, n)) + n * np.eye(n)


KERNELS = {
    jacobi_1d: ((3, vector(8), vector(8)), ("A", "B"), ("A", "B")),
    jacobi_2d: ((3, matrix(5, 5), matrix(5, 5)), ("A", "B"), ("A", "B")),
    seidel_2d: ((3, 5, matrix(5, 5)), ("A",), ("A",)),
    heat_3d: ((3, RNG.random((4, 4, 4)), RNG.random((4, 4, 4))), ("A", "B"), ("A",)),
    adi: ((2, 6, matrix(6, 6)), ("u",), ("u",)),
    fdtd_2d: (
        (3, matrix(4, 5), matrix(4, 5), matrix(4, 5), vector(3)),
        ("ex", "ey", "hz", "_fict_"), ("ex", "ey", "hz"),
    ),
    durbin: ((vector(5) * 0.3, np.zeros(5)), ("r",), ("y",)),
    ludcmp: ((dominant(4), vector(4), np.zeros(4)), ("A", "b"), ("x",)),
    lu: ((dominant(4),), ("A",), ("A",)),
    cholesky: ((dominant(4),), ("A",), ("A",)),
    gramschmidt: ((dominant(4), np.zeros((4, 4)), np.zeros((4, 4))), ("A",), ("Q", "R")),
    trisolv: ((triangle(4), np.zeros(4), vector(4)), ("L", "b"), ("x",)),
    doitgen: ((2, 3, 4, RNG.random((2, 3, 4)), matrix(4, 4)), ("A", "C4"), ("A",)),
    doitgen_reshaped: ((2, 3, 4, RNG.random((2, 3, 4)), matrix(4, 4)), ("A", "C4"), ("A",)),
    floyd_warshall: ((matrix(5, 5),), ("path",), ("path",)),
    correlation: ((3, 5.0, matrix(5, 3) * 9.0, np.eye(3)), ("data",), ("corr",)),
    covariance: ((3, 5.0, matrix(5, 3), np.zeros((3, 3))), ("data",), ("cov",)),
    syrk: ((1.5, 1.2, matrix(4, 4), matrix(4, 3)), ("alpha", "beta", "C", "A"), ("C",)),
    symm: ((1.5, 1.2, matrix(3, 4), matrix(3, 3), matrix(3, 4)), ("C", "A", "B"), ("C",)),
    trmm: ((1.5, matrix(4, 4), matrix(4, 3)), ("alpha", "A", "B"), ("B",)),
    gemver: (
        (1.5, 1.2, matrix(4, 4), *(vector(4) for _ in range(8))),
        ("alpha", "A", "u1", "v2", "x", "z"), ("A", "x", "w"),
    ),
    gesummv: ((1.5, 1.2, matrix(3, 3), matrix(3, 3), vector(3), np.zeros(3)), ("A", "x"), ("y",)),
    atax: ((matrix(4, 3), vector(3), np.zeros(3)), ("A", "x"), ("y",)),
    deriche_row: ((0.25, matrix(3, 5), np.zeros((3, 5))), ("alpha", "img"), ("out",)),
    cavity_pressure: ((2, matrix(5, 5), 0.3, 0.4, matrix(5, 5)), ("p", "b"), ("p",)),
}  # fmt: skip
COMPILED = (jacobi_1d, seidel_2d, fdtd_2d, cholesky, syrk)


def names_of(f):
    return f.__code__.co_varnames[: f.__code__.co_argcount]


def arrays(values):
    return [v.copy() if isinstance(v, np.ndarray) else v for v in values]


def results(f, args, out):
    """What a call leaves in its results."""
    given = arrays(args)
    f(*given)
    return [given[names_of(f).index(name)] for name in out]


def slope(f, args, wrt, out, weights, directions):
    """The derivative of the weighted results in a direction, by extrapolated differences."""

    def at(h):
        moved = arrays(args)
        for name, d in zip(wrt, directions, strict=True):
            k = names_of(f).index(name)
            moved[k] = moved[k] + h * d
        return sum(np.sum(w * r) for w, r in zip(weights, results(f, moved, out), strict=True))

    h = 1e-4
    coarse, fine = (at(h) - at(-h)) / (2 * h), (at(h / 2) - at(-h / 2)) / h
    return (4 * fine - coarse) / 3


def dot(a, b):
    return sum(np.sum(x * y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("specialize", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize("f", KERNELS, ids=lambda f: f.__name__)
def test_kernel(f, specialize):
    args, wrt, out = KERNELS[f]
    before = arrays(args)
    rng = np.random.default_rng(3)
    weights = [rng.normal(size=np.shape(r)) for r in results(f, args, out)]
    directions = [rng.normal(size=np.shape(args[names_of(f).index(n)])) for n in wrt]
    single = len(out) == 1
    named = out[0] if single else out
    cotangent = weights[0] if single else tuple(weights)
    value, gradients = sg.vjp(f, wrt=wrt, out=named, specialize=specialize)(cotangent, *args)
    want = slope(f, args, wrt, out, weights, directions)
    assert dot(gradients, directions) == pytest.approx(want, rel=2e-6, abs=1e-9)
    for got, expected in zip([value] if single else value, results(f, args, out), strict=True):
        np.testing.assert_array_equal(got, expected)
    _, tangents = sg.jvp(f, wrt=wrt, out=named, specialize=specialize)(tuple(directions), *args)
    assert dot(weights, [tangents] if single else tangents) == pytest.approx(want, rel=2e-6)
    for a, b in zip(before, args, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("f", COMPILED, ids=lambda f: f.__name__)
def test_compiled_kernel(f):
    pytest.importorskip("numba")
    args, wrt, out = KERNELS[f]
    named = out[0] if len(out) == 1 else out
    weights = tuple(np.cos(r) for r in results(f, args, out))
    cotangent = weights[0] if len(out) == 1 else weights
    got = sg.vjp(f, wrt=wrt, out=named, backend="numba")(cotangent, *args)[1]
    want = sg.vjp(f, wrt=wrt, out=named)(cotangent, *args)[1]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def match(b1, b2):
    return 1 if b1 + b2 == 3 else 0


def nussinov(N, seq, table):
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            table[i, j] = max(table[i, j], table[i, j - 1], table[i + 1, j])
            if i < j - 1:
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + match(seq[i], seq[j]))
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


def test_integers_are_refused():
    seq = np.array([0, 3, 1, 2, 3, 0])
    table = np.zeros((7, 7), dtype=int)
    with pytest.raises(sg.SrcgradError, match="dtype int64"):
        sg.vjp(nussinov, wrt="table", out="table")(np.ones((7, 7)), 6, seq, table)
