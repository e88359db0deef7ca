"""Calls of root finders and integrators whose function can be followed."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from srcgrad.analysis.resolve import user_source
from srcgrad.analysis.types.objects import Args, Kwargs
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry
from srcgrad.rules.solvers import Replayed, Solver, replay_of, solver_of

if TYPE_CHECKING:
    from srcgrad.analysis.types.calls import CallTypes


def followed(work: CallTypes, entry: Entry, args: Args, kwargs: Kwargs) -> Solver | None:
    """The root finder that is called, if its function is read and writes nothing."""
    solver = None if entry.given else solver_of(entry.target)
    if solver is None:
        return None
    first = next(iter(solver.signature.parameters))
    fn = ir.unstar(args[0]) if args else dict(kwargs).get(first)
    return solver if fn is not None and _is_read(work, fn) else None


def replayed(work: CallTypes, entry: Entry, args: Args, kwargs: Kwargs) -> Replayed | None:
    """The integrator that is called, if its functions are read and write nothing."""
    replay = None if entry.given else replay_of(entry.target)
    if replay is None or any(k is None for k, _ in kwargs):
        return None
    try:
        given = (
            inspect.signature(replay.fn).bind(*args, **{str(k): v for k, v in kwargs}).arguments
        )
    except TypeError:
        return None
    options = (given.get(name, ir.Const(None)) for name in replay.without)
    plain = all(isinstance(a, ir.Const) and not a.value for a in options)
    if not plain or any(isinstance(a, ir.Star) for a in args):
        return None
    called = [given.get(name) for name in replay.functions]
    return replay if all(f is not None and _is_read(work, f) for f in called) else None


def _is_read(work: CallTypes, fn: ir.Atom) -> bool:
    """Whether a function has source, and leaves what it captures, or its object, as it is."""
    t = work.atom(fn)
    if isinstance(t, ty.ClosureType):
        return _writes_nothing(work, t.fn, t.free)
    method = work.facts.extents.definition(fn)
    if isinstance(method, ir.Attr):
        owner = work.atom(method.obj)
        found = getattr(owner.cls, method.name, None) if isinstance(owner, ty.Object) else None
        if not inspect.isfunction(found) or user_source(found) is None:
            return False
        assert owner is not None
        return _writes_nothing(work, work.program.function(found, fn)[0], (), (owner,))
    value = fn.value if isinstance(fn, ir.Global) else None
    return callable(value) and user_source(value) is not None


def _writes_nothing(
    work: CallTypes, fn: ir.Function, free: tuple[ty.Type, ...], first: tuple[ty.Type, ...] = ()
) -> bool:
    from srcgrad.analysis.effects import summary

    types = (*first, *(ty.UNKNOWN for _ in fn.params[len(first) :]), *free)
    return not summary(work.program, fn, types).stored
