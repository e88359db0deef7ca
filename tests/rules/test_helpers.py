"""The helpers and short formulas of the shape, product and linear algebra rules."""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import textwrap

import numpy as np
import pytest

from srcgrad.rules import methods, products, registry, short, support_linalg, tables
from srcgrad.runtime import support

tables.load()

MODULES = (
    "shape join array_methods order pad products einsum linalg decompositions factors solves "
    "norms fourier"
).split()
FROM_SOURCE = support_linalg.FROM_SOURCE


def helpers():
    for name in MODULES:
        module = importlib.import_module(f"srcgrad.runtime.support.{name}")
        for fn in vars(module).values():
            if inspect.isfunction(fn) and fn.__module__ == module.__name__:
                yield fn


@pytest.mark.parametrize(
    "fn", [f for f in helpers() if f.__name__[0] != "_"], ids=lambda f: f.__name__
)
def test_every_helper_is_exported_and_can_be_differentiated_again(fn):
    assert getattr(support, fn.__name__) is fn
    assert (registry.lookup(fn) is None) == (fn in FROM_SOURCE)


ALLOWED = (
    ast.Assign, ast.AugAssign, ast.If, ast.For, ast.Return, ast.Raise, ast.Expr,
)  # fmt: skip
# Methods of lists, and attributes that no derivative passes through.
LIST_METHODS = {"append", "pop"}


@pytest.mark.parametrize("fn", FROM_SOURCE, ids=lambda f: f.__name__)
def test_helpers_without_a_rule_call_only_what_has_one(fn):
    definition = ast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
    names = fn.__globals__
    for node in ast.walk(definition):
        if isinstance(node, ast.stmt) and node is not definition:
            assert isinstance(node, ALLOWED), ast.unparse(node)
        if isinstance(node, ast.Call):
            text = ast.unparse(node.func)
            if text in ("range", "len", "max", "error"):
                continue
            if isinstance(node.func, ast.Attribute) and node.func.attr in LIST_METHODS:
                continue
            target = eval(text, names)
            assert registry.lookup(target) is not None or target in FROM_SOURCE, text
        assert not isinstance(node, ast.Lambda | ast.ListComp | ast.GeneratorExp), ast.unparse(
            node
        )


# ---- short formulas mean what the entry's own do ------------------------------------------


def arguments(entry, sample):
    if len(sample) == 2 and isinstance(sample[0], tuple) and isinstance(sample[1], dict):
        args, kwargs = sample
    else:
        args, kwargs = sample, {}
    bound = entry.params.bind(*args, **kwargs)
    given = set(bound.arguments)
    out = entry.target(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments), given, out


def ndims_of(env, out):
    named = (*env.items(), ("out", out))
    return {n: np.ndim(v) for n, v in named if isinstance(v, float | np.ndarray | int)}


def shortened():
    for key, mode, param in short._SHORT:
        entry = next((e for e in registry.entries() if id(e.target) == key), None)
        for k, sample in enumerate(entry.at):
            yield pytest.param(entry, mode, param, sample, id=f"{entry.name}-{mode}-{param}-{k}")


def evaluate(formula, entry, env, get):
    env = {"np": np, "math": math, "support": support, **env}
    for name, f in entry.let.items():
        env[name] = eval((get(name) or f).text, env)
    return eval(formula.text, env)


@pytest.mark.parametrize(("entry", "mode", "param", "sample"), list(shortened()))
def test_a_short_formula_means_what_the_general_one_does(entry, mode, param, sample):
    env, given, out = arguments(entry, sample)
    ndims = ndims_of(env, out)
    real = not any(np.iscomplexobj(v) for v in env.values() if isinstance(v, np.ndarray))

    def get(name):
        return short.specialised(entry, name, ndims, given, real, mode)

    found = get(param)
    if found is None or param in entry.let:
        return
    env["out"] = out
    env["g"] = np.sin(np.asarray(out) + 1.0)[()]
    if mode == "jvp":
        env[f"{param}_dot"] = np.cos(np.asarray(env[param]))[()]
    general = entry.jvps.get(param) if mode == "jvp" else entry.vjps[param]
    if real:
        expected = evaluate(general, entry, env, lambda name: None)
        np.testing.assert_allclose(evaluate(found, entry, env, get), expected, rtol=1e-12)


def test_every_short_formula_is_used_by_some_sample():
    unused = set()
    for (key, mode, param), candidates in short._SHORT.items():
        entry = next(e for e in registry.entries() if id(e.target) == key)
        if mode == "jvp" or param in entry.let:
            continue
        found = set()
        for sample in entry.at:
            env, given, out = arguments(entry, sample)
            ndims = ndims_of(env, out)
            for real in (False, True):
                found.add(short.specialised(entry, param, ndims, given, real))
        unused |= {(entry.name, c.formula.text) for c in candidates if c.formula not in found}
    assert not unused


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("ij,j->i", [(2, 3), (3,)]),
        ("i,ij,j", [(2,), (2, 3), (3,)]),
        ("ij->", [(2, 3)]),
        ("ij->i", [(2, 3)]),
        ("i,i", [(3,), (1,)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]),
        ("ii,ij->j", [(3, 3), (3, 2)]),
    ],
)
def test_einsum_written_out_is_what_the_helper_gives(text, sizes):
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=s) for s in sizes]
    g = rng.normal(size=np.shape(np.einsum(text, *arrays)))
    general = support.einsum_back(g, (text, *arrays))[1:]
    dims = [tuple("1" if n == 1 else "n" for n in s) for s in sizes]
    env = {f"x{k}": a for k, a in enumerate(arrays)} | {"g": g, "np": np, "support": support}
    for formula, expected in zip(products.einsum_partials(text, dims), general, strict=True):
        if formula is not None:
            np.testing.assert_allclose(eval(formula.text, env), expected, rtol=1e-12)
    assert (None in products.einsum_partials(text, dims)) == ("ii" in text)


# ---- conventions -----------------------------------------------------------------------------


def test_sort_shares_cotangents_among_ties():
    x = np.array([2.0, 1.0, 2.0])
    back = support.sort_back(np.array([1.0, 4.0, 8.0]), x, np.sort(x), -1)
    np.testing.assert_array_equal(back, [6.0, 1.0, 6.0])


def test_partition_follows_the_values_whatever_the_order():
    x = np.array([5.0, 3.0, 9.0, 1.0, 7.0])
    out = np.partition(x, 2)
    np.testing.assert_array_equal(support.sort_back(out * 10, x, out, -1), x * 10)


@pytest.mark.parametrize("order", [None, 1, 3, 0.5, np.inf, -np.inf, 0])
def test_the_gradient_of_a_vector_norm_at_zero_is_zero(order):
    x = np.zeros(3)
    back = support.norm_back(1.0, np.linalg.norm(x, order), x, order, None, False)
    np.testing.assert_array_equal(back, 0.0)


@pytest.mark.parametrize("order", ["fro", "nuc", 1, np.inf])
def test_the_gradient_of_a_matrix_norm_at_zero_is_finite(order):
    x = np.zeros((2, 2))
    back = support.norm_back(1.0, np.linalg.norm(x, order), x, order, None, False)
    np.testing.assert_array_equal(back, 0.0)


def test_cofactors_of_matrices_of_any_rank():
    x = np.arange(9.0).reshape(3, 3)
    expected = [
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(3)]
        for i in range(3)
    ]
    np.testing.assert_allclose(support.cofactor(x), expected, atol=1e-12)
    np.testing.assert_allclose(support.cofactor(np.zeros((2, 2))), 0.0)


def test_repeated_eigenvalues_give_the_matrix_exponential_its_derivative():
    a = np.diag([2.0, 1.0, 1.0])
    w, v = np.linalg.eigh(a)
    # u = sum(V exp(W) V^T), the sum of the entries of the matrix exponential
    one = np.ones((3, 3))
    gv = one @ v * np.exp(w) + (v * np.exp(w)).T.dot(one).T
    gw = np.exp(w) * np.einsum("ij,ik,kj->j", v, one, v)
    e = np.exp
    full = [[e(2), e(2) - e(1), e(2) - e(1)], [0, e(1), e(1)], [0, e(1), e(1)]]
    full = np.array(full)
    full[1:, 0] = full[0, 1:]
    np.testing.assert_allclose(support.eigh_back(gw, gv, w, v), full, rtol=1e-9)


def test_svd_of_an_identity_is_right_for_the_product_of_the_parts():
    u, s, vh = np.linalg.svd(np.eye(2))
    g = np.array([[1.0, 2.0], [3.0, 4.0]])  # cotangent of u @ diag(s) @ vh, which is `a` itself
    gu, gs, gvh = g @ vh.T * s, np.diag(u.T @ g @ vh.T), (u * s).T @ g
    back = support.svd_back(gu, gs, gvh, u, s, vh)
    np.testing.assert_allclose(back, g, atol=1e-12)


def test_the_polar_factor_of_an_identity():
    """u @ vh has a derivative where singular values are equal, though u and vh have none."""
    u, s, vh = np.linalg.svd(np.eye(3))
    g = np.sin(np.arange(9.0)).reshape(3, 3)
    back = support.svd_back(g @ vh.T, None, u.T @ g, u, s, vh)
    np.testing.assert_allclose(back, (g - g.T) / 2, atol=1e-12)


def test_tangents_of_undetermined_vectors_warn():
    w, v = np.linalg.eigh(np.eye(2))
    with pytest.warns(RuntimeWarning, match="not determined"):
        support.eigh_dot(np.ones((2, 2)), w, v)


def test_cotangents_that_no_matrix_function_explains_warn():
    with pytest.warns(RuntimeWarning, match="do not determine"):
        support.repeated_terms(np.array([1.0, 5.0]), np.ones((2, 2)), np.ones(2))


def test_projectors_from_a_full_svd():
    """The null space of a wide matrix is determined as a space, though its basis is not."""
    a = np.sin(np.arange(1.0, 13.0) ** 2).reshape(3, 4)
    weight = np.cos(np.arange(16.0)).reshape(4, 4)

    def value(x):
        null = np.linalg.svd(x)[2][3:]
        return np.sum(weight * (null.T @ null))

    u, s, vh = np.linalg.svd(a)
    gvh = np.zeros((4, 4))
    gvh[3:] = vh[3:] @ (weight + weight.T)
    d = np.cos(np.arange(12.0)).reshape(3, 4)
    slope = (value(a + 1e-6 * d) - value(a - 1e-6 * d)) / 2e-6
    assert np.sum(support.svd_back(None, None, gvh, u, s, vh) * d) == pytest.approx(
        slope, rel=1e-6
    )


@pytest.mark.parametrize("mode", ["maximum", "minimum", "median"])
def test_padding_that_is_not_linear_is_refused(mode):
    with pytest.raises(NotImplementedError, match=mode):
        support.pad_back(np.zeros(4), np.zeros(2), 1, mode)


def test_a_qr_with_undetermined_columns_is_refused():
    with pytest.raises(NotImplementedError, match="complete"):
        support.qr_any_back((None, None), None, np.zeros((3, 2)), "complete")


def test_an_array_of_nested_numbers_gives_cotangents_nested_as_they_were():
    back = support.array_back(np.arange(4.0).reshape(2, 2), [[1.0, 2.0], (3.0, 4.0)])
    assert back == [[0.0, 1.0], (2.0, 3.0)]


SINGLE = [
    lambda x: support.reshape_back(x, x.T, "C"),
    lambda x: support.scatter(x, support.places(x), x.shape),
    lambda x: support.concatenate_back(x, [x[:1], x[1:]], 0)[0],
    lambda x: support.sort_back(x, x, np.sort(x), -1),
    lambda x: support.pad_back(np.pad(x, 1, "mean"), x, 1, "mean"),
    lambda x: support.pad_dot(x, 1, "linear_ramp"),
    lambda x: support.matmul_back_a(x, x, x),
    lambda x: support.einsum_back(x, ("ij,jk->ik", x, x))[1],
    lambda x: support.einsum_back(np.sum(x), ("ij->", x))[1],
    lambda x: support.kron_back_a(np.kron(x, x), x, x),
    lambda x: support.cofactor(x),
    lambda x: support.cofactor_dot(x, x),
    lambda x: support.cholesky_back(x, np.linalg.cholesky(x @ x.T), False),
    lambda x: support.eigh_back(None, x, *np.linalg.eigh(x + x.T)),
    lambda x: support.svd_back(x, None, x, *np.linalg.svd(x)),
    lambda x: support.qr_back(x, x, *np.linalg.qr(x), x),
    lambda x: support.pinv_back(x, x, x),
    lambda x: support.lstsq_back(x, None, None, x, x, x, None)[0],
    lambda x: support.norm_back(np.float32(1), np.linalg.norm(x, 3, 1, True), x, 3, 1, True),
    lambda x: support.norm_back(np.float32(1), np.linalg.norm(x, 2), x, 2, None, False),
    lambda x: support.norm_back(np.float32(1), np.linalg.norm(x, 1), x, 1, None, False),
    lambda x: support.matrix_power_back(x, x, 3),
    lambda x: support.trace_back(np.float32(1), x, 0, 0, 1),
    lambda x: support.slogdet_back(None, np.float32(1), np.float32(1), x),
    lambda x: support.unique_back(np.unique(x), x),
    lambda x: support.meshgrid_back(np.meshgrid(x[0], x[1]), (x[0], x[1]), "xy")[0],
]  # fmt: skip

if np.fft.rfft(np.ones(2, np.float32)).dtype == np.complex64:  # NumPy 1 transforms doubles
    SINGLE += [
        lambda x: support.rfft_back(np.fft.rfft(x), x, None, -1, None),
        lambda x: support.irfft_back(np.fft.irfft(x), x, -1, None),
    ]


@pytest.mark.parametrize("k", range(len(SINGLE)))
def test_float32_stays_float32(k):
    x = np.array([[1.5, 0.25, 0.5], [0.3, 2.0, -0.7], [0.1, 0.6, 1.25]], np.float32)
    assert SINGLE[k](x).dtype == np.float32


# ---- methods ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(methods.METHODS))
def test_a_method_is_the_function_the_table_says(name):
    method = methods.METHODS[name]
    entry = registry.lookup(method.target)
    assert entry is not None
    if entry.params is not None:
        assert next(iter(entry.params.parameters)) == method.first
    x = np.array([[0.5, -1.2], [2.0, 0.7]])
    if method.target is support.property_of or name == "__copy__":
        return
    args = {
        "reshape": (4, 1), "transpose": (1, 0), "swapaxes": (0, 1), "astype": (float,),
        "take": ([0, 2],), "repeat": (2,), "compress": ([True, False],), "item": (1,),
        "clip": (0.0, 1.0), "dot": (x,), "argpartition": (0,), "searchsorted": (0.3,),
        "choose": ([x, x],),
    }.get(name, ())  # fmt: skip
    receiver = np.array([0.1, 0.5]) if name == "searchsorted" else x
    receiver = np.array([[0, 1], [1, 0]]) if name == "choose" else receiver
    found = getattr(receiver, name)
    found = found if method.attr else found(*args)
    given = (args,) if method.pack and len(args) > 1 else args
    np.testing.assert_equal(np.asarray(found), np.asarray(method.target(receiver, *given)))


def test_methods_that_write_are_not_read_only():
    assert not methods.INPLACE_METHODS & methods.READ_ONLY_METHODS
    assert not methods.INPLACE_METHODS & set(methods.METHODS)
    x = np.array([3.0, 1.0, 2.0])
    for name in set(methods.METHODS) & methods.READ_ONLY_METHODS - {"choose"}:
        assert hasattr(x, name), name
