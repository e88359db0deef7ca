"""What the compiler has of a function after each pass, as text.

source     the text of the function, as it was found
ir         lowered: one operation a statement
webs       each independent use of a name is a variable of its own
types      what is known of each variable
activity   the variables that carry a derivative
recording  what the forward sweep keeps for the reverse sweep, and where
text       the generated module
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from srcgrad import pipeline
from srcgrad.analysis import webs
from srcgrad.analysis.recording import Recording, record
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.unit import Unit, make_unit
from srcgrad.codegen import writer
from srcgrad.errors import ArgumentError
from srcgrad.frontend import source as source_module
from srcgrad.frontend.lower import lower
from srcgrad.ir import nodes as ir
from srcgrad.ir import show as ir_show
from srcgrad.ir.names import Names

STAGES = ("source", "ir", "webs", "types", "activity", "recording", "text")


def stage(request: pipeline.Request, name: str) -> str:
    """The function of a request after the pass of that name.

    >>> def f(x: float):
    ...     return x * x + 1.0
    >>> from srcgrad.jobs import Job
    >>> print(stage(Job(f).request(), "ir"))
    def f(x):
        %1 = x * x
        %2 = %1 + 1.0
        return %2

    Raises: ArgumentError when there is no such stage.
    """
    if name not in STAGES:
        raise ArgumentError(
            f"there is no stage {name!r}", fixes=[f"name one of {', '.join(STAGES)}"]
        )
    return _MAKE[name](request)


def _source(request: pipeline.Request) -> str:
    return source_module.read(request.fn).text.rstrip("\n")


def _ir(request: pipeline.Request) -> str:
    pipeline.function_of(request.fn)  # loads the rules
    return ir_show.show(lower(source_module.read(request.fn)))


def _webs(request: pipeline.Request) -> str:
    pipeline.function_of(request.fn)
    return ir_show.show(webs.split(lower(source_module.read(request.fn))))


def _types(request: pipeline.Request) -> str:
    unit = _unit(request)

    def note(stmt: ir.Stmt) -> str:
        names = dict.fromkeys(v.name for v in ir.writes(stmt))
        return ", ".join(f"{n} {_type(unit, n)}" for n in names if not isinstance(stmt, ir.Store))

    head = ", ".join(f"{n} {_type(unit, n)}" for n in unit.params)
    return _annotated(unit, note, head)


def _type(unit: Unit, name: str) -> str:
    return pipeline.show_type(unit.type(name))


def _activity(request: pipeline.Request) -> str:
    unit = _unit(request)

    def note(stmt: ir.Stmt) -> str:
        if not unit.differentiates(stmt):
            return ""
        active = [v.name for v in ir.writes(stmt) if unit.is_active(v)]
        kinds = [f"{name} ({unit.kind(name)})" for name in dict.fromkeys(active)]
        return "active" + (": " + ", ".join(kinds) if kinds else "")

    names = [n for n in unit.params if unit.is_active(n)]
    return _annotated(unit, note, "active: " + ", ".join(f"{n} ({unit.kind(n)})" for n in names))


def _recording(request: pipeline.Request) -> str:
    unit = _unit(request)
    taken = {v.name.split("%")[0] for s in ir.walk(unit.body) for v in ir.writes(s)}
    found = record(unit, Names(taken | set(unit.params)))
    return _annotated(unit, lambda stmt: ", ".join(_kept(found, stmt)), "")


def _kept(found: Recording, stmt: ir.Stmt) -> Iterator[str]:
    for save in found.saves.get(stmt.sid, ()):
        where = "on a tape" if save.taped else "in a variable"
        yield f"{save.when} it, {save.var} is kept {where}"
    if stmt.sid in found.undone:
        yield "what it overwrites is kept"
    if stmt.sid in found.pairs:
        yield "the array and its shadow are kept"


def _text(request: pipeline.Request) -> str:
    drafted = pipeline.draft([request])
    return writer.write(pipeline.tree_of(drafted, request)).rstrip("\n")


_MAKE: dict[str, Callable[[pipeline.Request], str]] = {
    "source": _source,
    "ir": _ir,
    "webs": _webs,
    "types": _types,
    "activity": _activity,
    "recording": _recording,
    "text": _text,
}


# ---- statements with notes -----------------------------------------------------


def _unit(request: pipeline.Request) -> Unit:
    fn, _ = pipeline.function_of(request.fn)
    return make_unit(Program(), pipeline.spec_of(fn, request))


def _annotated(unit: Unit, note: Callable[[ir.Stmt], str], head: str) -> str:
    """The function as its IR, with a note at the right of each statement."""
    first = ir_show.show(unit.facts.fn).splitlines()[0]
    rows = [(first, head), *_rows(unit.body, note, 1)]
    width = min(max(len(text) for text, _ in rows) + 2, 60)
    return "\n".join(f"{text:<{width}}# {what}" if what else text for text, what in rows)


def _rows(
    block: ir.Block, note: Callable[[ir.Stmt], str], depth: int
) -> Iterator[tuple[str, str]]:
    for stmt in block:
        lines = ir_show.show_stmt(stmt)
        inner = list(ir.blocks(stmt))
        if not inner:
            yield from _indented(lines, note(stmt), depth)
            continue
        yield "    " * depth + lines[0], note(stmt)
        for k, body in enumerate(inner):
            if k and body:
                yield "    " * depth + _between(lines, k), ""
            yield from _rows(body, note, depth + 1)


def _indented(lines: list[str], what: str, depth: int) -> Iterator[tuple[str, str]]:
    for k, line in enumerate(lines):
        yield "    " * depth + line, "" if k else what


def _between(lines: list[str], k: int) -> str:
    """The line that starts the k-th block of a compound statement: `else:`, `except ...:`."""
    heads = [line for line in lines[1:] if not line.startswith(" ")]
    return heads[k - 1] if k <= len(heads) else "else:"
