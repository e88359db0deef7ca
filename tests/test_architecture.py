"""The layers of the package, who may import which library, and how long a module may be.

Everything is read from the source, imports inside functions too: those are how a lower layer
would reach a higher one unseen.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from srcgrad.runtime.support import later

PACKAGE = Path(__file__).parents[1] / "srcgrad"

# From the ground up; a module may import its own layer and those before it.
LAYERS = (
    ("_version", "runtime.support"),
    ("errors", "debug"),
    ("ir",),
    ("rules",),
    ("trees", "differences", "spelling"),
    ("frontend",),
    ("analysis",),
    ("transform",),
    ("codegen",),
    ("runtime", "generated"),
    ("compiled", "dependencies", "descriptions", "parcel", "pipeline", "relied", "warm"),
    ("primal", "quick", "wrt", "gradfunction", "trace"),
    ("api", "higher", "implicit", "markers", "locate", "jobs"),
    ("check", "build", "show"),
    ("hatch_plugin", "setuptools_plugin"),
    ("cli", "commands", "__main__"),
)

# (module, what it imports from above): each is a wish to be rid of.
UPWARD: set[tuple[str, str]] = {
    ("gradfunction", "show.notebook"),  # a notebook asks a derivative for its HTML
}

# The one module or folder that imports each library besides NumPy.
THIRD_PARTY = {
    "astor": ("codegen.",),
    "numba": ("runtime.numba",),
    "scipy": ("rules.scipy_", "runtime.support.scipy_"),
    "platformdirs": ("runtime.cache",),
    "typer": ("cli", "commands", "completion"),
    "rich": ("cli", "commands", "show."),
    "pygments": ("commands", "show."),
    "hatchling": ("hatch_plugin", "build.hatch_plugin"),
    "setuptools": ("setuptools_plugin", "build.setuptools_plugin"),
}

LIMIT = 400
# Modules that are longer, with their length: a number here may only become smaller, and a module
# that has become short enough goes.
TOO_LONG: dict[str, int] = {
    "analysis.types.probe": 436,
    "check": 413,
    "ir.nodes": 478,
    "runtime.support.signal": 558,
    "transform.text": 428,
}


def modules() -> dict[str, ast.Module]:
    """Every module of the package by its name below `srcgrad`."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found


MODULES = modules()


def imports(name: str, tree: ast.Module) -> Iterator[str]:
    """The full names of what a module imports; what only type checkers see is left out."""
    skipped = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for s in node.body
        for inner in ast.walk(s)
    }
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            assert node.module is not None
            for alias in node.names:
                inside = f"{node.module}.{alias.name}".removeprefix("srcgrad.")
                is_module = inside in MODULES and node.module.split(".")[0] == "srcgrad"
                yield f"srcgrad.{inside}" if is_module else node.module


IMPORTS = {name: tuple(imports(name, tree)) for name, tree in MODULES.items()}


def layer(name: str) -> int:
    """The layer of a module: that of the longest entry that it is or lies in."""
    best = max(
        (
            (len(e), k)
            for k, group in enumerate(LAYERS)
            for e in group
            if f"{name}.".startswith(f"{e}.")
        ),
        default=None,
    )
    assert best is not None, f"srcgrad.{name} has no place in LAYERS"
    return best[1]


def upward() -> set[tuple[str, str]]:
    found = set()
    for name in MODULES:
        if name == "__init__":
            continue
        for full in IMPORTS[name]:
            if not full.startswith("srcgrad."):
                continue
            target = full.removeprefix("srcgrad.")
            if layer(target) > layer(name):
                found.add((name, target))
    return found


def test_imports_go_down() -> None:
    assert upward() - UPWARD == set()


def test_no_exception_is_out_of_date() -> None:
    assert UPWARD - upward() == set()


def test_helpers_of_generated_code_know_nothing_of_the_compiler() -> None:
    """They are copied into modules that have to run without srcgrad."""
    for name in MODULES:
        if not f"{name}.".startswith("runtime.support."):
            continue
        # Those for SciPy's functions are loaded where they are called, and nowhere else.
        more = ("scipy",) if name.startswith("runtime.support.scipy_") else ()
        allowed = {*sys.stdlib_module_names, "numpy", *more}
        for full in IMPORTS[name]:
            own = full.startswith("srcgrad.runtime.support")
            assert own or full.split(".")[0] in allowed, f"{name} imports {full}"


@pytest.mark.parametrize("library", sorted(THIRD_PARTY))
def test_third_party_imports(library: str) -> None:
    for name in MODULES:
        if any(full.split(".")[0] == library for full in IMPORTS[name]):
            assert f"{name}.".startswith(THIRD_PARTY[library]), f"{name} imports {library}"


def test_no_other_library_is_imported() -> None:
    known = {*sys.stdlib_module_names, "numpy", "srcgrad", *THIRD_PARTY}
    for name in MODULES:
        for full in IMPORTS[name]:
            assert full.split(".")[0] in known, f"{name} imports {full}"


def loaded_by(statement: str) -> set[str]:
    """The libraries that a process has loaded after a statement."""
    script = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return {name.split(".")[0] for name in json.loads(done.stdout)}


def test_import_is_light() -> None:
    loaded = loaded_by("import srcgrad")
    assert loaded & {"numba", "llvmlite", "astor", "scipy", "rich", "typer", "matplotlib"} == set()
    assert "srcgrad" in loaded


def test_rules_are_loaded_without_scipy() -> None:
    loaded = loaded_by("from srcgrad.rules import tables; tables.load()")
    assert loaded & {"numba", "astor", "scipy"} == set()


def test_helpers_that_need_scipy_are_found_by_their_names() -> None:
    found = {
        node.name: name.rsplit(".", 1)[-1]
        for name, tree in MODULES.items()
        if name.rsplit(".", 1)[-1] in later.MODULES and name.startswith("runtime.support.")
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    assert found == later.PLACES


def is_rule_table(name: str) -> bool:
    """Tables have one line for each rule, and may be as long as they are."""
    return name.startswith("rules.") and name not in (
        "rules.registry",
        "rules.custom",
        "rules.scope",
    )


def lengths() -> dict[str, int]:
    found = {}
    for name in MODULES:
        path = PACKAGE.joinpath(*name.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        found[name] = len(file.read_text(encoding="utf-8").splitlines())
    return found


def test_modules_are_short() -> None:
    longer = {
        name: length
        for name, length in lengths().items()
        if length > max(LIMIT, TOO_LONG.get(name, 0)) and not is_rule_table(name)
    }
    assert longer == {}


def test_no_long_module_is_forgotten() -> None:
    now = lengths()
    assert {name for name in TOO_LONG if now.get(name, 0) <= LIMIT} == set()


def test_every_module_says_what_it_is() -> None:
    exempt = {"_version"}
    silent = [
        n
        for n, tree in MODULES.items()
        if n not in exempt and tree.body and not ast.get_docstring(tree)
    ]
    assert silent == []


def test_public_names_are_documented() -> None:
    """Each function that `srcgrad` offers has a docstring with an example that runs."""
    import inspect

    import srcgrad

    lacking = []
    for name, value in vars(srcgrad).items():
        if name.startswith("_") or not inspect.isroutine(value):
            continue
        if ">>>" not in (inspect.getdoc(value) or ""):
            lacking.append(name)
    assert lacking == []
