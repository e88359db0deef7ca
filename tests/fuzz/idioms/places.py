"""What writes into memory: stores, in-place operators, views, library functions, containers."""

from __future__ import annotations

from tests.fuzz.idioms.helpers import CALLS
from tests.fuzz.idioms.scope import Scope

SLICES = (("1:-1", "2:", ":-2"), ("1:", ":-1", "1:"), (":-1", "1:", ":-1"), ("::2", "1::2", ":2"),
          ("::-2", ":2", "2:"), ("2:", ":2", ":2"))  # fmt: skip


class Places(Scope):
    """Statements that write."""

    helpers: list[str]

    def target(self, kind: str) -> str:
        return self.some(kind) or {"v": "x", "M": "A"}[kind]

    def store(self) -> None:
        name = self.target(self.pick("v", "v", "v", "M"))
        if self.kinds.get(name) == "M":
            return self.store_matrix(name)
        own, other, third = self.rng.choice(SLICES)
        u = self.v(0)
        choices = [
            f"{self.element(name)} {self.pick('=', '+=', '-=', '*=')} {self.near(self.s(1))}",
            f"{self.element(name)} = {self.s(0)} * {self.element(name)}",
            f"{self.element(name)}, {self.element(name)} = {self.s(0)}, {self.s(0)}",
            f"{name}[{own}] = 0.5 * ({name}[{other}] + ({u})[{third}])",
            f"{name}[{own}] {self.pick('+=', '-=', '*=')} {name}[{other}]",
            f"{name}[{own}] {self.pick('=', '+=', '*=')} {self.s(0)}",
            f"{name}[::-1] {self.pick('=', '+=')} {self.near(self.v(1))}",
            f"{name}[{self.pick(':', '...')}] = {self.near(self.v(1))}",
            f"{name}[{name} > 0.3] {self.pick('=', '*=')} {self.s(0)}",
            f"{name}[[0, 2]] {self.pick('=', '+=', '*=')} {self.s(0)}",
            f"{name}[{own}] = np.sin({name}[{own}])",
        ]
        for i in self.names("I"):
            choices += [
                f"{name}[{i}] = {self.v(0)}",
                f"{name}[{i}] += {self.v(0)}",
                f"np.add.at({name}, {i}, {self.near(self.v(0))})",
                f"{name}[{i}[{self.index(4)}]] += {self.s(0)}",
            ] * 2
        for b in self.names("B"):
            choices += [
                f"{name}[{b}] {self.pick('=', '+=')} {self.s(0)}",
                f"{name}[{b}] = ({self.v(0)})[{b}]",
                f"{name}[~{b}] *= {self.constant()}",
            ]
        self.put(self.pick(*choices))
        return None

    def store_matrix(self, name: str) -> None:
        own, other, _ = self.rng.choice(SLICES)
        choices = [
            f"{self.element(name)} {self.pick('=', '+=', '-=', '*=')} {self.near(self.s(1))}",
            f"{name}[{self.index(4)}] {self.pick('=', '+=', '*=')} {self.w(0)}",
            f"{name}[{self.index(4)}, :] = {self.near(self.w(1))}",
            f"{name}[:, {self.index(3)}] {self.pick('=', '-=', '*=')} {self.near(self.v(1))}",
            f"{name}[1:-1, 1:-1] = 0.25 * ({name}[:-2, 1:-1] + {name}[2:, 1:-1] + "
            f"{name}[1:-1, :-2] + {name}[1:-1, 2:])",
            f"{name}[1:, :-1] += {name}[:-1, 1:] * {self.constant()}",
            f"{name}[{own}] = {name}[{other}]" if own in ("1:", ":-1") else f"{name}[...] *= 0.5",
            f"{name}[::2, ::-1] *= {self.s(0)}",
            f"{name}[{name} < -0.4] = {self.s(0)}",
            f"{name}[[0, 2], [1, 1]] += {self.s(0)}",
            f"{name}[[0, 3]] = {name}[[3, 0]]",
            f"{name}.T[{self.index(3)}] += {self.v(0)}",
            f"{name}[{self.index(4)}][{self.index(3)}] += {self.s(0)}",
            f"np.fill_diagonal({name}, {self.s(0)})",
        ]
        self.put(self.pick(*choices))

    def whole(self) -> None:
        """In-place operators on names."""
        kind = self.pick("v", "v", "M", "Q", "C", "F", "Z", "w")
        name = self.some(kind)
        if name is None or (name in self.frozen and self.params.get(name) != kind):
            return self.store()
        if kind == "F":
            value = self.pick(self.constant(), self.s(0), name)
        elif kind == "Z":
            value = self.pick(self.constant(), self.v(0), f"(0.5 + {self.s(0)} * 1j)")
        else:
            value = self.pick(self.s(0), self.near(self.of(kind, 1)), name)
        op = self.pick("+=", "-=", "*=")
        self.put(f"{name} {op} {value}")
        return None

    def library_write(self) -> None:
        v, u = self.target("v"), self.v(0)
        m = self.target("M")
        self.put(
            self.pick(
                f"np.multiply({v}, {self.s(0)}, out={v})",
                f"np.add({v}, {u}, out={v})",
                f"np.sin({u}, out={v})",
                f"np.maximum({v}, 0.1, out={v})",
                f"np.copyto({v}, {self.near(self.v(1))})",
                f"{v}.fill({self.s(0)})",
                f"{v}.sort()",
                f"np.put({v}, [0, 2], {self.s(0)})",
                f"np.dot({self.m(0)}, {self.w(0)}, out={v})",
                f"np.cumsum({u}, out={v})",
                f"np.clip({v}, -0.6, 0.7, out={v})",
                f"np.matmul({self.m(0)}, {self.w(0)}, out={v})",
                f"np.exp(-{m} ** 2, out={m})",
                f"np.subtract({v}[1:], {v}[:-1], out={v}[1:])",
                f"np.add.at({v}, [0, 1, 0], {self.s(0)})",
                f"np.copyto({v}, {u}, where={v} > 0.2)",
                f"np.sum({m}, axis=1, out={v})",
                f"np.subtract.at({v}, np.array([1, 1]), np.array([{self.s(0)}, {self.s(0)}]))",
            )
        )

    def alias(self) -> None:
        """Another name for memory, and a write through it."""
        v, m = self.target("v"), self.target("M")
        value, kind = self.rng.choice(
            [
                (v, "v"), (f"{v}[:]", "v"), (f"{v}[::-1]", "v"), (f"{m}[:, {self.index(3)}]", "v"),
                (f"{v}[1:]", "w"), (f"{v}[:-1]", "w"), (f"{m}[{self.index(4)}]", "w"),
                (m, "M"), (f"{m}[::-1]", "M"), (f"{m}.T.T", "M"), (f"{m}.view()", "M"),
                (f"{m}.reshape(3, 4).T", "M"), (f"np.asarray({v})", "v"),
                (f"{v}.reshape(-1)", "v"), (f"{m}.ravel()[:4]", "v"),
                (f"{m}.reshape(-1)[2:6]", "v"), (f"{v}[None, :][0]", "v"),
                (f"np.atleast_1d({v})", "v"), (f"np.squeeze({v}[:, None])", "v"),
            ]
        )  # fmt: skip
        name = self.new(kind, "view")
        self.put(f"{name} = {value}")
        if self.chance(0.75):
            self.put(
                self.pick(
                    f"{self.element(name)} = {self.near(self.s(1))}",
                    f"{name} *= {self.s(0)}",
                    f"{name} += {self.near(self.of(kind, 1))}",
                    f"{name}[1:] += {name}[:-1]",
                    f"{name}[...] = {self.near(self.of(kind, 1))}",
                )
            )

    # ---- containers ----

    def container(self) -> None:
        kind = self.pick("L", "D", "S", "T")
        a, b, c = self.near(self.v(1)), self.v(0), self.v(0)
        match kind:
            case "L":
                value = self.pick(
                    f"[{a}, {b}, {c}]",
                    f"[{b}.copy(), {a}]",
                    f"[{a} for _ in range(3)]",
                    f"[t * {b} for t in {self.w(0)}]",
                    f"[{b} * t for t in range(3)]",
                )
            case "D":
                value = self.pick(f'{{"a": {a}, "b": {b}}}', f"dict(a={a}, b={b}.copy())")
            case "S":
                value = f"State({a}, {b}.copy(), {self.s(0)})"
            case _:
                value = f"({a}, {b})"
        self.put(f"{self.new(kind, 'box')} = {value}")

    def container_use(self) -> None:
        kind = self.pick("L", "D", "S", "T")
        name = self.some(kind)
        if name is None:
            return self.container()
        s, v = self.s(0), self.near(self.v(1))
        at = self.pick("0", "1", "-1")
        key = self.pick("a", "b")
        match kind:
            case "L":
                self.put(*self.rng.choice([
                    [f"{name}[{at}][{self.index(4)}] = {s}"], [f"{name}[{at}] = {v}"],
                    [f"{name}[{at}] += {v}"], [f"{name}[{at}] *= {s}"], [f"{name}.append({v})"],
                    [f"for part in {name}:", f"    part *= {s}"],
                    [f"for part in {name}:", f"    part[{self.index(4)}] += {s}"],
                    [f"{name}[0], {name}[1] = {name}[1], {name}[0]"],
                    [f"{self.new('v')} = sum({name})"], [f"{self.new('v')} = {name}[{at}]"],
                    [f"{self.new('L')} = [np.sin(part) for part in {name}]"],
                    [f"{self.new('v')} = np.stack({name}).sum(axis=0)"],
                    [f"{name}.append({name}.pop() * {s})"],
                ]))  # fmt: skip
            case "D":
                self.put(*self.rng.choice([
                    [f'{name}["{key}"][{self.index(4)}] += {s}'], [f'{name}["{key}"] = {v}'],
                    [f'{name}["{key}"] *= {s}'], [f'{self.new("v")} = {name}["{key}"]'],
                    [f"for key in {name}:", f"    {name}[key] = {name}[key] * {s}"],
                    [f"for key, part in {name}.items():", f"    part += {s}"],
                    [f"{self.new('s')} = sum(part.sum() for part in {name}.values())"],
                    [f'{self.new("v")} = {name}.get("{key}")'],
                ]))  # fmt: skip
            case "S":
                self.put(*self.rng.choice([
                    [f"{name}.u += {name}.v * {s}"], [f"{name}.u[1:] = {name}.v[:-1]"],
                    [f"{name}.v[{self.index(4)}] = {s}"], [f"{self.new('s')} = {name}.energy()"],
                    [f"{self.new('v')} = {name}.u"], [f"{name}.u *= {name}.e"],
                    [f"{name}.kick({s})"], [f"np.sin({name}.u, out={name}.v)"],
                ]))  # fmt: skip
            case _:
                u, w = self.new("v"), self.new("v")
                self.put(*self.rng.choice([
                    [f"{u}, {w} = {name}"], [f"{w}, {u} = {name}", f"{u} += {w}"],
                    [f"{name}[0][{self.index(4)}] = {s}", f"{u}, {w} = {name}[0], {name}[-1]"],
                    [f"{u}, *_ = {name}", f"{w} = {name}[1] * {s}"],
                ]))  # fmt: skip
        return None

    # ---- helpers ----

    def call(self) -> None:
        name = self.rng.choice(sorted(CALLS))
        if name not in self.helpers:
            self.helpers.append(name)
        arguments, result = CALLS[name]
        given = []
        for kind in arguments:
            if kind == "V":  # it writes into this one
                given.append(self.target("v"))
            elif kind == "W":
                given.append(self.target("M"))
            else:
                given.append("3" if kind == "k" else self.of(kind, self.rng.randint(0, 1)))
        text = f"{name}({', '.join(given)})"
        if result == "":
            self.put(text)
        elif result == "sv":
            self.put(f"{self.new('s')}, {self.new('v')} = {text}")
        else:
            self.put(f"{self.new(result)} = {text}")
            if self.chance(0.3) and result == "v":
                self.put(f"{self.some('v')}[{self.index(4)}] *= {self.constant()}")
