"""A last look at the generated functions: every name they read is bound somewhere.

A name that is read and never bound is a fault of the compiler; found here it is a message with the
name in it instead of a NameError in the middle of somebody's optimisation.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from srcgrad.errors import InternalError
from srcgrad.ir import asts

_BUILTINS = frozenset(dir(builtins))


def verify(body: Iterable[ast.stmt], given: Iterable[str]) -> None:
    """Check the functions of a module; `given` are the objects that the loader sets in it.

    Example:
        >>> verify(ast.parse("def f(x): return x + y").body, ())
        Traceback (most recent call last):
        srcgrad.errors.InternalError: y is read in f but never bound...
    """
    stmts = list(body)
    known = {*_BUILTINS, *given}
    for stmt in stmts:
        known |= _bound(stmt) if not isinstance(stmt, ast.FunctionDef) else {stmt.name}
    for stmt in stmts:
        if isinstance(stmt, ast.FunctionDef):
            _function(stmt, known)


def _function(fn: ast.FunctionDef, known: set[str]) -> None:
    bound = known | _bound(fn)
    for node in asts.walk(fn):
        if isinstance(node, ast.Name) and node.id not in bound:
            raise InternalError(f"{node.id} is read in {fn.name} but never bound")


def _bound(node: ast.AST) -> set[str]:
    """All names that a piece of text binds, nested functions and comprehensions included."""
    out: set[str] = set()
    for n in asts.walk(node):
        match n:
            case ast.Name(name, ast.Store()):
                out.add(name)
            case ast.arg(name) | ast.ExceptHandler(name=str(name)):
                out.add(name)
            case ast.FunctionDef(name) | ast.ClassDef(name):
                out.add(name)
            case ast.alias(name, asname):
                out.add(asname or name.split(".")[0])
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                out.add(name)
    return out


__all__ = ["verify"]
