"""What operators, `obj[key]`, `len(obj)` and the like mean for objects of a user's class: a call
of the class's own special method, as Python makes it."""

from __future__ import annotations

import inspect
import types
from collections.abc import Sequence
from typing import Any

from srcgrad.analysis.targets import Packed
from srcgrad.analysis.types.typeof import is_users
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.runtime import support

_BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "truediv",
    "floordiv": "floordiv",
    "mod": "mod",
    "pow": "pow",
    "matmul": "matmul",
    "lshift": "lshift",
    "rshift": "rshift",
    "and": "and",
    "or": "or",
    "xor": "xor",
}
_UNARY = {"neg": "__neg__", "pos": "__pos__", "invert": "__invert__"}
_COMPARE = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_OF_FUNCTIONS = {len: "__len__", abs: "__abs__", float: "__float__", int: "__int__"}

NAMES = frozenset(
    [
        "__getitem__",
        "__setitem__",
        "__init__",
        *(f"__i{n}__" for n in _BINARY.values()),
        *(f"__{n}__" for n in (*_BINARY.values(), *_COMPARE)),
        *(f"__r{n}__" for n in _BINARY.values()),
        *_UNARY.values(),
        *_OF_FUNCTIONS.values(),
    ]
)

Found = tuple[Any, tuple[ir.Atom, ...]]


def of_operator(op: str, args: Sequence[ir.Atom], kinds: Sequence[ty.Type | None]) -> Found | None:
    """The function that an operator calls, and its arguments; None where no class defines one."""
    if op in _UNARY:
        return _method(kinds[0], _UNARY[op], (args[0],))
    names = {**_BINARY, **{k: k for k in _COMPARE}}
    if op not in names or len(args) != 2:
        return None
    left = _method(kinds[0], f"__{names[op]}__", tuple(args))
    if left is not None or is_users(kinds[0]):
        return left
    back = f"__{_COMPARE[op]}__" if op in _COMPARE else f"__r{names[op]}__"
    defers = not isinstance(kinds[0], ty.Array) or hasattr(kinds[1], "__array_ufunc__")
    return _method(kinds[1], back, (args[1], args[0])) if defers else None


def in_place(t: ty.Type | None, op: str) -> str | None:
    """The name of the method that `a op= e` calls; None where the class defines none."""
    name = f"__i{_BINARY[op]}__"
    return name if _method(t, name, ()) is not None else None


def of_index(obj: ir.Atom, t: ty.Type | None, key: ir.Key) -> Found | None:
    """The function that `obj[key]` calls."""
    if isinstance(key, ir.KeyTuple):
        if any(isinstance(i, ir.Slice) for i in key.items):
            return None
        return _method(t, "__getitem__", (obj, Packed("tuple", key.items)))  # type: ignore[arg-type]
    return None if isinstance(key, ir.Slice) else _method(t, "__getitem__", (obj, key))


def of_function(value: Any, args: Sequence[Any], t: ty.Type | None) -> Found | None:
    """The method that a builtin function calls: `len(obj)`."""
    name = next((n for f, n in _OF_FUNCTIONS.items() if f is value), None)
    if name is None or len(args) != 1 or not isinstance(args[0], ir.Var | ir.Global):
        return None
    return _method(t, name, (args[0],))


def of_loop(obj: Any, t: ty.Type | None) -> Found | None:
    """The function that gives the items of an object of a user's class, for a loop over it."""
    return _method(t, "__iter__", (obj,)) if isinstance(obj, ir.Var | ir.Global) else None


def _method(t: ty.Type | None, name: str, args: tuple[ir.Atom, ...]) -> Found | None:
    if not isinstance(t, ty.Object) or not is_users(t):
        return None
    found = inspect.getattr_static(t.cls, name, None)
    return (found, args) if inspect.isfunction(found) else None


def hides_attribute(cls: type, name: str) -> bool:
    """Whether reading `obj.name` runs code of the class: a descriptor, or `__getattr__`."""
    if cls is support.Record or not is_users(ty.Object(cls)):
        return False  # what a record does not have is an adjoint of nothing
    if inspect.getattr_static(cls, "__getattribute__") is not object.__getattribute__:
        return "__getattribute__" in _python_names(cls)
    found = inspect.getattr_static(cls, name, None)
    if found is None:
        return "__getattr__" in _python_names(cls)
    kind = type(found)
    return hasattr(kind, "__get__") and not isinstance(found, _ORDINARY)


def _python_names(cls: type) -> set[str]:
    """The names that the classes of a hierarchy define in Python."""
    return {n for base in cls.__mro__ for n, v in vars(base).items() if inspect.isfunction(v)}


def is_own(found: Any) -> bool:
    """Whether what a class says of an attribute is where each object keeps its own: a slot, or
    `__dict__` itself."""
    return isinstance(found, types.MemberDescriptorType | types.GetSetDescriptorType)


_ORDINARY = (
    types.FunctionType, staticmethod, classmethod, property, types.BuiltinFunctionType,
    types.MemberDescriptorType, types.GetSetDescriptorType, types.MethodDescriptorType,
    types.WrapperDescriptorType, type,
)  # fmt: skip
