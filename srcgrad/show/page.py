"""A `View` as one HTML page that needs nothing else: no network, no other file.

The look is in `page.css`, what the page does in `page.js`; both are put into it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib import resources

from srcgrad.errors import SrcgradError
from srcgrad.show.formulas import Shown, shown
from srcgrad.show.highlight import Piece, pieces
from srcgrad.show.lines import Line
from srcgrad.show.variant import Primal, PrimalLine, Variant, View

_IN_MARGIN = 2  # types of a line; more go under it
_BESIDE = 68  # characters of a line and its types; longer ones would cover each other
_ARROW = " \u2192 "
_KEYS = (
    ("\u2191 \u2193", "previous, next line"),
    ("\u2190 \u2192", "to the partner in the other pane"),
    ("Enter", "hold a line and its partners, or let go"),
    ("/", "search; n and N for the next and previous match"),
    ("m", "next mode"),
    ("c", "copy the derivative"),
    ("t", "light or dark"),
    ("Esc", "clear"),
)


def page(view: View) -> str:
    """The page, whole."""
    wrt = ", ".join(view.wrt)
    return f"""<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(view.name)} \u00b7 srcgrad</title>
<style>
{_asset("page.css")}</style>
</head>
<body>
<header>
<div class="title"><span class="mark" aria-hidden="true">\u2202</span><h1>{escape(view.name)}</h1>
<span class="place">{escape(view.place)} \u00b7 with respect to <b>{escape(wrt)}</b></span></div>
{_modes(view)}
<div class="tools">{_types(view)}
<div class="search"><input type="search" id="search" placeholder="Search  /"
 aria-label="Search the code"><span class="count" aria-live="polite"></span></div>
<button class="tool copy" title="Copy the derivative (c)">Copy</button>
<button class="tool theme" title="Light or dark (t)" aria-label="Light or dark"></button>
<button class="tool" id="keys" title="Keys (?)" aria-label="Keys">?</button></div>
</header>
<main>
{"".join(_variant(v, k) for k, v in enumerate(view.variants))}
<svg class="links" aria-hidden="true"></svg>
</main>
<footer><span id="status" role="status"></span>
<div class="legend"><span style="--c: var(--primal)">primal</span>\
<span style="--c: var(--forward)">forward sweep</span>\
<span style="--c: var(--reverse)">reverse sweep</span>\
<span style="--c: var(--tangent)">tangent</span></div></footer>
<dialog id="help" aria-label="Keys"><h2>Keys</h2><dl>
{"".join(f"<dt><kbd>{escape(k)}</kbd></dt><dd>{escape(what)}</dd>" for k, what in _KEYS)}
</dl><form method="dialog"><button class="tool">Close</button></form></dialog>
<script>
{_asset("page.js")}</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return resources.files("srcgrad.show").joinpath(name).read_text(encoding="utf-8")


# ---- the switches ----------------------------------------------------------------


def _modes(view: View) -> str:
    buttons = []
    for mode in dict.fromkeys(v.mode for v in view.variants):
        refused = all(v.error is not None for v in view.variants if v.mode == mode)
        extra = ' class="no" title="refused"' if refused else ""
        buttons.append(f'<button role="tab" data-mode="{mode}"{extra}>{mode}</button>')
    return f'<div class="modes" role="tablist" aria-label="Mode">{"".join(buttons)}</div>'


def _types(view: View) -> str:
    labels = list(dict.fromkeys(v.label for v in view.variants))
    if len(labels) < 2:
        return ""
    options = "".join(f'<option value="{escape(t)}">{escape(t)}</option>' for t in labels)
    return f'<select id="types" aria-label="Types of the arguments">{options}</select>'


# ---- one variant -----------------------------------------------------------------


def _variant(variant: Variant, number: int) -> str:
    hidden = " hidden" if number else ""
    left = "".join(_primal(variant, k, number) for k in range(len(variant.primals)))
    return f"""<section class="variant" data-mode="{variant.mode}" \
data-types="{escape(variant.label)}"{hidden}>
<div class="pane left">{left}{_rules(variant, number)}</div>
<div class="gap"></div>
<div class="pane right">{_derivative(variant)}</div>
</section>
"""


def _primal(variant: Variant, k: int, number: int) -> str:
    primal = variant.primals[k]
    coloured = pieces("\n".join(line.text for line in primal.lines))
    rows = []
    for line, found in zip(primal.lines, coloured, strict=False):
        rows.append(_primal_line(line, found, f"{k}-{line.number}", number, variant, primal))
    name = f"<code>{escape(primal.name)}</code>" if primal.name else "refused in"
    first = primal.lines[0].number if primal.lines else 0
    head = f'<h2>{name}<span class="where">{escape(primal.file)}:{first}</span></h2>'
    label = f"Primal {primal.name}"
    return (
        f'{head}<ol class="code" role="listbox" aria-label="{escape(label)}">{"".join(rows)}</ol>'
    )


def _primal_line(
    line: PrimalLine, found: list[Piece], key: str, number: int, variant: Variant, primal: Primal
) -> str:
    classes = ["line"]
    refusal = ""
    if line.active:
        classes.append("passes")
    if _is_here(variant.error, line, primal):
        classes.append("refused")
        refusal = f'<li class="refusal" role="note">{_refusal(variant.error)}</li>'
    names = {e.name.rpartition(".")[2]: _rule_id(e.name, number) for e in line.rules}
    code = "".join(_piece(p, names) for p in found)
    types = "".join(f"<span><i>{escape(n)}</i> {escape(t)}</span>" for n, t in line.types)
    below = ""
    length = sum(len(text) for text, _ in found) + sum(len(n) + len(t) + 3 for n, t in line.types)
    if line.types and (len(line.types) > _IN_MARGIN or length > _BESIDE):
        types, below = "", f'<li class="below types" role="note">{types}</li>'
    return (
        f'<li class="{" ".join(classes)}" role="option" tabindex="-1" data-key="{key}" '
        f'data-n="{line.number}"><span class="no">{line.number}</span><code>{code}</code>'
        f'<span class="types">{types}</span></li>{below}{refusal}'
    )


def _derivative(variant: Variant) -> str:
    if variant.error is not None:
        return (
            '<div class="nothing"><b>There is no derivative here</b>'
            f"{escape(variant.error.message)}</div>"
        )
    coloured = pieces(variant.text)
    rows = [_line(variant, r, p) for r, p in zip(variant.lines, coloured, strict=True)]
    counts = _counts(variant)
    return (
        f'<h2><code>{variant.mode}</code>{counts}</h2><ol class="code" role="listbox" '
        f'aria-label="Derivative">{"".join(rows)}</ol>'
        f'<pre class="text" hidden>{escape(variant.text)}</pre>'
    )


def _counts(variant: Variant) -> str:
    saved = len({r.tape for r in variant.lines if r.action == "save"})
    what = f"{saved} tape{'s' * (saved != 1)}" if saved else "nothing on tapes"
    return f'<span class="where">{len(variant.lines)} lines, {what}</span>'


def _line(variant: Variant, row: Line, found: list[Piece]) -> str:
    classes = ["line", row.sweep] if row.sweep else ["line"]
    if any(kind == "section" for _, kind in found):
        classes.append("heading")
        found = [(re.sub(r"#? ?----(?: |$)", "", text).strip(), kind) for text, kind in found]
    k = variant.primal_of(row)
    key = f' data-key="{k}-{row.origin}"' if row.origin and k is not None else ""
    tape = f' data-tape="{escape(row.tape)}"' if row.tape else ""
    badge = f'<span class="badge">{_SIGNS[row.action]}</span>' if row.action else "<span></span>"
    origin = row.origin if key else ""
    return (
        f'<li class="{" ".join(classes)}" role="option" tabindex="-1" data-n="{row.number}"{key}'
        f'{tape}><span class="no">{row.number}</span><span class="from">{origin}</span>'
        f"<code>{''.join(_piece(p, {}) for p in found)}</code>{badge}</li>"
    )


_SIGNS = {"save": "\u2193 save", "restore": "\u2191 restore"}


def _piece(piece: Piece, links: dict[str, str]) -> str:
    text, kind = piece
    if kind:
        return f'<span class="k-{kind}">{escape(text)}</span>'
    out = escape(text)
    for name, target in links.items():
        pattern = rf"(?<![\w#-])((?:\w+\.)*{re.escape(name)})(?=\()"
        out = re.sub(pattern, rf'<a class="rule-link" href="#{target}" tabindex="-1">\1</a>', out)
    return out


# ---- refusals and rules ----------------------------------------------------------


def _is_here(error: SrcgradError | None, line: PrimalLine, primal: Primal) -> bool:
    from srcgrad.errors import shown_file

    if error is None:
        return False
    if error.loc is None:
        return line is primal.lines[0]
    return error.loc.line == line.number and shown_file(error.loc.file) == primal.file


def _refusal(error: SrcgradError | None) -> str:
    if error is None:
        return ""
    rows = [f"<p><strong>{type(error).__name__}</strong> {escape(error.message)}</p>"]
    if error.chain:
        steps = (f"{name} (line {line})" if line > 0 else name for name, line in error.chain)
        rows.append(f"<p>It is needed: {escape(_ARROW.join(steps))}</p>")
    if error.fixes:
        items = "".join(f"<li>{escape(fix)}</li>" for fix in error.fixes)
        rows.append(f"<p>What to do:</p><ul>{items}</ul>")
    return "".join(rows)


def _rule_id(name: str, number: int) -> str:
    return f"rule-{number}-{re.sub(r'[^A-Za-z0-9]+', '-', name)}"


def _rules(variant: Variant, number: int) -> str:
    entries = {e.name: e for p in variant.primals for line in p.lines for e in line.rules}
    if not entries:
        return ""
    cards = "".join(_card(shown(e), number) for e in entries.values())
    return f'<details class="rules" open><summary>Rules used</summary>{cards}</details>'


def _card(rule: Shown, number: int) -> str:
    rows: Sequence[tuple[str, str]] = rule.formulas
    formulas = "".join(f"<dt>{escape(n)}</dt><dd>{escape(f)}</dd>" for n, f in rows)
    return (
        f'<div class="rule" id="{_rule_id(rule.name, number)}"><h4>{escape(rule.name)}'
        f"<small>{escape(rule.kind)}</small><small>{escape(rule.place)}</small></h4>"
        f"<dl>{formulas}</dl></div>"
    )
