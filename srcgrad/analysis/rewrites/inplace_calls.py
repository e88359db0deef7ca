"""The library calls that `inplace.py` rewrites: how each is called, and what it stands for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

if TYPE_CHECKING:
    from srcgrad.analysis.rewrites.inplace import Desugar

Args = dict[str, ir.Atom]
WHOLE = ir.Const(...)
NONE, TRUE, FALSE = ir.Const(None), ir.Const(True), ir.Const(False)


def bind_call(signature: str, args: Any, kwargs: Any) -> Args | None:
    """The arguments of a call by name, defaults included."""
    if any(isinstance(a, ir.Star) for a in args) or any(k is None for k, _ in kwargs):
        return None
    namespace: dict[str, Any] = {}
    exec(f"def f({signature}): pass", namespace)
    try:
        bound = inspect.signature(namespace["f"]).bind(*args, **dict(kwargs))
    except TypeError:
        return None
    bound.apply_defaults()
    atoms = (ir.Var, ir.Const, ir.Global)
    return {k: v if isinstance(v, atoms) else ir.Const(v) for k, v in bound.arguments.items()}


# ---- functions and methods -------------------------------------------------------------------


def _fill(work: Desugar, args: Args) -> bool:
    work.store(args["a"], WHOLE, args["value"])
    return True


def _sort(work: Desugar, args: Args) -> bool:
    a = args["a"]
    options = {k: v for k, v in args.items() if k not in ("a", "order") and v != NONE}
    if options.get("axis") == ir.Const(-1):
        del options["axis"]
    if isinstance(work.facts.of(a), ty.Array):
        work.store(a, WHOLE, work.numpy("sort", a, **options))
    elif set(options) <= {"axis"}:
        # It may be a list, which sorts itself in another way: decided when it runs.
        work.store(a, WHOLE, work.support("sorted_array", a, *options.values()))
    else:
        return False
    return True


def _partition(work: Desugar, args: Args) -> bool:
    a = args["a"]
    if not isinstance(work.facts.of(a), ty.Array):
        return False
    work.store(a, WHOLE, work.numpy("partition", a, args["kth"], args["axis"]))
    return True


def _copyto(work: Desugar, args: Args) -> bool:
    value = args["src"]
    if args["where"] != TRUE:
        value = work.numpy("where", args["where"], value, args["dst"])
    work.store(args["dst"], WHOLE, value)
    return True


def _put(work: Desugar, args: Args) -> bool:
    key = work.support("flat_index", args["a"], args["ind"], args["mode"])
    work.store(args["a"], key, work.repeated(args["v"], key))
    return True


def _place(work: Desugar, args: Args) -> bool:
    a = args["arr"]
    key = work.support("mask_index", a, args["mask"])
    work.store(a, key, work.repeated(args["vals"], key))
    return True


def _putmask(work: Desugar, args: Args) -> bool:
    a = args["a"]
    value = args["values"]
    if not work.is_number(value):
        value = work.support("cycled_like", value, a)
    work.store(a, WHOLE, work.numpy("where", args["mask"], value, a))
    return True


def _fill_diagonal(work: Desugar, args: Args) -> bool:
    a = args["a"]
    wrap = () if args["wrap"] == FALSE else (args["wrap"],)
    key = work.support("diagonal_index", a, *wrap)
    work.store(a, key, work.repeated(args["val"], key))
    return True


def _select(work: Desugar, args: Args) -> bool:
    """`np.select` is `np.where` inside `np.where`, so that masks of lanes need only know that."""
    tests, choices = work.items(args["condlist"]), work.items(args["choicelist"])
    if tests is None or choices is None or len(tests) != len(choices) or not tests:
        return False
    work.result = args["default"]
    for test, choice in zip(reversed(tests), reversed(choices), strict=True):
        work.result = work.numpy("where", test, choice, work.result)
    return True


def _choose(work: Desugar, args: Args) -> bool:
    """`np.choose` is `np.where` inside `np.where`, as `np.select` is."""
    choices, t = work.items(args["choices"]), work.facts.of(args["a"])
    if not choices or len(choices) < 2 or args["out"] != NONE or isinstance(t, ty.Number):
        return False
    index = work.support("choice_index", args["a"], ir.Const(len(choices)), args["mode"])
    work.result = choices[-1]
    for k in range(len(choices) - 2, -1, -1):
        test = work.bind(ir.Op("eq", (index, ir.Const(k))))
        work.result = work.numpy("where", test, choices[k], work.result)
    if not isinstance(t, ty.Array) or not t.dims:
        work.result = work.bind(ir.Index(work.result, ir.Const(())))  # it may be a number
    return True


def _nan_to_num(work: Desugar, args: Args) -> bool:
    """`np.nan_to_num` is `np.where(np.isfinite(x), x, ...)`: what is replaced has no derivative,
    not even one that is infinite."""
    x, t = args["x"], work.facts.of(args["x"])
    if args["copy"] != TRUE or isinstance(t, ty.Number) or not isinstance(x, ir.Var):
        return False
    other = work.support("finite", x, args["nan"], args["posinf"], args["neginf"])
    made = work.numpy("where", work.numpy("isfinite", x), x, other)
    work.result = (
        made if isinstance(t, ty.Array) and t.dims else work.bind(ir.Index(made, ir.Const(())))
    )
    return True


def _put_along_axis(work: Desugar, args: Args) -> bool:
    a = args["arr"]
    key = work.support("along_axis_index", a, args["indices"], args["axis"])
    work.store(a, key, args["values"])
    return True


# Methods of a generator that fill an array: as many numbers as it takes.
DRAWS = tuple(
    getattr(np.random.Generator, n) for n in ("random", "standard_normal", "standard_exponential")
)
Write = Callable[["Desugar", Args], bool]

FUNCTIONS: dict[int, tuple[str, Write]] = {
    id(np.copyto): ("dst, src, casting='same_kind', where=True", _copyto),
    id(np.put): ("a, ind, v, mode='raise'", _put),
    id(np.place): ("arr, mask, vals", _place),
    id(np.putmask): ("a, mask, values", _putmask),
    id(np.fill_diagonal): ("a, val, wrap=False", _fill_diagonal),
    id(np.nan_to_num): ("x, copy=True, nan=0.0, posinf=None, neginf=None", _nan_to_num),
    id(np.choose): ("a, choices, out=None, mode='raise'", _choose),
    id(np.select): ("condlist, choicelist, default=0", _select),
    id(np.put_along_axis): ("arr, indices, values, axis", _put_along_axis),
}
METHODS: dict[str, tuple[str, Write]] = {
    "fill": ("a, value", _fill),
    "sort": ("a, axis=-1, kind=None, order=None, *, stable=None", _sort),
    "partition": ("a, kth, axis=-1, kind='introselect', order=None", _partition),
    "put": ("a, ind, v, mode='raise'", _put),
}
