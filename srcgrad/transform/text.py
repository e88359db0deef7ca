"""From IR back to Python text: expressions are folded so that they print as the user wrote
them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import Container, Library, User, bound_atoms, writes_argument
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names
from srcgrad.ir.rebuild import rename_ast
from srcgrad.transform import asked
from srcgrad.transform import syntax as syn
from srcgrad.transform.callbacks import callback
from srcgrad.transform.module import Module
from srcgrad.transform.nested import is_nested, written_out
from srcgrad.transform.operators import binary, operation
from srcgrad.transform.solutions import root_found

if TYPE_CHECKING:
    from srcgrad.analysis.unit import Unit


@dataclass
class Pending:
    """An expression that waits to be folded into the statement that uses it."""

    node: ast.expr
    reads: set[str]
    reads_memory: bool
    impure: bool
    made_of: list[ir.Stmt]  # the statements that it stands for


@dataclass
class Text:
    """Prints IR expressions and blocks; `named` are the temporaries that must keep a name."""

    module: Module
    facts: Facts
    names: Names
    named: set[str] = field(default_factory=set)
    dead: set[int] = field(default_factory=set)
    pending: dict[str, Pending] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)  # temporary -> its printed name
    uses: dict[str, list[int]] = field(default_factory=dict)
    program: Program | None = None
    current: ir.Stmt | None = None  # the statement being printed
    folded: list[ir.Stmt] = field(default_factory=list)  # what the statement at hand is made of
    may_raise: Callable[[ir.Stmt], bool] = lambda _: True
    before: Callable[[ir.Stmt], list[ast.stmt]] = lambda _: []
    after: Callable[[ir.Stmt], list[ast.stmt]] = lambda _: []
    replaces: Callable[[ir.Stmt], list[ast.stmt] | None] = lambda _: None
    is_replaced: Callable[[ir.Stmt], bool] = lambda _: False
    is_hooked: Callable[[ir.Stmt], bool] = lambda _: False  # is something written beside it
    handling: Callable[[ir.Try, int], list[ast.stmt]] = lambda *_: []
    unit: Unit | None = None  # what is known of the function, where it is differentiated
    stands_aside: bool = False  # what `before` writes leaves the values of all variables alone

    # ---- atoms and expressions ----

    def var(self, name: str) -> str:
        """The printed name of a variable."""
        got = self.printed.get(name)
        if got is None and "%" not in name:
            return name
        if got is None:
            base = name.split("%")[0]
            got = self.names.fresh(base) if base else self.names.temporary()
            self.printed[name] = got
        return got

    def atom(self, a: ir.Atom) -> ast.expr:
        if isinstance(a, ir.Var):
            waiting = self.pending.pop(a.name, None)
            if waiting is None:
                return syn.name(self.var(a.name))
            self.folded += waiting.made_of
            return waiting.node
        return self.module.atom(a)

    def arg(self, a: ir.Atom | ir.Star) -> ast.expr:
        if isinstance(a, ir.Star):
            return ast.Starred(self.atom(a.value), ast.Load())
        return self.atom(a)

    def key(self, key: ir.Key) -> ast.expr:
        match key:
            case ir.KeyTuple(items):
                return syn.tuple_of(self.key(i) for i in items)
            case ir.Slice(lower, upper, step):
                parts = [None if a is None else self.atom(a) for a in (lower, upper, step)]
                return ast.Slice(*parts)
            case _:
                return self.atom(key)

    def index(self, obj: ast.expr, key: ir.Key) -> ast.expr:
        return ast.Subscript(obj, self.key(key), ast.Load())

    def expr(self, expr: ir.Expr) -> ast.expr:
        match expr:
            case ir.Var() | ir.Const() | ir.Global():
                return self.atom(expr)
            case ir.Op(op, args):
                return operation(op, [self.atom(a) for a in args])
            case ir.Call() | ir.Method() if is_nested(expr, self.facts, self.current):
                return written_out(self)
            case ir.Call(fn, args, kwargs):
                found = root_found(self, expr)
                return found or asked.chosen(self, self.call(self.atom(fn), args, kwargs))
            case ir.Method(obj, name, args, kwargs):
                return self.call(ast.Attribute(self.atom(obj), name, ast.Load()), args, kwargs)
            case ir.Attr(obj, name):
                return ast.Attribute(self.atom(obj), name, ast.Load())
            case ir.Index(obj, key):
                return self.index(asked.indexed(self, obj), key)
            case ir.Build():
                return self.display(expr)
            case ir.Opaque():
                return self.opaque(expr)
            case ir.Closure(_, free):
                return syn.tuple_of(self.atom(a) for _, a in free)

    def call(
        self,
        fn: ast.expr,
        args: Iterable[ir.Atom | ir.Star],
        kwargs: Iterable[tuple[str | None, ir.Atom]],
    ) -> ast.expr:
        given = [callback(self, a) or self.arg(a) for a in args]
        named = [ast.keyword(k, callback(self, v) or self.atom(v)) for k, v in kwargs]
        return ast.Call(fn, given, named)

    def display(self, expr: ir.Build) -> ast.expr:
        items = [self.arg(i) for i in expr.items]
        match expr.kind:
            case "tuple":
                return ast.Tuple(items, ast.Load())
            case "list":
                return ast.List(items, ast.Load())
            case "set":
                return ast.Set(items) if items else syn.expr("set()")
            case _:
                keys = [None if k is None else self.atom(k) for k in expr.keys]
                return ast.Dict(keys, items)

    def opaque(self, expr: ir.Opaque) -> ast.expr:
        parts: dict[str, ast.expr] = {k: self.module.atom(g) for k, g in expr.globals}
        for v in expr.reads:
            parts[v.name] = callback(self, v) or syn.name(self.var(v.name))
        return syn.substitute(expr.node, parts)

    def verbatim(self, stmt: ir.Verbatim) -> ast.stmt:
        names = {v.name: self.var(v.name) for v in (*stmt.reads, *stmt.writes)}
        node = rename_ast(stmt.node, names)
        parts = {k: self.module.atom(g) for k, g in stmt.globals}
        return syn.substitute(node, parts)  # type: ignore[return-value]

    # ---- folding ----

    def may_wait(self, stmt: ir.Assign, here: set[int]) -> bool:
        """Whether a temporary is folded into its one use, in the same block."""
        t = stmt.target
        if "%" not in t.name or t.name.split("%")[0] or t.name in self.named:
            return False
        uses = self.uses.get(t.name, [])
        return len(uses) == 1 and uses[0] in here and uses[0] not in self.dead

    def wait(self, stmt: ir.Assign) -> None:
        consumed = [
            self.pending[a.name]
            for a in ir.operands(stmt.value)
            if isinstance(a, ir.Var) and a.name in self.pending
        ]
        self.current, self.folded = stmt, [stmt]
        node = self.expr(stmt.value)
        reads = {v.name for v in ir.reads(stmt)}
        memory = isinstance(stmt.value, ir.Index | ir.Method | ir.Call | ir.Attr | ir.Op)
        impure = self.is_impure(stmt)
        for p in consumed:
            reads |= p.reads
            memory, impure = memory or p.reads_memory, impure or p.impure
        self.pending[stmt.target.name] = Pending(node, reads, memory, impure, self.folded)

    def is_impure(self, stmt: ir.Stmt) -> bool:
        """Whether evaluating the statement's expression may have effects or see them."""
        if not isinstance(stmt, ir.Assign | ir.Effect):
            return isinstance(stmt, ir.Store | ir.StoreAttr | ir.Verbatim | ir.With | ir.Try)
        if not isinstance(stmt.value, ir.Call | ir.Method):
            return False
        target = self.facts.targets.get(stmt.sid)
        if isinstance(target, Library):
            return not target.entry.pure or writes_argument(target)
        return not (isinstance(target, Container) and target.name in ("copy", "get", "alias"))

    def flush(self, stmt: ir.Stmt, force: bool = False) -> list[ast.stmt]:
        """Give names to waiting expressions that the statement would disturb."""
        out: list[ast.stmt] = []
        written = {v.name for v in ir.writes(stmt)}
        effect = self.is_impure(stmt)
        for name, p in list(self.pending.items()):
            if force or p.reads & written or (effect and (p.reads_memory or p.impure)):
                del self.pending[name]
                out.append(self.primal(syn.assign(self.var(name), p.node), p.made_of))
        return out

    def primal(self, node: ast.stmt, made_of: list[ir.Stmt]) -> ast.stmt:
        """Mark a statement of the user's: leaving it out may hide the errors that it raises."""
        node.srcgrad_raises = lambda: any(map(self.may_raise, made_of))  # type: ignore[attr-defined]
        return node

    # ---- statements ----

    def block(self, block: ir.Block) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        here = {s.sid for s in block}
        k = 0
        while k < len(block):
            stmt = block[k]
            k += 1
            if stmt.sid in self.dead:
                continue
            group = self.unpacking(block, k - 1)
            if group is not None:
                count, source = group
                out += self.unpack(block[k - 1 : k - 1 + count], source)
                k += count - 1
                continue
            if isinstance(stmt, ir.Assign) and self.may_wait(stmt, here):
                own = self.before(stmt)
                stays = self.is_replaced(stmt) or stmt.target.name in self.named
                if stays or (own and not self.stands_aside):
                    out += self.emit(stmt, own)
                    continue
                out += own
                self.wait(stmt)
                continue
            out += self.emit(stmt)
        for name, p in list(self.pending.items()):
            if any(sid in here for sid in self.uses.get(name, ())):
                del self.pending[name]
                out.append(self.primal(syn.assign(self.var(name), p.node), p.made_of))
        return out

    def unpacking(self, block: ir.Block, k: int) -> tuple[int, ir.Atom] | None:
        """Statements from k on that are one unpacking, `a, b = t`: (how many, what is
        unpacked)."""
        first = block[k]
        if not isinstance(first, ir.Assign):
            return None
        if isinstance(first.value, ir.Index) and isinstance(first.value.obj, ir.Var):
            obj = first.value.obj
            t = self.facts.of(obj)
            if not obj.is_temp or not isinstance(t, ty.Tuple) or len(t.items) < 2:
                return None
            n, extra = len(t.items), 0
            if len(self.uses.get(obj.name, ())) != n:
                return None
            source: ir.Atom = obj
        else:
            target = self.facts.targets.get(first.sid)
            if not (isinstance(target, Container) and target.name == "alias"):
                return None
            if not isinstance(first.value, ir.Call) or len(first.value.args) != 2:
                return None
            if self.uses.get(first.target.name):
                return None
            source, count = ir.unstar(first.value.args[0]), first.value.args[1]
            if not isinstance(source, ir.Var) or not isinstance(count, ir.Const):
                return None
            n, extra = int(count.value), 1
        group = block[k + extra : k + extra + n]
        return (n + extra, source) if self.takes_items(group, source, n) else None

    def takes_items(self, group: ir.Block, source: ir.Atom, n: int) -> bool:
        """Whether statements bind the items 0 to n - 1 of a sequence to different names."""
        targets = set()
        for i, stmt in enumerate(group):
            if not isinstance(stmt, ir.Assign) or stmt.value != ir.Index(source, ir.Const(i)):
                return False
            if stmt.sid in self.dead or self.is_hooked(stmt):
                return False
            if self.is_replaced(stmt) or stmt.target == source:
                return False
            targets.add(stmt.target.name)
        return n >= 2 and len(group) == n == len(targets)

    def unpack(self, group: ir.Block, source: ir.Atom) -> list[ast.stmt]:
        self.folded = list(group)
        value = self.atom(source)
        items = [m for m in group if isinstance(m, ir.Assign) and isinstance(m.value, ir.Index)]
        pre = [s for m in group for s in self.flush(m)]
        target = syn.tuple_of(syn.name(self.var(m.target.name)) for m in items)
        made = syn.assign(target, value)
        made.srcgrad_origin = group[0].loc.origin  # type: ignore[attr-defined]
        return [*pre, self.primal(made, self.folded)]

    def emit(self, stmt: ir.Stmt, pre: list[ast.stmt] | None = None) -> list[ast.stmt]:
        if pre is None:
            pre = self.before(stmt)
        self.current, self.folded = stmt, [stmt]
        made = self.replaces(stmt)
        if made is None:
            made = self.stmt(stmt)
            made_of = [stmt] if ir.blocks(stmt) else self.folded
            made = [self.primal(node, made_of) for node in made]
        for node in made:
            if not hasattr(node, "srcgrad_origin"):
                node.srcgrad_origin = stmt.loc.origin  # type: ignore[attr-defined]
        return [*self.flush(stmt), *pre, *made, *self.after(stmt)]

    def stmt(self, stmt: ir.Stmt) -> list[ast.stmt]:
        match stmt:
            case ir.Assign():
                return [self.assignment(stmt)]
            case ir.Effect():
                return [ast.Expr(self.expr(stmt.value))]
            case ir.Store():
                value = self.atom(stmt.value)
                if stmt.op in ir.AT_OPERATORS:
                    return [self.accumulating(stmt, value)]
                return [self.storing(self.index(self.atom(stmt.base), stmt.key), stmt.op, value)]
            case ir.StoreAttr():
                value = self.atom(stmt.value)
                place = ast.Attribute(self.atom(stmt.base), stmt.name, ast.Load())
                return [self.storing(place, stmt.op, value)]
            case ir.If():
                test = self.expr(stmt.test)
                pre = self.flush(stmt, force=True)
                body, orelse = self.block(stmt.body), self.block(stmt.orelse)
                return [*pre, *syn.conditional(test, body, orelse)]
            case ir.For():
                rng = syn.counted(*map(self.atom, (stmt.start, stmt.stop, stmt.step)))
                pre = self.flush(stmt, force=True)
                target = ast.Name(self.var(stmt.target.name), ast.Store())
                body = self.block(stmt.body) or [ast.Pass()]
                return [*pre, syn.loop(stmt, target, rng, body)]
            case ir.While():
                pre = self.flush(stmt, force=True)
                return [
                    *pre,
                    ast.While(self.expr(stmt.test), self.block(stmt.body) or [ast.Pass()], []),
                ]
            case ir.Exit(kind="break"):
                return [ast.Break()]
            case ir.Exit(kind="continue"):
                return [ast.Continue()]
            case ir.Exit(value=value):
                return [ast.Return(None if value is None else self.atom(value))]
            case ir.With():
                pre = self.flush(stmt, force=True)
                if stmt.special == "adjoint_of":
                    return pre  # its body runs in the reverse sweep
                if stmt.special is not None:
                    return [*pre, *self.block(stmt.body)]
                items = [ast.withitem(self.expr(c), None) for c in stmt.contexts]
                if stmt.bound is not None:
                    items[-1].optional_vars = ast.Name(self.var(stmt.bound), ast.Store())
                return [*pre, ast.With(items, self.block(stmt.body) or [ast.Pass()])]
            case ir.Try():
                return [*self.flush(stmt, force=True), *self.try_(stmt)]
            case ir.Verbatim():
                return [self.verbatim(stmt)]

    def assignment(self, stmt: ir.Assign) -> ast.stmt:
        target = self.var(stmt.target.name)
        if stmt.inplace is not None and isinstance(stmt.value, ir.Op):
            return ast.AugAssign(
                ast.Name(target, ast.Store()),
                binary(stmt.inplace),
                self.atom(stmt.value.args[1]),
            )
        value = self.expr(stmt.value)
        if isinstance(value, ast.BinOp) and isinstance(stmt.value, ir.Op):
            again = stmt.value.args[0] == stmt.target
            if again and isinstance(self.facts.of(stmt.target), ty.Number):
                return ast.AugAssign(ast.Name(target, ast.Store()), value.op, value.right)
        return syn.assign(target, value)

    def accumulating(self, stmt: ir.Store, value: ast.expr) -> ast.stmt:
        """`np.add.at(base, key, value)`"""
        assert stmt.op is not None
        name = f"{ir.AT_OPERATORS[stmt.op]}.at"
        return ast.Expr(self.module.numpy(name, self.atom(stmt.base), self.key(stmt.key), value))

    def storing(self, place: ast.expr, op: str | None, value: ast.expr) -> ast.stmt:
        if op is None:
            return syn.assign(place, value)
        node = syn._as_store(place)
        return ast.AugAssign(node, binary(op), value)  # type: ignore[arg-type]

    def try_(self, stmt: ir.Try) -> list[ast.stmt]:
        handlers = [
            ast.ExceptHandler(
                None if h.type is None else self.expr(h.type),
                h.name,
                [*self.handling(stmt, k), *self.block(h.body)] or [ast.Pass()],
            )
            for k, h in enumerate(stmt.handlers)
        ]
        body, final = self.block(stmt.body), self.block(stmt.final)
        if not handlers and not final:  # what stood in `finally` has no effect here
            return body
        return [ast.Try(body or [ast.Pass()], handlers, self.block(stmt.orelse), final)]


__all__ = ["Pending", "Text", "User", "binary", "bound_atoms"]
