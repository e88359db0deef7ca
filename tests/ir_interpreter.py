"""Runs a function of the IR on real values, node by node.

The strongest test of lowering: the result has to be what the user's function gives.
"""

from __future__ import annotations

import ast
import operator

from srcgrad.frontend.scope import RecursiveRef
from srcgrad.ir.nodes import (
    Assign,
    Attr,
    Build,
    Call,
    Closure,
    Const,
    Effect,
    Exit,
    For,
    Global,
    If,
    Index,
    KeyTuple,
    Method,
    Op,
    Opaque,
    Slice,
    Star,
    Store,
    StoreAttr,
    Try,
    Var,
    Verbatim,
    While,
    With,
)

BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "matmul": operator.matmul,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "is": operator.is_,
    "is_not": operator.is_not,
    "in": lambda a, b: a in b,
    "not_in": lambda a, b: a not in b,
}
UNARY = {
    "neg": operator.neg,
    "pos": operator.pos,
    "invert": operator.invert,
    "not": operator.not_,
}
INPLACE = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "truediv": operator.itruediv,
    "floordiv": operator.ifloordiv,
    "mod": operator.imod,
    "pow": operator.ipow,
    "matmul": operator.imatmul,
    "lshift": operator.ilshift,
    "rshift": operator.irshift,
    "and": operator.iand,
    "or": operator.ior,
    "xor": operator.ixor,
}


class Leave(Exception):
    def __init__(self, kind, value=None):
        self.kind, self.value = kind, value


def follow(found):
    import builtins
    import importlib

    if found.root.kind == "module":
        value = importlib.import_module(found.root.key)
    elif found.root.kind == "builtins":
        value = builtins
    else:
        value = found.root.obj
    for k, name in enumerate(found.path):
        if k == 0 and not hasattr(value, name):
            raise NameError(f"name {name!r} is not defined")
        value = getattr(value, name)
    return value


class Frame:
    def __init__(self, me):
        self.names = {}
        self.me = me

    def value(self, atom):
        match atom:
            case Var(name):
                if name not in self.names:
                    raise UnboundLocalError(name)
                return self.names[name]
            case Const(value):
                return value
            case Global(value=RecursiveRef()):
                return self.me
            case Global():
                return follow(atom)
        raise TypeError(atom)

    def args(self, args, kwargs):
        found = []
        for arg in args:
            found.extend(self.value(arg.value)) if isinstance(arg, Star) else found.append(
                self.value(arg)
            )
        named = {}
        for name, atom in kwargs:
            named.update(self.value(atom) if name is None else {name: self.value(atom)})
        return found, named

    def key(self, key):
        match key:
            case KeyTuple(items):
                return tuple(self.key(item) for item in items)
            case Slice(lower, upper, step):
                return slice(*(None if p is None else self.value(p) for p in (lower, upper, step)))
        return self.value(key)

    def expr(self, expr):
        match expr:
            case Var() | Const() | Global():
                return self.value(expr)
            case Op(op, (only,)):
                return UNARY[op](self.value(only))
            case Op(op, (left, right)):
                return BINARY[op](self.value(left), self.value(right))
            case Call(fn, args, kwargs):
                callee = self.value(fn)
                found, named = self.args(args, kwargs)
                return callee(*found, **named)
            case Method(obj, name, args, kwargs):
                callee = getattr(self.value(obj), name)
                found, named = self.args(args, kwargs)
                return callee(*found, **named)
            case Attr(obj, name):
                return getattr(self.value(obj), name)
            case Index(obj, key):
                return self.value(obj)[self.key(key)]
            case Build("dict", items, keys):
                made = {}
                for k, item in zip(keys, items, strict=True):
                    made.update(
                        self.value(item) if k is None else {self.value(k): self.value(item)}
                    )
                return made
            case Build(kind, items):
                return {"tuple": tuple, "list": list, "set": set}[kind](self.args(items, ())[0])
            case Opaque(node, reads, found):
                for var in reads:
                    assert isinstance(var, Var)
                code = compile(ast.fix_missing_locations(ast.Expression(node)), "<opaque>", "eval")
                return eval(code, self.space(reads, found))
            case Closure():
                return closure(expr, self)
        raise TypeError(expr)

    def space(self, reads, found):
        names = {v.name: self.names[v.name] for v in reads if v.name in self.names}
        for key, item in found:
            try:
                names[key] = follow(item)
            except NameError:
                pass
        return names

    def block(self, block):
        for stmt in block:
            self.stmt(stmt)

    def stmt(self, stmt):
        match stmt:
            case Assign(target=target, value=Op(args=(old, new)), inplace=str(op)):
                self.names[target.name] = INPLACE[op](self.value(old), self.value(new))
            case Assign(target=target, value=value):
                self.names[target.name] = self.expr(value)
            case Store(base=base, key=key, value=value, op=op):
                base, key = self.value(base), self.key(key)
                if op is None:
                    base[key] = self.value(value)
                else:
                    base[key] = INPLACE[op](base[key], self.value(value))
            case StoreAttr(base=base, name=name, value=value, op=op):
                base = self.value(base)
                new = self.value(value)
                setattr(base, name, new if op is None else INPLACE[op](getattr(base, name), new))
            case Effect(value=value):
                self.expr(value)
            case If(test=test, body=body, orelse=orelse):
                self.block(body if self.expr(test) else orelse)
            case For(target=target, start=start, stop=stop, step=step, body=body):
                for index in range(self.value(start), self.value(stop), self.value(step)):
                    self.names[target.name] = index
                    if self.round(body):
                        break
            case While(test=test, body=body):
                while self.expr(test):
                    if self.round(body):
                        break
            case Exit(kind=kind, value=value):
                raise Leave(kind, None if value is None else self.value(value))
            case With():
                self.with_(stmt)
            case Try():
                self.try_(stmt)
            case Verbatim(node=node, reads=reads, writes=writes):
                space = self.space(reads, stmt.globals)
                tree = ast.fix_missing_locations(ast.Module([node], []))
                exec(compile(tree, "<verbatim>", "exec"), space)
                for var in writes:
                    if var.name in space:
                        self.names[var.name] = space[var.name]
            case _:
                raise TypeError(stmt)

    def round(self, body):
        try:
            self.block(body)
        except Leave as leave:
            if leave.kind == "return":
                raise
            return leave.kind == "break"
        return False

    def with_(self, stmt):
        if stmt.special == "adjoint_of":
            return
        if stmt.special == "override":
            self.block(stmt.body)
            return
        (context,) = stmt.contexts
        left = None
        with self.expr(context) as bound:
            if stmt.bound is not None:
                self.names[stmt.bound] = bound
            try:
                self.block(stmt.body)
            except Leave as leave:
                left = leave
        if left is not None:
            raise left

    def try_(self, stmt):
        try:
            try:
                self.block(stmt.body)
            except Leave:
                raise
            except BaseException as error:
                for handler in stmt.handlers:
                    if handler.type is None or isinstance(error, self.expr(handler.type)):
                        if handler.name is not None:
                            self.names[handler.name] = error
                        self.block(handler.body)
                        break
                else:
                    raise
            else:
                self.block(stmt.orelse)
        finally:
            self.block(stmt.final)


def bind(fn, frame, args, kwargs, defaults):
    positional = [p for p in fn.params if p.kind in ("posonly", "normal")]
    args, kwargs = list(args), dict(kwargs)
    for param in positional:
        if args:
            frame.names[param.name] = args.pop(0)
        elif param.kind == "normal" and param.name in kwargs:
            frame.names[param.name] = kwargs.pop(param.name)
        else:
            frame.names[param.name] = defaults(param.name)
    for param in fn.params:
        match param.kind:
            case "varargs":
                frame.names[param.name] = tuple(args)
                args = []
            case "kwonly":
                if param.name in kwargs:
                    frame.names[param.name] = kwargs.pop(param.name)
                else:
                    frame.names[param.name] = defaults(param.name)
            case "varkw":
                frame.names[param.name] = kwargs
                kwargs = {}
    if args or kwargs:
        raise TypeError(f"{fn.name}() got unexpected arguments")


def execute(fn, frame):
    try:
        frame.block(fn.body)
    except Leave as leave:
        if leave.kind == "return":
            return leave.value
    raise AssertionError("a function has to end with a return")


def closure(expr, outer):
    """A nested function as a Python function; what it captures is as of now."""
    held = {name: outer.names[atom.name] for name, atom in expr.free if atom.name in outer.names}
    assert set(expr.fn.free) == {name for name, _ in expr.free}

    def call(*args, **kwargs):
        frame = Frame(call)
        frame.names.update(held)
        given = dict(expr.fn.defaults)
        bind(expr.fn, frame, args, kwargs, lambda name: frame.value(given[name]))
        return execute(expr.fn, frame)

    return call


def run(fn, *args, **kwargs):
    """Call a lowered top-level function."""
    import inspect

    frame = Frame(None)
    given = {
        name: p.default
        for name, p in inspect.signature(fn.fn, follow_wrapped=False).parameters.items()
    }
    bind(fn, frame, args, kwargs, lambda name: given[name])
    return execute(fn, frame)
