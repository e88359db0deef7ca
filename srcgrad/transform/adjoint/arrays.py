"""Array statements that write in place by other means than assignment: sort, fill, copyto, out=."""

from __future__ import annotations

from typing import TYPE_CHECKING

from srcgrad.analysis.targets import Library
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir

if TYPE_CHECKING:
    from srcgrad.transform.adjoint.reverse import Reverse


def array_effect(reverse: Reverse, stmt: ir.Effect, expr: ir.Method, name: str) -> None:
    del reverse, expr
    raise located(UnsupportedSyntax, stmt.loc, f"the method {name} writes in place", fixes=["use the function that makes a new array"])


def library_effect(reverse: Reverse, stmt: ir.Effect, target: Library) -> None:
    del reverse
    raise located(UnsupportedSyntax, stmt.loc, f"{target.entry.name} writes in place", fixes=["assign to a slice"])
