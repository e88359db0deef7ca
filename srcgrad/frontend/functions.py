"""Functions: parameters, bodies, nested definitions and what they capture.

A nested function that has one definition is written out as a `Closure` at each use of its name,
with its captured variables as they are then: this is Python's late binding.  Any other closure is
a value that may be called later, so what it captures must not change after it is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from srcgrad.frontend import bindings
from srcgrad.frontend.bindings import FunctionNode, is_settled, loads, names_in
from srcgrad.frontend.lifted import written
from srcgrad.frontend.resolve import callee, constant, is_newaxis, lookup, recursion
from srcgrad.frontend.scope import (
    Nested,
    Scope,
    Session,
    atom,
    expression,
    lowers,
    lowers_statement,
    statements,
)
from srcgrad.ir.names import Names
from srcgrad.ir.nodes import (
    Atom,
    Block,
    Closure,
    Const,
    Exit,
    Expr,
    For,
    Function,
    Global,
    If,
    Loc,
    Param,
    Stmt,
    Try,
    Var,
    Verbatim,
    While,
    With,
    blocks,
)
from srcgrad.ir.rebuild import map_own, with_blocks

# ---- a function -----------------------------------------------------------------


def open_scope(
    session: Session, node: FunctionNode, name: str, parent: Scope | None = None
) -> Scope:
    """The scope of a function, with the names it binds sorted out."""
    scope = Scope(session, name, node, bindings.of_function(node), parent)
    _refuse_suspended(scope, node)
    for declaration in scope.bindings.declarations:
        _refuse_writes(scope, declaration)
    return scope


def close_scope(
    scope: Scope, fn: Any = None, defaults: tuple[tuple[str, Atom], ...] = ()
) -> Function:
    """Lower the body and make the function."""
    node = scope.node
    doc = None
    if isinstance(node, ast.Lambda):
        returned = atom(scope, node.body)
        scope.emit(Exit(scope.sid(), scope.loc(node.body), "return", returned))
    else:
        doc = ast.get_docstring(node, clean=False)
        statements(scope, node.body)
        if falls_through(tuple(scope.out)):
            scope.emit(Exit(scope.sid(), _head(scope, node), "return", Const(None)))
    return Function(
        scope.name,
        parameters(node.args, fn),
        tuple(scope.out),
        tuple(scope.captured),
        _head(scope, node),
        doc,
        fn,
        defaults,
    )


def _head(scope: Scope, node: FunctionNode) -> Loc:
    """The `def` line alone: the end of a function says nothing."""
    loc = scope.loc(node)
    text = "lambda" if isinstance(node, ast.Lambda) else f"def {scope.name}"
    return Loc(loc.file, loc.line, loc.col, loc.line, loc.col + len(text))


def parameters(args: ast.arguments, fn: Any = None) -> tuple[Param, ...]:
    notes = getattr(fn, "__annotations__", {})
    positional = [*((a, "posonly") for a in args.posonlyargs), *((a, "normal") for a in args.args)]
    first_default = len(positional) - len(args.defaults)
    found = [
        Param(arg.arg, kind, k >= first_default, notes.get(arg.arg))
        for k, (arg, kind) in enumerate(positional)
    ]
    if args.vararg is not None:
        found.append(Param(args.vararg.arg, "varargs", False, notes.get(args.vararg.arg)))
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(Param(arg.arg, "kwonly", default is not None, notes.get(arg.arg)))
    if args.kwarg is not None:
        found.append(Param(args.kwarg.arg, "varkw", False, notes.get(args.kwarg.arg)))
    return tuple(found)


def falls_through(block: Block) -> bool:
    """Can the end of the block be reached?"""
    return not block or _falls_through(block[-1])


def _falls_through(stmt: Stmt) -> bool:
    match stmt:
        case Exit():
            return False
        case Verbatim(node=ast.Raise()):
            return False
        case If(body=body, orelse=orelse):
            return falls_through(body) or falls_through(orelse)
        case While(test=Const(value=True), body=body):
            return _breaks(body)
        case With(body=body):
            return falls_through(body)
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            if final and not falls_through(final):
                return False
            main = falls_through(body) and (not orelse or falls_through(orelse))
            return main or any(falls_through(h.body) for h in handlers)
    return True


def _breaks(block: Block) -> bool:
    """Is there a `break` in the block that is not one of an inner loop?"""
    return any(
        (isinstance(stmt, Exit) and stmt.kind == "break")
        or (not isinstance(stmt, For | While) and any(map(_breaks, blocks(stmt))))
        for stmt in block
    )


def _refuse_suspended(scope: Scope, node: FunctionNode) -> None:
    if isinstance(node, ast.AsyncFunctionDef):
        raise scope.refusal(
            node,
            f"{node.name} is async: a coroutine runs in pieces and has no single result",
            "write the numeric part as an ordinary function",
        )
    if getattr(node, "type_params", None):
        raise scope.refusal(node, "a function with type parameters is not supported")
    for part in scope.bindings.suspended:
        expression(scope, part)  # its handler refuses it


def _refuse_writes(scope: Scope, declaration: ast.Global | ast.Nonlocal) -> None:
    word = "global" if isinstance(declaration, ast.Global) else "nonlocal"
    for name in declaration.names:
        if name in scope.bindings.sites:
            raise scope.refusal(
                declaration,
                f"{word} {name}: the function writes a variable outside it, "
                "so that a second call differs from the first",
                f"pass {name} in and return its new value",
            )


# ---- nested functions -----------------------------------------------------------


def find_inlined(scope: Scope) -> None:
    """Note the nested functions whose every use stands after their one definition."""
    if isinstance(scope.node, ast.Lambda):
        return
    candidates = list(_definitions(scope, scope.node.body))
    if not candidates:
        return
    used = loads(scope.node.body)
    for name, node, following in candidates:
        if len(scope.bindings.sites[name]) == 1 and loads(following)[name] == used[name]:
            scope.inlined[name] = _nested(scope, name, node)


def _definitions(
    scope: Scope, block: list[ast.stmt]
) -> Iterator[tuple[str, FunctionNode, list[ast.stmt]]]:
    for k, stmt in enumerate(block):
        match stmt:
            case ast.FunctionDef(name=name) if _is_plain(scope, stmt):
                yield name, stmt, block[k:]
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value):
                yield name, value, block[k:]
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case ast.Try():
                pass  # an exception may skip the definition
            case ast.If() | ast.For() | ast.While() | ast.With():
                yield from _definitions(scope, stmt.body)
                yield from _definitions(scope, getattr(stmt, "orelse", []))


def _default_values(args: ast.arguments) -> list[tuple[str, ast.expr]]:
    """Parameters with their default values, in order of evaluation."""
    positional = [*args.posonlyargs, *args.args]
    last = positional[len(positional) - len(args.defaults) :]
    found = list(zip(last, args.defaults, strict=True))
    pairs = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    found += [(arg, default) for arg, default in pairs if default is not None]
    return [(arg.arg, default) for arg, default in found]


def _nested(scope: Scope, name: str, node: FunctionNode) -> Nested:
    """A nested function; default values that are not literals get variables that it captures."""
    defaults: tuple[tuple[str, Atom], ...] = tuple(
        (param, constant(value) or scope.hidden(param))
        for param, value in _default_values(node.args)
    )
    hidden = frozenset(held.name for _, held in defaults if isinstance(held, Var))
    return Nested(name, node, scope, defaults, hidden, decorated=_decorator(scope, node))


def _decorator(scope: Scope, node: FunctionNode) -> str | None:
    """The one decorator of a nested function, if it is one that gives it a derivative."""
    if isinstance(node, ast.Lambda) or len(node.decorator_list) != 1:
        return None
    special = getattr(callee(scope, node.decorator_list[0]), "__srcgrad_special__", None)
    return special if special in ("custom_gradient", "nondiff") else None


def _is_plain(scope: Scope, node: ast.FunctionDef) -> bool:
    return not node.decorator_list or _decorator(scope, node) is not None


def define(scope: Scope, nested: Nested) -> None:
    """Evaluate the default values, where the definition stands."""
    nested.overriding = scope.overriding
    values = dict(_default_values(nested.node.args))
    for name, held in nested.defaults:
        if isinstance(held, Var):
            scope.assign(values[name], held, expression(scope, values[name]))


def _lowered(scope: Scope, nested: Nested, node: ast.AST) -> Function:
    """The function of a nested definition, lowered when it is first needed."""
    if nested.fn is not None:
        return nested.fn
    if nested.inner is not None:
        raise scope.refusal(
            node,
            f"the nested function {nested.name} is used inside its own definition in a way that "
            "is not followed",
            "define it at module level",
        )
    here = nested.name not in nested.owner.inlined  # a lambda sees a comprehension's variables
    with nested.owner.renamed({}, keep=here):
        inner = open_scope(nested.owner.session, nested.node, nested.name, nested.owner)
        nested.inner = inner
        inner.overriding = nested.overriding
        find_inlined(inner)
        for name in sorted(nested.hidden):
            inner.capture(Var(name), nested.owner)
        made = _with_plain_names(close_scope(inner, None, nested.defaults), nested)
        body = made.body
        for loc, rules in reversed(nested.overriding):
            body = (With(inner.sid(), loc, (), body, "override", rules),)
        text = written(nested, made.free)
        nested.fn = replace(made, body=body, decorated=nested.decorated, written=text)
    return nested.fn


def _with_plain_names(fn: Function, nested: Nested) -> Function:
    """Captured variables become parameters of the generated function: hidden ones get names."""
    names = Names({*names_in(nested.node), *fn.free, *(p.name for p in fn.params)})
    plain = {n: names.fresh(n.partition("%")[0] or "held") for n in fn.free if "%" in n}
    if not plain:
        return fn
    nested.outer.update({new: old for old, new in plain.items()})

    def change(a: Atom) -> Atom:
        return Var(plain[a.name]) if isinstance(a, Var) and a.name in plain else a

    def block(old: Block) -> Block:
        return tuple(
            with_blocks(map_own(s, change, change), tuple(map(block, blocks(s)))) for s in old
        )

    return replace(
        fn,
        body=block(fn.body),
        free=tuple(plain.get(n, n) for n in fn.free),
        defaults=tuple((k, change(a)) for k, a in fn.defaults),
    )


def closure(scope: Scope, nested: Nested, node: ast.AST, use: str) -> Expr:
    """The nested function as a value.

    use "call": it is called now, or handed to a call.  "return": it leaves the function.
    "keep": it may be called at any time from now on."""
    if nested.inner is scope and nested.fn is None:
        return recursion(nested.name)
    fn = _lowered(scope, nested, node)
    outer = [nested.outer.get(name, name) for name in fn.free]
    for name in outer:
        if name not in nested.hidden and use != "call":
            _check_settled(scope, nested, name, node, use)
    held = (scope.capture(Var(name), _owner(nested, name)) for name in outer)
    return Closure(fn, tuple(zip(fn.free, held, strict=True)))


def _owner(nested: Nested, name: str) -> Scope:
    assert nested.inner is not None
    return nested.inner.captured[name]


def _check_settled(scope: Scope, nested: Nested, name: str, node: ast.AST, use: str) -> None:
    owner = _owner(nested, name)
    if owner is scope and use == "return":
        return
    place = bindings.start(node) if owner is scope else None
    if not is_settled(owner.bindings, name, place) or "%" in name:
        label = name.partition("%")[0]
        raise scope.refusal(
            node,
            f"{nested.name} captures {label}, which gets another value later: Python looks it up "
            "when the function is called",
            f"bind it now, with a default: {label}={label}",
        )


def function_atom(scope: Scope, node: ast.expr, use: str = "call") -> Atom | None:
    """The closure that an expression names or writes out; None for anything else."""
    nested = _named(scope, node)
    return None if nested is None else scope.keep(node, closure(scope, nested, node, use))


def _named(scope: Scope, node: ast.expr) -> Nested | None:
    if isinstance(node, ast.Lambda):
        return _lambda_here(scope, node)
    if isinstance(node, ast.Name):
        found = lookup(scope, node.id, node)
        return found if isinstance(found, Nested) else None
    return None


def _lambda_here(scope: Scope, node: ast.Lambda) -> Nested:
    nested = _nested(scope, "<lambda>", node)
    define(scope, nested)
    return nested


@lowers(ast.Name)
def _name(scope: Scope, node: ast.Name) -> Expr:
    found = lookup(scope, node.id, node)
    if isinstance(found, Nested):
        return closure(scope, found, node, "keep")
    if isinstance(found, Global) and is_newaxis(found):
        return Const(None)
    return found


@lowers(ast.Lambda)
def _lambda(scope: Scope, node: ast.Lambda) -> Expr:
    return closure(scope, _lambda_here(scope, node), node, "keep")


@lowers_statement(ast.FunctionDef)
def _function_def(scope: Scope, node: ast.FunctionDef) -> None:
    if not _is_plain(scope, node):
        raise scope.refusal(
            node.decorator_list[0],
            f"the nested function {node.name} is decorated",
            "define it at module level",
        )
    inlined = scope.inlined.get(node.name)
    nested = inlined or _nested(scope, node.name, node)
    define(scope, nested)
    if inlined is None:
        scope.assign(node, Var(node.name), closure(scope, nested, node, "keep"))
    else:
        _lowered(scope, nested, node)


@lowers_statement(ast.ClassDef, ast.AsyncFunctionDef)
def _other_definition(scope: Scope, node: ast.ClassDef | ast.AsyncFunctionDef) -> None:
    word = "class" if isinstance(node, ast.ClassDef) else "async function"
    raise scope.refusal(
        node, f"the {word} {node.name} is defined inside the function", "define it at module level"
    )
