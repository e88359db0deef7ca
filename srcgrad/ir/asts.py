"""Walking, copying and rewriting Python syntax trees: as `ast` and `copy` do, but fast.

Every statement of a derivative is made from formulas that are copied, filled in and looked
through, so this is where much of the time of the compiler goes.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)
ByClass = Mapping[type, list[Any]]
Rules = Mapping[type, Callable[[Any], ast.AST]]  # for kinds of nodes, what becomes of them

# Fields that hold no part of a tree that anyone looks for: text, flags, and nodes without fields.
_PLAIN = frozenset(
    ("ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "conversion", "simple",
     "level", "module", "asname", "is_async", "rest")
)  # fmt: skip
_MIXED = frozenset(("keys", "kw_defaults", "names", "patterns", "kwd_attrs"))  # not nodes alone
_INNER: dict[type, tuple[str, ...]] = {ast.Name: (), ast.Constant: (), ast.MatchSingleton: ()}


def _inner(cls: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold nodes."""
    made = _INNER[cls] = tuple(f for f in cls._fields if f not in _PLAIN)
    return made


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and all nodes below it, as `ast.walk` orders them; operators and contexts left out.

    >>> [type(n).__name__ for n in walk(ast.parse("-x + 1", mode="eval").body)]
    ['BinOp', 'UnaryOp', 'Constant', 'Name']
    """
    found: list[Any] = [node]
    for one in found:  # which grows meanwhile
        cls = one.__class__
        if cls is ast.Name or cls is ast.Constant:
            continue
        if cls is ast.BinOp:  # these are most of the others
            found += (one.left, one.right)
        elif cls is ast.Subscript:
            found += (one.value, one.slice)
        elif cls is ast.Attribute:
            found.append(one.value)
        elif cls is ast.Call:
            found += (one.func, *one.args, *one.keywords)
        elif cls is ast.Assign:
            found += (*one.targets, one.value)
        else:
            found += _parts(one, cls)
    return found


def _parts(node: ast.AST, cls: type[ast.AST]) -> list[ast.AST]:
    """The nodes directly in one."""
    found: list[ast.AST] = []
    fields = _INNER.get(cls)
    for field in _inner(cls) if fields is None else fields:
        value = getattr(node, field, None)
        if value.__class__ is list:
            if field in _MIXED:
                found += [item for item in value if isinstance(item, ast.AST)]
            else:
                found += value
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def by_class(node: ast.AST) -> ByClass:
    """The nodes of a tree by their classes, those of a class as `walk` orders them.

    >>> found = by_class(ast.parse("-x + y", mode="eval").body)
    >>> [n.id for n in found[ast.Name]]
    ['y', 'x']
    """
    found: dict[type, list[Any]] = defaultdict(list)
    for one in walk(node):
        found[one.__class__].append(one)
    return found


def same(one: Any, other: Any) -> bool:
    """Whether two trees say the same: their `ast.dump` would be equal.

    >>> x, y = (ast.parse(text, mode="eval").body for text in ("a[i + 1]", "a[i + 1.0]"))
    >>> same(x, copied(x)), same(x, y)
    (True, False)
    """
    cls = one.__class__
    if cls is not other.__class__:
        return False
    if cls is list:
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, ast.AST):
        return all(same(getattr(one, f, None), getattr(other, f, None)) for f in cls._fields)
    return one is other or repr(one) == repr(other)


def names(node: ast.AST) -> set[str]:
    """The names in a tree, read or bound.

    >>> sorted(names(ast.parse("y = x[i] + x[j]")))
    ['i', 'j', 'x', 'y']
    """
    return {n.id for n in walk(node) if n.__class__ is ast.Name}


def items(key: ast.expr) -> list[ast.expr]:
    """The indices of each dimension in what stands in brackets.

    >>> [ast.unparse(i) for i in items(ast.parse("a[i, 1:]", mode="eval").body.slice)]
    ['i', '1:']
    """
    return key.elts if isinstance(key, ast.Tuple) else [key]


def copied(node: Node) -> Node:
    """A copy that shares no node that has fields with the original.

    >>> tree = ast.parse("x + 1", mode="eval").body
    >>> copied(tree) is tree, ast.dump(copied(tree)) == ast.dump(tree)
    (False, True)
    """
    return rewritten(node, {})


def rewritten(node: Node, replace: Rules) -> Node:
    """A copy in which nodes of some kinds are what functions make of them.

    >>> def double(node): return ast.Constant(node.value * 2)
    >>> ast.unparse(rewritten(ast.parse("x + 1"), {ast.Constant: double}))
    'x + 2'
    """
    cls = node.__class__
    own = replace.get(cls)
    if own is not None:
        return own(node)  # type: ignore[return-value]
    made = cls.__new__(cls)
    state = made.__dict__
    state.update(node.__dict__)
    fields = _INNER.get(cls)
    for field in _inner(cls) if fields is None else fields:
        value = state.get(field)
        if value.__class__ is list:
            state[field] = [
                rewritten(item, replace) if isinstance(item, ast.AST) else item for item in value
            ]
        elif isinstance(value, ast.AST):
            state[field] = rewritten(value, replace)
    return made


def changed(node: Node, rules: Rules) -> Node:
    """The tree itself, with nodes of some kinds replaced by what functions make of them, inner
    ones first.

    >>> def double(node): return ast.Constant(node.value * 2)
    >>> tree = ast.parse("x + 1")
    >>> changed(tree, {ast.Constant: double}) is tree, ast.unparse(tree)
    (True, 'x + 2')
    """
    cls = node.__class__
    fields = _INNER.get(cls)
    for field in _inner(cls) if fields is None else fields:
        value = getattr(node, field, None)
        if value.__class__ is list:
            for k, item in enumerate(value):
                if isinstance(item, ast.AST):
                    value[k] = changed(item, rules)
        elif isinstance(value, ast.AST):
            new = changed(value, rules)
            if new is not value:
                setattr(node, field, new)
    rule = rules.get(cls)
    return node if rule is None else rule(node)  # type: ignore[return-value]
