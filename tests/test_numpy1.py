"""NumPy 1.26: names that it doesn't have are asked for, and rules follow what it means."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.rules.versions import NUMPY_2
from srcgrad.runtime.support import solves

PACKAGE = Path(__file__).parents[1] / "srcgrad"
# What NumPy 2.0 to 2.3 added and rules are about.
NEW = {
    "np": {
        "astype", "bitwise_count", "cumulative_prod", "cumulative_sum", "isdtype",
        "matrix_transpose", "matvec", "permute_dims", "unstack", "vecdot", "vecmat",
    },
    "np.linalg": {
        "cross", "diagonal", "matmul", "matrix_norm", "matrix_transpose", "outer", "svdvals",
        "tensordot", "trace", "vecdot", "vector_norm",
    },
}  # fmt: skip


def unguarded(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    """Uses of new names that run when a module is imported, whatever NumPy it is."""
    for stmt in body:
        if isinstance(stmt, ast.If) and "hasattr" in ast.unparse(stmt.test):
            continue
        if isinstance(stmt, ast.FunctionDef | ast.ClassDef):
            continue
        for node in ast.walk(stmt):
            if isinstance(node, ast.Attribute):
                owner = ast.unparse(node.value)
                if node.attr in NEW.get(owner, ()):
                    yield node.lineno, f"{owner}.{node.attr}"


def test_new_names_are_guarded() -> None:
    found = [
        (str(path.relative_to(PACKAGE)), *use)
        for path in sorted(PACKAGE.rglob("*.py"))
        for use in unguarded(ast.parse(path.read_text(encoding="utf-8")).body)
    ]
    assert found == []
    assert list(unguarded(ast.parse("x = np.linalg.outer").body)) == [(1, "np.linalg.outer")]


def stacked(x: Any) -> Any:
    a = np.stack([np.diag(x + 1.0) + 0.1, np.diag(x + 2.0) + 0.2])
    b = np.stack([x, x * x])
    if not NUMPY_2:  # vectors there, a matrix of too few rows in NumPy 2
        return np.sum(np.linalg.solve(a, b) ** 2)
    return np.sum(np.linalg.solve(a, b[..., None]) ** 2)


@pytest.mark.parametrize("typed", [True, False])
def test_stacks_of_right_hand_sides(typed: bool) -> None:
    x = np.array([0.3, 1.2, 0.7])
    sg.check_grads(stacked, (x,))
    both = sg.grad(stacked)(x), sg.grad(stacked, specialize=typed)(x)
    np.testing.assert_allclose(*both, rtol=1e-12)


def nearly_singular(x: Any, rcond: Any) -> Any:
    a = np.array([[1.0, 0.0], [0.0, 3e-16]]) * x[0]
    return np.sum(np.linalg.lstsq(a, x, rcond=rcond)[0])


def test_lstsq_cuts_off_where_numpy_does() -> None:
    """A singular value between machine precision and twice that counts for -1, not for None."""
    x = np.array([1.0, 0.5])
    for rcond, second in ((None, 0.0), (-1, 1.0 / 3e-16)):
        found = sg.grad(nearly_singular)(x, rcond)
        np.testing.assert_allclose(found[1], second, rtol=1e-6)
    assert solves.cutoff(np.eye(3), "warn") == solves.cutoff(np.eye(3), -1)
    assert solves.cutoff(np.eye(3), -0.5) == solves.cutoff(np.eye(3), -1)
