"""From a Python syntax tree with comments to text that means exactly that tree.

Owns the use of astor (imported here only, when first needed) and the guard: what was written is
parsed back and compared with the tree before anyone gets to see it.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from srcgrad.codegen.printer import LIMIT, Printer
from srcgrad.codegen.wrap import wrap
from srcgrad.errors import InternalError
from srcgrad.ir.comments import Blank, Comment

__all__ = ["Blank", "Comment", "line_table", "number", "write"]

_EXTRAS = (Comment, Blank)
_IGNORED = ("ctx", "type_comment", "kind", "type_ignores")


def write(module: ast.Module) -> str:
    """The text of a module, at most 99 columns wide where that can be.

    >>> tree = ast.parse("y=x*2")
    >>> tree.body.insert(0, Comment(text="twice"))
    >>> print(write(tree), end="")
    # twice
    y = x * 2

    The tree may hold `Comment` and `Blank` statements and is left as it was.
    Raises: InternalError when the text would not mean the tree.
    """
    tree = _private(module)
    text = _printed(tree, _wrapped)
    problem = _difference(tree, text)
    if problem is None:
        return text
    text = _printed(tree, "".join)
    again = _difference(tree, text)
    if again is None:
        return text
    raise InternalError(
        f"the generated text doesn't mean what was to be written: {again}\n---- text ----\n{text}"
        f"---- tree ----\n{ast.dump(_bare(tree), indent=1)}"
    )


def number(value: Any) -> ast.expr:
    """The expression for a number, right in any place: under `**`, before `.`, negative, not
    finite (then it names `np`).

    >>> ast.unparse(number(-2.0)), ast.unparse(number(float("inf"))), ast.unparse(number(1 - 2j))
    ('-2.0', 'np.inf', '1.0 - 2j')
    """
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()  # a NumPy scalar; its type is the caller's business
    if isinstance(value, bool):
        return ast.Constant(value)
    if isinstance(value, complex):
        return _complex(value)
    if not isinstance(value, int | float):
        raise InternalError(f"{value!r} ({type(value).__name__}) can't be written as a number")
    if value != value:
        return _np("nan")
    positive = _np("inf") if abs(value) == math.inf else ast.Constant(abs(value))
    return ast.UnaryOp(ast.USub(), positive) if _negative(value) else positive


def line_table(module: ast.Module, text: str) -> dict[int, tuple[str, int]]:
    """From lines of the text of `module` to files and lines of the user's, as `srcgrad_origin` of
    statements says.

    >>> tree = ast.parse("y = x")
    >>> tree.body[0].srcgrad_origin = "model.py", 17
    >>> line_table(tree, write(tree))
    {1: ('model.py', 17)}
    """
    table: dict[int, tuple[str, int]] = {}
    for ours, parsed in _pairs(module.body, ast.parse(text).body):
        origin = getattr(ours, "srcgrad_origin", None)
        if origin is not None:
            for line in range(parsed.lineno, _last_own_line(parsed) + 1):
                table.setdefault(line, origin)
    return dict(sorted(table.items()))


# ---- printing --------------------------------------------------------------


@cache
def _astor() -> tuple[Callable[..., str], type]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # astor asks `ast` for names that are deprecated
        import astor
        from astor.code_gen import SourceGenerator, set_precedence
        from astor.op_util import Precedence
    given = {"precedence": Precedence, "set_precedence": staticmethod(set_precedence)}
    return astor.to_source, type("SourceWriter", (Printer, SourceGenerator), given)


def _printed(tree: ast.Module, layout: Callable[[list[str]], str]) -> str:
    if not tree.body:
        return ""
    to_source, generator = _astor()
    text = to_source(
        tree, indent_with="    ", pretty_source=layout, source_generator_class=generator
    )
    return text.strip("\n") + "\n"


def _wrapped(pieces: list[str]) -> str:
    """The pieces joined; long lines broken.  A piece that starts with a newline ends a line, one
    with a newline inside is a string that must stay as it is."""
    out: list[str] = []
    line: list[str] = []
    for piece in [*pieces, "\n"]:
        if not piece.startswith("\n"):
            line.append(piece)
            continue
        text = "".join(line)
        whole = len(text) <= LIMIT or "\n" in text or text.lstrip().startswith("#")
        out.append(text if whole else "\n".join(wrap(text, LIMIT)))
        out.append(piece)
        line = []
    return "".join(out)


# ---- trees -----------------------------------------------------------------


def _private(node: Any) -> Any:
    """A copy that printing may scribble in, with numbers in the form that prints right."""
    cls = node.__class__
    if cls is list:
        return [_private(item) for item in node]
    if cls is ast.Name:  # most of them
        return ast.Name(node.id, node.ctx if hasattr(node, "ctx") else ast.Load())
    if not isinstance(node, ast.AST):
        return node
    if cls is ast.Constant:
        value = node.value  # type: ignore[attr-defined]
        if type(value).__module__ == "numpy":
            raise InternalError(f"{value!r} was made a literal without `number`")
        if _is_awkward(value):
            return number(value)
    # Every field is set, so that a node built without its optional ones prints like a parsed one.
    copy = cls.__new__(cls)
    fields, given = vars(copy), vars(node)
    for name in cls._fields:
        value = given.get(name)
        if value is None:
            fields[name] = [] if name in _LISTS else None
        elif value.__class__ is str or value.__class__ in _BARE_KINDS:
            fields[name] = value
        else:
            fields[name] = _private(value)
    if cls is ast.FormattedValue and fields["conversion"] is None:
        fields["conversion"] = -1
    return copy


# Nodes without fields: two of a kind say the same.
_BARE_KINDS = frozenset(
    (ast.Load, ast.Store, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.USub)
)
_LISTS = {
    "body", "orelse", "finalbody", "handlers", "decorator_list", "keywords", "bases", "args",
    "posonlyargs", "kwonlyargs", "kw_defaults", "defaults", "ifs", "type_params", "type_ignores",
}  # fmt: skip


def _is_awkward(value: Any) -> bool:
    """Whether no literal means this number."""
    if isinstance(value, complex):
        return value.real != 0 or _is_awkward(value.real) or _is_awkward(value.imag)
    return isinstance(value, int | float) and (value != value or _negative(value))


def _negative(value: float) -> bool:
    return value < 0 or (value == 0 and math.copysign(1, value) < 0)


def _complex(value: complex) -> ast.expr:
    real, imag = value.real, value.imag
    finite = math.isfinite(real) and math.isfinite(imag)
    if finite and not _is_awkward(value):
        return ast.Constant(value)
    if finite and real == 0 and _negative(real) and _negative(imag):
        return ast.UnaryOp(ast.USub(), number(-value))
    # The sign of a zero doesn't survive a sum; it decides on which side of a branch cut one is.
    zeros = (real == 0 and _negative(real)) or (imag == 0 and _negative(imag))
    if finite and not zeros and (real != 0 or imag != 0):
        sign = ast.Sub() if imag < 0 else ast.Add()
        return ast.BinOp(number(real), sign, ast.Constant(complex(0, abs(imag))))
    return ast.Call(ast.Name("complex", ast.Load()), [number(real), number(imag)], [])


def _np(name: str) -> ast.expr:
    return ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load())


def _bare(node: Any) -> Any:
    """A copy without comments and empty lines."""
    if isinstance(node, list):
        return [_bare(item) for item in node if not isinstance(item, _EXTRAS)]
    if not isinstance(node, ast.AST):
        return node
    return type(node)(**{name: _bare(getattr(node, name, None)) for name in node._fields})


# ---- the guard -------------------------------------------------------------


def _difference(tree: ast.Module, text: str) -> str | None:
    """How a text differs from the tree it was written from; None when it doesn't."""
    try:
        parsed = ast.parse(text)
    except SyntaxError as error:
        return f"it isn't Python (line {error.lineno}: {error.msg})"
    todo: list[tuple[Any, Any]] = [(tree, parsed)]
    while todo:
        ours, theirs = todo.pop()
        cls = theirs.__class__
        if cls is list and isinstance(ours, list):
            ours = [item for item in ours if not isinstance(item, _EXTRAS)]
            if len(ours) != len(theirs):
                return f"{len(ours)} items became {len(theirs)}"
            todo += zip(ours, theirs, strict=True)
        elif ours.__class__ is not cls:
            return f"{_shown(ours)} became {_shown(theirs)}"
        elif isinstance(theirs, ast.AST):
            mine, others = vars(ours), vars(theirs)
            for name in _compared(cls):
                one, other = mine.get(name), others.get(name)
                if one is other or (one.__class__ is other.__class__ in _BARE_KINDS):
                    continue
                todo.append((one, other))
        elif repr(ours) != repr(theirs):
            return f"{_shown(ours)} became {_shown(theirs)}"
    return None


@cache
def _compared(cls: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that say something."""
    return tuple(name for name in cls._fields if name not in _IGNORED)


def _shown(value: Any) -> str:
    text = ast.dump(value) if isinstance(value, ast.AST) else repr(value)
    place = f" in line {value.lineno}" if hasattr(value, "lineno") else ""
    return re.sub(r"(?s)^(.{120}).+", r"\1...", text) + place


# ---- lines -----------------------------------------------------------------


def _pairs(ours: list[Any], parsed: list[Any]) -> Iterator[tuple[ast.AST, Any]]:
    """The statements of a tree beside those of its text, outer before inner."""
    ours = [node for node in ours if not isinstance(node, _EXTRAS)]
    for mine, other in zip(ours, parsed, strict=True):
        if isinstance(other, ast.stmt):
            yield mine, other
        for name in ("body", "handlers", "cases", "orelse", "finalbody"):
            inner = getattr(other, name, None)
            if isinstance(inner, list):
                yield from _pairs(getattr(mine, name, None) or [], inner)


def _last_own_line(node: ast.stmt) -> int:
    """The last line of a statement before the blocks in it."""
    inner = [s for name in ("body", "cases") for s in getattr(node, name, None) or []]
    if not inner:
        return node.end_lineno or node.lineno
    first: Any = inner[0]
    line: int = first.pattern.lineno if isinstance(first, ast.match_case) else first.lineno
    line = min([line, *(d.lineno for d in getattr(first, "decorator_list", ()))])
    return max(line - 1, node.lineno)
