"""The build hooks: a wheel of the example, installed where there is no srcgrad, and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "aot_package"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode,
        reason="pip is not installed",
    ),
]

SETUPTOOLS = """
[build-system]
requires = ["setuptools>=68", "numpy", "srcgrad"]
build-backend = "setuptools.build_meta"

[project]
name = "lynx"
version = "1.0"
dependencies = ["numpy"]

[tool.setuptools.packages.find]
where = ["src"]

[tool.setuptools.cmdclass]
build_py = "srcgrad.setuptools_plugin.BuildPy"
"""


def run(*command, cwd=None):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=300, cwd=cwd,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pip(python, *arguments):
    offline = ("--no-deps", "--no-index", "--disable-pip-version-check", "--quiet")
    return run(sys.executable, "-m", "pip", "--python", python, *arguments, *offline)


def environment(place):
    """A new environment: its Python, and its directory of packages."""
    venv.create(place, with_pip=False)
    scripts = "Scripts" if os.name == "nt" else "bin"
    (packages,) = place.rglob("site-packages")
    return place / scripts / "python", packages


@pytest.fixture(scope="module")
def builder(tmp_path_factory):
    """An environment with srcgrad installed, and what builds packages."""
    pytest.importorskip("hatchling")
    place = tmp_path_factory.mktemp("builder")
    python, packages = environment(place / "env")
    (packages / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    source = place / "srcgrad"
    source.mkdir()
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, source)
    (source / "README.md").write_text("srcgrad\n")
    shutil.copytree(
        ROOT / "srcgrad", source / "srcgrad", ignore=shutil.ignore_patterns("__pycache__")
    )
    pip(python, "install", "--no-build-isolation", source)
    return python


@pytest.fixture
def package(tmp_path):
    """The example without its output: the hook has to make it."""
    copy = tmp_path / "package"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "src" / "lynx" / "_gradients.py").unlink()
    return copy


def runs_without_srcgrad(wheels, tmp_path):
    """Install the one wheel of a directory beside NumPy alone, and run the program in it."""
    (wheel,) = wheels.glob("*.whl")
    python, packages = environment(tmp_path / "user")
    beside = tmp_path / "numpy_only"
    beside.mkdir()
    for found in Path(np.__file__).parents[1].glob("numpy*"):
        (beside / found.name).symlink_to(found)
    (packages / "numpy.pth").write_text(f"{beside}\n")
    pip(python, "install", wheel)
    here = tmp_path / "elsewhere"
    here.mkdir()
    missing = "import importlib.util as i; print(i.find_spec('srcgrad'), i.find_spec('astor'))"
    assert run(python, "-c", missing, cwd=here).strip() == "None None"
    return run(python, "-m", "lynx", cwd=here)


def test_the_hook_for_hatchling(builder, package, tmp_path):
    (package / ".gitignore").write_text("_gradients.py\n")
    wheels = tmp_path / "wheels"
    pip(builder, "wheel", "--no-build-isolation", "-w", wheels, package)
    assert "misfit  2.0187" in runs_without_srcgrad(wheels, tmp_path)


def test_the_hook_for_setuptools(builder, package, tmp_path):
    pytest.importorskip("wheel")
    settings = (package / "pyproject.toml").read_text()
    table = settings[settings.index("[tool.srcgrad]") :]
    (package / "pyproject.toml").write_text(SETUPTOOLS + table)
    wheels = tmp_path / "wheels"
    pip(builder, "wheel", "--no-build-isolation", "-w", wheels, package)
    assert "misfit  2.0187" in runs_without_srcgrad(wheels, tmp_path)


def test_the_hook_can_only_check(builder, package, tmp_path):
    settings = (package / "pyproject.toml").read_text()
    hook = "[tool.hatch.build.hooks.srcgrad]"
    (package / "pyproject.toml").write_text(settings.replace(hook, hook + "\ncheck = true"))
    with pytest.raises(AssertionError, match=r"_gradients\.py is stale"):
        pip(builder, "wheel", "--no-build-isolation", "-w", tmp_path / "wheels", package)
