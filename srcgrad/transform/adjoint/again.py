"""Prints statements of the forward sweep once more: without records, or as they stand there."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from srcgrad.analysis.record.checkpoint import is_message
from srcgrad.ir import nodes as ir

if TYPE_CHECKING:
    from srcgrad.transform.adjoint.forward import Forward

_HOOKS = ("before", "after", "replaces", "is_replaced", "is_hooked", "named")


@dataclass
class Again:
    """Statements printed for a second run; `repeated` ones have run before and print no more."""

    owner: Forward

    def taped(self, block: ir.Block, repeated: bool) -> list[ast.stmt]:
        """A block with what is recorded beside it."""
        text, outer = self.owner.text, self.owner.text.replaces
        if repeated:
            text.replaces = lambda s: [] if is_message(self.owner.unit, s) else outer(s)
        out = text.block(block)
        text.replaces = outer
        return out

    def plain(self, block: ir.Block, repeated: bool) -> list[ast.stmt]:
        """A block without anything beside it."""
        text, unit, plain = self.owner.text, self.owner.unit, self.owner.callees.plain
        outer = {name: getattr(text, name) for name in _HOOKS}

        def replaces(stmt: ir.Stmt) -> list[ast.stmt] | None:
            if repeated and is_message(unit, stmt):
                return []
            if not text.is_replaced(stmt):
                return None
            assert isinstance(stmt, ir.Assign | ir.Effect)
            return self.owner.nested_value(stmt)

        text.before = text.after = lambda _: []
        text.is_hooked = lambda _: False
        text.is_replaced = lambda s: plain.is_written_out(unit.facts, s)
        text.replaces = replaces
        text.named = set()
        out = text.block(block)
        for name, value in outer.items():
            setattr(text, name, value)
        return out
