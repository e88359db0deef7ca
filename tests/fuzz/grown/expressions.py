"""Expressions of grown programs: tables of texts, whose letters stand for smaller expressions.

<a> an array: a name, view or item      <s> a number      <k> a constant
<e> an array expression                 <c> a condition   <i> a counter of a loop
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.fuzz.grown.scope import Scope

Table = list[tuple[float, str]]

NUMBERS_OF: Table = [
    (1.5, "<s> * <s>"), (0.7, "<s> + <s>"), (0.7, "<s> - <s>"), (0.6, "np.sin(<s>)"),
    (0.3, "np.tanh(<s>)"), (0.3, "np.exp(<s>)"), (1.5, "np.sum(<a>)"), (0.4, "<a>.sum()"),
    (0.5, "np.mean(<a>)"), (2.0, "<x>"), (0.4, "np.dot(<a>, <a>)"), (0.3, "np.max(<a>)"),
    (0.3, "abs(<s>)"), (0.3, "np.prod(<a>)"), (0.3, "max(<s>, <s>)"), (0.2, "<a>.min()"),
    (0.3, "(<s> if <c> else <s>)"), (0.3, "float(<s>)"), (0.2, "np.linalg.norm(<a>)"),
    (0.2, "<x> ** 2"), (1.0, "<k>"),
]  # fmt: skip
NUMBERS_OF_MIXED: Table = [
    (0.6, "np.sum(np.abs(<a>))"), (0.6, "np.sum(<a>.imag)"),
    (0.4, "np.sum(<a> * np.conj(<a>)).real"),
]  # fmt: skip
ARRAYS_OF: Table = [
    (2.0, "<a>"), (1.5, "<e> * <e>"), (0.8, "<e> + <e>"), (0.8, "<e> - <e>"), (2.0, "<s> * <e>"),
    (0.8, "np.sin(<e>)"), (0.4, "np.tanh(<e>)"), (0.4, "np.exp(<e>)"), (0.6, "<e> + <s>"),
    (0.4, "<a>.copy()"), (0.2, "np.zeros(3)"), (0.2, "np.zeros(4)"), (0.2, "np.zeros((2, 3))"),
    (0.3, "np.zeros_like(<a>)"), (0.3, "np.where(<a> > <k>, <a>, <e>)"),
    (0.3, "np.concatenate([<a>, <a>])"), (0.2, "np.outer(<a>, <a>)"), (0.3, "<a> @ <a>"),
    (0.3, "np.cumsum(<a>)"), (0.2, "np.stack([<a>, <a>])"), (0.3, "np.sum(<a>, axis=0)"),
    (0.2, "np.maximum(<a>, <s>)"), (0.15, "<a>[[0, 1, 1]]"), (0.15, "<a>[np.array([1, 0])]"),
    (0.25, "np.sort(<a>)"), (0.3, "np.array([<s>, <s>, <s>])"), (0.2, "np.array(<s>)"),
    (0.2, "np.clip(<a>, -0.9, 0.9)"), (0.2, "<a> ** 2"), (0.2, "<a> / (1.5 + <a> ** 2)"),
    (0.15, "np.diff(<a>)"), (0.15, "np.ones(3) * <s>"), (0.1, "np.full(3, <s>)"),
    (0.1, "np.tile(<a>, 2)"), (0.1, "np.repeat(<a>, 2)"),
    (0.1, "np.array([<s> for k in range(3)])"),
]  # fmt: skip
ARRAYS_OF_MIXED: Table = [
    (1.0, "<e> * 1j"), (1.0, "<a>.astype(np.float32)"), (0.7, "<a>.imag"), (0.7, "np.conj(<a>)"),
    (0.5, "np.abs(<a>)"), (0.2, "np.zeros(3, dtype=complex)"),
    (0.2, "np.zeros(3, dtype=np.float32)"), (0.2, "np.zeros(3, dtype=int)"), (0.4, "np.arange(3)"),
    (0.3, "np.arange(6).reshape(2, 3)"), (0.4, "<a>.real"), (0.3, "<a>.astype(complex)"),
    (0.2, "np.exp(1j * <a>)"),
]  # fmt: skip
CONDITIONS: Table = [
    (1.0, "<s> > <k>"), (1.0, "<s> < <k>"), (1.0, "np.sum(<a>) > <k>"), (0.3, "len(<a>) > 2"),
    (0.3, "n > 1"), (0.2, "<a>.ndim == 1"), (0.2, "<s> > <k> and <s> < <k>"),
    (0.2, "<s> > <k> or n > 1"),
]  # fmt: skip
COUNTED: Table = [(1.5, "<i> == 1"), (1.0, "<i> > 0"), (1.0, "<i> < 2"), (0.5, "<i> % 2 == 0")]
VIEWS: Table = [
    (1.0, "{}.reshape(-1)"), (1.0, "{}.ravel()"), (0.7, "{}[...]"), (0.4, "{}.real"),
    (0.5, "np.asarray({})"), (0.4, "np.atleast_1d({})"), (0.3, "np.squeeze({})"),
    (0.3, "np.ravel({})"), (0.2, "{}.view()"),
]  # fmt: skip
VIEWS_OF_ANY: Table = [
    (2.0, "{}[::-1]"), (2.0, "{}[1:]"), (2.0, "{}[:-1]"), (1.0, "{}[::2]"), (0.5, "{}[1::2]"),
    (0.5, "{}[-1:0:-1]"), (0.3, "{}[None]"), (0.3, "{}[1:1]"), (0.3, "{}[:2]"), (0.3, "{}[-2:]"),
    (0.3, "np.flip({})"), (0.2, "np.expand_dims({}, 0)"), (0.2, "{}[..., 0]"),
    (0.2, "np.roll({}, 1)"),
]  # fmt: skip
VIEWS_OF_VECTORS: Table = [
    (0.4, "{}[:, None]"), (0.8, "{}.reshape(2, -1)"), (0.4, "{}.reshape(-1, 2)"),
    (0.2, '{}.reshape((2, -1), order="F")'),
]  # fmt: skip
VIEWS_OF_MATRICES: Table = [
    (2.0, "{}.T"), (0.5, "{}[:, 0]"), (0.5, "{}[:, -1]"), (1.0, "np.swapaxes({}, 0, 1)"),
    (1.0, "np.transpose({})"), (1.0, "{}[..., 0]"), (1.0, "{}[:, 1:]"), (0.7, "{}[:, ::-1]"),
    (0.5, "np.moveaxis({}, 0, -1)"), (0.6, "{}[0, 1:]"), (0.5, "{}.swapaxes(0, 1)"),
    (0.5, "np.diagonal({})"), (0.5, "{}[1, ...]"), (0.3, "{}[1:, :-1]"), (0.3, "np.rot90({})"),
    (0.3, "np.fliplr({})"), (1.5, "{}[0]"), (1.5, "{}[1]"),
]  # fmt: skip
SLICES: Table = [
    (2.0, "1:"), (2.0, ":-1"), (1.5, "::2"), (1.5, "::-1"), (1.0, ":"), (1.0, "..."),
    (0.5, "1::2"), (0.5, "-1:0:-1"), (0.3, "1:1"), (0.6, ":2"), (0.6, "-2:"), (0.4, "::-2"),
]  # fmt: skip


class Expressions(Scope):
    """Texts of numbers, arrays, views, indices and conditions."""

    depth = 0

    def filled(self, text: str) -> str:
        """The text with an expression for each letter."""
        makers = {
            "a": self.array, "e": self.expr, "s": self.scalar, "k": self.constant,
            "c": self.condition, "x": self.element, "i": lambda: self.rng.choice(self.loop_names),
        }  # fmt: skip
        self.depth += 1
        made = re.sub(r"<(\w)>", lambda m: self.other(m[1]) or makers[m[1]](), text)
        self.depth -= 1
        return made

    def other(self, letter: str) -> str | None:
        """What a letter stands for in statements."""
        return None

    def scalar(self, deep: int = 2) -> str:
        table = [(2.0, n) for n in self.floats()] + [(0.3, n) for n in self.loop_names]
        table.append((1.0, "<k>"))
        if self.depth < deep:
            table += NUMBERS_OF + (NUMBERS_OF_MIXED if self.profile == "mixed" else [])
            table += [(1.5, self.call(h)) for h in self.helpers if h.result == "s"]
        return self.filled(self.weighted(table))

    def expr(self, deep: int = 2) -> str:
        if self.depth >= deep:
            return self.array()
        table = ARRAYS_OF + (ARRAYS_OF_MIXED if self.profile == "mixed" else [])
        table += [(2.0, self.call(h)) for h in self.helpers if h.result == "a"]
        return self.filled(self.weighted(table))

    def condition(self) -> str:
        return self.filled(self.weighted(CONDITIONS + (COUNTED if self.loop_names else [])))

    def array(self) -> str:
        """An array by name, a view of one, or an item of a container."""
        names = self.arrays()
        options = [(1.0, self.item(c)) for c in self.containers()]
        if names:
            options.append((4.0, self.rng.choice(names)))
            views = 3.0 if self.profile == "views" else 1.5
            options.append((views, self.view(self.rng.choice(names))))
        return self.weighted(options) if options else "x"

    def item(self, name: str) -> str:
        held = self.values[name]
        if isinstance(held, dict):
            return f'{name}["{self.rng.choice(list(held))}"]'
        k = self.rng.randrange(-len(held), len(held))
        if isinstance(held[k], tuple | list) and len(held[k]):
            return f"{name}[{k}][{self.rng.randrange(len(held[k]))}]"
        return f"{name}[{k}]"

    def value_of(self, text: str) -> Any:
        """What an expression is at the end of the program; None where it can't be had."""
        try:
            return eval(text, {"np": np}, dict(self.values))
        except Exception:
            return None

    def view(self, text: str, steps: int | None = None) -> str:
        """A view of a view of ... an array."""
        for _ in range(steps or self.pick(1, 1, 1, 2, 2, 3)):
            a = self.value_of(text)
            if not isinstance(a, np.ndarray):
                return text
            table = VIEWS + (VIEWS_OF_ANY if a.ndim else [])
            table = table + (VIEWS_OF_VECTORS if a.ndim == 1 else [])
            table = table + (VIEWS_OF_MATRICES if a.ndim > 1 else [])
            further = self.weighted(table).format(text)
            if isinstance(self.value_of(further), np.ndarray):
                text = further
        return text

    def element(self) -> str:
        names = self.arrays(lambda a: a.size and a.ndim in (1, 2))
        if not names:
            return self.constant()
        name = self.rng.choice(names)
        return f"{name}[{', '.join(map(self.place, self.values[name].shape))}]"

    def place(self, n: int) -> str:
        """An index along a dimension of this length."""
        if self.loop_names and self.chance(0.5):
            i = self.rng.choice(self.loop_names)
            return self.pick(i, f"{i} % {n}", f"({i} + 1) % {n}", f"-{i} - 1")
        return str(self.rng.randrange(-n, n))

    def index(self, a: np.ndarray, text: str) -> str:
        """An index into the array `text`, of any form."""
        if a.ndim == 0:
            return self.pick("()", "...")
        if not a.shape[0]:
            return self.weighted(SLICES)
        n = a.shape[0]
        several = [self.rng.randrange(-n, n) for _ in range(self.pick(1, 2, 3))]
        advanced = self.pick(
            str(several), f"np.array({several})", f"np.arange({n})[::-1]", f"{text} > 0.1",
            f"np.arange({n}) % 2 == 0",
        )  # fmt: skip
        first = self.pick(self.place(n), self.place(n), self.weighted(SLICES), advanced)
        if a.ndim > 1 and "..." not in first and first is not advanced and self.chance(0.6):
            m = a.shape[1]
            second = self.pick(self.place(m) if m else ":", "1:", ":-1", "::-1", ":", "::2")
            return f"{first}, {second}"
        return first

    def call(self, helper: Any) -> str:
        given = (self.array() if p == "a" else self.constant() for p in helper.params)
        return f"{helper.name}({', '.join(given)})"
