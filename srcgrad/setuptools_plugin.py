"""The same for setuptools: a `build_py` that runs `srcgrad build` first.

[build-system]
requires = ["setuptools>=68", "srcgrad"]

[tool.setuptools.cmdclass]
build_py = "srcgrad.setuptools_plugin.BuildPy"
"""

from __future__ import annotations

from pathlib import Path

from setuptools.command.build_py import build_py

from srcgrad.build import project


class BuildPy(build_py):  # type: ignore[misc]
    """Makes the modules of `[tool.srcgrad]` before they are copied."""

    def run(self) -> None:
        """Called by setuptools for `bdist_wheel` and for editable installs."""
        project(Path.cwd())
        super().run()
