"""The table of what is covered."""

from __future__ import annotations

from dataclasses import dataclass

from srcgrad.rules import registry, tables
from srcgrad.rules.solvers import replay_of, solver_of

_OF_ROOTS = "the root has the derivative that the implicit function theorem gives"
_REPLAYED = "the derivative is that of what it computes with the steps or intervals it chose"


@dataclass(frozen=True)
class Row:
    """One function: its name, how it is covered, the arguments it may be differentiated in."""

    name: str
    kind: str
    arguments: tuple[str, ...]
    note: str = ""


def rules(pattern: str = "") -> list[Row]:
    """The functions that have a rule, by name; `pattern` is a part of the name.

    Example:
        >>> import srcgrad as sg
        >>> sg.rules("numpy.tanh")
        [Row(name='numpy.tanh', kind='elementwise', arguments=('x',), note='')]
    """
    tables.load(installed=True)
    rows = []
    for entry in registry.entries():
        if pattern not in entry.name or entry.name.startswith("srcgrad."):
            continue
        if solver_of(entry.target) is not None:
            rows.append(Row(entry.name, "root finder", ("f", "args"), _OF_ROOTS))
            continue
        replay = replay_of(entry.target)
        if replay is not None:
            names = (*replay.functions, *replay.active)
            rows.append(Row(entry.name, "integrator", names, _REPLAYED))
            continue
        names = tuple(p for p, f in entry.vjps.items() if f is not None)
        rows.append(Row(entry.name, entry.kind, names, entry.note))
    return sorted(rows, key=lambda r: (r.name, r.kind))
