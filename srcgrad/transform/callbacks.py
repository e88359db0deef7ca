"""Nested functions handed to functions that are not looked into, which call them.

    root = brentq(f, 0.0, 9.0)   ->   root = brentq(lambda y: f(y, a), 0.0, 9.0)

In the generated text a nested function is the tuple of what it captures; here it is a function of
Python again, around its body as one of the module.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.targets import Constant, Container, Library, Uncharted
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry
from srcgrad.transform import syntax as syn

if TYPE_CHECKING:
    from srcgrad.transform.text import Text

# Builtins that call none of the functions in a container that they are given.
CALL_NOTHING = frozenset(
    {"bool", "enumerate", "id", "isinstance", "len", "list", "reversed", "tuple", "type", "zip"}
)


def callback(text: Text, given: ir.Atom | ir.Star) -> ast.expr | None:
    """The function of Python for a nested one that the call being printed is given; None for all
    other values, and where the call knows what to do with the tuple."""
    from srcgrad.transform.adjoint.closures import captured_parts
    from srcgrad.transform.plain import plain_function

    stmt, a = text.current, ir.unstar(given)
    if not isinstance(a, ir.Var) or text.program is None or stmt is None:
        return None
    target = text.facts.targets.get(stmt.sid)
    by_library = isinstance(target, Library) or stmt.sid in text.facts.replayed
    if not by_library and not isinstance(target, Uncharted | Constant | None):
        return None
    if isinstance(target, Library) and _takes_it_apart(target.entry):
        return None
    t = text.facts.of(a)
    if not isinstance(t, ty.ClosureType) or isinstance(given, ir.Star):
        unsure = isinstance(t, ty.Unknown) and _may_be_nested(text.facts, a.name)
        if (unsure or ty.holds_closure(t)) and not _calls_nothing(stmt):
            raise _refused(stmt)
        return None
    fn = t.fn
    types = (*(ty.UNKNOWN for _ in fn.params), *t.free)
    name = plain_function(text.module, text.program, fn, types)
    parts = captured_parts(text.module, text.facts, a, fn.free, text.atom(a))
    made = _Lambda(name, fn, dict(zip(fn.free, parts, strict=True)))
    return made.written(text, keeps=not by_library)


def _takes_it_apart(entry: Entry) -> bool:
    """Whether a helper knows what to do with what a nested function captures."""
    return entry.name.startswith("srcgrad.runtime.") and entry.kind != "nondiff"


def _calls_nothing(stmt: ir.Stmt) -> bool:
    fn = stmt.value.fn if isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Call) else None
    if not isinstance(fn, ir.Global) or fn.root.kind != "builtins":
        return False
    return len(fn.path) == 1 and fn.path[0] in CALL_NOTHING


def _may_be_nested(facts: Facts, name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a variable may hold a nested function, one of several or one in a container."""
    for stmt in facts.assigned.get(name, ()):
        target, value = facts.targets.get(stmt.sid), stmt.value
        if isinstance(value, ir.Closure):
            return True
        if isinstance(value, ir.Var | ir.Build | ir.Index) or isinstance(target, Container):
            for v in ir.reads(stmt):
                if v.name not in seen and _may_be_nested(facts, v.name, seen | {name}):
                    return True
    return False


def _refused(stmt: ir.Stmt) -> Exception:
    return located(
        UnsupportedSyntax,
        stmt.loc,
        "nested functions in a container, or one of several, are handed to a function that has no "
        "rule and no Python source",
        fixes=["hand over one nested function, by itself", "write a function of the module"],
    )


class _Lambda:
    """The function of Python being written around `name`, which takes what is captured last."""

    def __init__(self, name: str, fn: ir.Function, captured: dict[str, ast.expr]) -> None:
        self.name, self.fn, self.captured = name, fn, captured

    def written(self, text: Text, keeps: bool) -> ast.Lambda:
        """`keeps`: the function may outlive what the variables now hold."""
        taken = {n for node in self.captured.values() for n in syn.names_in(node)} | {self.name}
        names = {p.name: _beside(p.name, taken) for p in self.fn.params}
        args = self.parameters(text, names)
        given: list[ast.expr] = [syn.name(n) for n in names.values()]
        for n, node in self.captured.items():
            held = _beside(n, {*names.values(), self.name})
            if keeps:
                args.kwonlyargs.append(ast.arg(held))
                args.kw_defaults.append(node)
            given.append(syn.name(held) if keeps else node)
        return ast.Lambda(args, syn.call(self.name, *given))

    def parameters(self, text: Text, names: dict[str, str]) -> ast.arguments:
        """The parameters as they were written, with their defaults."""
        out = ast.arguments([], [], None, [], [], None, [])
        defaults = dict(self.fn.defaults)
        for p in self.fn.params:
            made, given = ast.arg(names[p.name]), defaults.get(p.name)
            if isinstance(given, ir.Var):
                default: ast.expr | None = self.captured[given.name]
            else:
                default = None if given is None else text.atom(given)
            match p.kind:
                case "varargs":
                    out.vararg = made
                case "varkw":
                    out.kwarg = made
                case "kwonly":
                    out.kwonlyargs.append(made)
                    out.kw_defaults.append(default)
                case _:
                    (out.posonlyargs if p.kind == "posonly" else out.args).append(made)
                    out.defaults += [] if default is None else [default]
        return out


def _beside(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
