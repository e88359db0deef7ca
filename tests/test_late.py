"""A variable gets its older value back after the last reader of the newer one."""

from __future__ import annotations

import ast

import pytest

from srcgrad.transform.late import restore_late

HEAD = ("t1 = h", "h = h_tape.pop()")


def restored(*lines: str) -> list[str]:
    text = "".join(f" {line}\n" for line in (*HEAD, *lines))
    fn = ast.parse(f"def f(h, h_bar, u_bar, h_tape):\n{text}").body[0]
    assert isinstance(fn, ast.FunctionDef)
    restore_late(fn)
    return [line.strip() for line in ast.unparse(fn).splitlines()[1:]]


def test_the_last_reader_comes_first() -> None:
    assert restored("v_bar = h_bar * t1", "u_bar += v_bar * t1", "u_bar += h") == [
        "v_bar = h_bar * h",
        "u_bar += v_bar * h",
        "h = h_tape.pop()",
        "u_bar += h",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("u_bar += h_bar * t1 * h",),  # both values are read
        ("u_bar += h", "u_bar += t1"),
        ("if u_bar: v_bar = t1", "u_bar += h"),
        ("u_bar += t1", "for k in range(3): u_bar += t1"),
        ("u_bar += t1", "h_tape.append(t1)"),
        ("t1 += 1.0",),
        ("return t1",),
    ],
)
def test_left_as_it_is(lines: tuple[str, ...]) -> None:
    assert restored(*lines)[:2] == list(HEAD)
