"""Texts of programs of any size, each with a function `f`, and modules made of them."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from types import ModuleType

_numbers = itertools.count()


def loaded(folder: Path, text: str) -> ModuleType:
    """A module with this text, from a file of its own."""
    name = f"program_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _function(parameters: str, *lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"import math\n\nimport numpy as np\n\n\ndef f({parameters}):\n{body}"


def straight_line(n: int) -> str:
    lines = [f"y{k + 1} = np.sin(y{k}) * 0.5 + x" for k in range(n)]
    return _function("x", "y0 = x", *lines, f"return y{n}")


def rebound(n: int) -> str:
    """Few names, bound again and again."""
    names = "abcde"
    lines = [
        f"{names[k % 5]} = math.sin({names[(k + 1) % 5]}) * 0.5 + {names[(k + 2) % 5]} * x"
        for k in range(n)
    ]
    return _function("x", "a = b = c = d = e = x", *lines, "return a")


def loop_body(n: int) -> str:
    lines = [f"    t{k} = math.sin(t{k - 1}) * 0.5 + a * x" for k in range(1, n)]
    head = ("a = x", "for i in range(2):", "    t0 = a * x")
    return _function("x", *head, *lines, f"    a = t{n - 1}", "return a")


def loops(n: int) -> str:
    pair = ("for i in range(2):", "    y = y * math.sin(x) + 0.25")
    return _function("x", "y = x", *(pair * n), "return y")


def branches(n: int) -> str:
    lines = [
        line
        for k in range(n)
        for line in (f"if x > {k}.5:", "    y = y * math.sin(x)", "else:", f"    y = y + {k} * x")
    ]
    return _function("x", "y = x", *lines, "return y")


def stores(n: int) -> str:
    """Arrays changed in place, in a loop."""
    pair = ("    u[i] = u[i - 1] * 0.5 + np.sin(u[i]) * w", "    v[1:-1] += u[2:] * w")
    head = ("u = x.copy()", "v = np.zeros_like(x)", "for i in range(1, len(x)):")
    return _function("x, w", *head, *(pair * (n // 2)), "return np.sum(u * v)")


def chained_ifs(n: int) -> str:
    lines = []
    for k in range(n):
        lines += [f"{'el' if k else ''}if x > {n - k}.5:", f"    y = y * math.sin(x) + {k}.0"]
    return _function("x", "y = x", *lines, "return y")


def early_returns(n: int) -> str:
    lines = []
    for k in range(n):
        lines += [f"if x > {k + 5}.5:", f"    return y * math.sin(x) + {k}.0", "y = y * x"]
    return _function("x", "y = x", *lines, "return y")


def sum_of(n: int) -> str:
    return _function("x", "return " + " + ".join(f"{k}.0 * x" for k in range(n)))


def call_tree(n: int) -> str:
    """Functions that call one another in a chain."""
    functions = "".join(
        f"def g{k}(x):\n    return 0.5 * g{k - 1}(x) + x * x\n\n\n" for k in range(1, n)
    )
    return f"def g0(x):\n    return x * x\n\n\n{functions}def f(x):\n    return g{n - 1}(x)\n"


def writers(n: int) -> str:
    """Functions that call one another in a chain, each of which writes into the same array."""
    functions = "".join(
        f"def g{k}(u):\n    u[0] = u[0] * 0.5 + u[1]\n    return g{k - 1}(u) + u[1]\n\n\n"
        for k in range(1, n)
    )
    last = f"def f(x):\n    u = x.copy()\n    return g{n - 1}(u) + u[0]\n"
    return f"def g0(u):\n    return u[0] * u[0]\n\n\n{functions}{last}"


KALMAN = """import numpy as np


def f(theta, ys):
    \"\"\"Minus the log-likelihood of a local linear trend, by the Kalman filter.\"\"\"
    level_noise = np.exp(theta[0])
    slope_noise = np.exp(theta[1])
    noise = np.exp(theta[2])
    level, slope = theta[3], theta[4]
    p11, p12, p22 = 1.0, 0.0, 1.0
    total = 0.0
    for t in range(len(ys)):
        # predict
        level = level + slope
        p11 = p11 + 2.0 * p12 + p22 + level_noise
        p12 = p12 + p22
        p22 = p22 + slope_noise
        # what the observation adds
        residual = ys[t] - level
        s = p11 + noise
        k1 = p11 / s
        k2 = p12 / s
        total = total + 0.5 * (np.log(2.0 * np.pi * s) + residual * residual / s)
        # update
        level = level + k1 * residual
        slope = slope + k2 * residual
        p22 = p22 - k2 * p12
        p12 = (1.0 - k1) * p12
        p11 = (1.0 - k1) * p11
    weight = np.sqrt(level_noise + slope_noise)
    penalty = 0.01 * (theta[3] ** 2 + theta[4] ** 2)
    return total / len(ys) + penalty * weight
"""
