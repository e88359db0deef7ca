"""Names in the trees of a module that is built."""

from __future__ import annotations

import ast


def names(tree: ast.AST) -> set[str]:
    out = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    return out | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}


def attributes(tree: ast.AST, owner: str) -> set[str]:
    """The attributes read of a module that is bound to a name."""
    return {
        n.attr
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == owner
    }


class Replace(ast.NodeTransformer):
    """`owner.name` becomes something else."""

    def __init__(self, owner: str, by: dict[str, ast.expr]) -> None:
        self.owner, self.by = owner, by

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if (
            isinstance(node.value, ast.Name)
            and node.value.id == self.owner
            and node.attr in self.by
        ):
            return self.by[node.attr]
        return self.generic_visit(node)


def bound_names(fn: ast.FunctionDef) -> set[str]:
    """The parameters and other variables of a function.

    >>> sorted(bound_names(ast.parse("def f(x): y = x + z").body[0]))
    ['x', 'y']
    """
    nodes = list(ast.walk(fn))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {n.arg for n in nodes if isinstance(n, ast.arg)}


def global_names(tree: ast.AST) -> set[str]:
    """The names that mean something of the module's: not those of a function's own variables.

    >>> sorted(global_names(ast.parse("def f(np: int): return np + math.pi")))
    ['int', 'math']
    """
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            outside = [*node.decorator_list, *node.args.defaults, *filter(None, [node.returns])]
            outside += filter(None, node.args.kw_defaults)
            params = [n for n in ast.walk(node.args) if isinstance(n, ast.arg)]
            outside += [p.annotation for p in params if p.annotation is not None]
            found |= set().union(*map(names, outside)) | {
                name for part in node.body for name in global_names(ast.Module([part], []))
            } - bound_names(node)
        else:
            found |= global_names(node)
            if isinstance(node, ast.Name):
                found.add(node.id)
    return found
