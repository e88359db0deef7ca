"""Functions whose derivative is zero, and functions that are refused with advice.

Functions that act on the world or draw random numbers are not `pure`: they are never run to learn
the type of their result, nor run twice.
"""

from __future__ import annotations

import bisect
import logging
import random
import time
import warnings
from typing import Any

import numpy as np

from srcgrad.rules.registry import alias, nondiff, refuse

# ---- comparisons and tests -------------------------------------------------

nondiff(
    np.isclose, np.allclose, np.array_equal, np.array_equiv, np.isreal, np.iscomplex,
    np.isrealobj, np.iscomplexobj, np.isscalar, np.isposinf, np.isneginf, np.any, np.all,
    np.may_share_memory, np.shares_memory, np.iterable, np.isin, np.isfortran,
)  # fmt: skip

# ---- positions -------------------------------------------------------------

nondiff(
    np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.argpartition, np.lexsort,
    np.nonzero, np.argwhere, np.flatnonzero, np.count_nonzero, np.searchsorted, np.digitize,
    np.indices, np.ix_, np.tril_indices, np.triu_indices, np.tril_indices_from,
    np.triu_indices_from, np.diag_indices, np.diag_indices_from, np.unravel_index,
    np.ravel_multi_index, np.mask_indices, np.ndindex, np.packbits, np.unpackbits,
    bisect.bisect, bisect.bisect_left, bisect.bisect_right,
)  # fmt: skip

# ---- whole numbers ---------------------------------------------------------

nondiff(np.round, np.around, np.fix)

# ---- shapes and types ------------------------------------------------------

nondiff(
    np.shape, np.ndim, np.size, np.result_type, np.promote_types, np.can_cast, np.common_type,
    np.min_scalar_type, np.issubdtype, np.finfo, np.iinfo, np.broadcast_shapes,
    np.errstate, np.seterr, np.geterr, np.get_printoptions, np.array2string, np.array_repr,
    np.array_str, np.format_float_positional, np.format_float_scientific,
)  # fmt: skip
if hasattr(np, "isdtype"):  # NumPy 2
    nondiff(np.isdtype)

# ---- arrays made of nothing active -----------------------------------------

nondiff(
    np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.eye,
    np.identity, np.tri, np.hanning, np.hamming, np.bartlett, np.blackman,
)  # fmt: skip
if hasattr(np.fft, "fftfreq"):
    nondiff(np.fft.fftfreq, np.fft.rfftfreq)

# ---- methods of arrays -----------------------------------------------------

for _method in (
    "any", "all", "argmax", "argmin", "argsort", "argpartition", "nonzero", "searchsorted",
    "round",
):  # fmt: skip
    alias(getattr(np.ndarray, _method), getattr(np, _method))
nondiff(np.ndarray.__len__, np.ndarray.__contains__, np.ndarray.__repr__)

# ---- random numbers, the clock, the world ----------------------------------

# What depends smoothly on its arguments (`normal(mu, sigma)`) has them refused when active: only
# the functions of sizes and seeds are constant in everything.
_CONSTANT = (
    "bytes default_rng get_state integers rand randint randn random"
    " random_integers random_sample ranf sample seed set_state standard_cauchy"
    " standard_exponential standard_normal RandomState"
)
_CONTINUOUS = (
    "beta binomial chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric"
    " laplace logistic lognormal logseries multinomial multivariate_normal negative_binomial"
    " noncentral_chisquare noncentral_f normal pareto permutation permuted poisson power rayleigh"
    " standard_gamma standard_t triangular uniform vonmises wald weibull zipf"
)


def _random(owner: Any, names: str) -> list[Any]:
    return [getattr(owner, name) for name in names.split() if hasattr(owner, name)]


for _owner in (np.random, np.random.Generator, np.random.RandomState):
    nondiff(*_random(_owner, _CONSTANT), pure=False)
    refuse(
        *_random(_owner, _CONTINUOUS),
        why="no derivative passes through a random draw; draw standard numbers and scale them:"
        " mu + sigma * rng.standard_normal(n)",
    )
# The global generator's is a function of its array alone; that of a generator is met as a method.
refuse(
    np.random.shuffle,
    why="it changes its argument; index with a permutation instead: x[rng.permutation(len(x))]",
    params="x",
    writes="x",
)
nondiff(random.random, random.seed, random.randint, random.randrange, pure=False)
refuse(
    random.gauss,
    random.uniform,
    random.normalvariate,
    random.expovariate,
    random.choice,
    why="no derivative passes through a random draw; draw standard numbers and scale them",
)
nondiff(
    time.time, time.perf_counter, time.monotonic, time.process_time, time.sleep, time.time_ns,
    time.perf_counter_ns, warnings.warn, pure=False,
)  # fmt: skip
_LEVELS = "debug info warning error critical exception log"
nondiff(*_random(logging, _LEVELS), *_random(logging.Logger, _LEVELS), pure=False)
nondiff(logging.getLogger, logging.Logger.isEnabledFor, pure=False)
nondiff(np.savetxt, np.save, np.savez, np.load, np.loadtxt, np.set_printoptions, pure=False)
