"""Statements other than loops, `match` and definitions."""

from __future__ import annotations

import ast
import contextlib
import importlib
import itertools
from typing import Any

from srcgrad.frontend.bindings import names_in
from srcgrad.frontend.eager import eager
from srcgrad.frontend.expressions import assign_into, test
from srcgrad.frontend.functions import define, function_atom
from srcgrad.frontend.purity import is_pure
from srcgrad.frontend.resolve import (
    builtin,
    callee,
    check_attribute,
    extend,
    fold,
    helper,
    module_path,
    settle,
)
from srcgrad.frontend.scope import (
    Scope,
    atom,
    expression,
    lowers_statement,
    ref,
    statements,
)
from srcgrad.frontend.targets import assign_each, assign_to, update, variable
from srcgrad.frontend.verbatim import opaque, verbatim
from srcgrad.ir.nodes import (
    MISSING,
    Atom,
    Block,
    Call,
    Const,
    Effect,
    Exit,
    Expr,
    Global,
    Handler,
    If,
    Root,
    Try,
    Var,
    With,
)

# ---- assignment ----------------------------------------------------------------------


@lowers_statement(ast.Assign)
def _assign(scope: Scope, node: ast.Assign) -> None:
    target, value = node.targets[0], node.value
    if len(node.targets) > 1:
        shared = _shared(scope, node)
        for one in node.targets:
            assign_to(scope, one, shared, node)
    elif isinstance(target, ast.Name):
        _assign_name(scope, node, target)
    else:
        value = eager(scope, value) if isinstance(target, ast.Tuple | ast.List) else value
        if isinstance(target, ast.Tuple | ast.List) and _pairs_up(target, value):
            assert isinstance(value, ast.Tuple | ast.List)
            assign_each(scope, target.elts, value.elts, node)
        else:
            assign_to(scope, target, expression(scope, value), node)


def _assign_name(scope: Scope, node: ast.Assign, target: ast.Name) -> None:
    nested = scope.inlined.get(target.id)
    if nested is not None and nested.node is node.value:
        define(scope, nested)
        return
    assign_into(scope, node.value, variable(scope, target), node)


def _shared(scope: Scope, node: ast.Assign) -> Atom:
    """The value of `a = b = value`, safe from the first of the assignments."""
    found = atom(scope, eager(scope, node.value))
    names = {part.id for t in node.targets for part in ast.walk(t) if isinstance(part, ast.Name)}
    if isinstance(found, Var) and found.name in names:
        temp = scope.temp()
        scope.assign(node.value, temp, found)
        return temp
    return found


def _pairs_up(target: ast.Tuple | ast.List, value: ast.expr) -> bool:
    """Is it as many values as targets, none of them starred?"""
    return (
        isinstance(value, ast.Tuple | ast.List)
        and len(target.elts) == len(value.elts)
        and not any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
    )


@lowers_statement(ast.AnnAssign)
def _annotated(scope: Scope, node: ast.AnnAssign) -> None:
    if node.value is not None:
        plain = ast.copy_location(ast.Assign([node.target], node.value), node)
        _assign(scope, plain)


@lowers_statement(ast.AugAssign)
def _update(scope: Scope, node: ast.AugAssign) -> None:
    update(scope, node)


# ---- simple statements ----------------------------------------------------------------


@lowers_statement(ast.Expr)
def _expression(scope: Scope, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant | ast.Name):
        return
    found = expression(scope, node.value)
    if not isinstance(found, Var | Const | Global):
        scope.emit(Effect(scope.sid(), scope.loc(node), found))


@lowers_statement(ast.Return)
def _return(scope: Scope, node: ast.Return) -> None:
    value: Atom = Const(None)
    if node.value is not None:
        value = function_atom(scope, node.value, "return") or atom(scope, node.value)
    scope.emit(Exit(scope.sid(), scope.loc(node), "return", value))


@lowers_statement(ast.If)
def _if(scope: Scope, node: ast.If) -> None:
    condition = test(scope, node.test)
    sid = scope.sid()
    body = scope.block(lambda: statements(scope, node.body))
    orelse = scope.block(lambda: statements(scope, node.orelse))
    scope.emit(If(sid, scope.loc(node), condition, body, orelse))


@lowers_statement(ast.Pass, ast.Global, ast.Nonlocal)
def _nothing(_scope: Scope, _node: ast.stmt) -> None:
    """Writes to global names are refused when the function is opened."""


@lowers_statement(ast.Assert)
def _assert(scope: Scope, node: ast.Assert) -> None:
    if not is_pure(scope, node.test):
        condition = scope.keep(node.test, test(scope, node.test))
        held = ast.Assert(ref(condition, node.test), node.msg)
        node = ast.copy_location(held, node)
    scope.emit(verbatim(scope, node))


@lowers_statement(ast.Raise)
def _raise(scope: Scope, node: ast.Raise) -> None:
    scope.emit(verbatim(scope, node))


@lowers_statement(ast.Delete)
def _delete(scope: Scope, node: ast.Delete) -> None:
    rest = [target for target in node.targets if not isinstance(target, ast.Name)]
    for target in rest:
        if isinstance(target, ast.Subscript):
            found = atom(scope, target.value), atom(scope, _as_value(target.slice))
            call = Call(helper("delete_item"), found)
            scope.emit(Effect(scope.sid(), scope.loc(node), call))
        elif isinstance(target, ast.Attribute):
            check_attribute(scope, target)
            call = Call(builtin("delattr"), (atom(scope, target.value), Const(target.attr)))
            scope.emit(Effect(scope.sid(), scope.loc(node), call))
        else:
            one = ast.copy_location(ast.Delete([target]), node)
            scope.emit(verbatim(scope, one))


def _as_value(key: ast.expr) -> ast.expr:
    """What stands in brackets as a value: `1:3` is `slice(1, 3, None)`."""
    if not isinstance(key, ast.Slice):
        return key
    ends = [ast.Constant(None) if e is None else e for e in (key.lower, key.upper, key.step)]
    made = ast.Call(ref(builtin("slice"), key), ends, [])
    return ast.fix_missing_locations(ast.copy_location(made, key))


# ---- imports -----------------------------------------------------------------------------


@lowers_statement(ast.Import, ast.ImportFrom)
def _import(scope: Scope, node: ast.Import | ast.ImportFrom) -> None:
    try:
        found = _imported(scope, node)
    except ImportError as error:
        # Where the user is not prepared for it to fail, it says so when the program comes to it.
        scope.emit(verbatim(scope, node if scope.trying else _fails(node, error)))
        return
    for name, value in found:
        _bind_import(scope, node, name, value)


def _fails(node: ast.stmt, error: ImportError) -> ast.stmt:
    """What raises an import's error; names of modules that are relative mean nothing elsewhere."""
    made = ast.parse(f"raise {type(error).__name__}({str(error)!r})").body[0]
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _imported(scope: Scope, node: ast.Import | ast.ImportFrom) -> list[tuple[str, Global]]:
    if isinstance(node, ast.Import):
        return [_imported_module(alias) for alias in node.names]
    package = scope.session.fn.__globals__.get("__package__")
    base = "." * node.level + (node.module or "")
    module = _load(base, package)
    found = []
    for alias in node.names:
        value = extend(scope.session, module, alias.name)
        if value is None or value.value is MISSING:
            inner = f"{base}.{alias.name}" if node.module else f"{base}{alias.name}"
            value = _load(inner, package)
        found.append((alias.asname or alias.name, settle(scope.session, value)))
    return found


def _imported_module(alias: ast.alias) -> tuple[str, Global]:
    """`import a.b` binds `a`; `import a.b as c` binds the inner module."""
    module = _load(alias.name)
    top = alias.name.partition(".")[0]
    return (top, _load(top)) if alias.asname is None else (alias.asname, module)


def _load(name: str, package: Any = None) -> Global:
    if name.startswith(".") and not package:
        raise ImportError("attempted relative import with no known parent package")
    module = importlib.import_module(name, package)
    return module_path(module) or Global(Root("module", module.__name__), (), module)


def _bind_import(scope: Scope, node: ast.stmt, name: str, found: Global) -> None:
    """A name that only this import binds is the global itself; any other is assigned to."""
    if len(scope.bindings.sites[name]) == 1 and name not in scope.bindings.annotated:
        scope.imports[name] = found
    else:
        scope.assign(node, Var(name), found)


# ---- with ----------------------------------------------------------------------------------


@lowers_statement(ast.With)
def _with(scope: Scope, node: ast.With) -> None:
    item, rest = node.items[0], node.items[1:]
    inner = node.body
    if rest:
        inner = [ast.copy_location(ast.With(rest, node.body), node)]
    special = None
    if isinstance(item.context_expr, ast.Call):
        target = callee(scope, item.context_expr.func)
        special = getattr(target, "__srcgrad_special__", None)
        if target is contextlib.suppress:
            _suppress(scope, node, item, inner)
            return
    if special == "override":
        _override(scope, node, item, inner)
    elif special == "adjoint_of":
        _adjoint_of(scope, node, item, inner)
    else:
        _plain_with(scope, node, item, inner)


def _suppress(scope: Scope, node: ast.With, item: ast.withitem, inner: list[ast.stmt]) -> None:
    """`with suppress(KeyError): ...` is `try: ... except (KeyError,): pass`."""
    call = item.context_expr
    assert isinstance(call, ast.Call)
    if item.optional_vars is not None or call.keywords:
        raise scope.refusal(node, "suppress is given a name here", "use try")
    kinds = ast.Tuple(call.args, ast.Load())
    handler = ast.ExceptHandler(kinds, None, [ast.Pass()])
    made = ast.copy_location(ast.Try(inner, [handler], [], []), node)
    _try(scope, ast.fix_missing_locations(made))


def _plain_with(scope: Scope, node: ast.With, item: ast.withitem, inner: list[ast.stmt]) -> None:
    name = None
    if isinstance(item.optional_vars, ast.Name):
        name = item.optional_vars.id
    elif item.optional_vars is not None:
        raise scope.refusal(item.optional_vars, "only a name is supported after `as`")
    context: Expr = opaque(scope, item.context_expr)
    sid = scope.sid()
    scope.trying += 1
    bound, body = _bound_block(scope, item.context_expr, name, inner)
    scope.trying -= 1
    scope.emit(With(sid, scope.loc(node), (context,), body, bound=bound))


def _bound_block(
    scope: Scope, node: ast.AST, name: str | None, inner: list[ast.stmt]
) -> tuple[str | None, Block]:
    """A block that starts with a name bound by the statement around it.

    A name that is bound elsewhere too gets its value from one that is not: later passes rename
    variables by their assignments, and see none here."""
    bound = name
    if name is not None and len(scope.bindings.sites[name]) > 1:
        taken = names_in(scope.node)
        bound = next(f"{name}_{k}" for k in itertools.count(1) if f"{name}_{k}" not in taken)

    def fill() -> None:
        if name is not None and bound is not None and bound != name:
            scope.assign(node, Var(name), Var(bound))
        statements(scope, inner)

    return bound, scope.block(fill)


def _override(scope: Scope, node: ast.With, item: ast.withitem, inner: list[ast.stmt]) -> None:
    call = item.context_expr
    assert isinstance(call, ast.Call)
    if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.Dict):
        raise scope.refusal(
            call,
            "inside a differentiated function, override needs the rules written out",
            "write override({function: rule})",
        )
    pairs = []
    for key, value in zip(call.args[0].keys, call.args[0].values, strict=True):
        if key is None:
            raise scope.refusal(value, "the rules of an override have to be written out")
        pairs.append((_fixed(scope, key), _fixed(scope, value)))
    sid, around = scope.sid(), scope.overriding
    scope.overriding = (*around, (scope.loc(node), tuple(pairs)))
    body = scope.block(lambda: statements(scope, inner))
    scope.overriding = around
    scope.emit(With(sid, scope.loc(node), (), body, "override", tuple(pairs)))


def _fixed(scope: Scope, node: ast.expr) -> Const | Global:
    if isinstance(node, ast.Constant):
        return Const(node.value)
    found = fold(scope, node)
    if found is None:
        raise scope.refusal(
            node,
            "the functions and rules of an override are chosen when compiling",
            "name a function of the module",
        )
    return found


def _adjoint_of(scope: Scope, node: ast.With, item: ast.withitem, inner: list[ast.stmt]) -> None:
    call = item.context_expr
    assert isinstance(call, ast.Call)
    if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.Name):
        raise scope.refusal(call, "adjoint_of needs the name of a variable", "assign it to a name")
    value = atom(scope, call.args[0])
    if not isinstance(value, Var):
        raise scope.refusal(call.args[0], "adjoint_of needs a local variable")
    bound = None
    if item.optional_vars is not None:
        if not isinstance(item.optional_vars, ast.Name):
            raise scope.refusal(item.optional_vars, "adjoint_of gives one name")
        bound = item.optional_vars.id
    sid = scope.sid()
    body = scope.block(lambda: _as_written(scope, inner))
    scope.emit(With(sid, scope.loc(node), (), body, "adjoint_of", value, bound))


def _as_written(scope: Scope, nodes: list[ast.stmt]) -> None:
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Return | ast.Break | ast.Continue):
                raise scope.refusal(part, "code that runs in the reverse sweep can't leave it")
        if not isinstance(node, ast.Pass):
            scope.emit(verbatim(scope, node))


# ---- try -------------------------------------------------------------------------------------


@lowers_statement(ast.Try)
def _try(scope: Scope, node: ast.Try) -> None:
    sid = scope.sid()
    scope.trying += 1
    body = scope.block(lambda: statements(scope, node.body))
    handlers = tuple(_handler(scope, handler) for handler in node.handlers)
    orelse = scope.block(lambda: statements(scope, node.orelse))
    final = scope.block(lambda: statements(scope, node.finalbody))
    scope.trying -= 1
    scope.emit(Try(sid, scope.loc(node), body, handlers, orelse, final))


def _handler(scope: Scope, node: ast.ExceptHandler) -> Handler:
    kind: Expr | None = None
    if node.type is not None:
        kind = fold(scope, node.type) or opaque(scope, node.type)
    bound, body = _bound_block(scope, node, node.name, node.body)
    return Handler(kind, bound, body)
