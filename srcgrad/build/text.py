"""The text of a module made ahead of time: several derivatives that need NumPy and little else.

Owns what may be in such a module: no live objects, and in a standalone one nothing of srcgrad and
no module that could be missing where it runs.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from srcgrad import pipeline
from srcgrad._version import __version__
from srcgrad.build import compiled, finish, helpers
from srcgrad.build.errors import BuildError
from srcgrad.build.finish import Entry
from srcgrad.codegen import writer
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.comments import Comment
from srcgrad.jobs import Job
from srcgrad.transform import syntax as syn

# Bodies give a name values of several types, as the code they come from does, which mypy has no
# way to say; what callers see is typed, and calls and names are checked.
_MYPY = (
    "arg-type,assignment,attr-defined,call-overload,misc,operator",
    "return-value,union-attr,unused-ignore,var-annotated",
)
_MOST = 64  # entries of an array that is written into the text
_SUPPORT = "srcgrad.runtime.support"


@dataclass(frozen=True)
class Options:
    """How the text of a module is to be."""

    standalone: bool = False
    jit: bool = False
    pythran: bool = False
    checks: bool = True


@dataclass(frozen=True)
class Place:
    """Where the text will be: what it may import and how it names files depend on it."""

    root: Path
    package: str | None = None  # the top-level package that the output belongs to


def module_text(
    jobs: Sequence[Job], names: Sequence[str | None], options: Options, place: Place
) -> str:
    """The text of one module with a function for each job.

    Raises: BuildError when it would need what is only in this process; SrcgradError.
    """
    backend = "numba" if options.jit else "numpy"
    requests = [replace(job.request(), backend=backend) for job in jobs]
    drafted = pipeline.draft(requests, names)
    _refuse_objects(drafted)
    work = _Work(drafted, options, place)
    entries = work.entries(requests)
    found = [finish.tidy(f) for f in drafted.functions if isinstance(f, ast.FunctionDef)]
    if options.jit:
        found = compiled.adapted(found, requests)
    functions = [work.finish(fn, entries.get(fn.name)) for fn in found]
    return work.text([statement for group in functions for statement in group])


def _refuse_objects(drafted: pipeline.Draft) -> None:
    for name, value in drafted.module.objects.items():
        what = _held(value)
        raise BuildError(
            f"{drafted.fns[0].name} can't be built ahead of time: it needs {name} ({what}), which "
            "exists only in this process",
            loc=drafted.fns[0].loc,
            fixes=["pass it as an argument", "make it a global of a module that can be imported"],
        )


def _held(value: Any) -> str:
    kind = type(value).__name__
    if kind == "Cells":
        return "variables that a closure captured"
    if kind == "Namespace":
        return "the globals of a program that isn't a module"
    inner = getattr(value, "value", value) if kind == "SimpleNamespace" else value
    return finish.kind_of(inner)


@dataclass
class _Work:
    """One module being written."""

    drafted: pipeline.Draft
    options: Options
    place: Place

    @property
    def checks(self) -> bool:
        """Numba and Pythran take no other types than those they compiled for."""
        return self.options.checks and not (self.options.jit or self.options.pythran)

    # ---- functions ----

    def entries(self, requests: Sequence[pipeline.Request]) -> dict[str, Entry]:
        out: dict[str, Entry] = {}
        for request, fn, name in zip(requests, self.drafted.fns, self.drafted.names, strict=True):
            types = {p.name: t for p, t in zip(fn.params, request.types, strict=True)}
            result = self.drafted.program.facts(fn, request.types).result or ty.UNKNOWN
            where = f"{self.shown(fn.loc.file)}:{fn.loc.line}"
            entry = Entry(
                name, request.mode, fn.name, where, request.wrt, request.single, request.aux,
                types, result,
            )  # fmt: skip
            lengths = _lengths_matter(request, fn) if self.checks else frozenset()
            out[name] = replace(entry, lengths=lengths)
        return out

    def shown(self, file: str) -> str:
        """A file as the text names it: the same in every directory and on every machine."""
        try:
            relative = Path(file).resolve().relative_to(self.place.root.resolve())
        except (ValueError, OSError):
            return os.path.basename(file)
        return relative.as_posix()

    def finish(self, fn: ast.FunctionDef, entry: Entry | None) -> list[ast.stmt]:
        options, before = self.options, []
        if entry is None:
            fn = finish.helper(fn, options.pythran)
        else:
            before = [Comment(line) for line in _origin(entry)]
            exported = compiled.export(entry, fn) if options.pythran else None
            if exported is not None:
                before.append(exported)
            fn = finish.entry_point(fn, entry, self.checks, options.pythran)
        if options.jit:
            fn.decorator_list = [compiled.decorator(entry, fn)]
        return [*before, fn]

    # ---- the module ----

    def text(self, body: list[ast.stmt]) -> str:
        tree = ast.Module(body, [])
        constants = self.constants(tree)
        copies, names = helpers.Copies(), {}
        if self.options.standalone:
            wanted = _attributes(tree, "support")
            copies = helpers.reached(wanted)
            names = copies.names({*self.drafted.module.taken, *_names(tree)})
            homes = {n: names[helpers._home((_SUPPORT, n))] for n in wanted}
            _Replace("support", {n: syn.name(h) for n, h in homes.items()}).visit(tree)
        copied = copies.text(names)
        top = self.top([*constants, *body], copied, copies)
        text = writer.write(ast.Module([*top, *constants, *body], []))
        if not copied:
            return text
        title = "# ---- helpers, copied from srcgrad.runtime.support ----"
        return f"{text}\n\n{title}\n\n\n{copied}"

    def top(self, body: Sequence[ast.stmt], copied: str, copies: helpers.Copies) -> list[ast.stmt]:
        primals = sorted({fn.loc.file for fn in self.drafted.fns})
        shown = ", ".join(self.shown(file) for file in primals)
        edit = " or ".join(dict.fromkeys(os.path.basename(file) for file in primals))
        used = _names(ast.Module([*body, *ast.parse(copied).body], []))
        imports = self.imports(used, copies, bool(copied))
        first: list[ast.stmt] = [
            Comment(
                f"Generated by srcgrad {__version__} (srcgrad build).  Edit {edit}, not this file."
            ),
        ]
        first += [Comment(f'mypy: disable-error-code="{codes}"') for codes in _MYPY]
        if used & {"l", "O", "I"}:
            first.append(Comment("ruff: noqa: E741"))
        first.append(ast.Expr(ast.Constant(f"Derivatives of functions in {shown}.")))
        public = ast.List([ast.Constant(name) for name in self.drafted.names], ast.Load())
        exported = [] if self.options.pythran else [syn.Blank(), syn.assign("__all__", public)]
        return [*first, syn.Blank(), *imports, *exported]

    def imports(self, used: set[str], copies: helpers.Copies, future: bool) -> list[ast.stmt]:
        found: dict[str, ast.Import | ast.ImportFrom] = {}
        for module, bound in self.drafted.module.imports.items():
            if module == _SUPPORT:
                found["support"] = ast.ImportFrom("srcgrad.runtime", [ast.alias("support")], 0)
            else:
                name = None if bound == module else bound
                found[bound] = ast.Import([ast.alias(module, name)])
        found |= copies.imports
        found["np"] = ast.Import([ast.alias("numpy", "np")])
        found["npt"] = ast.Import([ast.alias("numpy.typing", "npt")])
        found["Any"] = ast.ImportFrom("typing", [ast.alias("Any")], 0)
        found["jit"] = ast.ImportFrom("srcgrad.runtime.support", [ast.alias("jit")], 0)
        found["library"] = ast.ImportFrom("srcgrad.runtime.numba", [ast.alias("library")], 0)
        found["njit"] = ast.ImportFrom("numba", [ast.alias("njit")], 0)
        kept = {n: node for n, node in found.items() if n.split(".")[0] in used}
        return _sorted_imports(list(kept.values()), future, self.place.package)

    # ---- globals of the user's modules ----

    def constants(self, tree: ast.Module) -> list[ast.stmt]:
        """What stands between the imports and the functions."""
        if not self.options.jit:
            return self.freeze(tree) if self.options.standalone else []
        names = _attributes(tree, "support") | _attributes(tree, "jit")
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
            if alias is None or path[0] not in _attributes(tree, alias):
                continue
            if len(path) > 1 or not _is_plain(place.value):
                raise self.missing(key, path, place)
            name = module.unique(path[0])
            out.append(syn.assign(name, _literal(place.value)))
            _Replace(alias, {path[0]: syn.name(name)}).visit(tree)
        for key, alias in module.imports.items():
            if not self.is_there(key) and _attributes(tree, alias):
                raise self.missing(key, (sorted(_attributes(tree, alias))[0],), None)
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


def _lengths_matter(request: pipeline.Request, fn: ir.Function) -> frozenset[str]:
    """The arrays for which another text would be needed if a dimension had length one."""
    out = set()
    plain = _bare_text(request)
    for k, (param, t) in enumerate(zip(fn.params, request.types, strict=True)):
        if isinstance(t, ty.Array) and "n" in t.dims:
            loose = ty.Array(t.dtype, tuple("?" if d == "n" else d for d in t.dims))
            types = (*request.types[:k], loose, *request.types[k + 1 :])
            if _bare_text(replace(request, types=types)) != plain:
                out.add(param.name)
    return frozenset(out)


def _bare_text(request: pipeline.Request) -> str:
    return writer.write(ast.Module(pipeline.draft([request]).functions, []))


def _origin(entry: Entry) -> list[str]:
    return [f"From {entry.place} {entry.primal}({', '.join(entry.types)})."]


# ---- trees -------------------------------------------------------------------


def _names(tree: ast.AST) -> set[str]:
    out = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    return out | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}


def _attributes(tree: ast.AST, owner: str) -> set[str]:
    """The attributes read of a module that is bound to a name."""
    return {
        n.attr
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == owner
    }


class _Replace(ast.NodeTransformer):
    """`owner.name` becomes something else."""

    def __init__(self, owner: str, by: dict[str, ast.expr]) -> None:
        self.owner, self.by = owner, by

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if (
            isinstance(node.value, ast.Name)
            and node.value.id == self.owner
            and node.attr in self.by
        ):
            return self.by[node.attr]
        return self.generic_visit(node)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple) and type(value) is tuple:
        return all(map(_is_plain, value))
    if isinstance(value, np.ndarray):
        native = value.dtype in (np.float64, np.int64, np.complex128, np.bool_)
        return type(value) is np.ndarray and native and 0 < value.size <= _MOST and value.ndim > 0
    return type(value) in (float, int, complex, bool, str, type(None))


def _literal(value: Any) -> ast.expr:
    if isinstance(value, tuple):
        return ast.Tuple([_literal(v) for v in value], ast.Load())
    if isinstance(value, list):
        return ast.List([_literal(v) for v in value], ast.Load())
    if isinstance(value, np.ndarray):
        return ast.Call(syn.expr("np.array"), [_literal(value.tolist())], [])
    plain = value is None or isinstance(value, bool | str)
    return ast.Constant(value) if plain else writer.number(value)


def _sorted_imports(
    nodes: list[ast.Import | ast.ImportFrom], future: bool, package: str | None
) -> list[ast.stmt]:
    """In the order that isort wants, with an empty line between its sections."""
    sections: dict[int, list[ast.stmt]] = {}
    merged: dict[str, ast.ImportFrom] = {}
    for node in nodes:
        top = (
            node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
        ).split(".")[0]
        rank = 1 if top in sys.stdlib_module_names else 3 if top == package else 2
        if isinstance(node, ast.ImportFrom) and node.module in merged:
            merged[node.module].names += node.names
            merged[node.module].names.sort(key=lambda a: (not a.name.isupper(), a.name))
            continue
        if isinstance(node, ast.ImportFrom):
            node = ast.ImportFrom(node.module, list(node.names), 0)
            merged[node.module or ""] = node
        sections.setdefault(rank, []).append(node)
    if future:
        sections[0] = [ast.ImportFrom("__future__", [ast.alias("annotations")], 0)]
    out: list[ast.stmt] = []
    for rank in sorted(sections):
        if out:
            out.append(syn.Blank())
        out += sorted(sections[rank], key=_import_key)
    return out


def _import_key(node: ast.stmt) -> tuple[bool, str]:
    if isinstance(node, ast.ImportFrom):
        return True, node.module or ""
    return False, node.names[0].name if isinstance(node, ast.Import) else ""
