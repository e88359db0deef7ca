"""What inference knows of one function: the types of variables and the targets of calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from srcgrad.analysis.targets import Target
from srcgrad.analysis.types.atoms import atom_type
from srcgrad.analysis.types.extents import Extents
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.solvers import Solver


@dataclass
class Facts:
    """What inference knows of one function for given parameter types."""

    fn: ir.Function
    params: tuple[ty.Type, ...]
    types: dict[str, ty.Type] = field(default_factory=dict)
    targets: dict[int, Target] = field(default_factory=dict)
    result: ty.Type | None = None
    base: ir.Function | None = None  # the function as lowered, which calls refer to
    # The parameters that the starred arguments of a call surely are for, and their defaults.
    starred: dict[int, tuple[tuple[str, ir.Atom | None], ...]] = field(default_factory=dict)

    # The derivatives that calls such as `srcgrad.grad(inner)` of a nested function make.
    derived: dict[int, Any] = field(default_factory=dict)

    # Root finders that are called with a function that can be followed.
    solvers: dict[int, Solver] = field(default_factory=dict)

    # Calls of integrators, in whose place another function is differentiated where a derivative
    # passes; elsewhere they are written as they stand.
    replayed: set[int] = field(default_factory=set)

    loose: set[str] = field(default_factory=set)  # ints on some paths and floats on others

    def arguments(self) -> dict[str, ty.Type]:
        """The types of parameters and captured variables, with what was stored through them."""
        names = (*(p.name for p in self.fn.params), *self.fn.free)
        return {n: self.types[n] for n in names if n in self.types}

    def start_from(self, before: Facts) -> None:
        """What callers see is at least what it was before."""
        self.result = before.result
        self.types |= before.arguments()

    @cached_property
    def extents(self) -> Extents:
        """Which arrays surely have one shape."""
        return Extents(self.fn, self.types)

    @cached_property
    def assigned(self) -> dict[str, list[ir.Assign]]:
        """The assignments to each variable."""
        found: dict[str, list[ir.Assign]] = {}
        for stmt in ir.walk(self.fn.body):
            if isinstance(stmt, ir.Assign):
                found.setdefault(stmt.target.name, []).append(stmt)
        return found

    @cached_property
    def readers(self) -> dict[str, list[ir.Stmt]]:
        """The statements that read each variable."""
        found: dict[str, list[ir.Stmt]] = {}
        for stmt in ir.walk(self.fn.body):
            for v in ir.reads(stmt):
                found.setdefault(v.name, []).append(stmt)
        return found

    def is_row(self, atom: ir.Atom | ir.Star, nested: bool = False) -> bool:
        """Whether something is a display of real numbers for one statement: `[a, b]` in
        `np.array([a, b])`; `nested`: or one of such displays."""
        if not isinstance(atom, ir.Var) or not atom.is_temp or len(self.readers[atom.name]) != 1:
            return False
        made = self.extents.definition(atom)
        if not isinstance(made, ir.Build) or made.kind not in ("list", "tuple"):
            return False
        if nested and all(self.is_row(i, nested) for i in made.items):
            return True
        types = [self.of(i) if not isinstance(i, ir.Star) else ty.UNKNOWN for i in made.items]
        return all(
            isinstance(t, ty.Number) and not issubclass(t.cls, complex | np.complexfloating)
            for t in types
        )

    def of(self, atom: ir.Atom) -> ty.Type:
        return atom_type(atom, self.types) or ty.UNKNOWN

    def expr_target(self, stmt: ir.Stmt) -> Target | None:
        return self.targets.get(stmt.sid)
