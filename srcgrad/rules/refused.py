"""What is left of NumPy's namespaces: names without a derivative, and why others are refused.

`tests/rules/test_namespaces.py` walks the namespaces; a public function is in a table of rules,
has derivative zero, or is refused here with the reason.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from srcgrad.rules.registry import alias, nondiff, refuse


def _named(owner: Any, names: str) -> list[Any]:
    """Those of these names that this version of NumPy has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are deprecated
        return [getattr(owner, name) for name in names.split() if hasattr(owner, name)]


# ---- derivative zero ---------------------------------------------------------------------------

# Answers about types, files, settings and dates: no number in them depends smoothly on another.
nondiff(
    *_named(
        np,
        "base_repr binary_repr busday_offset datetime_as_string datetime_data einsum_path"
        " get_include getbufsize geterrcall is_busday isin mintypecode typename sctype2char"
        " issubclass_ obj2sctype find_common_type issctype issubsctype maximum_sctype in1d"
        " deprecate safe_eval lookfor set_numeric_ops format_parser byte_bounds"
        " compare_chararrays set_string_function"
        " geterrobj nbytes disp cast asfarray issubdtype",
    )
)
nondiff(
    *_named(
        np,
        "fromregex genfromtxt fromfile savez_compressed setbufsize seterrcall seterrobj"
        " show_config show_runtime info source who get_array_wrap printoptions add_docstring"
        " add_newdoc add_newdoc_ufunc deprecate_with_doc recfromcsv recfromtxt test",
    ),
    pure=False,
)
nondiff(*_named(np.linalg, "test"), *_named(np.fft, "test"), pure=False)
nondiff(np.ndarray.__len__)

# Older names, some of which are functions of their own.
for _old, _new in (
    ("row_stack", np.vstack), ("product", np.prod), ("cumproduct", np.cumprod),
    ("round_", np.round), ("alltrue", np.all), ("sometrue", np.any),
):  # fmt: skip
    for _target in _named(np, _old):
        if _target is not _new:
            alias(_target, _new)

refuse(
    *_named(np, "fastCopyAndTranspose msort"),
    why="it is deprecated; write x.T.copy(), np.sort(x, axis=0)",
)

# ---- refused, with the reason ------------------------------------------------------------------

# Numbers that are not real or complex; others such as np.float32 have rules.
_STRINGS = (
    "character flexible str_ bytes_ void object_ datetime64 timedelta64 record busdaycalendar"
    " unicode_ string_ chararray"
)
refuse(*_named(np, _STRINGS), why="what it makes is not a number")
refuse(
    *_named(np, "generic number integer signedinteger unsignedinteger inexact floating"
            " complexfloating dtype ufunc flatiter"),
    why="it is an abstract class",
)  # fmt: skip
nondiff(*_named(np, "longlong ulonglong intc uintc byte ubyte short ushort int_ uint long ulong"))
refuse(
    *_named(np, "matrix asmatrix mat bmat memmap recarray"),
    why="subclasses of arrays are not supported; use np.asarray",
)
refuse(
    *_named(np, "frombuffer fromstring fromiter from_dlpack"),
    why="where the numbers come from can't be seen; write np.array([...]) or np.asarray(x)",
)
refuse(
    *_named(np, "nditer nested_iters broadcast ndarray DataSource"),
    why="srcgrad can't follow what it gives; write a loop over an index, or np.broadcast_arrays",
)
refuse(
    *_named(np, "poly1d"),
    why="it is a class whose attributes can't be followed; use np.polyval and np.polyadd",
)
refuse(*_named(np, "busday_count"), why="it counts days")
_CLASSES = "Polynomial Chebyshev Legendre Hermite HermiteE Laguerre"
refuse(
    *_named(np.polynomial, _CLASSES),
    why="it is a class whose attributes can't be followed; use the functions of its module, such"
    " as np.polynomial.polynomial.polyval",
)
nondiff(np.polynomial.set_default_printstyle, pure=False)
