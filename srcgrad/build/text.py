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

from srcgrad import pipeline
from srcgrad._version import __version__
from srcgrad.build import compiled, finish, helpers, trees
from srcgrad.build.constants import Constants
from srcgrad.build.finish import Entry
from srcgrad.build.place import Options, Place
from srcgrad.codegen import writer
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.comments import Comment
from srcgrad.jobs import Job
from srcgrad.transform import syntax as syn
from srcgrad.transform.module import import_hidden, is_hidden

# Bodies give a name values of several types, as the code they come from does, which mypy has no
# way to say; what callers see is typed, and calls and names are checked.
_MYPY = (
    "arg-type,assignment,attr-defined,call-overload,comparison-overlap",
    "index,misc,no-any-return,no-untyped-call,operator,return-value",
    "union-attr,unused-ignore,var-annotated",
)
_SUPPORT = "srcgrad.runtime.support"


def module_text(
    jobs: Sequence[Job], names: Sequence[str | None], options: Options, place: Place
) -> str:
    """The text of one module with a function for each job.

    Raises: BuildError when it would need what is only in this process; SrcgradError.
    """
    backend = "numba" if options.jit else "numpy"
    requests = [replace(job.request(), backend=backend) for job in jobs]
    drafted = pipeline.draft(requests, names)
    work = _Work(drafted, options, place)
    entries = work.entries(requests)
    found = [finish.tidy(f) for f in drafted.functions if isinstance(f, ast.FunctionDef)]
    if options.jit:
        found = compiled.adapted(found, requests)
    functions = [work.finish(fn, entries.get(fn.name)) for fn in found]
    return work.text([statement for group in functions for statement in group])


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
        constants = Constants(self.drafted, self.options, self.place).of(tree)
        copies, names = helpers.Copies(), {}
        if self.options.standalone:
            wanted = trees.attributes(tree, "support")
            copies = helpers.reached(wanted)
            names = copies.names({*self.drafted.module.taken, *trees.names(tree)})
            homes = {n: names[helpers._home((_SUPPORT, n))] for n in wanted}
            trees.Replace("support", {n: syn.name(h) for n, h in homes.items()}).visit(tree)
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
        whole = ast.Module([*body, *ast.parse(copied).body], [])
        used = trees.names(whole)
        imports = self.imports(trees.global_names(whole), copies, bool(copied))
        first: list[ast.stmt] = [
            Comment(
                f"Generated by srcgrad {__version__} (srcgrad build).  Edit {edit}, not this file."
            ),
        ]
        first += [Comment(f'mypy: disable-error-code="{codes}"') for codes in _MYPY]
        if used & {"l", "O", "I"}:
            first.append(Comment("ruff: noqa: E741"))
        first.append(ast.Expr(ast.Constant(f"Derivatives of functions in {shown}.")))
        public = ast.List([ast.Constant(n) for n in sorted(self.drafted.names)], ast.Load())
        exported = [] if self.options.pythran else [syn.Blank(), syn.assign("__all__", public)]
        return [*first, syn.Blank(), *imports, *exported]

    def imports(self, used: set[str], copies: helpers.Copies, future: bool) -> list[ast.stmt]:
        found: dict[str, ast.Import | ast.ImportFrom] = {}
        hidden: dict[str, ast.stmt] = {}
        for module, bound in self.drafted.module.imports.items():
            if module == _SUPPORT:
                found["support"] = ast.ImportFrom("srcgrad.runtime", [ast.alias("support")], 0)
            elif is_hidden(module):
                hidden[bound] = import_hidden(module, bound)
            else:
                name = None if bound == module else bound
                found[bound] = ast.Import([ast.alias(module, name)])
        found |= copies.imports
        found["numpy"] = ast.Import([ast.alias("numpy")])
        found["np"] = ast.Import([ast.alias("numpy", "np")])
        found["npt"] = ast.Import([ast.alias("numpy.typing", "npt")])
        found["Any"] = ast.ImportFrom("typing", [ast.alias("Any")], 0)
        found["jit"] = ast.ImportFrom("srcgrad.runtime.support", [ast.alias("jit")], 0)
        found["library"] = ast.ImportFrom("srcgrad.runtime.numba", [ast.alias("library")], 0)
        found["njit"] = ast.ImportFrom("numba", [ast.alias("njit")], 0)
        by_name = [node for n, node in hidden.items() if n in used]
        if by_name:
            used = used | {"importlib"}
        kept = {n: node for n, node in found.items() if n.split(".")[0] in used}
        imports = _sorted_imports(list(kept.values()), future, self.place.package)
        return [*imports, *([syn.Blank()] if by_name else []), *by_name]


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
