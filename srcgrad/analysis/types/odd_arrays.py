"""Subclasses of `ndarray` with a meaning of their own for operators: matrices, masked arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from srcgrad.analysis.targets import Uncharted
from srcgrad.ir import types as ty

_USUAL = (np.memmap, np.recarray)


def is_odd(cls: type) -> bool:
    return issubclass(cls, np.ndarray) and not issubclass(cls, _USUAL)


def refusal(kinds: Iterable[ty.Type | None], what: str) -> tuple[Uncharted, ty.Type] | None:
    """Where such an array is among operands: why there is no derivative, and the result's type.

    >>> refusal([ty.Number(float), ty.Object(np.matrix)], "mul")[0].why
    'it is a subclass of ndarray: use np.asarray'
    """
    odd = [t.cls for t in kinds if isinstance(t, ty.Object) and is_odd(t.cls)]
    if not odd or what in ("numpy.asarray", "numpy.array"):
        return None
    why = "it is a subclass of ndarray: use np.asarray"
    return Uncharted(f"{what} of a {odd[0].__name__}", why), ty.Object(odd[0])
