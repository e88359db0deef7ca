"""Loops, branches and what else has a block, grown with what is inside."""

from __future__ import annotations

from tests.fuzz.grown.running import Running

KINDS = [
    (3.0, "for"), (1.0, "rows"), (2.0, "branch"), (1.0, "while"), (0.6, "zip"), (0.6, "items"),
    (0.4, "try"), (0.7, "closure"), (0.3, "with"),
]  # fmt: skip
LOOPS = ("for", "rows", "while", "zip")
DEEPEST = 3
TRIED = "if True:"  # the head of a `try` while its body is grown


class Blocks(Running):
    """Grows the body of a function, block by block."""

    def block(self, budget: int, depth: int) -> None:
        while budget > 0:
            if self.chance(0.7) or depth >= DEEPEST or budget < 2:
                self.statement()
                budget -= 1
            else:
                budget -= self.compound(min(budget, self.rng.randint(2, 6)), depth)

    def compound(self, budget: int, depth: int) -> int:
        """Add a statement with a block; how much it took of the budget."""
        kind = self.weighted(KINDS)
        before = list(self.lines), self.indent, dict(self.values), self.loop_names
        done = self.closure() if kind == "closure" else self.grown(kind, budget, depth)
        if not done:
            self.lines, self.indent, self.values, self.loop_names = before
            return 1
        self.loop_names = before[3]
        return budget + 1

    def closure(self) -> bool:
        """Add a nested function and a call of it."""
        raise NotImplementedError

    def grown(self, kind: str, budget: int, depth: int) -> bool:
        head = list(self.lines), self.indent, dict(self.values)
        if not self.opened(kind, depth):
            return False
        inside = len(self.lines)
        self.block(max(1, budget - 1), depth + 1)
        if len(self.lines) == inside:
            return False
        if kind in LOOPS and self.chance(0.35):
            self.exit()
        if kind == "branch" and self.chance(0.5):
            self.other_arm(*head)
        self.indent -= 1
        if kind == "try":
            other = self.pick("s = 1.0", "c = 0.5", f"{self.target()} = {self.array()}")
            ends = self.pick(
                ["finally:", f"    {other}"], ["except ZeroDivisionError:", "    raise"]
            )
            place = len(head[0])
            self.lines[place:] = [
                (i, "try:" if line == TRIED and i == self.indent else line)
                for i, line in self.lines[place:]
            ]
            self.lines += [(self.indent, end) for end in ends]
        return self.look()

    def opened(self, kind: str, depth: int) -> bool:
        """Add the head of a statement with a block, and go on inside."""
        i = f"i{depth}" if self.chance(0.8) else "i"
        match kind:
            case "for":
                return self.enter(f"for {i} in {self.counted()}:", i)
            case "rows":
                a = self.array()
                if self.chance(0.3):
                    return self.enter(f"for {i}, row in enumerate({a}):", i)
                return self.enter(f"for row in {a}{self.pick('', '[::-1]')}:")
            case "zip":
                first = self.pick("e", self.target())
                return self.enter(f"for {first}, row in zip({self.array()}, {self.array()}):")
            case "items":
                held = self.containers((list, tuple))
                if not held:
                    return False
                item = self.pick("row", self.target())
                return self.enter(f"for {item} in {self.rng.choice(held)}:")
            case "while":
                return self.counting(f"k{depth}")
            case "branch":
                return self.enter(f"if {self.condition()}:")
            case "try":
                return self.enter(TRIED)
            case _:
                return self.enter('with np.errstate(all="ignore"):')

    def counted(self) -> str:
        return self.pick(
            "range(3)", "range(n)", "range(2)", "range(1, 3)", "range(2, -1, -1)",
            f"range(len({self.array()}))", "range(0, 4, 2)", "range(n + 1)",
        )  # fmt: skip

    def counting(self, k: str) -> bool:
        self.lines.append((self.indent, f"{k} = 0"))
        test = f"{k} < {self.pick(2, 3, 'n')}"
        if self.chance(0.3):
            test = f"{self.condition()} and {k} < 4"
        return self.enter(f"while {test}:", k, first=f"{k} += 1")

    def enter(self, head: str, *counters: str, first: str = "") -> bool:
        """Go on inside a block; most often only where the program comes there."""
        self.lines.append((self.indent, head))
        self.indent += 1
        self.lines += [(self.indent, first)] * bool(first)
        self.loop_names = [*self.loop_names, *counters]
        try:
            names, _ = self.run()
        except Exception:
            return False
        if names is None:
            return self.chance(0.4)
        self.values = {k: v for k, v in names.items() if not callable(v)}
        return True

    def exit(self) -> None:
        """`if ...: break`, and perhaps something behind it."""
        leave = self.pick("break", "continue", "break", "continue", f"return {self.scalar(1)}")
        before = list(self.lines)
        self.lines += [(self.indent, f"if {self.condition()}:"), (self.indent + 1, leave)]
        if not self.look():
            self.lines = before
        elif self.chance(0.7):
            self.statement()

    def other_arm(self, lines: list[tuple[int, str]], indent: int, values: dict) -> None:
        """An `else`, which does not run: its statements are tried before the branch."""
        arm = []
        kept, self.lines = self.lines, list(lines)
        self.indent, inner, self.values = indent, self.values, dict(values)
        for _ in range(self.pick(1, 2, 6)):
            line = self.candidate()
            if line is not None and len(arm) < 2 and self.add((indent, line)):
                arm.append((indent + 1, line))
        self.lines, self.indent, self.values = kept, indent + 1, inner
        if arm:
            self.lines += [(indent, "else:"), *arm]
