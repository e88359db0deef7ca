"""`match`: a chain of conditions.

A pattern becomes expressions over the subject: those that have to be true, and those that give the
captured names.  Both are ordinary syntax (`subject[1] == "rect"`), lowered like the user's own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.frontend.expressions import test
from srcgrad.frontend.resolve import builtin, callee, helper
from srcgrad.frontend.scope import Scope, atom, lowers_statement, ref, statements
from srcgrad.frontend.targets import assign_to
from srcgrad.ir.nodes import Block, Const, If, Var

# For these a positional pattern matches the subject itself.
_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


@dataclass(slots=True)
class _Match:
    """What a pattern asks and binds; `names` are in the order of their capture."""

    at: ast.AST
    tests: list[ast.expr] = field(default_factory=list)
    names: dict[str, ast.expr] = field(default_factory=dict)

    def require(self, node: ast.expr) -> None:
        self.tests.append(self.place(node))

    def place(self, node: ast.expr) -> ast.expr:
        """Give made syntax the place of the pattern."""
        for part in ast.walk(node):
            if isinstance(part, ast.expr) and not hasattr(part, "lineno"):
                ast.copy_location(part, self.at)
        return node


@lowers_statement(ast.Match)
def _match(scope: Scope, node: ast.Match) -> None:
    subject = atom(scope, node.subject)
    if isinstance(subject, Var) and not subject.is_temp:
        temp = scope.temp()  # a capture may rebind the name
        scope.assign(node.subject, temp, subject)
        subject = temp
    for stmt in _cases(scope, ref(subject, node.subject), node.cases):
        scope.emit(stmt)


def _cases(scope: Scope, subject: ast.expr, cases: list[ast.match_case]) -> Block:
    if not cases:
        return ()
    return scope.block(lambda: _case(scope, subject, cases[0], cases[1:]))


def _case(
    scope: Scope, subject: ast.expr, case: ast.match_case, rest: list[ast.match_case]
) -> None:
    found = _Match(case.pattern)
    _pattern(scope, found, case.pattern, subject)
    if case.guard is not None:
        _guarded(scope, subject, case, found, rest)
    elif not found.tests:
        _bind(scope, found)
        statements(scope, case.body)
    else:
        condition = test(scope, _all(found))
        sid = scope.sid()

        def body() -> None:
            _bind(scope, found)
            statements(scope, case.body)

        taken = scope.block(body)
        others = _cases(scope, subject, rest)
        scope.emit(If(sid, scope.loc(case.pattern), condition, taken, others))


def _guarded(
    scope: Scope,
    subject: ast.expr,
    case: ast.match_case,
    found: _Match,
    rest: list[ast.match_case],
) -> None:
    """`case pattern if guard`: the captures come before the guard."""
    assert case.guard is not None
    guard = case.guard
    holds = scope.temp()
    loc = scope.loc(case.pattern)

    def check() -> None:
        _bind(scope, found)
        scope.assign(guard, holds, test(scope, guard))

    if found.tests:
        scope.assign(case.pattern, holds, Const(False))
        condition = test(scope, _all(found))
        sid = scope.sid()
        scope.emit(If(sid, loc, condition, scope.block(check), ()))
    else:
        check()
    sid = scope.sid()
    taken = scope.block(lambda: statements(scope, case.body))
    scope.emit(If(sid, loc, holds, taken, _cases(scope, subject, rest)))


def _bind(scope: Scope, found: _Match) -> None:
    for name, value in found.names.items():
        target = ast.copy_location(ast.Name(name, ast.Store()), found.at)
        assign_to(scope, target, atom(scope, value), found.at)


def _all(found: _Match) -> ast.expr:
    if len(found.tests) == 1:
        return found.tests[0]
    return found.place(ast.BoolOp(ast.And(), found.tests))


# ---- patterns -------------------------------------------------------------------------------


def _pattern(scope: Scope, found: _Match, node: ast.pattern, subject: ast.expr) -> None:
    match node:
        case ast.MatchValue(value=value):
            found.require(ast.Compare(subject, [ast.Eq()], [value]))
        case ast.MatchSingleton(value=value):
            found.require(ast.Compare(subject, [ast.Is()], [ast.Constant(value)]))
        case ast.MatchAs(pattern=pattern, name=name):
            if pattern is not None:
                _pattern(scope, found, pattern, subject)
            if name is not None:
                found.names[name] = subject
        case ast.MatchOr(patterns=patterns):
            _either(scope, found, patterns, subject)
        case ast.MatchSequence(patterns=patterns):
            _sequence(scope, found, patterns, subject)
        case ast.MatchMapping():
            _mapping(scope, found, node, subject)
        case ast.MatchClass():
            _class(scope, found, node, subject)
        case _:
            raise scope.refusal(node, f"{type(node).__name__} patterns are not supported")


def _either(scope: Scope, found: _Match, patterns: list[ast.pattern], subject: ast.expr) -> None:
    """`a | b`: captured names come from the first alternative that matches."""
    parts = []
    for pattern in patterns:
        part = _Match(pattern)
        _pattern(scope, part, pattern, subject)
        parts.append(part)
        if not part.tests:
            break
    if all(part.tests for part in parts):
        found.require(ast.BoolOp(ast.Or(), [_all(part) for part in parts]))
    elif len(parts) > 1 and not parts[-1].names:
        return
    for name in parts[0].names:
        value = parts[-1].names[name]
        for part in reversed(parts[:-1]):
            value = found.place(ast.IfExp(_all(part), part.names[name], value))
        found.names[name] = value


def _sequence(scope: Scope, found: _Match, patterns: list[ast.pattern], subject: ast.expr) -> None:
    star = next((k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    fixed = len(patterns) - (star is not None)
    found.require(ast.Call(ref(helper("is_sequence"), found.at), [subject], []))
    count = ast.Call(ref(builtin("len"), found.at), [subject], [])
    compare: ast.cmpop = ast.Eq() if star is None else ast.GtE()
    found.require(ast.Compare(count, [compare], [ast.Constant(fixed)]))
    for k, pattern in enumerate(patterns):
        if isinstance(pattern, ast.MatchStar):
            if pattern.name is not None:
                after = len(patterns) - k - 1
                upper = ref(Const(-after), found.at) if after else None
                part = ast.Subscript(subject, ast.Slice(ast.Constant(k), upper), ast.Load())
                whole = ast.Call(ref(builtin("list"), found.at), [part], [])
                found.names[pattern.name] = found.place(whole)
            continue
        index = k if star is None or k < star else k - len(patterns)
        item = ast.Subscript(subject, ref(Const(index), found.at), ast.Load())
        _pattern(scope, found, pattern, found.place(item))


def _mapping(scope: Scope, found: _Match, node: ast.MatchMapping, subject: ast.expr) -> None:
    found.require(ast.Call(ref(helper("is_mapping"), found.at), [subject], []))
    for key, pattern in zip(node.keys, node.patterns, strict=True):
        found.require(ast.Compare(key, [ast.In()], [subject]))
        item = ast.Subscript(subject, key, ast.Load())
        _pattern(scope, found, pattern, found.place(item))
    if node.rest is not None:
        others = ast.Call(
            ref(helper("without_keys"), found.at),
            [subject, ast.Tuple(list(node.keys), ast.Load())],
            [],
        )
        found.names[node.rest] = found.place(others)


def _class(scope: Scope, found: _Match, node: ast.MatchClass, subject: ast.expr) -> None:
    cls = callee(scope, node.cls)
    if not isinstance(cls, type):
        raise scope.refusal(node.cls, "this class is not known when compiling")
    found.require(ast.Call(ref(builtin("isinstance"), found.at), [subject, node.cls], []))
    names = list(node.kwd_attrs)
    patterns = list(node.kwd_patterns)
    if node.patterns:
        if cls in _WHOLE and len(node.patterns) == 1:
            _pattern(scope, found, node.patterns[0], subject)
        else:
            fixed = getattr(cls, "__match_args__", ())
            if len(node.patterns) > len(fixed):
                raise scope.refusal(node, f"{cls.__name__} takes {len(fixed)} positional patterns")
            names = [*fixed[: len(node.patterns)], *names]
            patterns = [*node.patterns, *patterns]
    for name, pattern in zip(names, patterns, strict=True):
        has = ast.Call(ref(builtin("hasattr"), found.at), [subject, ast.Constant(name)], [])
        found.require(has)
        part = ast.Attribute(subject, name, ast.Load())
        _pattern(scope, found, pattern, found.place(part))
