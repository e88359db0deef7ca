"""A variable gets its older value back only after the last reader of the newer one.

The reverse of `h = np.tanh(w * h)` reads what h became, and what comes next reads what it was.
A person needs one name for both.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform import syntax as syn

_TEMPORARY = re.compile(r"t\d+(_\d+)?")
_SIMPLE = (ast.Assign, ast.AugAssign, Comment)


def restore_late(function: ast.FunctionDef) -> None:
    """`t = h; h = h_tape.pop(); u_bar = h_bar * t` becomes `u_bar = h_bar * h; h = h_tape.pop()`,
    in place.

    Example:
        >>> text = "t1 = h\\n h = h_tape.pop()\\n u_bar = h_bar * t1\\n w_bar += u_bar * h"
        >>> fn = ast.parse(f"def f(w_bar, h, h_bar, h_tape):\\n {text}").body[0]
        >>> restore_late(fn)
        >>> print(ast.unparse(fn))
        def f(w_bar, h, h_bar, h_tape):
            u_bar = h_bar * h
            h = h_tape.pop()
            w_bar += u_bar * h
    """
    found = [
        (block, s)
        for block in syn.blocks(function.body)
        for s, after in pairwise(block)
        if _is_kept(s, after)
    ]
    if not found:
        return
    uses = Counter(n.id for n in asts.walk(function) if isinstance(n, ast.Name))
    for block, s in found:
        assert isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
        k = block.index(s)
        last = _last_reader(block, k, uses[s.targets[0].id] - 1)
        if last is not None:
            _move(block, k, last)


def _is_kept(s: ast.stmt, after: ast.stmt) -> bool:
    """Whether a temporary keeps what a variable is just before that gets a recorded value."""
    match s, after:
        case (
            ast.Assign([ast.Name(kept)], ast.Name(name)),
            ast.Assign(
                [ast.Name(restored)], ast.Call(ast.Attribute(ast.Name(tape), "pop"), [], [])
            ),
        ):
            own = _TEMPORARY.fullmatch(kept) and not hasattr(s, "srcgrad_raises")
            return bool(own) and name == restored and tape not in (kept, name)
    return False


def _last_reader(block: Sequence[ast.stmt], k: int, reads: int) -> int | None:
    """The last statement that reads what the k-th keeps, if all that do are simple ones before
    anything else has to do with the variable or the tape."""
    kept, restored = block[k], block[k + 1]
    assert isinstance(kept, ast.Assign) and isinstance(kept.targets[0], ast.Name)
    mine, others = kept.targets[0].id, asts.names(restored)
    for j in range(k + 2, len(block)):
        s = block[j]
        if not isinstance(s, _SIMPLE) or hasattr(s, "srcgrad_place"):
            return None
        names = [n for n in asts.walk(s) if isinstance(n, ast.Name)]
        if any(n.id in others for n in names):
            return None
        mentions = [n for n in names if n.id == mine]
        if any(not isinstance(n.ctx, ast.Load) for n in mentions):
            return None
        reads -= len(mentions)
        if reads == 0:
            return j
    return None


def _move(block: list[ast.stmt], k: int, last: int) -> None:
    kept, restored = block[k], block[k + 1]
    assert isinstance(kept, ast.Assign) and isinstance(kept.targets[0], ast.Name)
    mine, name = kept.targets[0].id, asts.names(kept.value).pop()

    def put(n: ast.Name) -> ast.Name:
        return ast.Name(name, n.ctx) if n.id == mine else n

    readers = [asts.changed(s, {ast.Name: put}) for s in block[k + 2 : last + 1]]
    block[k : last + 1] = [*readers, restored]


__all__ = ["restore_late"]
