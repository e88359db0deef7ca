"""Real operands of complex results: whose cotangents have an imaginary part to drop."""

from __future__ import annotations

import ast

import numpy as np

from srcgrad.ir import types as ty

_OF_REAL = ("fit", "rfft_back", "rfftn_back")  # real where their second argument is


def is_real(formula: ast.expr, param: str, operand: ty.Type) -> bool:
    """Whether a formula itself drops the imaginary part for a real array."""
    match formula:
        case ast.Call(ast.Attribute(ast.Name("support"), name), [_, ast.Name(like), *_]):
            return name in _OF_REAL and like == param and isinstance(operand, ty.Array)
    return False


def drops_imaginary(operand: ty.Type, out: ty.Type) -> bool:
    """A real operand of a complex result."""
    if not is_complex(out) and not isinstance(operand, ty.Unknown):
        return False
    if isinstance(operand, ty.List | ty.Tuple | ty.Dict | ty.Object):
        return False
    return isinstance(operand, ty.Unknown) or not is_complex(operand)


def is_complex(t: ty.Type) -> bool:
    if t.__class__ is ty.Number and t.cls is float:
        return False
    match t:
        case ty.Number(cls):
            return issubclass(cls, complex | np.complexfloating)
        case ty.Array(dtype, _):
            return bool(np.issubdtype(dtype, np.complexfloating))
        case ty.Unknown():
            return True
        case ty.Tuple(items):
            return any(map(is_complex, items))
        case ty.List(item):
            return item is not None and is_complex(item)
        case _:
            return False
