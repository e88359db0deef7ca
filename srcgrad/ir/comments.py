"""Comments and blank lines as nodes of a syntax tree: printed, never compiled."""

from __future__ import annotations

import ast
from typing import Any


class Comment(ast.stmt):
    """A comment on lines of its own."""

    _fields = ("text",)

    def __init__(self, text: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.text = text


class Place(Comment):
    """Says which statement of the user's the next ones come from, on one line whatever its
    length."""


class Blank(ast.stmt):
    """An empty line."""

    _fields = ()
