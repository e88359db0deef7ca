"""When a checkpointed loop keeps its state: the binomial schedule.

To go back through `steps` iterations with room for k snapshots of the state, the state before the
first is kept, the loop runs to a later iteration, its state is kept, and so on; each iteration is
then run again from the latest snapshot before it.  The places chosen here need the fewest
iterations in all (Griewank and Walther, Algorithm 799: revolve, ACM Transactions on Mathematical
Software 26, 2000): with k snapshots and no iteration run forward more than r times without being
reversed, C(k + r, k) iterations can be gone back through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error, is_number, own
from srcgrad.runtime.support.memory import shares

STATE_SHARED = (
    "{0} and {1} share memory that a checkpointed loop writes into and binds again: make one of "
    "them a copy"
)


def next_snapshot(at: int, stop: int, free: int) -> int:
    """The iteration to keep the state at next, after one kept at `at`, where those before `stop`
    have yet to be reversed and `free` snapshots are left; `stop` for none.

    >>> next_snapshot(0, 10, 2), next_snapshot(4, 10, 1), next_snapshot(7, 10, 0)
    (4, 7, 10)
    """
    steps, kept = stop - at, free + 1
    if free < 1 or steps < 3:
        return stop
    # With `kept` snapshots and at most `runs` runs of each, `reach` iterations can be gone back
    # through, and `before` with one run less.
    runs, before, reach = 1, 1, kept + 1
    while reach < steps:
        runs += 1
        before, reach = reach, reach * (kept + runs) // runs
    # What follows the next snapshot has one snapshot less, and needs all the runs.
    following = before * kept // (kept + runs - 1)
    return at + min(before, steps - following)


def snapshot_limit(snapshots: Any, steps: int) -> int:
    """How many snapshots to keep: as many as were asked for, or else as few as let no iteration
    be run more than three times without being reversed.

    >>> snapshot_limit(7, 1000), snapshot_limit(None, 1000)
    (7, 17)
    """
    if snapshots is not None:
        if snapshots < 1:
            raise ValueError("snapshots must be at least 1")
        return int(snapshots)
    kept = 1
    while (kept + 1) * (kept + 2) * (kept + 3) < 6 * steps:
        kept += 1
    return kept


def own_state(x: Any) -> Any:
    """A copy of one variable of a checkpointed loop's state, of a type not known when compiling.

    >>> own_state((1.5, "a"))
    (1.5, 'a')

    Raises: UnsupportedSyntax for what can't be copied and put back.
    """
    if isinstance(x, tuple):
        parts = [own_state(v) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if x is None or is_number(x) or isinstance(x, np.ndarray | str):
        return own(x)
    if hasattr(x, "__array_function__"):
        return x.copy()
    raise error(
        "UnsupportedSyntax",
        f"the state of a checkpointed loop holds a value of type {type(x).__name__}: it may hold "
        "numbers, arrays and tuples of them",
    )


def put_state(x: Any, kept: Any) -> Any:
    """Restore the contents of an array of a checkpointed loop's state in place."""
    if isinstance(x, np.ndarray):
        x[...] = kept
        return x
    return own_state(kept)


def state_apart(values: tuple[Any, ...], names: tuple[str, ...]) -> None:
    """Refuse a state of which two arrays share memory that the loop writes.

    >>> state_apart((np.zeros(2), np.zeros(2)), ("u", "v"))

    Raises: AliasError.
    """
    for k, a in enumerate(values):
        for j in range(k):
            if shares(a, values[j]):
                raise error("AliasError", STATE_SHARED.format(names[j], names[k]))
