"""Rules for the convolutions and linear filters of `scipy.signal`.

The transpose of a filter runs backwards in time.  Real signals only: complex ones are refused by
the shapes of real arithmetic that the formulas have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from srcgrad.rules.registry import linear, refuse, source, structured
from srcgrad.rules.shapes import M, T
from srcgrad.runtime.support import scipy_signal as helpers

_X = np.sin(np.arange(7.0) ** 2)
_K = np.array([0.3, -1.0, 0.5])
_W = np.array([[0.4, 1.0], [-0.3, 0.2]])
_LONG = np.sin(np.arange(15.0) ** 2)
_SOS = [[0.4, 0.3, 0.1, 1.0, -0.2, 0.1], [1.0, 0.5, 0.0, 1.0, 0.3, 0.0]]
_PAIRS: list[Any] = [
    (a, b, mode)
    for a, b in ((_X, _K), (_K[:2], _X), (M, _W))
    for mode in ("full", "same", "valid")
    if mode != "valid" or a is not _K
]

for _convolve in (signal.convolve, signal.fftconvolve, signal.oaconvolve):
    structured(
        _convolve,
        "in1, in2, mode='full'",
        vjp={
            "in1": "support.convolve_share(g, in1, in2, mode)",
            "in2": "support.convolve_share_second(g, in1, in2, mode)",
        },
        jvp={
            "in1": "signal.convolve(in1_dot, in2, mode)",
            "in2": "signal.convolve(in1, in2_dot, mode)",
        },
        at=_PAIRS,
    )
structured(
    helpers.convolve_share,
    "ct, a, b, mode",
    vjp={
        "ct": "signal.convolve(g, b, mode)",
        "b": "support.convolve_share_second(ct, g, b, mode)",
    },
    jvp={
        "ct": "support.convolve_share(ct_dot, a, b, mode)",
        "b": "support.convolve_share(ct, a, b_dot, mode)",
    },
    zero=("a",),
    at=[(np.sin(signal.convolve(a, b, m)), a, b, m) for a, b, m in _PAIRS],
)
structured(
    helpers.convolve_share_second,
    "ct, a, b, mode",
    vjp={"ct": "signal.convolve(a, g, mode)", "a": "support.convolve_share(ct, a, g, mode)"},
    jvp={
        "ct": "support.convolve_share_second(ct_dot, a, b, mode)",
        "a": "support.convolve_share_second(ct, a_dot, b, mode)",
    },
    zero=("b",),
    at=[(np.sin(signal.convolve(a, b, m)), a, b, m) for a, b, m in _PAIRS],
)
for _convolve, _name in ((signal.convolve2d, "convolve"), (signal.correlate2d, "correlate")):
    source(
        _convolve,
        getattr(helpers, f"{_name}_images"),
        at=[(M, _W), (M, _W, "valid")],
    )
source(signal.correlate, helpers.correlate, at=[(_X, _K), (_X, _K, "same"), (M, _W, "valid")])
linear(
    signal.lfilter,
    "b, a, x, axis=-1",
    x="np.flip(signal.lfilter(b, a, np.flip(g, axis), axis), axis)",
    at=[([1, 2], [2, 1], _X), ([1], [3, 1, -1], M), ([1, -1], [2], T, 1)],
)
linear(
    signal.sosfilt,
    "sos, x, axis=-1",
    x="np.flip(signal.sosfilt(sos, np.flip(g, axis), axis), axis)",
    at=[(_SOS, _X), (_SOS, M), (_SOS, T, 1)],
)


def _along(call: str, x: str = "x") -> str:
    """The cotangent by the matrix of a filter: what it makes of the unit vectors."""
    matrix = call.format(eye=f"np.eye(np.shape({x})[axis], dtype=np.asarray({x}).dtype)")
    return f"np.moveaxis(np.tensordot(g, {matrix}, (axis, 0)), -1, axis)"


linear(
    signal.filtfilt,
    "b, a, x, axis=-1, padtype='odd', padlen=None, method='pad', irlen=None",
    x=_along("signal.filtfilt(b, a, {eye}, 0, padtype, padlen, method, irlen)"),
    at=[([0.5, 0.3], [1.0, 0.2], _LONG), ([0.5, 0.3], [1.0], np.outer(_LONG, [1.0, 2.0]), 0)],
)
linear(
    signal.sosfiltfilt,
    "sos, x, axis=-1, padtype='odd', padlen=None",
    x=_along("signal.sosfiltfilt(sos, {eye}, 0, padtype, padlen)"),
    at=[(_SOS, _LONG), (_SOS, np.outer(_LONG, [1.0, 2.0]), 0)],
)
linear(
    signal.savgol_filter,
    "x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode='interp'",
    x=_along("signal.savgol_filter({eye}, window_length, polyorder, deriv, delta, 0, mode)"),
    at=[(_LONG, 5, 2), (np.outer(_LONG, [1.0, 2.0]), 7, 3, 1, 0.5, 0, "nearest")],
)
linear(
    signal.resample,
    "x, num, *, axis=0, window=None",
    x=_along("signal.resample({eye}, num, axis=0, window=window)"),
    at=[(_LONG, 8), ((np.outer([1.0, 2.0], _LONG), 20), {"axis": 1})],
)
linear(
    signal.decimate,
    "x, q, n=None, ftype='iir', axis=-1, zero_phase=True",
    x=_along("signal.decimate({eye}, q, n, ftype, 0, zero_phase)"),
    at=[(np.append(_LONG, _LONG[::-1]), 2, 2), ((_LONG, 2), {"ftype": "fir", "n": 4})],
)
linear(
    signal.detrend,
    "data, axis=-1, type='linear'",
    data="signal.detrend(g, axis, type)",  # a projection
    at=[(_X,), (M, 0, "constant"), (T, 1)],
)
refuse(
    signal.hilbert,
    signal.medfilt,
    why="its derivative is in no table of srcgrad's; write it with signal.convolve or "
    "signal.lfilter",
)
