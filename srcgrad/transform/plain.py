"""Functions written out as they are, for calls through which no derivative passes."""

from __future__ import annotations

import ast

from srcgrad.analysis.resolve import Program
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names
from srcgrad.transform import syntax as syn
from srcgrad.transform.module import Module, base_name
from srcgrad.transform.text import Text
from srcgrad.transform.uses import uses_of


def plain_function(
    module: Module, program: Program | None, fn: ir.Function, types: tuple[ty.Type, ...]
) -> str:
    """The name of a nested function written out as it is, with what it captures as parameters."""
    key = (fn, types)
    got = module.plain.get(key)
    if got is None:
        assert program is not None
        facts = program.facts(fn, types)
        base = base_name(fn)
        got = module.plain[key] = module.unique(base)
        names = [p.name for p in facts.fn.params] + list(facts.fn.free)
        taken = {n.split("%")[0] for n in facts.types} | set(names)
        text = Text(module, facts, Names(taken - {""}), program=program)
        text.uses = uses_of(facts.fn.body)
        body = text.block(facts.fn.body)
        args = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
        module.functions.append(syn.function_def(got, args, body))
    return got
