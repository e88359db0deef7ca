"""srcgrad: a source-to-source gradient compiler for NumPy and Numba code."""

from srcgrad._version import __version__ as __version__
from srcgrad.api import GradFunction as GradFunction
from srcgrad.api import grad as grad
from srcgrad.api import jvp as jvp
from srcgrad.api import source as source
from srcgrad.api import value_and_grad as value_and_grad
from srcgrad.api import vjp as vjp
from srcgrad.errors import SrcgradError as SrcgradError
from srcgrad.rules.custom import rule as rule
from srcgrad.rules.decorators import custom_gradient as custom_gradient
from srcgrad.rules.decorators import custom_jvp as custom_jvp
from srcgrad.rules.decorators import custom_vjp as custom_vjp
from srcgrad.rules.decorators import nondiff as nondiff
from srcgrad.rules.decorators import stop_gradient as stop_gradient
from srcgrad.rules.scope import override as override
from srcgrad.higher import hessian as hessian
from srcgrad.higher import hvp as hvp
from srcgrad.higher import jacobian as jacobian
from srcgrad.markers import adjoint_of as adjoint_of
from srcgrad.markers import differentiable as differentiable
