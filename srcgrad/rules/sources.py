"""Which of Python's own functions, methods and iterators are differentiated by a source in Python.

The sources are in `runtime/support/sequences.py`, `joined.py` and `iterators.py`.
"""

from __future__ import annotations

import builtins
import copy
import functools
import heapq
import itertools
import operator
from typing import Any

from srcgrad.rules.registry import nondiff
from srcgrad.runtime import support
from srcgrad.runtime.support import copies, iterators

nondiff(
    support.sorted_order, support.place_of_largest, support.place_of_smallest, support.keys_of,
    support.places_of, support.from_the_end, support.first_of, support.is_extended,
    copies.check_no_object, copies.check_apart_parts,
    support.check_list, support.check_table, support.check_container, support.check_names,
    support.check_lengths, support.check_joinable,
)  # fmt: skip

FUNCTIONS: dict[Any, Any] = {
    functools.reduce: support.reduce,
    builtins.sorted: support.sorted_list,
    operator.getitem: support.take_item,
    dict.fromkeys: iterators.table_of_keys,
    heapq.nsmallest: iterators.smallest_items,
    heapq.nlargest: iterators.largest_items,
    copy.copy: copies.shallow_copy,
    copy.deepcopy: copies.deep_copy,
}
# By name: most programs do without the module.
STATISTICS: dict[str, Any] = {
    "mean": iterators.mean,
    "fmean": iterators.weighted_mean,
    "geometric_mean": iterators.geometric_mean,
    "harmonic_mean": iterators.harmonic_mean,
    "variance": iterators.variance,
    "pvariance": iterators.population_variance,
    "stdev": iterators.deviation,
    "pstdev": iterators.population_deviation,
    "median": iterators.middle,
    "covariance": iterators.covariance,
    "correlation": iterators.correlation,
}
# Where the rule does not fit the arguments: `max(xs, key=f)`.
OTHERWISE: dict[Any, Any] = {
    builtins.max: support.largest_item,
    builtins.min: support.smallest_item,
}
# Methods of lists and dicts that change them, as functions of the container.
METHODS: dict[str, Any] = {
    "reverse": support.list_reverse,
    "clear": support.list_clear,
    "sort": support.list_sort,
    "update": support.table_update,
    "setdefault": support.table_setdefault,
}
VIEWS: dict[str, Any] = {"values": support.table_values, "items": support.table_items}
# These take all that an iterator gives, and keep no hold of it.
_CONSUMERS = (
    list, tuple, sum, sorted, max, min, dict, set, frozenset, any, all, functools.reduce,
    support.sequence, support.unpacked, itertools.starmap,
)  # fmt: skip
# Lists in the place of iterators that are used up where they are made.
ITERATORS: dict[Any, Any] = {
    itertools.accumulate: support.accumulated,
    itertools.chain: support.chained,
    itertools.chain.from_iterable: support.chained_parts,
    itertools.combinations: support.combinations_of,
    itertools.islice: support.sublist,
    itertools.pairwise: support.pairs,
    itertools.starmap: support.starmapped,
    itertools.product: iterators.product_of,
    itertools.permutations: iterators.permutations_of,
    itertools.combinations_with_replacement: iterators.combinations_again,
    itertools.zip_longest: iterators.zipped_longest,
    itertools.takewhile: iterators.taken_while,
    itertools.dropwhile: iterators.dropped_while,
    itertools.compress: iterators.compressed,
    itertools.filterfalse: iterators.filtered_out,
    builtins.enumerate: support.numbered,
    builtins.filter: support.filtered,
    builtins.reversed: support.backwards,
    builtins.zip: support.zipped,
}


def uses_up(value: Any) -> bool:
    """Whether a function goes through the whole of an iterator that it is given.

    >>> uses_up(list), uses_up(print)
    (True, False)
    """
    return any(value is one for one in _CONSUMERS)


def instead_of(table: dict[Any, Any], value: Any) -> Any:
    """The source that stands for a function, if one does.

    >>> import functools
    >>> instead_of(FUNCTIONS, functools.reduce).__name__
    'reduce'
    """
    if table is FUNCTIONS and getattr(value, "__module__", "") == "statistics":
        return STATISTICS.get(value.__name__)
    try:
        return table.get(value)
    except TypeError:  # not hashable
        return None
