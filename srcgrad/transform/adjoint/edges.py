"""What stands at the entry of a reverse-mode function, and the gradients at its end."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from srcgrad.analysis.effects import may_hold_memory
from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.sweeps import Sweeps
from srcgrad.transform.parameters import gradient_of, private_argument


def private(sweeps: Sweeps) -> list[ast.stmt]:
    """Written arguments are copied at entry: the caller keeps what it passed."""
    unit, module = sweeps.unit, sweeps.module
    written = [n for n in unit.params if unit.fx.memory(n)]
    out: list[ast.stmt] = []
    others = [n for n in unit.params if may_hold_memory(unit.type(n))]
    if written and len(others) > 1:
        read = [n for n in others if n not in written]
        check = module.support(
            "refuse_shared",
            syn.tuple_of(map(syn.name, written)),
            syn.tuple_of(map(syn.name, read)),
            syn.tuple_of(map(ast.Constant, [*written, *read])),
        )
        out.append(ast.Expr(check))
    return out + [syn.assign(n, private_argument(module, unit, n)) for n in written]


def shadowed(sweeps: Sweeps, late: bool) -> list[str]:
    """Parameters that are memory: their shadows are made in the reverse sweep (`late`), or, where
    they are tracked, at entry."""
    unit = sweeps.unit
    return [
        n
        for n in unit.params
        if unit.is_active(n)
        and unit.kind(n) == "memory"
        and sweeps.found.is_tracked(n) is not late
    ]


def shadows(sweeps: Sweeps, names: list[str]) -> list[ast.stmt]:
    """Shadows of parameters, zero."""
    reverse, unit, out = sweeps.reverse, sweeps.unit, []
    for n in names:
        zero = sweeps.module.support("bar", syn.name(n))
        if isinstance(unit.type(n), ty.Array):
            zero = reverse.zero(n)
        out.append(syn.assign(reverse.bar(n), zero))
    return out


def initial(sweeps: Sweeps, reverse: list[ast.stmt]) -> list[ast.stmt]:
    """Values for variables that are recorded before they have one, of which a reverse sweep may
    ask the shape."""
    out: list[ast.stmt] = []
    if not sweeps.found.initial:
        return out
    asked = {
        n.value.id
        for s in reverse
        for n in asts.walk(s)
        if isinstance(n, ast.Attribute) and n.attr == "shape" and isinstance(n.value, ast.Name)
    }
    for n in sweeps.found.initial:
        tracked = sweeps.unit.is_active(n) and sweeps.found.is_tracked(n)
        empty = None
        if not tracked and sweeps.text.var(n) in asked:
            empty = _without_elements(sweeps, n)
        value = empty or syn.number(_start_value(sweeps.unit.type(n)))
        out.append(syn.assign(sweeps.text.var(n), value))
        if tracked:
            out.append(syn.assign(sweeps.reverse.bar(n), syn.number(None)))
    return out


def _without_elements(sweeps: Sweeps, n: str) -> ast.expr | None:
    """An array of a variable's type."""
    t = sweeps.unit.type(n)
    if not isinstance(t, ty.Array) or not t.dims:
        return None
    shape = syn.tuple_of([syn.number(0)] * len(t.dims)) if len(t.dims) > 1 else syn.number(0)
    kind = [] if t.dtype == np.float64 else [syn.expr(f"np.{t.dtype.name}")]
    return sweeps.module.numpy("empty", shape, *kind)


def _start_value(t: ty.Type) -> Any:
    if isinstance(t, ty.Number):
        if issubclass(t.cls, bool):
            return False
        return 0.0 if ty.can_be_active(t) else 0
    return None


def gradient(sweeps: Sweeps, n: str) -> ast.expr:
    """The gradient of an argument: owned, of its shape and dtype."""
    reverse, unit, module = sweeps.reverse, sweeps.unit, sweeps.module
    if not unit.is_active(n):
        return gradient_of(module, unit, n, syn.name(n), None)
    if unit.kind(n) == "memory":
        return gradient_of(module, unit, n, syn.name(n), reverse.bar_node(n), owned=True)
    if n not in reverse.state:
        return gradient_of(module, unit, n, syn.name(n), None)
    reverse.full(n)
    owned = reverse.state[n].owned
    return gradient_of(module, unit, n, syn.name(n), reverse.value(n), owned=owned)


def given(sweeps: Sweeps, gradients: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
    """Keep arguments whose names the function binds again: their gradients have their shapes."""
    unit, out = sweeps.unit, []
    for n in unit.params:
        again = [d for d in unit.defs.get(n, ()) if not (isinstance(d, ir.Assign) and d.inplace)]
        if again and n in syn.names_in(gradients):
            kept = sweeps.text.names.fresh(f"{n}_given")
            gradients = syn.substitute(gradients, {n: syn.name(kept)})
            out.append(syn.assign(kept, syn.name(n)))
    return out, gradients
