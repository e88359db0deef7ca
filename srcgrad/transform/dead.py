"""Dead code of the generated functions goes: values that nothing reads, in both sweeps.

What the generated text computes for itself is dropped where no later statement reads it.  A
statement of the user is dropped before, by `adjoint.dead`, where its types say that it can't
raise; what is left of those and read by nobody stays as an expression, for the error that it may
raise.  Calls that print, draw random numbers or write memory stay in any case.

The analysis is that of strongly live variables (R. Giegerich, U. Moencke and R. Wilhelm 1981):
what only a dead statement reads is dead, around loops too.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from srcgrad.ir import asts
from srcgrad.ir.asts import ByClass
from srcgrad.ir.comments import Comment
from srcgrad.transform.silent import is_pure, is_silent

Live = set[str]
Names = frozenset[str]
_NOTHING: Names = frozenset()
_LOOKS_AT_ALL = frozenset(("locals", "vars", "eval", "exec"))
_ERRORS = "for its errors alone:"
_ENDS = (ast.Return, ast.Break, ast.Continue, ast.Raise)


def eliminate(function: ast.FunctionDef) -> None:
    """Drop the dead code of a generated function, in place.

    Example:
        >>> text = "def f(x): y = x * x; z_bar = y + 1.0; return y"
        >>> fn = ast.parse(text).body[0]
        >>> eliminate(fn)
        >>> print(ast.unparse(fn))
        def f(x):
            y = x * x
            return y
    """
    nodes = asts.by_class(function)
    work = _Elimination(_held(function, nodes), _tapes(nodes), _counters(nodes))
    while True:
        work.pass_over(function, removes=False)
        unused = work.tapes - work.dropped - work.needed
        if unused:
            work.dropped |= unused
            continue
        work.pass_over(function, removes=True)
        break
    function.body = function.body or [ast.Pass()]


@dataclass(frozen=True)
class _Around:
    """What is live behind the loop around, at its head, and in handlers that may run."""

    behind: Names = _NOTHING
    head: Names = _NOTHING
    caught: Names = _NOTHING


@dataclass
class _Elimination:
    """One function: `held` are names that may be read at any time, `tapes` the stacks, of which
    `dropped` go and `needed` stay, `counters` names that are whole numbers throughout."""

    held: Names
    tapes: Names
    counters: Names
    dropped: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)
    removes: bool = False
    heads: dict[int, set[str]] = field(default_factory=dict)  # live at the head, by loop
    # What expressions and statements read, by identity; each is kept, lest another get its own.
    read: dict[int, tuple[ast.AST, Names]] = field(default_factory=dict)

    def pass_over(self, function: ast.FunctionDef, removes: bool) -> None:
        """Find what is live at the head of each loop, and then remove what is dead."""
        self.removes = removes
        if not removes:
            self.heads, self.needed = {}, set()
        body = self.block(function.body, set(), _Around())
        if removes:
            function.body = body

    # ---- blocks ----

    def block(self, stmts: Sequence[ast.stmt], live: Live, around: _Around) -> list[ast.stmt]:
        """The statements that stay; `live` is what is read behind them, then before them."""
        kept: list[ast.stmt] = []
        live |= around.caught
        ends = [k for k, s in enumerate(stmts) if isinstance(s, _ENDS)]
        for stmt in reversed(stmts[: ends[0] + 1] if ends else stmts):
            kept += reversed(self.stmt(stmt, live, around))
            live |= around.caught
        kept.reverse()
        return _without_lone_comments(kept) if self.removes else kept

    def stmt(self, stmt: ast.stmt, live: Live, around: _Around) -> list[ast.stmt]:
        match stmt:
            case Comment():
                pass
            case ast.Assign(targets=[target]):
                return self.assign(stmt, target, live)
            case ast.AugAssign(target=ast.Name(name)) if name in self.counters:
                if self.is_dead(name, live):
                    return []
            case ast.Expr(value=value):
                return self.effect(stmt, value, live)
            case ast.If():
                return self.branch(stmt, live, around)
            case ast.For() | ast.While():
                return self.loop(stmt, live, around)
            case ast.With():
                body = self.block(stmt.body, live, around)
                stmt.body = (body or [ast.Pass()]) if self.removes else stmt.body
                for item in stmt.items:
                    live |= self.reads(item.context_expr)
            case ast.Try():
                self.guarded(stmt, live, around)
                if self.removes and not stmt.handlers and not stmt.finalbody:
                    return stmt.body  # what stood in `finally` was dead
            case ast.Return() | ast.Break() | ast.Continue():
                live.clear()
                ends = {ast.Break: around.behind, ast.Continue: around.head}
                live |= ends.get(type(stmt), self.reads(stmt))
            case _:
                live |= self.reads(stmt)
        return [stmt]

    # ---- statements ----

    def assign(self, stmt: ast.Assign, target: ast.expr, live: Live) -> list[ast.stmt]:
        names, popped = _bound(target), _pops(stmt.value)
        if names is None:
            self.needed |= popped
            live |= self.reads(stmt)
            return [stmt]
        if (popped | (names & self.tapes)) & self.dropped:
            live -= names
            return [] if popped else self.declaration(stmt)
        if not all(self.is_dead(n, live) for n in names):
            self.needed |= popped
            live -= names
            live |= self.reads(stmt.value)
            return [stmt]
        if is_silent(stmt.value, _may_raise(stmt)):
            return []
        live |= self.reads(stmt.value)
        return _effect(stmt) if isinstance(target, ast.Name) and not popped else [stmt]

    def declaration(self, stmt: ast.Assign) -> list[ast.stmt]:
        """The declaration of tapes without those that are dropped, or nothing."""
        target, value = stmt.targets[0], stmt.value
        if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
            return []
        left = [
            (t, v)
            for t, v in zip(target.elts, value.elts, strict=True)
            if isinstance(t, ast.Name) and t.id not in self.dropped
        ]
        if not self.removes or len(left) == len(target.elts):
            return [stmt]
        if len(left) == 1:
            stmt.targets, stmt.value = [left[0][0]], left[0][1]
        else:
            target.elts, value.elts = [t for t, _ in left], [v for _, v in left]
        return [stmt] if left else []

    def effect(self, stmt: ast.Expr, value: ast.expr, live: Live) -> list[ast.stmt]:
        appended = _appends(value)
        if appended & self.dropped:
            return []
        if appended and isinstance(value, ast.Call) and not is_silent(value.args[0], False):
            self.needed |= appended
        self.needed |= _pops(value)
        live |= self.reads(value)
        return [stmt]

    def branch(self, stmt: ast.If, live: Live, around: _Around) -> list[ast.stmt]:
        other = set(live)
        body = self.block(stmt.body, live, around)
        orelse = self.block(stmt.orelse, other, around)
        live |= other
        if self.removes and is_empty(body) and is_empty(orelse):
            if is_silent(stmt.test, _may_raise(stmt)):
                return []
            body = [ast.Pass()]
        live |= self.reads(stmt.test)
        if self.removes:
            if is_empty(body) and not is_empty(orelse):
                stmt.test, body, orelse = _negated(stmt.test), orelse, []
            stmt.body, stmt.orelse = body, [] if is_empty(orelse) else orelse
        return [stmt]

    def loop(self, stmt: ast.For | ast.While, live: Live, around: _Around) -> list[ast.stmt]:
        target, own = _NOTHING, self.reads(stmt.iter if isinstance(stmt, ast.For) else stmt.test)
        if isinstance(stmt, ast.For):
            target = _bound(stmt.target) or _NOTHING
        behind = frozenset(live)
        orelse = self.block(stmt.orelse, live, around)
        head = self.heads.setdefault(id(stmt), set())
        head |= live if isinstance(stmt, ast.For) else live | own
        while True:
            start = set(head)
            inside = _Around(behind, frozenset(head), around.caught)
            body = self.block(stmt.body, start, inside)
            start -= target
            if start <= head:
                break
            head |= start
        if self.removes:
            idle = isinstance(stmt, ast.For) and is_empty(body) and not orelse
            if idle and _is_range(stmt) and all(self.is_dead(n, live) for n in target):
                return []
            stmt.body, stmt.orelse = [ast.Pass()] if is_empty(body) else body, orelse
        live |= head | own
        return [stmt]

    def guarded(self, stmt: ast.Try, live: Live, around: _Around) -> None:
        away = set(around.caught | around.behind | around.head)
        self.removes, removes = False, self.removes
        self.block(stmt.finalbody, away, around)  # as it is entered by an exception or a jump
        self.removes = removes
        live |= away
        final = self.block(stmt.finalbody, live, around)
        live |= away
        outside = _Around(*(frozenset(a | away) for a in (around.behind, around.head, away)))
        caught = set(outside.caught)
        handlers = []
        for handler in stmt.handlers:
            before = set(live)
            handlers.append(self.block(handler.body, before, outside))
            caught |= before | (self.reads(handler.type) if handler.type else _NOTHING)
        orelse = self.block(stmt.orelse, live, outside)
        inside = _Around(outside.behind, outside.head, frozenset(caught))
        body = self.block(stmt.body, live, inside)
        if self.removes:
            stmt.body, stmt.orelse, stmt.finalbody = body or [ast.Pass()], orelse, final
            for handler, lines in zip(stmt.handlers, handlers, strict=True):
                handler.body = lines or [ast.Pass()]

    def reads(self, node: ast.AST) -> Names:
        """The names in an expression or statement, which passes don't change until it goes."""
        found = self.read.get(id(node))
        if found is None:
            found = self.read[id(node)] = node, _reads(node)
        return found[1]

    def is_dead(self, name: str, live: Live) -> bool:
        return name not in live and name not in self.held


# ---- tapes ----------------------------------------------------------------------------------


def _tapes(nodes: ByClass) -> Names:
    """Lists that the function declares empty, appends to and pops from, and nothing else."""
    known: Counter[str] = Counter()
    for node in (*nodes[ast.Expr], *nodes[ast.Assign]):
        known.update(_appends(node.value) | _pops(node.value))
    for node in nodes[ast.Assign]:
        pairs = [(node.targets[0], node.value)]
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(node.targets[0].elts, node.value.elts, strict=False))
        for target, value in pairs:
            if isinstance(target, ast.Name) and isinstance(value, ast.List) and not value.elts:
                known[target.id] += 1
    uses = Counter(node.id for node in nodes[ast.Name]) if known else known
    return frozenset(n for n, k in known.items() if k == uses[n] and n.split("_tape")[0] != n)


def _appends(value: ast.expr) -> Names:
    """The list that an expression appends to."""
    match value:
        case ast.Call(ast.Attribute(ast.Name(name), "append"), [_], []):
            return frozenset((name,))
    return _NOTHING


def _pops(value: ast.expr) -> Names:
    """The list whose last item an expression takes."""
    match value:
        case ast.Call(ast.Attribute(ast.Name(name), "pop"), [], []):
            return frozenset((name,))
    return _NOTHING


# ---- names ---------------------------------------------------------------------------------


def _is_range(stmt: ast.stmt) -> bool:
    """Whether a loop only counts."""
    match stmt:
        case ast.For(iter=ast.Call(ast.Name("range"), args)):
            return all(is_silent(a, False) for a in args)
    return False


def _may_raise(stmt: ast.stmt) -> bool:
    """Whether a statement is one of the user's that may raise."""
    raises = getattr(stmt, "srcgrad_raises", None)
    return raises is not None and bool(raises())


def _effect(stmt: ast.Assign) -> list[ast.stmt]:
    """The value of an assignment without its target."""
    made = ast.copy_location(ast.Expr(stmt.value), stmt)
    vars(made).update({k: v for k, v in vars(stmt).items() if k.startswith("srcgrad_")})
    if isinstance(stmt.value, ast.Call) and not is_pure(stmt.value.func):
        return [made]
    return [Comment(_ERRORS), made]


def _counters(nodes: ByClass) -> Names:
    """Variables that are whole numbers throughout: adding to them writes no memory."""
    begun = [n.targets for n in nodes[ast.Assign] if _is_whole(n.value)]
    added = [n.target for n in nodes[ast.AugAssign] if begun and _is_whole(n.value)]
    if not begun:
        return _NOTHING
    counts = Counter(t[0].id for t in begun if len(t) == 1 and isinstance(t[0], ast.Name))
    whole = counts + Counter(t.id for t in added if isinstance(t, ast.Name))
    binds = Counter(n.id for n in nodes[ast.Name] if isinstance(n.ctx, ast.Store))
    binds.update(n.arg for n in nodes[ast.arg])
    return frozenset(name for name in counts if binds[name] == whole[name])


def _is_whole(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int


def _reads(node: ast.AST) -> Names:
    return frozenset(asts.names(node))


def _bound(target: ast.expr) -> Names | None:
    """The names that a target binds; None where it writes into something."""
    if isinstance(target, ast.Name):
        return frozenset((target.id,))
    if isinstance(target, ast.Tuple | ast.List):
        parts = [_bound(t) for t in target.elts]
        names = [p for p in parts if p is not None]
        return frozenset().union(*names) if len(names) == len(parts) else None
    return None


def _held(function: ast.FunctionDef, nodes: ByClass) -> Names:
    """Names that may be read at any time: nested functions read them, or they are not local."""
    out: set[str] = set()
    for node in (*nodes[ast.FunctionDef], *nodes[ast.ClassDef]):
        if node is not function:
            out |= {node.name, *_reads(node)}
    for node in (*nodes[ast.Lambda], *nodes[ast.GeneratorExp], *nodes[ast.Delete]):
        out |= _reads(node)
    for node in (*nodes[ast.Global], *nodes[ast.Nonlocal]):
        out |= set(node.names)
    if any(node.id in _LOOKS_AT_ALL for node in nodes[ast.Name]):
        out |= _reads(function)
    return frozenset(out)


# ---- statements that are left ---------------------------------------------------------------


def _negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def is_empty(block: Iterable[ast.stmt]) -> bool:
    return all(isinstance(s, Comment | ast.Pass) for s in block)


def _without_lone_comments(block: list[ast.stmt]) -> list[ast.stmt]:
    """Leave out the place of a statement of which nothing is left, and what is said twice."""
    out: list[ast.stmt] = []
    for s, following in zip(block, [*block, None][1:], strict=True):
        alone = following is None or isinstance(following, Comment)
        said = isinstance(s, Comment) and s.text == _ERRORS and _comment_before(out) == _ERRORS
        if not said and not (alone and hasattr(s, "srcgrad_place")):
            out.append(s)
    return out


def _comment_before(block: list[ast.stmt]) -> str:
    """The comment over the last statement of a block."""
    return block[-2].text if len(block) > 1 and isinstance(block[-2], Comment) else ""


__all__ = ["eliminate", "is_empty"]
