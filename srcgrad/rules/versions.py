"""Which NumPy is installed: sample points and defaults differ where NumPy 1 and 2 do."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

NUMPY_2 = not np.__version__.startswith("1.")


def takes(target: Any, param: str) -> bool:
    """Whether a function of the installed NumPy has a parameter of this name.

    >>> takes(np.sum, "axis"), takes(np.sum, "nowhere")
    (True, False)
    """
    return param in inspect.signature(target).parameters
