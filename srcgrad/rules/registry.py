"""Rules: what is the derivative of a function that srcgrad does not look into.

A rule is an `Entry`.  Its formulas are text, parsed once; the free names of a formula are what the
reverse sweep has to keep, so a formula that can be written with `out` instead of computing again
is visibly the better one.  Names in a formula: the function's parameters, `g` (the cotangent of
the result), `out` (the result), names bound by `let`, `np`, `math` and `support` (the helpers in
`srcgrad/runtime/support`).
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any


@lru_cache(maxsize=8192)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@dataclass(frozen=True)
class Formula:
    """One partial derivative, as text."""

    text: str

    @cached_property
    def node(self) -> ast.expr:
        return _parsed(self.text)

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(n.id for n in ast.walk(self.node) if isinstance(n, ast.Name))


@dataclass(frozen=True)
class Entry:
    """The rule of one function.

    kind "elementwise": the framework sums cotangents down to the operand's shape, and the forward
    rule is the same formula with the operand's tangent for `g`.
    kind "linear": the function is linear in each differentiable parameter taken alone with the
    others fixed to what the call says; the forward rule is the function itself applied to the
    tangent.  (Linear in several at once, like concatenate of a list, counts too, then with zeros
    for the other arguments; bilinear does not.)
    kind "structured": both formulas are given.
    kind "function": the reverse rule is a Python function `vjp(g, out, *args, **kwargs)` that
    returns one cotangent per positional argument.
    kind "custom": the forward sweep calls `fn`, which returns the result and what the reverse
    sweep needs; the reverse sweep calls `backward` with that and the cotangent, or what was
    returned is itself a function of the cotangent (`backward` is None).
    kind "jvp": `jvp_fn(primals, tangents)` returns the result and its tangent, for forward mode;
    reverse mode transposes it.
    kind "source": what is differentiated is the source of `fn`, a Python function that computes
    the same.
    kind "nondiff": the derivative is zero.
    kind "refuse": srcgrad does not differentiate it; `note` says why and what to write instead.

    A parameter that is in neither `vjps` nor `zero` is not differentiable: an active value there
    is refused.  A parameter named `out` is the array the result is written to; in formulas `out`
    is the result in any case.
    """

    target: Any
    name: str
    kind: str
    params: inspect.Signature | None
    vjps: dict[str, Formula | None]  # parameter -> formula; None: not differentiable in it
    jvps: dict[str, Formula | None]  # parameter -> formula with `<param>_dot` for its tangent
    let: dict[str, Formula] = field(default_factory=dict)  # shared subexpressions of the formulas
    at: tuple[Any, ...] = ()  # sample points: tuples of arguments, or (args, kwargs)
    pure: bool = True  # may be run on sample values to learn the type of its result
    result: Callable[..., Any] | None = None  # states the result's type where running misleads
    # Does the result share memory with the first argument: "never", "maybe", "always".
    view: str = "never"
    writes: tuple[str, ...] = ()  # parameters written in place (out=, and the like)
    # kind "function": the vjp; its jvp is `jvp_fn`: (primals, tangents) -> (result, tangent).
    fn: Callable[..., Any] | None = None
    jvp_fn: Callable[..., Any] | None = None
    note: str = ""
    zero: frozenset[str] = frozenset()  # parameters in which the derivative is zero
    lanes: bool = False  # element by element, so that lane masks pass, though not "elementwise"
    of_parts: bool = False  # takes structures: a cotangent has the argument's, and is never summed
    # Rules for calls with so many positional arguments, or with a keyword argument, where that
    # makes another function of it (`max(xs)`, `max(x, y)`); see `for_call`.  "complex": for an
    # argument that may be complex, of a function that is constant on real numbers.  "not text":
    # for a first argument that is no text as it stands.
    variants: dict[int | str, Entry] = field(default_factory=dict)
    # What is differentiated instead where an argument without formula is active.
    otherwise: Entry | None = None
    backward: Callable[..., Any] | None = None  # kind "custom": (saved, cotangent) -> cotangents
    given: bool = False  # a user's rule, which stands for all calls of the target
    builtin: Entry | None = None  # the rule that a user's rule takes the place of


_ENTRIES: dict[Hashable, Entry] = {}  # by `key_of` the target, which the entry keeps alive
_ALIASES: dict[int, tuple[Any, Any]] = {}  # id of a function -> (the function, whose rule it has)


def _signature(text: str) -> inspect.Signature:
    """`a, axis=None, *, keepdims=False` -> a signature (`/`, `*args` as in Python)."""
    namespace: dict[str, Any] = {}
    exec(f"def f({text}): pass", {"np": __import__("numpy")}, namespace)
    return inspect.signature(namespace["f"])


def add(entry: Entry) -> Entry:
    """Put a rule in force.  A table whose import was interrupted is imported again, and finds
    some of its rules there."""
    _ENTRIES[key_of(entry.target)] = entry
    return entry


def alias(target: Any, of: Any) -> None:
    """`target` has the rule of another function, which may be registered later."""
    _ALIASES[id(target)] = (target, of)


def canonical(target: Any) -> Any:
    """The function whose rule a function has: `np.multiply` for `operator.mul`."""
    other = _ALIASES.get(id(target))
    return canonical(other[1]) if other is not None and other[0] is target else target


def key_of(target: Any) -> Hashable:
    """What tells a target from all others: a method is a new object each time it is read."""
    method = _ufunc_method(target)
    if method is not None:
        return method
    if isinstance(target, types.MethodType):
        return (id(target.__self__), id(target.__func__))
    return id(target)


def _ufunc_method(target: Any) -> tuple[int, str] | None:
    """The ufunc (which lives for ever) and the name, if the target is a ufunc's method."""
    owner = getattr(target, "__self__", None)
    return (id(owner), target.__name__) if type(owner).__name__ == "ufunc" else None


def lookup(target: Any) -> Entry | None:
    entry = _ENTRIES.get(key_of(target))
    if entry is not None:  # it keeps its target alive, so the key is of no other object
        return entry
    other = canonical(target)
    return None if other is target else lookup(other)


def in_force(
    target: Any, scopes: Iterable[Mapping[Hashable, Entry]]
) -> tuple[Entry | None, frozenset[Hashable]]:
    """The rule for a function, and the keys by which it was found in a scope: those of scopes,
    strongest first, come before its own and the registered one."""
    key, other = key_of(target), key_of(canonical(target))
    for scope in scopes:
        entry = scope.get(key) or scope.get(other)
        if entry is not None:
            return entry, frozenset((key, other))
    own = getattr(target, "__srcgrad_entry__", None)
    return (own if isinstance(own, Entry) else lookup(target)), frozenset()


def for_call(entry: Entry, positional: int, named: Iterable[str | None] = ()) -> Entry:
    """The rule for a call with so many positional arguments, and these by name."""
    for name in named:
        if name in entry.variants:
            return entry.variants[name]
    return entry.variants.get(positional, entry)


def entries() -> list[Entry]:
    return list(_ENTRIES.values())


def name_of(target: Any) -> str:
    module = getattr(target, "__module__", None) or ""
    name = str(getattr(target, "__qualname__", getattr(target, "__name__", repr(target))))
    if type(target).__name__ == "ufunc":
        special = sys.modules.get("scipy.special")
        module = "scipy.special" if getattr(special, name, None) is target else "numpy"
    if _ufunc_method(target) is not None:
        return f"numpy.{target.__self__.__name__}.{target.__name__}"
    if module.startswith("scipy."):
        owner = getattr(getattr(target, "__self__", None), "name", None)
        if isinstance(owner, str):  # of a distribution, which is an object
            return f"scipy.stats.{owner}.{target.__name__}"
        module = module.partition("._")[0]  # what is public of it
        name = name.replace("_gen.", ".")  # the class of the one object of that name
    return f"{module}.{name}" if module not in ("", "builtins") else name


def _parse(formulas: dict[str, str | None] | None) -> dict[str, Formula | None]:
    return {p: None if f is None else Formula(f) for p, f in (formulas or {}).items()}


# Integers, or none at all: NumPy takes no other numbers there, so that there is no derivative.
OPTIONS = frozenset({
    "axis", "axes", "axis1", "axis2", "axisa", "axisb", "axisc", "shape", "new_shape", "newshape",
    "source", "destination", "order", "keepdims", "dtype", "num", "endpoint", "reps", "repeats",
    "minlength", "indices_or_sections",
})  # fmt: skip


def _zero(params: str, zero: tuple[str, ...], formulas: Iterable[str]) -> frozenset[str]:
    """The parameters in which the derivative is zero."""
    return (OPTIONS & set(_signature(params).parameters) - set(formulas)) | frozenset(zero)


def _let(formulas: dict[str, str] | None) -> dict[str, Formula]:
    return {name: Formula(text) for name, text in (formulas or {}).items()}


def elementwise(
    target: Any,
    params: str,
    *,
    at: Any,
    let: dict[str, str] | None = None,
    zero: tuple[str, ...] = (),
    writes: tuple[str, ...] = (),
    register: bool = True,
    **formulas: str | None,
) -> Entry:
    """Register a function that works element by element, with one formula per argument.

    Example:
        elementwise(np.tanh, "x", x="g * (1.0 - out * out)", at=[(0.3,)])
    """
    entry = Entry(
        target,
        name_of(target),
        "elementwise",
        _signature(params),
        _parse(formulas),
        {},
        let=_let(let),
        at=tuple(at),
        writes=writes,
        zero=frozenset(zero),
        lanes=True,
    )
    return add(entry) if register else entry


def linear(
    target: Any,
    params: str,
    *,
    at: Any,
    view: str = "never",
    result: Any = None,
    zero: tuple[str, ...] = (),
    writes: tuple[str, ...] = (),
    lanes: bool = False,
    of_parts: bool = False,
    register: bool = True,
    **formulas: str | None,
) -> Entry:
    """Register a function that is linear in each argument that has a formula."""
    entry = Entry(
        target,
        name_of(target),
        "linear",
        _signature(params),
        _parse(formulas),
        {},
        at=tuple(at),
        view=view,
        result=result,
        writes=writes,
        zero=_zero(params, zero, formulas),
        lanes=lanes,
        of_parts=of_parts,
    )
    return add(entry) if register else entry


def structured(
    target: Any,
    params: str,
    *,
    at: Any,
    vjp: dict[str, str | None],
    jvp: dict[str, str | None],
    let: dict[str, str] | None = None,
    view: str = "never",
    result: Any = None,
    pure: bool = True,
    note: str = "",
    zero: tuple[str, ...] = (),
    writes: tuple[str, ...] = (),
    lanes: bool = False,
    otherwise: Entry | None = None,
    register: bool = True,
) -> Entry:
    """Register a function with reverse and forward formulas.

    A forward formula gives the tangent of the result due to one argument, whose tangent is
    `<argument>_dot`; the contributions of all arguments are added."""
    entry = Entry(
        target,
        name_of(target),
        "structured",
        _signature(params),
        _parse(vjp),
        _parse(jvp),
        let=_let(let),
        at=tuple(at),
        view=view,
        result=result,
        pure=pure,
        note=note,
        writes=writes,
        zero=_zero(params, zero, vjp),
        lanes=lanes,
        otherwise=otherwise,
    )
    return add(entry) if register else entry


def source(target: Any, fn: Callable[..., Any], *, at: Any, register: bool = True) -> Entry:
    """Register a function in whose place the source of another is differentiated."""
    params = inspect.signature(fn)
    entry = Entry(target, name_of(target), "source", params, {}, {}, at=tuple(at), fn=fn)
    return add(entry) if register else entry


def nondiff(*targets: Any, pure: bool = True) -> None:
    """Register functions whose derivative is zero."""
    for target in targets:
        if lookup(target) is None:
            add(Entry(target, name_of(target), "nondiff", None, {}, {}, pure=pure))


def refuse(
    *targets: Any, why: str, params: str = "", writes: str = "", view: str = "never"
) -> None:
    """Register functions that are not differentiated: why, and what to write instead.

    Of one that changes an argument, `params` are its parameters and `writes` is that one.
    """
    signature = _signature(params) if params else None
    written = (writes,) if writes else ()
    for target in targets:
        if lookup(target) is None:
            entry = Entry(target, name_of(target), "refuse", signature, {}, {}, pure=False)
            add(replace(entry, writes=written, view=view, note=why))
