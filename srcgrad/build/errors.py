"""What can go wrong when a derivative is made ahead of time."""

from __future__ import annotations

from srcgrad.errors import SrcgradError


class BuildError(SrcgradError):
    """A derivative that can't be made ahead of time."""


class ConfigError(BuildError):
    """The settings can't be followed."""
