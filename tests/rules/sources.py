"""Runs a helper that has no rule in forward mode, statement by statement.

It is what the compiler does with such a helper: its source is differentiated.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from formulas import Dual, Forward, _tangent_of


def called(fn: Callable[..., Any], args: list[Dual], kwargs: dict[str, Dual]) -> Dual:
    """The value and the tangent of a call of a function with source."""
    bound = inspect.signature(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    for p, given in bound.arguments.items():
        if not isinstance(given, tuple):  # a default
            bound.arguments[p] = (given, None)
    tree = ast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    result = Body(fn, bound.arguments).run(tree.body)
    return (None, None) if result is None else result


class Body(Forward):
    """The names of one call."""

    def __init__(self, fn: Callable[..., Any], names: dict[str, Dual]) -> None:
        super().__init__(None, {}, {})  # type: ignore[arg-type]
        self.names = dict(names)
        self.globals = fn.__globals__

    def run(self, body: list[ast.stmt]) -> Dual | None:
        for stmt in body:
            result = self.statement(stmt)
            if result is not None:
                return result
        return None

    def statement(self, stmt: ast.stmt) -> Dual | None:
        match stmt:
            case ast.Return(value):
                assert value is not None
                return self.value(value)
            case ast.Assign([target], value):
                self.assign(target, self.value(value))
            case ast.If(test, body, orelse):
                return self.run(body if self.plain(test) else orelse)
            case ast.For(ast.Name(name), iterable, body):
                for item in self.plain(iterable):
                    self.names[name] = (item, None)
                    result = self.run(body)
                    if result is not None:
                        return result
            case ast.Expr(ast.Constant()):
                pass
            case ast.Expr(ast.Call() as call):
                self.value(call)
            case ast.Raise():
                exec(ast.unparse(stmt), self.globals, {k: v for k, (v, _) in self.names.items()})
            case _:
                raise AssertionError(f"not in the language of helpers: {ast.unparse(stmt)}")
        return None

    def assign(self, target: ast.expr, found: Dual) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = found
            return
        assert isinstance(target, ast.Tuple)
        values, tangents = found
        for k, part in enumerate(target.elts):
            self.assign(part, (values[k], None if tangents is None else tangents[k]))

    def name(self, name: str) -> Dual:
        if name in self.names:
            return self.names[name]
        value = self.globals[name] if name in self.globals else getattr(builtins, name)
        return value, None

    def plain(self, node: ast.expr) -> Any:
        scope = {k: v for k, (v, _) in self.names.items()}
        return eval(compile(ast.Expression(node), "helper", "eval"), self.globals, scope)

    def display(self, node: ast.expr, items: list[ast.expr]) -> Dual:
        if isinstance(node, ast.Tuple):
            return super().display(node, items)
        parts = [self.value(item) for item in items]
        return [v for v, _ in parts], [_tangent_of(v, t) for v, t in parts]

    def call(self, node: ast.Call) -> Dual:
        match node.func:
            case ast.Attribute(ast.Name(name), "append" | "pop") if name in self.names:
                return self.listed(name, node)
        return super().call(node)

    def listed(self, name: str, node: ast.Call) -> Dual:
        values, tangents = self.names[name]
        if not node.args:
            return values.pop(), tangents.pop()
        value, tangent = self.value(node.args[0])
        values.append(value)
        tangents.append(_tangent_of(value, tangent))
        return None, None
