"""Rules of the helpers that generated code calls, so that it can be differentiated again."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.rules.registry import Entry, add, linear, name_of, nondiff
from srcgrad.runtime import support
from srcgrad.runtime.support import additions, moves

_A = np.array([1.0, -2.0, 0.5])
_B = np.array([0.3, 0.1, 2.0])

_PARTS = [1.5, _A]

linear(
    support.add, "a, b", a="g", b="g", of_parts=True, at=[(1.5, 2.0), (_A, _B), (_PARTS, _PARTS)]
)
linear(support.own, "x", x="g", of_parts=True, at=[(1.5,), (_A,), (_PARTS,)])
linear(support.own_parts, "ct", ct="g", of_parts=True, at=[(1.5,), (_A,), (_PARTS,)])
linear(
    support.gradient, "ct, x", ct="g", zero=("x",), of_parts=True,
    at=[(1.5, 2.0), (_A, _B), (_PARTS, _PARTS)],
)  # fmt: skip
linear(
    support.gradient_of_fields, "fields, x", fields="support.fields_of(g, fields)", zero=("x",),
    of_parts=True, at=[(_PARTS, _PARTS)],
)  # fmt: skip
linear(
    support.fields_of, "ct, fields", ct="g", zero=("fields",), of_parts=True,
    at=[(_PARTS, _PARTS)],
)  # fmt: skip
linear(support.like, "ct, x", ct="g", zero=("x",), of_parts=True, at=[(_A, _B), (_PARTS, _PARTS)])
linear(support.private, "x", x="g", of_parts=True, at=[(1.5,), (_A,), (_PARTS,)])
linear(support.tangent_like, "t, v", t="g", zero=("v",), of_parts=True, at=[(_A, _B)])
linear(
    support.full_tangent, "t, x", t="g", zero=("x",), of_parts=True, view="maybe",
    at=[(1.5, 2.0), (_A, _B), (_PARTS, _PARTS)],
)  # fmt: skip
linear(
    support.match_parts, "ct, x", ct="support.match_parts(g, ct)", zero=("x",), of_parts=True,
    at=[(1.5, 2.0), (_PARTS, _PARTS)],
)  # fmt: skip

linear(
    support.last_written,
    "u_bar, key",
    u_bar="support.last_written_back(g, u_bar, key)",
    zero=("key",),
    at=[(_A, [0, 2, 0]), (_A, [1]), (_A, np.array([True, False, True]))],
)
linear(
    support.last_written_back,
    "ct, u_bar, key",
    ct="support.last_written(g, key)",
    zero=("u_bar", "key"),
    at=[(_A, _B, [0, 2, 0]), (_B, _A, np.array([1, 0, 1]))],
)
linear(support.like_items, "t, x", t="g", zero=("x",), at=[([1.0, 2.0], [1.0, 2.0])])
nondiff(support.basis, support.zeros, support.bar, support.seed, support.outline)
nondiff(additions.slice_places)
nondiff(
    support.is_part, support.refuse_shared, moves.refuse_record, additions.refuse_overlap,
    additions.refuse_item_of_number, pure=False,
)  # fmt: skip


def _parallel(target: Any, params: str, *writes: str, source: Any = None) -> None:
    """A helper that moves values between memory: its tangent is the same move of tangents; in
    reverse mode it is a function of Python like any other, with the source of `source`."""
    from srcgrad.rules.registry import _signature

    add(
        Entry(
            target,
            name_of(target),
            "parallel",
            _signature(params),
            {},
            {},
            pure=False,
            writes=writes,
            view="always",
            fn=source or target,
        )
    )


_parallel(support.accumulate, "a, b", "a", source=moves.accumulate)
_parallel(support.item_add, "a, key, ct", "a")
_parallel(support.item_added_back, "a_bar, key, ct")
_parallel(support.parts_of, "x")
_parallel(support.put_parts, "x, kept", "x")
_parallel(support.attr_add, "a, name, ct", "a")
_parallel(support.attributes, "x, name")
_parallel(support.alias_bar, "a, a_bar")
_parallel(support.alias_back, "a_bar, v_bar")
_parallel(support.part_bar, "v, a, a_bar, key")
_parallel(support.part_back, "a_bar, key, v_bar", "a_bar")
_parallel(support.view_bar, "v, a, made")
_parallel(support.attr_bar, "v, a_bar, name")
_parallel(support.named, "made, key")
_parallel(support.attr_back, "a_bar, name, v_bar", "a_bar")
_parallel(support.save_item, "u, u_bar, key")
_parallel(support.bind_item, "u, u_bar, key, value, value_bar", "u_bar")
_parallel(support.store_back, "u, u_bar, key, saved", "u", "u_bar")
_parallel(support.stored_back, "e_bar, ct, e", "e_bar")
_parallel(support.save_inplace, "u, u_bar")
_parallel(support.inplace_bar, "u, saved")
_parallel(support.inplace_undo, "u, u_bar, saved", "u", "u_bar")
_parallel(support.contents, "x")
_parallel(support.put_back, "x, saved", "x")
_parallel(support.shallow_bar, "x, x_bar")
_parallel(support.copy_back, "x_bar, ct", "x_bar")
_parallel(support.list_append_back, "x, x_bar", "x", "x_bar")
_parallel(support.list_insert_back, "x, x_bar, key", "x", "x_bar")
_parallel(support.list_extend_back, "x, x_bar, count", "x", "x_bar")
_parallel(support.pop_back, "x, x_bar, key, popped, v_bar", "x", "x_bar")
_parallel(support.part, "a, k")
_parallel(support.field, "ct, name")
