"""Rules for Fourier transforms.

The matrix of a transform is symmetric, so the reverse of a transform is the same transform of the
cotangent; where real input lets half of the result be left out, helpers count the other half.
"""

from __future__ import annotations

import numpy as np

from srcgrad.rules.registry import linear
from srcgrad.rules.shapes import M, T, V, W

X5 = np.sin(np.arange(1.0, 6.0))
C3 = V + 1j * W
C23 = M + 1j * np.cos(M)
C34 = T[0] + 1j * T[1]
_LINE = [
    (V,),
    (X5,),
    (C3,),
    (M,),
    (C23, None, 0),
    (X5, 7),
    (X5, 3),
    (C23, 4, -1),
    (X5, None, -1, "ortho"),
    (C3, 5, 0, "forward"),
]
for _name in ("fft", "ifft"):
    linear(
        getattr(np.fft, _name),
        "a, n=None, axis=-1, norm=None, out=None",
        a=f"support.fit(np.fft.{_name}(g, None, axis, norm), a)",
        writes=("out",),
        at=_LINE,
    )
linear(
    np.fft.rfft,
    "a, n=None, axis=-1, norm=None, out=None",
    a="support.rfft_back(g, a, n, axis, norm)",
    writes=("out",),
    at=[s for s in _LINE if not np.iscomplexobj(s[0])] + [(M, None, 0), (M, 6, 1, "forward")],
)
linear(
    np.fft.irfft,
    "a, n=None, axis=-1, norm=None, out=None",
    a="support.irfft_back(g, a, axis, norm)",
    writes=("out",),
    at=[*_LINE, (C34, None, 0), (C34, 5), (C34, 3, 1, "ortho"), (C34, 12)],
)
linear(
    np.fft.hfft,
    "a, n=None, axis=-1, norm=None, out=None",
    a="np.conj(support.irfft_back(g, a, axis, support.other_norm(norm)))",
    writes=("out",),
    at=[(C3,), (C34, None, 0), (C34, 5), (C34, 3, 1, "ortho"), (V,)],
)
linear(
    np.fft.ihfft,
    "a, n=None, axis=-1, norm=None, out=None",
    a="support.rfft_back(np.conj(g), a, n, axis, support.other_norm(norm))",
    writes=("out",),
    at=[(V,), (X5, 7), (M, None, 0), (X5, 3, -1, "forward")],
)
_PLANES = [
    (M,),
    (C34,),
    (T,),
    (M, (4, 2), (0, 1)),
    (C34, (2, 5), (0, 1)),
    (M, None, (0,), "ortho"),
    (T, None, (2, 0), "forward"),
]
for _suffix, _params in (
    ("fftn", "a, s=None, axes=None, norm=None, out=None"),
    ("fft2", "a, s=None, axes=(-2, -1), norm=None, out=None"),
):
    for _name in (_suffix, "i" + _suffix):
        _axes = "axes" if "2" in _name else "support.fft_axes(a, s, axes)"
        linear(
            getattr(np.fft, _name),
            _params,
            a=f"support.fit(np.fft.{_name}(g, None, {_axes}, norm), a)",
            writes=("out",),
            at=_PLANES,
        )
    linear(
        getattr(np.fft, "r" + _suffix),
        _params,
        a="support.rfftn_back(g, a, s, axes, norm)",
        writes=("out",),
        at=[p for p in _PLANES if not np.iscomplexobj(p[0])],
    )
    linear(
        getattr(np.fft, "ir" + _suffix),
        _params,
        a="support.irfftn_back(g, a, s, axes, norm)",
        writes=("out",),
        at=[p for p in _PLANES if np.iscomplexobj(p[0])] + [(T + 1j, None, (2, 0), "ortho")],
    )
