"""Code kept as the user wrote it: `Opaque` expressions and `Verbatim` statements.

The user's tree is copied with local names replaced by the names of their variables and each
global path replaced by a placeholder `$0`, `$1`, ...
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.frontend.bindings import of_block
from srcgrad.frontend.resolve import check_attribute, fold, lookup
from srcgrad.frontend.scope import Nested, Ref, Scope
from srcgrad.frontend.scope import atom as expression_atom
from srcgrad.ir.nodes import Atom, Const, Global, Opaque, Var, Verbatim

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class _Copier:
    scope: Scope
    reads: dict[Var, None] = field(default_factory=dict)
    writes: dict[Var, None] = field(default_factory=dict)
    globals: dict[Global, str] = field(default_factory=dict)

    def copy(self, node: ast.AST, bound: frozenset[str]) -> ast.AST:
        if isinstance(node, ast.Name):
            return self._name(node, bound)
        if isinstance(node, Ref):
            return self._atom(node.atom, node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, bound)
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr):
            raise self.scope.refusal(node, f"{type(node).__name__} is not supported here")
        if isinstance(node, _COMPREHENSIONS):
            targets = [part.target for part in node.generators]
            bound |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        if isinstance(node, ast.Lambda):
            bound |= {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._name(ast.Name(node.target.id, ast.Load()), bound)  # it is read as well
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            raise self.scope.refusal(node, "a definition is not supported here")
        return self._children(node, bound)

    def _children(self, node: ast.AST, bound: frozenset[str]) -> ast.AST:
        fields: dict[str, object] = {}
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                fields[name] = [
                    self.copy(v, bound) if isinstance(v, ast.AST) else v for v in value
                ]
            elif isinstance(value, ast.AST):
                fields[name] = self.copy(value, bound)
            else:
                fields[name] = value
        return ast.copy_location(type(node)(**fields), node)

    def _name(self, node: ast.Name, bound: frozenset[str]) -> ast.AST:
        if node.id in bound:
            return ast.copy_location(ast.Name(node.id, node.ctx), node)
        found = lookup(self.scope, node.id, node)
        found_atom = expression_atom(self.scope, node) if isinstance(found, Nested) else found
        if isinstance(node.ctx, ast.Store) and isinstance(found_atom, Var):
            self.writes.setdefault(found_atom)
            return ast.copy_location(ast.Name(found_atom.name, node.ctx), node)
        return self._atom(found_atom, node)

    def _attribute(self, node: ast.Attribute, bound: frozenset[str]) -> ast.AST:
        check_attribute(self.scope, node)
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id not in bound:
            found = fold(self.scope, node)
            if found is not None and isinstance(node.ctx, ast.Load):
                return self._atom(found, node)
        return self._children(node, bound)

    def _atom(self, atom: Atom, node: ast.AST) -> ast.AST:
        if isinstance(atom, Const):
            return ast.copy_location(ast.Constant(atom.value), node)
        if isinstance(atom, Var):
            self.reads.setdefault(atom)
            return ast.copy_location(ast.Name(atom.name, ast.Load()), node)
        key = self.globals.setdefault(atom, f"${len(self.globals)}")
        return ast.copy_location(ast.Name(key, ast.Load()), node)

    def mapping(self) -> tuple[tuple[str, Global], ...]:
        return tuple((key, found) for found, key in self.globals.items())


def opaque(scope: Scope, node: ast.expr) -> Opaque:
    """The expression kept as it is.

    `f(x) > LIMIT` becomes `$0(x) > $1` with `$0` and `$1` given as globals."""
    copier = _Copier(scope)
    copied = copier.copy(node, frozenset())
    assert isinstance(copied, ast.expr)
    return Opaque(copied, tuple(copier.reads), copier.mapping())


def verbatim(scope: Scope, node: ast.stmt) -> Verbatim:
    """The statement kept as it is."""
    copier = _Copier(scope)
    copied = copier.copy(node, frozenset())
    assert isinstance(copied, ast.stmt)
    for name in of_block([node]).sites:
        if scope.bindings.is_local(name):
            copier.writes.setdefault(Var(name))
    return Verbatim(
        scope.sid(),
        scope.loc(node),
        copied,
        tuple(copier.reads),
        tuple(copier.writes),
        copier.mapping(),
    )
