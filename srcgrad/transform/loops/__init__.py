"""Passes over the loops of a generated function that Numba compiles; each can be turned off.

lift        an array that each round makes for itself is made once, before the loop
share       an element that is read twice is kept once
settle      a number that each round makes is kept at its end, not before the next overwrites it
fuse        a loop whose iterations are independent is reversed iteration by iteration
dead        what nobody reads is not computed
replay      what a round computes is computed again from its state, where that is kept for less
standing    what is in an array until the end is read from there, not kept
reread      what was read from an array that is put back is read again, not kept
once        an element that every round of a loop changes is kept before the loop
neighbours  elements beside one another that a loop reads are kept in one copy of their array
merge       additions to one place that follow one another become one
guard       a loop that only spreads a cotangent which is structurally zero is skipped
ascending   the iterations of a reverse loop that commute run in the order of memory
first       zeros that the first additions would be made to are not written
anew        zeros between taking what an array holds and adding to it again are not written
distribute  additions to neighbours are gathered; those to other rows get loops of their own
hoist       additions to one place of an array are summed in a number first
invariant   elements that an innermost loop reads again and again are read once
parallel    the user's `prange` loops run in parallel where they can, with the reverse ones
stop        a loop is left where the cotangent that it carries has been given away
last        of rounds that end at the last one that took a branch that one's number is kept
regroup     sums of cotangents may be taken in any order, several terms at once
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from srcgrad.transform.loops.anew import anew
from srcgrad.transform.loops.ascending import ascending
from srcgrad.transform.loops.dead import dead
from srcgrad.transform.loops.distribute import distribute
from srcgrad.transform.loops.facts import accesses, sweeps
from srcgrad.transform.loops.facts.leaves import Leaves
from srcgrad.transform.loops.first import first
from srcgrad.transform.loops.fuse import fuse
from srcgrad.transform.loops.guard import guard
from srcgrad.transform.loops.hoist import hoist
from srcgrad.transform.loops.invariant import invariant
from srcgrad.transform.loops.last import last
from srcgrad.transform.loops.lift import lift
from srcgrad.transform.loops.merge import merge
from srcgrad.transform.loops.neighbours import neighbours
from srcgrad.transform.loops.once import once
from srcgrad.transform.loops.parallel import parallel
from srcgrad.transform.loops.regroup import regroup
from srcgrad.transform.loops.replay import replay
from srcgrad.transform.loops.reread import reread
from srcgrad.transform.loops.settle import settle
from srcgrad.transform.loops.share import share
from srcgrad.transform.loops.standing import standing
from srcgrad.transform.loops.stop import stop

PASSES = (
    lift, share, dead, settle, fuse, dead, replay, dead, standing, reread, once, neighbours, merge,
    guard, ascending, first, anew, distribute, dead, hoist, invariant, parallel, stop, last,
    regroup,
)  # fmt: skip
skipped: set[str] = set()  # names of passes that are turned off


def improve(
    functions: Sequence[ast.stmt], ndims: Mapping[str, int] | None = None
) -> list[ast.stmt]:
    """Functions after all passes; the meaning stays, up to the order of additions.  `ndims` are
    the numbers of dimensions of arrays by name, where they are known.

    >>> fn = ast.parse('''
    ... def f(a, n):
    ...     a_bar = np.zeros(a.shape, a.dtype)
    ...     s_bar = 0.5
    ...     for i in range(n - 1, -1, -1):
    ...         a_bar[i] += s_bar * a[i]
    ...     return a_bar
    ... ''').body
    >>> print(ast.unparse(improve(fn)[0].body[2]))
    for i in range(n):
        a_bar[i] += s_bar * a[i]
    """
    for fn in functions:
        if isinstance(fn, ast.FunctionDef):
            leaves = Leaves()
            seen = accesses.Function(fn, ndims, sweeps.adjoints(fn, leaves), leaves)
            for one in PASSES:
                if one.__name__ not in skipped:
                    seen = seen.again()
                    one(seen)
                    seen.leaves.check(one.__name__)
    return list(functions)
