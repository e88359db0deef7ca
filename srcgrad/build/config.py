"""What to build: `[tool.srcgrad]` in pyproject.toml, or arguments of the command line.

    [tool.srcgrad]
    path = ["src"]
    standalone = true

    [[tool.srcgrad.targets]]
    function = "orbit.model:energy"
    output = "src/orbit/_energy_grad.py"
    mode = "value_and_grad"
    wrt = ["position", "mass"]
    types = { position = "float64[:, :]", mass = "float64[:]" }

Owns the names of the settings and the messages about them.
"""

from __future__ import annotations

import difflib
import keyword
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from srcgrad.build.errors import ConfigError
from srcgrad.build.place import Options
from srcgrad.ir import types as ty
from srcgrad.jobs import MODES, Wrt
from srcgrad.spelling import parse_type, parse_types

_SWITCHES = tuple(field.name for field in fields(Options))
_TABLE = ("path", "targets", *_SWITCHES)
_TARGET = ("function", "output", "mode", "wrt", "types", "name", "has_aux", *_SWITCHES)


@dataclass(frozen=True)
class Target:
    """One function of one output."""

    function: str  # package.module:function
    mode: str = "grad"
    wrt: Wrt = 0
    types: tuple[tuple[str, ty.Type], ...] = ()
    name: str | None = None
    aux: bool = False


@dataclass(frozen=True)
class Output:
    """One module to write."""

    file: Path
    options: Options
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class Config:
    """Everything there is to build in a project."""

    root: Path
    path: tuple[Path, ...]  # where the functions are imported from
    outputs: tuple[Output, ...]


def read(project: Path) -> Config:
    """The settings of a project: its directory, or its pyproject.toml.

    Raises: ConfigError when there are none, or they mean nothing.
    """
    file = project if project.name.endswith(".toml") else project / "pyproject.toml"
    try:
        with file.open("rb") as stream:
            content = tomllib.load(stream)
    except FileNotFoundError:
        raise ConfigError(f"there is no {file}", fixes=["name the function to build"]) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} can't be read: {error}") from None
    table = content.get("tool", {}).get("srcgrad")
    if table is None:
        raise ConfigError(
            f"{file} has no table [tool.srcgrad]", fixes=["name the function to build"]
        )
    return from_table(table, file.parent)


def from_table(table: Mapping[str, Any], root: Path) -> Config:
    """The settings in a table, checked.

    >>> one = {"function": "m:f", "output": "g.py", "wrt": "x", "types": {"x": "float64[:]"}}
    >>> from_table({"targets": [one], "standalone": True}, Path("p")).outputs[0].options.standalone
    True
    """
    _known(table, _TABLE, "[tool.srcgrad]")
    shared = _switches(table, Options(), "[tool.srcgrad]")
    targets = table.get("targets", [])
    if not isinstance(targets, list) or not targets:
        raise ConfigError(
            "[tool.srcgrad] has no targets", fixes=["write [[tool.srcgrad.targets]]"]
        )
    grouped: dict[Path, list[tuple[Target, Options]]] = {}
    for k, entry in enumerate(targets, 1):
        where = f"target {k} of [tool.srcgrad]"
        _known(entry, _TARGET, where)
        output = root / _text(entry, "output", where)
        target = _target(entry, where)
        grouped.setdefault(output, []).append((target, _switches(entry, shared, where)))
    outputs = tuple(_output(file, pairs) for file, pairs in grouped.items())
    return Config(root, _path(table.get("path"), root), outputs)


def single(
    functions: Sequence[str],
    output: Path | None,
    options: Options,
    root: Path,
    *,
    mode: str = "grad",
    wrt: Wrt = 0,
    types: str = "",
    name: str | None = None,
) -> Config:
    """The settings that arguments of the command line mean."""
    if output is None:
        raise ConfigError("there is no output", fixes=["write --output file.py"])
    if name is not None and len(functions) > 1:
        raise ConfigError("a name is for one function", fixes=["use [tool.srcgrad] for several"])
    _name(name, "--name")
    parsed = tuple(parse_types(types).items())
    targets = tuple(
        Target(function, _mode(mode, "--mode"), wrt, parsed, name) for function in functions
    )
    return Config(root, _path(None, root), (Output(output, options, targets),))


# ---- the parts ---------------------------------------------------------------


def _path(given: Any, root: Path) -> tuple[Path, ...]:
    if given is None:
        return tuple(p for p in (root / "src", root) if p.is_dir())
    if not isinstance(given, list) or not all(isinstance(p, str) for p in given):
        raise ConfigError("path in [tool.srcgrad] is a list of directories")
    return tuple(root / p for p in given)


def _output(file: Path, pairs: Sequence[tuple[Target, Options]]) -> Output:
    options = pairs[0][1]
    for target, other in pairs:
        if other != options:
            raise ConfigError(
                f"{file.name} is made for {pairs[0][0].function} and {target.function} with "
                "different settings (" + ", ".join(_SWITCHES) + ")",
                fixes=["give them different outputs"],
            )
    return Output(file, options, tuple(target for target, _ in pairs))


def _target(entry: Mapping[str, Any], where: str) -> Target:
    name = _name(entry.get("name"), where)
    mode = _mode(entry.get("mode", "grad"), where)
    types = _types(entry.get("types", {}), where)
    function = _text(entry, "function", where)
    aux = _flag(entry.get("has_aux", False), "has_aux", where)
    return Target(function, mode, _wrt(entry.get("wrt", 0), where), types, name, aux)


def _name(name: Any, where: str) -> str | None:
    if name is None:
        return None
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ConfigError(f"name in {where} isn't a name for a function: {name!r}")
    return name


def _mode(mode: Any, where: str) -> str:
    if mode not in MODES:
        raise ConfigError(f"mode in {where} is one of {', '.join(MODES)}, not {mode!r}")
    return str(mode)


def _types(given: Any, where: str) -> tuple[tuple[str, ty.Type], ...]:
    if isinstance(given, str):
        return tuple(parse_types(given).items())
    if not isinstance(given, dict) or not all(isinstance(t, str) for t in given.values()):
        raise ConfigError(f'types in {where} is a table {{ x = "float64[:]", n = "int" }}')
    return tuple((name, parse_type(text)) for name, text in given.items())


def _wrt(given: Any, where: str) -> Wrt:
    items = given if isinstance(given, list) else [given]
    good = all(isinstance(i, int | str) and not isinstance(i, bool) for i in items)
    if not items or not good:
        raise ConfigError(f"wrt in {where} is a parameter name, a position, or a list of them")
    return tuple(items) if isinstance(given, list) else items[0]


def _switches(table: Mapping[str, Any], default: Options, where: str) -> Options:
    found = {
        name: _flag(table.get(name, getattr(default, name)), name, where) for name in _SWITCHES
    }
    if found["jit"] and found["pythran"]:
        raise ConfigError(f"jit and pythran are both set in {where}: a module is compiled by one")
    return Options(**found)


def _flag(value: Any, name: str, where: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{name} in {where} is true or false, not {value!r}")
    return value


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        example = {"function": '"package.module:function"', "output": '"src/package/_grad.py"'}[
            key
        ]
        raise ConfigError(f"{where} has no {key}", fixes=[f"write {key} = {example}"])
    return value


def _known(table: Any, names: Sequence[str], where: str) -> None:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where} isn't a table")
    for key in table:
        if key not in names:
            close = difflib.get_close_matches(key, names, 1)
            fix = f"perhaps you mean {close[0]}" if close else f"it may have {', '.join(names)}"
            raise ConfigError(f"{where} has an unknown setting {key!r}", fixes=[fix])
