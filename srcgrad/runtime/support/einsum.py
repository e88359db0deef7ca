"""Helpers of the rule of `np.einsum`: every form of its arguments, decided when it runs.

With a literal subscript text the compiler writes the einsums of the derivative out instead
(`srcgrad.rules.products.einsum_partials`).
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from srcgrad.runtime.support.elementwise import match
from srcgrad.runtime.support.shape import Value

_LETTERS = string.ascii_uppercase + string.ascii_lowercase  # in the order einsum gives integers


def _parse(operands: Any) -> tuple[list[str], str, list[Any], list[int]]:
    """Subscripts of each array and of the result, the arrays, and their places in `operands`."""
    if isinstance(operands[0], str):
        places = list(range(1, len(operands)))
        inputs, arrow, output = operands[0].replace(" ", "").partition("->")
        subs = inputs.split(",")
        given = output if arrow else None
    else:
        places = list(range(0, len(operands) - 1, 2))
        subs = [_text(operands[i + 1]) for i in places]
        given = _text(operands[-1]) if len(operands) % 2 else None
    arrays = [np.asarray(operands[i]) for i in places]
    used = set("".join(subs))
    free = [c for c in _LETTERS if c not in used]
    longest = max(a.ndim - len(s.replace("...", "")) for a, s in zip(arrays, subs, strict=True))
    dots = "".join(free[:longest])
    if given is None:
        letters = [c for s in subs for c in s if c != "."]
        given = "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    full = []
    for a, s in zip(arrays, subs, strict=True):
        count = a.ndim - len(s.replace("...", ""))
        full.append(s.replace("...", dots[len(dots) - count :]))
    return full, given.replace("...", dots), arrays, places


def _text(sublist: Any) -> str:
    return "".join("..." if i is Ellipsis else _LETTERS[i] for i in sublist)


def _sizes(subs: list[str], arrays: list[Any]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for a, s in zip(arrays, subs, strict=True):
        for c, n in zip(s, a.shape, strict=True):
            if sizes.get(c, 1) == 1:
                sizes[c] = n
    return sizes


def _thin(a: Any, s: str, sizes: dict[str, int]) -> tuple[Any, str]:
    """The operand without the dimensions of length one that broadcast along an index."""
    keep = [i for i, c in enumerate(s) if a.shape[i] == sizes[c]]
    if len(keep) == len(s):
        return a, s
    return a.reshape([a.shape[i] for i in keep]), "".join(s[i] for i in keep)


def _contract(subs: list[str], output: str, arrays: list[Any]) -> Any:
    sizes = _sizes(subs, arrays)
    pairs = [_thin(a, s, sizes) for a, s in zip(arrays, subs, strict=True)]
    texts, values = [s for _, s in pairs], [a for a, _ in pairs]
    missing = [c for c in output if not any(c in s for s in texts)]
    if missing:
        texts.append("".join(missing))
        values.append(np.ones([sizes[c] for c in missing], values[0].real.dtype))
    return np.einsum(",".join(texts) + "->" + output, *values, optimize=len(values) > 2)


def _partial(
    ct: Any, subs: list[str], output: str, arrays: list[Any], k: int, sizes: dict[str, int]
) -> Any:
    """The cotangent of the k-th array; index letters that occur twice in it are a diagonal."""
    a, s = arrays[k], subs[k]
    wide = [i for i, c in enumerate(s) if a.shape[i] == sizes[c]]
    target = "".join(dict.fromkeys(s[i] for i in wide))
    texts = [output] + [t for j, t in enumerate(subs) if j != k]
    values = [np.asarray(ct)] + [x for j, x in enumerate(arrays) if j != k]
    thin = [_thin(x, t, sizes) for x, t in zip(values, texts, strict=True)]
    texts, values = [t for _, t in thin], [x for x, _ in thin]
    missing = [c for c in target if not any(c in t for t in texts)]
    if missing:
        texts.append("".join(missing))
        values.append(np.ones([sizes[c] for c in missing], values[0].real.dtype))
    part = np.einsum(",".join(texts) + "->" + target, *values, optimize=len(values) > 2)
    if len(target) < len(wide):
        full = np.zeros([a.shape[i] for i in wide], part.dtype)
        np.einsum("".join(s[i] for i in wide) + "->" + target, full)[...] = part
        part = full
    return match(part.reshape(a.shape)[()], a)


def _placed(parts: list[Any], places: list[int], count: int) -> Any:
    out = [None] * count
    for place, part in zip(places, parts, strict=True):
        out[place] = part
    return tuple(out)


def einsum_back(ct: Value, operands: Any) -> Any:
    """The cotangents of the arguments of `np.einsum(*operands)`; None for subscripts.

    >>> einsum_back(1.0, ("i,i", np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    (None, array([3., 4.]), array([1., 2.]))
    """
    subs, output, arrays, places = _parse(operands)
    sizes = _sizes(subs, arrays)
    parts = [_partial(ct, subs, output, arrays, k, sizes) for k in range(len(arrays))]
    return _placed(parts, places, len(operands))


def einsum_of(operands: Any) -> Any:
    """`np.einsum(*operands)`.

    >>> einsum_of(("i,i", np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    np.float64(11.0)
    """
    subs, output, arrays, _ = _parse(operands)
    return _contract(subs, output, arrays)


def is_given(parts: Any, k: int) -> bool:
    """Whether place k of the operands of an einsum holds an array, not None or subscripts.

    >>> is_given(("i,i", None, 1.0), 2), is_given(([0], [Ellipsis, 1]), 1)
    (True, False)
    """
    part = parts[k]
    if isinstance(part, list | tuple):
        return not all(isinstance(i, int) or i is Ellipsis or i is None for i in part)
    return part is not None and not isinstance(part, str)


def replaced(operands: Any, k: int, value: Value) -> Any:
    """The operands with another value at place k.

    >>> replaced(("i->", np.ones(2)), 1, None)
    ('i->', None)
    """
    if value is not None:
        value = np.broadcast_to(value, np.shape(operands[k]))
    return (*operands[:k], value, *operands[k + 1 :])


def nothing(operands: Any) -> Any:
    """A zero cotangent for each array among the operands, None for subscripts.

    >>> nothing(("i->", np.ones(2)))
    (None, array([0., 0.]))
    """
    given = [is_given(operands, k) for k in range(len(operands))]
    return tuple(np.zeros_like(x) if g else None for g, x in zip(given, operands, strict=True))


def added(total: Any, parts: Any, k: int) -> Any:
    """The sums of two tuples of cotangents; at place k only the first counts.

    >>> added((None, 1.0, 2.0), (None, 10.0, 20.0), 2)
    (None, 11.0, 2.0)
    """
    pairs = enumerate(zip(total, parts, strict=True))
    return tuple(t if p is None or i == k else t + p for i, (t, p) in pairs)


def without(parts: Any, k: int) -> Any:
    """The parts with zeros at place k.

    >>> without((None, 1.0, 2.0), 2)
    (None, 1.0, 0.0)
    """
    return tuple(0.0 * p if i == k and p is not None else p for i, p in enumerate(parts))


def einsum_dot(dots: Any, operands: Any) -> Any:
    """The tangent of `np.einsum(*operands)`: one einsum for each operand that has a tangent.

    >>> einsum_dot((None, 1.0, None), ("i,i", np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    np.float64(7.0)
    """
    total = 0.0
    for k in range(len(operands)):
        if dots[k] is not None and is_given(operands, k):
            total = total + einsum_of(replaced(operands, k, dots[k]))
    return total


def einsum_cross(dots: Any, ct: Value, operands: Any) -> Any:
    """How `einsum_back(ct, operands)` changes with the operands: symmetric, so also its reverse.

    >>> einsum_cross((None, 1.0, None), 1.0, ("i,i", np.ones(2), np.ones(2)))
    (None, array([0., 0.]), array([1., 1.]))
    """
    total = nothing(operands)
    for k in range(len(operands)):
        if dots[k] is not None and is_given(operands, k):
            total = added(total, einsum_back(ct, replaced(operands, k, dots[k])), k)
    return total
