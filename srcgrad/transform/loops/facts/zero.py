"""What statements do when some variables are structurally zero."""

from __future__ import annotations

import ast

from srcgrad.transform.loops.facts.summaries import does_something


def adds_nothing(body: list[ast.stmt], zero: set[str], rounds: bool = False) -> bool:
    """Whether statements only add zeros, and bind names, when these names are zero.

    `rounds`: they run again and again, each time after the last.
    """
    known = _Zeros(set(zero))
    right = known.rounds(body) if rounds else known.block(body)
    return right and (not rounds or zero <= known.zero)


class _Zeros:
    """The names that are zero so far."""

    def __init__(self, zero: set[str]) -> None:
        self.zero = zero

    def rounds(self, body: list[ast.stmt]) -> bool:
        while True:
            before = set(self.zero)
            if not self.block(body):
                return False
            self.zero &= before
            if self.zero == before:
                return True

    def block(self, body: list[ast.stmt]) -> bool:
        return all(map(self.statement, body))

    def statement(self, s: ast.stmt) -> bool:
        match s:
            case ast.Assign([ast.Name(n)], value):
                (self.zero.add if self.is_zero(value) else self.zero.discard)(n)
                return True
            case ast.AugAssign(_, ast.Add() | ast.Sub(), value):
                return self.is_zero(value)
            case ast.For(ast.Name(n), _, inner, []):
                self.zero.discard(n)
                return self.rounds(inner)
            case ast.If(_, body, orelse):
                before = set(self.zero)
                right = self.block(body)
                after, self.zero = self.zero, before
                right &= self.block(orelse)
                self.zero &= after
                return right
            case _:
                return not does_something(s)

    def is_zero(self, e: ast.expr) -> bool:
        match e:
            case ast.Name(n):
                return n in self.zero
            case ast.Constant(value):
                return type(value) is float and value == 0.0
            case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
                return self.is_zero(operand)
            case ast.BinOp(left, ast.Mult(), right):
                return self.is_zero(left) or self.is_zero(right)
            case ast.BinOp(left, ast.Div(), _):
                return self.is_zero(left)
            case ast.BinOp(left, ast.Add() | ast.Sub(), right):
                return self.is_zero(left) and self.is_zero(right)
            case _:
                return False


__all__ = ["adds_nothing"]
