"""Copies of IR nodes with their atoms replaced."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from srcgrad.ir import asts
from srcgrad.ir.nodes import (
    Assign,
    Atom,
    Attr,
    Build,
    Call,
    Closure,
    Const,
    Effect,
    Exit,
    Expr,
    For,
    Global,
    If,
    Index,
    Key,
    KeyTuple,
    Method,
    Op,
    Opaque,
    Slice,
    Star,
    Stmt,
    Store,
    StoreAttr,
    Try,
    Var,
    Verbatim,
    While,
    With,
)

Change = Callable[[Atom], Atom]


def _arg(arg: Atom | Star, f: Change) -> Atom | Star:
    return Star(f(arg.value)) if isinstance(arg, Star) else f(arg)


def map_key(key: Key, f: Change) -> Key:
    """The same index with `f` applied to each atom."""
    match key:
        case KeyTuple(items):
            return KeyTuple(tuple(map_key(i, f) for i in items))  # type: ignore[misc]
        case Slice(lower, upper, step):
            return Slice(*(None if a is None else f(a) for a in (lower, upper, step)))
        case _:
            return f(key)


def rename_ast(node: ast.AST, names: dict[str, str]) -> ast.AST:
    """A copy of a syntax tree with variables renamed."""
    changed = {k: v for k, v in names.items() if k != v}
    if not changed:
        return node

    def renamed(found: ast.Name) -> ast.Name:
        made = asts.copied(found)
        made.id = changed.get(found.id, found.id)
        return made

    return asts.rewritten(node, {ast.Name: renamed})


def map_expr(expr: Expr, f: Change) -> Expr:
    """The same expression with `f` applied to each atom."""
    match expr:
        case Var() | Const() | Global():
            return f(expr)
        case Op(op, args):
            return Op(op, tuple(map(f, args)))
        case Call(fn, args, kwargs):
            return Call(
                f(fn), tuple(_arg(a, f) for a in args), tuple((k, f(v)) for k, v in kwargs)
            )
        case Method(obj, name, args, kwargs):
            return Method(
                f(obj), name, tuple(_arg(a, f) for a in args), tuple((k, f(v)) for k, v in kwargs)
            )
        case Attr(obj, name):
            return Attr(f(obj), name)
        case Index(obj, key):
            return Index(f(obj), map_key(key, f))
        case Build(kind, items, keys):
            return Build(
                kind,
                tuple(_arg(a, f) for a in items),
                tuple(None if k is None else f(k) for k in keys),
            )
        case Opaque(node, reads, globals_):
            after = tuple(f(v) for v in reads)
            names = {
                v.name: w.name for v, w in zip(reads, after, strict=True) if isinstance(w, Var)
            }
            kept = tuple(w for w in after if isinstance(w, Var))
            return Opaque(rename_ast(node, names), kept, globals_)  # type: ignore[arg-type]
        case Closure(fn, free):
            return Closure(fn, tuple((k, f(a)) for k, a in free))


def map_own(stmt: Stmt, read: Change, write: Change) -> Stmt:
    """A statement with its own reads and writes changed; nested blocks stay as they are."""

    def target(v: Var) -> Var:
        new = write(v)
        assert isinstance(new, Var)
        return new

    match stmt:
        case Assign():
            return replace(stmt, value=map_expr(stmt.value, read), target=target(stmt.target))
        case Store():
            return replace(
                stmt, base=read(stmt.base), key=map_key(stmt.key, read), value=read(stmt.value)
            )
        case StoreAttr():
            return replace(stmt, base=read(stmt.base), value=read(stmt.value))
        case Effect():
            return replace(stmt, value=map_expr(stmt.value, read))
        case If() | While():
            return replace(stmt, test=map_expr(stmt.test, read))
        case For():
            extra = None if stmt.checkpoint is None else read(stmt.checkpoint)
            return replace(
                stmt,
                target=target(stmt.target),
                start=read(stmt.start),
                stop=read(stmt.stop),
                step=read(stmt.step),
                checkpoint=extra,
            )
        case Exit():
            return stmt if stmt.value is None else replace(stmt, value=read(stmt.value))
        case With():
            value = read(stmt.value) if isinstance(stmt.value, Var) else stmt.value
            return replace(
                stmt, contexts=tuple(map_expr(c, read) for c in stmt.contexts), value=value
            )
        case Try():
            handlers = tuple(
                h if h.type is None else replace(h, type=map_expr(h.type, read))
                for h in stmt.handlers
            )
            return replace(stmt, handlers=handlers)
        case Verbatim():
            old_reads, old_writes = stmt.reads, stmt.writes
            new_reads = tuple(read(v) for v in old_reads)
            new_writes = tuple(target(v) for v in old_writes)
            names = {
                v.name: w.name
                for v, w in zip(old_reads, new_reads, strict=True)
                if isinstance(w, Var)
            }
            names |= {v.name: w.name for v, w in zip(old_writes, new_writes, strict=True)}
            kept = tuple(w for w in new_reads if isinstance(w, Var))
            return replace(stmt, node=rename_ast(stmt.node, names), reads=kept, writes=new_writes)  # type: ignore[arg-type]


def with_blocks(stmt: Stmt, new: tuple[tuple[Stmt, ...], ...]) -> Stmt:
    """A compound statement with its nested blocks replaced (in the order of `nodes.blocks`)."""
    match stmt:
        case If():
            return replace(stmt, body=new[0], orelse=new[1])
        case For() | While() | With():
            return replace(stmt, body=new[0])
        case Try():
            n = len(stmt.handlers)
            handlers = tuple(
                replace(h, body=b) for h, b in zip(stmt.handlers, new[1 : n + 1], strict=True)
            )
            return replace(
                stmt, body=new[0], handlers=handlers, orelse=new[n + 1], final=new[n + 2]
            )
        case _:
            return stmt
