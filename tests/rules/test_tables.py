"""The tables of rules, loaded with the first derivative of a process."""

import os
import subprocess
import sys
from pathlib import Path

INTERRUPTED = """
import importlib, sys
import numpy as np
import srcgrad as sg
from srcgrad.rules import registry

add, count = registry.add, 0

def interrupted(entry):
    global count
    count += 1
    if count == {at}:
        raise KeyboardInterrupt
    return add(entry)

def f(x):
    return np.sum(np.sort(np.exp(x))[1:] * np.arange(2.0)) + np.log(x[0])

x = np.array([0.3, 0.1, 0.2])
registry.add = interrupted
try:
    sg.grad(f)(x)
except KeyboardInterrupt:
    registry.add = add
    for name, module in list(sys.modules.items()):
        if name.startswith("srcgrad.rules.") and getattr(module, "add", None) is interrupted:
            module.add = add
else:
    raise SystemExit("it was not interrupted")
print(sg.grad(f)(x).tolist())
"""


TWICE = """
import numpy, scipy.fft, scipy.integrate, scipy.linalg, scipy.ndimage, scipy.optimize
import scipy.signal, scipy.special, scipy.stats
from srcgrad.rules import registry

add, names = registry.add, []

def seen(entry):
    if registry.lookup(entry.target) is not None:
        names.append(entry.name)
    return add(entry)

registry.add = seen
from srcgrad.rules import tables
tables.load()
print(len(registry._ENTRIES) > 1000, names)
"""


def run(folder: Path, text: str) -> str:
    file = folder / "program.py"
    file.write_text(text, encoding="utf-8")
    cold = {**os.environ, "SRCGRAD_CACHE_DIR": str(folder / f"cache_{abs(hash(text))}")}
    done = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, check=False, env=cold
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_interrupted_first_call_leaves_nothing_behind(tmp_path: Path) -> None:
    wanted = run(tmp_path, INTERRUPTED.format(at=1))
    for at in (2, 40, 120, 240):
        assert run(tmp_path, INTERRUPTED.format(at=at)) == wanted


def test_each_function_has_one_rule(tmp_path: Path) -> None:
    assert run(tmp_path, TWICE) == "True []\n"
