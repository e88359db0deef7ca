"""Random expressions over the variables in scope.

A kind is what the generator knows of a value: ("f",) a number, ("v", n) a vector, ("m", n, k) a
matrix, ("i", high) an int from 0 to high, ("l",) a list of numbers with at least one, ("t",) a
tuple of a number and a vector of three, ("d",) a dict with numbers at "a" and "b".

Expressions are smooth where they are evaluated, apart from maxima and the arms of conditions, and
bounded for bounded operands, so that a derivative can be told from the noise.
"""

from __future__ import annotations

import random

Kind = tuple[object, ...]

SMOOTH = ("np.sin", "np.cos", "np.tanh", "np.arctan", "np.sin", "np.tanh")
SCALAR = ("math.sin", "math.cos", "math.tanh", "math.atan")


class Expressions:
    """Writes expressions; `scope` maps the names in scope to their kinds."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.limit = 3  # how deep expressions go
        self.scope: dict[str, Kind] = {}
        self.helpers: list[tuple[str, tuple[Kind, ...], Kind | None]] = []

    def pick(self, *options):
        return self.rng.choice(options)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def names(self, kind: str, *sizes: int) -> list[str]:
        return [n for n, k in self.scope.items() if k[0] == kind and (not sizes or k[1:] == sizes)]

    def constant(self) -> str:
        return repr(round(self.rng.uniform(-1.5, 1.5), 2) or 0.5)

    def positive(self) -> str:
        return repr(round(self.rng.uniform(0.2, 1.4), 2))

    # ---- integers --------------------------------------------------------------

    def index(self, n: int) -> str:
        """A valid index of n elements; negative ones count from the end."""
        fitting = [name for name, k in self.scope.items() if k[0] == "i" and int(k[1]) < n]
        if fitting and self.chance(0.7):
            name = self.rng.choice(fitting)
            return self.pick(
                name, name, name, f"{name} - 1", f"({name} + 1) % {n}", f"-1 - {name}"
            )
        return str(self.rng.randrange(-n, n))

    def span(self, n: int, wanted: int) -> str | None:
        """A slice of n elements that selects as many as wanted."""
        options = []
        if wanted == n:
            options += [":", ":", "::-1"]
        if wanted < n:
            start = self.rng.randint(0, n - wanted)
            options.append(f"{start or ''}:{start + wanted}")
            options.append(f"{n - wanted}:")
            options.append(f":{wanted}")
        for step in (2, 3):
            if len(range(0, n, step)) == wanted:
                options.append(f"::{step}")
            if len(range(n - 1, -1, -step)) == wanted:
                options.append(f"::-{step}")
        return self.rng.choice(options) if options else None

    # ---- numbers ---------------------------------------------------------------

    def number(self, depth: int) -> str:
        depth = min(depth, self.limit)
        if depth <= 0 or self.chance(0.15):
            return self.number_leaf()
        forms = [self._unary, self._binary, self._binary, self._reduction, self._number_call]
        if self.chance(0.1):
            forms.append(self._conditional)
        return self.rng.choice(forms)(depth - 1)

    def number_leaf(self) -> str:
        options = [self.constant()]
        for name, kind in self.scope.items():
            match kind:
                case ("f",):
                    options += [name, name, name]
                case ("v", int(n)):
                    options += [f"{name}[{self.index(n)}]"] * 2
                case ("m", int(n), int(k)):
                    options.append(f"{name}[{self.index(n)}, {self.index(k)}]")
                case ("i", _):
                    options.append(f"0.3 * {name}")
                case ("l",):
                    options += [f"{name}[-1]", f"{name}[0]"]
                case ("t",):
                    options += [f"{name}[0]", f"{name}[1][{self.index(3)}]"]
                case ("d",):
                    options.append(name + self.pick('["a"]', '["b"]'))
        return self.rng.choice(options)

    def _unary(self, depth: int) -> str:
        e = self.number(depth)
        return self.pick(
            f"{self.rng.choice(SMOOTH)}({e})",
            f"{self.rng.choice(SCALAR)}({e})",
            f"-({e})",
            f"np.sqrt(1.0 + ({e}) ** 2)",
            f"np.exp(-({e}) ** 2)",
            f"np.log(1.5 + np.sin({e}))",
            f"math.exp(math.sin({e}))",
            f"abs({e})",
        )

    def _binary(self, depth: int) -> str:
        a, b = self.number(depth), self.number(depth)
        return self.pick(
            f"{a} + {b}",
            f"{a} - ({b})",
            f"({a}) * ({b})",
            f"({a}) * ({b})",
            f"({a}) / (2.0 + ({b}) ** 2)",
            f"(1.5 + np.cos({a})) ** np.sin({b})",
            f"max({a}, {b})",
            f"np.arctan2({a}, 1.1 + np.sin({b}))",
        )

    def _conditional(self, depth: int) -> str:
        a, b = self.number(depth), self.number(depth)
        return f"({a} if {self.condition()} else {b})"

    def _reduction(self, depth: int) -> str:
        n = self.rng.randint(2, 4)
        v = self.vector(n, depth)
        return self.pick(
            f"np.sum({v})",
            f"({v}).sum()",
            f"np.mean({v})",
            f"np.dot({v}, {self.vector(n, depth)})",
            f"({v}) @ ({self.vector(n, depth)})",
            f"np.max({v})",
            f"np.linalg.norm({v})",
            f"np.prod({v})",
            f"sum([z * z for z in {v}])",
        )

    def _number_call(self, depth: int) -> str:
        fitting = [h for h in self.helpers if h[2] == ("f",)]
        return self.call(*self.rng.choice(fitting)[:2]) if fitting else self._binary(depth)

    def call(self, name: str, params: tuple[Kind, ...]) -> str:
        return f"{name}({', '.join(self.value(kind, 0) for kind in params)})"

    def condition(self) -> str:
        ints = self.names("i")
        if ints and self.chance(0.4):
            name = self.rng.choice(ints)
            return self.pick(f"{name} % 2 == 0", f"{name} > 1", f"{name} == 1", f"{name} < 2")
        a, b = self.number(1), self.constant()
        test = f"{a} {self.pick('<', '>', '<=', '>=')} {b}"
        if self.chance(0.2):
            test = f"{test} {self.pick('and', 'or')} {self.number_leaf()} < {self.constant()}"
        return f"not ({test})" if self.chance(0.1) else test

    # ---- vectors and matrices --------------------------------------------------

    def vector(self, n: int, depth: int) -> str:
        depth = min(depth, self.limit)
        if depth <= 0 or self.chance(0.2):
            return self.vector_leaf(n)
        forms = [self._vector_unary, self._vector_binary, self._vector_binary, self._vector_other]
        return self.rng.choice(forms)(n, depth - 1)

    def views(self, n: int) -> list[str]:
        """Expressions that name n elements of something in scope without computing."""
        options = []
        for name, kind in self.scope.items():
            match kind:
                case ("v", int(size)):
                    part = self.span(size, n)
                    options += [name] * (2 * (size == n)) + ([f"{name}[{part}]"] if part else [])
                case ("m", int(rows), int(columns)):
                    if columns == n:
                        options.append(f"{name}[{self.index(rows)}]")
                    if rows == n:
                        options.append(f"{name}[:, {self.index(columns)}]")
                        options.append(f"{name}.T[{self.index(columns)}]")
                    if rows == columns == n:
                        options.append(f"np.diag({name})")
                case ("t",) if n == 3:
                    options.append(f"{name}[1]")
        return options

    def vector_leaf(self, n: int) -> str:
        options = self.views(n)
        if not options or self.chance(0.1):
            options = [f"np.full({n}, {self.number_leaf()})"]
            options.append(f"np.array([{', '.join(self.number_leaf() for _ in range(n))}])")
            options.append(f"np.linspace(0.1, {self.positive()}, {n})")
        return self.rng.choice(options)

    def _vector_unary(self, n: int, depth: int) -> str:
        v = self.vector(n, depth)
        return self.pick(
            f"{self.rng.choice(SMOOTH)}({v})",
            f"{self.rng.choice(SMOOTH)}({v})",
            f"-({v})",
            f"np.sqrt(1.0 + ({v}) ** 2)",
            f"np.exp(-({v}) ** 2)",
            f"np.cumsum({v})",
            f"({v})[::-1]",
            f"np.roll({v}, 1)",
            f"np.abs({v})",
            f"np.sort({v})",
        )

    def _vector_binary(self, n: int, depth: int) -> str:
        a = self.vector(n, depth)
        b = self.number(depth) if self.chance(0.4) else self.vector(n, depth)
        return self.pick(
            f"{a} + {b}",
            f"{a} - ({b})",
            f"({a}) * ({b})",
            f"({b}) * ({a})",
            f"({a}) / (2.0 + ({b}) ** 2)",
            f"np.maximum({a}, {b})",
            f"np.where({a} > {self.constant()}, {a}, {b})",
        )

    def _vector_other(self, n: int, depth: int) -> str:
        k = self.rng.randint(2, 4)
        picks = [self.rng.randrange(k) for _ in range(n)]
        cut = self.rng.randint(1, n - 1) if n > 1 else 0
        options = [
            f"({self.matrix(n, k, depth - 1)}) @ ({self.vector(k, depth - 1)})",
            f"({self.vector(k, depth - 1)}) @ ({self.matrix(k, n, depth - 1)})",
            f"np.sum({self.matrix(k, n, depth - 1)}, axis=0)",
            f"({self.matrix(n, k, depth - 1)}).sum(axis=1)",
            f"({self.vector(k, depth)})[np.array({picks})]",
        ]
        if cut:
            parts = self.vector(cut, depth), self.vector(n - cut, depth)
            options.append(f"np.concatenate(({parts[0]}, {parts[1]}))")
        fitting = [h for h in self.helpers if h[2] == ("v", n)]
        if fitting:
            options.append(self.call(*self.rng.choice(fitting)[:2]))
        return self.rng.choice(options)

    def matrix(self, n: int, k: int, depth: int) -> str:
        options = self.names("m", n, k) * 2 + [f"{name}.T" for name in self.names("m", k, n)]
        if depth <= 0 and options:
            return self.rng.choice(options)
        v, w = self.vector(n, depth - 1), self.vector(k, depth - 1)
        options.append(f"np.outer({v}, {w})")
        options.append(f"({v})[:, None] * ({w})")
        if depth > 0:
            m = self.matrix(n, k, depth - 1)
            options.append(f"{self.rng.choice(SMOOTH)}({m})")
            options.append(f"({m}) * ({w})")
            options.append(f"({m}) + ({v})[:, None]")
            options.append(f"({m}) * {self.constant()}")
        return self.rng.choice(options)

    def value(self, kind: Kind, depth: int) -> str:
        match kind:
            case ("f",):
                return self.number(depth)
            case ("v", int(n)):
                return self.vector(n, depth)
            case ("m", int(n), int(k)):
                return self.matrix(n, k, depth)
            case ("i", int(high)):
                return str(self.rng.randint(0, high))
            case _:
                raise ValueError(kind)

    def squashed(self, kind: Kind, depth: int, tight: bool) -> str:
        """A value that stays bounded when the statement runs many times."""
        e = self.value(kind, depth)
        forms = [f"np.tanh({e})", f"np.sin({e})", f"0.5 * np.tanh({e})", f"np.cos({e}) * 0.9"]
        return self.rng.choice(forms if tight else [*forms, e, e, e, f"0.5 * ({e})"])
