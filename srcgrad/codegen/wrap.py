"""Breaking one long line of code into several that fit.

Works on the text of a single statement, or of the first line of a compound one.  Lines are broken
only inside brackets, at the operators that bind least, so the meaning can't change; where a value
has no brackets of its own it gets a pair.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass

_OPEN, _CLOSE = "([{", ")]}"
_F_START = getattr(tokenize, "FSTRING_START", -1)
_F_END = getattr(tokenize, "FSTRING_END", -1)
_ASSIGN = {f"{op}=" for op in ("", *"+-*/%@&|^", "//", "**", "<<", ">>")}
# Loosest first; a line is broken before these, except after a comma.
_LEVELS: tuple[set[str], ...] = (
    {"or"},
    {"and"},
    {"<", ">", "==", "!=", "<=", ">=", "in", "is", "not"},
    {"|"},
    {"^"},
    {"&"},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "//", "%", "@"},
    {"**"},
)
_NO_OPERAND = {"", ",", "=", ":", ":=", "lambda", "return", "else", "not", "*", "**"}.union(
    *_LEVELS, {"if", "elif", "while", "for", "yield", "await", "assert"}, _OPEN
)


_MANY = 6  # more names than these, separated by commas, do not get a line each


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    spaced: bool  # a space stands before it


_Tokens = Sequence[_Token]


def wrap(line: str, limit: int) -> list[str]:
    """The line, without its end, as lines of at most `limit` columns where that can be.

    >>> for row in wrap("    total = first_term * weight + second_term(argument)", 40):
    ...     print(row)
        total = (
            first_term * weight
            + second_term(argument)
        )
    """
    if len(line) <= limit:
        return [line]
    indent = len(line) - len(line.lstrip(" "))
    tokens = _split(line.strip())
    return _statement(tokens, indent, limit)


def _split(text: str) -> list[_Token]:
    """The tokens of a statement's text; an f-string is one token, whatever is in it."""
    pieces: list[tuple[int, int]] = []
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start, end = token.start[1], token.end[1]
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER):
            continue
        if depth:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
        depth += (token.type == _F_START) - (token.type == _F_END)
    last = 0
    tokens = []
    for start, end in pieces:
        tokens.append(_Token(text[start:end], start > last))
        last = end
    return tokens


def _join(tokens: _Tokens) -> str:
    return "".join((" " if t.spaced and i else "") + t.text for i, t in enumerate(tokens))


def _depths(tokens: _Tokens) -> list[int]:
    """How many brackets are open around each token; a bracket itself counts as outside."""
    depth, out = 0, []
    for token in tokens:
        depth -= token.text in _CLOSE
        out.append(depth)
        depth += token.text in _OPEN
    return out


def _statement(tokens: _Tokens, indent: int, limit: int) -> list[str]:
    start, stop = _value(tokens)
    if start < 0:
        return _brackets(tokens, indent, limit, last=False)
    value = tokens[start:stop]
    if _is_one(value):
        return _brackets(tokens, indent, limit, last=True, floor=start)
    target = " " * indent + _join(tokens[:start])
    if len(target) + 2 > limit:
        names = tokens[: start - 1]
        if not _pairs(names) and tokens[start - 1].text == "=" and _breaks(names):
            rows = _opened(
                [_Token("(", spaced=False)],
                names,
                [_Token(")", spaced=False), tokens[start - 1]],
                indent,
                limit,
            )
        else:
            rows = _long_head(tokens[:start], indent, limit)
        last = f"{rows[-1]} {_join(tokens[start:])}"
        if len(last) <= limit:
            return [*rows[:-1], last]
    head = [*tokens[:start], _Token("(", spaced=start > 0)]
    tail = [_Token(")", spaced=False), *tokens[stop:]]
    return _opened(head, value, tail, indent, limit)


def _value(tokens: _Tokens) -> tuple[int, int]:
    """Where the value of a statement stands that brackets may be put around; (-1, -1): none."""
    depths = _depths(tokens)
    first, stop = tokens[0].text, len(tokens)
    compound = tokens[-1].text == ":" and first in {"if", "elif", "while", "for"}
    if compound:
        stop -= 1
    if first in {"return", "if", "elif", "while"}:
        return (1, stop) if stop > 1 else (-1, -1)
    if first == "from":
        start = [t.text for t in tokens].index("import") + 1
        return (-1, -1) if tokens[start].text == "*" else (start, stop)
    if first == "assert":
        hidden = _in_lambdas(tokens, depths)
        commas = [i for i, t in enumerate(tokens) if t.text == "," and depths[i] == 0]
        return 1, next((i for i in commas if i not in hidden), stop)
    marks = {"in"} if first == "for" and compound else _ASSIGN
    at = [i for i, t in enumerate(tokens) if t.text in marks and depths[i] == 0]
    if first == "for":
        return (at[0] + 1, stop) if at else (-1, -1)
    if first in _KEYWORDS or not at:
        return (-1, -1) if first in _KEYWORDS else (0, stop)
    return at[-1] + 1, stop


# A pair of brackets around what follows these would mean something else, or can't stand.
_KEYWORDS = {"def", "class", "async", "with", "del", "raise", "import", "from", "global"}
_KEYWORDS |= {"nonlocal", "@", "except", "type", "match", "case", "try", "else", "finally"}


def _is_one(tokens: _Tokens) -> bool:
    """Whether a value is a name, call, subscript or display, with nothing beside it, that ends in
    a bracket: then that bracket is the one to open."""
    if tokens[-1].text not in _CLOSE:
        return False
    depths = _depths(tokens)
    outer = [t for t, depth in zip(tokens, depths, strict=True) if depth == 0]
    return (
        not any(t.spaced for t in outer[1:]) and not _breaks(tokens) and outer[0].text not in "-+~"
    )


def _brackets(
    tokens: _Tokens, indent: int, limit: int, *, last: bool, floor: int = 0
) -> list[str]:
    """Opens one of the outermost pairs of brackets that hold something: the last, or the first
    when the line is a heading such as `def f(...)`."""
    text = " " * indent + _join(tokens)
    pairs = [pair for pair in _pairs(tokens) if pair[0] >= floor]
    if len(text) <= limit or not pairs:
        return [text]
    start, stop = pairs[-1] if last else pairs[0]
    return _opened(tokens[: start + 1], tokens[start + 1 : stop], tokens[stop:], indent, limit)


def _pairs(tokens: _Tokens) -> list[tuple[int, int]]:
    """The outermost pairs of brackets that hold something and are closed."""
    depths = _depths(tokens)
    pairs, opened = [], -1
    for i, token in enumerate(tokens):
        if depths[i] == 0 and token.text in _OPEN:
            opened = i
        elif depths[i] == 0 and token.text in _CLOSE and i > opened + 1:
            pairs.append((opened, i))
    return pairs


def _opened(head: _Tokens, body: _Tokens, tail: _Tokens, indent: int, limit: int) -> list[str]:
    inner = " " * (indent + 4) + _join(body)
    rows = [inner] if len(inner) <= limit else _pieces(body, indent + 4, limit, comma=True)
    first, last = " " * indent + _join(head), " " * indent + _join(tail)
    heads = [first] if len(first) <= limit else _long_head(head, indent, limit)
    return [*heads, *rows, last]


def _long_head(head: _Tokens, indent: int, limit: int) -> list[str]:
    """What is before the opened bracket is itself too long: a target such as `x[...] =`."""
    pairs = _pairs(head)
    if not pairs:
        return [" " * indent + _join(head)]
    start, stop = pairs[-1]
    return _opened(head[: start + 1], head[start + 1 : stop], head[stop:], indent, limit)


def _pieces(tokens: _Tokens, indent: int, limit: int, *, comma: bool = False) -> list[str]:
    """What is between brackets, broken where it binds least."""
    text = " " * indent + _join(tokens)
    if len(text) <= limit:
        return [text]
    breaks = _breaks(tokens)
    if not breaks:
        return _brackets(tokens, indent, limit, last=True)
    rows: list[str] = []
    by_comma = tokens[breaks[0] - 1].text == ","
    ends = comma and by_comma and tokens[-1].text != "," and not _generates(tokens)
    spans = list(zip([0, *breaks], [*breaks, len(tokens)], strict=True))
    if by_comma and len(spans) > _MANY and all(stop - start <= 2 for start, stop in spans):
        rows = _filled(tokens, spans, indent, limit - 1)
        spans = []
    for start, stop in spans:
        room = limit - 1 if ends and stop == len(tokens) else limit
        rows += _pieces(tokens[start:stop], indent, room)
    if ends:
        rows[-1] += ","
    return rows


def _filled(
    tokens: _Tokens, spans: Sequence[tuple[int, int]], indent: int, limit: int
) -> list[str]:
    """Many names, as many in a line as fit."""
    rows = [" " * indent + _join(tokens[slice(*spans[0])])]
    for start, stop in spans[1:]:
        name = _join(tokens[start:stop])
        if len(rows[-1]) + 1 + len(name) > limit:
            rows.append(" " * indent + name)
        else:
            rows[-1] += " " + name
    return rows


def _generates(tokens: _Tokens) -> bool:
    """Whether this is a comprehension, which no comma may follow."""
    return any(t.text == "for" and d == 0 for t, d in zip(tokens, _depths(tokens), strict=True))


def _breaks(tokens: _Tokens) -> list[int]:
    """The positions of tokens that start a new line, those of the loosest operator only."""
    depths = _depths(tokens)
    outer = [i for i, t in enumerate(tokens) if depths[i] == 0 and t.text not in _CLOSE and i]
    hidden = _in_lambdas(tokens, depths)
    outer = [i for i in outer if i not in hidden]
    texts = {i: tokens[i].text for i in outer}
    fors = [i for i in outer if texts[i] == "for"]
    if fors:
        return [
            i - (tokens[i - 1].text == "async")
            for i in outer
            if texts[i] == "for" or (texts[i] == "if" and i > fors[0])
        ]
    commas = [i + 1 for i in outer if texts[i] == "," and i + 1 < len(tokens)]
    if commas:
        return commas
    ternary = [i for i in outer if texts[i] in ("if", "else")]
    if ternary:
        return ternary
    binary = [i for i in outer if _is_binary(tokens, i)]
    for level in _LEVELS:
        at = [i for i in binary if texts[i] in level]
        if at:
            return at
    return []


def _in_lambdas(tokens: _Tokens, depths: list[int]) -> set[int]:
    """Positions within a lambda outside all brackets: its commas and operators are its own."""
    hidden: set[int] = set()
    start = colon = -1
    for i, token in enumerate(tokens):
        if depths[i]:
            continue
        if start < 0 and token.text == "lambda":
            start, colon = i, -1
        elif start >= 0 and colon < 0 and token.text == ":":
            colon = i
        elif start >= 0 and colon >= 0 and token.text == ",":
            start = -1
        if start >= 0:
            hidden.add(i)
    return hidden


def _is_binary(tokens: _Tokens, i: int) -> bool:
    before = tokens[i - 1].text
    if tokens[i].text == "not":  # `a not in b`, but neither `not a` nor `a is not b`
        follows = tokens[i + 1].text if i + 1 < len(tokens) else ""
        return follows == "in" and before not in _NO_OPERAND
    if tokens[i].text == "in":
        return before != "not"
    return before not in _NO_OPERAND
