"""Derivative rules: the registry, the tables named after what they cover, and users' own rules."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Rules(ModuleType):
    """The package is also the public function `srcgrad.rules(pattern)`."""

    def __call__(self, pattern: str = "") -> list[Any]:
        """The functions that have a rule; see `srcgrad.rules.coverage.rules`."""
        from srcgrad.rules.coverage import rules

        return rules(pattern)


sys.modules[__name__].__class__ = _Rules
