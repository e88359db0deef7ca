"""Refuses what leaves the sight of the compiler: writes into memory that comes from outside the
function, and keys handed to objects of unknown class.

A global or captured buffer has no adjoint: what is read from it later would count as constant.
"""

from __future__ import annotations

from types import ModuleType

from srcgrad.analysis.effects import may_hold_memory, surely_copies
from srcgrad.analysis.flow import takes_any_key
from srcgrad.analysis.targets import Container, Library, Uncharted, bound_atoms
from srcgrad.analysis.types.typeof import is_users
from srcgrad.analysis.unit import Unit
from srcgrad.analysis.views import may_view
from srcgrad.errors import MissingRule, UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry

_PARTS = frozenset(("get", "pop", "setdefault", "alias", "values", "items"))


def check(unit: Unit) -> None:
    """Raise where a value with a derivative is written into memory from outside."""
    _check_keys(unit)
    _check_objects(unit)
    _check_views(unit)
    found = _from_outside(unit)
    by_call = {s.sid for s in unit.fx.global_stores}
    for stmt in ir.walk(unit.body):
        match stmt:
            case ir.Store() | ir.StoreAttr():
                written: ir.Atom | None = stmt.base
                values: tuple[ir.Atom, ...] = (stmt.value,)
            case ir.Assign(inplace=str()):
                written, values = stmt.target, ir.operands(stmt.value)[1:]
            case ir.Assign() | ir.Effect() if stmt.sid in by_call:
                written, values = None, ir.operands(stmt.value)
            case _:
                continue
        if isinstance(stmt, ir.StoreAttr) and isinstance(stmt.value, ir.Var):
            _check_attribute(unit, stmt, stmt.value)
        if written is not None and not _is_outside(written, found):
            continue
        if any(isinstance(a, ir.Var) and a.name in unit.act.varied for a in values):
            raise written_outside(stmt)


def written_outside(stmt: ir.Stmt) -> Exception:
    """The refusal of a store into a global or captured buffer."""
    return located(
        UnsupportedSyntax,
        stmt.loc,
        "a value with a derivative is written into an object from outside the function "
        "(a global or captured buffer)",
        fixes=["make the buffer inside the function, or pass it as an argument"],
    )


def _check_views(unit: Unit) -> None:
    """Refuse a result that is written into and may be a view of one of several arrays."""
    for stmt in ir.walk(unit.body):
        call = unit.facts.targets.get(stmt.sid)
        if not isinstance(stmt, ir.Assign) or not isinstance(call, Library):
            continue
        name = stmt.target.name
        if name in unit.act.varied and unit.fx.memory(name) and len(unit.viewed(stmt, call)) > 1:
            raise located(
                UnsupportedSyntax,
                stmt.loc,
                f"{call.entry.name} gives views of several arrays, and one is written into",
                fixes=["give it copies of the arrays", "call it with one array at a time"],
            )


def _check_attribute(unit: Unit, stmt: ir.StoreAttr, value: ir.Var) -> None:
    """Attributes of functions, classes and arrays are no place for a value with a derivative."""
    t = unit.facts.of(stmt.base)
    if value.name not in unit.act.varied:
        return
    if isinstance(t, ty.Unknown | ty.Tuple):
        return
    if isinstance(t, ty.Object) and not issubclass(t.cls, type | ModuleType):
        return
    raise located(
        UnsupportedSyntax,
        stmt.loc,
        f"a value with a derivative is written into the attribute {stmt.name} of a function, "
        "class or array",
        chain=unit.act.chain(value.name),
        fixes=["keep it in a local variable or an array"],
    )


def _check_objects(unit: Unit) -> None:
    """What runs the code of an object's class unseen: iteration, functions of NumPy, `with`."""
    for stmt in ir.walk(unit.body):
        if isinstance(stmt, ir.With) and stmt.special is None:
            _check_context(unit, stmt)
            continue
        match unit.facts.targets.get(stmt.sid):
            case Library(entry, args) if _looks_into(entry):
                atoms = [a for _, b in args for a in bound_atoms(b)]
                what = entry.name
            case Container(name):
                value = stmt.value if isinstance(stmt, ir.Assign) else None
                atoms = [*map(ir.unstar, value.args)] if isinstance(value, ir.Call) else []
                what = "iteration" if name == "alias" else name
            case _:
                continue
        for a in atoms:
            t = unit.facts.of(a)
            if isinstance(a, ir.Var) and isinstance(t, ty.Object) and is_users(t):
                if unit.is_active(a):
                    of = f"{what} over" if what == "iteration" else f"{what} of"
                    raise located(
                        MissingRule,
                        stmt.loc,
                        f"no derivative rule for {of} an object of the class {t.cls.__name__}",
                        chain=unit.act.chain(a.name),
                        fixes=["take its parts by attribute, or keep them in a tuple or list"],
                    )


def _looks_into(entry: Entry) -> bool:
    """Whether a function may call the methods of its arguments and has a rule for numbers only."""
    ours = getattr(entry.target, "__module__", None) or ""
    return entry.kind != "nondiff" and not entry.given and not ours.startswith("srcgrad.")


def _check_context(unit: Unit, stmt: ir.With) -> None:
    """What a context manager does with what it is given is not followed."""
    given = [v for c in stmt.contexts for v in ir.operands(c) if isinstance(v, ir.Var)]
    if stmt.bound is None and not any(unit.fx.memory(v.name) for v in given):
        return
    for v in given:
        if v.name in unit.act.varied:
            raise located(
                UnsupportedSyntax,
                stmt.loc,
                "a context manager is given a value with a derivative, and may change it or pass "
                "it on",
                chain=unit.act.chain(v.name),
                fixes=["write what it does before and after the block instead"],
            )


def _check_keys(unit: Unit) -> None:
    """`obj[x]` may compute anything from an active x when nothing is known of obj."""
    for stmt in ir.walk(unit.body):
        if not (isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Index)):
            continue
        target = unit.facts.targets.get(stmt.sid)
        if target is not None and not isinstance(target, Uncharted):  # calls its `__getitem__`
            continue
        if not takes_any_key(unit.facts.of(stmt.value.obj)) or not unit.is_active(stmt.target):
            continue
        for a in ir.key_atoms(stmt.value.key):
            if isinstance(a, ir.Var) and unit.is_active(a):
                raise located(
                    MissingRule,
                    stmt.loc,
                    "no derivative rule for indexing an object of this class with a value that "
                    "carries a derivative",
                    chain=unit.act.chain(a.name),
                    fixes=["call a function instead"],
                )


def _is_outside(a: ir.Atom, found: set[str]) -> bool:
    return isinstance(a, ir.Global) or (isinstance(a, ir.Var) and a.name in found)


def _from_outside(unit: Unit) -> set[str]:
    """The variables that are memory from outside, or parts of it."""
    found: set[str] = set()
    while True:
        before = len(found)
        for stmt in ir.walk(unit.body):
            if isinstance(stmt, ir.Assign) and stmt.inplace is None:
                if may_hold_memory(unit.type(stmt.target.name)) and _takes_part(unit, stmt, found):
                    found.add(stmt.target.name)
        if len(found) == before:
            return found


def _takes_part(unit: Unit, stmt: ir.Assign, found: set[str]) -> bool:
    """Whether a statement binds a name to memory from outside, or to a part of it."""
    expr, target = stmt.value, unit.facts.targets.get(stmt.sid)
    match expr:
        case ir.Var() | ir.Global():
            return _is_outside(expr, found)
        case ir.Index(obj, key):
            copies = isinstance(unit.facts.of(obj), ty.Array) and surely_copies(unit.facts, key)
            return _is_outside(obj, found) and not copies
        case ir.Attr(obj, _) if target is None:
            return _is_outside(obj, found)
    if isinstance(target, Container) and target.name in _PARTS:
        return any(_is_outside(a, found) for a in ir.operands(expr)[-1:])
    if isinstance(target, Library) and target.entry.view != "never" and target.args:
        return any(_is_outside(a, found) for a in may_view(unit.facts, target))
    return False


__all__ = ["check"]
