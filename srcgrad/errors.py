"""What srcgrad raises and warns with.

Owns the tree of error classes and the one form of their texts: place, message, the source line
with a caret, the chain of variables that made the place matter, and what to write instead.  It
must know nothing of the compiler; a place is anything with the fields of `ir.nodes.Loc`.
"""

from __future__ import annotations

import linecache
import os
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from srcgrad.ir.nodes import Loc

_Chain = Sequence[tuple[str, int]]
_E = TypeVar("_E", bound="SrcgradError")
_CHAIN_HEAD, _CHAIN_TAIL = 4, 3  # of a longer chain only its two ends are shown


class SrcgradError(Exception):
    """What every error of srcgrad derives from.

    >>> try:
    ...     raise MissingRule("no derivative rule for f", fixes=["write one with @srcgrad.rule"])
    ... except SrcgradError as error:
    ...     print(error)
    no derivative rule for f
    Fixes: write one with @srcgrad.rule.
    """

    closing: ClassVar[str] = ""

    def __init__(
        self,
        message: str = "",
        *,
        loc: Loc | None = None,
        chain: _Chain = (),
        fixes: Sequence[str] = (),
        line: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.loc = loc
        self.chain = tuple(chain)
        self.fixes = tuple(fixes)
        # Kept as text: the file may have changed, or be on another machine, when it is printed.
        self.line = source_line(loc) if line is None and loc is not None else (line or "")

    def put(self, loc: Loc) -> None:
        """Give an error that was raised without one its place."""
        self.loc, self.line = loc, source_line(loc)

    def __str__(self) -> str:
        rows = [self.message]
        if self.loc is not None:
            shown = shown_file(self.loc.file)
            rows = [f"{shown}:{self.loc.line}:{self.loc.col}: {self.message}"]
            rows += _caret_rows(self.line, self.loc)
        return "\n".join(rows + self._advice())

    def _advice(self) -> list[str]:
        rows = []
        if self.chain:
            rows.append(f"It is needed: {_chain_text(self.chain)}")
        if self.fixes:
            rows.append("Fixes: " + "; or ".join(fix.rstrip(".") for fix in self.fixes) + ".")
        if self.closing:
            rows.append(self.closing)
        return rows

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.message, self.loc, self.chain, self.fixes, self.line)
        return _rebuild, (type(self), *state), self.__dict__


class UnsupportedSyntax(SrcgradError, SyntaxError):
    """The program has a statement or expression that srcgrad doesn't differentiate.

    A SyntaxError, so that Python itself prints the source line and the caret.
    """

    def __init__(
        self,
        message: str = "",
        *,
        loc: Loc | None = None,
        chain: _Chain = (),
        fixes: Sequence[str] = (),
        line: str | None = None,
    ) -> None:
        super().__init__(message, loc=loc, chain=chain, fixes=fixes, line=line)
        # Python prints file, line and caret from the fields below, and then `msg`.
        self.msg = "\n".join([message, *self._advice()])
        self._show(loc)

    def put(self, loc: Loc) -> None:
        super().put(loc)
        self._show(loc)

    def _show(self, loc: Loc | None) -> None:
        if loc is not None:
            self.filename, self.lineno, self.end_lineno = loc.file, loc.line, loc.end_line
            self.text = self.line or None
            self.offset = _characters(self.line, loc.col) + 1
            # Only one line is at hand, so the caret of a longer expression stops at its end.
            if loc.end_line == loc.line:
                self.end_offset = _characters(self.line, loc.end_col) + 1
            else:
                self.end_lineno, self.end_offset = loc.line, len(self.line) + 1

    def __str__(self) -> str:
        return SrcgradError.__str__(self)


class MissingRule(SrcgradError, NotImplementedError):
    """An active value goes through a function that has no derivative rule."""


class NotDifferentiable(SrcgradError):
    """The derivative asked for doesn't exist, or not in the argument asked for."""


class SourceUnavailable(SrcgradError):
    """The source of a function can't be read, or isn't what runs."""


class ArgumentError(SrcgradError, TypeError):
    """A call of srcgrad, or of a gradient, has an argument that can't be used."""


class AliasError(SrcgradError, ValueError):
    """An argument that the function writes shares memory with another argument."""


class RuleError(SrcgradError):
    """A derivative rule is wrong: the number, shapes or dtypes of what it returns, or a raise."""


class CacheError(SrcgradError):
    """The cache directory can't be used safely; srcgrad then goes on without it."""


class InternalError(SrcgradError):
    """srcgrad itself is at fault."""

    closing = (
        "This is a fault of srcgrad, not of your program.  "
        "Please report it, with this text and the function it happened in."
    )


class SrcgradWarning(UserWarning):
    """What every warning of srcgrad derives from."""


class RuleIgnoresCotangent(SrcgradWarning):
    """The result of a rule doesn't depend on `g`, which breaks the chain rule."""


class UnusedOverride(SrcgradWarning):
    """A rule was given for a function that the differentiated program never calls."""


def located(
    cls: type[_E],
    loc: Loc | None,
    message: str,
    *,
    chain: _Chain = (),
    fixes: Sequence[str] = (),
) -> _E:
    """An error of class `cls` about the place `loc`.

    >>> from srcgrad.ir.nodes import Loc
    >>> place = Loc("model.py", 14, 8, 14, 14)
    >>> chain = [("x", 12), ("a", 13), ("result", 20)]
    >>> fixes = ["give a rule", "use srcgrad.stop_gradient(r)"]
    >>> print(located(MissingRule, place, "no derivative rule for f", chain=chain, fixes=fixes))
    model.py:14:8: no derivative rule for f
    It is needed: x (line 12) -> a (line 13) -> result (line 20)
    Fixes: give a rule; or use srcgrad.stop_gradient(r).

    Arguments: the class; the place, or None when there is none; what is wrong, in a sentence
    without a full stop; (name, line) of the variables that lead to the place, line 0 when it has
    none; what the user can do, each a clause.
    Returns: the error, not raised.
    """
    return cls(message, loc=loc, chain=chain, fixes=fixes)


def rule_error(target: Any, rule: Any, problem: str) -> RuleError:
    """An error about a rule, which names the rule, its place, and what it is a rule for.

    >>> print(rule_error(abs, "CustomAbs", "it returned 2 cotangents for 1 argument"))
    rule CustomAbs for abs: it returned 2 cotangents for 1 argument
    """
    return RuleError(f"rule {describe(rule)} for {describe(target, place=False)}: {problem}")


def describe(thing: Any, *, place: bool = True) -> str:
    """A function as errors name it: `square (rules.py:12)`, `numpy.sin`.

    >>> import math
    >>> describe(math.sin)
    'math.sin'
    """
    if isinstance(thing, str):
        return thing
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    if not isinstance(name, str):
        kind = type(thing).__name__
        return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} object"
    code = getattr(thing, "__code__", None)
    if code is not None:
        where = f" ({shown_file(code.co_filename)}:{code.co_firstlineno})" if place else ""
        return name.replace("<locals>.", "") + where
    module = getattr(thing, "__module__", None)
    return name if module in (None, "builtins") else f"{module}.{name}"


def shown_file(file: str) -> str:
    """A file as errors show it: below the current directory, or its base name.

    >>> shown_file("<stdin>")
    '<stdin>'
    """
    if not os.path.isabs(file):
        return file
    try:
        relative = os.path.relpath(file)
    except (OSError, ValueError):  # the current directory is gone, or is on another drive
        return os.path.basename(file)
    return os.path.basename(file) if relative.startswith(os.pardir) else relative


def source_line(loc: Loc) -> str:
    """The line of the file at a place, without its end; empty when it can't be read."""
    try:
        return linecache.getline(loc.file, loc.line).rstrip("\r\n")
    except Exception:  # an error about the user's program must not be lost over how it is shown
        return ""


def _chain_text(chain: _Chain) -> str:
    steps = [f"{name} (line {line})" if line > 0 else name for name, line in chain]
    if len(steps) > _CHAIN_HEAD + _CHAIN_TAIL + 1:
        steps = [*steps[:_CHAIN_HEAD], "...", *steps[-_CHAIN_TAIL:]]
    return " -> ".join(steps)


def _caret_rows(line: str, loc: Loc) -> list[str]:
    text = line.lstrip()
    if not text.strip():
        return []
    cut = len(line) - len(text)
    start = max(_characters(line, loc.col) - cut, 0)
    stop = _characters(line, loc.end_col) - cut if loc.end_line == loc.line else len(text)
    stop = max(min(stop, len(text.rstrip())), start + 1)
    # Tabs stay, so that the caret stands right whatever their width; wide characters take two.
    pad = "".join(c if c == "\t" else " " * _width(c) for c in text[:start])
    return [f"    {text.rstrip()}", f"    {pad}{'^' * sum(map(_width, text[start:stop] or ' '))}"]


def _characters(line: str, column: int) -> int:
    """Columns of `ast` count bytes of UTF-8; this many characters are before one."""
    return len(line.encode()[:column].decode(errors="ignore")) if line else column


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _rebuild(
    cls: type[SrcgradError],
    message: str,
    loc: Loc | None,
    chain: _Chain,
    fixes: Sequence[str],
    line: str,
) -> SrcgradError:
    return cls(message, loc=loc, chain=chain, fixes=fixes, line=line)
