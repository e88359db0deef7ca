"""A derivative that was made, and the request for it; knows nothing of how one is made."""

from __future__ import annotations

import ast
import linecache
import traceback
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, ModuleType
from typing import Any

from srcgrad import dependencies, warm
from srcgrad.dependencies import Dependency, Place, Watch
from srcgrad.errors import MissingRule, NotDifferentiable, UnsupportedSyntax, shown_file
from srcgrad.frontend.namespace import written_at
from srcgrad.ir import frozen
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry
from srcgrad.runtime import loader, rulenotes

_REFUSALS = (MissingRule, NotDifferentiable, UnsupportedSyntax)


@dataclass(frozen=True)
class Request:
    """What is to be made: the derivative of `fn` in `mode` for these argument types."""

    fn: Any
    mode: str  # grad, value_and_grad, vjp, jvp
    wrt: tuple[str, ...]
    types: tuple[ty.Type, ...]  # of the function's parameters in order, bound ones included
    aux: bool = False
    single: bool = True  # one gradient, not a tuple of one
    backend: str = "numpy"
    options: tuple[tuple[str, Any], ...] = ()  # of njit
    out: tuple[str, ...] = ()  # written arguments that are the result
    single_out: bool = True
    foreign: str = ""  # the class of arrays that aren't NumPy's among the arguments
    checkpoints: bool = True  # are loops marked by `checkpointed` run again from snapshots


@dataclass
class Compiled:
    """A generated module and the function asked for."""

    text: str
    module: ModuleType
    function: Any
    name: str
    globals: list[Dependency] = field(default_factory=list)
    program: Any = None
    functions: list[Any] = field(default_factory=list)  # that it was made from
    requires: list[Any] = field(default_factory=list)  # derivatives that were seen through
    rules: dict[CodeType, str] = field(default_factory=dict)  # the users' rules that it calls
    backend: Any = None  # the module that compiles it, if one does
    tree: ast.Module | None = None  # what the text was written from, until `origins` is asked
    lines: dict[int, tuple[str, int]] = field(default_factory=dict)
    takes_functions: bool = False  # some arguments are Python functions
    debug: bool = False  # a nan or inf in a result is traced
    file: str = ""  # of the primal
    label: str = ""  # of the module, as people read it
    injected: dict[str, Any] = field(default_factory=dict)  # live objects the module was handed
    types: tuple[ty.Type, ...] = ()  # of the arguments that it is made for
    kept: warm.Kept | None = None  # what answers the same question elsewhere
    digests: dict[int, str] = field(default_factory=dict)  # of what Numba froze that has contents

    def says_the_same(self, other: Compiled) -> bool:
        """Whether two texts have the same statements, whatever types they were made for."""
        mine, theirs = (
            [line for line in text.splitlines() if not line.startswith("#")]
            for text in (self.text, other.text)
        )
        return mine == theirs

    def used_rules(self) -> set[Hashable]:
        """Keys of the functions whose overrides the derivative uses."""
        used = set() if self.program is None else set(self.program.used_rules)
        return used.union(*(r.used_rules() for r in self.requires))

    def origins(self) -> dict[int, tuple[str, int]]:
        """From lines of the text to files and lines of the user's that they come from."""
        if self.tree is not None:
            from srcgrad.codegen import writer

            self.lines, self.tree = writer.line_table(self.tree, self.text), None
        return self.lines

    def place(self, line: int) -> tuple[str, int]:
        """The user's file and line behind a line of the text, through derivatives of derivatives
        and functions made from nested ones; ("", 0) when there is none."""
        file, at = self.origins().get(line, ("", 0))
        for inner in self.requires:
            if file == inner.module.__file__:
                found: tuple[str, int] = inner.place(at)
                return found if found[1] else (file, at)
        return written_at(file, at)

    def places(self) -> dict[int, tuple[str, int]]:
        """The user's files and lines behind all lines of the text that have one."""
        return {line: self.place(line) for line in self.origins()}

    def explain(self, error: BaseException) -> None:
        """Say in an exception that came out of a rule which one it was; raise ours for Numba's."""
        if self.backend is not None and self.backend.is_numba_error(error):
            raise self.backend.explained(error, self.text, self.places()) from None
        before = len(getattr(error, "__notes__", ()))
        if self.rules:
            rulenotes.add_note(error, self.rules)
        if len(getattr(error, "__notes__", ())) == before:
            self.note_place(error)

    def note_place(self, error: BaseException) -> None:
        """Note the user's line behind the line of generated text where an exception came up; it
        is the place of a refusal of ours that has none."""
        at = [
            f.lineno
            for f in traceback.extract_tb(error.__traceback__)
            if f.filename == self.module.__file__
        ]
        file, line = self.place(at[-1] or 0) if at else ("", 0)
        if not line:
            return
        from srcgrad.ir.nodes import Loc

        text = linecache.getline(file, line)
        if isinstance(error, _REFUSALS) and error.loc is None:
            first, last = len(text) - len(text.lstrip()), len(text.rstrip().encode())
            error.put(Loc(file, line, first, line, last))
        else:
            where = f"{shown_file(file)}:{line}"
            error.add_note(f"srcgrad: in the derivative of {where}  {text.strip()}")

    @cached_property
    def watch(self) -> Watch:
        """What says whether names are bound to what they were."""
        return dependencies.watch(self.globals, contents=self.digests)

    def is_current(self) -> bool:
        """Whether the functions and types that the text was made for are still in their places."""
        if self.requires and not all(r.is_current() for r in self.requires):
            return False
        known = self.globals
        try:
            if self.watch.unchanged():
                if not self.watch.rest:
                    return True
                known = self.watch.rest
        except AttributeError:
            pass  # a name is gone
        return all(self._is_as_it_was(place, t) for place, t in known)

    def _is_as_it_was(self, place: Place, known: ty.Type) -> bool:
        now = dependencies.read(place)
        if self.backend is not None:
            digest = self.digests.get(id(place.value))
            if not self.backend.is_same(place.value, now, digest):
                return False
        return dependencies.is_current(place, known, now)


def make(request: Request, scopes: Sequence[Mapping[Hashable, Entry]] = ()) -> Compiled:
    """The derivative for a request: from the cache, or from the compiler, which is loaded then."""
    question = warm.question(request, scopes)
    answer = None if question is None else warm.find(question, request)
    if answer is not None:
        return _taken(answer, request.backend)
    from srcgrad import pipeline

    made = pipeline.compile_request(request, scopes)
    if question is not None:
        made.kept = warm.keep(question, request, made)
    return made


def _taken(answer: warm.Answer, backend: str) -> Compiled:
    """A derivative from the cache."""
    compiler: Any = None
    if backend == "numba":
        from srcgrad.runtime import numba as compiler

        (compiler.library if "srcgrad.runtime" in answer.text else compiler.alone)()
    module = loader.load(answer.label, answer.text, answer.objects)
    return Compiled(
        answer.text, module, getattr(module, answer.name), answer.name, answer.known,
        functions=answer.functions, backend=compiler, file=answer.file, lines=answer.lines,
        injected=answer.objects, kept=answer.kept,
        digests=frozen.digests(p.value for p, _ in answer.known) if backend == "numba" else {},
    )  # fmt: skip
