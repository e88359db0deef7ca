"""Calls of functions that have a user's rule: what they return, and what the rule is passed."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from srcgrad.analysis.resolve import constant_atom, user_source
from srcgrad.analysis.targets import Bound, Library, Packed, Uncharted, User, bound_atoms
from srcgrad.analysis.types.binding import bind_library, bind_user
from srcgrad.errors import SrcgradError, rule_error
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry

if TYPE_CHECKING:
    from srcgrad.analysis.types.calls import CallTypes

_P = inspect.Parameter
_BY_POSITION = (_P.POSITIONAL_ONLY, _P.POSITIONAL_OR_KEYWORD)
_Args = Sequence[ir.Atom | ir.Star]
_Kwargs = Sequence[tuple[str | None, ir.Atom]]


def call(
    work: CallTypes, stmt: ir.Stmt, entry: Entry, value: Any, args: _Args, kwargs: _Kwargs,
    where: ir.Atom,
) -> ty.Type | None:  # fmt: skip
    """The type of a call of `value`, which has the user's rule `entry`; notes its target.

    A function with source is followed for the type of its result and for what it shares memory
    with; no derivative passes through what it does."""
    if user_source(value) is not None:  # a decorated function stands in for its own
        try:
            return _followed(work, stmt, entry, value, args, kwargs, where)
        except SrcgradError:
            pass  # it can't be followed: it is a black box
    params = entry.params
    if params is None:
        if kwargs or any(isinstance(a, ir.Star) for a in args):
            why = "it has no signature to tell its keyword arguments by"
            work.target(stmt, Uncharted(entry.name, why))
            return ty.UNKNOWN
        bound: Any = tuple((f"argument {k}", a) for k, a in enumerate(args))
    else:
        bound = bind_library(entry, args, kwargs)
    if bound is None:
        why = "its arguments can't be told apart here"
        work.target(stmt, Uncharted(entry.name, why, work.taken_apart(args, kwargs)))
        return ty.UNKNOWN
    work.target(stmt, Library(entry, bound, opaque=inspect.isroutine(value) and _is_python(value)))
    return ty.UNKNOWN


def _is_python(value: Any) -> bool:
    return hasattr(value, "__code__")


def _followed(
    work: CallTypes, stmt: ir.Stmt, entry: Entry, value: Any, args: _Args, kwargs: _Kwargs,
    where: ir.Atom,
) -> ty.Type | None:  # fmt: skip
    raw = entry.kind == "custom" and entry.backward is None
    fn, before, named = work.program.function(entry.fn if raw else value, where)
    keywords = {**dict(named), **{k: v for k, v in kwargs if k is not None}}
    rest = [(None, v) for k, v in kwargs if k is None]
    bound = bind_user(fn, (*before, *args), (*keywords.items(), *rest), work.program.defaults(fn))
    types = tuple(work.bound_type(b) for b in bound)
    result = work.program.returns(fn, types)
    if raw and result is not None:  # (value, gradient function)
        result = result.items[0] if isinstance(result, ty.Tuple) else ty.UNKNOWN
    # A rule for a bound method, or for a callable object, isn't passed the object.
    first = len(before) if entry.target == value and value is not fn.fn else 0
    pairs = tuple(zip((p.name for p in fn.params), bound, strict=True))[first:]
    work.target(stmt, Library(entry, pairs, source=User(fn, bound, None, types)))
    return result


def nested(
    work: CallTypes, stmt: ir.Stmt, made: ir.Closure, bound: tuple[Bound, ...]
) -> ty.Type | None:
    """A call of a nested function that is decorated; what it captures counts as constant."""
    fn = made.fn
    every = (*bound, *(a for _, a in made.free))
    types = tuple(work.bound_type(b) for b in every)
    result = work.program.returns(fn, types)
    kind = "nondiff"
    if fn.decorated == "custom_gradient":
        kind = "custom"
        if result is not None:  # (value, gradient function)
            result = result.items[0] if isinstance(result, ty.Tuple) else ty.UNKNOWN
    entry = Entry(fn, fn.name, kind, _signature(fn), {}, {}, pure=False, given=True, fn=fn)  # type: ignore[arg-type]
    pairs = tuple(zip((p.name for p in fn.params), bound, strict=True))
    work.target(stmt, Library(entry, pairs, source=User(fn, every, None, types)))
    return result


_KINDS = {
    "posonly": _P.POSITIONAL_ONLY,
    "normal": _P.POSITIONAL_OR_KEYWORD,
    "varargs": _P.VAR_POSITIONAL,
    "kwonly": _P.KEYWORD_ONLY,
    "varkw": _P.VAR_KEYWORD,
}


def _signature(fn: ir.Function) -> inspect.Signature:
    return inspect.Signature([_P(p.name, _KINDS[p.kind]) for p in fn.params])


@dataclass
class RuleCall:
    """What a rule is passed after g and out.  Keyword arguments get no cotangent."""

    positional: list[Bound] = field(default_factory=list)
    keywords: list[tuple[str | None, Bound]] = field(default_factory=list)

    def atoms(self) -> list[ir.Atom]:
        every = [*self.positional, *(b for _, b in self.keywords)]
        return [a for b in every for a in bound_atoms(b)]


def rule_call(entry: Entry, args: Sequence[tuple[str, Bound]]) -> RuleCall:
    """The arguments of a call as its rule takes them: in the order of the target's parameters,
    defaults filled in as far as the rule takes arguments."""
    out = RuleCall()
    given = dict(args)
    slots = _slots(entry.fn) if entry.kind == "function" else _Slots([], [], True, set(), True)
    params = entry.params
    if params is None:
        out.positional = [b for _, b in args]
        return _fitting(entry, out, slots)
    names = [p.name for p in params.parameters.values() if p.kind in _BY_POSITION]
    last = max((k for k, n in enumerate(names) if n in given), default=-1)
    for p in params.parameters.values():
        if p.kind in _BY_POSITION:
            n = len(out.positional)
            if p.name in given and slots.full(n):
                _by_keyword(entry, out, slots, p.name, given[p.name])
            elif p.name in given:
                out.positional.append(given[p.name])
            elif p.default is not p.empty and (n < last or slots.needs(n)) and not slots.full(n):
                name = f"{entry.name.split('.')[-1]}_{p.name}"
                out.positional.append(constant_atom(p.default, name))
        elif p.kind is _P.VAR_POSITIONAL and p.name in given:
            packed = given[p.name]
            out.positional += packed.items if isinstance(packed, Packed) else [packed]  # type: ignore[arg-type]
        elif p.kind is _P.KEYWORD_ONLY and p.name in given:
            _by_keyword(entry, out, slots, p.name, given[p.name])
    known = set(params.parameters)
    for name, b in given.items():
        kind = params.parameters[name].kind if name in known else None
        if kind is None:
            _by_keyword(entry, out, slots, name, b)
        elif kind is _P.VAR_KEYWORD and isinstance(b, Packed):
            for key, item in zip(b.keys, b.items, strict=True):
                _by_keyword(entry, out, slots, key, ir.unstar(item))
    return _fitting(entry, out, slots)


@dataclass
class _Slots:
    """The parameters of a rule after g and out."""

    names: list[str]
    defaults: list[bool]
    open_ended: bool
    keywords: set[str]
    any_keyword: bool

    def full(self, n: int) -> bool:
        return not self.open_ended and n >= len(self.names)

    def needs(self, n: int) -> bool:
        """Whether the rule has no default of its own for argument n."""
        return n < len(self.names) and not self.defaults[n]


def _slots(fn: Any) -> _Slots:
    try:
        params = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return _Slots([], [], True, set(), True)
    positional = [p for p in params if p.kind in _BY_POSITION][2:]
    return _Slots(
        [p.name for p in positional],
        [p.default is not p.empty for p in positional],
        any(p.kind is _P.VAR_POSITIONAL for p in params),
        {p.name for p in params if p.kind in (_P.KEYWORD_ONLY, _P.POSITIONAL_OR_KEYWORD)},
        any(p.kind is _P.VAR_KEYWORD for p in params),
    )


def _by_keyword(entry: Entry, out: RuleCall, slots: _Slots, name: str | None, b: Bound) -> None:
    if not slots.any_keyword and name not in slots.keywords:
        shown = "keyword arguments" if name is None else f"the argument {name}"
        raise rule_error(entry.target, entry.fn, f"a call passes {shown}, which it doesn't take")
    out.keywords.append((name, b))


def _fitting(entry: Entry, out: RuleCall, slots: _Slots) -> RuleCall:
    if any(isinstance(b, ir.Star) for b in out.positional):
        raise rule_error(
            entry.target, entry.fn, "a call passes `*args` of unknown length: pass them one by one"
        )
    n, needed = len(out.positional), slots.defaults.count(False)
    if (n > len(slots.names) and not slots.open_ended) or n < needed:
        raise rule_error(
            entry.target,
            entry.fn,
            f"it takes {len(slots.names)} argument{'s' if len(slots.names) != 1 else ''} after g "
            f"and out, but a call passes {n}",
        )
    return out
