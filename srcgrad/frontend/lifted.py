"""A nested function as one of a module: what it captures become its first parameters.

    def outer(x):                          def inner(s, y):
        s = x[0]                               return s * y ** 2
        def inner(y):             ->
            return s * y ** 2

So a derivative can be made of it, `srcgrad.grad(inner)`, by its other parameters.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import keyword
import linecache
import types
from dataclasses import dataclass

from srcgrad.frontend.bindings import FunctionNode, names_in
from srcgrad.frontend.namespace import lifted_from
from srcgrad.frontend.scope import Nested, Scope


@dataclass(frozen=True, eq=False)
class Written:
    """A nested function as it is written, and the function of Python around it."""

    node: FunctionNode
    around: types.FunctionType
    names: tuple[str, ...]  # of what it captures, in its own text
    others: tuple[ast.stmt, ...]  # the nested functions that it calls


def written(nested: Nested, free: tuple[str, ...]) -> Written | None:
    """What a derivative of a nested function is made from, where it is only what its text says."""
    outer = (nested.outer.get(n, n) for n in free)
    names = tuple(
        n if old in nested.hidden else old.partition("%")[0]
        for n, old in zip(free, outer, strict=True)
    )
    others: dict[str, ast.stmt] = {}
    if not _is_plain(nested) or not _collect(nested, others, frozenset(names)):
        return None
    return Written(nested.node, nested.owner.session.fn, names, tuple(others.values()))


def _is_plain(nested: Nested) -> bool:
    return nested.decorated is None and not nested.overriding


def _collect(nested: Nested, found: dict[str, ast.stmt], captured: frozenset[str]) -> bool:
    """Find the nested functions that one calls, those first that others call; False where one is
    more than its text, calls itself, or means by a name what only the function around it has."""
    for name in sorted(names_in(nested.node) - captured - set(found)):
        scope: Scope | None = nested.inner
        while scope is not None and not _binds(scope, name):
            scope = scope.parent
        if scope is None or scope is nested.inner:
            continue
        other = scope.inlined.get(name)
        if other is None or other is nested or other.defaults or not _is_plain(other):
            return False
        if other.inner is None or not _collect(other, found, captured):
            return False
        node = other.node
        if isinstance(node, ast.Lambda):
            found[name] = ast.Assign([ast.Name(name, ast.Store())], node)
        else:
            found[name] = node
    return True


def _binds(scope: Scope, name: str) -> bool:
    args = scope.node.args
    params = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    return name in scope.bindings.sites or any(a is not None and a.arg == name for a in params)


def lift(nested: Written, name: str) -> types.FunctionType | None:
    """The function of a module; None where names clash, or it takes any number of arguments."""
    args = copy.deepcopy(nested.node.args)
    params = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    first = [ast.arg(n) for n in nested.names]
    if args.vararg or args.kwarg or len({a.arg for a in first + params}) < len(first + params):
        return None
    for arg in params:
        arg.annotation = None
    plain = ast.arguments(first + params, [], None, [], [], None, [])
    if isinstance(nested.node, ast.Lambda):
        body: list[ast.stmt] = [ast.copy_location(ast.Return(nested.node.body), nested.node)]
    else:
        body = nested.node.body
    name = f"{name}_" if keyword.iskeyword(name) else name
    made = ast.FunctionDef(name, plain, [*nested.others, *body], [])
    ast.copy_location(made, nested.node)
    return _compiled(copy.deepcopy(made), name, nested)


def _compiled(made: ast.stmt, name: str, nested: Written) -> types.FunctionType:
    """The function of a definition, with the globals and cells of the function around it."""
    around = nested.around
    cells = dict(zip(around.__code__.co_freevars, around.__closure__ or (), strict=True))
    used = sorted(names_in(made) & set(cells) - set(nested.names))
    if used:  # a function around it makes them cells, as they were
        params = ast.arguments([ast.arg(n) for n in used], [], None, [], [], None, [])
        made = ast.FunctionDef("around", params, [made], [])
    text = ast.unparse(ast.fix_missing_locations(made)) + "\n"
    lines = _lines(made, ast.parse(text).body[0])
    # What is written elsewhere, or otherwise, has another name: places are found by it.
    told = f"{around.__module__} {sorted(lines.items())}\n{text}"
    digest = hashlib.sha256(told.encode()).hexdigest()[:8]
    file = f"<{name} in {around.__qualname__} {digest}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    code = _code_of(compile(text, file, "exec"), name)
    closure = tuple(cells[n] for n in code.co_freevars)
    fn = types.FunctionType(code, around.__globals__, name, None, closure)
    fn.__module__ = around.__module__
    lifted_from(fn, around, lines)
    return fn


def _lines(made: ast.stmt, parsed: ast.stmt) -> dict[int, int]:
    """From lines of the text to lines of the file in which the function is written."""
    theirs, ours = ([s for s in ast.walk(t) if isinstance(s, ast.stmt)] for t in (made, parsed))
    return {b.lineno: a.lineno for a, b in zip(theirs, ours, strict=True)}


def _code_of(code: types.CodeType, name: str) -> types.CodeType:
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return inner[0] if inner[0].co_name == name else _code_of(inner[0], name)
