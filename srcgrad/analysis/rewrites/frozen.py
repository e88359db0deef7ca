"""Frozen distributions of SciPy: their methods are those of the distribution, with parameters.

d = stats.norm(m, s)           ->    m_1, s_1 = m, s
y = d.logpdf(x)                      y = stats.norm.logpdf(x, m_1, s_1)

A distribution that is frozen outside the function is read live: `DIST.args`, `DIST.kwds`.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MethodType
from typing import Any

from srcgrad.analysis.rewrites.base import Rewrites
from srcgrad.ir import nodes as ir
from srcgrad.rules import registry


@dataclass
class FrozenDistributions(Rewrites):
    """The part of sharpening that sees to frozen distributions."""

    parameters: dict[str, tuple[ir.Call, tuple[ir.Var, ...]]] = field(default_factory=dict)

    @cached_property
    def freezing(self) -> dict[str, ir.Call]:
        """Variables that are bound once, to a frozen distribution, and used for their methods."""
        statements = ir.walk(self.facts.fn.body)
        made = {
            s.target.name: s.value
            for s in statements
            if isinstance(s, ir.Assign)
            and isinstance(s.value, ir.Call)
            and is_distribution(s.value.fn)
        }
        bound = Counter(v.name for s in statements for v in ir.writes(s)) if made else Counter()
        out = {}
        for name, call in made.items():
            if bound[name] != 1:
                continue
            if any(isinstance(a, ir.Star) for a in call.args) or None in dict(call.kwargs):
                continue
            if all(_is_method(r, name, call.fn) for r in self.facts.readers.get(name, [])):
                out[name] = call
        return out

    def of_distribution(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        value = stmt.value
        if isinstance(stmt, ir.Assign) and stmt.target.name in self.freezing:
            return self.freeze(stmt, self.freezing[stmt.target.name])
        if isinstance(value, ir.Method) and getattr(value.obj, "name", "") in self.parameters:
            call, held = self.parameters[value.obj.name]  # type: ignore[union-attr]
            assert isinstance(call.fn, ir.Global)
            count = len(call.args)
            names = [k for k, _ in call.kwargs]
            more = tuple(zip(names, held[count:], strict=True))
            fn = _method(call.fn.value, value.name)
            if fn is None:
                return None
            self.changed = True
            made = ir.Call(fn, (*value.args, *held[:count]), (*value.kwargs, *more))
            return [replace(stmt, value=made)]
        match value:
            case ir.Method(ir.Global() as obj, name, args, kwargs):
                return self.from_outside(stmt, obj, name, ir.Call(obj, args, kwargs))
            case ir.Call(ir.Global(root, (*path, name), fn)) if isinstance(fn, MethodType):
                obj = ir.Global(root, tuple(path), fn.__self__)
                return self.from_outside(stmt, obj, name, value)
            case _:
                return None

    def freeze(self, stmt: ir.Assign, call: ir.Call) -> list[ir.Stmt]:
        """The parameters as they are now, each under a name of its own."""
        given = [*call.args, *(v for _, v in call.kwargs)]
        held = tuple(ir.Var(f"%f{next(self.sids)}") for _ in given)
        self.parameters[stmt.target.name] = call, held
        self.changed = True
        return [
            ir.Assign(next(self.sids), stmt.loc, h, ir.unstar(a))
            for h, a in zip(held, given, strict=True)
        ]

    def from_outside(
        self, stmt: ir.Assign | ir.Effect, obj: ir.Global, name: str, call: ir.Call
    ) -> list[ir.Stmt] | None:
        """A method of a distribution that was frozen before: its parameters are read there."""
        owner = obj.value
        if not _has_base(owner, "rv_frozen"):
            return None
        method = _method(owner.dist, name)
        if method is None:
            return None
        self.changed = True
        out: list[ir.Stmt] = []

        def read(attribute: str, key: Any) -> ir.Var:
            whole, part = (ir.Var(f"%f{next(self.sids)}") for _ in range(2))
            found = ir.Global(obj.root, (*obj.path, attribute), getattr(owner, attribute))
            out.append(ir.Assign(next(self.sids), stmt.loc, whole, found))
            out.append(ir.Assign(next(self.sids), stmt.loc, part, ir.Index(whole, ir.Const(key))))
            return part

        args = tuple(read("args", k) for k in range(len(owner.args)))
        kwargs = tuple((k, read("kwds", k)) for k in owner.kwds)
        made = ir.Call(method, (*call.args, *args), (*call.kwargs, *kwargs))
        return [*out, replace(stmt, value=made)]


def _is_method(stmt: ir.Stmt, name: str, distribution: ir.Atom) -> bool:
    """Whether all that a statement does with a variable is to call a method that has a rule."""
    if not isinstance(stmt, ir.Assign | ir.Effect) or not isinstance(stmt.value, ir.Method):
        return False
    value = stmt.value
    others = [*map(ir.unstar, value.args), *(v for _, v in value.kwargs)]
    known = isinstance(distribution, ir.Global) and _method(distribution.value, value.name)
    return bool(known) and all(getattr(a, "name", "") != name for a in others)


def is_distribution(fn: ir.Atom) -> bool:
    """Whether a function that is called is a distribution of SciPy's: the call freezes it."""
    return isinstance(fn, ir.Global) and (
        _has_base(fn.value, "rv_generic") or _has_base(fn.value, "multi_rv_generic")
    )


def _has_base(value: Any, name: str) -> bool:
    found = [c for c in type(value).__mro__ if c.__name__ == name]
    return bool(found) and found[0].__module__.startswith("scipy.stats")


def _method(distribution: Any, name: str) -> ir.Global | None:
    """A method of a distribution that has a rule, by SciPy's name of it."""
    stats = sys.modules.get("scipy.stats")
    names = [getattr(distribution, "name", None), type(distribution).__name__.removesuffix("_gen")]
    for known in filter(None, names):
        found = getattr(stats, known, None)
        method = getattr(found, name, None)
        if type(found) is type(distribution) and registry.lookup(method) is not None:
            return ir.Global(ir.Root("module", "scipy.stats"), (known, name), method)
    return None
