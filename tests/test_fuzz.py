"""A short run over random programs, and checks of the machinery that judges them."""

from __future__ import annotations

import copy
import warnings
from collections import Counter

import numpy as np
import pytest

from tests.fuzz import containers, directions, grown, idioms, reference, shapes
from tests.fuzz.generator import Program, program
from tests.fuzz.oracle import judge
from tests.fuzz.shrink import shrink

SHORT, LONG = 60, 1500
LEAST_RIGHT = 0.5  # a refusal is honest, but few programs may be refused


def _run(seeds, folder, make=program, by=judge, loud=0.0):
    """`loud`: so many may end in another error than a refusal; none may be wrong."""
    counts, bad = Counter(), []
    for seed in seeds:
        verdict = by(make(seed), folder)
        counts[verdict.kind] += 1
        if verdict.kind in ("wrong", "crashed"):
            bad.append(f"seed {seed}: {verdict.kind}: {verdict.detail}")
    assert counts["wrong"] == 0 and len(bad) <= loud * len(seeds), "\n".join(bad)
    assert counts["skipped"] < 0.1 * len(seeds)
    assert counts["right"] >= LEAST_RIGHT * len(seeds), counts


@pytest.mark.parametrize("start", range(0, SHORT, 10))
def test_random_programs(start, tmp_path):
    _run(range(start, start + 10), tmp_path)


@pytest.mark.parametrize("start", range(0, SHORT, 30))
def test_random_programs_about_containers(start, tmp_path):
    _run(range(start, start + 30), tmp_path, containers.program)


def test_random_programs_whose_shapes_vary(tmp_path):
    _run(range(40), tmp_path, shapes.program)


def test_random_programs_of_idioms(tmp_path):
    _run(range(12), tmp_path, idioms.program, directions.judge)


def test_programs_that_are_grown(tmp_path):
    _run(range(12), tmp_path, grown.program, directions.judge)


@pytest.mark.slow
def test_many_programs_that_are_grown(tmp_path):
    seeds = range(1_000_000, 1_000_000 + LONG)
    _run(seeds, tmp_path, grown.program, directions.judge, loud=0.02)


@pytest.mark.slow
def test_many_random_programs_of_idioms(tmp_path):
    _run(range(1_000_000, 1_000_000 + LONG), tmp_path, idioms.program, directions.judge)


@pytest.mark.slow
def test_many_random_programs_whose_shapes_vary(tmp_path):
    _run(range(1_000_000, 1_000_000 + LONG), tmp_path, shapes.program)


@pytest.mark.slow
def test_many_random_programs(tmp_path):
    _run(range(1_000_000, 1_000_000 + LONG), tmp_path)


def test_programs_are_deterministic_and_differ():
    assert program(7).text == program(7).text
    texts = {program(seed).text for seed in range(100)}
    assert len(texts) == 100


def test_programs_use_the_language():
    """What the programs are for: none of these may drop out of the generator unnoticed."""
    text = "".join(program(seed).text for seed in range(400))
    wanted = """
        for while break continue elif lambda recurse( .append( .pop() enumerate( zip( += -= *= /=
        [np.array([ [...] ::-1] h0( .T .ravel() np.where( if ["a"] np.zeros( np.linalg.norm(
    """.split()
    assert [w for w in wanted if w not in text] == []


def test_idioms_are_deterministic_and_used():
    """None of these may drop out of the programs unnoticed."""
    texts = [idioms.program(seed).text for seed in range(300)]
    assert texts[7] == idioms.program(7).text and len(set(texts)) == 300
    wanted = """
        for while break continue elif lambda match case try: with := .append( zip(
        enumerate(
        += -= *= /= out= np.add.at( .sort() .fill( np.copyto( [::-1] ::2 .T[ .ravel() .reshape(
        np.where( np.clip( np.sort( np.cumsum( axis= 1j float32 State( row in *parts
        kernel( solve_newton( np.linalg.solve( np.fft. best
    """.split()
    everything = "".join(texts)
    assert [w for w in wanted if w not in everything] == []


def test_grown_programs_are_deterministic_and_used():
    """None of these may drop out of the programs unnoticed."""
    texts = [grown.program(seed).text for seed in range(150)]
    assert texts[7] == grown.program(7).text and len(set(texts)) == 150
    wanted = """
        for while break continue return else: try: finally: with lambda rec( h0( g1( .append(
        enumerate( zip( += -= *= out= np.add.at( .sort() .fill( np.copyto( [::-1] ::2 .T .ravel()
        .reshape( 1j > 0.1] ["a"] np.put(
    """.split()
    everything = "".join(texts)
    assert [w for w in wanted if w not in everything] == []


def test_the_judge_of_directions_finds_what_is_wrong(tmp_path, monkeypatch):
    import srcgrad

    wrong = Program(0, "def f(x):\n    return x[0] * x[1]\n", (np.array([0.3, 0.7]),), (0,))
    assert directions.judge(wrong, tmp_path).kind == "right"
    right = srcgrad.value_and_grad

    def doubled(*args, **options):
        made = right(*args, **options)
        return lambda *given: (made(*given)[0], tuple(2.0 * g for g in made(*given)[1]))

    monkeypatch.setattr(srcgrad, "value_and_grad", doubled)
    assert directions.judge(wrong, tmp_path).detail.startswith("reverse: the slope")


@pytest.mark.parametrize("seed", range(0, 300, 3))
def test_the_reference_agrees_with_differences(seed):
    p = program(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value, gradients = reference.gradient(p.text, p.args, p.wrt)
        except reference.Kink:
            return
        space = {}
        exec(p.text, space)
        rng = np.random.default_rng(seed)
        along = [rng.standard_normal(np.shape(p.args[i])) for i in p.wrt]

        def f(h):
            args = list(copy.deepcopy(p.args))
            for i, d in zip(p.wrt, along, strict=True):
                args[i] = args[i] + h * d
            return space["f"](*args)

        assert f(0.0) == pytest.approx(value, rel=1e-9, abs=1e-9)
        slope = sum(np.sum(d * g) for d, g in zip(along, gradients, strict=True))
        # A step across a kink spoils a difference; one of several steps is small enough.
        steps = [1e-3, 1e-4, 1e-5, 1e-6]
        found = [(8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h) for h in steps]
        assert min(abs(d - slope) for d in found) < 1e-6 * (1 + abs(slope))


def test_the_reference_refuses_kinks():
    with pytest.raises(reference.Kink):
        reference.gradient("def f(x, y): return max(x, y)", (1.0, 1.0), (0, 1))
    with pytest.raises(reference.Kink):
        reference.gradient("def f(x): return abs(x)", (0.0,), (0,))
    value, (slope,) = reference.gradient("def f(x): return max(x, x * x)", (0.5,), (0,))
    assert (value, slope) == (0.5, 1.0)


def test_shrink_finds_the_statement_at_fault():
    text = """\
def f(x):
    s = 0.0
    for i in range(3):
        if x[i] > 0.0:
            s = s + x[i]
        x[i] = np.tanh(x[i] * 2.0)
    return s + x[0]
"""
    small = shrink(Program(0, text, (), ()), lambda p: "np.tanh" in p.text and "def f" in p.text)
    assert small.text == "def f(x):\n    x[i] = np.tanh\n"
