"""Whether the environment asks for checks after each pass and in each derivative."""

from __future__ import annotations

import os


def debugging() -> bool:
    """Whether SRCGRAD_DEBUG is set, to anything but 0."""
    return os.environ.get("SRCGRAD_DEBUG", "") not in ("", "0")
