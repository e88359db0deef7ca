"""Helpers of the rules for Fourier transforms.

The matrix of a transform is symmetric, so its reverse is the same transform (not the inverse).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.shape import Value, fit

_OTHER = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def other_norm(norm: str | None) -> Any:
    """The `norm` with which the inverse transform scales as the transform does with this one.

    >>> other_norm(None)
    'forward'
    """
    return _OTHER[norm]


def fft_axes(a: Value, s: Any, axes: Any) -> tuple[int, ...]:
    """The axes over which `np.fft.fftn(a, s, axes)` goes.

    >>> fft_axes(np.zeros((2, 3)), None, None)
    (0, 1)
    """
    n = np.ndim(a)
    if axes is None:
        return tuple(range(0 if s is None else n - len(s), n))
    return tuple(int(k) % n for k in axes)


def fft_sizes(a: Value, s: Any, axes: Any) -> tuple[int, ...]:
    """The lengths along these axes of what `np.fft.fftn(a, s, axes)` transforms.

    >>> fft_sizes(np.zeros((2, 3)), (4, -1), (0, 1))
    (4, 3)
    """
    axes = fft_axes(a, s, axes)
    given = [-1] * len(axes) if s is None else s
    pairs = zip(axes, given, strict=True)
    return tuple(np.shape(a)[k] if n is None or n == -1 else int(n) for k, n in pairs)


def rfft_back(ct: Value, a: Value, n: int | None, axis: int, norm: Any) -> Any:
    """The cotangent of `a` in `np.fft.rfft(a, n, axis, norm)`.

    >>> rfft_back(np.array([1.0, 0.0]), np.zeros(2), None, -1, None)
    array([1., 1.])
    """
    return fit(np.fft.fft(ct, np.shape(a)[axis] if n is None else n, axis, norm), np.real(a))


def irfft_back(ct: Value, a: Value, axis: int, norm: Any) -> Any:
    """The cotangent of `a` in `np.fft.irfft(a, n, axis, norm)`; n is the length of ct.

    >>> irfft_back(np.array([1.0, 0.0]), np.zeros(2, complex), -1, None)
    array([0.5-0.j, 0.5-0.j])
    """
    return fit(_half(np.real(ct), axis, norm), a)


def _half(ct: Any, axis: int, norm: Any) -> Any:
    n = ct.shape[axis]
    out = np.conj(np.fft.rfft(ct, n, axis, other_norm(norm)))
    middle = [slice(None)] * out.ndim
    middle[axis] = slice(1, (n + 1) // 2)
    out[tuple(middle)] *= 2
    return out


def rfftn_back(ct: Value, a: Value, s: Any, axes: Any, norm: Any) -> Any:
    """The cotangent of `a` in `np.fft.rfftn(a, s, axes, norm)`.

    >>> rfftn_back(np.ones((1, 2)), np.zeros((1, 2)), None, None, None)
    array([[2., 0.]])
    """
    sizes = fft_sizes(a, s, axes)
    return fit(np.fft.fftn(ct, sizes, fft_axes(a, s, axes), norm), np.real(a))


def irfftn_back(ct: Value, a: Value, s: Any, axes: Any, norm: Any) -> Any:
    """The cotangent of `a` in `np.fft.irfftn(a, s, axes, norm)`.

    >>> irfftn_back(np.ones((1, 2)), np.zeros((1, 2), complex), None, None, None)
    array([[1.-0.j, 0.-0.j]])
    """
    over = fft_axes(a, s, axes)
    half = _half(np.real(ct), over[-1], norm)
    return fit(np.fft.ifftn(half, None, over[:-1], norm) if over[:-1] else half, a)


def irfftn_dot(ct_dot: Value, like: Value, axes: Any, norm: Any) -> Any:
    """`np.fft.irfftn` over these axes to the lengths that `like` has along them.

    >>> irfftn_dot(np.ones((1, 2)), np.zeros((1, 2)), (0, 1), None)
    array([[1., 0.]])
    """
    return np.fft.irfftn(ct_dot, [np.shape(like)[k] for k in axes], axes, norm)
