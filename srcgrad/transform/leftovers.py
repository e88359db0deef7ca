"""What other passes leave over.

Loops and branches of which only comments are left go.  What a forward function hands to its
reverse function, and nobody reads there, is not handed:

    def f_forward(x):                          def f_forward(x):
        ...                                        ...
        return y, (x, k, t)                        return y, (x,)
    def f_reverse(y_bar, saved):       ->      def f_reverse(y_bar, saved):
        x, k, t = saved                            (x,) = saved
        return y_bar * x                           return y_bar * x
"""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform import dead
from srcgrad.transform import syntax as syn

_NESTS = (ast.For, ast.While, ast.If, ast.With)


def clear_empty(function: ast.FunctionDef) -> None:
    """Drop loops and branches of which other passes have left nothing but comments."""
    for block in syn.blocks(function.body):
        if any(isinstance(s, _NESTS) and dead.is_empty(s.body) for s in block):
            dead.eliminate(function)
            break
    body = function.body
    for k in range(len(body) - 1, 0, -1):
        if all(isinstance(s, Comment) and s.text.startswith("----") for s in body[k - 1 : k + 1]):
            del body[k - 1]


def drop_unread(reverse: ast.FunctionDef) -> None:
    """Take what the reverse function does not read out of what it is handed."""
    forward = getattr(reverse, "srcgrad_forward", None)
    taken = reverse.body[0] if reverse.body else None
    match taken:
        case ast.Assign([ast.Tuple() as target], ast.Name("saved")):
            pass
        case _:
            return
    if forward is None:
        return
    read = _read(reverse.body[1:], {e.id for e in target.elts if isinstance(e, ast.Name)})
    kept = [k for k, e in enumerate(target.elts) if isinstance(e, ast.Name) and e.id in read]
    kept = kept or [0]
    returns = [s for b in syn.blocks(forward.body) for s in b if isinstance(s, ast.Return)]
    handed = [_handed(n, len(target.elts)) for n in returns]
    if len(kept) == len(target.elts) or not returns or None in handed:
        return
    target.elts = [target.elts[k] for k in kept]
    for given in {id(g): g for g in handed if g is not None}.values():  # returns may share one
        given.elts = [given.elts[k] for k in kept]
    dead.eliminate(forward)


def _read(block: list[ast.stmt], names: set[str]) -> set[str]:
    """Those variables of which a block may read the value that they have before it."""
    mentioned = [asts.names(s) & names for s in block]
    out: set[str] = set()
    inner: dict[int, set[str]] = {}  # of a statement: those that only it mentions
    for name in set().union(*mentioned):
        users = [k for k, found in enumerate(mentioned) if name in found]
        while len(users) > 1 and _counts(block[users[0]], name):
            del users[0]  # which may have no rounds
        first = block[users[0]]
        if isinstance(first, ast.Assign) and len(first.targets) == 1:
            if name not in syn.names_bound(first.targets[0]) or name in asts.names(first.value):
                out.add(name)
        elif isinstance(first, ast.For | ast.While | ast.If) and len(users) == 1:
            inner.setdefault(users[0], set()).add(name)
        else:
            out.add(name)
    for k, found in inner.items():
        out |= _read_inside(block[k], found)
    return out


def _counts(stmt: ast.stmt, name: str) -> bool:
    """Whether a variable is the counter of a loop, and nothing to it before."""
    match stmt:
        case ast.For(ast.Name(counter), source, _, []):
            return counter == name and name not in asts.names(source)
    return False


def _read_inside(stmt: ast.stmt, names: set[str]) -> set[str]:
    match stmt:
        case ast.For(target, source, body, orelse):
            bound = syn.names_bound(target) & names
            late = set().union(*map(asts.names, orelse)) & bound
            rest = names - bound
            early = asts.names(source) & names
            return early | late | _read(body, rest) | _read(orelse, rest)
        case ast.While(test, body, orelse) | ast.If(test, body, orelse):
            return (asts.names(test) & names) | _read(body, names) | _read(orelse, names)
    return names


def _handed(node: ast.Return, count: int) -> ast.Tuple | None:
    """The tuple of what is handed, the last part of what a forward function returns."""
    match node.value:
        case ast.Tuple([*_, ast.Tuple() as last]) if len(last.elts) == count:
            return last
        case _:
            return None
