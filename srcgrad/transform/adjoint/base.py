"""The ground of the reverse sweep: its fields, names, and how statements are written down."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass, field
from typing import Any

from srcgrad.analysis.recording import Recording
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.comments import Place
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.callee import Callees
from srcgrad.transform.adjoint.slots import Slots
from srcgrad.transform.adjoint.state import State
from srcgrad.transform.module import Module
from srcgrad.transform.text import Text


@dataclass
class Base:
    """What the layers of the reverse sweep share: each derives from the one below it."""

    unit: Unit
    found: Recording
    module: Module
    text: Text
    slots: Slots
    callees: Callees
    state: State = field(default_factory=dict)
    out: list[ast.stmt] = field(default_factory=list)
    origin: tuple[str, int] | None = None
    inline: dict[str, tuple[ir.Assign, ir.Var]] = field(default_factory=dict)  # views not bound
    shared: dict[str, ast.expr] = field(default_factory=dict)  # `let` names of the rule at hand
    result_seed: str | None = None
    result_lanes: str = "lanes"  # the parameter with the mask of the result
    result_bar: str = "result_bar"  # the parameter with its cotangent
    guarded_tries: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.lanes = self.found.needs.lanes

    # ---- names ------------------------------------------------------------------------------

    def bar(self, name: str) -> str:
        return self.text.names.suffixed(self.text.var(name), "bar")

    def bar_node(self, name: str) -> ast.expr:
        inline = self.inline.get(name)
        if inline is not None:
            return self.view_of_shadow(*inline)
        return syn.name(self.bar(name))

    def primal(self, a: ir.Atom) -> ast.expr:
        """An atom as the reverse sweep reads it; cheap temporaries are computed again."""
        if isinstance(a, ir.Var):
            again = self.found.needs.again(a.name)
            if again is None or self.is_bound_again(again) or self.is_at_hand(again):
                return syn.name(self.text.var(a.name))
            return self.again(again.value)
        return self.module.atom(a)

    def is_bound_again(self, stmt: ir.Assign) -> bool:
        """Whether the head of the reverse of a block binds a variable anew, for its value is read
        where nothing else may stand."""
        saves = self.found.saves.get(stmt.sid, ())
        return any(s.var == stmt.target.name and s.when in ("again", "after") for s in saves)

    def is_at_hand(self, stmt: ir.Assign) -> bool:
        """Whether a number that could be computed again is kept anyway, for a formula that reads
        it as a result."""
        name = stmt.target.name
        if name not in self.found.values or not isinstance(self.unit.type(name), ty.Number):
            return False
        return not self.unit.loops[stmt.sid] or self.found.invariants.has(name)

    def again(self, expr: ir.Expr) -> ast.expr:
        """An expression over atoms as the reverse sweep reads them."""
        printer = _Again(self.module, self.text.facts, self.text.names)
        printer.owner = self
        return printer.expr(expr)

    def key(self, key: ir.Key) -> ast.expr:
        printer = _Again(self.module, self.text.facts, self.text.names)
        printer.owner = self
        return printer.key(key)

    def view_of_shadow(self, stmt: ir.Assign, alias: ir.Var) -> ast.expr:
        """The expression of a view with the shadow in place of the array."""
        printer = _Again(self.module, self.text.facts, self.text.names)
        printer.owner, printer.swap = self, {alias.name: self.bar_node(alias.name)}
        return printer.expr(stmt.value)

    # ---- writing ----------------------------------------------------------------------------

    def emit(self, *nodes: ast.stmt) -> None:
        for node in nodes:
            targets = _assigned(node)
            self.put_aside(node, targets)
            for target in targets:
                self.protect(target)
            if self.origin:
                node.srcgrad_origin = self.origin  # type: ignore[attr-defined]
            self.out.append(node)

    def put_aside(self, node: ast.stmt, targets: set[str]) -> None:
        """Keep the value to be assigned where writing down a waiting adjoint first would change
        it."""
        if not isinstance(node, ast.Assign | ast.AugAssign):
            return
        if (self.settled_by(targets) - targets) & syn.names_in(node.value):
            kept = self.text.names.temporary() + "_bar"
            self.out.append(syn.assign(kept, node.value))
            node.value = syn.name(kept)

    def settled_by(self, targets: set[str]) -> set[str]:
        """Variables that are about to change, and those of adjoints that must be written
        before."""
        out = set(targets)
        waiting = {n: a.mentioned for n, a in self.state.items() if a.waiting is not None}
        while waiting:
            hit = [n for n, names in waiting.items() if not out.isdisjoint(names)]
            if not hit:
                break
            out |= {self.bar(n) for n in hit}
            for n in hit:
                del waiting[n]
        return out

    def protect(self, target: str, but: str | None = None) -> None:
        """Write down waiting adjoints that mention a variable before it changes."""
        for name, adj in list(self.state.items()):
            if name != but and target in adj.mentioned:
                self.settle(name)

    def settle(self, name: str) -> None:
        """Put a waiting adjoint into its variable."""
        adj = self.state[name]
        if adj.waiting is None:
            return
        group = self.exchanged(name)
        nodes = [self.state[n].waiting for n in group]
        for n in group:
            self.state[n].waiting = None
        if len(group) == 1:
            assert nodes[0] is not None
            bound: Any = syn.assign(self.bar(name), nodes[0])
            bound.srcgrad_number = isinstance(self.unit.type(name), ty.Number)
            self.emit(bound)
            return
        values = syn.tuple_of(n for n in nodes if n is not None)
        self.emit(syn.assign(syn.tuple_of(map(self.bar_node, group)), values))

    def exchanged(self, name: str) -> list[str]:
        """The waiting adjoints that have to be written down at once with this one, as after a
        swap:
        each needs the older value of another's variable."""
        waiting = {n: a.mentioned for n, a in self.state.items() if a.waiting is not None}
        bars = {n: self.bar(n) for n in waiting}

        def reach(forward: bool) -> set[str]:
            found, todo = {name}, [name]
            while todo:
                n = todo.pop()
                for m in waiting:
                    hit = bars[n] in waiting[m] if forward else bars[m] in waiting[n]
                    if hit and m not in found:
                        found.add(m)
                        todo.append(m)
            return found

        both = reach(True) & reach(False)
        return [name, *(n for n in waiting if n in both and n != name)]

    def comment(self, stmt: ir.Stmt) -> None:
        """The primal statement that the following lines come from."""
        loc = stmt.loc
        self.origin = loc.origin
        if not loc.line:
            return
        source = linecache.getline(loc.file, loc.line).strip()
        file = loc.file.replace("\\", "/").rsplit("/", 1)[-1]
        if file.startswith("<"):
            file = "cell"
        shown = f"{file}:{loc.line}  {source}"
        last = next((s for s in reversed(self.out) if isinstance(s, syn.Comment)), None)
        if last is None or last.text != shown:
            place = Place(shown)
            place.srcgrad_place = loc.line  # type: ignore[attr-defined]
            self.out.append(place)


class _Again(Text):
    """Prints expressions over atoms as the reverse sweep reads them."""

    owner: Base
    swap: dict[str, ast.expr]

    def atom(self, a: ir.Atom) -> ast.expr:
        swap: dict[str, ast.expr] = getattr(self, "swap", {})
        if isinstance(a, ir.Var) and a.name in swap:
            return swap[a.name]
        return self.owner.primal(a)

    def var(self, name: str) -> str:
        return self.owner.text.var(name)


class Swapped(Text):
    """Prints an expression with some variables replaced."""

    owner: Text
    swap: dict[str, ast.expr]

    def atom(self, a: ir.Atom) -> ast.expr:
        if isinstance(a, ir.Var):
            return self.swap.get(a.name) or syn.name(self.owner.var(a.name))
        return self.module.atom(a)

    def var(self, name: str) -> str:
        return self.owner.var(name)


def _assigned(node: ast.stmt) -> set[str]:
    """Names that a statement binds or writes into."""
    out: set[str] = set()
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = list(node.targets)
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    for t in targets:
        parts = t.elts if isinstance(t, ast.Tuple) else [t]
        for p in parts:
            while isinstance(p, ast.Subscript | ast.Attribute):
                p = p.value
            if isinstance(p, ast.Name):
                out.add(p.id)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        # np.add.at(x_bar, ...) and support.item_add(x_bar, ...) write into their first argument.
        for a in node.value.args[:2]:
            while isinstance(a, ast.Subscript | ast.Attribute):
                a = a.value
            if isinstance(a, ast.Name):
                out.add(a.id)
    return out
