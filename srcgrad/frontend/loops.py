"""Loops: every `for` becomes a counted one, over a range or over positions."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from srcgrad.frontend import bindings
from srcgrad.frontend.expressions import negated, test
from srcgrad.frontend.purity import is_pure
from srcgrad.frontend.resolve import callee
from srcgrad.frontend.scope import Loop, Scope, atom, lowers_statement, statements
from srcgrad.frontend.sources import Source, source_of, steps_through, stored_names
from srcgrad.frontend.targets import Value, assign_to, variable
from srcgrad.ir.nodes import Atom, Const, Exit, Expr, For, If, Op, Var, While

_RESIZING = ("append", "clear", "extend", "insert", "pop", "popitem", "remove", "add", "discard")


def run(
    scope: Scope,
    node: ast.AST,
    source: Source,
    target: ast.expr,
    fixed: Callable[[str], bool],
    body: Callable[[], None],
    checkpoint: Atom | None = None,
) -> None:
    """Emit the counted loop over a source, its items assigned to `target`.

    A name of the target that is `fixed` (nothing in the body assigns it) may be the index itself.
    """
    bounds = source.bounds or (Const(0), source.length(), Const(1))
    counter, rest = _counter(source, target, fixed)
    index = scope.hidden("i") if counter is None else variable(scope, counter)

    def fill() -> None:
        if counter is None:
            make = source.value or (_same if source.is_range else source.item)
            assign_to(scope, target, make(index), target)
        elif rest is not None and source.numbered is not None:
            assign_to(scope, rest, source.numbered(index), rest)
        body()

    sid = scope.sid()
    block = scope.block(fill)
    scope.emit(For(sid, scope.loc(node), index, *bounds, block, checkpoint, source.parallel))


def _same(index: Atom) -> Value:
    return index


def _counter(
    source: Source, target: ast.expr, fixed: Callable[[str], bool]
) -> tuple[ast.Name | None, ast.expr | None]:
    """The name that counts: the variable of a range, or the number that `enumerate` gives."""
    match target:
        case ast.Name(id=name) if source.is_range and fixed(name):
            return target, None
        case ast.Tuple(elts=[ast.Name(id=name) as number, rest]) if (
            source.numbered is not None and fixed(name) and name not in stored_names(rest)
        ):
            return number, rest
    return None, None


# ---- for ------------------------------------------------------------------------------


@lowers_statement(ast.For)
def _for(scope: Scope, node: ast.For) -> None:
    iterable, checkpoint = _checkpointed(scope, node.iter)
    _refuse_resizing(scope, node)
    _refuse_changes(scope, node)
    if isinstance(iterable, ast.Call) and callee(scope, iterable.func) is itertools.count:
        _count(scope, node, iterable)
        return
    if isinstance(iterable, ast.GeneratorExp) and iterable.generators[0].ifs:
        _fused(scope, node, iterable)
        return
    source = source_of(scope, iterable)
    with_else(scope, node, lambda: _for_body(scope, node, source, checkpoint))


def _for_body(scope: Scope, node: ast.For, source: Source, checkpoint: Atom | None) -> None:
    assigned = bindings.of_block(node.body).sites
    run(
        scope,
        node,
        source,
        node.target,
        lambda name: name not in assigned,
        lambda: statements(scope, node.body),
        checkpoint,
    )


def with_else(scope: Scope, node: ast.For | ast.While, loop: Callable[[], None]) -> None:
    """A loop with `else`: a flag says whether `break` left it."""
    left: Var | None = None
    if node.orelse and _breaks(node.body):
        left = scope.hidden("left")
        scope.assign(node, left, Const(False))
    scope.loops.append(Loop(left))
    loop()
    scope.loops.pop()
    if left is None:
        statements(scope, node.orelse)
    else:
        sid = scope.sid()
        block = scope.block(lambda: statements(scope, node.orelse))
        place = node.orelse[0]
        scope.emit(If(sid, scope.loc(place), Op("not", (left,)), block, ()))


def _breaks(block: list[ast.stmt]) -> bool:
    """Does a `break` in the block leave the loop that the block is the body of?"""
    for stmt in block:
        if isinstance(stmt, ast.Break):
            return True
        if isinstance(stmt, ast.For | ast.While):
            inner = [stmt.orelse]
        elif isinstance(stmt, ast.FunctionDef | ast.ClassDef):
            inner = []
        elif isinstance(stmt, ast.Match):
            inner = [case.body for case in stmt.cases]
        else:
            inner = [getattr(stmt, name, []) for name in ("body", "orelse", "finalbody")]
            inner += [handler.body for handler in getattr(stmt, "handlers", [])]
        if any(_breaks(part) for part in inner):
            return True
    return False


@lowers_statement(ast.Break, ast.Continue)
def _jump(scope: Scope, node: ast.Break | ast.Continue) -> None:
    if isinstance(node, ast.Break) and scope.loops[-1].left is not None:
        scope.assign(node, scope.loops[-1].left, Const(True))
    kind = "break" if isinstance(node, ast.Break) else "continue"
    scope.emit(Exit(scope.sid(), scope.loc(node), kind))


def _count(scope: Scope, node: ast.For, call: ast.Call) -> None:
    """`for k in itertools.count(start, step)`: a loop that only an exit ends."""
    given = {"start": Const(0), "step": Const(1)}
    found: dict[str, Atom] = dict(given)
    for name, arg in zip(given, call.args, strict=False):
        found[name] = atom(scope, arg)
    for keyword in call.keywords:
        found[str(keyword.arg)] = atom(scope, keyword.value)
    base = node.target.id if isinstance(node.target, ast.Name) else "k"
    counter = scope.hidden(base)
    scope.assign(call, counter, found["start"])

    def fill() -> None:
        assign_to(scope, node.target, counter, node.target)
        scope.assign(call, counter, Op("add", (counter, found["step"])))
        statements(scope, node.body)

    with_else(scope, node, lambda: _endless(scope, node, fill))


def _endless(scope: Scope, node: ast.AST, fill: Callable[[], None]) -> None:
    sid = scope.sid()
    block = scope.block(fill)
    scope.emit(While(sid, scope.loc(node), Const(True), block))


def _fused(scope: Scope, node: ast.For, generator: ast.GeneratorExp) -> None:
    """`for t in (e for v in xs if c)`: the generator runs in step with the body."""
    if len(generator.generators) != 1:
        raise scope.refusal(
            generator, "a loop over a generator with two `for`", "write nested loops"
        )
    part = generator.generators[0]
    source = source_of(scope, part.iter)
    names = {n: scope.hidden(n) for n in sorted(stored_names(part.target))}

    def fill() -> None:
        for condition in part.ifs:
            _skip_unless(scope, condition)
        value = atom(scope, generator.elt)
        with scope.renamed({}, keep=False):
            assign_to(scope, node.target, value, node.target)
            statements(scope, node.body)

    def loop() -> None:
        with scope.renamed(names):
            run(scope, node, source, part.target, lambda name: True, fill)

    with_else(scope, node, loop)


def _skip_unless(scope: Scope, condition: ast.expr) -> None:
    found = negated(scope, condition, test(scope, condition))
    sid = scope.sid()
    skip = (Exit(scope.sid(), scope.loc(condition), "continue"),)
    scope.emit(If(sid, scope.loc(condition), found, skip, ()))


def _checkpointed(scope: Scope, node: ast.expr) -> tuple[ast.expr, Atom | None]:
    """`sg.checkpointed(range(...), snapshots=k)`: the range, and k."""
    if not isinstance(node, ast.Call):
        return node, None
    if getattr(callee(scope, node.func), "__srcgrad_special__", None) != "checkpointed":
        return node, None
    inner = node.args[0] if node.args else None
    if not isinstance(inner, ast.Call) or callee(scope, inner.func) is not range:
        fix = "write checkpointed(range(n), ...)"
        raise scope.refusal(node, "checkpointed needs a range", fix)
    given = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "snapshots")]
    return inner, atom(scope, given[0]) if given else Const(None)


# ---- while -------------------------------------------------------------------------------


@lowers_statement(ast.While)
def _while(scope: Scope, node: ast.While) -> None:
    if is_pure(scope, node.test):
        condition = test(scope, node.test)
        with_else(scope, node, lambda: _while_body(scope, node, condition))
        return

    def fill() -> None:
        found = negated(scope, node.test, test(scope, node.test))
        sid = scope.sid()
        leave = (Exit(scope.sid(), scope.loc(node.test), "break"),)
        scope.emit(If(sid, scope.loc(node.test), found, leave, ()))
        statements(scope, node.body)

    with_else(scope, node, lambda: _endless(scope, node, fill))


def _while_body(scope: Scope, node: ast.While, condition: Expr) -> None:
    sid = scope.sid()
    block = scope.block(lambda: statements(scope, node.body))
    scope.emit(While(sid, scope.loc(node), condition, block))


# ---- resizing -----------------------------------------------------------------------------


def _refuse_resizing(scope: Scope, node: ast.For) -> None:
    """A list that grows or shrinks while it is looped over is not followed."""
    looped = {ast.dump(base): base for base in _looped_over(node.iter)}
    if not looped:
        return
    for stmt in node.body:
        for part in ast.walk(stmt):
            resized = _resized(part)
            if resized is not None and ast.dump(resized) in looped:
                raise scope.refusal(
                    part,
                    f"{ast.unparse(resized)} is resized while the loop runs over it",
                    f"loop over a copy: list({ast.unparse(resized)})",
                )


def _looped_over(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Name():
            yield node
        case ast.Attribute():
            yield node
        case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed"), args=args):
            for arg in args:
                yield from _looped_over(arg)
        case ast.Call(func=ast.Attribute(value=value, attr="items" | "keys" | "values")):
            yield value


def _resized(node: ast.AST) -> ast.expr | None:
    """What a piece of syntax may make longer or shorter."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _RESIZING:
            return value
        case ast.AugAssign(op=ast.Add(), target=ast.Name(id=name)):
            return ast.Name(name, ast.Load())
        case ast.Subscript(value=value, ctx=ast.Del()):
            return value
    return None


def _refuse_changes(scope: Scope, node: ast.For) -> None:
    """What an iterator reads as the loop goes on must not change under it."""
    read = steps_through(scope, node.iter)
    if not read or _source_follows(scope, node.iter):
        return
    for stmt in node.body:
        for part in ast.walk(stmt):
            changed = read & _changed(scope, part)
            if changed:
                name = min(changed)
                raise scope.refusal(
                    part,
                    f"{name} may change while the loop reads it through an iterator",
                    "loop over a list or over positions",
                )


def _source_follows(scope: Scope, node: ast.expr) -> bool:
    """Is it a `zip` of sequences, whose items are looked up at each position?"""
    if isinstance(node, ast.Call) and callee(scope, node.func) is enumerate and node.args:
        return _source_follows(scope, node.args[0])
    return (
        isinstance(node, ast.Call)
        and callee(scope, node.func) is zip
        and not any(isinstance(arg, ast.Starred) for arg in node.args)
        and not any(steps_through(scope, arg) for arg in node.args)
    )


def _changed(scope: Scope, node: ast.AST) -> frozenset[str]:
    """The names whose contents a piece of syntax may change."""
    match node:
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            return bindings.names_in(value)
        case ast.Attribute(value=value, ctx=ast.Store() | ast.Del()):
            return bindings.names_in(value)
        case ast.AugAssign(target=ast.Name(id=name)):
            return frozenset([name])
        case ast.Call() if not is_pure(scope, node):
            return bindings.names_in(node)
    return frozenset()
