"""Whose memory the results of library functions may be."""

from __future__ import annotations

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.targets import Library, bound_atoms, chooses
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


def may_view(facts: Facts, call: Library) -> tuple[ir.Atom, ...]:
    """The arguments whose memory a result that may be a view belongs to: the first, but of max and
    min any that is known to be an array; of others this is asked when it runs."""
    if not chooses(call):
        return tuple(a for _, b in call.args[:1] for a in bound_atoms(b))
    found = [a for _, b in call.args for a in bound_atoms(b)]
    return tuple(a for a in found if isinstance(facts.of(a), ty.Array))


def makes_array_anew(facts: Facts, call: Library, target: str | None) -> bool:
    """Whether NumPy makes an array of a list or tuple: that is a copy, whatever the items are."""
    if target is None or not call.args or not call.entry.name.startswith("numpy."):
        return False
    first = call.args[0][1]
    listed = isinstance(first, ir.Var) and isinstance(facts.of(first), ty.List | ty.Tuple)
    return listed and isinstance(facts.types.get(target), ty.Array)
