"""What the passes over loops know of names."""

from __future__ import annotations

import ast

import pytest

from srcgrad.transform.loops.facts.accesses import Function

PROGRAM = """
def f(a, n):
    s = 0.0
    for i in range(n):
        {body}
    {after}
"""


def function(body, after):
    tree = ast.parse(PROGRAM.format(body=body, after=after)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return Function(tree), tree.body[1]


@pytest.mark.parametrize(
    ("body", "after", "alive"),
    [
        ("s = a[i]", "return s", True),
        ("s = a[i]", "s = 1.0; return s", False),
        ("s = a[i]", "s += 1.0", True),
        ("s = a[i]", "a[s] = 1.0", True),
        ("s = a[i]", "for s in range(n): a[s] = 1.0", False),
        ("s = a[i]", "return n", False),
        ("s = a[i]", "with n: s = s + 1.0", True),
    ],
)
def test_which_names_are_read_after_a_loop(body, after, alive):
    fn, loop = function(body, after)
    assert fn.live_after(["s"], loop) is alive
    assert fn.live_after(["s", "nowhere"], loop) is alive
    assert not fn.live_after(["nowhere"], loop)


@pytest.mark.parametrize(
    ("inner", "alive"),
    [
        ("for j in range(n): t = a[j]\n            s = t", True),
        ("for j in range(n): t = a[j]\n            t = 1.0", False),
        ("t = 1.0\n            for j in range(n): t = a[j]", False),
        ("a[i] = t\n            for j in range(n): t = a[j]", True),
        ("if n: t = 1.0\n            for j in range(n): t = a[j]", False),
    ],
)
def test_a_loop_around_reads_what_its_next_iteration_reads(inner, alive):
    fn, outer = function(f"for k in range(n):\n            {inner}", "return n")
    assert isinstance(outer, ast.For)
    middle = outer.body[0]
    assert isinstance(middle, ast.For)
    loop = next(s for s in middle.body if isinstance(s, ast.For))
    assert fn.live_after(["t"], loop) is alive


def test_loops_that_a_pass_made_are_known_too():
    fn, _ = function("s = a[i]", "return s")
    assert not fn.live_after(["i"], fn.node.body[1])
    made = ast.parse("for i in range(n): a[i] = s").body[0]
    fn.node.body.insert(2, made)
    assert fn.live_after(["s"], made)
