"""The command line: what it prints, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

typer_testing = pytest.importorskip("typer.testing")
pytest.importorskip("rich")

from srcgrad._version import __version__  # noqa: E402
from srcgrad.cli import DONE, FAILED, MISSING, REFUSED, USAGE  # noqa: E402
from srcgrad.commands import app  # noqa: E402
from srcgrad.locate import completions as targets  # noqa: E402

MODEL = """
import numpy as np

SCALE = 2.0


def loss(x, w: float = 0.5, *, power: int = 2):
    return np.sum((w * x) ** power) * SCALE


def typed(a: float, b: float) -> float:
    return a * np.exp(b)


def kinked(a: float) -> float:
    return round(a * 3.0) / 3.0


def refused(x):
    r = open("file")
    return r * x


class Model:
    def energy(self, x):
        return x * x


import srcgrad as sg

product, rows = sg.hvp(typed), sg.jacobian(typed)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "climodel.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    yield tmp_path
    for name in ("climodel", "_srcgrad_file_climodel"):
        sys.modules.pop(name, None)


def run(*arguments):
    return typer_testing.CliRunner().invoke(app, list(arguments))


# ---- show ----------------------------------------------------------------------


def test_show_of_derivatives_of_derivatives(place):
    done = run("show", "climodel:product", "--stage", "text")
    assert done.exit_code == DONE, done.output
    assert "def typed_grad_jvp(tangents, a, b):" in done.output
    done = run("show", "climodel:rows")
    assert done.exit_code == USAGE
    assert "<jacobian of typed> has no text of its own" in done.output


@pytest.mark.parametrize("target", ["climodel:loss", "climodel.py:loss", "./climodel.py:loss"])
def test_show_prints_the_function_and_its_derivative(place, target):
    done = run("show", target, "--types", "x=float64[:]")
    assert done.exit_code == DONE, done.output
    assert "def loss(x, w: float = 0.5, *, power: int = 2):" in done.output
    assert "def loss_grad(x, w=0.5, *, power=2):" in done.output
    assert "x float64[:], w float, power int" in done.output


def test_show_takes_example_arguments(place):
    done = run("show", "climodel:loss", "--args", "np.ones((2, 3)), w=1.5", "--wrt", "x,w")
    assert done.exit_code == DONE, done.output
    assert "x float64[:, :]" in done.output
    assert "with respect to x, w" in done.output


def test_show_generic_knows_no_types(place):
    done = run("show", "climodel:typed", "--generic", "--stage", "text")
    assert done.exit_code == DONE
    assert "def typed_grad(a, b):" in done.output


def test_stages_come_out_as_plain_text(place):
    done = run("show", "climodel:typed", "--stage", "types")
    assert done.exit_code == DONE
    assert done.output.startswith("def typed(a, b):")
    assert "# a float, b float" in done.output
    text = run("show", "climodel:typed", "--stage", "text").output
    compile(text, "text", "exec")


def test_show_writes_a_page(place):
    done = run("show", "climodel:typed", "--html", "page.html")
    assert done.exit_code == DONE, done.output
    page = Path("page.html").read_text(encoding="utf-8")
    for mode in ("grad", "value_and_grad", "vjp", "jvp"):
        assert f'data-mode="{mode}"' in page
    assert "a float, b float" in page
    assert "types not known" in page


def test_show_knows_methods_and_other_modes(place):
    done = run("show", "climodel:Model.energy", "--wrt", "x", "--mode", "jvp")
    assert done.exit_code == DONE, done.output
    assert "energy_jvp" in done.output


def test_a_refusal_is_shown_with_the_function(place):
    done = run("show", "climodel:refused")
    assert done.exit_code == REFUSED
    assert "UnsupportedSyntax" in done.output
    assert "climodel.py:20" in done.output


# ---- errors --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["show", "climodel:los"], MISSING, "perhaps you mean loss"),
        (["show", "nomodule:f"], MISSING, "there is no module nomodule"),
        (["show", "no.py:f"], MISSING, "there is no file no.py"),
        (["show", "climodel"], MISSING, "names no function"),
        (["show", "climodel:loss", "--wrt", "z"], USAGE, "has no parameter 'z'"),
        (["show", "climodel:loss", "--types", "x=float63[:]"], USAGE, "float63"),
        (["show", "climodel:loss", "--types", "y=float"], USAGE, "no parameter 'y'"),
        (["show", "climodel:loss", "--args", "1 +"], USAGE, "can't be evaluated"),
        (["show", "climodel:loss", "--mode", "sideways"], USAGE, "sideways"),
        (["show", "climodel:loss", "--stage", "assembly"], USAGE, "assembly"),
        (["check", "climodel:loss"], USAGE, "there is no value for x"),
        (["build"], USAGE, "there is no pyproject.toml"),
        (["build", "climodel:loss"], USAGE, "there is no output"),
    ],
)
def test_errors_say_what_is_wrong(place, arguments, code, said):
    done = run(*arguments)
    assert done.exit_code == code, done.output
    assert said in " ".join(done.output.split())


def test_a_module_that_fails_is_not_a_crash(place):
    Path("broken.py").write_text("raise RuntimeError('no luck')\n")
    done = run("show", "broken:f")
    assert done.exit_code == MISSING
    assert "RuntimeError: no luck" in done.output


# ---- check ---------------------------------------------------------------------


def test_check_finds_arguments_from_annotations(place):
    done = run("check", "climodel:typed", "--order", "1")
    assert done.exit_code == DONE, done.output
    assert "first derivatives of typed agree with differences" in done.output


def test_check_takes_arguments(place):
    done = run("check", "climodel:loss", "--args", "np.ones(3)", "--order", "1", "--wrt", "x")
    assert done.exit_code == DONE, done.output


def test_check_fails_when_derivatives_are_off(place):
    Path("off.py").write_text(
        "import numpy as np\nimport srcgrad as sg\n\n\n"
        "@sg.custom_gradient\ndef wrong(x: float):\n    return x * x, lambda g: 3.0 * g * x\n"
    )
    sg = pytest.importorskip("srcgrad")
    if not hasattr(sg, "custom_gradient"):
        pytest.skip("no custom_gradient")
    done = run("check", "off:wrong", "--order", "1", "--mode", "reverse")
    sys.modules.pop("off", None)
    assert done.exit_code == FAILED, done.output
    assert "the derivatives of wrong are off" in done.output


# ---- rules, cache, version -----------------------------------------------------


def test_rules_are_found_by_part_and_by_pattern():
    assert "g * (1.0 - out * out)" in run("rules", "tanh").output
    assert "numpy.arctanh" not in run("rules", "numpy.tanh").output
    assert "numpy.sinh" in run("rules", "numpy.si*").output
    missing = run("rules", "nosuchfunction")
    assert missing.exit_code == FAILED
    found = json.loads(run("rules", "numpy.exp", "--json").output)
    assert {rule["name"] for rule in found} >= {"numpy.exp", "numpy.expm1"}
    assert all(rule["place"].startswith("srcgrad/rules/") for rule in found)


def test_rules_of_what_is_not_imported():
    """A list of the rules is one of all that are there."""
    code = "import srcgrad as sg; print(len(sg.rules('scipy.special.gammaln')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
    call = [sys.executable, "-m", "srcgrad", "rules", "brentq"]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert "root finder" in done.stdout and "1 rule" in done.stdout


def test_cache_commands(tmp_path, monkeypatch):
    monkeypatch.setenv("SRCGRAD_CACHE_DIR", str(tmp_path / "here"))
    from srcgrad.runtime import cache

    assert run("cache", "path").output.strip() == str(tmp_path / "here")
    cache.store("model__f", "x = 1\n")
    assert "modules    1" in run("cache", "info").output
    assert "1 module removed" in run("cache", "clear").output
    assert "0 modules removed" in run("cache", "clear").output


def test_a_cache_that_is_not_used_says_why(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv("SRCGRAD_CACHE_DIR", str(tmp_path / "file"))
    done = run("cache", "info")
    assert done.exit_code == FAILED
    assert "not used" in done.output


def test_version_and_help():
    assert run("--version").output.strip() == f"srcgrad {__version__}"
    text = run("--help").output
    for command in ("show", "build", "check", "rules", "cache"):
        assert command in text


# ---- without a terminal, without the extra --------------------------------------


def python(*arguments, **environment):
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])} | environment
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=120, env=env
    )


def test_it_runs_as_a_module():
    done = python("-m", "srcgrad", "--version")
    assert done.stdout.strip() == f"srcgrad {__version__}", done.stderr


def test_without_the_extra_it_says_what_to_install(tmp_path):
    (tmp_path / "typer.py").write_text("raise ImportError('hidden', name='typer')\n")
    hide = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['srcgrad'] + {{}}\n"
    call = hide + "from srcgrad.cli import main; main()"
    done = python("-c", call.format(["show", "x:y"]))
    assert done.returncode == MISSING
    assert 'pip install "srcgrad[cli]"' in done.stderr
    done = python("-c", call.format(["--version"]))
    assert done.stdout.strip() == f"srcgrad {__version__}"


# ---- completion ----------------------------------------------------------------


def test_targets_are_completed_without_importing(place):
    (place / "crash.py").write_text("raise SystemExit\n\n\ndef go():\n    pass\n")
    assert "climodel.py:" in targets("cli")
    assert targets("climodel.py:lo") == ["climodel.py:loss"]
    assert targets("climodel:Mod") == ["climodel:Model.energy"]
    assert targets("crash:") == ["crash:go"]


# ---- what goes wrong outside the compiler ----------------------------------------


@pytest.mark.parametrize("statement", ["raise SystemExit(3)", "import sys; sys.exit()"])
def test_a_module_that_exits_is_a_target_that_is_not_there(place, statement):
    Path("leaves.py").write_text(statement + "\n")
    for target in ("leaves:f", "leaves.py:f"):
        done = run("show", target)
        assert done.exit_code == MISSING
        assert "leaves can't be imported: SystemExit" in done.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "climodel:loss", "--wrt", "x,x"], "wrt names a parameter twice"),
        (["show", "climodel:loss", "--args", "1, 2, 3, 4"], "the arguments don't fit loss(x, w"),
        (["show", "climodel:loss", "--args", "exit()"], "can't be evaluated: SystemExit"),
        (["show", "climodel:loss", "--width", "-1"], "--width"),
        (["show", "climodel:loss", "--html", "no/page.html"], "can't be written: No such file"),
        (["show", "climodel:loss", "--html", "."], "can't be written: Is a directory"),
        (["check", "climodel:loss", "--args", "1.0", "--wrt", "q"], "loss has no parameter 'q'"),
        (["check", "climodel:loss", "--args", "'abc'", "--wrt", "w"], "loss raises"),
        (["check", "climodel:typed", "--args", "1.0"], "the arguments don't fit typed(a: float"),
        (["check", "climodel:typed", "--types", "q=int"], "typed has no parameter 'q'"),
        (["build", "climodel:typed", "-o", "."], "can't be the output"),
        (["build", "climodel:typed", "-o", "file/a.py"], "can't be "),
        (["build", "climodel:typed", "-o", "climodel.py"], "srcgrad didn't write what is in it"),
        (["build", "climodel:typed", "-o", "a.py", "--name", "class"], "isn't a name"),
    ],
)
def test_what_was_asked_for_and_cannot_be_done(place, arguments, said):
    (place / "file").write_text("no directory\n")
    before = (place / "climodel.py").read_text()
    done = run(*arguments)
    assert done.exit_code == USAGE, done.output
    assert said in " ".join(done.output.split())
    assert (place / "climodel.py").read_text() == before


def test_a_page_of_a_refusal_is_written_and_says_so(place):
    done = run("show", "climodel:refused", "--html", "page.html")
    assert done.exit_code == REFUSED
    assert "climodel.py:20" in done.output
    assert "UnsupportedSyntax" in Path("page.html").read_text(encoding="utf-8")


def test_a_function_that_cannot_be_read_is_shown_with_its_parameter(place):
    Path("runs.py").write_text("def runs(x: float) -> float:\n    exec('y = 1')\n    return x\n")
    done = run("show", "runs.py:runs")
    assert done.exit_code == REFUSED
    assert "with respect to x" in done.output
