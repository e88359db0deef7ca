"""Lists and tuples where NumPy takes arrays: `np.multiply(x, [1.0, 2.0])`, `[1.0, 2.0] * x`.

    y = np.dot([a, 2.0], x)      ->      t = np.asarray([a, 2.0])
                                         y = np.dot(t, x)

So a rule's formula meets arrays, as its sample points do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from srcgrad.analysis.rewrites.base import Rewrites
from srcgrad.analysis.targets import Library
from srcgrad.frontend.resolve import numpy_function
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.rebuild import map_own
from srcgrad.rules.registry import Entry


@dataclass
class ArrayLikes(Rewrites):
    """The part of sharpening that makes arrays of lists."""

    def of_arrays(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """The statement with arrays in the place of lists."""
        target = self.facts.targets.get(stmt.sid)
        if not isinstance(target, Library) or target.entry.given or is_helper(target.entry):
            return None
        lists = {
            name: b
            for name, b in target.args
            if isinstance(b, ir.Var) and is_list(self.facts.of(b))
        }
        if not lists:
            return None
        listed = {lists[name] for name in array_params(target.entry) & set(lists)}
        if not listed:
            return None
        self.changed = True
        made = {a: ir.Var(f"%a{next(self.sids)}") for a in sorted(listed, key=lambda a: a.name)}
        before = [
            ir.Assign(next(self.sids), stmt.loc, var, ir.Call(numpy_function("asarray"), (a,)))
            for a, var in made.items()
        ]
        new = map_own(stmt, lambda a: made.get(a, a) if isinstance(a, ir.Var) else a, lambda a: a)
        return [*before, new]


def is_helper(entry: Entry) -> bool:
    """Whether it is a function of srcgrad's own texts: these tell lists and arrays apart."""
    return entry.name.startswith("srcgrad.")


def is_list(t: ty.Type | None) -> bool:
    """Whether a value is a list or a plain tuple, which NumPy makes an array of."""
    return isinstance(t, ty.List) or (isinstance(t, ty.Tuple) and t.cls is tuple)


def makes_array(kinds: Sequence[ty.Type | None]) -> bool:
    """Whether an operator on these is one of NumPy's, that takes a list for an array."""
    return any(isinstance(t, ty.Array) for t in kinds)


def array_params(entry: Entry) -> frozenset[str]:
    """The parameters in which the sample points of a rule have arrays and never lists."""
    if entry.params is None:
        return frozenset()
    arrays: set[str] = set()
    others: set[str] = set()
    for point in entry.at:
        args, kwargs = point if _with_keywords(point) else (point, {})
        given = dict(zip(entry.params.parameters, args, strict=False)) | kwargs
        arrays |= {name for name, value in given.items() if isinstance(value, np.ndarray)}
        others |= {name for name, value in given.items() if isinstance(value, list | tuple)}
    return frozenset(arrays - others)


def _with_keywords(point: tuple[object, ...]) -> bool:
    return len(point) == 2 and isinstance(point[0], tuple) and isinstance(point[1], dict)
