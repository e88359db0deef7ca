"""The commands of the command line: their arguments, their output, their exit codes."""

from __future__ import annotations

import fnmatch
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from srcgrad import jobs, locate
from srcgrad._version import __version__
from srcgrad.cli import DONE, FAILED, MISSING, REFUSED, USAGE
from srcgrad.errors import ArgumentError, SrcgradError
from srcgrad.spelling import parse_types

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Derivatives of numeric Python functions, as Python source.",
    epilog="Exit codes: 0 done; 1 a check failed; 2 wrong arguments; 3 refused; 4 not found.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
cache_app = typer.Typer(no_args_is_help=True, help="The cache of generated modules.")
app.add_typer(cache_app, name="cache")

_out = Console(highlight=False)
_err = Console(stderr=True, highlight=False)


class Mode(StrEnum):
    """What to make of a function."""

    grad = "grad"
    value_and_grad = "value_and_grad"
    vjp = "vjp"
    jvp = "jvp"


class Stage(StrEnum):
    """What to see of the compiler's work."""

    source = "source"
    ir = "ir"
    webs = "webs"
    types = "types"
    activity = "activity"
    recording = "recording"
    text = "text"


TargetArg = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="package.module:function or path/file.py:function",
        autocompletion=locate.completions,
    ),
]
WrtOption = Annotated[str, typer.Option(help="Parameters: names or positions, with commas.")]
ModeOption = Annotated[Mode, typer.Option(help="What to make.")]
TypesOption = Annotated[str, typer.Option(help='Types: "x=float64[:], n=int".')]


@contextmanager
def _reported() -> Iterator[None]:
    """Errors of srcgrad as messages, with an exit code that says of what kind they are."""
    try:
        yield
    except SrcgradError as error:
        _say(error)
        raise typer.Exit(exit_code(error)) from None


def _say(error: Exception) -> None:
    _err.print(Text("error: ", "bold red") + Text(str(error)), soft_wrap=True)


def exit_code(error: SrcgradError) -> int:
    """The exit code for an error.

    >>> exit_code(ArgumentError("no such parameter"))
    2
    """
    from srcgrad.build import ConfigError
    from srcgrad.check import GradientCheckError

    match error:
        case GradientCheckError():
            return FAILED
        case locate.TargetNotFound():
            return MISSING
        case ArgumentError() | ConfigError():
            return USAGE
        case _:
            return REFUSED


def _version(value: bool) -> None:
    if value:
        _out.print(f"srcgrad {__version__}")
        raise typer.Exit(DONE)


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    del version


# ---- show ----------------------------------------------------------------------


@app.command()
def show(
    target: TargetArg,
    wrt: WrtOption = "0",
    mode: ModeOption = Mode.grad,
    types: TypesOption = "",
    args: Annotated[str, typer.Option(help='Example arguments: "np.ones(3), n=4".')] = "",
    generic: Annotated[bool, typer.Option("--generic", help="Know nothing of types.")] = False,
    backend: Annotated[
        str, typer.Option(help="numpy or numba; that of the function when left out.")
    ] = "",
    stage: Annotated[Stage | None, typer.Option(help="One pass of the compiler.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page that needs no network.")] = None,
    pager: Annotated[bool, typer.Option(help="Page long output.")] = True,
    width: Annotated[int | None, typer.Option(min=20, help="Columns of the output.")] = None,
) -> None:
    """Show a function beside its derivative."""
    from srcgrad.show.stages import stage as stage_text
    from srcgrad.show.variant import view

    with _reported():
        job = _job(target, wrt, mode.value, types, args, generic, backend)
        if html is not None:
            _page(job, html)
            return
        if stage is not None:
            _code(stage_text(job.request(), stage.value))
            return
        seen = view([job])
    from srcgrad.show.terminal import display

    console = Console(highlight=False, width=width or _width())
    display(seen, console, pager)
    if seen.variants[0].error is not None:
        raise typer.Exit(REFUSED)


def _width() -> int | None:
    """Without a terminal there is no width to fit into."""
    return None if sys.stdout.isatty() else 180


def _code(text: str) -> None:
    """Python text; as it is when it goes to a file or another program."""
    if sys.stdout.isatty():
        _out.print(Syntax(text, "python", background_color="default", word_wrap=False))
    else:
        sys.stdout.write(text + "\n")


def _job(
    target: str, wrt: str, mode: str, types: str, args: str, generic: bool, backend: str
) -> jobs.Job:
    fn = locate.find(target)
    if backend not in ("", "numpy", "numba"):
        raise ArgumentError(f"backend is numpy or numba, not {backend!r}")
    given = () if generic else tuple(parse_types(types).items())
    if args and not generic:
        given = (*_example_types(fn, args), *given)
    job = jobs.unwrapped(jobs.Job(fn, mode, jobs.wrt_of(wrt), given, guess=not generic))
    return replace(job, backend=backend or jobs.backend_of(fn))


def _example_types(fn: Any, args: str) -> tuple[tuple[str, Any], ...]:
    from srcgrad.analysis.types.probe import type_of
    from srcgrad.jobs import bound_arguments

    positional, named = jobs.arguments(args, fn)
    return tuple((k, type_of(v)) for k, v in bound_arguments(fn, positional, named).items())


def _page(job: jobs.Job, file: Path) -> None:
    from srcgrad.show.page import page
    from srcgrad.show.variant import view

    modes = [job.mode, *(m for m in jobs.MODES if m != job.mode)]
    known = [replace(job, mode=mode) for mode in modes]
    plain = [replace(job, mode=mode, types=(), guess=False, known=False) for mode in modes]
    seen = view([*known, *plain])
    with jobs.writing(file):
        file.write_text(page(seen), encoding="utf-8")
    _out.print(f"written to {file}", soft_wrap=True)
    if seen.variants[0].error is not None:
        raise seen.variants[0].error


# ---- check ---------------------------------------------------------------------


@app.command()
def check(
    target: TargetArg,
    args: Annotated[str, typer.Option(help='The point: "np.ones(3), n=4".')] = "",
    wrt: Annotated[str, typer.Option(help="Parameters; all floating ones by default.")] = "",
    types: TypesOption = "",
    order: Annotated[int, typer.Option(min=1, max=4, help="Orders of derivatives.")] = 2,
    mode: Annotated[str, typer.Option(help="reverse, forward or both.")] = "both",
    tol: Annotated[float | None, typer.Option(help="Relative error allowed.")] = None,
    seed: Annotated[int, typer.Option(help="Of example arguments and directions.")] = 0,
) -> None:
    """Check a function's derivatives against differences."""
    from srcgrad.check import check_grads

    with _reported():
        if mode not in ("both", "reverse", "forward"):
            raise ArgumentError(f"mode is reverse, forward or both, not {mode!r}")
        fn = locate.find(target)
        positional, named = jobs.arguments(args, fn) if args else jobs.samples(fn, types, seed)
        chosen = jobs.wrt_of(wrt) if wrt else jobs.floating(fn, positional, named)
        modes = ("reverse", "forward") if mode == "both" else (mode,)
        jobs.called(fn, positional, named)
        check_grads(fn, positional, chosen, order, modes, named, tol=tol, seed=seed)
    orders = "first derivatives" if order == 1 else f"derivatives up to order {order}"
    name = getattr(fn, "__name__", target)
    _out.print(f"{orders} of {name} agree with differences", soft_wrap=True)


# ---- rules ---------------------------------------------------------------------


@app.command()
def rules(
    pattern: Annotated[str, typer.Argument(help="Part of a name, or a pattern with *.")] = "*",
    as_json: Annotated[bool, typer.Option("--json", help="For other programs.")] = False,
) -> None:
    """List the functions whose derivative is known, and their formulas."""
    from srcgrad.rules import registry, tables
    from srcgrad.show.formulas import shown

    tables.load(installed=True)
    wanted = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
    known = {entry.name: entry for entry in registry.entries() if not _internal(entry.name)}
    names = sorted(n for n in known if fnmatch.fnmatchcase(n, wanted))
    found = [shown(known[name]) for name in names]
    if as_json:
        rows = [{**vars(rule), "formulas": dict(rule.formulas)} for rule in found]
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
        return
    if not found:
        _err.print(f"no rule matches {pattern!r}: a function written in Python needs none")
        raise typer.Exit(FAILED)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("function", "kind", "formulas"):
        table.add_column(head, overflow="fold")
    for rule in found:
        formulas = "\n".join(f"{name} = {formula}" for name, formula in rule.formulas)
        table.add_row(Text(rule.name, "bold"), rule.kind, Text(formulas))
    Console(highlight=False, width=_width()).print(table)
    _out.print(f"\n{len(found)} rule{'s' * (len(found) != 1)}", style="bright_black")


def _internal(name: str) -> bool:
    return name.startswith("srcgrad.runtime.support")


# ---- build ---------------------------------------------------------------------


@app.command()
def build(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TARGET]...", autocompletion=locate.completions),
    ] = None,
    project: Annotated[Path, typer.Option(help="Directory with pyproject.toml.")] = Path(),
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The module.")] = None,
    wrt: WrtOption = "0",
    mode: ModeOption = Mode.grad,
    types: TypesOption = "",
    name: Annotated[str | None, typer.Option(help="Of the function.")] = None,
    standalone: Annotated[bool, typer.Option("--standalone", help="Need only NumPy.")] = False,
    jit: Annotated[bool, typer.Option("--jit", help="Compile with Numba.")] = False,
    pythran: Annotated[bool, typer.Option("--pythran", help="Export for Pythran.")] = False,
    checks: Annotated[bool, typer.Option(help="Check the types of arguments.")] = True,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; 1 when stale.")] = False,
) -> None:
    """Write derivatives into modules: those of \\[tool.srcgrad], or of the TARGETs."""
    from srcgrad.build import Options, single
    from srcgrad.build import build as build_all
    from srcgrad.build import read as read_config

    with _reported():
        if targets:
            options = Options(standalone, jit, pythran, checks)
            config = single(
                targets, output, options, project,
                mode=mode.value, wrt=jobs.wrt_of(wrt), types=types, name=name,
            )  # fmt: skip
        else:
            config = read_config(project)
        made = build_all(config)
    stale = [one for one in made if one.stale]
    if check:
        for one in stale:
            _diff(one.diff())
        if stale:
            names = ", ".join(one.shown for one in stale)
            _err.print(f"stale: {names}; run srcgrad build", soft_wrap=True)
            raise typer.Exit(FAILED)
        return
    with _reported():
        for one in made:
            done = "written  " if one.write() else "unchanged"
            _out.print(f"{done} {one.shown}", soft_wrap=True)


def _diff(text: str) -> None:
    if sys.stdout.isatty():
        _out.print(Syntax(text, "diff", background_color="default"))
    else:
        sys.stdout.write(text)


# ---- cache ---------------------------------------------------------------------


@cache_app.command()
def info() -> None:
    """Where the cache is and what it holds."""
    from srcgrad.runtime import cache

    found = cache.info()
    _out.print(f"directory  {found.path}", soft_wrap=True)
    _out.print(f"modules    {found.modules}")
    _out.print(f"size       {_size(found.bytes)} of at most {_size(found.limit)}")
    if found.problem:
        _out.print(f"not used   {found.problem}", soft_wrap=True)
        raise typer.Exit(FAILED)


@cache_app.command()
def path() -> None:
    """Print the directory of the cache."""
    from srcgrad.runtime import cache

    sys.stdout.write(cache.info().path + "\n")


@cache_app.command()
def clear() -> None:
    """Remove every generated module."""
    from srcgrad.runtime import cache

    count = cache.clear()
    _out.print(f"{count} module{'s' * (count != 1)} removed")


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
