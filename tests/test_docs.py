"""README.md and docs/ say nothing that does not run.

Every Python block is executed, in order, in one session for each page; blocks with prompts are
doctests. A comment before a block says more:

    <!-- file: model.py -->        the block is that file, and `model` is imported
    <!-- output: srcgrad ... -->   the block is what this command prints
    <!-- refused: EXPRESSION -->   the block is the error that the expression raises

`pytest tests/test_docs.py --update-golden` writes the last two anew.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import linecache
import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(
    r"(?:^<!-- (?P<kind>file|output|refused): (?P<what>.*?) -->\n)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    kind: str | None
    what: str
    language: str
    text: str
    start: int  # where its text stands in the page
    stop: int
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for m in FENCE.finditer(text):
        start, stop = m.span("text")
        line = text[:start].count("\n")
        yield Block(m["kind"], m["what"] or "", m["language"], m["text"], start, stop, line)


class Session:
    """The blocks of a page, run one after the other in a directory of their own."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.names: dict[str, Any] = {
            "np": np, "sg": sg, "v": np.arange(4.0), "__name__": "__main__",
        }  # fmt: skip

    def found(self, block: Block) -> str | None:
        """Run a block; returns its text as it should be, where that is made."""
        match block.kind:
            case "file":
                self._file(block)
            case "output":
                return self._output(block.what)
            case "refused":
                return self._refused(block.what)
            case None if ">>>" in block.text:
                self._doctest(block)
            case None if block.language == "python":
                self._cell(block)
        return None

    def _file(self, block: Block) -> None:
        (self.folder / block.what).write_text(block.text, encoding="utf-8")
        importlib.invalidate_caches()
        name = block.what.removesuffix(".py")
        self.names[name] = importlib.import_module(name)

    def _output(self, command: str) -> str:
        pytest.importorskip("typer")
        pytest.importorskip("rich")
        from srcgrad.cli import main

        shown = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(shown):
            patch.setattr(sys, "argv", shlex.split(command))
            with pytest.raises(SystemExit) as left:
                main()
        assert left.value.code in (0, None), shown.getvalue()
        lines = [line.rstrip() for line in shown.getvalue().splitlines()]
        return "\n".join(lines).strip("\n") + "\n"

    def _refused(self, expression: str) -> str:
        with pytest.raises(sg.SrcgradError) as caught:
            eval(expression, self.names)
        return f"{caught.value}\n"

    def _doctest(self, block: Block) -> None:
        name = f"{self.page.name}:{block.line}"
        test = doctest.DocTestParser().get_doctest(
            block.text, self.names, name, str(self.page), block.line
        )
        shown = io.StringIO()
        results = doctest.DocTestRunner(verbose=False).run(
            test, out=shown.write, clear_globs=False
        )
        self.names.update(test.globs)
        assert results.failed == 0, shown.getvalue()

    def _cell(self, block: Block) -> None:
        name = f"<{self.page.name}:{block.line}>"
        lines = block.text.splitlines(keepends=True)
        linecache.cache[name] = (len(block.text), None, lines, name)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block.text, name, "exec"), self.names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_blocks(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "model", raising=False)
    session, text, moved = Session(page, tmp_path), page.read_text(encoding="utf-8"), 0
    try:
        for block in list(blocks(page)):
            made = session.found(block)
            if made is None:
                continue
            if request.config.getoption("--update-golden"):
                text = text[: block.start + moved] + made + text[block.stop + moved :]
                moved += len(made) - (block.stop - block.start)
            else:
                assert block.text == made, f"{page.name}:{block.line}"
    finally:
        sys.modules.pop("model", None)
    if request.config.getoption("--update-golden"):
        page.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), target


def test_setup_commands() -> None:
    """The two commands name what there is."""
    commands = next(b.text for b in blocks(ROOT / "README.md") if b.language == "sh")
    lines = commands.strip().splitlines()
    assert len(lines) == 2
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for line in lines:
        for named in re.findall(r"\.\[([\w,]+)\]", line):
            assert set(named.split(",")) <= set(extras)
        for script in re.findall(r"python (\S+)", line):
            assert (ROOT / script).is_file()


def test_public_names_are_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    functions = {
        name for name, value in vars(sg).items()
        if not name.startswith("_") and callable(value) and not isinstance(value, type)
    }  # fmt: skip
    assert {name for name in functions if not re.search(rf"\b{name}\b", text)} == set()


def test_the_version_of_the_limitations_is_this_one() -> None:
    for page in (ROOT / "README.md", ROOT / "docs" / "limitations.md"):
        assert f"ersion {sg.__version__}" in page.read_text(encoding="utf-8")


def test_changelog_starts_with_what_is_not_released() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (.*)$", text, re.MULTILINE)[1] in ("Unreleased", sg.__version__)


def test_the_comparison_tells_what_srcgrad_does(request: pytest.FixtureRequest) -> None:
    """The column of srcgrad is what it is now; the others' are of the versions named there."""
    names = runpy.run_path(str(ROOT / "docs" / "compare.py"))
    page = ROOT / "docs" / "comparison.md"
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    seen = []
    for k, line in enumerate(lines):
        row = re.match(r"\| \[([\w ]+)\]\(compare\.py\) \| ([^|]+) \|", line)
        if row is None:
            continue
        fn = next(f for f in names["CONSTRUCTS"] if f.__name__ == row[1].replace(" ", "_"))
        seen.append(fn)
        now = names["verdict"]("srcgrad", fn)
        if request.config.getoption("--update-golden"):
            lines[k] = line[: row.start(2)] + now + line[row.end(2) :]
        else:
            assert row[2] == now, row[1]
    assert seen == list(names["CONSTRUCTS"])
    if request.config.getoption("--update-golden"):
        page.write_text("".join(lines), encoding="utf-8")
