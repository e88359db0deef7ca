"""The way back of what is taken out of a list or dict."""

from __future__ import annotations

from typing import Any

from srcgrad.runtime.support.adjoints import is_number


def pop_back(x: Any, x_bar: Any, key: Any, popped: Any, v_bar: Any) -> None:
    """Undo `v = x.pop(key)`: v returns to its place with what its adjoint collected; `popped` has
    beside v the adjoint that went with it, if v is what can be written into."""
    value = popped[0]
    bar = v_bar if is_number(value) or len(popped) == 1 else popped[1]
    if isinstance(x, dict):
        x[key], x_bar[key] = value, bar
        return
    where = len(x) + 1 + key if key < 0 else key
    x.insert(where, value)
    x_bar.insert(where, bar)
