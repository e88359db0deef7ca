"""What happens at the edges of a generated function: its signature, its arguments, its
gradients."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from srcgrad.analysis.resolve import Program
from srcgrad.analysis.unit import Unit
from srcgrad.errors import ArgumentError, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.module import Module


def arguments(module: Module, program: Program, unit: Unit, plain: bool = False) -> ast.arguments:
    """The primal's signature; `plain` makes every parameter an ordinary one without default."""
    fn = unit.facts.fn
    out = ast.arguments([], [], None, [], [], None, [])
    defaults = program.defaults(unit.facts.base or fn)
    for p in fn.params:
        arg = ast.arg(p.name)
        if plain:
            out.args.append(arg)
            continue
        default = module.atom(defaults[p.name]) if p.name in defaults else None  # type: ignore[arg-type]
        match p.kind:
            case "posonly":
                out.posonlyargs.append(arg)
                if default is not None:
                    out.defaults.append(default)
            case "normal":
                out.args.append(arg)
                if default is not None:
                    out.defaults.append(default)
            case "varargs":
                out.vararg = arg
            case "kwonly":
                out.kwonlyargs.append(arg)
                out.kw_defaults.append(default)
            case _:
                out.kwarg = arg
    for name in fn.free:
        out.args.append(ast.arg(name))
    return out


def tangents_name(unit: Unit) -> str:
    """The name of the parameter for the tangents of the arguments."""
    name = "tangents"
    while name in unit.params or name in unit.facts.types:
        name += "_2"
    return name


def private_argument(module: Module, unit: Unit, name: str) -> ast.expr:
    return module.support("private", syn.name(name))


def gradient_of(
    module: Module,
    unit: Unit,
    name: str,
    primal: ast.expr,
    node: ast.expr | None,
    owned: bool = False,
) -> ast.expr:
    """The gradient of an argument from its adjoint: its shape and dtype, its own memory."""
    t = unit.type(name)
    if isinstance(t, ty.Number):
        return _number(module, t, node)
    if isinstance(t, ty.Array):
        if node is None:
            shape, dtype = (ast.Attribute(primal, a, ast.Load()) for a in ("shape", "dtype"))
            return module.numpy("zeros", shape, dtype)
        if t.dtype == np.float64 and not t.dims:
            return module.support("gradient", node, primal)
        if t.dtype == np.float64 and not other_precision(unit, but=np.complex128):
            return node if owned else syn.expr("a.copy()", a=node)
        cast = syn.expr("a.astype(x.dtype)", a=node, x=primal)
        if owned:
            cast = syn.expr("a.astype(x.dtype, copy=False)", a=node, x=primal)
        return cast
    made = module.support("gradient", node if node is not None else syn.number(None), primal)
    vars(made)["srcgrad_type"] = t
    return made


def _number(module: Module, t: ty.Number, node: ast.expr | None) -> ast.expr:
    if node is None:
        node = syn.number(0.0)
    if t.cls in (float, complex):
        plain = isinstance(node, ast.Constant) or module.scalars_are_python
        return node if plain else syn.call(t.cls.__name__, node)
    return module.numpy(t.cls.__name__, node)


def other_precision(unit: Unit, but: type | None = None) -> bool:
    """Whether anything in the function is no float64 or Python float, or unknown; arrays of the
    dtype `but` do not count, and numbers of it neither."""
    for t in unit.facts.types.values():
        if isinstance(t, ty.Array) and np.issubdtype(t.dtype, np.inexact):
            if t.dtype != np.float64 and (but is None or t.dtype != but):
                return True
        elif isinstance(t, ty.Number) and issubclass(t.cls, complex | np.inexact):
            double = issubclass(t.cls, float)  # np.float64 is one
            if not double and (but is None or not issubclass(t.cls, complex)):
                return True
        elif isinstance(t, ty.Unknown):
            return True
    return False


def check_result(unit: Unit, mode: str, aux: bool) -> None:
    """`grad` takes functions with one real number as result."""
    t: Any = unit.facts.result
    fn = unit.facts.fn
    if mode == "vjp":
        if t == ty.Literal(None) or t is None:
            raise located(
                ArgumentError, fn.loc, f"{fn.name} returns nothing to differentiate",
                fixes=['name the arguments it writes its results into: vjp(f, out="B")'],
            )  # fmt: skip
        return
    if aux:
        if isinstance(t, ty.Tuple) and len(t.items) == 2:
            t = t.items[0]
        elif not isinstance(t, ty.Unknown):
            raise located(
                ArgumentError, fn.loc, f"has_aux=True: {fn.name} must return a pair (value, aux)"
            )
    bad = None
    if isinstance(t, ty.Array) and t.dims:
        bad = f"an array with {len(t.dims)} dimension{'s' if len(t.dims) > 1 else ''}"
    elif isinstance(t, ty.Tuple):
        bad = f"a tuple of {len(t.items)}"
    elif isinstance(t, ty.List | ty.Dict | ty.Object):
        bad = "a container"
    elif isinstance(t, ty.Literal) and not isinstance(t.value, bool):
        bad = repr(t.value) if t.value is None else "a string"
    elif isinstance(t, ty.Number) and issubclass(t.cls, complex | np.complexfloating):
        bad = "a complex number"
    if bad is None:
        return
    fixes = [
        "use vjp with a cotangent of the result's structure",
        "use jacobian for an array result",
    ]
    if isinstance(t, ty.Tuple):
        fixes.insert(0, "use has_aux=True when the second item is auxiliary")
    raise located(
        ArgumentError,
        fn.loc,
        f"grad needs a scalar output, but {fn.name} returns {bad}",
        fixes=fixes,
    )


__all__ = ["arguments", "check_result", "gradient_of", "ir", "private_argument", "tangents_name"]
