"""Methods and attributes of arrays: which function each is, so that both share one rule.

The receiver is the first argument of the function; the method's own arguments follow in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.rules.registry import linear, nondiff
from srcgrad.rules.shapes import M, T, V
from srcgrad.runtime import support


@dataclass(frozen=True)
class Method:
    """The function that a method or attribute is, and how its arguments become the function's.

    `pack`: several positional arguments are one tuple (`x.reshape(2, 3)`).  `attr`: an attribute,
    read without a call.  `first`: the function's parameter that takes the receiver.
    """

    target: Callable[..., Any]
    pack: bool = False
    attr: bool = False
    first: str = "a"


linear(
    support.compress,
    "a, condition, axis=None, out=None",
    a="support.scatter(g, np.compress(condition, support.places(a), axis), np.shape(a))",
    writes=("out",),
    at=[(V, [True, False, True]), (M, [True, False, True], 1)],
)
linear(support.view, "a", a="g", view="always", at=[(M,), (T,)])
linear(
    support.conj,
    "a",
    a="np.conj(g)",
    view="maybe",
    lanes=True,
    at=[(M,), (V * 1j + V[::-1],), (2.0,)],
)
nondiff(support.property_of)

METHODS: dict[str, Method] = {
    # another shape
    "reshape": Method(np.reshape, pack=True),
    "transpose": Method(np.transpose, pack=True),
    "ravel": Method(np.ravel),
    "flatten": Method(support.flatten),
    "squeeze": Method(np.squeeze),
    "swapaxes": Method(np.swapaxes),
    "diagonal": Method(np.diagonal),
    "view": Method(support.view),
    "copy": Method(np.copy),
    "__copy__": Method(np.copy),
    "astype": Method(support.astype),
    # elements
    "take": Method(np.take),
    "repeat": Method(np.repeat),
    "compress": Method(support.compress),
    "choose": Method(np.choose),
    "item": Method(support.item),
    "tolist": Method(support.tolist),
    # element by element
    "clip": Method(np.clip),
    "round": Method(np.round),
    "conj": Method(support.conj),
    "conjugate": Method(support.conj),
    # reductions
    "sum": Method(np.sum),
    "mean": Method(np.mean),
    "prod": Method(np.prod),
    "max": Method(np.max),
    "min": Method(np.min),
    "std": Method(np.std),
    "var": Method(np.var),
    "cumsum": Method(np.cumsum),
    "cumprod": Method(np.cumprod),
    "trace": Method(np.trace),
    "dot": Method(np.dot),
    "all": Method(np.all),
    "any": Method(np.any),
    # places
    "argmax": Method(np.argmax),
    "argmin": Method(np.argmin),
    "argsort": Method(np.argsort),
    "argpartition": Method(np.argpartition),
    "searchsorted": Method(np.searchsorted),
    "nonzero": Method(np.nonzero),
    # attributes
    "T": Method(np.transpose, attr=True),
    "real": Method(np.real, attr=True, first="val"),
    "imag": Method(np.imag, attr=True, first="val"),
    "shape": Method(np.shape, attr=True),
    "ndim": Method(np.ndim, attr=True),
    "size": Method(np.size, attr=True),
    "dtype": Method(support.property_of, attr=True),
    "itemsize": Method(support.property_of, attr=True),
    "nbytes": Method(support.property_of, attr=True),
    "strides": Method(support.property_of, attr=True),
    "flags": Method(support.property_of, attr=True),
}
if hasattr(np, "matrix_transpose"):  # NumPy 2
    METHODS["mT"] = Method(np.matrix_transpose, attr=True)

if hasattr(np.ndarray, "ptp"):  # NumPy 1
    METHODS["ptp"] = Method(np.ptp)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Methods that write to their receiver.
INPLACE_METHODS = _words("sort fill put itemset resize partition setfield byteswap setflags")

# Methods of str, dict, list, tuple, set, arrays and NumPy scalars that neither write nor keep
# their receiver.
READ_ONLY_METHODS = _words(
    # containers and strings
    "keys values items get index count copy union intersection difference issubset issuperset "
    "isdisjoint symmetric_difference startswith endswith format format_map join split rsplit "
    "splitlines partition rpartition strip lstrip rstrip removeprefix removesuffix replace "
    "lower upper title capitalize casefold swapcase center ljust rjust zfill expandtabs "
    "encode decode find rfind rindex translate isalpha isalnum isdigit isdecimal isnumeric "
    "isspace islower isupper istitle isidentifier isprintable isascii "
    # numbers
    "is_integer as_integer_ratio bit_length bit_count hex conjugate "
    # arrays
    "all any argmax argmin argsort argpartition searchsorted nonzero tolist item "
    "sum mean prod max min std var ptp cumsum cumprod trace dot round clip conj take repeat "
    "compress choose flatten astype shape ndim size dtype itemsize nbytes strides flags"
) - {"partition"}  # an array's partition writes
