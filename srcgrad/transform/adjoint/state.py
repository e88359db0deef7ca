"""Adjoints of variables while the reverse sweep is being written.

An adjoint is absent (no contribution yet: zero), waiting (an expression not yet written down), or
held in its variable.  `owned` says that its buffer belongs to it alone, so that `+=` may write
into it; `thin` that it is one number that stands for an array filled with it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.ir import asts


@dataclass
class Adj:
    """The adjoint of one variable that is kept by value."""

    waiting: ast.expr | None = None
    owned: bool = False
    thin: bool = False
    nothing: bool = False  # it may have had no contribution yet: 0.0, or None
    # an expression that waited, and the names in it
    _seen: tuple[ast.expr | None, frozenset[str]] = field(
        default=(None, frozenset()), init=False, repr=False, compare=False
    )

    @property
    def mentioned(self) -> frozenset[str]:
        """The names in the expression that is waiting."""
        if self._seen[0] is not self.waiting:
            names = () if self.waiting is None else asts.names(self.waiting)
            self._seen = self.waiting, frozenset(names)
        return self._seen[1]


State = dict[str, Adj]


def copy_state(state: State) -> State:
    return {k: Adj(a.waiting, a.owned, a.thin, a.nothing) for k, a in state.items()}
