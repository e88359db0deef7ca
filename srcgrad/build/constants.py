"""What a module built ahead of time has of the modules and closures that it was made from."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from srcgrad import pipeline
from srcgrad.build import compiled, finish, trees
from srcgrad.build.errors import BuildError
from srcgrad.build.place import Options, Place
from srcgrad.codegen import writer
from srcgrad.frontend.namespace import Cells
from srcgrad.ir import nodes as ir
from srcgrad.transform import syntax as syn

_MOST = 64  # entries of an array that is written into the text
_SUPPORT = "srcgrad.runtime.support"


@dataclass
class Constants:
    """The constants of one module."""

    drafted: pipeline.Draft
    options: Options
    place: Place

    def of(self, tree: ast.Module) -> list[ast.stmt]:
        """What stands between the imports and the functions.

        Raises: BuildError where the text would need what is only in this process.
        """
        captured = [
            s for item in self.drafted.module.objects.items() for s in self.held(tree, *item)
        ]
        if not self.options.jit:
            return captured + (self.freeze(tree) if self.options.standalone else [])
        return captured + self.compiled(tree)

    def held(self, tree: ast.Module, name: str, value: Any) -> list[ast.stmt]:
        """What a closure captured, or another object of this process, as constants."""
        if _is_plain(value):
            return [syn.assign(name, _literal(value))]
        read = {k: getattr(value, k, value) for k in sorted(trees.attributes(tree, name))}
        if not isinstance(value, Cells) or not all(map(_is_plain, read.values())):
            raise self.only_here(name, value)
        names = {k: self.drafted.module.unique(k) for k in read}
        trees.Replace(name, {k: syn.name(n) for k, n in names.items()}).visit(tree)
        return [syn.assign(names[k], _literal(v)) for k, v in read.items()]

    def only_here(self, name: str, value: Any) -> BuildError:
        return BuildError(
            f"{self.drafted.fns[0].name} can't be built ahead of time: it needs {name} "
            f"({_kind(value)}), which exists only in this process",
            loc=self.drafted.fns[0].loc,
            fixes=["pass it as an argument", "make it a global of a module that can be imported"],
        )

    def compiled(self, tree: ast.Module) -> list[ast.stmt]:
        names = trees.attributes(tree, "support") | trees.attributes(tree, "jit")
        if not self.options.standalone:
            return compiled.start(self.drafted, bool(names))
        if names:
            raise compiled.needs(self.drafted.fns[0], names)
        return [
            self.frozen(name, place) for name, place in sorted(self.drafted.module.frozen.items())
        ]

    def frozen(self, name: str, place: ir.Global) -> ast.stmt:
        if not _is_plain(place.value):
            raise self.missing(place.root.key, place.path, place)
        return syn.assign(name, _literal(place.value))

    def freeze(self, tree: ast.Module) -> list[ast.stmt]:
        """Put numbers that the text reads from modules which may be missing into the text."""
        module, out = self.drafted.module, []
        for (key, path), place in sorted(module.reads.items(), key=lambda item: item[0]):
            if place.root.kind != "module" or self.is_there(key):
                continue
            alias = module.imports.get(key)
            if alias is None or path[0] not in trees.attributes(tree, alias):
                continue
            if len(path) > 1 or not _is_plain(place.value):
                raise self.missing(key, path, place)
            name = module.unique(path[0])
            out.append(syn.assign(name, _literal(place.value)))
            trees.Replace(alias, {path[0]: syn.name(name)}).visit(tree)
        for key, alias in module.imports.items():
            if not self.is_there(key) and trees.attributes(tree, alias):
                raise self.missing(key, (sorted(trees.attributes(tree, alias))[0],), None)
        return out

    def is_there(self, module: str) -> bool:
        """Whether a module is where NumPy is, or where the output is."""
        top = module.split(".")[0]
        if top in sys.stdlib_module_names or top in ("numpy", self.place.package):
            return True
        if module == _SUPPORT:
            return True  # copied
        file = getattr(sys.modules.get(top), "__file__", None) or ""
        return bool({"site-packages", "dist-packages"} & set(Path(file).parts))

    def missing(self, module: str, path: tuple[str, ...], place: ir.Global | None) -> BuildError:
        what = f" ({finish.kind_of(place.value)})" if place is not None else ""
        fn = self.drafted.fns[0]
        return BuildError(
            f"a standalone module can't read {module}.{'.'.join(path)}{what} when it runs",
            loc=fn.loc,
            fixes=[
                "pass it as an argument",
                "put the output into the package of the function",
                "set standalone = false",
            ],
        )


def _kind(value: Any) -> str:
    kind = type(value).__name__
    if kind == "Cells":
        return "variables that a closure captured"
    if kind == "Namespace":
        return "the globals of a program that isn't a module"
    inner = getattr(value, "value", value) if kind == "SimpleNamespace" else value
    return finish.kind_of(inner)


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(type(k) is str for k in value) and all(map(_is_plain, value.values()))
    if isinstance(value, np.ndarray):
        native = value.dtype in (np.float64, np.int64, np.complex128, np.bool_)
        return type(value) is np.ndarray and native and 0 < value.size <= _MOST and value.ndim > 0
    return type(value) in (float, int, complex, bool, str, type(None))


def _literal(value: Any) -> ast.expr:
    if isinstance(value, tuple):
        return ast.Tuple([_literal(v) for v in value], ast.Load())
    if isinstance(value, list):
        return ast.List([_literal(v) for v in value], ast.Load())
    if isinstance(value, dict):
        keys: list[ast.expr | None] = [ast.Constant(k) for k in value]
        return ast.Dict(keys, [_literal(v) for v in value.values()])
    if isinstance(value, np.ndarray):
        return ast.Call(syn.expr("np.array"), [_literal(value.tolist())], [])
    plain = value is None or isinstance(value, bool | str)
    return ast.Constant(value) if plain else writer.number(value)
