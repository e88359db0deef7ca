"""The last touches on functions that will be committed: hints, docstrings, checks of arguments.

Works on the syntax tree of one generated function at a time.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from srcgrad.build import trees
from srcgrad.errors import describe
from srcgrad.ir import types as ty
from srcgrad.spelling import hint

_WHAT = {
    "grad": "Gradient",
    "value_and_grad": "Value and gradient",
    "vjp": "Value and vector-Jacobian product",
    "jvp": "Value and Jacobian-vector product",
}


_LONG = 76  # characters of a message that fit into a line


@dataclass(frozen=True)
class Entry:
    """A function that users of the module call, and what it was made from."""

    name: str
    mode: str
    primal: str
    place: str  # model.py:12
    wrt: tuple[str, ...]
    single: bool
    aux: bool
    types: Mapping[str, ty.Type]
    result: ty.Type
    lengths: frozenset[str] = frozenset()  # arrays that must have no dimension of length one


def entry_point(fn: ast.FunctionDef, entry: Entry, checks: bool, quoted: bool) -> ast.FunctionDef:
    """The function with hints, a docstring and, if wanted, checks of its arguments."""
    _annotate(fn, entry, quoted)
    docstring = ast.Expr(ast.Constant(_docstring(entry)))
    fn.body = [docstring, *(_checks(entry, fn) if checks else []), *fn.body]
    return fn


def helper(fn: ast.FunctionDef, quoted: bool) -> ast.FunctionDef:
    """A function that only others of the module call; its types are its callers' business."""
    if not quoted:
        for arg in arguments_of(fn):
            arg.annotation = ast.Name("Any", ast.Load())
        fn.returns = ast.Name("Any", ast.Load())
    return fn


def arguments_of(fn: ast.FunctionDef) -> list[ast.arg]:
    a = fn.args
    return [
        *a.posonlyargs,
        *a.args,
        *filter(None, [a.vararg]),
        *a.kwonlyargs,
        *filter(None, [a.kwarg]),
    ]


# ---- hints -------------------------------------------------------------------


def _annotate(fn: ast.FunctionDef, entry: Entry, quoted: bool) -> None:
    for arg in arguments_of(fn):
        t = argument_type(arg.arg, entry)
        if t is None and quoted:
            continue
        text = "Any" if t is None else hint(t)
        if fn.args.vararg is arg or fn.args.kwarg is arg:
            text = "Any"
        elif _is_optional(fn, arg) and text not in ("Any", "None"):
            text += " | None"
        arg.annotation = _annotation(text, t, quoted)
    fn.returns = _annotation(_returned(entry), None, quoted)


def _is_optional(fn: ast.FunctionDef, arg: ast.arg) -> bool:
    """Whether the default of a parameter is None."""
    a = fn.args
    plain = [*a.posonlyargs, *a.args]
    pairs = [*zip(plain[len(plain) - len(a.defaults) :], a.defaults, strict=True)]
    pairs += [(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None]
    return any(p is arg and isinstance(d, ast.Constant) and d.value is None for p, d in pairs)


def argument_type(name: str, entry: Entry) -> ty.Type | None:
    if name in entry.types:
        return entry.types[name]
    if name == "cotangent":
        return entry.result
    if name == "tangents":
        wanted = tuple(entry.types[w] for w in entry.wrt)
        return wanted[0] if entry.single else ty.Tuple(wanted)
    return None


def _returned(entry: Entry) -> str:
    grads = [hint(_python_number(entry.types.get(w, ty.UNKNOWN))) for w in entry.wrt]
    gradient = grads[0] if entry.single else _tuple(grads)
    if entry.mode == "grad":
        return f"tuple[{gradient}, Any]" if entry.aux else gradient
    value = hint(_python_number(entry.result))
    return f"tuple[{value}, {value if entry.mode == 'jvp' else gradient}]"


def _tuple(hints: list[str]) -> str:
    """A return annotation can't be broken into lines, so a long one says less."""
    if sum(map(len, hints)) < _LONG // 2:
        return f"tuple[{', '.join(hints)}]"
    return f"tuple[{hints[0]}, ...]" if len(set(hints)) == 1 else "tuple[Any, ...]"


def _python_number(t: ty.Type) -> ty.Type:
    """NumPy's double is a `float`; which of the two comes out, callers need not know."""
    if isinstance(t, ty.Number):
        plain = {np.float64: float, np.complex128: complex}
        return ty.Number(plain.get(t.cls, t.cls))
    return t


def _annotation(text: str, t: ty.Type | None, quoted: bool) -> ast.expr | None:
    """Pythran imports neither `typing` nor `numpy.typing`, and doesn't look into strings."""
    if not quoted:
        return ast.parse(text, mode="eval").body
    del t
    if "Any" in text:
        return None
    spelled = text.replace("npt.NDArray[", "np.ndarray[tuple[int, ...], np.dtype[")
    return (
        ast.Constant(_closed(spelled)) if "np." in spelled else ast.parse(text, mode="eval").body
    )


def _closed(text: str) -> str:
    """One more bracket after each `np.dtype[np.float64]`."""
    out, rest = "", text
    while "np.dtype[" in rest:
        before, _, rest = rest.partition("np.dtype[")
        inside, _, rest = rest.partition("]")
        out += f"{before}np.dtype[{inside}]]"
    return out + rest


# ---- the docstring -------------------------------------------------------------


def _docstring(entry: Entry) -> str:
    rows = [f"{_WHAT[entry.mode]} of `{entry.primal}` with respect to {', '.join(entry.wrt)}.", ""]
    if _made_for(entry):
        longer = f", {_longer_than_one(entry)}" if entry.lengths else ""
        rows += _filled(f"Made for {_made_for(entry)}{longer}.")
    rows += _filled(f"Returns: {_result(entry)}.")
    return "\n".join([rows[0], *("    " + row if row else "" for row in rows[1:]), "    "])


def _made_for(entry: Entry) -> str:
    known = (n for n, t in entry.types.items() if not isinstance(t, ty.Unknown))
    return ", ".join(f"{name} {_shown(entry.types[name])}" for name in known)


def _filled(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 92, break_long_words=False, break_on_hyphens=False)


def _result(entry: Entry) -> str:
    names = entry.wrt[0] if entry.single else f"a tuple ({', '.join(entry.wrt)})"
    match entry.mode:
        case "grad":
            what = "the gradient, " + (f"shaped as {names}" if entry.single else names)
            return f"({what}; what else `{entry.primal}` returns)" if entry.aux else what
        case "value_and_grad":
            return f"(value, gradient), the gradient {'shaped as ' if entry.single else ''}{names}"
        case "vjp":
            return f"(value, the cotangent of {', '.join(entry.wrt)})"
        case _:
            return "(value, its tangent)"


def _shown(t: ty.Type) -> str:
    from srcgrad.pipeline import show_type

    return show_type(t)


# ---- checks --------------------------------------------------------------------


def _checks(entry: Entry, fn: ast.FunctionDef) -> list[ast.stmt]:
    """Refuse what the function wasn't made for: its text relies on the types."""
    numpy = "numpy" if "np" in trees.bound_names(fn) else "np"  # np: a variable of the user's
    tests: list[str] = []
    for name, t in entry.types.items():
        tests += _tests(name, t, entry.lengths, numpy)
    scalars = [n for n, t in entry.types.items() if isinstance(t, ty.Number) and t.cls is not bool]
    tests += [f"isinstance({name}, {numpy}.ndarray)" for name in scalars]
    if not tests:
        return []
    text = f"{entry.name} was made for {_made_for(entry)}"
    if entry.lengths:
        text += f", {_longer_than_one(entry)}"
    if len(text) > _LONG + 8:
        text = f"{entry.name} was made for arguments of other types: see its docstring"
    raised = ast.parse(f"raise TypeError({text!r})").body
    return [ast.If(ast.parse(" or ".join(tests), mode="eval").body, raised, [])]


def _longer_than_one(entry: Entry) -> str:
    arrays = [n for n, t in entry.types.items() if isinstance(t, ty.Array)]
    which = "each" if set(arrays) == entry.lengths else " and ".join(sorted(entry.lengths))
    return f"{which} longer than 1"


def _tests(name: str, t: ty.Type, lengths: frozenset[str], numpy: str) -> list[str]:
    match t:
        case ty.Array(dtype, dims):
            parts = [f"{name}.dtype != {numpy}.{dtype.name.replace('bool', 'bool_')}"]
            parts.append(f"{name}.ndim != {len(dims)}")
            ones = [k for k, d in enumerate(dims) if d == "1"]
            parts += [f"{name}.shape[{k}] != 1" for k in ones]
            if name in lengths:
                parts.append(f"1 in {name}.shape" if not ones else _longer(name, dims))
            return parts
        case ty.Literal(value) if value is None or isinstance(value, bool):
            return [f"{name} is not {value!r}"]
        case ty.Literal(value):
            return [f"{name} != {value!r}"]
    return []


def _longer(name: str, dims: Sequence[str]) -> str:
    return " or ".join(f"{name}.shape[{k}] == 1" for k, d in enumerate(dims) if d != "1")


# ---- values nobody reads -------------------------------------------------------


def tidy(fn: ast.FunctionDef) -> ast.FunctionDef:
    """The function without assignments to names it never reads; calls in them stay.

    Long lines of many names are broken.

    >>> fn = ast.parse("def f(x):\\n    y = 1.0\\n    z = g(x)\\n    return x").body[0]
    >>> print(ast.unparse(tidy(fn)))
    def f(x):
        g(x)
        return x
    """
    while True:
        read = {
            n.id for n in ast.walk(fn) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        } | {
            n.target.id
            for n in ast.walk(fn)
            if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
        }
        work = _Tidy(read)
        work.visit(fn)
        if not work.changed:
            fn.body = [part for stmt in fn.body for part in _shortened(stmt)]
            return fn


def _shortened(stmt: ast.stmt) -> list[ast.stmt]:
    """`a, b = [], []` in as many statements as fit into lines; `a, b = saved` in brackets, which
    can be broken."""
    match stmt:
        case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(
            values
        ) and all(isinstance(v, ast.List) and not v.elts for v in values):
            out: list[list[ast.expr]] = [[]]
            for name in names:
                width = sum(len(ast.unparse(n)) + 6 for n in [*out[-1], name])
                if width > _LONG + 12:
                    out.append([])
                out[-1].append(name)
            return [_empty_lists(group) for group in out]
        case ast.Assign([ast.Tuple(names) as target]) if len(ast.unparse(target)) > _LONG:
            stmt.targets = [ast.List(names, ast.Store())]
    return [stmt]


def _empty_lists(names: list[ast.expr]) -> ast.stmt:
    empty: list[ast.expr] = [ast.List([], ast.Load()) for _ in names]
    if len(names) == 1:
        return ast.Assign(names, empty[0])
    return ast.Assign([ast.Tuple(names, ast.Store())], ast.Tuple(empty, ast.Load()))


class _Tidy(ast.NodeTransformer):
    def __init__(self, read: set[str]) -> None:
        self.read, self.changed = read, False

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Name) or target.id in self.read:
            return node
        self.changed = True
        calls = (ast.Call, ast.Subscript, ast.BinOp, ast.Await, ast.Yield)
        if not any(isinstance(n, calls) for n in ast.walk(node.value)):
            return None
        kept = ast.Expr(node.value)
        return ast.copy_location(kept, node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if "body" in node._fields and not getattr(node, "body", True):
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node


def kind_of(value: object) -> str:
    """What an object is, for a message."""
    return describe(value) if callable(value) else f"a {type(value).__name__}"
