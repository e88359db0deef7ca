"""Classes whose objects are plain records: namedtuples, dataclasses, objects with attributes."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import numpy as np

from srcgrad.ir import types as ty


def is_plain_record(cls: type) -> tuple[str, ...] | None:
    """The fields of a class whose constructor only stores its arguments, else None."""
    fields = getattr(cls, "_fields", None)
    if issubclass(cls, tuple) and fields is not None:
        made_by = next(base for base in cls.__mro__ if "__new__" in vars(base))
        return tuple(fields) if "_fields" in vars(made_by) else None
    if dataclasses.is_dataclass(cls):
        params = cls.__dataclass_params__  # type: ignore[attr-defined]
        # The decorator leaves an `__init__` that the class wrote itself.
        code = getattr(cls.__init__, "__code__", None)
        own_init = "__init__" in cls.__dict__ and params.init
        own_init = own_init and getattr(code, "co_filename", "") == "<string>"
        if own_init and not hasattr(cls, "__post_init__"):
            return tuple(f.name for f in dataclasses.fields(cls) if f.init)
    return None


def fields_and_defaults(cls: type, given: tuple[str, ...]) -> tuple[str, ...]:
    """The attributes that an object made with the fields `given` has: those, the fields that
    defaults fill, and the values that its class keeps for all objects."""
    fields = is_plain_record(cls) or given
    if issubclass(cls, tuple):
        return fields
    shared = [
        name
        for base in cls.__mro__[:-1]
        for name, value in vars(base).items()
        if isinstance(value, float | complex | np.ndarray) and not name.startswith("__")
    ]
    return tuple(dict.fromkeys((*fields, *shared)))


def default_of(cls: type, name: str) -> Any:
    """What a field is when it is not given, `inspect.Parameter.empty` for what is made anew."""
    if issubclass(cls, tuple):
        return getattr(cls, "_field_defaults", {}).get(name, inspect.Parameter.empty)
    if dataclasses.is_dataclass(cls):
        found = next((f for f in dataclasses.fields(cls) if f.name == name), None)
        if found is not None:
            made = found.default is dataclasses.MISSING
            return inspect.Parameter.empty if made else found.default
    return inspect.getattr_static(cls, name, inspect.Parameter.empty)


def parts_of(t: ty.Type, fn: Any) -> tuple[tuple[str, ty.Type], ...] | None:
    """The fields that `p._asdict()`, `dataclasses.asdict(p)` or `astuple(p)` takes apart, where
    there is nothing in them that it copies."""
    if isinstance(t, ty.Tuple) and fn is dataclasses.asdict:
        names = getattr(t.cls, "_fields", ())
        return tuple(zip(names, t.items, strict=True)) if names else None
    if not isinstance(t, ty.Object) or fn not in (dataclasses.asdict, dataclasses.astuple):
        return None
    known = dict(t.fields or ())
    names = [f.name for f in dataclasses.fields(t.cls)] if dataclasses.is_dataclass(t.cls) else []
    if not names or not all(isinstance(known.get(n), ty.Number) for n in names):
        return None
    return tuple((n, known[n]) for n in names)
