"""A derivative in a notebook: the page of `page`, in a frame of its own.

The frame keeps the page's look and keys apart from the notebook's.
"""

from __future__ import annotations

from html import escape
from typing import Any

from srcgrad.analysis.signature import types_of_key
from srcgrad.analysis.types.probe import type_of
from srcgrad.errors import SrcgradError
from srcgrad.ir import types as ty
from srcgrad.jobs import Job
from srcgrad.show.page import page
from srcgrad.show.variant import View, view

_LEAST, _MOST, _LINE = 260, 640, 22  # pixels


def frame(derivative: Any) -> str:
    """The HTML of a `GradFunction`: every specialisation made so far, the last one first."""
    try:
        seen = view(jobs_of(derivative))
    except SrcgradError as error:
        return f"<pre>{escape(repr(derivative))}\n{escape(str(error))}</pre>"
    height = min(max(_LEAST, _LINE * _lines(seen) + 130), _MOST)
    return (
        f'<iframe title="{escape(seen.name)} and its derivative" '
        f'srcdoc="{escape(page(seen))}" style="width: 100%; height: {height}px; '
        'border: 1px solid #8886; border-radius: 8px; resize: vertical"></iframe>'
    )


def _lines(seen: View) -> int:
    first = seen.variants[0]
    return max(len(first.lines), sum(len(p.lines) for p in first.primals))


def jobs_of(derivative: Any) -> list[Job]:
    """A job for each signature that a derivative was called with; for its annotations if none."""
    fn, mode, wrt, aux = derivative._fn, derivative._mode, derivative._wrt, derivative._aux
    wrt = wrt if isinstance(wrt, int | str) else tuple(wrt)
    made = list(derivative._made.items())
    last = [key for key, one in made if one is derivative._last]
    keys = [*last, *(key for key, _ in reversed(made) if key not in last)]
    found = [tuple(_types(derivative, key[0]).items()) for key in keys]
    backend = derivative._backend
    return [
        Job(fn, mode, wrt, types, aux, backend=backend)
        for types in list(dict.fromkeys(found)) or [()]
    ]


def _types(derivative: Any, key: Any) -> dict[str, ty.Type]:
    """The types of the parameters in a call with this key."""
    args, kwargs = types_of_key(key)
    params = derivative._primal.free()
    out: dict[str, ty.Type] = {}
    rest = list(args)
    for p in params:
        if p.kind is p.VAR_POSITIONAL:
            out[p.name] = ty.Tuple(tuple(rest))
            rest = []
        elif p.kind is p.VAR_KEYWORD:
            known = {q.name for q in params}
            extra = tuple((k, t) for k, t in kwargs.items() if k not in known)
            out[p.name] = ty.Dict(extra)
        elif rest and p.kind is not p.KEYWORD_ONLY:
            out[p.name] = rest.pop(0)
        elif p.name in kwargs:
            out[p.name] = kwargs[p.name]
        elif p.default is not p.empty:
            out[p.name] = type_of(p.default)
    return out
