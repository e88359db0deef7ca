"""The cotangent that the reverse sweep starts from."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from srcgrad.analysis.unit import Unit
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.module import Module

_NARROW = {np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.complex64)}


def one_for(module: Module, unit: Unit) -> ast.expr:
    """The cotangent 1 of the result; beside float32 a Python number would count as float32."""
    found = {np.dtype(d) for t in unit.facts.types.values() if (d := _precision(t))}
    mixed = np.dtype(np.float64) in found and bool(found & _NARROW)
    one = syn.number(1.0)
    return module.numpy("float64", one) if mixed else one


def _precision(t: ty.Type) -> Any:
    """The dtype of an array or NumPy number of floats."""
    if isinstance(t, ty.Array):
        return t.dtype if np.issubdtype(t.dtype, np.inexact) else None
    return t.cls if isinstance(t, ty.Number) and issubclass(t.cls, np.inexact) else None
