"""Random statements: what users do to numbers and arrays in loops and branches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fuzz.expressions import Expressions, Kind


class Statements(Expressions):
    """Writes statements, keeping track of what is in scope."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.lines: list[str] = []
        self.indent = 1
        self.counter = 0
        self.loops = 0
        self.budget = 0
        self.returns_number = True
        self.fixed: set[str] = set()  # loop variables and counters, which stay as they are

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    @contextmanager
    def block(self) -> Iterator[None]:
        """What is defined inside is out of scope after it: it may never have run."""
        outer = dict(self.scope)
        self.indent += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self.indent -= 1
        self.scope = outer

    @property
    def tight(self) -> bool:
        return self.loops > 0

    def body(self, count: int) -> None:
        for _ in range(count):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement()

    def statement(self) -> None:
        simple = [
            (4, self.assign_number),
            (3, self.assign_vector),
            (1, self.assign_matrix),
            (4, self.store),
            (3, self.update),
            (1, self.alias),
            (1, self.view),
            (1, self.swap),
            (2, self.container),
            (1, self.mutate),
            (1, self.unpack),
            (1, self.function_value),
        ]
        nested = [(3, self.loop), (1, self.while_loop), (3, self.branch), (1, self.rows)]
        if self.loops:
            nested.append((1, self.leave))
        forms = simple + (nested if self.indent < 4 else [])
        weights = [w for w, _ in forms]
        self.rng.choices([form for _, form in forms], weights)[0]()

    # ---- simple statements -----------------------------------------------------

    def target(self, kind: Kind, prefix: str) -> str:
        """A variable to assign: one in scope with the same kind, or a new one."""
        old = [n for n, k in self.scope.items() if k == kind and n not in self.fixed]
        return self.rng.choice(old) if old and self.chance(0.55) else self.fresh(prefix)

    def assign(self, kind: Kind, prefix: str, depth: int) -> None:
        value = self.squashed(kind, depth, self.tight)
        name = self.target(kind, prefix)
        self.line(f"{name} = {value}")
        self.scope[name] = kind

    def assign_number(self) -> None:
        self.assign(("f",), "s", 3)

    def assign_vector(self) -> None:
        n = self.rng.randint(2, 4)
        if self.chance(0.25):
            name = self.fresh("v")
            self.line(f"{name} = {self.pick(f'np.zeros({n})', f'np.ones({n})')}")
            self.scope[name] = ("v", n)
            return
        self.assign(("v", n), "v", 2)

    def assign_matrix(self) -> None:
        n, k = self.rng.randint(2, 3), self.rng.randint(2, 3)
        if self.chance(0.3):
            name = self.fresh("m")
            self.line(f"{name} = np.zeros(({n}, {k}))")
            self.scope[name] = ("m", n, k)
            return
        self.assign(("m", n, k), "m", 2)

    def store(self) -> None:
        """`base[key] = value` and `base[key] op= value` with every kind of key."""
        arrays = [(n, k) for n, k in self.scope.items() if k[0] in "vm" and n not in self.fixed]
        if not arrays:
            return self.assign_vector()
        name, kind = self.rng.choice(arrays)
        key, stored = self.key(name, kind)
        value_kind = ("f",) if stored is None or self.chance(0.3) else stored
        self.write(f"{name}[{key}]", value_kind)
        return None

    def key(self, name: str, kind: Kind) -> tuple[str, Kind | None]:
        """A key, and the kind of what it selects; None where only a number fits."""
        if kind[0] == "m":
            n, k = int(kind[1]), int(kind[2])
            return self.pick(
                (f"{self.index(n)}, {self.index(k)}", None),
                (self.index(n), ("v", k)),
                (f":, {self.index(k)}", ("v", n)),
                ("...", kind),
                (f"{name} > {self.constant()}", None),
                ("1:", ("m", n - 1, k)),
            )
        n = int(kind[1])
        wanted = self.rng.randint(1, n)
        part = self.span(n, wanted) or ":"
        picks = [self.rng.randrange(n) for _ in range(2)]
        distinct = self.rng.sample(range(n), 2)
        return self.pick(
            (self.index(n), None),
            (self.index(n), None),
            (part, ("v", wanted if part != ":" else n)),
            (":", kind),
            (f"{name} > {self.constant()}", None),
            (f"np.array({distinct})", ("v", 2)),
            (f"np.array({picks})", ("v", 2)),
            (f"{distinct}", ("v", 2)),
        )

    def write(self, place: str, kind: Kind) -> None:
        op = self.pick("=", "=", "+=", "-=", "*=", "/=")
        if op == "*=":
            self.line(f"{place} *= 0.4 + 0.5 * np.sin({self.value(kind, 1)})")
        elif op == "/=":
            self.line(f"{place} /= 1.5 + 0.4 * np.cos({self.value(kind, 1)})")
        elif op == "=":
            self.line(f"{place} = {self.squashed(kind, 2, self.tight)}")
        else:
            self.line(f"{place} {op} {self.squashed(kind, 2, True)}")

    def update(self) -> None:
        """`name op= value`: rebinds a number, writes to an array."""
        names = [(n, k) for n, k in self.scope.items() if k[0] in "fvm" and n not in self.fixed]
        if names:
            name, kind = self.rng.choice(names)
            whole = "[...]" if kind[0] != "f" and self.chance(0.1) else ""
            self.write(name + whole, kind)

    def alias(self) -> None:
        arrays = [(n, k) for n, k in self.scope.items() if k[0] in "vm"]
        if arrays:
            name, kind = self.rng.choice(arrays)
            target = self.target(kind, str(kind[0]))
            self.line(f"{target} = {name}")
            self.scope[target] = kind

    def view(self) -> None:
        n = self.rng.randint(2, 3)
        options = [v for v in self.views(n) if "diag" not in v]
        for name, kind in self.scope.items():
            if kind[0] == "m" and int(kind[1]) * int(kind[2]) == n * 2:
                options.append(f"{name}.ravel()[:{n}]")
                options.append(f"{name}.reshape(2, {n})[1]")
        if options:
            target = self.target(("v", n), "v")
            self.line(f"{target} = {self.rng.choice(options)}")
            self.scope[target] = ("v", n)

    def swap(self) -> None:
        """`a, b = b, a` for names of one kind, or for two elements."""
        kind = self.pick(("f",), ("v", 2), ("v", 3), ("v", 4))
        names = [n for n, k in self.scope.items() if k == kind and n not in self.fixed]
        if len(names) >= 2:
            a, b = self.rng.sample(names, 2)
            return self.line(f"{a}, {b} = {b}, {a}")
        vectors = self.names("v")
        if vectors:
            name = self.rng.choice(vectors)
            i, j = (self.index(int(self.scope[name][1])) for _ in range(2))
            self.line(f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]")
        return None

    def container(self) -> None:
        name = self.fresh("c")
        lists = self.names("l")
        dicts = self.names("d")
        if lists and self.chance(0.6):
            self.line(f"{self.rng.choice(lists)}.append({self.squashed(('f',), 1, self.tight)})")
        elif dicts and self.chance(0.6):
            place = self.rng.choice(dicts) + self.pick('["a"]', '["b"]')
            self.write(place, ("f",))
        elif self.chance(0.4):
            self.line(f"{name} = [{self.number(1)}, {self.number(1)}]")
            self.scope[name] = ("l",)
            if self.chance(0.5):
                self.gather(name)
        elif self.chance(0.5):
            self.line(f'{name} = {{"a": {self.number(1)}, "b": {self.number(1)}}}')
            self.scope[name] = ("d",)
        else:
            self.line(f"{name} = ({self.number(1)}, {self.vector(3, 1)})")
            self.scope[name] = ("t",)

    def gather(self, name: str) -> None:
        """A loop that makes a list longer, as a simulation keeps its history."""
        counter = self.fresh("i")
        self.fixed.add(counter)
        self.line(f"for {counter} in range({self.rng.randint(1, 3)}):")
        with self.block():
            self.scope[counter] = ("i", 2)
            self.line(f"{name}.append({self.squashed(('f',), 1, True)})")
            if self.chance(0.3):
                self.line(f"{name}[0] = {name}.pop() * {name}[-1]")

    def mutate(self) -> None:
        """A call of a helper that writes into its argument."""
        fitting = [
            (h, name)
            for h in self.helpers
            for name in self.scope
            if h[2] is None and self.scope[name] == h[1][0] and name not in self.fixed
        ]
        if fitting:
            helper, name = self.rng.choice(fitting)
            self.line(f"{helper[0]}({name}, {self.number(1)})")

    def unpack(self) -> None:
        fitting = [h for h in self.helpers if h[2] == ("t",)]
        a, b = self.fresh("s"), self.fresh("v")
        if fitting:
            self.line(f"{a}, {b} = {self.call(*self.rng.choice(fitting)[:2])}")
        else:
            self.line(f"{a}, {b} = {self.number(1)}, {self.vector(3, 1)}")
        self.scope[a], self.scope[b] = ("f",), ("v", 3)

    def function_value(self) -> None:
        """A nested function that reads a variable of its surroundings."""
        numbers = self.names("f")
        if not numbers or self.indent > 1:
            return
        captured, name, result = self.rng.choice(numbers), self.fresh("g"), self.fresh("s")
        self.line(f"{name} = lambda z: np.sin(z) * {captured} + {self.constant()}")
        self.line(f"{result} = {name}({self.number(1)}) + {name}({self.number_leaf()})")
        self.scope[result] = ("f",)

    # ---- nested statements -----------------------------------------------------

    def loop(self) -> None:
        name = self.fresh("i")
        trips = self.rng.randint(1, 4)
        head, high = self.pick(
            (f"range({trips})", trips - 1),
            (f"range({trips})", trips - 1),
            (f"range(1, {trips + 1})", trips),
            (f"range({trips - 1}, -1, -1)", trips - 1),
            (f"range(0, {trips + 2}, 2)", trips + 1),
        )
        vectors = self.names("v")
        element = None
        if vectors and self.chance(0.35):
            vector = self.rng.choice(vectors)
            element = self.fresh("e")
            high = int(self.scope[vector][1]) - 1
            head = self.pick(f"enumerate({vector})", f"zip(range({high + 1}), {vector})")
        self.line(f"for {name}{f', {element}' if element else ''} in {head}:")
        self.fixed.add(name)
        with self.block():
            self.scope[name] = ("i", high)
            if element:
                self.scope[element] = ("f",)
            self.loops += 1
            self.body(self.rng.randint(1, 4))
            self.loops -= 1

    def rows(self) -> None:
        """A loop over the rows of a matrix, which are views."""
        matrices = self.names("m")
        if not matrices:
            return
        matrix, row = self.rng.choice(matrices), self.fresh("r")
        columns = int(self.scope[matrix][2])
        self.line(f"for {row} in {matrix}:")
        with self.block():
            self.scope[row] = ("v", columns)
            self.loops += 1
            self.write(f"{row}[{self.index(columns)}]", ("f",))
            self.body(2)
            self.loops -= 1

    def while_loop(self) -> None:
        counter = self.fresh("k")
        self.fixed.add(counter)
        self.line(f"{counter} = 0")
        test = f"{counter} < {self.rng.randint(1, 4)}"
        if self.chance(0.5):
            test += f" and ({self.condition()})"
        self.line(f"while {test}:")
        with self.block():
            self.line(f"{counter} += 1")
            self.loops += 1
            self.body(self.rng.randint(1, 3))
            self.loops -= 1

    def branch(self) -> None:
        self.line(f"if {self.condition()}:")
        shared = self.pick(None, ("f",), ("v", 3))
        name = self.fresh("w")
        with self.block():
            self.body(self.rng.randint(1, 3))
            if shared:
                self.line(f"{name} = {self.choice_of(shared)}")
        if self.chance(0.25):
            self.line(f"elif {self.condition()}:")
            with self.block():
                self.body(1)
                if shared:
                    self.line(f"{name} = {self.choice_of(shared)}")
        if shared or self.chance(0.5):
            self.line("else:")
            with self.block():
                self.body(1)
                if shared:
                    self.line(f"{name} = {self.choice_of(shared)}")
        if shared:
            self.scope[name] = shared

    def choice_of(self, kind: Kind) -> str:
        """A value for a variable bound in every arm: often another variable itself."""
        names = [n for n, k in self.scope.items() if k == kind]
        return self.rng.choice(names) if names and self.chance(0.6) else self.value(kind, 2)

    def leave(self) -> None:
        self.line(f"if {self.condition()}:")
        with self.block():
            if self.chance(0.3):
                self.body(1)
            exits = ["break", "continue", "continue"]
            self.line(self.rng.choice(exits + [f"return {self.number(1)}"] * self.returns_number))
