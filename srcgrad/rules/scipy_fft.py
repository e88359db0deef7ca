"""Rules for the transforms of `scipy.fft`, which are those of `numpy.fft` where there are such.

Options that let the input be overwritten are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft

from srcgrad.rules.fft import _LINE, _PLANES, C3, C34, X5
from srcgrad.rules.registry import linear, nondiff, refuse
from srcgrad.rules.shapes import M, T, V
from srcgrad.runtime.support import scipy_fft as helpers

_REAL = [s for s in _LINE if not np.iscomplexobj(s[0])]
_ON_LINES: dict[str, tuple[str, list[Any]]] = {
    "fft": ("support.fit(np.fft.fft(g, None, axis, norm), x)", _LINE),
    "ifft": ("support.fit(np.fft.ifft(g, None, axis, norm), x)", _LINE),
    "rfft": ("support.rfft_back(g, x, n, axis, norm)", _REAL),
    "irfft": ("support.irfft_back(g, x, axis, norm)", [*_LINE, (C34, 5)]),
    "hfft": (
        "np.conj(support.irfft_back(g, x, axis, support.other_norm(norm)))",
        [(C3,), (C34, 5), (V,)],
    ),
    "ihfft": (
        "support.rfft_back(np.conj(g), x, n, axis, support.other_norm(norm))",
        [(V,), (X5, 7)],
    ),
}
for _name, (_formula, _at) in _ON_LINES.items():
    linear(
        getattr(fft, _name), "x, n=None, axis=-1, norm=None, *, workers=None", x=_formula, at=_at,
        zero=("n", "norm", "workers"),
    )  # fmt: skip
for _name, _axes in (("fftn", "None"), ("fft2", "(-2, -1)")):
    _params = f"x, s=None, axes={_axes}, norm=None, *, workers=None"
    _all = "axes" if "2" in _name else "support.fft_axes(x, s, axes)"
    _forms = {
        _name: f"support.fit(np.fft.{_name}(g, None, {_all}, norm), x)",
        "i" + _name: f"support.fit(np.fft.i{_name}(g, None, {_all}, norm), x)",
        "r" + _name: "support.rfftn_back(g, x, s, axes, norm)",
        "ir" + _name: "support.irfftn_back(g, x, s, axes, norm)",
    }
    for _target, _formula in _forms.items():
        _at = [p for p in _PLANES if _target[0] != "r" or not np.iscomplexobj(p[0])]
        if _target.startswith("ir"):
            _at = [p for p in _PLANES if np.iscomplexobj(p[0])]
        linear(getattr(fft, _target), _params, x=_formula, at=_at, zero=("s", "norm", "workers"))
linear(fft.fftshift, "x, axes=None", x="np.fft.ifftshift(g, axes)", at=[(V,), (M, 1)])
linear(fft.ifftshift, "x, axes=None", x="np.fft.fftshift(g, axes)", at=[(V,), (M, (1,))])

# ---- cosine and sine transforms ------------------------------------------------------------

_WAVES: list[Any] = [
    (X5,), (X5, 1), (X5, 3), (X5, 4), (M, 2, None, 0), (X5, 2, 7), (X5, 3, 3),
    (T, 2, None, 1, "ortho"), (X5, 1, None, -1, "ortho"), (X5, 3, None, -1, "forward"),
]  # fmt: skip
for _sine, _name in ((False, "dct"), (True, "dst")):
    for _target, _kind, _norm in (
        (_name, "type", "norm"),
        ("i" + _name, "support.other_type(type)", "support.other_norm(norm)"),
    ):
        linear(
            getattr(fft, _target),
            "x, type=2, n=None, axis=-1, norm=None, *, workers=None",
            x=f"support.waves_back(g, x, {_sine}, {_kind}, axis, {_norm})",
            at=_WAVES,
            zero=("type", "n", "norm", "workers"),
        )
_KINDS = [
    (X5, None, s, k, -1, norm)
    for s in (False, True)
    for k, norm in ((1, None), (2, None), (3, "ortho"))
]
linear(
    helpers.waves,
    "x, n, sine, kind, axis, norm",
    x="support.waves_back(g, x, sine, kind, axis, norm)",
    zero=("n", "sine", "kind", "norm"),
    at=_KINDS,
)
linear(
    helpers.waves_back,
    "ct, x, sine, kind, axis, norm",
    ct="support.waves(support.fit(g, ct), None, sine, kind, axis, norm)",
    zero=("x", "sine", "kind", "norm"),
    at=[(X5, X5 * 2.0, *rest) for _, _, *rest in _KINDS],
)
nondiff(helpers.other_type, fft.fftfreq, fft.rfftfreq, fft.next_fast_len)
if hasattr(fft, "prev_fast_len"):  # SciPy 1.15
    nondiff(fft.prev_fast_len)
for _name in ("dctn", "idctn", "dstn", "idstn"):
    refuse(getattr(fft, _name), why="write it as one of dct or dst for each axis")
for _name in ("hfft2", "ihfft2", "hfftn", "ihfftn", "fht", "ifht"):
    refuse(
        getattr(fft, _name),
        why="its derivative is in no table of srcgrad's; give a rule with @srcgrad.rule",
    )
