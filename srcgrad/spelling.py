"""Types as people write them: `float64[:, :]`, `int`, `(float, float64[:])`.

Owns the three spellings of a type (srcgrad's own, Python's annotations, Pythran's) and a value to
try a type with.  It must know nothing of functions.
"""

from __future__ import annotations

import ast
import re
from types import EllipsisType
from typing import Any

import numpy as np

from srcgrad.errors import ArgumentError
from srcgrad.ir import types as ty

_PLAIN: dict[str, ty.Type] = {
    "float": ty.Number(float),
    "int": ty.Number(int),
    "complex": ty.Number(complex),
    "bool": ty.Number(bool),
    "str": ty.Other(str),
    "None": ty.Literal(None),
    "True": ty.Literal(True),
    "False": ty.Literal(False),
    "?": ty.UNKNOWN,
}
_EXAMPLES = (
    "write float, int, float64[:], float32[:, :], (float, int), [float, ...] or {'k': float}"
)


# ---- reading -----------------------------------------------------------------


def parse_type(text: str) -> ty.Type:
    """The type that a text means; a dimension is `:`, or `1` where it has length one.

    >>> parse_type("float64[:, 1]")
    Array(dtype=dtype('float64'), dims=('n', '1'))
    >>> parse_type("(float, int)").items
    (Number(cls=<class 'float'>), Number(cls=<class 'int'>))

    Raises: ArgumentError when it means none.
    """
    shown = text.strip()
    if shown in _PLAIN:
        return _PLAIN[shown]
    try:
        return _type(ast.parse(_readable(shown), mode="eval").body)
    except (SyntaxError, ValueError, TypeError):
        raise ArgumentError(
            f"{shown!r} isn't a type that can be written", fixes=[_EXAMPLES]
        ) from None


def parse_types(text: str) -> dict[str, ty.Type]:
    """Types by parameter: `x=float64[:], n=int`; a colon will do for the equals sign.

    >>> sorted(parse_types("x=float64[:, :], n: int"))
    ['n', 'x']
    """
    out: dict[str, ty.Type] = {}
    for part in split(text):
        name, sign, spelled = _pair(part)
        if not sign or not name.isidentifier():
            raise ArgumentError(
                f"{part.strip()!r} isn't a parameter with its type",
                fixes=['write types="x=float64[:], n=int"'],
            )
        out[name] = parse_type(spelled)
    return out


def _pair(part: str) -> tuple[str, str, str]:
    found = re.match(r"\s*(\w+)\s*([=:])(.*)", part, re.DOTALL)
    return (found[1], found[2], found[3]) if found else (part, "", "")


def split(text: str, sign: str = ",") -> list[str]:
    """The parts of a text between commas that are in no bracket and no string.

    >>> split("x=float64[:, :], s='a,b'")
    ['x=float64[:, :]', " s='a,b'"]
    """
    parts, depth, quote = [""], 0, ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if c == sign and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += c
    return [part for part in parts if part.strip()]


def _readable(text: str) -> str:
    """`[float, ...]` and `?` are not Python's; what stands for them here is."""
    return text.replace("?", "UNKNOWN")


def _type(node: ast.expr) -> ty.Type:
    match node:
        case ast.Name("UNKNOWN"):
            return ty.UNKNOWN
        case ast.Name(id=name) if name in _PLAIN:
            return _PLAIN[name]
        case ast.Name(id=name):
            return ty.Number(_dtype(name).type)
        case ast.Constant(value) if value is None or isinstance(value, bool | str):
            return ty.Literal(value)
        case ast.Tuple(items):
            return ty.Tuple(tuple(map(_type, items)))
        case ast.List([]):
            return ty.List(None)
        case ast.List([item]) | ast.List([item, ast.Constant(value=EllipsisType())]):
            return ty.List(_type(item))
        case ast.Dict(keys, values):
            named = [
                (ast.literal_eval(k), _type(v)) for k, v in zip(keys, values, strict=True) if k
            ]
            return ty.Dict(tuple(named))
        case ast.Subscript(ast.Name(id=name), key):
            dtype = np.dtype(float) if name == "float" else _dtype(name)
            dims = key.elts if isinstance(key, ast.Tuple) else [key]
            return ty.Array(dtype, tuple(map(_dim, dims)))
    raise ValueError(ast.dump(node))


def _dim(node: ast.expr) -> str:
    match node:
        case ast.Slice(None, None, None):
            return "n"
        case ast.Constant(1):
            return "1"
        case ast.Name("UNKNOWN"):
            return "?"
    raise ValueError("a dimension is `:` or `1`")


def _dtype(name: str) -> np.dtype[Any]:
    if name not in np.sctypeDict or not re.fullmatch(r"(u?int|float|complex)\d+|bool_?", name):
        raise ValueError(name)
    return np.dtype(name)


# ---- Python's annotations ------------------------------------------------------


def hint(t: ty.Type) -> str:
    """A type as an annotation, with the usual names `np`, `npt` (numpy.typing) and `Any`.

    >>> hint(parse_type("(float64[:], int)"))
    'tuple[npt.NDArray[np.float64], int]'
    """
    match t:
        case ty.Number(cls) if cls in (float, int, complex, bool):
            return str(cls.__name__)
        case ty.Number(cls):
            return f"np.{np.dtype(cls).name.replace('bool', 'bool_')}"
        case ty.Array(dtype, _) if dtype.kind in "fciub":
            return f"npt.NDArray[np.{dtype.name.replace('bool', 'bool_')}]"
        case ty.Tuple(items, cls) if cls is tuple:
            return f"tuple[{', '.join(hint(i) for i in items) or '()'}]"
        case ty.List(item) if item is not None:
            return f"list[{hint(item)}]"
        case ty.Dict(items) if items:
            keys = _common([type(k).__name__ for k, _ in items])
            return f"dict[{keys}, {_common([hint(v) for _, v in items])}]"
        case ty.Literal(None):
            return "None"
        case ty.Literal(value):
            return type(value).__name__
        case ty.Other(cls) if cls is str:
            return "str"
        case _:
            return "Any"


def _common(hints: list[str]) -> str:
    return hints[0] if len(set(hints)) == 1 else "Any"


# ---- Pythran's -----------------------------------------------------------------


def pythran(t: ty.Type) -> str | None:
    """A type in a `#pythran export` line; None when Pythran has none for it.

    >>> pythran(parse_type("float64[:, 1]")), pythran(parse_type("[float, ...]"))
    ('float64[:,:]', 'float list')
    """
    match t:
        case ty.Number(cls):
            plain = cls in (float, int, complex, bool)
            return cls.__name__ if plain else np.dtype(cls).name
        case ty.Array(dtype, dims) if dims and dtype.kind in "fciub":
            return f"{dtype.name}[{','.join(':' * len(dims))}]"
        case ty.Tuple(items, cls) if cls is tuple and items:
            parts = [pythran(i) for i in items]
            return None if None in parts else f"({', '.join(p for p in parts if p)})"
        case ty.List(item) if item is not None:
            inner = pythran(item)
            return None if inner is None else f"{inner} list"
        case ty.Literal(bool()):
            return "bool"
        case ty.Literal(str()):
            return "str"
        case ty.Literal(None):
            return "None"
        case ty.Other(cls) if cls is str:
            return "str"
        case _:
            return None


# ---- values --------------------------------------------------------------------


def sample(t: ty.Type, rng: np.random.Generator) -> Any:
    """A value of a type to try a function with: numbers in (0.5, 1.5), whole ones 3.

    >>> sample(parse_type("float64[:, 1]"), np.random.default_rng(0)).shape
    (3, 1)

    Raises: ArgumentError when there is no telling.
    """
    match t:
        case ty.Number(cls):
            number = _numbers(np.dtype(cls), (), rng)[()]
            return number.item() if cls in (float, int, complex, bool) else number
        case ty.Array(dtype, dims):
            shape = tuple(1 if d == "1" else 3 for d in dims)
            return _numbers(dtype, shape, rng)
        case ty.Tuple(items, cls):
            made = [sample(i, rng) for i in items]
            return tuple(made) if cls is tuple else cls(*made)
        case ty.List(item):
            return [] if item is None else [sample(item, rng) for _ in range(3)]
        case ty.Dict(items) if items is not None:
            return {k: sample(v, rng) for k, v in items}
        case ty.Literal(value) | ty.Static(value):
            return value
        case ty.Object(cls, fields) if fields is not None:
            return cls(**{name: sample(v, rng) for name, v in fields})
    raise ArgumentError("there is no example value for an argument of unknown type")


def _numbers(dtype: np.dtype[Any], shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    if dtype.kind == "b":
        return np.ones(shape, bool)
    if dtype.kind in "iu":
        return np.full(shape, 3, dtype)
    values = rng.uniform(0.5, 1.5, shape)
    if dtype.kind == "c":
        values = values + 1j * rng.uniform(0.5, 1.5, shape)
    return np.asarray(values).astype(dtype)
