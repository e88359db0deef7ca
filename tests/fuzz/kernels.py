"""Random numeric kernels: nests of loops over arrays, as people give them to Numba.

All arrays have the extent `n` in each dimension, so every counter may index every dimension.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEAD = "import math\nimport numpy as np\n\n\ndef kernel(x, w, A, n):\n"
RANGES = ("n", "n", "n", "1, n - 1", "1, n - 1", "{0} + 1, n", "{0}")


def kernel(seed: int) -> str:
    """The text of a module with the function `kernel(x, w, A, n)`; the same for a seed."""
    made = _Writer(random.Random(seed))
    return HEAD + "\n".join(made.function()) + "\n"


@dataclass
class _Writer:
    random: random.Random
    lines: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    counters: list[tuple[str, bool]] = field(default_factory=list)  # whether it has neighbours
    vectors: list[str] = field(default_factory=lambda: ["x", "w"])
    matrices: list[str] = field(default_factory=lambda: ["A"])
    stored: list[str] = field(default_factory=list)  # arrays that may be stored to
    names: int = 0

    def function(self) -> list[str]:
        self.put("total = 0.0", 1)
        for name in self.random.sample(["y", "z"], self.random.randint(1, 2)):
            kind = self.random.choice(["np.zeros(n)", "x.copy()", "w.copy()", "np.empty(n)"])
            self.put(f"{name} = {kind}", 1)
            if "empty" in kind:
                self.put("for i in range(n):", 1)
                self.put(f"{name}[i] = {self.random.choice(['x', 'w'])}[i] * 0.5", 2)
            self.vectors.append(name)
            self.stored.append(name)
        if self.random.random() < 0.6:
            self.put("B = A.copy()" if self.random.random() < 0.7 else "B = np.zeros((n, n))", 1)
            self.matrices.append("B")
            self.stored.append("B")
        self.number("0.3", 1)
        self.number("x[0]", 1)
        for _ in range(self.random.randint(1, 3)):
            self.loop(1)
        self.put("for i in range(n):", 1)
        self.counters = [("i", False)]
        self.put(f"total += {self.element()} * {self.element()} + {self.numbers[0]}", 2)
        if "B" in self.matrices:
            self.put("for j in range(n):", 2)
            self.put("total += B[i, j] * B[i, j]", 3)
        self.put("return total", 1)
        return self.lines

    def put(self, text: str, depth: int) -> None:
        self.lines.append("    " * depth + text)

    def number(self, value: str, depth: int) -> str:
        self.names += 1
        name = f"s{self.names}"
        self.put(f"{name} = {value}", depth)
        self.numbers.append(name)
        return name

    # ---- statements ----

    def loop(self, depth: int) -> None:
        free = [c for c in "ijkl" if c not in [name for name, _ in self.counters]]
        if not free or depth > 4:
            return self.simple(depth)
        counter = free[0]
        kinds = RANGES if self.counters else RANGES[:5]
        text = self.random.choice(kinds)
        if "{0}" in text:
            text = text.format(self.counters[-1][0])
        if depth == 1 and self.random.random() < 0.25:
            text = "3"
        self.put(f"for {counter} in range({text}):", depth)
        self.counters.append((counter, text == "1, n - 1"))
        known = list(self.numbers)
        if self.random.random() < 0.5:
            self.number(self.random.choice(["0.0", "-np.inf", self.expression()]), depth + 1)
        for _ in range(self.random.randint(1, 4)):
            self.statement(depth + 1)
        self.numbers = known
        self.counters.pop()
        return None

    def statement(self, depth: int) -> None:
        pick = self.random.random()
        if pick < 0.3 and depth < 4:
            self.loop(depth)
        elif pick < 0.45 and depth < 5:
            self.branch(depth)
        else:
            self.simple(depth)

    def branch(self, depth: int) -> None:
        if self.random.random() < 0.4:
            best = self.random.choice(self.numbers)
            value = self.element()
            self.put(f"if {value} > {best}:", depth)
            self.put(f"{best} = {value}", depth + 1)
            return
        self.put(f"if {self.element()} > {self.random.choice(['0.4', '0.7'])}:", depth)
        known = list(self.numbers)
        self.simple(depth + 1)
        self.numbers = list(known)
        if self.random.random() < 0.5:
            self.put("else:", depth)
            self.simple(depth + 1)
            self.numbers = list(known)

    def simple(self, depth: int) -> None:
        pick = self.random.random()
        if pick < 0.2:
            self.number(self.expression(), depth)
        elif pick < 0.45:
            self.put(f"{self.random.choice([*self.numbers, 'total'])} += {self.term()}", depth)
        elif pick < 0.55:
            name = self.random.choice(self.numbers)
            self.put(f"{name} = math.tanh({name} * 0.5 + {self.term()})", depth)
        else:
            place = self.place()
            op = self.random.choice(["=", "=", "+=", "-=", "*="])
            value = f"math.sin({self.expression()})" if op == "*=" else self.bounded()
            self.put(f"{place} {op} {value}", depth)

    def place(self) -> str:
        array = self.random.choice(self.stored)
        return f"{array}[{self.index(array)}]"

    # ---- expressions ----

    def index(self, array: str) -> str:
        if array in self.matrices:
            return f"{self.one_index()}, {self.one_index()}"
        return self.one_index()

    def one_index(self) -> str:
        if not self.counters or self.random.random() < 0.1:
            return self.random.choice(["0", "1", "n - 1"])
        name, inner = self.random.choice(self.counters)
        return name + (self.random.choice(["", "", " - 1", " + 1"]) if inner else "")

    def element(self) -> str:
        array = self.random.choice(self.vectors + self.matrices)
        return f"{array}[{self.index(array)}]"

    def atom(self) -> str:
        if self.random.random() < 0.35:
            return f"math.tanh({self.random.choice(self.numbers)})"
        return self.element()

    def term(self) -> str:
        shape = self.random.choice(["{} * {}", "0.3 * {} - {}", "{} * {} * 0.5", "{} + 0.1 * {}"])
        return shape.format(self.atom(), self.atom())

    def expression(self) -> str:
        fn = self.random.choice(["math.sin({})", "math.exp(-{0} * {0})", "{}", "{}"])
        inner = self.random.choice([self.term(), self.atom()])
        return fn.format(f"({inner})" if fn != "{}" else inner)

    def bounded(self) -> str:
        if self.random.random() < 0.4:
            parts = " + ".join(self.element() for _ in range(self.random.randint(2, 4)))
            return f"0.25 * ({parts})"
        return self.expression()


__all__ = ["kernel"]
