"""Which argument of a call goes to which parameter."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

from srcgrad.analysis.targets import Bound, Packed
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.rules.registry import Entry


def bind_library(
    entry: Entry,
    args: Sequence[ir.Atom | ir.Star | Packed],
    kwargs: Sequence[tuple[str | None, ir.Atom]],
) -> tuple[tuple[str, Bound], ...] | None:
    """The arguments by parameter name, or None when they can't be told apart."""
    if entry.params is None:
        return ()
    if any(isinstance(a, ir.Star) for a in args) or any(k is None for k, _ in kwargs):
        return None
    out: list[tuple[str, Bound]] = []
    rest = list(args)
    kinds = inspect.Parameter
    named = set()
    for p in entry.params.parameters.values():
        if p.kind is kinds.VAR_POSITIONAL:
            items = tuple(a for a in rest if not isinstance(a, Packed))
            out.append((p.name, Packed("tuple", items)))
            rest = []
        elif p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD):
            named.add(p.name)
            if rest:
                got = rest.pop(0)
                assert not isinstance(got, ir.Star)
                out.append((p.name, got))
        elif p.kind is kinds.KEYWORD_ONLY:
            named.add(p.name)
    if rest:
        return None
    given = {n for n, _ in out}
    open_ended = any(p.kind is kinds.VAR_KEYWORD for p in entry.params.parameters.values())
    for k, v in kwargs:
        assert k is not None
        if k in given or (k not in named and not open_ended):
            return None
        out.append((k, v))
    return tuple(out)


def unbound(
    entry: Entry, args: Sequence[ir.Atom | ir.Star | Packed], names: Sequence[str | None]
) -> str:
    """Why the arguments of a call can't be told apart."""
    if any(isinstance(a, ir.Star) for a in args) or None in names:
        return "its arguments can't be told apart here; write the starred ones one by one"
    known = [] if entry.params is None else list(entry.params.parameters)
    other = [str(n) for n in names if n not in known]
    if other:
        return f"its rule does not know the argument {other[0]}; leave it out"
    return f"its rule does not take {len(args)} arguments by position; give the last by name"


def bind_user(
    fn: ir.Function,
    args: Sequence[ir.Atom | ir.Star],
    kwargs: Sequence[tuple[str | None, ir.Atom]],
    defaults: Mapping[str, ir.Atom],
) -> tuple[Bound, ...]:
    """All parameters of a user function in order, as Python binds them."""
    rest = list(args)
    named = {k: v for k, v in kwargs if k is not None}
    spread = [v for k, v in kwargs if k is None]
    out: list[Bound] = []
    for p in fn.params:
        if p.kind == "varargs":
            out.append(Packed("tuple", tuple(rest)))
            rest = []
        elif p.kind == "varkw":
            items = (*named.values(), *spread)
            out.append(Packed("dict", items, (*named, *(None for _ in spread))))
            named, spread = {}, []
        elif rest and p.kind in ("posonly", "normal"):
            head = rest.pop(0)
            if isinstance(head, ir.Star):
                raise _unbound(fn, "a starred argument of unknown length meets named parameters")
            out.append(head)
        elif p.name in named and p.kind != "posonly":
            out.append(named.pop(p.name))
        elif spread and p.kind != "posonly":
            raise _unbound(fn, f"a starred dict may hold the argument {p.name}")
        elif p.name in defaults:
            out.append(defaults[p.name])
        else:
            raise _unbound(fn, f"the argument {p.name} is missing")
    if rest or named or spread:
        raise _unbound(fn, "there are more arguments than parameters")
    return tuple(out)


def missing_parameters(
    fn: ir.Function,
    args: Sequence[ir.Atom | ir.Star],
    kwargs: Sequence[tuple[str | None, ir.Atom]],
    defaults: Mapping[str, ir.Atom],
) -> tuple[tuple[str, ir.Atom | None], ...] | None:
    """The parameters that one `*value` or `**value` has to be for, with their defaults, where that
    is no choice: none takes any number of arguments, and behind `*value` none has a default."""
    stars = sum(isinstance(a, ir.Star) for a in args)
    spread = sum(k is None for k, _ in kwargs)
    kinds = {p.kind for p in fn.params}
    if stars + spread != 1 or (stars and not isinstance(args[-1], ir.Star)):
        return None
    named = {k for k, _ in kwargs}
    left = [p for p in fn.params if p.name not in named and p.kind not in ("varargs", "varkw")]
    left = left[len(args) - stars :]
    if "varargs" in kinds or (spread and "varkw" in kinds):
        return None
    if stars and any(p.name in defaults or p.kind == "kwonly" for p in left):
        return None
    wanted = tuple((p.name, defaults.get(p.name)) for p in left)
    return None if any(isinstance(d, ir.Var) for _, d in wanted) else wanted


def _unbound(fn: ir.Function, why: str) -> Exception:
    return located(
        UnsupportedSyntax,
        fn.loc,
        f"can't match the arguments of a call to the parameters of {fn.name}: {why}",
        fixes=["pass the arguments one by one"],
    )
