"""The passes in order: from a callable and types to the text of a module, and to its functions.

    source.read -> lower -> webs -> infer, sharpen -> effects, activity, recording
    -> adjoint | tangent -> writer -> loader

This is the only module that knows the order.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from srcgrad import relied
from srcgrad._version import __version__
from srcgrad.analysis.procedures import with_result
from srcgrad.analysis.resolve import Program, lowered
from srcgrad.analysis.unit import Spec
from srcgrad.codegen import writer
from srcgrad.codegen.printer import LIMIT
from srcgrad.compiled import Compiled, Request
from srcgrad.errors import shown_file
from srcgrad.frontend import source as source_module
from srcgrad.ir import frozen
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.comments import Comment
from srcgrad.rules import tables
from srcgrad.rules.registry import Entry
from srcgrad.runtime import depth, foreign, garbage, loader
from srcgrad.transform import dead, fold, loops, numba_text
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.assemble import Adjoint
from srcgrad.transform.delay import delay
from srcgrad.transform.handover import hand_over
from srcgrad.transform.late import restore_late
from srcgrad.transform.leftovers import clear_empty, drop_unread
from srcgrad.transform.module import Module
from srcgrad.transform.records import split_records
from srcgrad.transform.restores import drop_restores
from srcgrad.transform.tangent.functions import Tangent
from srcgrad.transform.verify import refuse_depth, verify


def function_of(fn: Any) -> tuple[ir.Function, source_module.Source]:
    """The lowered function of a callable."""
    tables.load()
    found = source_module.read(fn)
    return lowered(found), found


def compile_request(request: Request, scopes: Sequence[Mapping[Hashable, Entry]] = ()) -> Compiled:
    """Run all passes for a request."""
    with depth.room(request.fn), garbage.kept():
        return _compiled(request, scopes)


def _compiled(request: Request, scopes: Sequence[Mapping[Hashable, Entry]]) -> Compiled:
    drafted = draft([request], scopes=scopes)
    fn, program, module, name = drafted.fns[0], drafted.program, drafted.module, drafted.names[0]
    tree = _tree(module, drafted.functions, fn, request, program)
    text = writer.write(tree)
    objects: dict[str, Any] = module.objects
    backend: Any = None
    if request.backend == "numba":
        from srcgrad.runtime import numba as backend

        objects = backend.prepared(objects, dict(request.options))
    label = f"{_stem(fn)}__{name}"
    made = loader.load(label, text, objects)
    known = relied.of(program, request.fn)
    return Compiled(
        text, made, getattr(made, name), name, known, program,
        [fn.fn for fn in program.lowered], list(program.requires), module.rules, backend, tree,
        file=fn.loc.file, label=label, injected=objects,
        digests=frozen.digests(place.value for place, _ in known) if backend is not None else {},
    )  # fmt: skip


def _stem(fn: ir.Function) -> str:
    file = fn.loc.file.replace("\\", "/").rsplit("/", 1)[-1]
    stem = file.removesuffix(".py")
    return stem if stem.isidentifier() else "cell"


def _taken(fn: ir.Function) -> set[str]:
    from srcgrad.ir.names import _RESERVED

    names = {p.name for p in fn.params} | set(_RESERVED)
    todo = [fn]
    while todo:
        one = todo.pop()
        for s in ir.walk(one.body):
            names |= {v.name.split("%")[0] for v in (*ir.reads(s), *ir.writes(s))}
            for e in ir.exprs(s):
                if isinstance(e, ir.Closure):
                    todo.append(e.fn)
    return names


def _tree(
    module: Module, functions: list[ast.stmt], fn: ir.Function, request: Request, program: Program
) -> ast.Module:
    refuse_depth(functions, fn.loc.file)
    if request.backend == "numba":
        return _numba_tree(module, functions, fn, request, program)
    verify([*module.import_statements(), *functions], module.objects)
    tree = ast.Module([*_header(fn, request), *module.import_statements(), *functions], [])
    if request.foreign:
        foreign.admit(tree, request.foreign)
    return tree


def _numba_tree(
    module: Module, functions: list[ast.stmt], fn: ir.Function, request: Request, program: Program
) -> ast.Module:
    options = dict(request.options)
    if numba_text.is_cacheable(module):
        options["cache"] = True
    functions = numba_text.by_their_names(functions, module.objects)
    body = numba_text.adapt(functions, options, numba_text.is_single(request.types))
    body = loops.improve(body, module.ndims)
    held = numba_text.frozen(module, options)
    notes = numba_text.notes(module, program.sources)
    head = [*_header(fn, request), *notes, *numba_text.imports(body, module)]
    verify([*head, *held, *body], module.objects)
    return ast.Module([*head, *held, *body], [])


def _header(fn: ir.Function, request: Request) -> list[ast.stmt]:
    file = shown_file(fn.loc.file)
    shown = ", ".join(p.name for p in fn.params)
    wrt = ", ".join(request.wrt)
    lines = [
        f"Generated by srcgrad {__version__} from {file}:{fn.loc.line} {fn.name}({shown}), "
        f"with respect to {wrt}."
    ]
    types = ", ".join(
        f"{p.name} {show_type(t)}" for p, t in zip(fn.params, request.types, strict=True)
    )
    known = any(not isinstance(t, ty.Unknown) for t in request.types)
    edit = f"Edit {file.rsplit('/', 1)[-1]}, not this file."
    said = f"Types: {types if known else 'not known'}."
    one = f"{said}  {edit}"
    lines += [one] if len(one) + 2 <= LIMIT else [said, edit]
    return [Comment(line) for line in lines]


def show_type(t: ty.Type) -> str:
    """A type as people write it: `float64[:, :]`."""
    match t:
        case ty.Number(cls):
            return cls.__name__
        case ty.Array(dtype, dims):
            inside = ", ".join("1" if d == "1" else ":" for d in dims)
            return f"{dtype}[{inside}]"
        case ty.Tuple(items, cls):
            inside = ", ".join(map(show_type, items))
            return f"({inside})" if cls is tuple else f"{cls.__name__}({inside})"
        case ty.List(item):
            return "[]" if item is None else f"[{show_type(item)}, ...]"
        case ty.Dict(items):
            if items is None:
                return "dict"
            return "{" + ", ".join(f"{k}: {show_type(v)}" for k, v in items) + "}"
        case ty.Literal(value):
            return repr(value)
        case ty.Static(value):
            return getattr(value, "__name__", type(value).__name__)
        case ty.Object(cls, _) | ty.Other(cls):
            return cls.__name__
        case _:
            return "?"


# ---- modules that are not loaded ------------------------------------------------------------


@dataclass
class Draft:
    """Derivatives of one or several functions as one module, before it is text."""

    program: Program
    module: Module
    fns: list[ir.Function]
    specs: list[Spec]
    names: list[str]  # of the functions asked for
    functions: list[ast.stmt]  # these and what they call
    made_for: dict[str, Spec] = field(default_factory=dict)  # each function, and from what


def draft(
    requests: Sequence[Request],
    names: Sequence[str | None] = (),
    scopes: Sequence[Mapping[Hashable, Entry]] = (),
) -> Draft:
    """Run the passes up to the text for several requests; callees are shared between them.

    Arguments: what is to be made; the names the functions get, None for the usual ones.
    """
    with depth.room(*(request.fn for request in requests)), garbage.kept():
        return _drafted(requests, names, scopes)


def _drafted(
    requests: Sequence[Request],
    names: Sequence[str | None],
    scopes: Sequence[Mapping[Hashable, Entry]],
) -> Draft:
    program = Program(scopes)
    program.reverses = all(request.mode != "jvp" for request in requests)
    program.checkpoints = all(request.checkpoints for request in requests)
    tables.load()
    found = [program.reached(source_module.read(request.fn)) for request in requests]
    module = Module({name for fn in found for name in _taken(fn)})
    module.backend = requests[0].backend if requests else "numpy"
    if module.backend == "numba":
        module.taken |= {"njit", "jit", "prange"}
        program.reruns = True
        program.unifies = True
        program.inlines = "inline" not in loops.skipped
        program.slices = "slices" not in loops.skipped
        program.parts = "elements" not in loops.skipped
    adjoint, tangent = Adjoint(program, module), Tangent(program, module)
    fns = [
        with_result(fn, request.out, request.single_out) if request.out else fn
        for fn, request in zip(found, requests, strict=True)
    ]
    out = Draft(program, module, fns, [], [], [])
    for request, fn in zip(requests, out.fns, strict=True):
        program.facts(fn, request.types)  # reaches every function that is called
    module.taken |= {name for fn in program.lowered for name in _taken(fn)}
    given = [*names, *[None] * (len(requests) - len(names))]
    for request, fn, wanted in zip(requests, out.fns, given, strict=True):
        base = fn.name if fn.name.isidentifier() else "lambda_"
        name = module.unique(wanted or f"{base}_{request.mode}")
        spec = spec_of(fn, request)
        done = len(adjoint.order), len(tangent.order)
        if request.mode == "jvp":
            tangent.top(spec, list(request.wrt), name, request.single)
        else:
            adjoint.top(spec, request.mode, list(request.wrt), name, request.aux, request.single)
        groups = [*adjoint.order[done[0] :], *tangent.order[done[1] :]]
        out.functions += [*module.functions, *(function for group in groups for function in group)]
        module.functions.clear()
        out.names.append(name)
        out.specs.append(spec)
        out.made_for[name] = spec
    for function in out.functions:
        if isinstance(function, ast.FunctionDef):
            dead.eliminate(function)
            if module.backend != "numba":  # its loop passes have their own ideas of temporaries
                split_records(function)
                delay(function)
                fold.fold(function)
                restore_late(function)
                hand_over(function)
                drop_restores(function)
                clear_empty(function)
            drop_unread(function)
    module.prune(out.functions)
    out.made_for |= {n: spec for spec, pair in adjoint.callees.names.items() for n in pair}
    out.made_for |= {n: spec for spec, n in tangent.names.items()}
    return out


def tree_of(drafted: Draft, request: Request) -> ast.Module:
    """The module of a draft for one request, ready for the writer."""
    return _tree(drafted.module, drafted.functions, drafted.fns[0], request, drafted.program)


def spec_of(fn: ir.Function, request: Request) -> Spec:
    """What the function of a request is compiled for."""
    active = tuple(p.name in request.wrt for p in fn.params)
    return Spec(fn, request.types, active, (None,) * len(fn.params))


__all__ = ["Compiled", "Draft", "Request", "compile_request", "draft", "function_of", "syn"]
