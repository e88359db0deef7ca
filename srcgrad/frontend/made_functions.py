"""Functions that are made by a call or a choice, as the lambdas that they are.

f = partial(g, a, k=b)       ->   held, held_2 = a, b
                                  f = lambda *args, **kwargs: g(held, *args, **{"k": held_2, ...})
operator.itemgetter(0, 2)    ->   lambda item: (item[0], item[2])
operator.attrgetter("a.b")   ->   lambda item: item.a.b
operator.methodcaller("m", 1)->   lambda item: item.m(1)
f = lambda v: v if c         ->   held = c
    else lambda v: -v             f = lambda v: v if held else -v
"""

from __future__ import annotations

import ast
import copy
import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from srcgrad.ir import asts
from srcgrad.ir.names import Names

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_MADE = (functools.partial, operator.itemgetter, operator.attrgetter, operator.methodcaller)


def written_out(
    node: _Function, around: Mapping[str, Any], note: Callable[[ast.Name], object]
) -> _Function:
    """The function with lambdas in the place of functions made by calls.  The tree that is given
    stays as it is.

    >>> tree = ast.parse("def f(x):\\n    g = partial(h, x[0])\\n    return g(x[1])").body[0]
    >>> print(ast.unparse(written_out(tree, {"partial": functools.partial}, lambda name: None)))
    def f(x):
        held = x[0]
        g = lambda *args, **kwargs: h(held, *args, **kwargs)
        return g(x[1])

    Arguments: the function; what names from outside mean; what is told of those that were asked
    for.
    """
    work = _Writer(node, around)
    if not work.has_any():
        return node
    made = work.visit(copy.deepcopy(node))
    for name in work.asked.values():
        note(name)
    assert isinstance(made, _Function)
    return made


class _Writer(ast.NodeTransformer):
    def __init__(self, node: _Function, around: Mapping[str, Any]) -> None:
        nodes = self.nodes = asts.walk(node)
        stored = [
            n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        ]
        stored += [n.name for n in nodes if isinstance(n, ast.FunctionDef) and n is not node]
        params = {n.arg for n in nodes if isinstance(n, ast.arg)}
        self.own = {*stored, *params}
        self.changing = {n for n in self.own if stored.count(n) + (n in params) > 1}
        self.names = Names({n.id for n in nodes if isinstance(n, ast.Name)} | params)
        self.around = around
        self.asked: dict[str, ast.Name] = {}

    def has_any(self) -> bool:
        """Whether there is anything to write out."""
        for n in self.nodes:
            if n.__class__ is ast.Call and self.maker(n) is not None:
                return True
            if isinstance(n, ast.If | ast.Assign) and _choice(n) is not None:
                return True
        return False

    def maker(self, node: ast.AST) -> Any:
        """What a call makes a function with, or None."""
        if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
            return None
        if any(k.arg is None for k in node.keywords) or not node.args:
            return None
        path, fn = [], node.func
        while isinstance(fn, ast.Attribute):
            path.append(fn.attr)
            fn = fn.value
        if not isinstance(fn, ast.Name) or fn.id in self.own:
            return None
        found = self.around.get(fn.id)
        for part in reversed(path):
            found = getattr(found, part, None)
        if not any(found is one for one in _MADE):
            return None
        if found is functools.partial and not self.stays(node.args[0]):
            return None
        self.asked[fn.id] = fn
        return found

    def stays(self, function: ast.expr) -> bool:
        """Whether a function is the same one whenever it is looked up again."""
        match function:
            case ast.Lambda():
                return True
            case ast.Name(name):
                return name not in self.changing
            case ast.Attribute(value):
                return self.stays(value) and not (
                    isinstance(value, ast.Name) and value.id in self.own
                )
            case _:
                return False

    # ---- statements ----

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Statements first: a function that is bound to a name holds what it was made with."""
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                made = [new for stmt in block for new in self.statement(stmt)]
                setattr(node, field, made)
        return super().generic_visit(node)

    def statement(self, stmt: ast.stmt) -> Iterator[ast.stmt]:
        chosen = _choice(stmt)
        if chosen is not None:
            target, test, arms = chosen
            made = _both(test, *arms, self.own)
            if made is not None:
                yield from self.held(made, stmt, target)
                return
        match stmt:
            case ast.Assign([ast.Name() as target], ast.Call() as call) if (
                self.maker(call) is functools.partial
            ):
                yield from self.held(lambda hold: self.partial(call, hold), stmt, target)
            case _:
                yield stmt

    def held(
        self, make: Callable[[Callable[[ast.expr], ast.expr]], ast.expr], stmt: ast.stmt,
        target: ast.expr,
    ) -> Iterator[ast.stmt]:  # fmt: skip
        """The statement that binds a function, behind those that bind what it holds."""
        before: list[ast.stmt] = []

        def hold(value: ast.expr) -> ast.expr:
            if isinstance(value, ast.Constant):
                return value
            name = self.names.fresh("held")
            before.append(ast.Assign([ast.Name(name, ast.Store())], value))
            return ast.Name(name, ast.Load())

        made = make(hold)
        yield from (_placed(s, stmt) for s in before)
        yield _placed(ast.Assign([target], made), stmt)

    # ---- expressions ----

    def partial(self, node: ast.Call, hold: Callable[[ast.expr], ast.expr]) -> ast.expr:
        """`lambda *args, **kwargs: f(a, *args, k=b, **kwargs)`"""
        function = node.args[0]
        first = [hold(a) for a in node.args[1:]]
        named = [ast.keyword(k.arg, hold(k.value)) for k in node.keywords]
        args, kwargs = self.names.fresh("args"), self.names.fresh("kwargs")
        rest = ast.Starred(_name(args), ast.Load())
        call = ast.Call(function, [*first, rest], [*named, ast.keyword(None, _name(kwargs))])
        params = ast.arguments([], [], ast.arg(args), [], [], ast.arg(kwargs), [])
        return ast.Lambda(params, call)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        found = self.maker(node)
        made: ast.expr | None = None
        if found is functools.partial:
            given = [*node.args[1:], *(k.value for k in node.keywords)]
            if all(isinstance(v, ast.Name | ast.Constant) for v in given):
                made = self.partial(node, lambda value: value)
        elif found is not None:
            made = _getter(node, found)
        return self.generic_visit(node if made is None else _placed(made, node))


def _placed(made: Any, old: ast.AST) -> Any:
    """New syntax at the place of the old."""
    for part in ast.walk(made):
        if isinstance(part, ast.expr | ast.stmt | ast.arg | ast.keyword):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, old)
    return made


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _arguments(*names: str) -> ast.arguments:
    return ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])


def _getter(node: ast.Call, maker: Any) -> ast.expr | None:
    item = _name("item")
    if maker is operator.methodcaller:
        match node.args:
            case [ast.Constant(str(name)), *rest] if name.isidentifier():
                given = [*rest, *(k.value for k in node.keywords)]
                if not all(isinstance(v, ast.Constant) for v in given):
                    return None
                call = ast.Call(ast.Attribute(item, name, ast.Load()), rest, node.keywords)
                return ast.Lambda(_arguments("item"), call)
        return None
    read = _read_item if maker is operator.itemgetter else _read_attribute
    parts = [None if node.keywords else read(key) for key in node.args]
    found = [p for p in parts if p is not None]
    if len(found) != len(parts):
        return None
    whole = found[0] if len(found) == 1 else ast.Tuple(found, ast.Load())
    return ast.Lambda(_arguments("item"), whole)


def _read_item(key: ast.expr) -> ast.expr | None:
    plain = key.operand if isinstance(key, ast.UnaryOp) else key
    if not isinstance(plain, ast.Constant):
        return None
    return ast.Subscript(_name("item"), key, ast.Load())


def _read_attribute(key: ast.expr) -> ast.expr | None:
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return None
    node = _name("item")
    for part in key.value.split("."):
        if not part.isidentifier():
            return None
        node = ast.Attribute(node, part, ast.Load())
    return node


# ---- choices ------------------------------------------------------------------------------


def _choice(stmt: ast.stmt) -> tuple[ast.expr, ast.expr, tuple[ast.expr, ast.expr]] | None:
    """The name, the test and the two functions of a choice of which one is a lambda."""
    match stmt:
        case ast.Assign([ast.Name() as target], ast.IfExp(test, one, two)):
            pass
        case ast.If(
            test,
            [ast.Assign([ast.Name(name) as target], one)],
            [ast.Assign([ast.Name(other)], two)],
        ) if name == other:
            pass
        case _:
            return None
    if not any(isinstance(arm, ast.Lambda) for arm in (one, two)):
        return None
    return target, test, (one, two)


def _both(
    test: ast.expr, one: ast.expr, two: ast.expr, own: set[str]
) -> Callable[[Callable[[ast.expr], ast.expr]], ast.expr] | None:
    """One lambda that asks which of the two is meant."""
    first = one if isinstance(one, ast.Lambda) else two
    assert isinstance(first, ast.Lambda)
    names = _plain_names(first.args)
    bodies = [None if names is None else _body(arm, names, own) for arm in (one, two)]
    if names is None or None in bodies:
        return None
    yes, no = bodies
    assert yes is not None and no is not None
    params = _arguments(*names)
    return lambda hold: ast.Lambda(params, ast.IfExp(hold(test), yes, no))


def _plain_names(args: ast.arguments) -> list[str] | None:
    if args.vararg or args.kwarg or args.kwonlyargs or args.defaults:
        return None
    return [a.arg for a in (*args.posonlyargs, *args.args)]


def _body(arm: ast.expr, names: list[str], own: set[str]) -> ast.expr | None:
    """What a function gives for arguments of these names."""
    match arm:
        case ast.Lambda(args, body):
            mine = _plain_names(args)
            if mine is None or len(mine) != len(names):
                return None
            if mine == names:
                return body
            used = {n.id for n in ast.walk(body) if isinstance(n, ast.Name)}
            inner = any(isinstance(n, ast.Lambda | ast.comprehension) for n in ast.walk(body))
            if inner or used & set(names) - set(mine):
                return None
            return _Renamed(dict(zip(mine, names, strict=True))).visit(copy.deepcopy(body))  # type: ignore[no-any-return]
        case ast.Name(name) if name not in own:
            return ast.Call(arm, [_name(n) for n in names], [])
        case ast.Attribute(ast.Name(name)) if name not in own:
            return ast.Call(arm, [_name(n) for n in names], [])
        case _:
            return None


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.table = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.table.get(node.id, node.id), node.ctx), node)
