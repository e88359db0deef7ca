"""The table of covered functions in the README is that of `sg.rules()`.

`pytest tests/test_coverage_table.py --update-golden` writes it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- coverage -->\n", "<!-- end of coverage -->\n"
SPACES = (
    "numpy.linalg", "numpy.fft", "numpy.polynomial", "numpy.lib.scimath", "numpy", "math",
    "cmath", "scipy.special", "scipy.linalg", "scipy.stats", "scipy.signal", "scipy.ndimage",
    "scipy.integrate", "scipy.optimize",
)  # fmt: skip
SHOWN = {
    "numpy": "`einsum`, `where`, `cumprod`, `add.at`, `interp`, `vectorize`, `r_`",
    "numpy.linalg": "`solve`, `svd`, `eigh`, `slogdet`, `lstsq`, `norm` of every order",
    "numpy.fft": "all transforms",
    "numpy.polynomial": "evaluation, derivatives and integrals in six families",
    "numpy.lib.scimath": "`sqrt`, `log`, `power`",
    "math": "`exp`, `gamma`, `hypot`, `fsum`",
    "cmath": "`exp`, `log`, `polar`",
    "scipy.special": "`gammaln`, `erf`, `logsumexp`, `jv`, `betainc`, `expit`",
    "scipy.linalg": "`cho_solve`, `solve_banded`, `lu_factor`, `expm`, `sqrtm`",
    "scipy.stats": "`norm.logpdf`, `gamma.logpdf`, `t.cdf`, `multivariate_normal.logpdf`",
    "scipy.signal": "`convolve`, `lfilter`, `sosfilt`, `filtfilt`, `savgol_filter`",
    "scipy.ndimage": "`convolve`, `gaussian_filter`, `sobel`",
    "scipy.integrate": "`solve_ivp`, `odeint`, `quad`, `trapezoid`",
    "scipy.optimize": "`brentq`, `newton`, `root`, `minimize`",
}
VERSIONS = "NumPy {numpy} and SciPy {scipy}"


def space_of(name: str) -> str | None:
    found = [s for s in SPACES if name.startswith(f"{s}.")]
    return max(found, key=len, default=None)


def versions() -> str:
    short = {m.__name__: ".".join(m.__version__.split(".")[:2]) for m in (np, scipy)}
    return VERSIONS.format(**short)


def table() -> str:
    import scipy.integrate
    import scipy.linalg
    import scipy.ndimage
    import scipy.optimize
    import scipy.signal
    import scipy.special
    import scipy.stats  # noqa: F401 - tables are loaded with what they are for

    import srcgrad as sg

    counts = {s: [0, 0, 0] for s in SPACES}
    for row in sg.rules():
        space = space_of(row.name)
        if space is not None:
            counts[space][{"nondiff": 1, "refuse": 2}.get(row.kind, 0)] += 1
    lines = [
        f"Counted with {versions()}:",
        "",
        "| | derivative | derivative zero | refused | among them |",
        "|---|---:|---:|---:|---|",
    ]
    for space in sorted(SPACES, key=lambda s: (s.split(".")[0] == "scipy", SPACES.index(s) != 4)):
        given, zero, refused = counts[space]
        lines.append(f"| `{space}` | {given} | {zero} | {refused} | {SHOWN[space]} |")
    return "\n".join(lines) + "\n"


def written() -> str:
    text = README.read_text(encoding="utf-8")
    return text[text.index(START) + len(START) : text.index(END)]


def test_the_table_is_current(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        text = README.read_text(encoding="utf-8")
        head, rest = text[: text.index(START) + len(START)], text[text.index(END) :]
        README.write_text(head + table() + rest, encoding="utf-8")
    if versions() not in written():
        pytest.skip(f"the table was not counted with {versions()}")
    assert written() == table()


def test_the_functions_shown_have_rules() -> None:
    """Of whatever versions: each function named in the last column is one that has a rule."""
    import srcgrad as sg

    table()
    given = {row.name for row in sg.rules() if row.kind not in ("nondiff", "refuse")}
    own = {"numpy.add.at", "numpy.vectorize", "numpy.r_"}  # written out, not ruled
    for space, shown in SHOWN.items():
        for name in re.findall(r"`([\w.]+)`", shown):
            full = f"{space}.{name}"
            assert full in given or full in own, full


def test_nothing_of_scipy_is_loaded_before_a_program_uses_it() -> None:
    import subprocess

    script = (
        "import sys, numpy as np, srcgrad as sg\n"
        "assert sg.grad(np.sin)(0.0) == 1.0\n"
        "assert not [m for m in sys.modules if m.split('.')[0] == 'scipy']\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
