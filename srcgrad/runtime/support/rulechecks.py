"""What stands between generated text and the derivative rules that users write.

A rule gets its cotangent read-only, and what it returns is checked against the arguments before
it is added up with anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from srcgrad.runtime.support.adjoints import Record, error, field, is_number, of_kind, zeros
from srcgrad.runtime.support.elementwise import unbroadcast


def read_only(g: Any) -> Any:
    """A cotangent as a rule gets it: an array it can't write into, a number as it is.

    >>> read_only(np.ones(2)).flags.writeable
    False
    """
    if isinstance(g, np.ndarray):
        g = g.view()
        g.flags.writeable = False
    return g


def cotangent_of(g: Any, out: Any) -> Any:
    """The cotangent of a result as its rule gets it: with the structure of the result, zeros where
    nothing comes back.

    >>> cotangent_of([None, 2.0], (np.ones(2), 3.0))
    (array([0., 0.]), 2.0)
    """
    if isinstance(out, tuple) and hasattr(out, "_fields"):
        return type(out)(*(cotangent_of(_item(g, k), v) for k, v in enumerate(out)))
    if isinstance(out, list | tuple):
        return type(out)(cotangent_of(_item(g, k), v) for k, v in enumerate(out))
    if isinstance(out, dict):
        return {k: cotangent_of(None if g is None else g.get(k), v) for k, v in out.items()}
    if g is None:
        return zeros(out)
    if isinstance(out, np.ndarray):
        return read_only(np.array(np.broadcast_to(g, out.shape)))
    return g


read_only.__srcgrad_special__ = "same"  # type: ignore[attr-defined]


def _item(g: Any, k: int) -> Any:
    return None if g is None else g[k]


def cotangents(value: Any, arguments: tuple[Any, ...], about: str, summed: bool = False) -> Any:
    """What a rule returned, checked: one cotangent for each argument, with memory of its own.

    >>> cotangents((2.0, None), (1.5, np.ones(2)), "rule r for f(x, y)")
    (2.0, array([0., 0.]))

    Arguments: what the rule returned; the arguments of the call, None for those whose cotangent
    isn't wanted; the rule, for messages; `summed` for rules that work element by element, whose
    cotangents have the shape of the result and are summed to that of the argument.
    """
    n = len(arguments)
    if n == 1 and not _is_one(value, arguments[0]):
        value = (value,)
    if not isinstance(value, tuple | list):
        _fail(about, f"it returned 1 cotangent, but the call has {n} arguments")
    if len(value) != n:
        one, many = ("", "s") if len(value) == 1 else ("s", "" if n == 1 else "s")
        _fail(about, f"it returned {len(value)} cotangent{one} for {n} argument{many}")
    return tuple(
        None if x is None else _checked(c, x, about, f"argument {k}", summed)
        for k, (c, x) in enumerate(zip(value, arguments, strict=True))
    )


def cotangent(value: Any, argument: Any, about: str, summed: bool = False) -> Any:
    """`cotangents` for a function of one argument.

    >>> cotangent((2.0,), 1.5, "rule r for f(x)")
    2.0
    """
    return cotangents(value, (argument,), about, summed)[0]


def _is_one(value: Any, x: Any) -> bool:
    """Whether the result of a rule for one argument is a tuple of one cotangent, or of a wrong
    number, rather than the cotangent itself."""
    if not isinstance(value, tuple):
        return False
    if not isinstance(x, tuple | list):
        return True
    return len(value) == 1 and (len(x) != 1 or isinstance(value[0], tuple | list | None))


def _checked(c: Any, x: Any, about: str, where: str, summed: bool) -> Any:
    if c is None:
        return zeros(x)
    if is_number(x):
        return _number(c, x, about, where, summed)
    if isinstance(x, np.ndarray):
        return _array(c, x, about, where, summed)
    if isinstance(x, list | tuple):
        if not isinstance(c, list | tuple) or len(c) != len(x):
            _fail(about, f"the cotangent of {where} must be a tuple of {len(x)}, got {_kind(c)}")
        pairs = enumerate(zip(c, x, strict=True))
        return [_checked(v, y, about, f"{where}[{k}]", summed) for k, (v, y) in pairs]
    if isinstance(x, dict):
        if not isinstance(c, dict) or set(c) - set(x):
            _fail(about, f"the cotangent of {where} must be a dict with its keys, got {_kind(c)}")
        return {k: _checked(c.get(k), y, about, f"{where}[{k!r}]", summed) for k, y in x.items()}
    like = zeros(x)
    if not isinstance(like, Record):
        return None
    for name in vars(like):
        part = _checked(field(c, name), getattr(x, name), about, f"{where}.{name}", summed)
        setattr(like, name, part)
    return like


def _number(c: Any, x: Any, about: str, where: str, summed: bool) -> Any:
    _check_dtype(c, x, about, where)
    if np.ndim(c):
        if not summed:
            _fail(
                about,
                f"the cotangent of {where} has shape {np.shape(c)}, the argument is a number",
            )
        c = np.sum(c)
    return type(x)(c)


def _array(c: Any, x: np.ndarray, about: str, where: str, summed: bool) -> Any:
    if x.dtype.kind not in "fc":
        return None
    _check_dtype(c, x, about, where)
    if np.shape(c) != x.shape:
        if not summed:
            _fail(
                about,
                f"the cotangent of {where} has shape {np.shape(c)}, the argument has {x.shape}",
            )
        c = np.broadcast_to(unbroadcast(np.asarray(c), x), x.shape)
    out = np.empty(x.shape, x.dtype)
    out[...] = c
    return out


def check_apart(out: Any, arguments: tuple[Any, ...], about: str) -> None:
    """Refuse a result that shares memory with an argument: it is written into later, and a rule
    says nothing of such a function.

    >>> check_apart(np.ones(2), (np.ones(2),), "rule r for f(x)")
    """
    mine = list(_arrays(out))
    theirs = [a for x in arguments for a in _arrays(x)]
    if any(np.may_share_memory(a, b) for a in mine for b in theirs):
        _fail(
            about,
            "the result shares memory with an argument and is written into later: let the "
            "function return a new array",
        )


def _arrays(x: Any) -> Iterator[np.ndarray]:
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, list | tuple):
        for v in x:
            yield from _arrays(v)
    elif isinstance(x, dict):
        for v in x.values():
            yield from _arrays(v)
    elif isinstance(zeros(x), Record):
        for v in vars(x).values():
            yield from _arrays(v)


def _check_dtype(c: Any, x: Any, about: str, where: str) -> None:
    kind = np.asarray(c).dtype.kind
    if kind not in "fciu":
        _fail(
            about,
            f"the cotangent of {where} is {_kind(c)}, which is not a floating number or array",
        )
    if kind == "c" and not np.iscomplexobj(x):
        _fail(
            about,
            f"the cotangent of {where} is complex, but the argument is real: take the real part",
        )


def _kind(c: Any) -> str:
    if isinstance(c, np.ndarray):
        return f"an array of dtype {c.dtype}"
    return f"a {type(c).__name__}"


def _fail(about: str, problem: str) -> NoReturn:
    raise error("RuleError", f"{about}: {problem}")


# ---- derivatives of the above, for derivatives of rules ----


def cotangents_back(ct: Any, value: Any, arguments: tuple[Any, ...]) -> Any:
    """The cotangent of `value` from those of `cotangents(value, arguments)`.

    >>> cotangents_back([3.0, None], (2.0, 4.0), (1.5, 1.0))
    [3.0, 0.0]
    """
    if len(arguments) == 1 and not _is_one(value, arguments[0]):
        return _fitted(_item(ct, 0), value)
    return [_fitted(_item(ct, k), v) for k, v in enumerate(value)]


def cotangents_again(ct: Any, value: Any, arguments: tuple[Any, ...]) -> Any:
    """`cotangents` for what has the structure of `value`: the transpose of `cotangents_back`.

    >>> cotangents_again([3.0, None], (2.0, None), (1.5, None))
    (3.0, None)
    """
    if len(arguments) == 1 and not _is_one(value, arguments[0]):
        ct = (ct,)
    return cotangents(tuple(ct), arguments, "a rule", True)


def cotangent_back(ct: Any, value: Any, argument: Any) -> Any:
    return cotangents_back((ct,), value, (argument,))


def cotangent_again(ct: Any, value: Any, argument: Any) -> Any:
    return cotangents_again(ct, value, (argument,))[0]


def _fitted(ct: Any, c: Any) -> Any:
    """The cotangent of c, which was summed or broadcast to what ct is the cotangent of."""
    if c is None:
        return None
    if ct is None:
        return zeros(c)
    if isinstance(c, tuple | list):
        return [_fitted(_item(ct, k), v) for k, v in enumerate(c)]
    if isinstance(c, dict):
        return {k: _fitted(ct.get(k), v) for k, v in c.items()}
    if np.shape(ct) == np.shape(c):
        return ct
    if np.ndim(ct) < np.ndim(c) or np.size(ct) < np.size(c):
        return np.array(np.broadcast_to(ct, np.shape(c)))
    return unbroadcast(np.asarray(ct), c)


def cotangent_of_back(ct: Any, g: Any) -> Any:
    """The cotangent of g from that of `cotangent_of(g, out)`."""
    if g is None:
        return None
    if isinstance(g, tuple | list):
        return [cotangent_of_back(_item(ct, k), v) for k, v in enumerate(g)]
    if isinstance(g, dict):
        return {k: cotangent_of_back(ct.get(k), v) for k, v in g.items()}
    return unbroadcast(ct, g) if np.shape(ct) != np.shape(g) else ct


def zero_tangent(x: Any) -> Any:
    """The tangent of an argument that is held fixed, as a forward rule gets it.

    >>> zero_tangent(3), zero_tangent((1.5, np.ones(2)))
    (0.0, (0.0, array([0., 0.])))
    """
    if isinstance(x, bool) or x is None or isinstance(x, str):
        return None
    if isinstance(x, int | float | complex | np.number):
        return 0.0
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
    if isinstance(x, list | tuple):
        return of_kind(x, map(zero_tangent, x))
    if isinstance(x, dict):
        return {k: zero_tangent(v) for k, v in x.items()}
    return zeros(x)


# ---- nested functions that are values ----


def captured(closure: Any, k: int, name: str) -> Any:
    """What a nested function captures: item k where it is written out as a tuple; of a function of
    Python the variable of that name, looked for in the functions that it captures too.

    >>> def outer(e):
    ...     return lambda g: g * e
    >>> captured(outer(3.0), 0, "e"), captured((3.0,), 0, "e")
    (3.0, 3.0)
    """
    if isinstance(closure, tuple | list):
        return closure[k]
    found = _cell(closure, name, set())
    if found is None:
        raise error("NotDifferentiable", f"{closure!r} captures nothing with the name {name}")
    return found[0]


def _cell(fn: Any, name: str, seen: set[int]) -> tuple[Any] | None:
    code = getattr(fn, "__code__", None)
    if code is None or id(fn) in seen:
        return None
    seen.add(id(fn))
    cells = dict(zip(code.co_freevars, fn.__closure__ or (), strict=True))
    if name in cells:
        return (cells[name].cell_contents,)
    for cell in cells.values():
        found = _cell(cell.cell_contents, name, seen)
        if found is not None:
            return found
    return None


def captured_back(g: Any, closure: Any, k: int) -> Any:
    """The cotangent of a nested function that is written out, from that of what it captures.

    >>> captured_back(2.0, (3.0, 1.0), 0)
    [2.0, 0.0]
    """
    if not isinstance(closure, tuple | list):
        return None
    out = zeros(closure)
    out[k] = g
    return out
