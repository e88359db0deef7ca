"""What a name means: a local variable, a captured one, a nested function, or a `Global`.

Globals are read live when the generated program runs, so what is decided here is only the path
by which it reaches them; the present value is kept beside it.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.frontend.namespace import Cells, Handed, Namespace, cells_by_name
from srcgrad.frontend.scope import Nested, RecursiveRef, Scope, Session
from srcgrad.ir.nodes import MISSING, Const, Global, Root, Var
from srcgrad.runtime import support

BUILTINS = Root("builtins", "")
SUPPORT = Root("module", "srcgrad.runtime.support")

_NUMPY_PARTS = ((), ("linalg",), ("fft",), ("random",))
_FUNCTION_LIKE = (FunctionType, BuiltinFunctionType, np.ufunc, type, type(np.sum))


def builtin(name: str) -> Global:
    """One of Python's builtins."""
    return Global(BUILTINS, (name,), getattr(builtins, name))


def helper(name: str) -> Global:
    """One of srcgrad's run-time helpers."""
    return Global(SUPPORT, (name,), getattr(support, name))


def numpy_function(name: str) -> Global:
    """One of NumPy's functions."""
    return Global(Root("module", "numpy"), (name,), getattr(np, name))


# ---- names ------------------------------------------------------------------------


def lookup(scope: Scope, name: str, node: ast.AST) -> Var | Global | Nested:
    """What a name stands for where the scope is at the moment."""
    if name in ("__class__", "super"):
        raise scope.refusal(
            node, f"{name} needs the class a method was defined in", "name the class itself"
        )
    if _is_private(name) and scope.session.class_name is not None:
        raise scope.refusal(
            node,
            f"{name} is private to class {scope.session.class_name}",
            "use one underscore instead of two",
        )
    found = _enclosing(scope, name)
    return module_name(scope.session, name) if found is None else found


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def check_attribute(scope: Scope, node: ast.Attribute) -> None:
    """Refuse `obj.__name` inside a class, where Python means another name."""
    if _is_private(node.attr) and scope.session.class_name is not None:
        raise scope.refusal(
            node,
            f"{node.attr} is private to class {scope.session.class_name}",
            "use one underscore instead of two",
        )


def _enclosing(scope: Scope, name: str) -> Var | Global | Nested | None:
    at: Scope | None = scope
    while at is not None:
        if name in at.renames:
            return scope.capture(at.renames[name], at)
        if name in at.bindings.global_names:
            return None
        if name in at.inlined:
            return at.inlined[name]
        if name in at.imports:
            return at.imports[name]
        if at.bindings.is_local(name):
            return _variable(scope, at, name)
        at = at.parent
    return scope.session.cells.get(name)


def _variable(scope: Scope, owner: Scope, name: str) -> Var | Global:
    inner = scope
    while inner is not owner and inner.parent is not owner and inner.parent is not None:
        inner = inner.parent
    if inner is not owner and inner.name == name:  # a nested function names itself
        if inner is scope and len(owner.bindings.sites[name]) == 1:
            return recursion(name)
        raise scope.refusal(
            inner.node,
            f"the nested function {name} calls itself in a way that is not followed",
            "define it once, or at module level",
        )
    return scope.capture(Var(name), owner)


def recursion(name: str) -> Global:
    """The nested function itself, inside its own body."""
    return Global(Root("namespace", "<self>", None), (name,), RecursiveRef(name))


def module_name(session: Session, name: str) -> Global:
    """A name of the function's module, or a builtin."""
    if name not in session.names:
        session.names[name] = _module_name(session, name)
    return session.names[name]


def _module_name(session: Session, name: str) -> Global:
    names = session.fn.__globals__
    found = Global(module_root(session, names), (name,), names.get(name, MISSING))
    session.relies_on(found)  # also that a builtin's name is not defined
    if name in names:
        return settle(session, found)
    return builtin(name) if hasattr(builtins, name) else found


def module_root(session: Session, names: dict[str, Any]) -> Root:
    """The way to a module's globals: by import where that finds the same ones."""
    module = names.get("__name__") or "namespace"
    if module not in session.roots:
        found = sys.modules.get(module)
        importable = found is not None and found.__dict__ is names and module != "__main__"
        session.roots[module] = (
            Root("module", module) if importable else Root("namespace", module, Namespace(names))
        )
    root: Root = session.roots[module]
    return root


def cells_of(fn: Any, session: Session) -> dict[str, Global | None]:
    """The captured variables of the function itself, as globals."""
    cells = cells_by_name(fn)
    if not cells:
        return {}
    root = Root("namespace", f"{fn.__name__.strip('<>')}_free", Cells(cells))
    found: dict[str, Global | None] = {}
    for name, cell in cells.items():
        try:
            value = cell.cell_contents
        except ValueError:
            value = MISSING
        captured = Global(root, (name,), value)
        session.relies_on(captured)
        found[name] = settle(session, captured)
    return found


# ---- paths ------------------------------------------------------------------------


def settle(session: Session, found: Global) -> Global:
    """The path to use for a global: modules by their own name, NumPy's functions by NumPy's, what
    a module was handed as in that module."""
    value = found.value
    if isinstance(value, ModuleType):
        return module_path(value) or found
    if isinstance(value, Cells | Handed | Namespace):  # a generated module was handed it
        return Global(Root("namespace", found.path[-1], value), (), value)
    if isinstance(value, _FUNCTION_LIKE):
        name = found.path[-1]
        if getattr(value, "__name__", None) == name or _imported_as(session, name):
            return library_path(value) or found
    return found


def _imported_as(session: Session, name: str) -> bool:
    """Is the name bound by an import (`from numpy import sin as s`), not by an assignment?

    A module may assign `act = np.tanh` and change it later; such a name is read live."""
    pattern = re.compile(rf"\bas\s+{re.escape(name)}\b")
    return any(pattern.search(line) for line in session.lines)


def global_of(value: Any) -> Global:
    """How a function or class is named that is known when compiling: by the names of its module,
    or as an object that the generated module is handed."""
    found = library_path(value)
    if found is not None:
        return found
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    path = tuple(str(getattr(value, "__qualname__", "")).split("."))
    if module is not None and _follow(module, path) is value:
        root = module_path(module)
        if root is not None:
            return Global(root.root, (*root.path, *path), value)
        names = Namespace(vars(module))
        return Global(Root("namespace", module.__name__, names), path, value)
    plain = getattr(value, "__name__", "function").strip("<>")
    return Global(Root("namespace", plain, Handed(value)), ("value",), value)


def module_path(module: ModuleType) -> Global | None:
    """`Root(module)`; the parts of NumPy are reached from `numpy`."""
    name = module.__name__
    if sys.modules.get(name) is not module or name == "__main__":
        return None
    top, *rest = name.split(".")
    if top == "numpy" and _follow(np, tuple(rest)) is module:
        return Global(Root("module", "numpy"), tuple(rest), module)
    return Global(Root("module", name), (), module)


def _follow(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = getattr(value, name, MISSING)
    return value


def library_path(value: Any) -> Global | None:
    """The public path of a function of NumPy, SciPy, `math` or Python itself."""
    name = getattr(value, "__name__", "")
    module = getattr(value, "__module__", None) or ""
    if isinstance(value, np.ufunc) or module.partition(".")[0] == "numpy":
        for part in _NUMPY_PARTS:
            if _follow(np, (*part, name)) is value:
                return Global(Root("module", "numpy"), (*part, name), value)
    if module.startswith(SUPPORT.key) and getattr(support, name, None) is value:
        return Global(SUPPORT, (name,), value)
    if module == "math" and getattr(math, name, None) is value:
        return Global(Root("module", "math"), (name,), value)
    if module == "builtins" and getattr(builtins, name, None) is value:
        return builtin(name)
    if isinstance(value, np.ufunc) or module.partition(".")[0] == "scipy":
        return _scipy_path(value, name, module)
    return None


def _scipy_path(value: Any, name: str, module: str) -> Global | None:
    public = ".".join(part for part in module.split(".") if not part.startswith("_"))
    for key in (public, "scipy.special"):
        found = sys.modules.get(key)
        if found is not None and getattr(found, name, None) is value:
            return Global(Root("module", key), (name,), value)
    return None


def extend(session: Session, found: Global, name: str) -> Global | None:
    """`found.name` when what it names is a module or class, whose attributes are fixed names."""
    fixed = isinstance(found.value, ModuleType | type | Namespace | Cells | Handed)
    fixed = fixed or stands_for_module(found.value)
    if not fixed and not hasattr(found.value, "__srcgrad_entry__"):
        return None
    try:
        value = getattr(found.value, name)
    except AttributeError:
        value = MISSING
    inner = Global(found.root, (*found.path, name), value)
    session.relies_on(inner)
    return (module_path(value) if isinstance(value, ModuleType) else None) or inner


def stands_for_module(value: Any) -> bool:
    """Whether an object has taken the place of a module, as packages do whose parts load late."""
    name = getattr(value, "__name__", None)
    return isinstance(name, str) and sys.modules.get(name) is value


def own_function(session: Session, found: Global, name: str) -> Global | None:
    """`found.name` when an object has a function of its own there, which is no method."""
    own = getattr(found.value, "__dict__", None)
    if not isinstance(own, dict):
        return None
    value = own.get(name, MISSING)
    session.relies_on(Global(found.root, (*found.path, "__dict__", name), value))
    return Global(found.root, (*found.path, name), value) if _is_function(value) else None


def _is_function(value: object) -> bool:
    return isinstance(value, FunctionType | BuiltinFunctionType | np.ufunc)


def fold(scope: Scope, node: ast.expr) -> Global | None:
    """The global that a dotted name stands for, if it stands for one.

    `np.linalg.norm` is one global; of `settings.table.T` only `settings.table` is."""
    if isinstance(node, ast.Name):
        found = lookup(scope, node.id, node)
        return found if isinstance(found, Global) else None
    if isinstance(node, ast.Attribute):
        base = fold(scope, node.value)
        return None if base is None else extend(scope.session, base, node.attr)
    atom = getattr(node, "atom", None)
    return atom if isinstance(atom, Global) else None


def callee(scope: Scope, node: ast.expr) -> Any:
    """The object that a call would call, when it is a global."""
    found = fold(scope, node)
    return MISSING if found is None else found.value


def is_newaxis(found: Global) -> bool:
    return found.root.key == "numpy" and found.path == ("newaxis",)


def constant(node: ast.expr) -> Const | None:
    """The value of a literal, a sign included."""
    match node:
        case ast.Constant(value=value):
            return Const(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) if isinstance(
            value, int | float | complex
        ) and not isinstance(value, bool):
            return Const(-value)
    return None
