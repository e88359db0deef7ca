"""A last look at the generated functions: every name they read is bound somewhere.

A name that is read and never bound is a fault of the compiler; found here it is a message with the
name in it instead of a NameError in the middle of somebody's optimisation.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from srcgrad.errors import InternalError, UnsupportedSyntax, located
from srcgrad.ir import asts
from srcgrad.ir.asts import ByClass
from srcgrad.ir.nodes import Loc

_BUILTINS = frozenset(dir(builtins))
_NAMED = (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


def verify(body: Iterable[ast.stmt], given: Iterable[str]) -> None:
    """Check the functions of a module; `given` are the objects that the loader sets in it.

    Example:
        >>> verify(ast.parse("def f(x): return x + y").body, ())
        Traceback (most recent call last):
        srcgrad.errors.InternalError: y is read in f but never bound...
    """
    stmts = list(body)
    known, modules = {*_BUILTINS, *given}, set[str]()
    for stmt in stmts:
        if isinstance(stmt, ast.FunctionDef):
            known.add(stmt.name)
            continue
        found = _bound(asts.by_class(stmt))
        known |= found
        if isinstance(stmt, ast.Import | ast.ImportFrom):
            modules |= found
    for stmt in stmts:
        if isinstance(stmt, ast.FunctionDef):
            nodes = asts.by_class(stmt)
            _refuse_hiding(stmt, nodes, modules)
            _function(stmt, nodes, known)


def _refuse_hiding(fn: ast.FunctionDef, nodes: ByClass, modules: set[str]) -> None:
    """A variable of the user's named `np` or `support` would be asked for the module's functions.

    Raises: UnsupportedSyntax with the variable's name.
    """
    bound = {n.id for n in nodes[ast.Name] if isinstance(n.ctx, ast.Store)}
    bound |= {n.arg for n in nodes[ast.arg]}
    called = {n.value.id for n in nodes[ast.Attribute] if isinstance(n.value, ast.Name)}
    for name in sorted(bound & called & modules):
        raise located(
            UnsupportedSyntax,
            None,
            f"a variable is named {name}, as is the module that {fn.name} calls functions of",
            fixes=["give the variable another name"],
        )


def _function(fn: ast.FunctionDef, nodes: ByClass, known: set[str]) -> None:
    bound = known | _bound(nodes)
    for node in nodes[ast.Name]:
        if node.id not in bound:
            raise InternalError(f"{node.id} is read in {fn.name} but never bound")


MOST_BLOCKS = 99  # in one another; Python reads no more levels of indentation


def refuse_depth(body: Iterable[ast.stmt], file: str) -> None:
    """Refuse functions that Python could not read: after many `if ...: return ...` in a row the
    reverse sweep has one block in another for each.

    Raises: UnsupportedSyntax at the statement of the primal in `file` that is too deep.
    """
    blocks = [(0, list(body))]
    for depth, block in blocks:
        if depth > MOST_BLOCKS:
            known = (getattr(n, "srcgrad_origin", None) for s in block for n in asts.walk(s))
            file, line = next(filter(None, known), (file, 0))
            raise located(
                UnsupportedSyntax,
                Loc(file, line, 0, line, 0) if line else None,
                f"the derivative would need more than {MOST_BLOCKS} blocks in one another, "
                "which Python can't read",
                fixes=[
                    "set a variable in if and elif, and return once",
                    "move a part of the function into a function of its own",
                ],
            )
        for s in block:
            for name in ("body", "orelse", "finalbody", "handlers"):
                inner = getattr(s, name, None)
                if isinstance(inner, list):
                    chained = name == "orelse" and len(inner) == 1 and isinstance(inner[0], ast.If)
                    same = name == "handlers" or (chained and isinstance(s, ast.If))
                    blocks.append((depth + (not same), inner))


def _bound(nodes: ByClass) -> set[str]:
    """All names that a piece of text binds, nested functions and comprehensions included."""
    out = {n.id for n in nodes[ast.Name] if isinstance(n.ctx, ast.Store)}
    out |= {n.arg for n in nodes[ast.arg]}
    out |= {n.asname or n.name.split(".")[0] for n in nodes[ast.alias]}
    for cls in _NAMED:
        out |= {n.name for n in nodes[cls] if n.name is not None}
    return out


__all__ = ["refuse_depth", "verify"]
