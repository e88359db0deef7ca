"""A shadow that nobody reads any more is handed on, not copied; what nobody else holds is not
copied either."""

from __future__ import annotations

import ast
from functools import partial

from srcgrad.ir import asts
from srcgrad.transform.fresh import holders, is_fresh, parts_of

_ADDS = frozenset(("np.add.at", "support.item_add"))  # write into an argument and forget it
_MADE = frozenset(("zeros", "zeros_like", "ones", "full", "empty"))


def hand_over(function: ast.FunctionDef) -> None:
    """`a_bar = u_bar.copy()` becomes `a_bar = u_bar` where u_bar is used no more, and copies of
    what no other name shares go; in place.

    Example:
        >>> text = "def f(n, g):\\n u_bar = np.zeros(n)\\n u_bar[0] += g\\n a_bar = u_bar.copy()"
        >>> fn = ast.parse(text).body[0]
        >>> hand_over(fn)
        >>> print(ast.unparse(fn.body[-1]))
        a_bar = u_bar
    """
    if not any(map(_is_copy, asts.walk(function))):
        return
    facts = _Holding(function)
    _drop_copies(function.body, facts)
    body = function.body
    for k, s in enumerate(body):
        match s:
            case ast.Assign([ast.Name(target)], value) if (name := _copied(value)) is not None:
                if facts.is_left(name, target, body[k + 1 :]):
                    s.value = ast.Name(name, ast.Load())
            case ast.Return(ast.expr() as value):
                names = [n.id for n in asts.walk(value) if isinstance(n, ast.Name)]
                once = {n for n in facts.own if names.count(n) == 1}
                rule = partial(_uncopied, names=once)
                s.value = asts.changed(value, {ast.Call: rule})


def _is_copy(node: ast.AST) -> bool:
    return node.__class__ is ast.Call and _copied(node) is not None


def _copied(value: ast.expr) -> str | None:
    """The name that an expression is a copy of."""
    match value:
        case ast.Call(ast.Attribute(ast.Name(name), "copy"), [], []):
            return name
    return None


def _drop_copies(block: list[ast.stmt], facts: _Holding) -> None:
    """Drop `a_bar = a_bar.copy()` where the array was its own before."""
    for s in list(block):
        match s:
            case ast.Assign([ast.Name(name)], value) if _copied(value) == name:
                if name in facts.own and len(block) > 1:
                    block.remove(s)
        for part in ("body", "orelse"):
            inner = getattr(s, part, None)
            if isinstance(inner, list):
                _drop_copies(inner, facts)


class _Holding:
    """Which names are only ever bound to new arrays, and which of these share them with others."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.function = function
        self.new: set[str] = set()  # only ever bound to new arrays
        self.given: set[str] = set()  # to calls that may keep them
        self.returned: set[str] = set()
        shared: set[str] = set()  # by other names, items or parts
        other: set[str] = set()  # bound to anything else
        for s in asts.walk(function):
            match s:
                case ast.arg(name):
                    other.add(name)
                case ast.Assign(targets, value):
                    shared |= _shared(value)
                    for t in targets:
                        self._bound(t, value, other)
                case ast.Call(func, args, keywords):
                    if ast.unparse(func) not in _ADDS and not is_fresh(s):
                        for part in (*args, *(k.value for k in keywords)):
                            self.given |= parts_of(part)
                case ast.AugAssign(_, _, ast.List() | ast.Tuple() as value):
                    self.given |= parts_of(value)
                case ast.Return(ast.expr() as value):
                    self.returned |= parts_of(value)
                case ast.For(target) | ast.NamedExpr(target):
                    other |= asts.names(target)
                case ast.With() | ast.Try() | ast.FunctionDef() | ast.Lambda():
                    if s is not function:
                        other |= asts.names(s)
        self.new -= other
        self.own = self.new - shared - self.given

    def _bound(self, target: ast.expr, value: ast.expr, other: set[str]) -> None:
        if isinstance(target, ast.Subscript | ast.Attribute):
            return
        if isinstance(target, ast.Name) and _is_new(value):
            self.new.add(target.id)
        else:
            other |= asts.names(target)

    def is_left(self, name: str, target: str, later: list[ast.stmt]) -> bool:
        """Whether nothing later reads an array, under any name, but by the one it is given."""
        if name not in self.new or name in self.given | self.returned:
            return False
        others = holders(self.function.body, {name}) - {target}
        return not any(others & asts.names(s) for s in later)


def _uncopied(node: ast.Call, names: set[str]) -> ast.expr:
    """An array itself for a copy of it, if it is one of some."""
    name = _copied(node)
    return ast.Name(name, ast.Load()) if name is not None and name in names else node


def _shared(value: ast.expr) -> set[str]:
    """The names whose memory a value may share."""
    return set() if _copied(value) is not None else parts_of(value)


def _is_new(value: ast.expr) -> bool:
    match value:
        case ast.Call(ast.Attribute(ast.Name("np"), name)) if name in _MADE:
            return True
        case ast.Constant():
            return True
    return is_fresh(value) or _copied(value) is not None
