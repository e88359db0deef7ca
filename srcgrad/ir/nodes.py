"""The nodes of the intermediate representation.

Statements nest as in Python (`If`, `For`, `While`, ...); operands are atoms (`Var`, `Const`,
`Global`), so that the derivative of a statement is local to it.  Nodes are immutable and know
nothing of the analyses: facts live in side tables keyed by a statement's `sid` or by a
variable's name.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from srcgrad.ir.outside import MISSING as MISSING
from srcgrad.ir.places import Loc as Loc

# ---- atoms -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Var:
    """A local variable; temporaries made by the compiler have names that start with `%`."""

    name: str

    @property
    def is_temp(self) -> bool:
        return self.name.startswith("%")


@dataclass(frozen=True, slots=True)
class Const:
    """A literal: number, string, bytes, None, bool, Ellipsis."""

    value: Any

    def __eq__(self, other: object) -> bool:
        # 1 == 1.0 == True in Python, and 0.0 == -0.0; as constants of a program they differ.
        return (
            isinstance(other, Const)
            and type(self.value) is type(other.value)
            and repr(self.value) == repr(other.value)
        )

    def __hash__(self) -> int:
        return hash((type(self.value), repr(self.value)))


@dataclass(frozen=True, slots=True)
class Root:
    """Where a `Global` path starts.

    kind "module": an importable module, `key` its dotted name.
    kind "builtins": Python's builtins, `key` empty.
    kind "namespace": the globals of a module that can't be imported by name (a notebook cell, an
    exec'd file, `__main__`), or the captured variables of a closure: `obj` is an object whose
    attributes read them live, handed to the generated module by the loader; `key` is a name for
    it.
    """

    kind: str
    key: str
    obj: Any = field(default=None, compare=False, hash=False, repr=False)


@dataclass(frozen=True, slots=True)
class Global:
    """A name that is not local, read live when the program runs: `root.path[0].path[1]...`.

    `value` is what it named when the program was compiled (`MISSING` when nothing)."""

    root: Root
    path: tuple[str, ...]
    value: Any = field(compare=False, hash=False, repr=False)


Atom = Var | Const | Global

# ---- expressions -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Star:
    """`*value` in a call or display."""

    value: Atom


@dataclass(frozen=True, slots=True)
class Slice:
    lower: Atom | None
    upper: Atom | None
    step: Atom | None


# An index: one item, or a tuple of items written with commas (`x[i, 1:]`).
KeyItem = Atom | Slice


@dataclass(frozen=True, slots=True)
class KeyTuple:
    items: tuple[KeyItem, ...]


Key = KeyItem | KeyTuple


@dataclass(frozen=True, slots=True)
class Op:
    """An operator applied to atoms.

    Unary: neg pos invert not.  Binary: add sub mul truediv floordiv mod pow matmul lshift rshift
    and or xor (bitwise).  Comparison: eq ne lt le gt ge is is_not in not_in.
    """

    op: str
    args: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """`fn(*args, **kwargs)`; a keyword of None is `**value`."""

    fn: Atom
    args: tuple[Atom | Star, ...]
    kwargs: tuple[tuple[str | None, Atom], ...] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """`obj.name(*args, **kwargs)` where obj is a value (not a module)."""

    obj: Atom
    name: str
    args: tuple[Atom | Star, ...]
    kwargs: tuple[tuple[str | None, Atom], ...] = ()


@dataclass(frozen=True, slots=True)
class Attr:
    obj: Atom
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    obj: Atom
    key: Key


@dataclass(frozen=True, slots=True)
class Build:
    """A display: kind tuple, list, set or dict.  For a dict `keys` holds the keys (None:
    `**item`)."""

    kind: str
    items: tuple[Atom | Star, ...]
    keys: tuple[Atom | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Opaque:
    """An expression kept as the user wrote it; no derivative passes through its value.

    `node` is the user's expression with every local variable as an `ast.Name` and every global
    reference as an `ast.Name` whose id is a key of `globals`; `reads` are its local variables.
    Equality is by identity of the node.
    """

    node: ast.expr
    reads: tuple[Var, ...]
    globals: tuple[tuple[str, Global], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A nested function or lambda, with the variables of the enclosing function that it reads.

    `free` gives, for each captured name of `fn`, the atom that holds it where the closure stands.
    """

    fn: Function
    free: tuple[tuple[str, Atom], ...]


Expr = Atom | Op | Call | Method | Attr | Index | Build | Opaque | Closure

# ---- statements ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`.  `inplace` names the operator when the user wrote `target op= operand`;
    then value is `Op(inplace, (old target, operand))` and an array would be updated in place."""

    sid: int
    loc: Loc
    target: Var
    value: Expr
    inplace: str | None = None


# `np.add.at(base, key, value)` and `np.subtract.at`: as `+=`, but each time an element is named
# counts.
AT_OPERATORS = {"add_at": "add", "sub_at": "subtract"}


@dataclass(frozen=True, slots=True)
class Store:
    """`base[key] = value`, or `base[key] op= value` with `op` set (also one of `AT_OPERATORS`)."""

    sid: int
    loc: Loc
    base: Atom
    key: Key
    value: Atom
    op: str | None = None


@dataclass(frozen=True, slots=True)
class StoreAttr:
    """`base.name = value`, or `base.name op= value` with `op` set."""

    sid: int
    loc: Loc
    base: Atom
    name: str
    value: Atom
    op: str | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """An expression evaluated for its effect: `print(x)`, `rows.append(y)`, `y.sort()`."""

    sid: int
    loc: Loc
    value: Expr


@dataclass(frozen=True, slots=True)
class If:
    sid: int
    loc: Loc
    test: Expr
    body: Block
    orelse: Block


@dataclass(frozen=True, slots=True)
class For:
    """A counted loop: `for target in range(start, stop, step)`; others are lowered to one.

    `checkpoint`: the snapshots of `sg.checkpointed(range(...))`; `parallel`: Numba's `prange`.
    """

    sid: int
    loc: Loc
    target: Var
    start: Atom
    stop: Atom
    step: Atom
    body: Block
    checkpoint: Atom | None = None
    parallel: bool = False


@dataclass(frozen=True, slots=True)
class While:
    sid: int
    loc: Loc
    test: Expr
    body: Block


@dataclass(frozen=True, slots=True)
class Exit:
    """`break`, `continue`, or `return value`."""

    sid: int
    loc: Loc
    kind: str
    value: Atom | None = None


@dataclass(frozen=True, slots=True)
class With:
    """`with contexts: body` for contexts that no derivative passes through.

    `special` marks srcgrad's own: "override" (value: the rules, evaluated when compiling) and
    "adjoint_of" (value: the name whose adjoint the body may change; `bound` the name it gets)."""

    sid: int
    loc: Loc
    contexts: tuple[Expr, ...]
    body: Block
    special: str | None = None
    value: Any = None
    bound: str | None = None


@dataclass(frozen=True, slots=True)
class Handler:
    type: Expr | None
    name: str | None
    body: Block


@dataclass(frozen=True, slots=True)
class Try:
    sid: int
    loc: Loc
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A statement kept as the user wrote it: assert, raise, import, del, pass.

    `node` is like `Opaque.node`; `reads` and `writes` are its local variables."""

    sid: int
    loc: Loc
    node: ast.stmt
    reads: tuple[Var, ...]
    writes: tuple[Var, ...] = ()
    globals: tuple[tuple[str, Global], ...] = ()


Stmt = Assign | Store | StoreAttr | Effect | If | For | While | Exit | With | Try | Verbatim
Block = tuple[Stmt, ...]

# ---- functions -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Param:
    """kind: posonly, normal, varargs, kwonly, varkw.  A default is read from the function."""

    name: str
    kind: str
    has_default: bool = False
    annotation: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A lowered function; `fn` is the function object, None for a nested definition."""

    name: str
    params: tuple[Param, ...]
    body: Block
    free: tuple[str, ...]  # captured from a lowered function around it: extra parameters
    loc: Loc
    doc: str | None
    fn: Any = None
    defaults: tuple[tuple[str, Atom], ...] = ()
    decorated: str | None = None  # a nested one: by "custom_gradient" or "nondiff"
    webs: tuple[tuple[str, str], ...] = ()  # variables of one name told apart: (variable, name)
    meanings: tuple[Global, ...] = ()  # what the names from outside meant when it was lowered
    written: Any = None  # of a nested one: its text and the function around it


# ---- walking ---------------------------------------------------------------

_SIMPLE = frozenset((Assign, Store, StoreAttr, Effect, Exit, Verbatim))  # hold no blocks


def is_simple(stmt: Stmt) -> bool:
    """Whether a statement is of a kind that holds no blocks."""
    return stmt.__class__ in _SIMPLE


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks nested directly in a statement."""
    if stmt.__class__ in _SIMPLE:
        return ()
    match stmt:
        case Assign() | Store() | StoreAttr() | Effect() | Exit() | Verbatim():
            return ()
        case If():
            return (stmt.body, stmt.orelse)
        case For() | While() | With():
            return (stmt.body,)
        case Try():
            return (stmt.body, *(h.body for h in stmt.handlers), stmt.orelse, stmt.final)


def walk(block: Block) -> list[Stmt]:
    """Every statement of a block, outer before inner, in order."""
    if _SIMPLE.issuperset(map(type, block)):
        return list(block)
    found: list[Stmt] = []
    for stmt in block:
        found.append(stmt)
        if stmt.__class__ not in _SIMPLE:
            for inner in blocks(stmt):
                found += walk(inner)
    return found


def key_atoms(key: Key) -> tuple[Atom, ...]:
    match key:
        case KeyTuple(items):
            return tuple(a for item in items for a in key_atoms(item))
        case Slice(lower, upper, step):
            return tuple(a for a in (lower, upper, step) if a is not None)
        case _:
            return (key,)


def unstar(arg: Atom | Star) -> Atom:
    return arg.value if isinstance(arg, Star) else arg


def operands(expr: Expr) -> tuple[Atom, ...]:
    """The atoms that an expression reads, in order of evaluation."""
    if isinstance(expr, Op):  # most of them; patterns are tried one by one
        return expr.args
    match expr:
        case Var() | Const() | Global():
            return (expr,)
        case Call(fn, args, kwargs):
            return (fn, *map(unstar, args), *(v for _, v in kwargs))
        case Method(obj, _, args, kwargs):
            return (obj, *map(unstar, args), *(v for _, v in kwargs))
        case Attr(obj, _):
            return (obj,)
        case Index(obj, key):
            return (obj, *key_atoms(key))
        case Build(_, items, keys):
            return (*(k for k in keys if k is not None), *map(unstar, items))
        case Opaque(_, reads, _):
            return reads
        case Closure(_, free):
            return tuple(a for _, a in free)


def exprs(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions that a statement itself evaluates (not those of nested blocks)."""
    match stmt:
        case Assign() | Effect():
            return (stmt.value,)
        case Store():
            return (stmt.base, *key_atoms(stmt.key), stmt.value)
        case StoreAttr():
            return (stmt.base, stmt.value)
        case If() | While():
            return (stmt.test,)
        case For():
            extra = () if stmt.checkpoint is None else (stmt.checkpoint,)
            return (stmt.start, stmt.stop, stmt.step, *extra)
        case Exit():
            return () if stmt.value is None else (stmt.value,)
        case With():
            return stmt.contexts
        case Try():
            return tuple(h.type for h in stmt.handlers if h.type is not None)
        case Verbatim():
            return stmt.reads


def reads(stmt: Stmt) -> tuple[Var, ...]:
    """The variables that a statement itself reads (not those of nested blocks)."""
    if stmt.__class__ is Assign:
        return tuple([a for a in operands(stmt.value) if a.__class__ is Var])
    return tuple([a for e in exprs(stmt) for a in operands(e) if isinstance(a, Var)])


def writes(stmt: Stmt) -> tuple[Var, ...]:
    """The variables that a statement itself binds."""
    if isinstance(stmt, (Assign, For)):
        return (stmt.target,)
    return stmt.writes if isinstance(stmt, Verbatim) else ()
