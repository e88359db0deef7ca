"""The types that probing finds, against the types of real results."""

from __future__ import annotations

import dataclasses
import math
import typing

import numpy as np
import numpy.typing as npt
import pytest

from srcgrad.analysis.signature import signature_key, types_of_key
from srcgrad.analysis.types import probe
from srcgrad.analysis.types.probe import (
    Known,
    attr_type,
    from_annotation,
    index_type,
    method_type,
    op_type,
    result_type,
    type_of,
)
from srcgrad.ir.types import (
    UNKNOWN,
    Array,
    Dict,
    List,
    Literal,
    Number,
    Object,
    Other,
    Static,
    Tuple,
)
from srcgrad.rules.versions import NUMPY_2

F8, F4, I8, C16, B = (np.dtype(c) for c in ("f8", "f4", "i8", "c16", "?"))
FLOAT, INT, F64 = Number(float), Number(int), Number(np.float64)


def arr(*dims, dtype=F8):
    return Array(dtype, dims)


BEFORE_2_5 = tuple(map(int, np.__version__.split(".")[:2])) < (2, 5)
V, M, ONE, ANY = arr("n"), arr("n", "n"), arr("1"), arr("?")


@dataclasses.dataclass
class Params:
    rate: float
    start: npt.NDArray[np.float64]


class Pair(typing.NamedTuple):
    a: float
    b: float


CALLS = [
    (np.sin, (V,), {}, V),
    (np.sin, (arr(),), {}, F64),
    (np.sin, (FLOAT,), {}, F64),
    (np.sin, (INT,), {}, F64),
    (math.acosh, (FLOAT,), {}, FLOAT),
    (math.atanh, (FLOAT,), {}, FLOAT),
    (math.floor, (FLOAT,), {}, INT),
    (np.add, (V, ONE), {}, V),
    (np.add, (ANY, ONE), {}, ANY),
    (np.add, (V, ANY), {}, V),
    (np.add, (arr("n", dtype=F4), F64), {}, V if NUMPY_2 else arr("n", dtype=F4)),
    (np.add, (arr("n", dtype=F4), FLOAT), {}, arr("n", dtype=F4)),
    (np.sum, (M,), {}, F64),
    (np.sum, (M,), {"axis": Known(0)}, V),
    (np.sum, (M,), {"axis": Known(0), "keepdims": Known(True)}, arr("1", "n")),
    (np.sum, (M,), {"axis": INT}, V),
    (np.sum, (arr("1", "n"),), {"axis": INT}, ANY),
    (np.squeeze, (arr("n", "1"),), {}, V),
    (np.squeeze, (arr("n", "?"),), {}, UNKNOWN),
    (np.asarray, (FLOAT,), {}, arr()),
    (np.where, (Number(np.bool_), FLOAT, FLOAT), {}, arr()),
    (np.where, (arr("n", dtype=B),), {}, Tuple((arr("?", dtype=I8),))),
    (np.dot, (M, V), {}, V),
    (np.dot, (V, V), {}, F64),
    (np.linalg.cholesky, (M,), {}, M),
    (np.linalg.solve, (M, V), {}, V),
    (np.linalg.inv, (M,), {}, M),
    (np.linalg.eigvals, (M,), {}, UNKNOWN),
    (np.linalg.norm, (V,), {}, F64),
    (np.stack, (List(V),), {}, arr("?", "n")),
    (np.stack, (Tuple((V, V)),), {}, M),
    (np.array, (Tuple((FLOAT, INT)),), {}, V),
    (np.array, (List(FLOAT),), {}, ANY),
    (np.concatenate, ((V, V),), {}, V),
    (np.concatenate, ((ONE, V),), {}, ANY),  # n may be none
    (np.append, (V, FLOAT), {}, ANY),
    (np.diff, (V,), {}, ANY),
    (np.convolve, (V, V), {}, V),
    (np.convolve, (V, V, Known("valid")), {}, ANY),
    (np.zeros, (INT,), {}, ANY),
    (np.zeros, (Known(1),), {}, ONE),
    (np.zeros, (Known(10**9),), {}, V),
    (np.ones, (Known((2, 1)),), {"dtype": Static(np.float32)}, arr("n", "1", dtype=F4)),
    (np.zeros, ((INT, Known(1)),), {}, arr("?", "1")),
    (np.zeros_like, (arr("1", "n", dtype=F4),), {}, arr("1", "n", dtype=F4)),
    (np.arange, (INT, INT), {}, arr("?", dtype=I8)),
    (np.linspace, (FLOAT, FLOAT, INT), {}, ANY),
    (np.linspace, (FLOAT, FLOAT, Known(101)), {}, V),
    (np.reshape, (V, (INT, Known(3))), {}, arr("?", "n")),
    (np.reshape, (M, Known(-1)), {}, V),
    (np.broadcast_to, (V, (Known(3), INT)), {}, arr("n", "?")),
    (np.split, (V, Known(3)), {}, List(ANY)),
    (np.unique, (V,), {}, ANY),
    (np.take_along_axis, (M, arr("n", "n", dtype=I8), Known(0)), {}, M),
    (np.take, (V, INT), {}, F64),
    # Before NumPy 2.5: of two numbers each, or of three.
    (np.cross, (V, V), {}, UNKNOWN if BEFORE_2_5 else ANY),
    (np.gradient, (V,), {}, V),
    (np.interp, (V, ANY, ANY), {}, V),
    (np.fft.rfft, (V,), {}, arr("n", dtype=C16)),
    (np.einsum, (Known("ij,jk->ik"), M, M), {}, M),
    (np.sin, (UNKNOWN,), {}, UNKNOWN),
    (np.sin, (Other(str),), {}, UNKNOWN),
    (np.sin, (V, V, V, V), {}, UNKNOWN),
    (np.reshape, (), {}, UNKNOWN),
    (len, (V,), {}, INT),
    (max, (FLOAT, INT), {}, UNKNOWN),  # the larger one: a float or an int
    (max, (FLOAT, Known(0.0)), {}, FLOAT),
    (min, (List(INT),), {}, INT),
    (sum, (List(FLOAT),), {}, FLOAT),
    (np.add, (V, V), {"out": V}, V),
]


def _id(value):
    return getattr(value, "__name__", "") if callable(value) else ""


@pytest.mark.parametrize(("fn", "args", "kwargs", "expected"), CALLS, ids=_id)
def test_result(fn, args, kwargs, expected):
    assert result_type(fn, args, kwargs) == expected
    assert result_type(fn, args, kwargs) == expected  # from the memo


def test_result_moves_no_generator_and_sample_is_not_written():
    assert result_type(np.ndarray.sort, (V,)) == Literal(None)
    assert result_type(np.ndarray.resize, (V, Known((9,)))) == UNKNOWN
    assert result_type(np.sort, (V,)) == V


def test_known_values_are_told_apart_by_class():
    probe._MEMO.clear()
    assert result_type(operator_add, (INT, Known(1))) == INT
    assert result_type(operator_add, (INT, Known(1.0))) == FLOAT


def operator_add(a, b):
    return a + b


def test_eigh_keeps_its_named_tuple():
    got = result_type(np.linalg.eigh, (M,))
    assert isinstance(got, Tuple)
    assert got.items == (V, M)
    assert attr_type(got, "eigenvalues") == V


@pytest.mark.parametrize(
    ("op", "args", "expected"),
    [
        ("add", (V, FLOAT), V),
        ("add", (arr("n", dtype=F4), FLOAT), arr("n", dtype=F4)),
        ("mul", (FLOAT, INT), FLOAT),
        ("truediv", (INT, INT), FLOAT),
        ("pow", (INT, INT), UNKNOWN),
        ("pow", (INT, Known(2)), INT),
        ("pow", (INT, Known(-1)), FLOAT),
        ("pow", (FLOAT, Known(2)), FLOAT),
        ("matmul", (V, V), F64),
        ("matmul", (M, V), V),
        ("lt", (FLOAT, FLOAT), Number(bool)),
        ("lt", (V, FLOAT), arr("n", dtype=B)),
        ("lt", (F64, FLOAT), Number(np.bool_)),
        ("neg", (ONE,), ONE),
        ("not", (V,), Number(bool)),
        ("in", (INT, List(INT)), Number(bool)),
        ("add", (Tuple((FLOAT,)), Tuple((V,))), Tuple((FLOAT, V))),
        ("add", (List(FLOAT), List(None)), List(FLOAT)),
        ("mul", (List(FLOAT), INT), List(FLOAT)),
        ("add", (V, Literal(None)), UNKNOWN),
    ],
)
def test_op(op, args, expected):
    assert op_type(op, args) == expected


FULL = slice(None)
I1 = arr("n", dtype=I8)
MASK = arr("n", dtype=B)


@pytest.mark.parametrize(
    ("obj", "key", "expected"),
    [
        (V, INT, F64),
        (M, INT, V),
        (M, (INT, Known(0)), F64),
        (M, (FULL, INT), V),
        (M, slice(Known(1), None), arr("?", "n")),
        (V, slice(None, None, Known(-1)), V),
        (V, slice(None, None, Known(2)), ANY),
        (ONE, slice(Known(1), None), ANY),
        (V, (FULL, Known(None)), arr("n", "1")),
        (V, (Known(...), INT), arr()),
        (M, (Known(...), INT), V),
        (V, I1, V),
        (M, I1, M),
        (M, (I1, I1), V),
        (M, (FULL, I1), M),
        (V, MASK, ANY),
        (M, arr("n", "n", dtype=B), ANY),
        (V, List(INT), ANY),
        (V, arr(dtype=I8), F64),
        (arr("n", "1", "n"), (INT, FULL, I1), arr("n", "1")),
        (arr("n", "1", "n"), (FULL, INT, I1), arr("n", "n")),
        (V, FLOAT, UNKNOWN),
        (V, (INT, INT), UNKNOWN),
        (V, UNKNOWN, UNKNOWN),
        (arr("n", dtype=np.dtype(object)), INT, UNKNOWN),
        (Tuple((FLOAT, V)), Known(1), V),
        (Tuple((FLOAT, V)), Known(-1), V),
        (Tuple((FLOAT, V)), Known(5), UNKNOWN),
        (Tuple((FLOAT, F64)), INT, F64),
        (Tuple((FLOAT, V, M)), slice(Known(1), None), Tuple((V, M))),
        (List(V), INT, V),
        (List(V), FULL, List(V)),
        (List(None), INT, UNKNOWN),
        (Dict((("a", FLOAT), ("b", V))), Known("b"), V),
        (Dict((("a", FLOAT), ("b", V))), Literal("b"), V),
        (Dict((("a", FLOAT), ("b", V))), Other(str), UNKNOWN),
        (Dict((("a", V), ("b", V))), Other(str), V),
        (Dict(None), Known("b"), UNKNOWN),
    ],
)
def test_index(obj, key, expected):
    assert index_type(obj, key) == expected


def test_index_agrees_with_numpy():
    """Basic and advanced keys on arrays with lengths 1, 4 and 5."""
    values = [0, np.int64(0), FULL, None, ..., np.array([0, 0]), np.array([0]), np.array(0)]
    for shape in ((4,), (1,), (4, 1), (4, 5), (1, 4, 5)):
        x = np.zeros(shape)
        for a in values:
            for key in [
                a,
                *((a, b) for b in values),
                *((a, b, c) for b in values for c in values),
            ]:
                check_index(x, key)


def check_index(x, key):
    parts = key if isinstance(key, tuple) else (key,)
    types = tuple(type_of(p) if isinstance(p, np.ndarray) else Known(p) for p in parts)
    got = index_type(type_of(x), types if isinstance(key, tuple) else types[0])
    try:
        expected = type_of(x[key])
    except IndexError:
        assert got == UNKNOWN
        return
    assert got == expected, (x.shape, key)


@pytest.mark.parametrize(
    ("obj", "name", "expected"),
    [
        (M, "shape", Tuple((INT, INT))),
        (arr("n", "1"), "T", arr("1", "n")),
        (M, "ndim", INT),
        (M, "dtype", Other(np.dtype)),
        (arr("n", dtype=C16), "real", V),
        (FLOAT, "real", FLOAT),
        (M, "flat", UNKNOWN),
        (M, "sum", UNKNOWN),
        (Object(Params, (("rate", FLOAT),)), "rate", FLOAT),
        (Object(Params), "rate", UNKNOWN),
    ],
)
def test_attr(obj, name, expected):
    assert attr_type(obj, name) == expected


@pytest.mark.parametrize(
    ("obj", "name", "args", "expected"),
    [
        (M, "sum", (Known(0),), V),
        (M, "copy", (), M),
        (M, "reshape", (Known(-1),), V),
        (M, "reshape", (INT, Known(1)), arr("?", "1")),
        (M, "ravel", (), V),
        (M, "astype", (Static(np.float32),), arr("n", "n", dtype=F4)),
        (V, "fill", (FLOAT,), Literal(None)),
        (V, "tolist", (), List(FLOAT)),
        (V, "item", (), FLOAT),
        (M, "no_such_method", (), UNKNOWN),
        (List(FLOAT), "append", (FLOAT,), Literal(None)),
        (List(FLOAT), "pop", (), FLOAT),
        (Dict((("a", FLOAT),)), "get", (Known("a"),), FLOAT),
        (Literal("ab"), "upper", (), Other(str)),
    ],
)
def test_method(obj, name, args, expected):
    assert method_type(obj, name, args) == expected


class Sub(np.ndarray):
    pass


VALUES = [
    (1.0, FLOAT),
    (2, INT),
    (np.float32(1), Number(np.float32)),
    (np.True_, Number(np.bool_)),
    (True, Literal(True)),
    (None, Literal(None)),
    ("a", Literal("a")),
    (np.zeros((1, 3)), arr("1", "n")),
    (np.zeros(0), V),
    (np.array(1.0), arr()),
    (np.zeros(2).view(Sub), Object(Sub)),
    ((1.0, (2,)), Tuple((FLOAT, Tuple((INT,))))),
    (Pair(1.0, 2.0), Tuple((FLOAT, FLOAT), Pair)),
    ([], List(None)),
    ([1.0, 2], List(FLOAT)),
    ([True, True], List(Number(bool))),
    ({"a": 1.0}, Dict((("a", FLOAT),))),
    ({(1, 2): 1.0}, Dict(None)),
    (math.sin, Static(math.sin)),
    (float, Static(float)),
    (np, Static(np)),
    (Params(1.0, np.zeros(2)), Object(Params, (("rate", FLOAT), ("start", V)))),
    (slice(1), Other(slice)),
    (np.dtype(float), Other(np.dtype)),
    (object(), Object(object)),
]


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=lambda v: type(v).__name__)
def test_type_of_and_key(value, expected):
    assert type_of(value) == expected
    key = signature_key((value,), {"k": value})
    hash(key)
    assert types_of_key(key) == ((expected,), {"k": expected})


def test_key_tells_values_apart_only_where_types_differ():
    def f():
        pass

    distinct = [
        *(v for v, _ in VALUES),
        np.zeros(3, np.float32),
        np.zeros((3, 1)),
        np.zeros((3, 3)),
        1j,
        False,
        "b",
        f,
    ]
    keys = [signature_key((v,)) for v in distinct]
    assert len(set(keys)) == len(keys)
    assert signature_key((np.zeros((3, 4)), 1, 2.0)) == signature_key((np.ones((7, 2)), 5, 0.0))
    assert signature_key((1.0,), {"a": 1, "b": 2.0}) == signature_key((1.0,), {"b": 1.0, "a": 2})
    assert signature_key(([1.0] * 3,)) == signature_key(([2.0] * 5,))


def test_bound_methods_have_one_key():
    p = Pair(1.0, 2.0)
    assert signature_key((p.count,)) == signature_key((p.count,))
    assert signature_key((p.count,)) != signature_key((p.index,))


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (float, FLOAT),
        (bool, Number(bool)),
        (np.float32, Number(np.float32)),
        (np.floating, None),
        (npt.NDArray[np.float64], None),
        (tuple[float, int], Tuple((FLOAT, INT))),
        (tuple[float, ...], None),
        (list[float], List(FLOAT)),
        (dict[str, float], Dict(None)),
        (typing.Annotated[float, "unit"], FLOAT),
        (float | None, None),
        (Pair, Tuple((FLOAT, FLOAT), Pair)),
        (Params, None),
        (None, Literal(None)),
        ("float", None),
    ],
    ids=str,
)
def test_annotation(annotation, expected):
    assert from_annotation(annotation) == expected


@pytest.mark.parametrize(
    ("shape", "dims"), [("n 3", ("n", "n")), ("1 k", ("1", "n")), ("", ()), ("*b n", None)]
)
def test_annotation_shaped(shape, dims):
    class Float64:
        dim_str = shape
        dtypes = ("float64",)

    assert from_annotation(Float64) == (None if dims is None else arr(*dims))
