"""Compiled forms of reductions and of their cotangents (see `overloads`).

Each is written out as a nest of loops for the number of dimensions and the axes at hand: one
function for Numba to compile, where a general one would be dozens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.runtime import support
from srcgrad.runtime.support import jit

if TYPE_CHECKING:
    from srcgrad.runtime.overloads import Overloads

_SIGNATURE = "a, axis=None, keepdims=False"
_BACK = "ct, a, axis=None, keepdims=False, where=True"
_TIES = "a, out, axis=None, keepdims=False, where=True, initial=None"
# name -> what becomes of the value s so far and a further element v, and where it starts
_STEPS: dict[str, tuple[str, Any]] = {
    "sum": ("s + v", 0),
    "prod": ("s * v", 1),
    "max": ("v if v > s or v != v else s", None),
    "min": ("v if v < s or v != v else s", None),
    "all": ("s and bool(v)", True),
    "any": ("s or bool(v)", False),
}


def reductions(o: Overloads) -> None:
    """sum, max and their like with axis and keepdims; what their cotangents become."""
    for name in _STEPS:
        o.give(getattr(jit, name), _reduction(o, name), literal=True)
    o.give(jit.mean, _mean(o), literal=True)
    for name in ("argmax", "argmin"):
        o.give(getattr(jit, name), _arg(o, name), literal=True)
    o.give(support.sum_back, _sum_back(o), literal=True)
    o.give(support.ties, _ties(o), literal=True)
    o.give(support.count, _count(o), literal=True)
    o.give(support.unbroadcast, _unbroadcast(o))
    in_place = {
        jit.add_to: "+=", jit.subtract_from: "-=", jit.multiply_by: "*=", jit.divide_by: "/=",
    }  # fmt: skip
    for fn, op in in_place.items():
        o.give(fn, _in_place(o, op))


def axes_of(o: Overloads, a: Any, axis: Any) -> tuple[int, ...] | None:
    """The axes that are named, or None when they are only known when the text runs."""
    types = o.types
    if isinstance(axis, types.Omitted):
        axis = axis.value
    if axis is None or isinstance(axis, types.NoneType):
        return tuple(range(a.ndim))
    if isinstance(axis, int):
        return (axis % a.ndim,)
    if isinstance(axis, types.IntegerLiteral):
        return (axis.literal_value % a.ndim,)
    if isinstance(axis, types.BaseTuple) and all(
        isinstance(t, types.IntegerLiteral) for t in axis
    ):
        return tuple(sorted({t.literal_value % a.ndim for t in axis}))
    return None


def flag_of(o: Overloads, t: Any) -> bool | None:
    """A literal bool; None when it is only known when the text runs."""
    if isinstance(t, bool):
        return t
    if isinstance(t, o.types.Omitted):
        return bool(t.value)
    if isinstance(t, o.types.BooleanLiteral):
        return bool(t.literal_value)
    return None


# ---- writing loops -----------------------------------------------------------------------------


def _at(ndim: int, zeros: Any = (), drop: Any = ()) -> str:
    """`[i0, 0]`: an element of the iteration; 0 on some axes, without others."""
    shown = ["0" if d in zeros else f"i{d}" for d in range(ndim) if d not in drop]
    return f"[{', '.join(shown)}]" if shown else "[()]"


def _nest(axes: Any, body: list[str], shape: str = "a.shape", indent: int = 1) -> list[str]:
    out = []
    for k, d in enumerate(axes):
        out.append("    " * (indent + k) + f"for i{d} in range({shape}[{d}]):")
    pad = "    " * (indent + len(tuple(axes)))
    return out + [pad + row for row in body]


def _shape(ndim: int, axes: Any, keep: bool) -> str:
    parts = ["1" if d in axes else f"a.shape[{d}]" for d in range(ndim) if keep or d not in axes]
    return f"({', '.join(parts)},)" if parts else "()"


def _define(signature: str, rows: list[str], **names: Any) -> Any:
    space: dict[str, Any] = {"np": np, **names}
    exec("\n".join([f"def made({signature}):", *rows, ""]), space)
    return space["made"]


# ---- reductions --------------------------------------------------------------------------------


def _reduction(o: Overloads, name: str) -> Any:
    step, start = _STEPS[name]

    def make(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        if not o.is_array(a):
            return (lambda a, axis=None, keepdims=False: a) if o.is_number(a) else None
        axes, keep = axes_of(o, a, axis), flag_of(o, keepdims)
        if axes is None or keep is None:
            return None
        return _reduced(a, axes, keep, step, _start(start, a.dtype))

    return make


def _start(start: Any, dtype: Any) -> Any:
    """The value that a reduction begins with, of the dtype that NumPy's result has."""
    if start is None or isinstance(start, bool):
        return start
    kind = np.dtype(str(dtype))
    if kind.kind in "bi":
        return np.int64(start)
    return np.uint64(start) if kind.kind == "u" else kind.type(start)


def _reduced(a: Any, axes: tuple[int, ...], keep: bool, step: str, start: Any) -> Any:
    ndim = a.ndim
    left = [d for d in range(ndim) if d not in axes]
    first = "start" if start is not None else f"a{_at(ndim, axes)}"
    empty = [] if start is not None else [
        "    if a.size == 0:",
        "        raise ValueError('zero-size array to reduction operation which has no identity')",
    ]  # fmt: skip
    take = f"v = a{_at(ndim)}"
    if not left and not keep:
        rows = [f"    s = {first}", *_nest(axes, [take, f"s = {step}"]), "    return s"]
        return _define(_SIGNATURE, [*empty, *rows], start=start)
    to = _at(ndim, axes, () if keep else axes)
    dtype = "a.dtype" if start is None else "dtype"
    rows = [*empty, f"    out = np.empty({_shape(ndim, axes, keep)}, {dtype})"]
    if not left or min(axes) > max(left):
        inner = [f"s = {first}", *_nest(axes, [take, f"s = {step}"], indent=0), f"out{to} = s"]
        rows += _nest(left, inner)
    else:  # in the order of memory
        rows += _nest(left, [f"out{to} = {first}"])
        rows += _nest(range(ndim), [f"s = out{to}", take, f"out{to} = {step}"])
    kind = np.bool_ if isinstance(start, bool) else type(start)
    return _define(_SIGNATURE, [*rows, "    return out"], start=start, dtype=kind)


def _mean(o: Overloads) -> Any:
    def make(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        if not o.is_array(a):
            return None
        axes, keep = axes_of(o, a, axis), flag_of(o, keepdims)
        if axes is None or keep is None:
            return None
        n = " * ".join(f"a.shape[{d}]" for d in axes)
        row = f"    return jit.sum(a, {axes if len(axes) < a.ndim else None}, {keep}) / ({n})"
        return _define(_SIGNATURE, [row], jit=jit)

    return make


def _arg(o: Overloads, name: str) -> Any:
    whole = getattr(np, name)
    sign = ">" if name == "argmax" else "<"

    def make(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        axes = axes_of(o, a, axis) if o.is_array(a) else None
        if axes is None or flag_of(o, keepdims) is not False:
            return None
        if len(axes) == a.ndim:
            return lambda a, axis=None, keepdims=False: whole(a)
        (d,) = axes
        to = _at(a.ndim, (), axes)
        best = _at(a.ndim).replace(f"i{d}", f"out{to}")
        test = f"if v {sign} a{best} or (v != v and a{best} == a{best}):"
        rows = [
            f"    out = np.zeros({_shape(a.ndim, axes, False)}, np.int64)",
            *_nest(range(a.ndim), [f"v = a{_at(a.ndim)}", test, f"    out{to} = i{d}"]),
            "    return out",
        ]
        return _define(_SIGNATURE, rows)

    return make


# ---- cotangents --------------------------------------------------------------------------------


def _sum_back(o: Overloads) -> Any:
    def make(ct: Any, a: Any, axis: Any = None, keepdims: Any = False, where: Any = True) -> Any:
        if flag_of(o, where) is not True:
            return None
        if not o.is_array(a):
            return lambda ct, a, axis=None, keepdims=False, where=True: ct
        if o.is_number(ct):
            return lambda ct, a, axis=None, keepdims=False, where=True: np.full(a.shape, ct)
        axes = axes_of(o, a, axis)
        if axes is None or not o.is_array(ct):
            return None
        source = _at(a.ndim, axes, () if ct.ndim == a.ndim else axes)
        rows = [
            "    out = np.empty(a.shape, ct.dtype)",
            *_nest(range(a.ndim), [f"out{_at(a.ndim)} = ct{source}"]),
            "    return out",
        ]
        return _define(_BACK, rows)

    return make


def _ties(o: Overloads) -> Any:
    def make(
        a: Any, out: Any, axis: Any = None, keepdims: Any = False, where: Any = True,
        initial: Any = None,
    ) -> Any:  # fmt: skip
        none = o.types.NoneType | o.types.Omitted | type(None)
        axes = axes_of(o, a, axis) if o.is_array(a) else None
        if axes is None or flag_of(o, where) is not True or not isinstance(initial, none):
            return None
        best = "out"
        if o.is_array(out):
            best = f"out{_at(a.ndim, axes, () if out.ndim == a.ndim else axes)}"
        n, here = f"n{_at(a.ndim, axes)}", _at(a.ndim)
        rows = [
            "    share = np.zeros(a.shape, a.dtype)",
            f"    n = np.zeros({_shape(a.ndim, axes, True)}, np.int64)",
            *_nest(range(a.ndim), [f"if a{here} == {best}:", f"    {n} += 1"]),
            *_nest(range(a.ndim), [f"if a{here} == {best}:", f"    share{here} = 1.0 / {n}"]),
            "    return share",
        ]
        return _define(_TIES, rows)

    return make


def _count(o: Overloads) -> Any:
    def make(a: Any, axis: Any = None, keepdims: Any = False, where: Any = True) -> Any:
        if flag_of(o, where) is not True:
            return None
        if not o.is_array(a):
            return lambda a, axis=None, keepdims=False, where=True: 1
        axes = axes_of(o, a, axis)
        if axes is None:
            return None
        n = " * ".join(f"a.shape[{d}]" for d in axes) or "1"
        return _define(f"{_SIGNATURE}, where=True", [f"    return {n}"])

    return make


def _unbroadcast(o: Overloads) -> Any:
    def make(ct: Any, x: Any) -> Any:
        if o.is_number(x):
            return (lambda ct, x: jit.sum(ct)) if o.is_array(ct) else (lambda ct, x: ct)
        if not o.is_array(x):
            return None
        if o.is_number(ct):
            return lambda ct, x: np.full(x.shape, ct)
        extra = ct.ndim - x.ndim
        if extra < 0:
            return lambda ct, x: np.broadcast_to(ct, x.shape).copy()
        to = ", ".join(f"i{d + extra} * m{d}" for d in range(x.ndim)) or "()"
        rows = [f"    m{d} = 0 if x.shape[{d}] == 1 else 1" for d in range(x.ndim)]
        if not extra:
            same = "ct" if ct.layout == "C" else "ct.copy()"
            rows.insert(0, f"    if ct.shape == x.shape:\n        return {same}")
        element = f"ct{_at(ct.ndim)}"
        rows += [
            "    out = np.zeros(x.shape, ct.dtype)",
            *_nest(range(ct.ndim), [f"out[{to}] += {element}"], "ct.shape"),
            "    return out",
        ]
        return _define("ct, x", rows)

    return make


def _in_place(o: Overloads, op: str) -> Any:
    def make(a: Any, g: Any) -> Any:
        if not o.is_array(a):
            return None
        if o.is_number(g):
            return _define("a, g", _nest(range(a.ndim), [f"a{_at(a.ndim)} {op} g"]))
        if not o.is_array(g) or g.ndim > a.ndim:
            return None
        extra = a.ndim - g.ndim
        rows = [
            "    if overlap(a, g):",
            "        g = g.copy()",
            *(f"    m{d} = 0 if g.shape[{d}] == 1 else 1" for d in range(g.ndim)),
            *(
                f"    if g.shape[{d}] != 1 and g.shape[{d}] != a.shape[{d + extra}]:\n"
                "        raise ValueError('operands could not be broadcast together')"
                for d in range(g.ndim)
            ),
        ]
        source = ", ".join(f"i{d + extra} * m{d}" for d in range(g.ndim)) or "()"
        rows += _nest(range(a.ndim), [f"a{_at(a.ndim)} {op} g[{source}]"])
        return _define("a, g", rows, overlap=o.overlap)

    return make
