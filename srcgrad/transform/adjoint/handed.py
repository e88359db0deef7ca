"""What the forward function of a pair hands to the reverse function."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from srcgrad.analysis.partials import valued
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.text import Text


def handed(text: Text, names: Sequence[str], body: Sequence[ast.stmt]) -> ast.expr:
    """The variables that a reverse function's body reads, as one tuple; of an array that it reads
    the shape of, no more than that."""
    read = set().union(*map(valued, body))
    arrays = {text.var(n) for n, t in text.facts.types.items() if isinstance(t, ty.Array)}
    spared = arrays - read if text.module.backend != "numba" else set()
    return syn.tuple_of(
        text.module.support("outline", syn.name(n)) if n in spared else syn.name(n) for n in names
    )
