"""Webs: give each independent use of a name its own variable.

A web is a set of assignments to one name that share a reader.  `x = np.array(x); x = x.sum()` has
three webs; afterwards they are three variables, so that a type, an alias class or a need is a fact
about a variable, and nothing has to be saved because a name was reused.

    x = np.array(x)          x_1 = np.array(x)
    x = x.sum()       ->     x_2 = x_1.sum()
    return x                 return x_2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from srcgrad.analysis.unbound import raising
from srcgrad.ir import nodes as ir
from srcgrad.ir.rebuild import map_own, with_blocks

Def = tuple[int, str]  # (sid, name); parameters have sid -1
Env = dict[str, frozenset[Def]]


def _merge(envs: Iterable[Env | None]) -> Env | None:
    """Definitions that reach a point from any of several places; None is an unreachable place."""
    alive = [e for e in envs if e is not None]
    if not alive:
        return None
    out: Env = dict(alive[0])
    for env in alive[1:]:
        for name, defs in env.items():
            old = out.get(name)
            if old is not defs:
                out[name] = defs if old is None else old | defs
    return out


@dataclass
class _Loop:
    breaks: list[Env] = field(default_factory=list)
    continues: list[Env] = field(default_factory=list)


@dataclass
class _Reaching:
    """Walks a function once, joining the definitions that reach each read.

    A block changes the environment it is given into the one behind it."""

    rebinds: Callable[[ir.Assign], bool]
    parent: dict[Def, Def] = field(default_factory=dict)
    use: dict[tuple[int, str], Def] = field(default_factory=dict)
    bare: set[tuple[int, str]] = field(default_factory=set)  # reads that nothing was seen to reach
    loops: list[_Loop] = field(default_factory=list)
    seen: list[list[Env]] = field(default_factory=list)  # environments inside each open `try`
    heads: dict[int, Env] = field(default_factory=dict)  # what reaches the head of each loop
    reached: set[int] = field(default_factory=set)  # the statements that may run

    def find(self, d: Def) -> Def:
        root = d
        while self.parent.setdefault(root, root) != root:
            root = self.parent[root]
        while self.parent[d] != root:
            self.parent[d], d = root, self.parent[d]
        return root

    def union(self, a: Def, b: Def) -> None:
        a, b = self.find(a), self.find(b)
        if a != b:
            # The earlier definition leads, so that names do not depend on hashing.
            first, second = sorted((a, b))
            self.parent[second] = first

    def read(self, sid: int, name: str, env: Env) -> None:
        reaching = env.get(name)
        if not reaching:
            self.bare.add((sid, name))
            return
        first, *others = sorted(reaching) if len(reaching) > 1 else reaching
        self.find(first)
        for d in others:
            self.union(first, d)
        self.use[sid, name] = first

    def block(self, block: ir.Block, env: Env | None) -> Env | None:
        for stmt in block:
            if env is None:
                return None
            if self.seen:
                self.seen[-1].append(dict(env))
            self.reached.add(stmt.sid)
            env = self.stmt(stmt, env)
        return env

    def stmt(self, stmt: ir.Stmt, env: Env) -> Env | None:
        if isinstance(stmt, ir.For | ir.While):
            return self.loop(stmt, env)
        for v in _read(stmt):
            self.read(stmt.sid, v.name, env)
        match stmt:
            case ir.If():
                return _merge([self.block(stmt.body, dict(env)), self.block(stmt.orelse, env)])
            case ir.With():
                return self.block(stmt.body, env)
            case ir.Try():
                return self.try_(stmt, env)
            case ir.Exit(kind="return"):
                return None
            case ir.Exit(kind="break"):
                self.loops[-1].breaks.append(env)
                return None
            case ir.Exit():
                self.loops[-1].continues.append(env)
                return None
            case ir.Verbatim() if type(stmt.node).__name__ == "Raise":
                return None
        for v in ir.writes(stmt):
            d = (stmt.sid, v.name)
            self.find(d)
            if isinstance(stmt, ir.Assign) and stmt.inplace and not self.rebinds(stmt):
                for old in env.get(v.name, ()):
                    self.union(old, d)
            env[v.name] = frozenset([d])
        return env

    def loop(self, stmt: ir.For | ir.While, env: Env) -> Env | None:
        head: Env = env
        if isinstance(stmt, ir.For):
            for v in ir.reads(stmt):
                self.read(stmt.sid, v.name, env)
        if stmt.sid in self.heads:  # a loop around comes here again, with more
            head = _merge([env, self.heads[stmt.sid]]) or env
        while True:
            info = _Loop()
            self.loops.append(info)
            if isinstance(stmt, ir.While):
                for v in ir.reads(stmt):
                    self.read(stmt.sid, v.name, head)
            start = dict(head)
            if isinstance(stmt, ir.For):
                d = (stmt.sid, stmt.target.name)
                self.find(d)
                start[stmt.target.name] = frozenset([d])
            end = self.block(stmt.body, start)
            self.loops.pop()
            back = _merge([head, end, *info.continues])
            assert back is not None
            if back == head:
                break
            head = back
        self.heads[stmt.sid] = head
        forever = isinstance(stmt, ir.While) and stmt.test == ir.Const(True)
        return _merge([None if forever else head, *info.breaks])

    def try_(self, stmt: ir.Try, env: Env) -> Env | None:
        self.seen.append([dict(env)])
        body = self.block(stmt.body, env)
        inside = self.seen.pop()
        if self.seen:
            self.seen[-1].extend(inside)
        anywhere = _merge([*inside, body])
        ends = [self.block(stmt.orelse, body)]
        ends += [self.block(h.body, _merge([anywhere])) for h in stmt.handlers]
        after = _merge(ends)
        if stmt.final:
            final_in = _merge([after, anywhere])
            final_out = self.block(stmt.final, final_in)
            return None if after is None else final_out
        return after


def _reachable(block: ir.Block) -> ir.Block:
    """A block without the statements behind an exit."""
    out = []
    for stmt in block:
        inner = ir.blocks(stmt)
        out.append(with_blocks(stmt, tuple(map(_reachable, inner))) if inner else stmt)
        if isinstance(stmt, ir.Exit) or (
            isinstance(stmt, ir.Verbatim) and type(stmt.node).__name__ == "Raise"
        ):
            break
    return tuple(out)


def _reached(block: ir.Block, flow: _Reaching) -> ir.Block:
    """A block without the statements behind others that always leave it, `with c: return x`."""
    return tuple(
        with_blocks(s, tuple(_reached(b, flow) for b in ir.blocks(s))) if ir.blocks(s) else s
        for s in block
        if s.sid in flow.reached
    )


def _loop_only(fn: ir.Function) -> set[Def]:
    """Targets of `for` loops: they may share a name, since a loop gives its target its values
    again."""
    return {(s.sid, s.target.name) for s in ir.walk(fn.body) if isinstance(s, ir.For)}


def split(fn: ir.Function, rebinds: Callable[[ir.Assign], bool] = lambda _: False) -> ir.Function:
    """Rename variables so that each web has its own; `rebinds` says of an augmented assignment
    that it
    makes a new value (of numbers) instead of writing into an array."""
    fn = replace(fn, body=_reachable(fn.body))
    names = [p.name for p in fn.params] + list(fn.free)
    flow = _flow(fn, names, rebinds)
    unbound = dict(sorted(flow.bare - flow.use.keys(), reverse=True))
    if unbound:
        fn = replace(fn, body=_reachable(raising(fn.body, unbound)))
        flow = _flow(fn, names, rebinds)
    shared = _shared_targets(fn, flow)
    if shared:
        fn = replace(fn, body=_counted(fn.body, shared, 1 + max(s.sid for s in ir.walk(fn.body))))
        flow = _flow(fn, names, rebinds)
    fn = replace(fn, body=_reached(fn.body, flow))
    chosen = _choose_names(fn, flow, names)

    def rename(block: ir.Block) -> ir.Block:
        out = []
        for stmt in block:
            names: dict[str, str] = {}  # of what the statement reads, where the web has another
            for v in _read(stmt):
                d = flow.use.get((stmt.sid, v.name))
                if d is not None:
                    names[v.name] = chosen[flow.find(d)]
            written = {v.name: chosen[flow.find((stmt.sid, v.name))] for v in ir.writes(stmt)}
            if any(k != v for k, v in (*names.items(), *written.items())):
                stmt = map_own(stmt, _renaming(names), _renaming(written))
            inner = ir.blocks(stmt)
            out.append(with_blocks(stmt, tuple(map(rename, inner))) if inner else stmt)
        return tuple(out)

    known = dict(fn.webs)
    webs = {new: known.get(root[1], root[1]) for root, new in chosen.items()}
    kept = tuple(sorted((w, n) for w, n in webs.items() if "%" not in w))
    return replace(fn, body=rename(fn.body), webs=kept)


def _flow(fn: ir.Function, names: list[str], rebinds: Callable[[ir.Assign], bool]) -> _Reaching:
    flow = _Reaching(rebinds)
    flow.block(fn.body, {n: frozenset([(-1, n)]) for n in names})
    for n in names:
        flow.find((-1, n))
    return flow


def _shared_targets(fn: ir.Function, flow: _Reaching) -> set[int]:
    """Loops whose target may be something else than a whole number in the same web: it needs
    assignments in the loop, which end the life of an adjoint or tangent."""
    whole = _loop_only(fn) | {
        (s.sid, s.target.name)
        for s in ir.walk(fn.body)
        if isinstance(s, ir.Assign)
        and isinstance(s.value, ir.Const)
        and type(s.value.value) is int
    }
    mixed = {flow.find(d) for d in list(flow.parent) if d not in whole}
    return {sid for sid, name in _loop_only(fn) if flow.find((sid, name)) in mixed}


def _counted(block: ir.Block, shared: set[int], sid: int) -> ir.Block:
    """`for k in range(n)` as `for i in range(n): k = i`, for some loops."""
    out: list[ir.Stmt] = []
    for stmt in block:
        parts = tuple(_counted(b, shared, sid) for b in ir.blocks(stmt))
        if isinstance(stmt, ir.For) and stmt.sid in shared:
            counter = ir.Var(f"i%{sid + stmt.sid}")
            bound = ir.Assign(sid + stmt.sid, stmt.loc, stmt.target, counter)
            stmt = replace(stmt, target=counter)
            parts = ((bound, *parts[0]), *parts[1:])
        out.append(with_blocks(stmt, parts) if parts else stmt)
    return tuple(out)


def _read(stmt: ir.Stmt) -> tuple[ir.Var, ...]:
    if isinstance(stmt, ir.With) and isinstance(stmt.value, ir.Var):
        return (*ir.reads(stmt), stmt.value)
    return ir.reads(stmt)


def _renaming(names: dict[str, str]) -> Callable[[ir.Atom], ir.Atom]:
    def renamed(a: ir.Atom) -> ir.Atom:
        return ir.Var(names[a.name]) if isinstance(a, ir.Var) and a.name in names else a

    return renamed


def _choose_names(fn: ir.Function, flow: _Reaching, params: list[str]) -> dict[Def, str]:
    """One printable name per web: a parameter keeps its name; otherwise the last web has it."""
    webs: dict[str, list[Def]] = {}
    for d in sorted(flow.parent):
        root = flow.find(d)
        group = webs.setdefault(d[1], [])
        if root not in group:
            group.append(root)
    taken = set(webs)
    loops = {flow.find(d) for d in _loop_only(fn) if d in flow.parent}
    chosen: dict[Def, str] = {}
    for name, group in webs.items():
        if name.startswith("%") and len(group) > 1:
            for k, root in enumerate(group):
                chosen[root] = name if k == 0 else f"{name}.{k}"
            continue
        plain = group[0] if name in params else group[-1]
        others = [r for r in group if r != plain]
        chosen[plain] = name
        if plain in loops or name not in params:
            shared = [r for r in others if r in loops and plain in loops]
            for r in shared:
                chosen[r] = name
            others = [r for r in others if r not in shared]
        k = 0
        for root in others:
            k += 1
            while f"{name}_{k}" in taken:
                k += 1
            chosen[root] = f"{name}_{k}"
            taken.add(f"{name}_{k}")
    return chosen
