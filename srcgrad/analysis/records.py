"""Classes whose objects are plain records: namedtuples and dataclasses."""

from __future__ import annotations

import dataclasses


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
