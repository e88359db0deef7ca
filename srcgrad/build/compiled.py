"""Modules made ahead of time that Numba or Pythran compiles."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

import numpy as np

from srcgrad import pipeline
from srcgrad.build.errors import BuildError
from srcgrad.build.finish import Entry, argument_type, arguments_of
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.comments import Comment
from srcgrad.spelling import pythran
from srcgrad.transform import numba_text
from srcgrad.transform import syntax as syn

_PLAIN = frozenset(("sum", "max", "min", "mean", "prod", "any", "all", "argmax", "argmin"))


def adapted(
    functions: Sequence[ast.FunctionDef], requests: Sequence[pipeline.Request]
) -> list[ast.FunctionDef]:
    """The functions in what Numba compiles."""
    single = all(numba_text.is_single(request.types) for request in requests)
    made = numba_text.adapt(functions, {}, single)
    return [_Known().visit(fn) for fn in made if isinstance(fn, ast.FunctionDef)]


class _Known(ast.NodeTransformer):
    """`jit.sum(x)` is `np.sum(x)` where nothing but an array is passed: Numba has that."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Attribute(ast.Name("jit"), name), [_], []) if name in _PLAIN:
                node.func = syn.expr(f"np.{name}")
        return node


def start(drafted: pipeline.Draft, helpers: bool) -> list[ast.stmt]:
    """What a module runs before its functions are compiled."""
    out: list[ast.stmt] = []
    if helpers:
        out += [Comment("Gives Numba the helpers below."), ast.Expr(syn.call("library"))]
    return out + numba_text.frozen(drafted.module, {"error_model": "numpy"})


def needs(fn: ir.Function, names: Iterable[str]) -> BuildError:
    """The error for a standalone module with helpers that only srcgrad can compile."""
    return BuildError(
        f"the derivative of {fn.name} needs {', '.join(sorted(names))}, which srcgrad compiles "
        "for Numba; a standalone module can't hold that",
        loc=fn.loc,
        fixes=["set standalone = false", "set jit = false"],
    )


def export(entry: Entry, fn: ast.FunctionDef) -> Comment | None:
    """The line that tells Pythran to compile the function; None when its types have no name."""
    spelled = [
        pythran(t) if (t := argument_type(a.arg, entry)) is not None else None
        for a in arguments_of(fn)
    ]
    if None in spelled or fn.args.vararg or fn.args.kwarg or fn.args.kwonlyargs:
        return None
    return Comment(f"pythran export {entry.name}({', '.join(s for s in spelled if s)})")


def decorator(entry: Entry | None, fn: ast.FunctionDef) -> ast.expr:
    """`@njit`, with the argument types where Numba has names for them: it then takes no others."""
    spelled = None
    if entry is not None:
        types = [argument_type(a.arg, entry) for a in arguments_of(fn)]
        spelled = [None if t is None else _numba(t) for t in types]
    options = 'error_model="numpy", cache=True'
    first = ""
    if spelled and None not in spelled:
        listed = "".join(f"{one}, " for one in spelled)
        first = f'"({listed.strip() if len(spelled) == 1 else listed[:-2]})", '
    return ast.parse(f"njit({first}{options})", mode="eval").body


def _numba(t: ty.Type) -> str | None:
    match t:
        case ty.Number(cls):
            return {float: "float64", int: "int64", complex: "complex128", bool: "boolean"}.get(
                cls, np.dtype(cls).name
            )
        case ty.Array(dtype, dims) if dims and dtype.kind in "fciu":
            return f"{dtype.name}[{', '.join(':' * len(dims))}]"
    return None
