"""The build hook for hatchling: `[tool.hatch.build.hooks.srcgrad]` runs `srcgrad build`.

With `check = true` the hook writes nothing and fails when a committed module is stale.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from srcgrad.build import project


class SrcgradBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Makes the modules of `[tool.srcgrad]` before they are packed."""

    PLUGIN_NAME = "srcgrad"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel or source distribution is packed."""
        root = Path(self.root)
        made = project(root, check=bool(self.config.get("check", False)))
        for one in made:
            # A module that version control ignores belongs into the package all the same.
            build_data["artifacts"].append(f"/{one.shown}")


@hookimpl
def hatch_register_build_hook() -> type[SrcgradBuildHook]:
    """How hatchling finds the hook."""
    return SrcgradBuildHook
