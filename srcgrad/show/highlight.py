"""Python text as coloured pieces, line by line.

Names of adjoints, tangents and tapes get kinds of their own.  It uses the standard library only,
so that a notebook shows colours wherever srcgrad is installed.
"""

from __future__ import annotations

import builtins
import io
import keyword
import re
import token
import tokenize
from collections.abc import Iterator

Piece = tuple[str, str]  # text, kind

_ADJOINT = re.compile(r".+_(bar|dot)\d*(_\d+)?$")  # of second derivatives: x_bar2
_TAPE = re.compile(r".+_tape(_\d+)?$")
_BUILTINS = frozenset(n for n in dir(builtins) if n[0].islower())


def pieces(text: str) -> list[list[Piece]]:
    """The lines of a text, each as pieces with their kinds; text that isn't Python stays plain.

    >>> pieces("x_bar = 1.0  # seed")
    [[('x_bar', 'adjoint'), (' = ', ''), ('1.0', 'number'), ('  ', ''), ('# seed', 'comment')]]
    """
    lines = text.splitlines()
    marks: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    for kind, start, end in _kinds(text):
        for row in range(start[0], min(end[0], len(lines)) + 1):
            first = start[1] if row == start[0] else 0
            last = end[1] if row == end[0] else len(lines[row - 1])
            if last > first:
                marks[row - 1].append((first, last, kind))
    return [_cut(line, found) for line, found in zip(lines, marks, strict=True)]


def _cut(line: str, marks: list[tuple[int, int, str]]) -> list[Piece]:
    out: list[Piece] = []
    at = 0
    for first, last, kind in sorted(marks):
        if first < at:
            continue
        if first > at:
            out.append((line[at:first], ""))
        out.append((line[first:last], kind))
        at = last
    if at < len(line):
        out.append((line[at:], ""))
    return out


_Span = tuple[str, tuple[int, int], tuple[int, int]]


def _kinds(text: str) -> Iterator[_Span]:
    before = ""
    try:
        for t in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = _kind(t, before)
            if kind:
                yield kind, t.start, t.end
            if t.type not in (token.NL, tokenize.COMMENT):
                before = t.string
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return  # a piece of a program: what was read so far is coloured


def _kind(t: tokenize.TokenInfo, before: str) -> str:
    if t.type == tokenize.COMMENT:
        return "section" if t.string.startswith("# ----") else "comment"
    if t.type == token.NUMBER:
        return "number"
    if t.type == token.STRING or token.tok_name[t.type].startswith("FSTRING"):
        return "string"
    if t.type != token.NAME:
        return ""
    if keyword.iskeyword(t.string):
        return "keyword"
    if before in ("def", "class"):
        return "definition"
    if _TAPE.match(t.string):
        return "tape"
    if _ADJOINT.match(t.string):
        return "adjoint"
    return "builtin" if t.string in _BUILTINS and before != "." else ""
