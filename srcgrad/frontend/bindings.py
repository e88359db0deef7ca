"""Which names a function binds, and where: the facts about scopes that lowering asks for.

One walk over the function's own code (nested functions are not entered) gives every binding of
every name with its place.  From these follow: which names are local, which nested functions can be
written out where they are used, and whether a captured variable still has the value it had.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Place = tuple[int, int]  # line, column
_Stack = list[tuple[ast.AST, ast.AST | None]]  # nodes to visit, with the loop around them
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Site:
    """One binding of a name: when it takes effect, and the outermost loop around it."""

    kind: str  # param, name, import, def, loop, except, match, del
    node: ast.AST
    place: Place
    loop: ast.AST | None


@dataclass(slots=True)
class Bindings:
    """Everything a function's own code says about names."""

    sites: dict[str, list[Site]] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    declarations: list[ast.Global | ast.Nonlocal] = field(default_factory=list)
    annotated: set[str] = field(default_factory=set)
    walrus: bool = False
    suspended: list[ast.expr] = field(default_factory=list)  # yield and await
    loops: list[ast.AST] = field(default_factory=list)  # outermost loops
    body: Sequence[ast.AST] = ()

    def is_local(self, name: str) -> bool:
        declared = name in self.global_names or name in self.nonlocal_names
        return not declared and (name in self.sites or name in self.annotated)


def start(node: ast.AST) -> Place:
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def end(node: ast.AST) -> Place:
    return (getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0)


def arguments(args: ast.arguments) -> Iterator[ast.arg]:
    """The parameters of a function, in order."""
    yield from args.posonlyargs
    yield from args.args
    if args.vararg is not None:
        yield args.vararg
    yield from args.kwonlyargs
    if args.kwarg is not None:
        yield args.kwarg


def of_function(node: FunctionNode) -> Bindings:
    """The bindings made by a function's own code.

    >>> tree = ast.parse("def f(x):\\n    y = x\\n    for i in y: pass")
    >>> sorted(of_function(tree.body[0]).sites)
    ['i', 'x', 'y']
    """
    body = node.body if isinstance(node.body, list) else [node.body]
    found = of_block(body)
    for arg in arguments(node.args):
        found.sites.setdefault(arg.arg, []).insert(0, Site("param", node, (0, 0), None))
    return found


def of_block(block: Sequence[ast.AST]) -> Bindings:
    """The bindings made by some statements or expressions."""
    found = Bindings(body=block)
    stack: _Stack = [(node, None) for node in reversed(block)]
    while stack:
        node, loop = stack.pop()
        _visit(found, node, loop, stack)
    return found


def _bind(
    found: Bindings, name: str, kind: str, node: ast.AST, place: Place, loop: ast.AST | None
) -> None:
    found.sites.setdefault(name, []).append(Site(kind, node, place, loop))


def _visit(found: Bindings, node: ast.AST, loop: ast.AST | None, stack: _Stack) -> None:
    """Note what a node binds, and push what is still to be visited."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del() as ctx):
            kind = "name" if isinstance(ctx, ast.Store) else "del"
            _bind(found, name, kind, node, end(node), loop)
            return
        case ast.Name() | ast.Constant():
            return
        case ast.Global(names=names):
            found.global_names.update(names)
            found.declarations.append(node)
        case ast.Nonlocal(names=names):
            found.nonlocal_names.update(names)
            found.declarations.append(node)
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
            _visit_assignment(found, node, loop, stack)
            return
        case ast.NamedExpr(target=target, value=value):
            found.walrus = True
            stack.append((value, loop))
            _bind(found, target.id, "name", node, end(node), loop)
            return
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                bound = alias.asname or alias.name.partition(".")[0]
                _bind(found, bound, "import", node, end(node), loop)
            return
        case ast.ExceptHandler(name=str(name)):
            _bind(found, name, "except", node, start(node), loop)
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            _bind(found, name, "match", node, end(node), loop)
        case ast.MatchMapping(rest=str(name)):
            _bind(found, name, "match", node, end(node), loop)
        case ast.Yield() | ast.YieldFrom() | ast.Await():
            found.suspended.append(node)
    if isinstance(node, _SCOPES):
        _visit_scope(found, node, loop, stack)
    elif isinstance(node, _COMPREHENSIONS):
        _visit_comprehension(found, node, loop)
    else:
        if isinstance(node, _LOOPS):
            if loop is None:
                found.loops.append(node)
            loop = loop or node
        stack.extend((child, loop) for child in ast.iter_child_nodes(node))


def _visit_assignment(
    found: Bindings,
    node: ast.Assign | ast.AugAssign | ast.AnnAssign,
    loop: ast.AST | None,
    stack: _Stack,
) -> None:
    """A name bound by `name = value` has its new value from the end of the statement on."""
    if node.value is not None:
        stack.append((node.value, loop))
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                if node.value is None:
                    found.annotated.add(part.id)
                else:
                    _bind(found, part.id, "name", node, end(node), loop)
            elif isinstance(part, ast.NamedExpr):
                stack.append((part, loop))


def _visit_scope(found: Bindings, node: ast.AST, loop: ast.AST | None, stack: _Stack) -> None:
    """Of a nested function: its name, and what its defaults and decorators bind."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        _bind(found, node.name, "def", node, end(node), loop)
        stack.extend((decorator, loop) for decorator in node.decorator_list)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        defaults = (*node.args.defaults, *node.args.kw_defaults)
        stack.extend((default, loop) for default in defaults if default is not None)


def _visit_comprehension(found: Bindings, node: ast.AST, loop: ast.AST | None) -> None:
    """A comprehension's variables are its own; only `:=` binds a name of the function."""
    if loop is None:
        found.loops.append(node)
    for part in ast.walk(node):
        if isinstance(part, ast.NamedExpr):
            found.walrus = True
            _bind(found, part.target.id, "name", part, end(part), loop or node)
        elif isinstance(part, ast.Await):
            found.suspended.append(part)


def loads(nodes: Sequence[ast.AST]) -> Counter[str]:
    """How often each name is read, nested functions included."""
    return Counter(
        part.id
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    )


def names_in(*nodes: ast.AST) -> frozenset[str]:
    """Every name that occurs in some code, nested functions included."""
    return frozenset(
        part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)
    )


def is_settled(found: Bindings, name: str, place: Place | None) -> bool:
    """Does `name`, once captured at `place`, keep its value to the end of the function?

    With no place (captured by the call of an inner function, at any time): only when it is bound
    once and outside every loop."""
    sites = found.sites.get(name, [])
    if place is None:
        return len(sites) == 1 and sites[0].loop is None
    around = next((lo for lo in found.loops if start(lo) <= place < end(lo)), None)
    return all(
        not (site.place > place and may_follow(found.body, place, site.place))
        and (site.loop is None or site.loop is not around)
        for site in sites
    )


# ---- what may run after what ----


def may_follow(block: Sequence[ast.AST], place: Place, later: Place) -> bool:
    """Whether what stands at `later` may run after what stands at `place`, further up in the text;
    what another round of a loop runs is left out.

    >>> tree = ast.parse("if a:\\n    f\\n    return\\nelse:\\n    g\\nh")
    >>> [may_follow(tree.body, (2, 4), later) for later in [(3, 4), (5, 4), (6, 0)]]
    [True, False, False]
    """
    at = next((s for s in block if _holds(s, place)), None)
    if at is None:
        return True
    if not _holds(at, later):
        return not _leaves_from(at, place) and not any(
            _always_leaves(s) for s in block if end(at) <= start(s) and end(s) <= later
        )
    for arm in _arms(at):
        if any(_holds(s, place) for s in arm):
            if any(_holds(s, later) for s in arm):
                return may_follow(arm, place, later)
            return not isinstance(at, ast.If)
    return True


def _holds(node: ast.AST, place: Place) -> bool:
    return start(node) <= place <= end(node)


def _arms(stmt: ast.AST) -> list[list[ast.stmt]]:
    """The blocks that are left only by their ends and by leaving the function."""
    match stmt:
        case ast.If(body=body, orelse=orelse):
            return [body, orelse]
        case ast.With(body=body):
            return [body]
        case _:
            return []


def _leaves_from(stmt: ast.AST, place: Place) -> bool:
    """Whether a statement, run on from a place in it, always leaves the function."""
    if not isinstance(stmt, ast.If):
        return isinstance(stmt, ast.Return | ast.Raise)
    for arm in _arms(stmt):
        for k, s in enumerate(arm):
            if _holds(s, place):
                return _leaves_from(s, place) or any(map(_always_leaves, arm[k + 1 :]))
    return False


def _always_leaves(stmt: ast.AST) -> bool:
    if isinstance(stmt, ast.If):
        return all(any(map(_always_leaves, arm)) for arm in _arms(stmt))
    return isinstance(stmt, ast.Return | ast.Raise)
