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
    rest = reverse.body[1:]
    kept = [k for k, e in enumerate(target.elts) if isinstance(e, ast.Name) and _reads(rest, e.id)]
    kept = kept or [0]
    returns = [n for n in _own(forward) if isinstance(n, ast.Return)]
    handed = [_handed(n, len(target.elts)) for n in returns]
    if len(kept) == len(target.elts) or not returns or None in handed:
        return
    target.elts = [target.elts[k] for k in kept]
    for given in {id(g): g for g in handed if g is not None}.values():  # returns may share one
        given.elts = [given.elts[k] for k in kept]
    dead.eliminate(forward)


def _reads(block: list[ast.stmt], name: str) -> bool:
    """Whether a block may read the value that a variable has before it."""
    users = [s for s in block if _mentions(s, name)]
    if not users:
        return False
    match users[0]:
        case ast.Assign([ast.Name() | ast.Tuple() as target], value):
            return not _binds(target, name) or _mentions(value, name)
        case ast.For(target, source, body, orelse) if len(users) == 1:
            if _mentions(source, name):
                return True
            if _binds(target, name):
                return any(_mentions(s, name) for s in orelse)
            return _reads(body, name) or _reads(orelse, name)
        case ast.While(test, body, orelse) | ast.If(test, body, orelse) if len(users) == 1:
            return _mentions(test, name) or _reads(body, name) or _reads(orelse, name)
        case _:
            return True


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _binds(target: ast.expr, name: str) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return any(isinstance(e, ast.Name) and e.id == name for e in parts)


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
