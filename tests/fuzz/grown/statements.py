"""Statements of grown programs: stores of every form, swaps, containers.

<w> what can be written into: an array by name, or a view or item     <t> a name for an array
<u> an array that can be written into, by name                        <n> a name for a number
<l> <d> <p> a list, a dict, a list or tuple of two
"""

from __future__ import annotations

import numpy as np

from tests.fuzz.grown.expressions import Expressions, Table

NAMES = ("u", "v", "w", "p", "q", "r")
NUMBERS = ("s", "t", "c")
ASSIGNMENTS: Table = [
    (2.2, "<t> = <e>"), (2.5, "<t> = <a>"), (1.5, "<n> = <s>"), (0.4, "<n> += <s>"),
    (0.4, "<n> *= <s>"), (0.3, "<t> = <a> if <c> else <a>"), (0.5, "cc = [<a>, <a>]"),
    (0.5, "cc = (<a>, <a>)"), (0.3, 'dd = {"a": <a>, "b": <a>}'), (0.1, "cc = [<a>]"),
    (0.1, "cc = [(<a>, <s>), (<a>, <s>)]"), (0.1, "cc = [<s>, <s>]"),
    (0.1, "cc = [k * <a> for k in range(2)]"), (0.1, "cc = list(<a>)"),
    (0.1, "cc = [row for row in <a>]"),
]  # fmt: skip
WRITES: Table = [
    (0.6, "<u> += <s>"), (0.6, "<u> *= <s>"), (0.6, "<u> -= <e>"), (0.6, "<u> += <e>"),
    (0.3, "np.add.at(<w>, [0, 1, 0], <e>)"), (0.1, "np.add.at(<w>, 0, <s>)"),
    (0.2, "np.multiply(<a>, <a>, out=<w>)"), (0.2, "np.add(<a>, <a>, out=<w>)"),
    (0.2, "np.sin(<a>, out=<w>)"), (0.2, "np.negative(<a>, out=<w>)"),
    (0.2, "np.dot(<a>, <a>, out=<u>)"), (0.1, "np.sum(<a>, axis=0, out=<u>)"),
    (0.3, "np.copyto(<w>, <e>)"), (0.15, "np.copyto(<u>, <e>, where=<u> > 0.0)"),
    (0.3, "<w>.fill(<s>)"), (0.3, "<w>.sort()"), (0.2, "np.put(<u>, [0, 1], <e>)"),
    (0.2, "np.fill_diagonal(<u>, <s>)"), (0.1, "<u>.flat[1:3] = <s>"),
]  # fmt: skip
# Of one array, which stands for every {}.
WRITES_TWICE: Table = [
    (0.2, "{}[1:], {}[:-1] = {}[:-1].copy(), <e>"), (0.3, "{}[0], {}[-1] = {}[-1], {}[0]"),
    (0.2, "{}[[0, 1]] = {}[[1, 0]]"), (0.15, "np.putmask({}, {} > 0.1, <s>)"),
    (0.12, "np.multiply({}, <s>, out={}, where={} > 0.0)"), (0.2, "{}[1:] += {}[:-1]"),
    (0.2, "{}[:-1] *= {}[1:]"), (0.1, "{} *= {}"),
]  # fmt: skip
LISTS: Table = [
    (1.5, "<l>.append(<a>)"), (0.5, "<l>.append(<e>)"), (0.5, "<l> = <l> + [<a>]"),
    (0.4, "<l> += [<a>]"), (0.4, "<l> = <l>[::-1]"), (0.2, "<l>.reverse()"),
    (0.2, "<l>.insert(0, <a>)"), (0.2, "<l> = <l>[1:]"), (0.2, "<l>.extend([<a>, <a>])"),
    (0.8, "<t> = <l>.pop()"), (0.4, "<t> = <l>.pop(0)"), (0.8, "<l>[0], <l>[1] = <l>[1], <l>[0]"),
    (1.0, "<l>[0] = <a>"), (0.5, "<l>[0] = <l>[0] * <s>"), (0.5, "<l>[-1] += <e>"),
]  # fmt: skip
DICTS: Table = [
    (1.0, '<d>["k"] = <a>'), (0.5, '<d>["a"] += <e>'), (0.5, '<d>["a"] *= <s>'),
    (0.3, '<d>["a"], <d>["b"] = <d>["b"], <d>["a"]'), (0.2, '<t> = <d>.pop("a")'),
    (0.2, '<t> = <d>.get("a")'),
]  # fmt: skip
PAIRS: Table = [
    (1.5, "<t>, <t> = <p>"), (1.0, "<p>[0][...] = <e>"), (1.0, "<p>[1][...] *= <s>"),
    (0.8, "<p>[0][0] += <s>"), (0.3, "<p> = (<p>[1], <p>[0])"), (0.4, "<p> = <p>[::-1]"),
]  # fmt: skip


class Statements(Expressions):
    """Texts of simple statements."""

    def target(self) -> str:
        return self.rng.choice(NAMES[: self.width])

    def writable(self) -> list[str]:
        return self.arrays(lambda a: a.flags.writeable)

    def simple(self) -> str:
        """A statement; an IndexError where there is nothing to make it of."""
        held = 4.0 if self.profile == "containers" else 1.5
        kinds = [(4.0, "assign"), (0.8, "swap"), (held, "container")]
        if self.writable():
            kinds += [(5.0, "store"), (4.0, "write"), (1.0, "twice")]
        if self.helpers:
            kinds.append((2.5 if self.profile == "call" else 1.2, "call"))
        match self.weighted(kinds):
            case "assign":
                return self.filled(self.weighted(ASSIGNMENTS))
            case "swap":
                return self.swap()
            case "container":
                return self.held()
            case "store":
                return self.store()
            case "write":
                return self.filled(self.weighted(WRITES))
            case "twice":
                name = self.rng.choice(self.writable())
                return self.filled(self.weighted(WRITES_TWICE).replace("{}", name))
            case _:
                return self.called()

    def other(self, letter: str) -> str | None:
        match letter:
            case "t":
                return self.target()
            case "n":
                return self.rng.choice(NUMBERS)
            case "u":
                return self.rng.choice(self.writable())
            case "w":
                return self.base(self.rng.choice(self.writable()))
            case "l":
                return self.rng.choice(self.containers((list,)))
            case "d":
                return self.rng.choice(self.containers((dict,)))
            case "p":
                return self.rng.choice(self.containers((list, tuple)))
            case _:
                return None

    def base(self, name: str) -> str:
        """The array, a view of it, or an item of a container."""
        held = self.containers()
        if held and self.chance(0.15):
            return self.item(self.rng.choice(held))
        return self.view(name, 1) if self.chance(0.3) else name

    def store(self) -> str:
        name = self.rng.choice(self.writable())
        base = self.base(name)
        a = self.value_of(base)
        if not isinstance(a, np.ndarray):
            base, a = name, self.values[name]
        op = self.pick("=", "=", "=", "+=", "+=", "*=", "-=")
        value = self.pick("<s>", "<s>", "<e>", "<a>", f"{self.view(name, 1)} * <s>")
        return f"{base}[{self.index(a, base)}] {op} {self.filled(value)}"

    def swap(self) -> str:
        """`u, v, w = v, w, u`, sometimes of views."""
        names = self.rng.sample(self.arrays(), min(len(self.arrays()), self.pick(2, 2, 3, 3)))
        if len(names) < 2:
            raise IndexError
        values = [*names[1:], names[0]]
        if self.chance(0.2):
            values = [self.pick(v, self.view(v, 1), self.expr(1)) for v in values]
        return f"{', '.join(names)} = {', '.join(values)}"

    def held(self) -> str:
        """A statement about a container that is there."""
        table = LISTS * bool(self.containers((list,))) + DICTS * bool(self.containers((dict,)))
        table = table + PAIRS * bool(self.containers((list, tuple)))
        if not table:
            raise IndexError
        return self.filled(self.weighted(table))

    def called(self) -> str:
        helper = self.rng.choice(self.helpers)
        targets = {"a": "<t> = ", "s": "<n> = ", "t": "<t>, <n> = ", "w": "<t>, <t> = "}
        return self.filled(targets.get(helper.result, "")) + self.call(helper)
