"""How each node is printed where astor's way is wrong or ugly.

A mixin for astor's generator, which is made into a class by `writer` (the one importer of astor).
Methods are named as astor's visitor asks for them.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from srcgrad.ir.comments import Blank, Comment, Place

LIMIT = 99


class Printer:
    """The methods that replace astor's."""

    # Given by astor's generator.
    indentation: int
    new_lines: int
    write: Callable[..., None]
    conditional_write: Callable[..., bool | None]
    statement: Callable[..., None]
    delimit: Callable[..., Any]
    comma_list: Callable[..., None]
    # Given by the writer, from astor.
    precedence: Any
    set_precedence: Callable[..., None]

    # ---- blocks ----

    def visit_Module(self, node: ast.Module) -> None:
        self._statements(node.body, 2)

    def body(self, statements: Sequence[ast.stmt]) -> None:
        self.indentation += 1
        self._statements(statements, 1)
        self.indentation -= 1

    def else_body(self, orelse: Sequence[ast.stmt]) -> None:
        if orelse:
            self._line("else:")
            self.body(orelse)

    def _statements(self, body: Sequence[ast.stmt], gap: int) -> None:
        """Statements in order, with `gap` empty lines around definitions; comments just before a
        definition belong to it."""
        after_definition = False
        for position, node in enumerate(body):
            before_comment = position > 0 and isinstance(body[position - 1], Comment)
            starts = _leads_to_definition(body, position) and not before_comment
            if position and (after_definition or starts):
                self.new_lines = max(self.new_lines, gap + 1)
            self.write(node)
            if not isinstance(node, Blank):
                after_definition = isinstance(node, _DEFINITIONS)

    def _line(self, *parts: Any) -> None:
        self.new_lines = max(self.new_lines, 1)
        self.write(*parts)

    def visit_Comment(self, node: Comment) -> None:
        room = max(LIMIT - 4 * self.indentation - 2, 8)
        for line in node.text.split("\n") or [""]:
            rows = [line]
            if len(line) > room:
                rows = textwrap.wrap(
                    line,
                    room,
                    subsequent_indent="    ",
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            for row in rows:
                self._line(f"# {row}".rstrip())

    def visit_Place(self, node: Place) -> None:
        room = max(LIMIT - 4 * self.indentation - 2, 8)
        fits = len(node.text) <= room
        self._line(f"# {node.text if fits else node.text[: room - 3] + '...'}")

    def visit_Blank(self, node: Blank) -> None:
        self.new_lines = min(max(self.new_lines, 1) + 1, 3)

    # ---- definitions ----

    def visit_FunctionDef(self, node: ast.FunctionDef, is_async: bool = False) -> None:
        self._decorators(node)
        self._line("async def " if is_async else "def ", node.name)
        self._type_params(node)
        self.write("(")
        self.visit_arguments(node.args)
        self.write(")")
        self.conditional_write(" -> ", getattr(node, "returns", None))
        self.write(":")
        self.body(node.body)

    def visit_AsyncFunctionDef(self, node: Any) -> None:
        self.visit_FunctionDef(node, is_async=True)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._decorators(node)
        self._line("class ", node.name)
        self._type_params(node)
        parts: list[list[Any]] = [[base] for base in node.bases]
        parts += [[f"{k.arg}=" if k.arg else "**", k.value] for k in node.keywords]
        self.set_precedence(self.precedence.Comma, *(part[-1] for part in parts))
        for position, part in enumerate(parts):
            self.write(", " if position else "(", *part)
        self.write("):" if parts else ":")
        self.body(node.body)

    def _decorators(self, node: Any) -> None:
        for decorator in node.decorator_list:
            self._line("@", decorator)

    def _type_params(self, node: Any) -> None:
        params = getattr(node, "type_params", None)
        if params:
            self.write("[", ", ".join(map(ast.unparse, params)), "]")

    def visit_arguments(self, node: ast.arguments) -> None:
        plain = [*node.posonlyargs, *node.args]
        defaults = [*[None] * (len(plain) - len(node.defaults)), *node.defaults]
        parts: list[list[Any]] = [
            [arg, default] for arg, default in zip(plain, defaults, strict=True)
        ]
        if node.posonlyargs:
            parts.insert(len(node.posonlyargs), ["/", None])
        if node.vararg or node.kwonlyargs:
            parts.append(["*", None, *([node.vararg] if node.vararg else [])])
        parts += map(list, zip(node.kwonlyargs, node.kw_defaults, strict=True))
        if node.kwarg:
            parts.append(["**", None, node.kwarg])
        for position, (arg, default, *star) in enumerate(parts):
            self.write(", " if position else "", arg, *star)
            if default is not None:
                self.set_precedence(self.precedence.Comma, default)
                spaced = getattr(arg, "annotation", None) is not None
                self.write(" = " if spaced else "=", default)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        with self.delimit(node) as delimiters:
            self.set_precedence(delimiters.p, node.body)
            args = node.args
            self.write("lambda")
            if any((args.posonlyargs, args.args, args.vararg, args.kwonlyargs, args.kwarg)):
                self.write(" ")
                self.visit_arguments(args)
            self.write(": ", node.body)

    def visit_TypeAlias(self, node: Any) -> None:
        self._line("type ", node.name)
        self._type_params(node)
        self.set_precedence(self.precedence.Comma, node.value)
        self.write(" = ", node.value)

    # ---- compound statements ----

    def visit_If(self, node: ast.If) -> None:
        word = "if "
        while True:
            self.set_precedence(self.precedence.Comma, node.test)
            self._line(word, node.test, ":")
            self.body(node.body)
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                break
            node, word = node.orelse[0], "elif "
        self.else_body(node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self.set_precedence(self.precedence.Comma, node.test)
        self._line("while ", node.test, ":")
        self.body(node.body)
        self.else_body(node.orelse)

    def visit_For(self, node: ast.For, is_async: bool = False) -> None:
        self.set_precedence(node, node.target)
        self.set_precedence(self.precedence.Comma, node.iter)
        self._line("async for " if is_async else "for ", node.target, " in ", node.iter, ":")
        self.body(node.body)
        self.else_body(node.orelse)

    def visit_AsyncFor(self, node: Any) -> None:
        self.visit_For(node, is_async=True)

    def visit_withitem(self, node: ast.withitem) -> None:
        # `with (a, b):` would be two items, not a tuple.
        alone = isinstance(node.context_expr, ast.Tuple) and node.optional_vars is None
        self.write("(" if alone else "", node.context_expr, ")" if alone else "")
        self.conditional_write(" as ", node.optional_vars)

    def visit_Try(self, node: Any, word: str = "except") -> None:
        self._line("try:")
        self.body(node.body)
        for handler in node.handlers:
            self._line(word)
            if self.conditional_write(" ", handler.type):
                self.conditional_write(" as ", handler.name)
            self.write(":")
            self.body(handler.body)
        self.else_body(node.orelse)
        if node.finalbody:
            self._line("finally:")
            self.body(node.finalbody)

    def visit_TryStar(self, node: Any) -> None:
        self.visit_Try(node, "except*")

    def visit_Match(self, node: ast.Match) -> None:
        self._line("match ", node.subject, ":")
        self.indentation += 1
        for case in node.cases:
            # A bare sequence is parsed back the same, so the brackets are what unparse gives.
            self._line("case ", ast.unparse(case.pattern))
            if case.guard is not None:
                self.set_precedence(self.precedence.Comma, case.guard)
                self.write(" if ", case.guard)
            self.write(":")
            self.body(case.body)
        self.indentation -= 1

    # ---- simple statements ----

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        bare = isinstance(node.target, ast.Name) and not node.simple
        self.set_precedence(self.precedence.Comma, node.annotation, node.value)
        self._line("(" if bare else "", node.target, ")" if bare else "", ": ", node.annotation)
        self.conditional_write(" = ", node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            self._line(_docstring(value.value))
            return
        self.set_precedence(node, value)
        self._line(value)

    # ---- expressions ----

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, str):
            self.write(_string(value))
        elif value is Ellipsis:
            self.write("...")
        elif isinstance(value, int | float | complex):
            with self.delimit(node):
                # A literal too large for a float is read as inf: the one way to write it.
                self.write(repr(value).replace("inf", "1e1000"))
        else:
            self.write(repr(value))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.write(ast.unparse(node))

    def visit_TemplateStr(self, node: Any) -> None:
        self.write(ast.unparse(node))

    def visit_Tuple(self, node: ast.Tuple) -> None:
        with self.delimit(node) as brackets:
            brackets.discard = brackets.discard and len(node.elts) > 1
            self.comma_list(node.elts, len(node.elts) == 1)

    def visit_Dict(self, node: ast.Dict) -> None:
        comma, union = self.precedence.Comma, self.precedence.BitOr
        with self.delimit("{}"):
            for position, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
                self.write(", " if position else "")
                if key is None:
                    self.set_precedence(union, value)
                    self.write("**", value)
                else:
                    self.set_precedence(comma, key, value)
                    self.write(key, ": ", value)

    def visit_Slice(self, node: ast.Slice) -> None:
        self.set_precedence(self.precedence.Comma, node.lower, node.upper, node.step)
        self.conditional_write(node.lower)
        self.write(":")
        self.conditional_write(node.upper)
        self.conditional_write(":", node.step)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _leads_to_definition(body: Sequence[ast.stmt], position: int) -> bool:
    while position < len(body) and isinstance(body[position], Comment):
        position += 1
    return position < len(body) and isinstance(body[position], _DEFINITIONS)


def _string(value: str) -> str:
    """A literal in double quotes where that needs no more escapes."""
    text = repr(value)
    if text.startswith("'") and '"' not in value:
        return '"' + text[1:-1].replace("\\'", "'") + '"'
    return text


def _docstring(value: str) -> str:
    body = value.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    plain = all(c == "\n" or c.isprintable() for c in value)
    return f'"""{body}"""' if plain else _string(value)
