"""The table of docs/comparison.md: each construct, differentiated by each library.

    python docs/compare.py            print the table, for the libraries that are installed
    python docs/compare.py --write    write it into the page

A function is written once, as for NumPy, and run with the library's own `np`: nothing is rewritten
for a library. *right* is a gradient that agrees with differences of the function under NumPy;
*wrong* (or nan) is another one, without an error; *no* is an error. Needs nothing but srcgrad; the
other columns are of whatever is installed of autograd (github.com/HIPS/autograd) and jax.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import math
import re
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parent / "comparison.md"
X = np.array([0.3, -0.7, 1.1, 0.6])


# ---- the constructs: each a function of an array, to a number -------------------------------


def loop_over_numbers(x):
    s = 0.0
    for v in x:
        s = np.tanh(s + v)
    return s


def while_loop_on_values(x):
    s = x[0] * x[0] + 2.0
    while s > 0.1:
        s = s * 0.5
    return s


def break_and_continue(x):
    s = 0.0
    for v in x:
        if v < 0.0:
            continue
        s = s + v * v
        if s > 1.0:
            break
    return s


def element_assigned(x):
    y = np.zeros(4)
    for i in range(4):
        y[i] = x[i] ** 2
    return np.sum(y)


def slice_updated_in_place(x):
    y = x * 1.0
    y[1:] += y[:-1] * 2.0
    return np.sum(y * y)


def written_through_a_view(x):
    y = x * 2.0
    inner = y[1:3]
    inner *= inner
    return np.sum(y)


def written_through_a_transpose(x):
    a = np.reshape(x * 1.0, (2, 2)).copy()
    a.T[0] = a[0] * x[0]
    return np.sum(a * a)


def result_in_an_argument(x):
    y = np.empty(4)
    np.multiply(x, x, out=y)
    return np.sum(y)


def added_at_repeated_indices(x):
    y = np.zeros(2)
    np.add.at(y, np.array([0, 1, 0, 0]), x)
    return np.sum(y**3)


def sorted_in_place(x):
    y = x * x
    y.sort()
    return np.sum(y * np.arange(4.0))


def numbers_of_python(x):
    return math.sin(x[0]) * math.exp(x[1])


def list_that_grows(x):
    parts = []
    for v in x:
        parts.append(v * v)
    return sum(parts) * parts[0]


def dictionary(x):
    p = {"a": x[0], "b": x[1]}
    p["a"] = p["a"] * p["b"]
    return p["a"] + p["b"]


def recursion(x):
    def power(v, n):
        return 1.0 if n == 0 else v * power(v, n - 1)

    return power(x[0], 3) + power(x[1], 2)


def error_that_is_caught(x):
    try:
        return np.sum(x) * x[7]
    except IndexError:
        return np.sum(x) * x[0]


def where_with_nan_aside(x):
    return np.sum(np.where(x > 0.0, np.sqrt(np.maximum(x, 0.0)), 0.0 * x))


def where_with_nan_outside_its_domain(x):
    return np.sum(np.where(x > 0.0, np.log(x), x))


def norm_of_zero(x):
    return np.linalg.norm(x - x) + np.sum(x)


def equal_maxima(x):
    return np.max(np.abs(x) * 0.0 + 1.0 + x - x) + x[0]


def linear_solve(x):
    a = np.reshape(x, (2, 2)) + 3.0 * np.eye(2)
    return np.sum(np.linalg.solve(a, x[:2]))


CONSTRUCTS: tuple[Callable[[Any], Any], ...] = (
    loop_over_numbers, while_loop_on_values, break_and_continue, element_assigned,
    slice_updated_in_place, written_through_a_view, written_through_a_transpose,
    result_in_an_argument, added_at_repeated_indices, sorted_in_place, numbers_of_python,
    list_that_grows, dictionary, recursion, error_that_is_caught, where_with_nan_aside,
    where_with_nan_outside_its_domain, norm_of_zero, equal_maxima, linear_solve,
)  # fmt: skip


# ---- the libraries ---------------------------------------------------------------------------


def under(fn: Callable[[Any], Any], numpy: Any) -> Callable[[Any], Any]:
    """The function with another `np`."""
    names = {**globals(), "np": numpy}
    return types.FunctionType(fn.__code__, names, fn.__name__, fn.__defaults__, fn.__closure__)


def by_srcgrad(fn: Callable[[Any], Any]) -> Any:
    import srcgrad

    return srcgrad.grad(fn)(X)


def by_autograd(fn: Callable[[Any], Any]) -> Any:
    import autograd

    return autograd.grad(under(fn, importlib.import_module("autograd.numpy")))(X)


def by_jax(fn: Callable[[Any], Any]) -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    return np.asarray(jax.grad(under(fn, importlib.import_module("jax.numpy")))(X))


LIBRARIES = {"srcgrad": by_srcgrad, "autograd": by_autograd, "jax": by_jax}


def differences(fn: Callable[[Any], Any]) -> np.ndarray:
    """Central differences, under NumPy."""
    found, h = np.zeros(X.size), 1e-6
    for k in range(X.size):
        e = np.zeros(X.size)
        e[k] = h
        found[k] = (fn(X + e) - fn(X - e)) / (2.0 * h)
    return found


def verdict(name: str, fn: Callable[[Any], Any]) -> str:
    """What a library makes of a construct: right, wrong, or no."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = differences(fn)
        try:
            found = np.asarray(LIBRARIES[name](fn), float)
        except Exception:
            return "no"
    if found.shape == expected.shape and np.allclose(found, expected, atol=1e-5):
        return "right"
    return "**wrong**" if np.all(np.isfinite(found)) else "**nan**"


def installed() -> list[str]:
    return [n for n in LIBRARIES if n == "srcgrad" or importlib.util.find_spec(n) is not None]


def version(name: str) -> str:
    module = importlib.import_module(name)
    return str(getattr(module, "__version__", None) or importlib.metadata.version(name))


def table(names: list[str]) -> str:
    """The table in Markdown."""
    heads = [f"{name} {version(name)}" for name in names]
    rows = [["", *heads], ["---"] * (len(names) + 1)]
    for fn in CONSTRUCTS:
        label = f"[{fn.__name__.replace('_', ' ')}](compare.py)"
        rows.append([label, *(verdict(name, fn) for name in names)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> None:
    found = table(installed())
    if "--write" not in sys.argv:
        print(found, end="")
        return
    text = PAGE.read_text(encoding="utf-8")
    marks = re.compile(r"(<!-- table -->\n).*(<!-- end -->)", re.DOTALL)
    PAGE.write_text(marks.sub(lambda m: m[1] + found + m[2], text), encoding="utf-8")


if __name__ == "__main__":
    main()
