"""The types of results of library functions, found by running them.

A function is run on small well-conditioned samples of its arguments' types, with two sizes; where
the runs disagree the result is unknown.  Whoever asks has made sure that the function is pure.
"""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from srcgrad.analysis.types import stated
from srcgrad.analysis.types.indices import broadcast, index_type
from srcgrad.analysis.types.samples import Arg, Known, Maker, NoSample, Traits, traits
from srcgrad.analysis.types.typeof import from_annotation, is_namedtuple, is_static, type_of
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
    Type,
    Unknown,
    join,
)
from srcgrad.rules import registry

__all__ = [
    "Arg",
    "Known",
    "attr_type",
    "broadcast",
    "from_annotation",
    "index_type",
    "method_type",
    "op_type",
    "result_type",
    "type_of",
]

_MEMO: dict[Any, tuple[Any, Type]] = {}  # the function is kept: its id is part of the key
_PLANS = ((2, 3), (6, 12), (3, 3))  # pairs of sizes; the first that the function accepts
_BASES = ((0.6, False), (1.7, True))  # values to try, and whether integer arrays are zeros


def result_type(fn: Any, args: Sequence[Arg], kwargs: Mapping[str, Arg] | None = None) -> Type:
    """The type of `fn(*args, **kwargs)` for arguments of these types, or known to be these.

    Example:
        >>> x = Array(np.dtype(float), ("n", "n"))
        >>> result_type(np.sum, (x,), {"axis": Known(0)})
        Array(dtype=dtype('float64'), dims=('n',))
        >>> result_type(np.sum, (x,))
        Number(cls=<class 'numpy.float64'>)
    """
    kwargs = kwargs or {}
    key = (id(fn), tuple(args), tuple(kwargs.items()))
    try:
        hit = _MEMO.get(key)
    except TypeError:  # an argument that can't be hashed
        return _result_type(fn, args, kwargs)
    if hit is None:
        hit = _MEMO[key] = (fn, _result_type(fn, args, kwargs))
    return hit[1]


def _result_type(fn: Any, args: Sequence[Arg], kwargs: Mapping[str, Arg]) -> Type:
    entry = registry.lookup(fn)
    say = entry.result if entry is not None else None
    say = say or _stated(fn)
    if say is not None:
        try:
            result: Type = say(*args, **kwargs)
        except TypeError:  # a call that does not fit the function
            return UNKNOWN
        return result
    by_value = stated.depends_on_values(fn)
    if by_value == "dtype" or any(map(_is_unknown, (*args, *kwargs.values()))):
        return UNKNOWN
    if fn is np.where and len(args) == 1:
        by_value = "length"
    result = _probe(fn, args, kwargs)
    return _blur(result) if by_value == "length" else result


def _stated(fn: Any) -> Callable[..., Type] | None:
    try:
        return stated.STATED.get(fn)
    except TypeError:
        return None


def _is_unknown(arg: Any) -> bool:
    return isinstance(arg, Unknown) or (isinstance(arg, tuple) and any(map(_is_unknown, arg)))


def _blur(t: Type) -> Type:
    """The type with every dimension unknown."""
    match t:
        case Array(dtype, dims):
            return Array(dtype, ("?",) * len(dims))
        case Tuple(items, cls):
            return Tuple(tuple(map(_blur, items)), cls)
        case List(item) if item is not None:
            return List(_blur(item))
        case _:
            return t


# ---- running -----------------------------------------------------------------


class _Disagree(Exception):
    """Two runs gave results of different structure or class."""


def _probe(fn: Any, args: Sequence[Arg], kwargs: Mapping[str, Arg]) -> Type:
    found = traits((*args, *kwargs.values()), Traits())
    writes = "out" in kwargs

    def run(maker: Maker) -> Any:
        maker.copies = writes
        values = [maker(a) for a in args]
        named = {k: maker(v) for k, v in kwargs.items()}
        return fn(*values, **named)

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pair = _two_runs(run, found)
            if pair is None:
                return UNKNOWN
            maker, results, exact = pair
            return _settle(run, maker, results, found, exact, isinstance(fn, np.ufunc))
        except (_Disagree, NoSample):
            return UNKNOWN


Run = Callable[[Maker], Any]


def _attempt(run: Run, maker: Maker) -> tuple[Any] | None:
    try:
        return (run(maker),)
    except NoSample:
        raise
    except Exception:  # whatever the function does not like about its sample
        return None


def _two_runs(run: Run, found: Traits) -> tuple[Maker, list[Any], bool] | None:
    """The results for two sizes, and whether the sizes were the usual ones."""
    plans = _PLANS if found.variable else _PLANS[:1]
    for small, large in plans:
        for base, zeros in _BASES:
            first = Maker(small, small, 2, 1, base=base, zeros=zeros)
            a = _attempt(run, first)
            if a is None:
                continue
            for ints in (2, 0) if found.ints else (2,):
                second = Maker(large, large, 3, ints, base=base, zeros=zeros, flag=False)
                b = _attempt(run, second)
                if b is not None:
                    return first, [a[0], b[0]], small == 2
    return None


def _settle(
    run: Run, maker: Maker, results: list[Any], found: Traits, exact: bool, ufunc: bool
) -> Type:
    """More runs, as far as needed, to tell dimensions apart; then the type."""
    blur = not exact
    if found.unsure:
        blur |= not _more(run, maker.again(n=3, q=1, length=1), results)
    if not ufunc and _has_dims(results[0]):
        if found.ints:
            blur |= _ints_matter(run, maker, results)
        if found.variable > 1:
            _more(run, maker.again(n=3, q=3, apart=True), results)
        if found.variable:
            _empty(run, maker.again(n=0, q=0), results)
    result = _merge(results)
    return _blur_open(result) if blur else result


def _more(run: Run, maker: Maker, results: list[Any]) -> bool:
    got = _attempt(run, maker)
    if got is not None:
        results.append(got[0])
    return got is not None


def _ints_matter(run: Run, maker: Maker, results: list[Any]) -> bool:
    """Whether other ints, with the sizes of the first run, change the shape of the result."""
    for other in (maker.again(distinct=True), maker.again(ints=2), maker.again(ints=0)):
        if _more(run, other, results):
            return bool(_shapes(results[-1]) != _shapes(results[0]))
    return True  # nothing but the first value was accepted


def _empty(run: Run, maker: Maker, results: list[Any]) -> None:
    """A run with no elements: appending one to none gives one."""
    got = _attempt(run, maker)
    if got is not None:
        try:
            _merge([results[0], got[0]])
        except _Disagree:
            return
        results.append(got[0])


def _shapes(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape
    return list(map(_shapes, value)) if isinstance(value, tuple | list) else None


def _has_dims(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_has_dims, value))
    return isinstance(value, np.ndarray) and value.ndim > 0


def _blur_open(t: Type) -> Type:
    """The type with every dimension that is not one unknown."""
    match t:
        case Array(dtype, dims):
            return Array(dtype, tuple("1" if d == "1" else "?" for d in dims))
        case Tuple(items, cls):
            return Tuple(tuple(map(_blur_open, items)), cls)
        case List(item) if item is not None:
            return List(_blur_open(item))
        case _:
            return t


# ---- from the results of several runs to a type ------------------------------


def _merge(values: Sequence[Any]) -> Type:
    """The type that all these results have."""
    cls = type(values[0])
    if any(type(v) is not cls for v in values):
        kinds = [type_of(v) for v in values]
        if all(isinstance(k, Number) for k in kinds):
            return functools.reduce(join, kinds)  # `max(x, 0.0)`: a number of either class
        raise _Disagree
    if cls is np.ndarray:
        return _merge_arrays(values)
    if cls is tuple or is_namedtuple(cls):
        if len({len(v) for v in values}) > 1:
            raise _Disagree
        return Tuple(tuple(map(_merge, zip(*values, strict=True))), cls)
    if cls is list:
        return _merge_lists(values)
    if cls is dict:
        return _merge_dicts(values)
    return _merge_others(values, cls)


def _merge_arrays(values: Sequence[Any]) -> Type:
    if len({(v.dtype, v.ndim) for v in values}) > 1:
        raise _Disagree
    return Array(values[0].dtype, tuple(map(_dim, zip(*(v.shape for v in values), strict=True))))


def _dim(lengths: tuple[int, ...]) -> str:
    ones = lengths.count(1)
    return "1" if ones == len(lengths) else "?" if ones else "n"


def _merge_lists(values: Sequence[Any]) -> Type:
    columns = [[v[i] for v in values if i < len(v)] for i in range(max(map(len, values)))]
    return List(functools.reduce(join, map(_merge, columns)) if columns else None)


def _merge_dicts(values: Sequence[Any]) -> Type:
    keys = list(values[0])
    if any(list(v) != keys for v in values):
        return Dict(None)
    return Dict(tuple((k, _merge([v[k] for v in values])) for k in keys))


def _merge_others(values: Sequence[Any], cls: type) -> Type:
    if cls is bool:
        return Number(bool)
    if cls is str:
        return Other(str)
    t = type_of(values[0])
    if isinstance(t, Number | Other) or values[0] is None:
        return t
    same = all(v is values[0] for v in values)
    return t if isinstance(t, Static) and same and is_static(t.value) else UNKNOWN


# ---- operators, attributes, methods ------------------------------------------

_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "pos": operator.pos,
    "invert": operator.invert,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "matmul": operator.matmul,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_TRUTH = frozenset(("not", "is", "is_not", "in", "not_in"))


def op_type(op: str, args: Sequence[Arg]) -> Type:
    """The type of an operator of the intermediate representation applied to these.

    Example:
        >>> op_type("mul", (Array(np.dtype(np.float32), ("n",)), Number(float)))
        Array(dtype=dtype('float32'), dims=('n',))
        >>> op_type("truediv", (Number(int), Number(int)))
        Number(cls=<class 'float'>)
    """
    if op in _TRUTH:
        return Number(bool)
    if op == "pow" and not _settled_power(*args):
        return UNKNOWN
    fn = _OPERATORS.get(op)
    return UNKNOWN if fn is None else result_type(fn, args)


def _settled_power(base: Arg, exponent: Arg) -> bool:
    """An int to the power of an int is a float when the exponent is negative."""
    if not _python_int(base) or not _python_int(exponent):
        return True
    return isinstance(exponent, Known)


def _python_int(arg: Arg) -> bool:
    if isinstance(arg, Known):
        return type(arg.value) in (int, bool)
    return isinstance(arg, Number) and arg.cls in (int, bool)


def attr_type(obj: Type, name: str) -> Type:
    """The type of `obj.name`.

    Example:
        >>> attr_type(Array(np.dtype(complex), ("n", "1")), "T").dims
        ('1', 'n')
    """
    match obj:
        case Array() | Number() | Other():
            return result_type(_getter(name), (obj,))
        case Tuple(items, cls) if is_namedtuple(cls):
            names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
            return items[names.index(name)] if name in names else UNKNOWN
        case Object(_, fields) if fields is not None:
            return dict(fields).get(name, UNKNOWN)
        case _:
            return UNKNOWN


@functools.cache
def _getter(name: str) -> Callable[[Any], Any]:
    return operator.attrgetter(name)


_CONTAINER_NOTHING = frozenset(
    ("append", "extend", "insert", "remove", "clear", "reverse", "sort", "update")
)


def method_type(
    obj: Type, name: str, args: Sequence[Arg], kwargs: Mapping[str, Arg] | None = None
) -> Type:
    """The type of `obj.name(*args, **kwargs)`.

    Example:
        >>> x = Array(np.dtype(float), ("n", "1"))
        >>> method_type(x, "sum", (), {"axis": Known(1)}).dims
        ('n',)
    """
    match obj:
        case Array():
            fn = getattr(np.ndarray, name, None)
        case Number(cls):
            fn = getattr(cls, name, None)
        case List() | Dict():
            return _container_method(obj, name, args)
        case Tuple() if name in ("index", "count"):
            return Number(int)
        case Literal(str()):
            fn = getattr(str, name, None)
        case Other(cls) if cls is str:
            fn = getattr(str, name, None)
        case _:
            return UNKNOWN
    return UNKNOWN if fn is None else result_type(fn, (obj, *args), kwargs)


def _container_method(obj: List | Dict, name: str, args: Sequence[Arg]) -> Type:
    if name in _CONTAINER_NOTHING:
        return Literal(None)
    if name == "copy":
        return obj
    if isinstance(obj, List):
        if name in ("index", "count"):
            return Number(int)
        return obj.item if name == "pop" and obj.item is not None else UNKNOWN
    if name == "pop" and len(args) == 1:
        return index_type(obj, args[0])
    if name == "get" and args:
        found = index_type(obj, args[0])
        return found if len(args) == 1 or found == args[1] else UNKNOWN
    return UNKNOWN
