"""Another user's module, with the same names."""

from __future__ import annotations

K = 7.0


def scale(x):
    return K * x * x
