"""No derivative passes through text; what reads a number from it is refused, the rest is not."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

BOTH = pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])


def array_of_text(x):
    a = np.array([x * x])
    return float(a.astype(str).astype(float)[0])


def array_of_short_text(x):
    a = np.array([x * x])
    return float(a.astype("U20")[0])


def printed_to_a_file(x):
    s = io.StringIO()
    print(x * x, file=s)
    return float(s.getvalue())


def written_to_a_file(x):
    s = io.StringIO()
    s.write(f"{x * x}")
    return float(s.getvalue())


def read_from_a_file(x):
    s = io.StringIO()
    s.write(str(x * x))
    s.seek(0)
    return float(s.read())


def percent(x):
    return float("%f" % (x * x))


def method_format(x):
    return float(f"{x * x}")


def function_format(x):
    return float(format(x * x, ".3f"))


def joined_and_split(x):
    return sum(float(v) for v in ",".join([str(x), str(x * x)]).split(","))


def encoded(x):
    return float(str(x * x).encode())


def scalar_of_numpy(x):
    return np.float64(str(x * x))


def array_made_of_text(x):
    return np.array([str(x), "2.0"]).astype(float).sum()


def list_of_text(x):
    l = [str(x)]
    l.append(f"{x * x}")
    return sum(map(float, l))


def through_two_functions(x):
    def w(v):
        return str(v)

    def r(s):
        return float(s)

    return r(w(x * x))


REFUSED = [
    array_of_text,
    array_of_short_text,
    printed_to_a_file,
    written_to_a_file,
    read_from_a_file,
    percent,
    method_format,
    function_format,
    joined_and_split,
    encoded,
    scalar_of_numpy,
    array_made_of_text,
    list_of_text,
    through_two_functions,
]


@BOTH
@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_a_number_read_from_text_is_refused(fn: Any, typed: bool) -> None:
    for make, args in ((sg.grad, (1.3,)), (sg.jvp, (1.0, 1.3))):
        with pytest.raises(sg.NotDifferentiable, match="a number is read from text") as caught:
            make(fn, specialize=typed)(*args)
        assert "test_texts.py:" in str(caught.value)


def labelled(x, name):
    return x * 2.0 if name == "twice" else x


def option_by_text(x):
    name = "twice" if f"{x:.1f}" == "1.3" else "once"
    return labelled(x * x, name)


def table_by_text(x):
    table = {str(k): x**k for k in range(4)}
    return table["3"] * len(str(x))


def written_and_dropped(x):
    log = io.StringIO()
    print(x, file=log)
    log.write(f"{x}")
    return x * x


def read_but_not_used(x):
    shown = float(f"{x:.2f}")
    assert shown == 1.3
    return x * x


@BOTH
@pytest.mark.parametrize(
    ("fn", "wanted"),
    [
        (option_by_text, 4 * 1.3),
        (table_by_text, 9 * 1.3**2),
        (written_and_dropped, 2.6),
        (read_but_not_used, 2.6),
    ],
)
def test_text_that_numbers_do_not_come_from(fn: Any, wanted: float, typed: bool) -> None:
    assert sg.grad(fn, specialize=typed)(1.3) == pytest.approx(wanted, rel=1e-12)
    assert sg.jvp(fn, specialize=typed)(1.0, 1.3)[1] == pytest.approx(wanted, rel=1e-12)


def test_a_display_of_numbers_needs_no_helper() -> None:
    def rhs(y, k):
        a, b = y[0], y[1]
        return np.array([-k * a, k * a - b, 0.0])

    def f(y, k):
        return np.sum(rhs(y, k) ** 2)

    y = np.array([0.7, -0.4])
    for mode in ("grad", "jvp"):
        assert "support.array_back" not in sg.source(f, y, 0.3, wrt=(0, 1), mode=mode)
        assert "support.filled" not in sg.source(f, y, 0.3, wrt=(0, 1), mode=mode)
    sg.check_grads(f, (y, 0.3), wrt=(0, 1))
    assert "support.array_back" in sg.source(f, wrt=(0, 1))  # without types
