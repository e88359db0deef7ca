"""A function of the IR as text, one statement a line, for people and for tests."""

from __future__ import annotations

import ast
import copy

from srcgrad.ir.nodes import (
    AT_OPERATORS,
    Assign,
    Atom,
    Attr,
    Block,
    Build,
    Call,
    Closure,
    Const,
    Effect,
    Exit,
    Expr,
    For,
    Function,
    Global,
    If,
    Index,
    Key,
    KeyTuple,
    Method,
    Op,
    Opaque,
    Param,
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

_SIGNS = {
    "neg": "-",
    "pos": "+",
    "invert": "~",
    "not": "not ",
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "lshift": "<<",
    "rshift": ">>",
    "and": "&",
    "or": "|",
    "xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "is": "is",
    "is_not": "is not",
    "in": "in",
    "not_in": "not in",
}
_MARKS = {"varargs": "*", "varkw": "**"}


def show(fn: Function) -> str:
    """The function as text: `%1` are temporaries, `numpy.sin` is the path of a global.

    >>> from srcgrad.ir.nodes import Loc
    >>> here = Loc("f.py", 1, 0, 1, 5)
    >>> body = (Exit(0, here, "return", Var("x")),)
    >>> print(show(Function("f", (Param("x", "normal"),), body, (), here, None)))
    def f(x):
        return x
    """
    return "\n".join([f"def {_head(fn)}:", *_block(fn.body)])


def _head(fn: Function) -> str:
    defaults = dict(fn.defaults)
    parts: list[str] = []
    for k, param in enumerate(fn.params):
        if param.kind != "posonly" and k and fn.params[k - 1].kind == "posonly":
            parts.append("/")
        before = {p.kind for p in fn.params[:k]}
        if param.kind == "kwonly" and not before & {"kwonly", "varargs"}:
            parts.append("*")
        parts.append(_param(param, defaults))
    if fn.params and fn.params[-1].kind == "posonly":
        parts.append("/")
    free = f" captures {', '.join(fn.free)}" if fn.free else ""
    return f"{fn.name}({', '.join(parts)}){free}"


def _param(param: Param, defaults: dict[str, Atom]) -> str:
    default = ""
    if param.has_default:
        default = f"={show_expr(defaults[param.name])}" if param.name in defaults else "=..."
    return f"{_MARKS.get(param.kind, '')}{param.name}{default}"


def _block(block: Block) -> list[str]:
    lines = [line for stmt in block for line in show_stmt(stmt)] or ["pass"]
    return [f"    {line}" for line in lines]


# ---- statements ---------------------------------------------------------------


def show_stmt(stmt: Stmt) -> list[str]:
    """The lines of one statement."""
    match stmt:
        case Assign(target=target, value=Closure(fn) as value):
            head = f"{target.name} = {show_expr(value)}:"
            return [head, *_block(fn.body)]
        case Assign(target=target, value=Op(args=args), inplace=str(op)):
            return [f"{target.name} {_SIGNS[op]}= {show_expr(args[1])}"]
        case Assign(target=target, value=value):
            return [f"{target.name} = {show_expr(value)}"]
        case Store(base=base, key=key, value=value, op=op):
            place = f"{show_expr(base)}[{_key(key)}]"
            sign = "+-"[op == "sub_at"] + "at " if op in AT_OPERATORS else _SIGNS.get(op or "", "")
            return [f"{place} {sign}= {show_expr(value)}"]
        case StoreAttr(base=base, name=name, value=value, op=op):
            place = f"{show_expr(base)}.{name}"
            return [f"{place} {_SIGNS.get(op or '', '')}= {show_expr(value)}"]
        case Effect(value=value):
            return [show_expr(value)]
        case Exit(kind=kind, value=value):
            return [kind if value is None else f"{kind} {show_expr(value)}"]
        case Verbatim(node=node):
            return _source(node, stmt.globals).splitlines()
        case If() | For() | While() | With() | Try():
            return _compound(stmt)


def _compound(stmt: If | For | While | With | Try) -> list[str]:
    match stmt:
        case If(test=test, body=body, orelse=orelse):
            lines = [f"if {show_expr(test)}:", *_block(body)]
            return [*lines, "else:", *_block(orelse)] if orelse else lines
        case For(target=target, start=start, stop=stop, step=step, checkpoint=checkpoint):
            bounds = ", ".join(map(show_expr, (start, stop, step)))
            note = "" if checkpoint is None else f" checkpoint {show_expr(checkpoint)}"
            return [f"for {target.name} in range({bounds}){note}:", *_block(stmt.body)]
        case While(test=test, body=body):
            return [f"while {show_expr(test)}:", *_block(body)]
        case With():
            return [f"with {_with(stmt)}:", *_block(stmt.body)]
        case Try():
            lines = ["try:", *_block(stmt.body)]
            for handler in stmt.handlers:
                kind = "" if handler.type is None else f" {show_expr(handler.type)}"
                name = "" if handler.name is None else f" as {handler.name}"
                lines += [f"except{kind}{name}:", *_block(handler.body)]
            if stmt.orelse:
                lines += ["else:", *_block(stmt.orelse)]
            if stmt.final:
                lines += ["finally:", *_block(stmt.final)]
            return lines


def _with(stmt: With) -> str:
    bound = "" if stmt.bound is None else f" as {stmt.bound}"
    if stmt.special == "adjoint_of":
        return f"adjoint_of({show_expr(stmt.value)}){bound}"
    if stmt.special == "override":
        pairs = (f"{show_expr(key)}: {show_expr(value)}" for key, value in stmt.value)
        return f"override({{{', '.join(pairs)}}})"
    return f"{', '.join(map(show_expr, stmt.contexts))}{bound}"


# ---- expressions ----------------------------------------------------------------


def show_expr(expr: Expr) -> str:
    """One expression."""
    match expr:
        case Var(name):
            return name
        case Const(value):
            return "..." if value is ... else repr(value)
        case Global(root, path):
            return ".".join([root.key, *path] if root.key else path)
        case Op(op, (only,)):
            return f"{_SIGNS[op]}{show_expr(only)}"
        case Op(op, (left, right)):
            return f"{show_expr(left)} {_SIGNS[op]} {show_expr(right)}"
        case Call(fn, args, kwargs):
            return f"{show_expr(fn)}({_arguments(args, kwargs)})"
        case Method(obj, name, args, kwargs):
            return f"{show_expr(obj)}.{name}({_arguments(args, kwargs)})"
        case Attr(obj, name):
            return f"{show_expr(obj)}.{name}"
        case Index(obj, key):
            return f"{show_expr(obj)}[{_key(key)}]"
        case Build():
            return _build(expr)
        case Opaque(node, _, found):
            return f"`{_source(node, found)}`"
        case Closure(fn, free):
            held = ", ".join(f"{name}={show_expr(atom)}" for name, atom in free)
            return f"closure {_head(fn).partition(' captures ')[0]} with [{held}]"
    raise TypeError(f"not an expression: {expr!r}")


def _starred(arg: Atom | Star) -> str:
    return f"*{show_expr(arg.value)}" if isinstance(arg, Star) else show_expr(arg)


def _arguments(args: tuple[Atom | Star, ...], kwargs: tuple[tuple[str | None, Atom], ...]) -> str:
    named = (f"**{show_expr(v)}" if k is None else f"{k}={show_expr(v)}" for k, v in kwargs)
    return ", ".join([*map(_starred, args), *named])


def _key(key: Key) -> str:
    match key:
        case KeyTuple(items):
            return ", ".join(map(_key, items)) + ("," if len(items) == 1 else "")
        case Slice(lower, upper, step):
            first, last = ("" if part is None else show_expr(part) for part in (lower, upper))
            return f"{first}:{last}" + ("" if step is None else f":{show_expr(step)}")
        case _:
            return show_expr(key)


def _build(expr: Build) -> str:
    if expr.kind == "dict":
        pairs = zip(expr.keys, map(_starred, expr.items), strict=True)
        inside = ", ".join(f"**{v}" if k is None else f"{show_expr(k)}: {v}" for k, v in pairs)
        return f"{{{inside}}}"
    inside = ", ".join(map(_starred, expr.items))
    match expr.kind:
        case "tuple":
            return f"({inside}{',' if len(expr.items) == 1 else ''})"
        case "list":
            return f"[{inside}]"
    return f"{{{inside}}}"


def _source(node: ast.AST, found: tuple[tuple[str, Global], ...]) -> str:
    """The user's code with the placeholders of globals replaced by their paths."""
    names = {key: show_expr(value) for key, value in found}
    shown = copy.deepcopy(node)
    for part in ast.walk(shown):
        if isinstance(part, ast.Name):
            part.id = names.get(part.id, part.id)
    return ast.unparse(shown)
