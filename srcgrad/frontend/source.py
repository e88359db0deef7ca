"""From a callable to the syntax tree of the function that runs.

The whole file is parsed, not a piece of it, so that lines and columns are the file's own.  What a
name in the function means, and whether its statements are supported, is decided later.
"""

from __future__ import annotations

import ast
import hashlib
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srcgrad.errors import SourceUnavailable, describe, shown_file
from srcgrad.frontend import carried, parsed, wrappers
from srcgrad.frontend.unwrap import unwrap


@dataclass(frozen=True, eq=False)
class Source:
    """A function and its source.

    `node` belongs to a tree that is shared: never change it.
    """

    fn: types.FunctionType
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    file: str  # as `linecache` knows it
    text: str  # of the function alone, with its decorators
    lines: tuple[str, ...]  # of the whole file: `lines[node.lineno - 1]` is the node's first
    bound: tuple[Any, ...]  # values of the leading positional parameters: self, partial's
    bound_kwargs: Mapping[str, Any]
    notes: tuple[str, ...]  # what was seen through on the way, each a sentence for the user
    digest: str  # of `text`; says nothing of the file or the line


def read(fn: Any) -> Source:
    """The source of a function, method, lambda, partial, callable object or Numba dispatcher.

    >>> import fractions
    >>> found = read(fractions.Fraction(1, 2).limit_denominator)
    >>> found.node.name, found.bound
    ('limit_denominator', (Fraction(1, 2),))
    >>> read(len)
    Traceback (most recent call last):
        ...
    srcgrad.errors.SourceUnavailable: len is not written in Python, so it has no source to \
differentiate
    Fixes: give it a derivative with @srcgrad.rule(len).

    Raises: SourceUnavailable, with what to do, when there is no source, when it can't be told
    which of several lambdas it is, or when the file no longer says what runs.
    """
    found = unwrap(fn, _adds_nothing)
    file, node = _find(found.fn)
    text = _text(file, node)
    return Source(
        fn=found.fn,
        node=node,
        file=file.file,
        text=text,
        lines=file.lines,
        bound=found.bound,
        bound_kwargs=found.bound_kwargs,
        notes=tuple(found.notes),
        digest=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
    )


def _adds_nothing(wrapper: types.FunctionType) -> bool:
    if hasattr(wrapper, "registry") and hasattr(wrapper, "dispatch"):
        return False  # functools.singledispatch: which function runs depends on the argument
    try:
        _, node = _find(wrapper)
    except SourceUnavailable as error:
        inner = describe(vars(wrapper)["__wrapped__"])
        raise SourceUnavailable(
            f"{inner} is decorated, and the source of its decorator "
            f"can't be read: {error.message}",
            fixes=["pass its __wrapped__ function where that computes the same"],
        ) from None
    return not isinstance(node, ast.AsyncFunctionDef) and wrappers.adds_nothing(wrapper, node)


def _find(fn: types.FunctionType) -> tuple[parsed.ParsedFile, parsed.Definition]:
    """The definition of a function in its file; the file is read again before giving up."""
    code = fn.__code__
    problem: SourceUnavailable | None = None
    for again in (False, True):
        file = parsed.parsed_file(code.co_filename, fn.__globals__, again=again)
        if file is not None:
            matches = _matches(fn, file)
            if len(matches) == 1:
                return file, matches[0]
            problem = _ambiguous(fn) if matches else _stale(fn)
    for file in carried.received():
        matches = _matches(fn, file)
        if len(matches) == 1:
            return file, matches[0]
    raise problem or _unreadable(fn)


def _matches(fn: types.FunctionType, file: parsed.ParsedFile) -> list[parsed.Definition]:
    """The definitions that compile to what the function runs; ones at its line come before ones
    that moved, and ones whose columns agree before ones that only do the same."""
    code = fn.__code__
    alike = _alike(code, file, imports=True) or _alike(code, file, imports=False)
    if not alike and "@pytest_ar" in fn.__globals__:  # pytest rewrites the asserts of its modules
        alike = [
            (node, compiled)
            for node in filter(parsed.has_assert, file.candidates(code))
            for compiled in file.codes(node, code, asserts=False)
            if parsed.could_be_rewritten(code, compiled)
        ]
    here = [pair for pair in alike if pair[1].co_firstlineno == code.co_firstlineno]
    nodes = _unique(here or alike)
    if len(nodes) < 2:
        return nodes
    exact = _unique([p for p in here if parsed.span(p[1]) == parsed.span(code) is not None])
    if exact:
        return exact
    # Definitions that do the same in the same scope are as good as one another.
    same_text = len({ast.dump(node) for node in nodes}) == 1
    return nodes[:1] if same_text else nodes


def _alike(
    code: types.CodeType, file: parsed.ParsedFile, imports: bool
) -> list[tuple[parsed.Definition, types.CodeType]]:
    """The definitions that compile to a code object, and to what.  Python compiles a call such as
    `np.sum(x)` in another way beside the import of `np`, which a notebook compiles by itself."""
    return [
        (node, compiled)
        for node in file.candidates(code)
        for compiled in file.codes(node, code, imports=imports)
        if parsed.same_code(code, compiled)
    ]


def _unique(
    pairs: list[tuple[parsed.Definition, types.CodeType]],
) -> list[parsed.Definition]:
    return list({id(node): node for node, _ in pairs}.values())


def _text(file: parsed.ParsedFile, node: parsed.Definition) -> str:
    first, last = parsed.first_line(node), node.end_lineno or node.lineno
    rows = list(file.lines[first - 1 : last])
    if isinstance(node, ast.Lambda):
        # Columns count bytes of UTF-8.  The end is cut first: it may be on the same line.
        rows[-1] = rows[-1].encode()[: node.end_col_offset].decode()
        rows[0] = rows[0].encode()[node.col_offset :].decode()
    return "".join(rows)


def _where(fn: types.FunctionType) -> str:
    code = fn.__code__
    return f"{shown_file(code.co_filename)}:{code.co_firstlineno}"


def _name(fn: types.FunctionType) -> str:
    return "a lambda" if fn.__code__.co_name == "<lambda>" else fn.__code__.co_name


def _unreadable(fn: types.FunctionType) -> SourceUnavailable:
    return SourceUnavailable(
        f"the source of {_name(fn)} can't be read: there is no {_where(fn)}",
        fixes=[
            "define it in a file or a notebook cell",
            "give it a derivative with @srcgrad.rule",
        ],
    )


def _stale(fn: types.FunctionType) -> SourceUnavailable:
    return SourceUnavailable(
        f"what is at {_where(fn)} isn't the source of {_name(fn)} as it runs: the file has "
        "changed since, or an import hook rewrote it",
        fixes=["import the module again (importlib.reload, or a new session)"],
    )


def _ambiguous(fn: types.FunctionType) -> SourceUnavailable:
    return SourceUnavailable(
        f"there are several lambdas at {_where(fn)}, and Python was told not to record which is "
        "which",
        fixes=["write each on its own line, or as a def", "run without -X no_debug_ranges"],
    )
