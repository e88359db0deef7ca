"""What is left of calls that write in place: refused, with what to write instead.

`analysis/rewrites/inplace.py` has rewritten those that it knows as stores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from srcgrad.analysis.targets import Library
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir

if TYPE_CHECKING:
    from srcgrad.transform.adjoint.base import Base


def array_effect(reverse: Base, stmt: ir.Effect, expr: ir.Method, name: str) -> None:
    """`rows.sort(key=...)`: a list that is put in order where it is."""
    del reverse, expr
    instead = "sorted(...), np.sort(...)" if name == "sort" else "a[:] = value"
    raise located(
        UnsupportedSyntax,
        stmt.loc,
        f"the method {name} changes a list or array that carries a derivative in place",
        fixes=[f"make a new one: {instead}"],
    )


def library_effect(stmt: ir.Effect | ir.Assign, target: Library) -> NoReturn:
    """A library function that writes into an argument in a way that is not known."""
    raise located(
        UnsupportedSyntax,
        stmt.loc,
        f"{target.entry.name} writes into an array that carries a derivative",
        fixes=["assign its result to a slice: u[...] = f(x)"],
    )
