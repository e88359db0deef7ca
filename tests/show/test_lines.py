"""The relation between lines of the primal and of the derivative."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad.jobs import Job
from srcgrad.show.variant import view
from srcgrad.spelling import parse_types

from . import programs

START = programs.simulate.__code__.co_firstlineno
TYPES = tuple(parse_types("x=float64[:], w=float, n=int").items())


def seen(fn=programs.simulate, mode="grad", wrt=("x", "w"), types=TYPES):
    return view([Job(fn, mode, wrt, types)]).variants[0]


def partners(variant, offset, sweep):
    rows = [r for r in variant.lines if r.origin == START + offset and r.sweep == sweep]
    return [r.text.strip() for r in rows if not r.text.strip().startswith("#")]


def test_a_statement_has_its_forward_and_its_reverse_lines():
    variant = seen()
    assert partners(variant, 3, "forward")[0] == "h = np.tanh(w * s + x[i])"
    reverse = partners(variant, 3, "reverse")
    assert any(text.startswith("x_bar[i] +=") for text in reverse)
    assert any(text.startswith("w_bar +=") for text in reverse)
    assert not any("s_bar = s_bar * h" in text for text in reverse)


def test_loops_and_branches_are_related_in_both_sweeps():
    variant = seen()
    assert partners(variant, 2, "forward") == ["for i in range(n):"]
    assert partners(variant, 2, "reverse") == ["for i in range(n - 1, -1, -1):"]
    assert partners(variant, 4, "forward") == ["if h > 0.5:", "else:"]
    assert partners(variant, 4, "reverse") == ["if h > 0.5:", "else:"]


def test_what_is_saved_is_restored_and_both_come_from_one_line():
    variant = seen()
    saves = {r.tape: r.origin for r in variant.lines if r.action == "save"}
    restores = {r.tape: r.origin for r in variant.lines if r.action == "restore"}
    assert saves
    assert saves == restores
    assert START + 5 in saves.values()


def test_every_line_of_a_sweep_is_marked():
    variant = seen()
    body = variant.lines[
        [r.text for r in variant.lines].index("def simulate_grad(x, w, n):") + 1 :
    ]
    sweeps = [r.sweep for r in body]
    change = sweeps.index("reverse")
    assert set(sweeps[:change]) == {"forward"}
    assert set(sweeps[change:]) == {"reverse"}


def test_the_forward_mode_is_related_too():
    variant = seen(mode="jvp")
    lines = partners(variant, 3, "tangent")
    assert len(lines) >= 2
    assert any("h_dot" in text for text in lines)


def test_callees_have_panes_of_their_own():
    variant = seen(programs.outer, wrt="a", types=tuple(parse_types("a=float, n=int").items()))
    assert [p.name for p in variant.primals] == ["outer", "scaled"]
    inside = programs.scaled.__code__.co_firstlineno + 1
    rows = [r for r in variant.lines if r.origin == inside]
    assert rows
    assert {variant.primal_of(r) for r in rows} == {1}


def test_types_and_activity_of_lines():
    primal = seen().primals[0]
    by_number = {line.number - START: line for line in primal.lines}
    assert ("x", "float64[:]") in by_number[0].types
    assert ("h", "float64") in by_number[3].types
    assert by_number[3].active
    assert by_number[8].active
    assert not by_number[2].active
    assert [entry.target for entry in by_number[3].rules] == [np.tanh]


def test_a_refusal_is_part_of_the_view():
    variant = seen(programs.refused, wrt="x", types=())
    assert variant.error is not None
    assert variant.error.loc.line == programs.refused.__code__.co_firstlineno + 2
    assert not variant.lines


@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp"])
def test_origins_are_lines_of_the_primal(mode):
    for types in (TYPES, ()):
        variant = seen(mode=mode, types=types)
        for row in variant.lines:
            if row.origin:
                assert variant.primals[variant.primal_of(row)].has(row.origin)
