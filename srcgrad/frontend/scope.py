"""The state of lowering one function: its names, its temporaries, the statements made so far.

A `Scope` is one function being lowered; nested functions have scopes of their own that point to
the one around them.  What all of them share is the `Session`.  This module knows how names and
statements are kept, not how any construct is lowered: `expression` and `statement` look up the
handlers that the other modules of this package register.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.frontend.bindings import Bindings, FunctionNode
from srcgrad.ir.nodes import (
    Assign,
    Atom,
    Block,
    Const,
    Exit,
    Expr,
    Function,
    Global,
    If,
    Loc,
    Stmt,
    Var,
    Verbatim,
)


@dataclass(frozen=True)
class RecursiveRef:
    """The value of a `Global` that stands for a nested function inside its own body."""

    name: str


class Ref(ast.expr):
    """An atom in the place of an expression, for syntax that lowering makes itself."""

    _fields = ()
    atom: Atom


def ref(found: Atom, node: ast.AST) -> Ref:
    """An atom as a piece of syntax."""
    made = Ref()
    made.atom = found
    return ast.copy_location(made, node)


@dataclass(slots=True)
class Nested:
    """A nested function or lambda: its code and, once lowered, its function."""

    name: str
    node: FunctionNode
    owner: Scope
    defaults: tuple[tuple[str, Atom], ...]
    hidden: frozenset[str]  # variables that hold default values
    inner: Scope | None = None
    fn: Function | None = None
    decorated: str | None = None  # the decorator of srcgrad that it has
    overriding: tuple[Overriding, ...] = ()  # the overrides that it is defined in
    outer: dict[str, str] = field(default_factory=dict)  # of captured variables: the names outside


# The place of a `with override({...})`, and its functions and rules.
Overriding = tuple[Loc, tuple[tuple[Const | Global, Const | Global], ...]]


@dataclass(slots=True)
class Loop:
    """A loop of the user's around the statement being lowered."""

    left: Var | None  # set to True before a `break`, for the loop's `else`


@dataclass(slots=True)
class Session:
    """What one call of `lower` shares between the function and its nested functions."""

    fn: Any
    file: str
    lines: Any
    class_name: str | None
    cells: dict[str, Global | None]
    names: dict[str, Global] = field(default_factory=dict)
    roots: dict[str, Any] = field(default_factory=dict)
    temps: int = 0
    meanings: dict[tuple[str, str, tuple[str, ...]], Global] = field(default_factory=dict)
    called: set[int] = field(default_factory=set)  # nodes whose value is called at once

    def relies_on(self, found: Global) -> None:
        """Note what a name from outside means now: it may be another thing when asked again."""
        self.meanings.setdefault((found.root.kind, found.root.key, found.path), found)


@dataclass(slots=True)
class Scope:
    session: Session
    name: str
    node: FunctionNode
    bindings: Bindings
    parent: Scope | None = None
    renames: dict[str, Var] = field(default_factory=dict)
    inlined: dict[str, Nested] = field(default_factory=dict)
    imports: dict[str, Global] = field(default_factory=dict)
    captured: dict[str, Scope] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    overriding: tuple[Overriding, ...] = ()  # the `with override({...})` around, outermost first
    out: list[Stmt] = field(default_factory=list)
    sids: int = 0
    trying: int = 0

    # ---- places and refusals

    def loc(self, node: ast.AST) -> Loc:
        line = getattr(node, "lineno", 0)
        col = getattr(node, "col_offset", 0)
        end_line = getattr(node, "end_lineno", None) or line
        end_col = getattr(node, "end_col_offset", None)
        return Loc(self.session.file, line, col, end_line, col if end_col is None else end_col)

    def refusal(self, node: ast.AST, message: str, *fixes: str) -> Exception:
        error: Exception = located(UnsupportedSyntax, self.loc(node), message, fixes=fixes)
        return error

    # ---- statements

    def sid(self) -> int:
        sid = self.sids
        self.sids += 1
        return sid

    def emit(self, stmt: Stmt) -> None:
        self.out.append(stmt)

    def assign(self, node: ast.AST, target: Var, value: Expr, inplace: str | None = None) -> None:
        self.out.append(Assign(self.sid(), self.loc(node), target, value, inplace))

    def keep(self, node: ast.AST, value: Expr) -> Atom:
        """The value as an atom, in a temporary when it is not one already."""
        if isinstance(value, Var | Const | Global):
            return value
        temp = self.temp()
        self.assign(node, temp, value)
        return temp

    def temp(self) -> Var:
        return self.hidden("")

    def hidden(self, base: str) -> Var:
        """A variable that no name of the user's can meet."""
        self.session.temps += 1
        return Var(f"{base.partition('%')[0]}%{self.session.temps}")

    def block(self, fill: Callable[[], object]) -> Block:
        """The statements that `fill` makes, as a block of their own."""
        outer, self.out = self.out, []
        try:
            fill()
            return tuple(self.out)
        finally:
            self.out = outer

    # ---- names

    @contextmanager
    def renamed(self, names: dict[str, Var], keep: bool = True) -> Iterator[None]:
        """Inside a comprehension its variables go by hidden names."""
        before = self.renames
        self.renames = {**before, **names} if keep else names
        try:
            yield
        finally:
            self.renames = before

    def capture(self, var: Var, owner: Scope) -> Var:
        """A variable of an enclosing function, noted as captured by all functions in between."""
        scope: Scope | None = self
        while scope is not None and scope is not owner:
            scope.captured.setdefault(var.name, owner)
            scope = scope.parent
        return var


# ---- dispatch -----------------------------------------------------------------

ExprHandler = Callable[[Scope, Any], Expr]
StmtHandler = Callable[[Scope, Any], None]
_EXPRESSIONS: dict[type[ast.AST], ExprHandler] = {}
_STATEMENTS: dict[type[ast.AST], StmtHandler] = {}
_E = TypeVar("_E", bound=ExprHandler)
_S = TypeVar("_S", bound=StmtHandler)


def lowers(*kinds: type[ast.expr]) -> Callable[[_E], _E]:
    """Register the handler of some kinds of expression."""

    def register(handler: _E) -> _E:
        _EXPRESSIONS.update(dict.fromkeys(kinds, handler))
        return handler

    return register


def lowers_statement(*kinds: type[ast.stmt]) -> Callable[[_S], _S]:
    """Register the handler of some kinds of statement."""

    def register(handler: _S) -> _S:
        _STATEMENTS.update(dict.fromkeys(kinds, handler))
        return handler

    return register


def handled() -> tuple[frozenset[type[ast.AST]], frozenset[type[ast.AST]]]:
    """The kinds of expression and of statement that have a handler."""
    return frozenset(_EXPRESSIONS), frozenset(_STATEMENTS)


def expression(scope: Scope, node: ast.expr) -> Expr:
    """Lower an expression; what it needs first is emitted, the last step is returned."""
    handler = _EXPRESSIONS.get(type(node))
    if handler is None:
        raise scope.refusal(node, f"{type(node).__name__} expressions are not supported")
    return handler(scope, node)


def atom(scope: Scope, node: ast.expr) -> Atom:
    """Lower an expression to an atom."""
    return scope.keep(node, expression(scope, node))


def statement(scope: Scope, node: ast.stmt) -> None:
    handler = _STATEMENTS.get(type(node))
    if handler is None:
        raise scope.refusal(node, f"{type(node).__name__} statements are not supported")
    handler(scope, node)


def statements(scope: Scope, nodes: list[ast.stmt]) -> None:
    """Lower a block; what stands after a jump never runs and is dropped."""
    for node in nodes:
        statement(scope, node)
        if _leaves(scope.out):
            return


def _leaves(block: Block | list[Stmt]) -> bool:
    """Whether what stands behind a block never runs."""
    match block[-1] if block else None:
        case Exit() | Verbatim(node=ast.Raise()):
            return True
        case If(body=body, orelse=orelse):
            return _leaves(body) and _leaves(orelse)
    return False
