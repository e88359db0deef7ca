"""A `Variant` in a terminal: primal and derivative side by side, related by colour and number.

The only module of the view that imports rich.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from srcgrad.show.highlight import Piece, pieces
from srcgrad.show.variant import Primal, Variant, View

_STYLES = {
    "keyword": "magenta",
    "string": "green",
    "number": "yellow",
    "comment": "bright_black italic",
    "section": "bold bright_black",
    "definition": "bold blue",
    "adjoint": "red",
    "tape": "cyan",
    "builtin": "blue",
}
_LINES = ("cyan", "magenta", "yellow", "green", "blue", "red")
_HEAD = 5  # columns of a line's number
_NUMBERS = 20  # columns of the numbers at both sides, and of what is between
_SWEEPS = {"forward": "cyan", "reverse": "red", "tangent": "green"}
_NARROW = 96  # below this many columns the derivative goes under the primal
_TYPES = 30  # columns that types have at most
_DERIVATIVE = 66  # columns that the derivative has before types are shown

Row = tuple[Text, Text, Text]  # numbers, code, margin


def display(view: View, console: Console, pager: bool = True) -> None:
    """Prints the first variant, through a pager when it is longer than the screen."""
    shown = renderable(view, console.width)
    height = len(view.variants[0].lines) + 6
    if pager and console.is_terminal and height > console.height:
        os.environ.setdefault("LESS", "-RFX")
        with console.pager(styles=True):
            console.print(shown)
    else:
        console.print(shown)


def renderable(view: View, width: int) -> RenderableType:
    """The first variant of a view as wide as the terminal."""
    variant = view.variants[0]
    left = [row for primal in variant.primals for row in _primal(variant, primal)]
    if variant.error is not None:
        return Group(_title(view), _pane(left, width), _refusal(variant))
    right = list(_derivative(variant))
    if width < _NARROW:
        return Group(_title(view), _pane(left, width), Text(), _pane(right, width))
    return Group(_title(view), Text(), _side_by_side(left, right, width), _legend())


def _title(view: View) -> Text:
    variant = view.variants[0]
    out = Text()
    out.append(view.name, "bold")
    out.append(f"  {view.place}  ", "bright_black")
    out.append(variant.mode, "bold")
    out.append(f" with respect to {', '.join(view.wrt)}; {variant.label}")
    return out


def _legend() -> Text:
    out = Text("\n")
    for name, colour in _SWEEPS.items():
        out.append("\u258c", colour)
        out.append(f"{name}  ", "bright_black")
    out.append("numbers in colour: the line of the primal", "bright_black")
    return out


# ---- rows ----------------------------------------------------------------------


def _colour(origin: int) -> str:
    return _LINES[origin % len(_LINES)]


def _code(found: list[Piece]) -> Text:
    out = Text()
    for text, kind in found:
        out.append(text, _STYLES.get(kind, ""))
    return out


def _primal(variant: Variant, primal: Primal) -> Iterator[Row]:
    if primal is not variant.primals[0]:
        yield Text(), Text(), Text()
        yield Text(), Text(f"# {primal.file}", "bright_black"), Text()
    coloured = pieces("\n".join(line.text for line in primal.lines))
    linked = {row.origin for row in variant.lines}
    for line, found in zip(primal.lines, coloured, strict=False):
        style = _colour(line.number) if line.number in linked else "bright_black"
        number = Text(f"{line.number:>{_HEAD - 1}} ", f"bold {style}" if line.active else style)
        types = ", ".join(f"{name} {t}" for name, t in line.types)
        yield number, _code(found), Text(types, "bright_black")


def _derivative(variant: Variant) -> Iterator[Row]:
    for row, found in zip(variant.lines, pieces(variant.text), strict=True):
        head = Text()
        origin = str(row.origin) if row.origin else ""
        head.append(f"{origin:>4} ", _colour(row.origin))
        head.append("\u258c" if row.sweep else " ", _SWEEPS.get(row.sweep, ""))
        action = {"save": "\u2193", "restore": "\u2191"}.get(row.action, "")
        yield head, _code(found), Text(action, "cyan")


# ---- layouts -------------------------------------------------------------------


def _pane(rows: list[Row], width: int) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", max_width=max(width - 10, 20))
    for head, code, _ in rows:
        table.add_row(head, code)
    return table


def _side_by_side(left: list[Row], right: list[Row], width: int) -> Table:
    """Two tables, so that a line that is folded in one leaves no hole in the other."""
    used = max((code.cell_len for _, code, _ in left), default=0)
    used = min(used, width * 2 // 5)
    margin = min(max((said.cell_len for _, _, said in left), default=0), _TYPES)
    types = width - used - margin - _NUMBERS >= _DERIVATIVE
    a = Table.grid(padding=(0, 1, 0, 0))
    a.add_column(no_wrap=True)
    a.add_column(overflow="fold", width=used)
    if types:
        a.add_column(overflow="fold", width=margin)
    for row in left:
        a.add_row(*(row if types else row[:2]))
    b = Table.grid(padding=(0, 1, 0, 0))
    b.add_column(no_wrap=True)
    b.add_column(overflow="fold")
    b.add_column(no_wrap=True)
    for row in right:
        b.add_row(*row)
    both = Table.grid(padding=(0, 2, 0, 0))
    both.add_column(width=_HEAD + 1 + used + (margin + 1 if types else 0))
    both.add_column()
    both.add_row(a, b)
    return both


def _refusal(variant: Variant) -> Panel:
    error = variant.error
    return Panel(Text(str(error)), title=type(error).__name__, border_style="red", expand=False)
