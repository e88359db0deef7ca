"""Short recipes of several lines each, as they stand in textbooks and solvers."""

from __future__ import annotations

from tests.fuzz.idioms.places import Places

# Module-level constants and helpers that recipes name.
CONSTANTS = """\
WEIGHTS = np.array([0.4, -0.3, 0.8, 0.2])
GAIN = 0.6
LIMITS = (-0.9, 0.8)


def fold(fn, values, start):
    out = start
    for value in values:
        out = fn(out, value)
    return out


def make_scaler(factor):
    def scale(value):
        return value * factor

    return scale


class Filter:
    def __init__(self, keep, size):
        self.keep = keep
        self.memory = np.zeros(size)

    def __call__(self, value):
        self.memory = self.keep * self.memory + (1.0 - self.keep) * value
        return self.memory

    def reset(self, level):
        self.memory[:] = level


"""


class Recipes(Places):
    """Statements of several lines."""

    loops: int

    def recipe(self) -> None:
        if {"i", "j", "l"} & set(self.counters):
            return self.store()
        v, m, s = self.target("v"), self.target("M"), self.s(0)
        t, u, out = self.new("s", "t"), self.s(0), self.new("v", "r")
        q, w = self.new("Q", "c"), self.new("w")
        choices = [
            # Cholesky and substitution with slices that depend on counters
            [f"{q} = 2.0 * np.eye(n) + 0.2 * {self.near(f'({m}) @ ({m}).T')}",
             "for i in range(n):", "    for j in range(i + 1):",
             f"        t = {q}[i, j] - {q}[i, :j] @ {q}[j, :j]",
             f"        {q}[i, j] = np.sqrt(abs(t) + 1.0) if i == j else t / {q}[j, j]",
             f"    {q}[i, i + 1:] = 0.0"],
            [f"{out} = {v}.copy()", "for i in range(n):",
             f"    {out}[i] = {out}[i] - 0.3 * {out}[:i].sum()", f"    {out}[i:] *= {s}"],
            [f"{out} = np.zeros(n)", "for i in range(n):",
             f"    {out}[: i + 1] += {v}[n - 1 - i :] * {s}"],
            [f"{out} = np.zeros(n + 2)", f"{out}[1:-1] = {v}", f"{out}[0], {out}[-1] = {s}, {u}",
             "for _ in range(2):", f"    {out}[1:-1] += 0.1 * np.diff({out}, 2)",
             f"{out} = {out}[1:-1]"],
            # integers and conditions that come from numbers
            [f"{t} = 0.0", f"for i in np.argsort({v}):", f"    {t} = 0.7 * {t} + {v}[i]",
             f"    {v}[i] = {t}"],
            [f"{t} = {v}[np.argmax({v})] * {s}", f"{v}[np.argmin({v})] = {t}"],
            [f"{t} = {s}", f"for i in np.where({v} > 0.05)[0]:", f"    {t} += {v}[i] ** 2"],
            [f"{t} = {v}[int(abs({s}) * 1.7) % n] + {u}", f"{v}[int(abs({u}) * 1.3) % n] *= {t}"],
            [f"{out} = ({v} > 0.07) * {v} + ({v} <= 0.07) * {s}"],
            ["half = n // 2", f"{t} = {v}[:half] @ {v}[half:]", f"{v}[half:] = {v}[:half] * {t}"],
            [f"mask = ({v} > -0.4) & ({v} < 0.6)", f"{t} = {v}[mask].sum()", f"{v}[~mask] = {t}"],
            # functions as values
            [f"{t} = fold(lambda a, b: 0.5 * a + b * {s}, {v}, 0.1)"],
            [f"scale = make_scaler({s})", f"{out} = scale({v}) + scale({self.v(0)})"],
            [f"{t} = fold(max, [{s}, {u}, {v}[1]], -1.0)"],
            ["for fn in (np.sin, np.tanh):", f"    {v}[...] = fn({v}) * {s}"]
            if self.chance(0.2)
            else [f"{out} = np.sin({v}) * WEIGHTS + GAIN"],
            [f"low = Filter({s}, n)", f"for e in ({v}, {self.v(0)}):", "    low(e)",
             f"low.reset({u})", f"{out} = low({v}) * 2.0"],
            [f"{out} = np.clip({v}, *LIMITS) * WEIGHTS[::-1]"],
            # state in tuples
            [f"pair = ({v}.copy(), {self.v(0)} * 0.5)", "for step in range(3):",
             "    pair = (pair[1], 0.6 * pair[0] + 0.1 * pair[1] ** 2)", f"{out} = pair[0]"],
            [f"a, b, c = {s}, {u}, {self.s(0)}", "for step in range(3):",
             "    a, b, c = b, c, 0.4 * a + 0.3 * b * c", f"{t} = a * b + c"],
            [f"olds = [{v}.copy(), {v} * {s}]", "for step in range(2):",
             "    olds.append(1.2 * olds[-1] - 0.3 * olds[-2])", f"{out} = olds[-1]"],
            [f"table = [[{s}, {u}], [{self.s(0)}, {self.s(0)}]]", "for row in table:",
             "    for e in range(2):", "        row[e] = row[e] * 0.5 + row[0]",
             f"{t} = table[0][1] * table[1][0]"],
            # broadcasting, views of views
            [f"{m} += {self.w(0)}", f"{m}[...] = {m} * {v}[:, None]"],
            [f"wide = {v}[:, None]", f"wide[1:] *= {s}", f"{m} *= wide"],
            [f"part = {m}[1:, :2]", "inner = part[::-1].T", f"inner[0] = {self.w(0)} * {s}"],
            [f"{m}.T[1:][0, 1:] += {s}"],
            [f"rows = np.split({m} + 0.0, 2)", f"rows[0][1] *= {s}", f"{w} = rows[0].sum(axis=0)"],
            [f"flat = {m}.reshape(-1)", f"flat[2:5] = flat[5:8] * {s}", f"flat[::4] += {u}"],
            [f"{m}[:, 0], {m}[:, 1] = {m}[:, 1] * {s}, {m}[:, 0].copy()"],
            [f"{m}[1:] -= {m}[:-1]", f"{m}[:, ::-1][0] *= {s}"],
            [f"for (i, j), e in np.ndenumerate({m}):", f"    {v}[i] += 0.1 * e * {s}"],
            [f"{q} = np.diag({v}) + np.diag({v}[1:], 1) * {s}", f"{out} = {q} @ {v}"],
            # iterations
            [f"{t} = 1.0", "for it in range(20):", f"    new = np.cos({t}) * 0.5 + 0.2 * {s}",
             f"    if abs(new - {t}) < 1e-3:", "        break", f"    {t} = new"],
            [f"{out} = {v} / (1.0 + np.linalg.norm({v}))", "for it in range(3):",
             f"    {out} = ({m} @ ({m}.T @ {out})) * 0.1 + {out}",
             f"    {out} /= 1.0 + np.sqrt({out} @ {out})"],
            [f"{t}, count = {s}, 0", f"while {t} < 1.5 and count < 5:",
             f"    {t} = 1.3 * {t} + 0.4", "    count += 1", "else:", f"    {t} = {t} * {u}"],
            ["for i in range(n):", f"    if {v}[i] < -0.5:", "        continue",
             f"    {v}[i] = {v}[i] ** 2 * {s}", f"    if {v}[i] > 0.9:", "        break",
             "else:", f"    {v}[0] = {u}"],
            [f"{t} = 0.0", "for i in range(n):", "    for j in range(m):",
             f"        if {m}[i, j] > 0.8:", "            break",
             f"        {t} += {m}[i, j] * {v}[i]", "    else:", f"        {t} *= {s}"],
            ["add = lambda a, b: a + b",
             f"{out} = np.array([fold(add, {m}[i, : i % 3 + 1], 0.0) for i in range(n)])"],
            [f"{t} = sum(e * f for e, f in zip({v}, reversed(WEIGHTS)) if e > -0.2)"],
            [f"{t} = {s} if {v}[0] > 0 else ({u} if {v}[1] > 0 else GAIN)"],
        ]  # fmt: skip
        self.put(*self.rng.choice(choices))
        return None
