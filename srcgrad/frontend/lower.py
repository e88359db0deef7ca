"""Lowering: from a function's syntax to the intermediate representation.

The entry of this package.  Importing it registers the handlers of every kind of expression and
statement; what has no handler is refused, with its place.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from srcgrad.frontend import (
    calls,
    comprehensions,
    loops,
    made_functions,
    patterns,
    statements,
)
from srcgrad.frontend.functions import close_scope, find_inlined, open_scope
from srcgrad.frontend.namespace import outside
from srcgrad.frontend.resolve import cells_of, lookup
from srcgrad.frontend.scope import RecursiveRef, Session
from srcgrad.ir.nodes import Function

if TYPE_CHECKING:
    from srcgrad.frontend.source import Source

__all__ = ["RecursiveRef", "lower"]

HANDLERS = (calls, comprehensions, loops, patterns, statements)  # registered by being imported


def lower(source: Source) -> Function:
    """Lower a function.

    `y = np.sin(x) * 2.0` becomes `%1 = numpy.sin(x); y = %1 * 2.0`: every operand is an atom, and
    what stood inside an expression has a temporary of its own, in Python's order of evaluation.

    Raises UnsupportedSyntax, with the place, for what srcgrad does not differentiate."""
    fn = source.fn
    session = Session(fn, source.file, source.lines, _class_name(fn), {})
    session.cells.update(cells_of(fn, session))
    used: list[ast.Name] = []
    node = made_functions.written_out(source.node, outside(fn), used.append)
    scope = open_scope(session, node, fn.__name__)
    for name in used:  # what is relied on
        lookup(scope, name.id, name)
    find_inlined(scope)
    return replace(close_scope(scope, fn), meanings=tuple(session.meanings.values()))


def _class_name(fn: object) -> str | None:
    """The class whose body the function stands in, from its qualified name."""
    parts = str(getattr(fn, "__qualname__", "")).split(".")
    for outer, inner in zip(reversed(parts[:-1]), reversed(parts[1:]), strict=True):
        if outer != "<locals>" and inner != "<locals>":
            return outer
    return None
