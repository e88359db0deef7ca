"""What a forward function hands to its reverse function, and nobody reads there, is not handed.

    def f_forward(x):                          def f_forward(x):
        ...                                        ...
        return y, (x, k, t)                        return y, (x,)
    def f_reverse(y_bar, saved):       ->      def f_reverse(y_bar, saved):
        x, k, t = saved                            (x,) = saved
        return y_bar * x                           return y_bar * x

The passes that run on the finished functions leave such values over.
"""

from __future__ import annotations

import ast

from srcgrad.transform import dead


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
    read = {
        n.id
        for stmt in reverse.body[1:]
        for n in ast.walk(stmt)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load | ast.Del)
    }
    # `x += 1` reads x, too, though its target is a store.
    read |= {
        n.target.id
        for stmt in reverse.body[1:]
        for n in ast.walk(stmt)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
    kept = [k for k, e in enumerate(target.elts) if isinstance(e, ast.Name) and e.id in read]
    kept = kept or [0]
    returns = [n for n in _own(forward) if isinstance(n, ast.Return)]
    handed = [_handed(n, len(target.elts)) for n in returns]
    if len(kept) == len(target.elts) or not returns or None in handed:
        return
    target.elts = [target.elts[k] for k in kept]
    for given in handed:
        assert given is not None
        given.elts = [given.elts[k] for k in kept]
    dead.eliminate(forward)


def _own(forward: ast.FunctionDef) -> list[ast.AST]:
    """The parts of a function that are not those of a function inside it."""
    out: list[ast.AST] = []
    todo: list[ast.AST] = list(forward.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        out.append(node)
        todo += ast.iter_child_nodes(node)
    return out


def _handed(node: ast.Return, count: int) -> ast.Tuple | None:
    """The tuple of what is handed, the last part of what a forward function returns."""
    match node.value:
        case ast.Tuple([*_, ast.Tuple() as last]) if len(last.elts) == count:
            return last
        case _:
            return None
