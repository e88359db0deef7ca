"""Ahead of time: what is written, what it needs, when it is stale."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from show import programs

import srcgrad as sg
from srcgrad.analysis.types.probe import type_of
from srcgrad.build import BuildError, ConfigError, Options, build, read, single
from srcgrad.build.config import Config, Output, Target, from_table
from srcgrad.build.helpers import PACKAGE, reached
from srcgrad.build.place import Place
from srcgrad.build.text import module_text
from srcgrad.jobs import Job
from srcgrad.runtime import support
from srcgrad.spelling import parse_types
from tests import test_golden

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "aot_package"
HERE = Place(ROOT)
STANDALONE = Options(standalone=True)
SIMULATE = "x=float64[:], w=float, n=int"


def job(fn, wrt, types, mode="grad"):
    return Job(fn, mode, wrt, tuple(parse_types(types).items()))


def text_of(*jobs, options=STANDALONE, place=HERE, names=None):
    return module_text(jobs, names or [None] * len(jobs), options, place)


def loaded(text, tmp_path, name="built"):
    file = tmp_path / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def python(*arguments, cwd=None, **environment):
    env = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True, text=True, timeout=180, env=env, cwd=cwd,
    )  # fmt: skip


# ---- the text ------------------------------------------------------------------


def test_a_standalone_module_gives_the_same_numbers(tmp_path):
    built = loaded(text_of(job(programs.simulate, ("x", "w"), SIMULATE)), tmp_path)
    x = np.linspace(-1.0, 2.0, 7)
    want = sg.grad(programs.simulate, ("x", "w"))(x, 0.7, 7)
    got = built.simulate_grad(x, 0.7, 7)
    np.testing.assert_array_equal(got[0], want[0])
    assert got[1] == want[1]


def test_a_standalone_module_runs_without_srcgrad(tmp_path):
    text = text_of(job(programs.simulate, ("x", "w"), "n=int"))  # types not known: many helpers
    assert "srcgrad.runtime" not in text.replace("copied from srcgrad.runtime", "")
    (tmp_path / "built.py").write_text(text)
    code = (
        "import sys, numpy as np, built\n"
        "print(built.simulate_grad(np.ones(3), 0.5, 3))\n"
        "assert not any(m.split('.')[0] in ('srcgrad', 'astor') for m in sys.modules)\n"
    )
    done = python("-c", code, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    gradient, slope = eval(done.stdout, {"array": np.array, "np": np})
    want = sg.grad(programs.simulate, ("x", "w"))(np.ones(3), 0.5, 3)
    np.testing.assert_allclose(gradient, want[0], atol=1e-7)
    assert slope == pytest.approx(want[1])


def test_without_standalone_it_imports_the_helpers(tmp_path):
    text = text_of(job(programs.simulate, "x", ""), options=Options())
    assert "from srcgrad.runtime import support" in text
    assert loaded(text, tmp_path).simulate_grad(np.ones(3), 0.5, 3).shape == (3,)


def test_several_functions_share_a_module_and_its_callees(tmp_path):
    types = "a=float, n=int"
    text = text_of(
        job(programs.outer, "a", types),
        job(programs.outer, "a", types, "value_and_grad"),
        job(programs.outer, "a", types, "jvp"),
        names=[None, "both", None],
    )
    assert text.count("def scaled_forward") == 1
    built = loaded(text, tmp_path)
    assert built.__all__ == ["both", "outer_grad", "outer_jvp"]
    value, slope = built.both(0.3, 4)
    assert value == pytest.approx(programs.outer(0.3, 4))
    assert slope == built.outer_grad(0.3, 4)
    assert built.outer_jvp(1.0, 0.3, 4)[1] == pytest.approx(slope)


def test_signatures_have_hints_and_docstrings(tmp_path):
    text = text_of(job(programs.simulate, ("x", "w"), SIMULATE, "value_and_grad"))
    built = loaded(text, tmp_path)
    doc = built.simulate_value_and_grad.__doc__
    assert doc.startswith("Value and gradient of `simulate` with respect to x, w.\n")
    assert "Made for x float64[:], w float, n int." in doc
    assert "x: npt.NDArray[np.float64], w: float, n: int" in text
    assert "-> tuple[float, tuple[npt.NDArray[np.float64], float]]:" in text


@pytest.mark.parametrize("tool", ["ruff", "mypy"])
def test_the_text_is_clean(tmp_path, tool):
    command = shutil.which(tool) or shutil.which(tool, path=Path(sys.executable).parent)
    if command is None:
        pytest.skip(f"{tool} is not installed")
    jobs = [
        job(programs.simulate, ("x", "w"), SIMULATE),
        job(programs.simulate, "x", "", "vjp"),
        job(programs.simulate, "w", SIMULATE, "jvp"),
        job(programs.outer, "a", "a=float, n=int"),
    ]
    (tmp_path / "built.py").write_text(text_of(*jobs))
    options = {
        "ruff": ["check", "--isolated", "--select", "E,F,I", "--line-length", "99"],
        "mypy": ["--strict", "--config-file", os.devnull, "--cache-dir", str(tmp_path / "cache")],
    }
    done = subprocess.run(
        [command, *options[tool], "built.py"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr


WHOLE = ("break_continue", "heat_equation", "kalman", "match_case", "mixture", "mlp_dict", "rnn",
         "sir_model", "tuples", "two_loops", "unused_code", "views")  # fmt: skip


@pytest.mark.parametrize("standalone", [True, False])
def test_texts_of_whole_programs_are_clean(tmp_path, standalone):
    """Of many kinds; mypy sees also the programs, which have no types."""
    for name in WHOLE:
        program = test_golden.program(name)
        fn = test_golden.primal(program)
        params = inspect.signature(fn).parameters
        types = tuple(zip(params, map(type_of, program.ARGS), strict=False))
        options = Options(standalone=standalone)
        target = Target(f"{name}:{fn.__name__}", wrt=program.WRT, types=types)
        output = Output(tmp_path / f"{name}_grad.py", options, (target,))
        (made,) = build(Config(tmp_path, (), (output,)))
        made.write()
    run = functools.partial(subprocess.run, capture_output=True, text=True, cwd=tmp_path)
    tools = (
        ("ruff", "check", "--isolated", "--select", "E,F,I", "--line-length", "99", "."),
        ("mypy", "--strict", "--config-file", os.devnull, "--cache-dir", "cache",
         "--follow-imports=silent", "--ignore-missing-imports", "."),
    )  # fmt: skip
    for tool in tools:
        done = run([sys.executable, "-m", *tool], env=os.environ | {"MYPYPATH": str(ROOT)})
        assert done.returncode == 0, done.stdout + done.stderr


def test_bytes_do_not_depend_on_directory_or_hashes(tmp_path):
    texts = set()
    for seed, where in (("1", tmp_path), ("2", ROOT)):
        out = tmp_path / f"out{seed}.py"
        done = python(
            "-m", "srcgrad", "build", f"{ROOT / 'tests' / 'show' / 'programs.py'}:simulate",
            "--types", "n=int", "--wrt", "x,w", "--standalone", "-o", out, "--project", ROOT,
            cwd=where, PYTHONHASHSEED=seed,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        texts.add(out.read_bytes())
    assert len(texts) == 1
    assert str(tmp_path).encode() not in texts.pop()


# ---- arguments of other types --------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        (np.ones(3, np.float32), 0.5, 3),
        (np.ones((3, 1)), 0.5, 3),
        (np.ones(3), np.ones(3), 3),
    ],
)
def test_what_it_was_not_made_for_is_refused(tmp_path, arguments):
    built = loaded(text_of(job(programs.simulate, ("x", "w"), SIMULATE)), tmp_path)
    with pytest.raises(TypeError, match="made for x float64"):
        built.simulate_grad(*arguments)


def test_length_one_is_refused_only_where_broadcasting_could_matter(tmp_path):
    built = loaded(text_of(job(programs.simulate, "x", SIMULATE)), tmp_path, "loop")
    assert built.simulate_grad(np.ones(1), 0.5, 1).shape == (1,)
    text = text_of(job(spread, ("a", "b"), "a=float64[:], b=float64[:]"))
    built = loaded(text, tmp_path, "spread")
    with pytest.raises(TypeError, match="each longer than 1"):
        built.spread_grad(np.ones(1), np.ones(3))


def spread(a, b):
    return np.sum(a * b)


def test_checks_can_be_left_out():
    plain = Options(standalone=True, checks=False)
    assert "raise TypeError" not in text_of(job(spread, "a", "a=float64[:]"), options=plain)


# ---- globals and live objects --------------------------------------------------


def test_numbers_of_other_modules_are_written_into_a_standalone_module(tmp_path):
    text = text_of(job(programs.with_globals, "x", "x=float64[:]"))
    assert "SCALE = 2.5" in text
    assert "WEIGHTS = np.array([1.0, -2.0, 0.5])" in text
    built = loaded(text, tmp_path)
    assert built.with_globals_grad(np.zeros(3)).tolist() == [2.5, -5.0, 1.25]


def test_in_the_package_of_the_function_globals_are_read_when_it_runs():
    own = Place(ROOT, programs.__name__.split(".")[0])
    text = text_of(job(programs.with_table, "x", "x=float"), place=own)
    assert f"import {programs.__name__}" in text
    assert "TABLE" in text


def test_what_can_not_be_written_down_is_refused():
    with pytest.raises(BuildError, match=r"standalone module can't read .*PLACES \(a dict\)"):
        text_of(job(programs.with_places, "x", "x=float"))


def test_constants_of_modules_and_closures_are_written_down(tmp_path):
    text = text_of(
        job(programs.with_table, "x", "x=float"),
        job(programs.tripled, "x", "x=float"),
        job(programs.times(5.0), "x", "x=float"),
    )
    for line in ('TABLE = {"a": 2.0}', "c = 3.0", "c_2 = 5.0"):
        assert line in text
    built = loaded(text, tmp_path)
    assert built.with_table_grad(1.5) == 2.0
    assert (built.scaled_grad(1.5), built.scaled_grad_2(1.5)) == (3.0, 5.0)
    jitted = text_of(job(programs.tripled, "x", "x=float"), options=Options(True, jit=True))
    assert "c = 3.0" in jitted


def test_variables_named_as_modules_and_starred_parameters(tmp_path):
    text = text_of(
        job(programs.particles, "np", "np=float"),
        job(programs.starred, "args", ""),
        job(programs.named, "x", ""),
    )
    built = loaded(text, tmp_path)
    assert "import numpy\n" in text
    assert built.particles_grad(3.0) == 6.0
    assert built.starred_grad(2.0, 3.0) == (3.0, 2.0)
    assert built.named_grad(2.0, k=5.0) == 5.0
    with pytest.raises(TypeError, match="was made for np float"):
        built.particles_grad(np.ones(2))
    file = tmp_path / "built.py"
    for check in (("ruff", "check", "--isolated", "--select", "E,F,RUF022", "--line-length", "99"),
                  ("mypy", "--strict")):  # fmt: skip
        done = python("-m", *check, file, cwd=tmp_path)
        assert done.returncode == 0, done.stdout


def test_live_objects_are_refused_with_a_reason():
    with pytest.raises(BuildError, match="variables that a closure captured") as caught:
        text_of(job(programs.captured, "x", "x=float"), options=Options())
    assert "pass it as an argument" in str(caught.value)


# ---- helpers -------------------------------------------------------------------


def test_every_helper_can_be_copied(tmp_path):
    names = [
        n for n, v in vars(support).items() if getattr(v, "__module__", "").startswith(PACKAGE)
    ]
    copies = reached(names)
    text = copies.text(copies.names(()))
    lines = {__import__("ast").unparse(node) for node in copies.imports.values()}
    head = "from __future__ import annotations\n" + "\n".join(sorted(lines)) + "\n\n\n"
    module = loaded(head + text, tmp_path, "helpers")
    assert module._safe_divide(1.0, 0.0) == 0.0
    ruff = shutil.which("ruff") or shutil.which("ruff", path=Path(sys.executable).parent)
    if ruff:
        done = subprocess.run(
            [ruff, "check", "--isolated", "--select", "F", "helpers.py"],
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


def test_only_what_is_reached_is_copied():
    names = {name for _, name in reached(["safe_divide"]).order}
    assert "safe_divide" in names
    assert len(names) < 6


# ---- settings ------------------------------------------------------------------


TARGET = {"function": "m:f", "output": "g.py", "wrt": "x", "types": {"x": "float64[:]"}}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "has no targets"),
        ({"targets": [TARGET], "standalne": True}, "perhaps you mean standalone"),
        ({"targets": [TARGET | {"wrtt": "x"}]}, "unknown setting 'wrtt'"),
        ({"targets": [{"output": "g.py"}]}, "has no function"),
        ({"targets": [{"function": "m:f"}]}, "has no output"),
        ({"targets": [TARGET | {"mode": "gradient"}]}, "mode in target 1"),
        ({"targets": [TARGET | {"wrt": []}]}, "wrt in target 1"),
        ({"targets": [TARGET | {"types": {"x": 3}}]}, "types in target 1"),
        ({"targets": [TARGET | {"name": "not a name"}]}, "isn't a name"),
        ({"targets": [TARGET], "standalone": "yes"}, "standalone in"),
        ({"targets": [TARGET], "jit": True, "pythran": True}, "compiled by one"),
        ({"targets": [TARGET, TARGET | {"standalone": True}]}, "different settings"),
        ({"targets": "m:f"}, "has no targets"),
        ({"targets": [TARGET], "path": "src"}, "list of directories"),
    ],
)
def test_settings_that_mean_nothing_are_explained(table, said):
    with pytest.raises(ConfigError, match=said):
        from_table(table, Path())


def test_a_project_without_settings(tmp_path):
    with pytest.raises(ConfigError, match="there is no"):
        read(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    with pytest.raises(ConfigError, match="no table"):
        read(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.srcgrad\n")
    with pytest.raises(ConfigError, match="can't be read"):
        read(tmp_path)


# ---- stale or not --------------------------------------------------------------


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A copy of the example with its output made by this version."""
    copy = tmp_path_factory.mktemp("fresh") / "package"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for made in outputs(copy):
        made.write()
    return copy


@pytest.fixture
def package(fresh, tmp_path):
    shutil.copytree(fresh, tmp_path / "package")
    return tmp_path / "package"


def outputs(project):
    """What `srcgrad build` would write, in a process that knows nothing of the package yet."""
    path = list(sys.path)
    try:
        return build(read(project))
    finally:
        sys.path[:] = path
        for name in [m for m in sys.modules if m.split(".")[0] == "lynx"]:
            del sys.modules[name]


def srcgrad_build(place, *arguments):
    return python("-m", "srcgrad", "build", *arguments, cwd=place)


def test_the_example_is_up_to_date():
    done = python("-m", "srcgrad", "build", "--check", cwd=EXAMPLE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_fails_with_a_diff_when_the_function_changed(package):
    model = package / "src" / "lynx" / "model.py"
    model.write_text(model.read_text().replace(") ** 2)", ") ** 4)"))
    output = package / "src" / "lynx" / "_gradients.py"
    before = output.read_text()
    done = srcgrad_build(package, "--check")
    assert done.returncode == 1
    assert "+++ src/lynx/_gradients.py" in done.stdout
    assert "stale: src/lynx/_gradients.py" in done.stderr
    assert output.read_text() == before
    assert "written" in srcgrad_build(package).stdout
    assert not outputs(package)[0].stale


@pytest.mark.parametrize("damage", ["missing", "broken", "edited", "comment"])
def test_an_output_that_was_tampered_with_is_made_again(package, damage):
    output = package / "src" / "lynx" / "_gradients.py"
    whole = output.read_text()
    if damage == "missing":
        output.unlink()  # the package imports it, and can't be imported without
    else:
        changed = {
            "broken": whole[: len(whole) // 2] + "def (",
            "edited": whole.replace("2.0", "3.0"),
            "comment": whole + "# x\n",
        }
        output.write_text(changed[damage])
    (made,) = outputs(package)
    assert made.stale
    assert made.write()
    assert output.read_text() == whole


def test_a_formatter_or_another_version_makes_nothing_stale(package):
    output = package / "src" / "lynx" / "_gradients.py"
    text = output.read_text()
    loose = text.replace("* (1.0", "* ( 1.0").replace(
        "import numpy as np\n", "import numpy as np\n\n", 1
    )
    assert loose != text
    output.write_text(loose.replace("# Generated by srcgrad ", "# Generated by srcgrad 9.", 1))
    (made,) = outputs(package)
    assert not made.stale


def test_settings_of_the_command_line(tmp_path):
    (tmp_path / "small.py").write_text("def f(x, y):\n    return x * x * y\n")
    code = tmp_path / "g.py"
    done = srcgrad_build(
        tmp_path, "small.py:f", "-o", "g.py", "--wrt", "x,y", "--types", "x=float, y=float",
        "--mode", "value_and_grad", "--name", "g", "--standalone",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert loaded(code.read_text(), tmp_path, "g").g(3.0, 2.0) == (18.0, (12.0, 9.0))
    config = single(["small.py:f"], code, Options(), tmp_path, types="x=float")
    assert config.outputs[0].targets[0].types


def test_the_example_fits_the_data():
    done = python("-m", "lynx", cwd=EXAMPLE, PYTHONPATH="src")
    assert done.returncode == 0, done.stderr
    # With differences instead of the gradient the same minimum is found.
    assert "growth  0.540   hunting 0.0272" in done.stdout
    assert "misfit  2.0187" in done.stdout


def test_an_output_that_is_up_to_date_has_no_diff(package):
    (made,) = outputs(package)
    assert made.diff() == ""
    assert made.write() is False


# ---- other compilers -----------------------------------------------------------


def test_numba_compiles_a_standalone_module(tmp_path):
    pytest.importorskip("numba")
    text = text_of(
        job(programs.simulate, ("x", "w"), SIMULATE), options=Options(standalone=True, jit=True)
    )
    assert "from numba import njit" in text
    (tmp_path / "jitted.py").write_text(text)
    code = (
        "import numpy as np, jitted\n"
        "np.set_printoptions(precision=17)\n"
        "print(jitted.simulate_grad(np.ones(3), 0.5, 3))\n"
    )
    done = python("-c", code, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    gradient, slope = eval(done.stdout, {"array": np.array})
    want = sg.grad(programs.simulate, ("x", "w"))(np.ones(3), 0.5, 3)
    np.testing.assert_allclose(gradient, want[0], atol=1e-8)
    assert slope == pytest.approx(want[1])


def test_numba_takes_helpers_from_srcgrad(tmp_path):
    pytest.importorskip("numba")
    numba_job = job(programs.with_norm, "x", "x=float64[:]")
    text = text_of(numba_job, options=Options(jit=True))
    (tmp_path / "jitted.py").write_text(text)
    code = "import numpy as np, jitted\nprint(jitted.with_norm_grad(np.array([3.0, 4.0])))\n"
    done = python(
        "-c", code, PYTHONPATH=os.pathsep.join(map(str, [tmp_path, ROOT, ROOT / "tests"]))
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[1.5 2. ]"
    with pytest.raises(BuildError, match="safe_divide"):
        text_of(numba_job, options=Options(standalone=True, jit=True))


def test_pythran_exports(tmp_path):
    text = text_of(job(programs.simulate, ("x", "w"), SIMULATE), options=Options(pythran=True))
    assert "# pythran export simulate_grad(float64[:], float, int)" in text
    assert "typing" not in text
    pythran = shutil.which("pythran")
    if pythran is None:
        pytest.skip("pythran is not installed")
    (tmp_path / "exported.py").write_text(text)
    subprocess.run([pythran, "exported.py"], check=True, cwd=tmp_path, capture_output=True)
    (tmp_path / "exported.py").unlink()
    code = "import numpy as np, exported\nprint(exported.simulate_grad(np.ones(3), 0.5, 3)[1])\n"
    done = python("-c", code, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    want = sg.grad(programs.simulate, "w")(np.ones(3), 0.5, 3)
    assert float(done.stdout) == pytest.approx(want)


def test_the_hooks_for_pre_commit_run(package):
    """What .pre-commit-hooks.yaml says to run is there, and fails when an output is stale."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    entries = dict(re.findall(r"- id: (\S+)\n(?:  .*\n)*?  entry: srcgrad (.*)\n", text))
    assert set(entries) == {"srcgrad-check", "srcgrad-build"}
    output = package / "src" / "lynx" / "_gradients.py"
    output.write_text(output.read_text() + "# stale\n")

    def run(hook):
        return python("-m", "srcgrad", *entries[hook].split(), cwd=package).returncode

    assert [run("srcgrad-check"), run("srcgrad-build"), run("srcgrad-check")] == [1, 0, 0]
