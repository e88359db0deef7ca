"""The module being written: its imports, the objects it is handed, its functions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.rules.solvers import as_called
from srcgrad.transform import syntax as syn

_USUAL = {"numpy": "np", "math": "math", "srcgrad.runtime.support": "support"}


def base_name(fn: ir.Function) -> str:
    """What the functions that are made of one are named after: `Point_add` for
    `Point.__add__`."""
    if not fn.name.isidentifier():
        return "function"
    inner = fn.name.strip("_")
    owner = getattr(fn.fn, "__qualname__", "").rpartition(".")[0].rpartition(".")[2]
    special = fn.name == f"__{inner}__" and owner.isidentifier()
    return f"{owner}_{inner}" if special else fn.name


@dataclass
class Module:
    """One generated module; names at its top level never collide with those of its functions."""

    taken: set[str]
    imports: dict[str, str] = field(default_factory=dict)  # module -> name it is bound to
    objects: dict[str, Any] = field(default_factory=dict)  # name -> live object set by the loader
    functions: list[ast.stmt] = field(default_factory=list)
    reads: dict[tuple[str, tuple[str, ...]], ir.Global] = field(default_factory=dict)
    dtypes: dict[str, Any] = field(default_factory=dict)
    backend: str = "numpy"
    ndims: dict[str, int] = field(default_factory=dict)  # of arrays by name; -1: several
    frozen: dict[str, ir.Global] = field(default_factory=dict)  # Numba: names of their own
    rules: dict[CodeType, str] = field(
        default_factory=dict
    )  # what users' rules are, by their code
    plain: dict[Any, str] = field(default_factory=dict)  # nested functions written out as they are
    scalars_are_python: bool = True  # no NumPy function can have made a number a NumPy scalar
    _by_id: dict[int, str] = field(default_factory=dict)

    def unique(self, want: str) -> str:
        got, k = want, 1
        while got in self.taken:
            k += 1
            got = f"{want}_{k}"
        self.taken.add(got)
        return got

    def bind_import(self, module: str) -> str:
        got = self.imports.get(module)
        if module not in ("math",):
            self.scalars_are_python = False
        if got is None:
            usual = _USUAL.get(module)
            got = usual if usual else self.unique(module.split(".")[-1])
            self.imports[module] = got
            if is_hidden(module):
                self.bind_import("importlib")
        return got

    def bind_object(self, want: str, value: Any) -> str:
        """A name for a live object that the loader sets before the module runs."""
        got = self._by_id.get(id(value))
        if got is None:
            want = want.rpartition(".")[2]
            got = self._by_id[id(value)] = self.unique(want if want.isidentifier() else "given")
            self.objects[got] = value
        return got

    def atom(self, a: ir.Const | ir.Global) -> ast.expr:
        """A constant or a global reference as text."""
        if isinstance(a, ir.Const):
            return syn.number(a.value)
        a = replace(a, value=as_called(a.value))
        self.reads[a.root.key, a.path] = a
        if self.backend == "numba" and not _known_to_numba(a):
            return syn.name(self.freeze(a))
        match a.root.kind:
            case "builtins":
                return syn.name(a.path[0])
            case "module":
                base = syn.name(self.bind_import(a.root.key))
            case _:
                base = syn.name(self.bind_object(a.root.key, a.root.obj))
        for part in a.path:
            base = ast.Attribute(base, part, ast.Load())  # type: ignore[assignment]
        return base

    def note_ndim(self, name: str, ndim: int) -> None:
        self.ndims[name] = ndim if self.ndims.get(name, ndim) == ndim else -1

    def freeze(self, a: ir.Global) -> str:
        """A name of this module for what a global of another holds now."""
        if a.root.kind != "module":
            return self.bind_object(a.path[-1] if a.path else a.root.key, a.value)
        known = [n for n, g in self.frozen.items() if (g.root.key, g.path) == (a.root.key, a.path)]
        if known:
            return known[0]
        self.bind_import(a.root.key)
        name = self.unique(a.path[-1] if a.path else a.root.key)
        self.frozen[name] = a
        return name

    def formula(self, node: ast.expr) -> ast.expr:
        """A rule's formula, whose modules are noted, under the names that they have here."""
        names = syn.names_in(node)
        for module, usual in _USUAL.items():
            if usual in names:
                self.imports.setdefault(module, usual)
                if usual != "math":
                    self.scalars_are_python = False
        bound: dict[str, ast.expr] = {}
        for part in ("special", "linalg", "signal"):
            if part in names:
                bound[part] = syn.name(self.bind_import(f"scipy.{part}"))
        return syn.substitute(node, bound) if bound else node

    def support(self, fn: str, *args: ast.expr) -> ast.expr:
        self.imports.setdefault("srcgrad.runtime.support", "support")
        return syn.call(f"support.{fn}", *args)

    def numpy(self, fn: str, *args: ast.expr, **kwargs: ast.expr) -> ast.expr:
        self.imports.setdefault("numpy", "np")
        self.scalars_are_python = False
        return syn.call(f"np.{fn}", *args, **kwargs)

    def prune(self, functions: Iterable[ast.stmt]) -> None:
        """Forget the imports that no function mentions."""
        used = set().union(*map(asts.names, functions)) | {
            g.root.key for g in self.frozen.values()
        }
        kept = {m for m, n in self.imports.items() if n in used or m in used}
        if any(map(is_hidden, kept)):
            kept.add("importlib")
        self.imports = {m: n for m, n in self.imports.items() if m in kept}

    def import_statements(self) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        hidden: list[ast.stmt] = []
        for module in sorted(
            self.imports, key=lambda m: (m.split(".")[0] not in sys.stdlib_module_names, m)
        ):
            bound = self.imports[module]
            if module == "srcgrad.runtime.support":
                out.append(ast.ImportFrom("srcgrad.runtime", [ast.alias("support")], 0))
            elif is_hidden(module):
                hidden.append(import_hidden(module, bound, self.imports["importlib"]))
            else:
                out.append(ast.Import([ast.alias(module, None if bound == module else bound)]))
        return out + hidden


def is_hidden(module: str) -> bool:
    """Whether `import a.b as b` binds something else than the module: the package has, say, a
    function of that name from it."""
    first, *parts = module.split(".")
    found: object = sys.modules.get(first)
    for part in parts:
        found = getattr(found, part, None)
    here = sys.modules.get(module)
    return here is not None and found is not None and found is not here


def import_hidden(module: str, bound: str, importlib: str = "importlib") -> ast.stmt:
    """The import of such a module, which finds it by its full name."""
    made = syn.call(f"{importlib}.import_module", ast.Constant(module))
    return syn.assign(syn.name(bound), made)


def _known_to_numba(a: ir.Global) -> bool:
    return a.root.kind == "builtins" or a.root.key.split(".")[0] in ("numpy", "math", "cmath")


def function_text(module: Module, target: object) -> ast.expr:
    """How generated text names a library function."""
    import math

    import numpy as np

    from srcgrad.runtime import support

    found = getattr(target, "__name__", "")
    places: tuple[tuple[str, object], ...] = (
        ("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft), ("math", math),
        ("support", support),
    )  # fmt: skip
    for prefix, owner in places:
        if getattr(owner, found, None) is target:
            node = syn.expr(f"{prefix}.{found}")
            return module.formula(node)
    bound = getattr(target, "__self__", None)
    if isinstance(bound, np.ufunc):
        return module.formula(syn.expr(f"np.{bound.__name__}.{found}"))
    return syn.name(module.bind_object(found or "library_function", target))
