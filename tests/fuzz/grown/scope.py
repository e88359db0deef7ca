"""The names of a program that is grown, and choices by chance."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

PROFILES = ("plain", "plain", "plain", "views", "views", "mixed", "mixed", "containers", "call")


@dataclass(frozen=True)
class Helper:
    """A function that the program calls: its name, the kinds of its parameters ("a" array, "s"
    number) and of its result ("p" none, "a", "s", "t" array and number, "w" two arrays)."""

    name: str
    params: tuple[str, ...]
    result: str


class Scope:
    """What the program has up to now, and the values of its names where it goes on."""

    def __init__(self, seed: float) -> None:
        self.rng = random.Random(seed)
        self.profile = self.rng.choice(PROFILES)
        self.lines: list[tuple[int, str]] = []  # indentation and text
        self.indent = 1
        self.values: dict[str, Any] = {}
        self.loop_names: list[str] = []  # counters at hand
        self.helpers: list[Helper] = []
        self.head: list[str] = []  # the text of the helpers
        self.closures = 0
        self.width = 4  # so many names of arrays

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def weighted(self, table: list[tuple[float, Any]]) -> Any:
        return self.rng.choices([x for _, x in table], [w for w, _ in table])[0]

    def arrays(self, suits: Callable[[Any], bool] = lambda a: True) -> list[str]:
        return [n for n, v in self.values.items() if isinstance(v, np.ndarray) and suits(v)]

    def floats(self) -> list[str]:
        return [n for n, v in self.values.items() if isinstance(v, float | np.floating)]

    def containers(self, kinds: tuple[type, ...] = (list, tuple, dict)) -> list[str]:
        return [n for n, v in self.values.items() if isinstance(v, kinds) and len(v)]

    def constant(self) -> str:
        return self.pick("0.5", "1.5", "-0.7", "0.25", "2.0", "-1.2", "0.3")
