"""Helpers that move adjoints between places in memory, as sources to be differentiated again.

Each does what the helper of its name does, without objects, whose adjoints are records.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from srcgrad.runtime.support.adjoints import Record, error


def refuse_record(x):
    if isinstance(x, Record):
        raise error(
            "UnsupportedSyntax",
            "reverse mode over reverse mode through objects in differentiated code: use forward "
            "mode over reverse, as hvp and hessian do",
        )


def accumulate(a, b):
    if b is None or a is None:
        return a
    if isinstance(a, np.ndarray):
        return np.add(a, b, out=a)
    if isinstance(a, list):
        for k in range(len(a)):
            a[k] = accumulate(a[k], b[k])
        return a
    if isinstance(a, dict):
        for k in b:
            a[k] = accumulate(a[k], b[k])
        return a
    refuse_record(a)
    return a + b
