"""Make a program that fails smaller while it still fails."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.generator import Program

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, rounds: int = 2000) -> Program:
    """The smallest program found that `fails`, trying at most so many.

    Example:
        >>> text = "def f(x):\\n    y = x\\n    z = x + 1\\n    return x * x\\n"
        >>> p = Program(0, text, (1.0,), (0,))
        >>> print(shrink(p, lambda q: "x * x" in q.text).text)
        def f(x):
            return x * x
        <BLANKLINE>
    """
    best = replace(program, text=_text(ast.parse(program.text)))
    tried = {best.text}
    progress = True
    while progress and rounds > 0:
        progress = False
        for tree in _smaller(best.text):
            candidate = replace(best, text=_text(tree))
            if candidate.text in tried or len(candidate.text) >= len(best.text):
                continue
            tried.add(candidate.text)
            rounds -= 1
            if fails(candidate):
                best, progress = candidate, True
                break
            if rounds <= 0:
                break
    return best


def _text(tree: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _smaller(text: str) -> Iterator[ast.Module]:
    """Variants with less in them, those that drop most first."""
    tree = ast.parse(text)
    for path in _blocks(tree, ()):
        count = len(_at(tree, path))
        size = count
        while size >= 1:
            for start in range(0, count, size):
                yield _edited(tree, path, start, start + size, keep_inner=False)
            size //= 2
        for start in range(count):
            if isinstance(_at(tree, path)[start], ast.If | ast.For | ast.While):
                yield _edited(tree, path, start, start + 1, keep_inner=True)
    yield from _smaller_expressions(tree)


Path = tuple[tuple[str, int], ...]


def _blocks(node: ast.AST, path: Path) -> Iterator[Path]:
    """The paths of all statement lists: each step a field of a node and a place in its list."""
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            yield (*path, (name, -1))
            for i, stmt in enumerate(block):
                yield from _blocks(stmt, (*path, (name, i)))


def _at(tree: ast.AST, path: Path) -> list[ast.stmt]:
    node = tree
    for name, i in path[:-1]:
        node = getattr(node, name)[i]
    block: list[ast.stmt] = getattr(node, path[-1][0])
    return block


def _edited(tree: ast.Module, path: Path, start: int, stop: int, keep_inner: bool) -> ast.Module:
    """A copy without the statements from start to stop, or with their bodies in their place."""
    new = copy.deepcopy(tree)
    block = _at(new, path)
    inner: list[ast.stmt] = []
    if keep_inner:
        for stmt in block[start:stop]:
            inner += getattr(stmt, "body", []) + getattr(stmt, "orelse", [])
    block[start:stop] = inner
    if not block and path[-1][0] == "body":
        block.append(ast.Pass())
    return new


def _smaller_expressions(tree: ast.Module) -> Iterator[ast.Module]:
    """Copies with one expression replaced by one of its operands or by a number."""
    count = sum(isinstance(n, ast.expr) for n in ast.walk(tree))
    for i in range(count):
        for choice in range(4):
            new = copy.deepcopy(tree)
            if _Replace(i, choice).run(new):
                yield new


class _Replace(ast.NodeTransformer):
    """Replaces the expression with this number, counted as they are visited."""

    def __init__(self, number: int, choice: int) -> None:
        self.left, self.choice, self.done = number, choice, False

    def run(self, tree: ast.Module) -> bool:
        self.visit(tree)
        return self.done

    def visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, ast.expr):
            return self.generic_visit(node)
        self.left -= 1
        if self.left != -1 or isinstance(node, ast.Constant | ast.Name):
            return self.generic_visit(node)
        parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        parts.append(ast.Constant(0.5))
        if self.choice < len(parts) and not isinstance(getattr(node, "ctx", None), ast.Store):
            self.done = True
            return parts[self.choice]
        return node
