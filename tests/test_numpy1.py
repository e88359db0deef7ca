"""Names that NumPy 1.26 doesn't have are asked for before they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

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
