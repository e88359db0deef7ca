"""srcgrad: a source-to-source gradient compiler for NumPy and Numba code.

The names below are loaded at their first use, so that `import srcgrad` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from srcgrad._version import __version__ as __version__
from srcgrad.errors import SrcgradError as SrcgradError

if TYPE_CHECKING:
    from srcgrad.api import grad as grad
    from srcgrad.api import jvp as jvp
    from srcgrad.api import source as source
    from srcgrad.api import value_and_grad as value_and_grad
    from srcgrad.api import vjp as vjp
    from srcgrad.check import GradientCheckError as GradientCheckError
    from srcgrad.check import check_grads as check_grads
    from srcgrad.check import check_rule as check_rule
    from srcgrad.gradfunction import GradFunction as GradFunction
    from srcgrad.higher import hessian as hessian
    from srcgrad.higher import hvp as hvp
    from srcgrad.higher import jacobian as jacobian
    from srcgrad.implicit import implicit as implicit
    from srcgrad.markers import adjoint_of as adjoint_of
    from srcgrad.markers import checkpointed as checkpointed
    from srcgrad.markers import differentiable as differentiable
    from srcgrad.rules.coverage import rules as rules
    from srcgrad.rules.custom import rule as rule
    from srcgrad.rules.decorators import custom_gradient as custom_gradient
    from srcgrad.rules.decorators import custom_jvp as custom_jvp
    from srcgrad.rules.decorators import custom_vjp as custom_vjp
    from srcgrad.rules.decorators import nondiff as nondiff
    from srcgrad.rules.decorators import stop_gradient as stop_gradient
    from srcgrad.rules.scope import override as override
    from srcgrad.trace import trace_nan as trace_nan

_HOMES = {
    "srcgrad.gradfunction": ("GradFunction",),
    "srcgrad.api": ("grad", "jvp", "source", "value_and_grad", "vjp"),
    "srcgrad.check": ("GradientCheckError", "check_grads", "check_rule"),
    "srcgrad.errors": (
        "AliasError",
        "ArgumentError",
        "CacheError",
        "InternalError",
        "MissingRule",
        "NotDifferentiable",
        "RuleError",
        "RuleIgnoresCotangent",
        "SourceUnavailable",
        "SrcgradWarning",
        "UnsupportedSyntax",
        "UnusedOverride",
    ),
    "srcgrad.higher": ("hessian", "hvp", "jacobian"),
    "srcgrad.implicit": ("implicit",),
    "srcgrad.markers": ("adjoint_of", "checkpointed", "differentiable"),
    "srcgrad.rules.custom": ("rule",),
    "srcgrad.rules.decorators": (
        "custom_gradient",
        "custom_jvp",
        "custom_vjp",
        "nondiff",
        "stop_gradient",
    ),
    "srcgrad.rules.scope": ("override",),
    "srcgrad.trace": ("NonFiniteDerivative", "trace_nan"),
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names}
__all__ = ["SrcgradError", "__version__", *sorted([*_WHERE, "rules"])]


def __getattr__(name: str) -> Any:
    if name == "rules":  # a package that can be called
        return importlib.import_module("srcgrad.rules")
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module 'srcgrad' has no attribute {name!r}")
    found = getattr(importlib.import_module(module), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
