"""Linear interpolation in a table."""

from __future__ import annotations

import numpy as np

from srcgrad.rules.registry import source, structured
from srcgrad.runtime import support
from srcgrad.runtime.support import series

_V = np.array([0.3, -1.7, 0.6, 2.2])
_XP = np.array([0.0, 1.0, 2.0, 3.5])
_SLOPE = "support.interp_slope(x, xp, fp)"
_interp = structured(
    np.interp,
    "x, xp, fp, left=None, right=None",
    vjp={
        "x": f"g * {_SLOPE}",
        "xp": f"support.interp_scatter(-g * {_SLOPE}, x, xp, None, None)",
        "fp": "support.interp_scatter(g, x, xp, left, right)",
        "left": "np.sum(np.where(np.less(x, np.min(xp)), g, 0.0))",
        "right": "np.sum(np.where(np.greater(x, np.max(xp)), g, 0.0))",
    },
    jvp={
        "x": f"x_dot * {_SLOPE}",
        "xp": f"-{_SLOPE} * np.interp(x, xp, xp_dot)",
        "fp": "support.interp_gather(fp_dot, x, xp, left, right)",
        "left": "np.where(np.less(x, np.min(xp)), left_dot, 0.0)",
        "right": "np.where(np.greater(x, np.max(xp)), right_dot, 0.0)",
    },
    at=[
        (np.array([0.2, 1.4, 2.9, -1.0, 9.0]), _XP, _V),
        (0.7, _XP, _V),
        (np.array([[0.2, 1.4], [2.9, -1.0]]), _XP, _V, 5.0),
        (np.array([0.2, 9.0]), _XP, _V, None, 1.0),
        (np.array([-0.2, 1.4, 9.0]), _XP, _V, 0.3, 1.0),
        (-0.7, _XP, _V, 0.3),
    ],
)
_interp.variants["period"] = source(
    np.interp,
    series.interp_period,
    at=[((np.array([0.2, 6.4, -0.9]), _XP, _V), {"period": 4.0}), ((9.3, _XP, _V), {"period": 5})],
    register=False,
)

# ---- their helpers, for higher orders ----

_X = np.array([0.2, 1.4, 2.9, -1.0, 9.0])
structured(
    support.interp_gather,
    "v, x, xp, left, right",
    vjp={
        "v": "support.interp_scatter(g, x, xp, left, right)",
        "x": "g * support.interp_slope(x, xp, v)",
        "xp": "support.interp_scatter(-g * support.interp_slope(x, xp, v), x, xp, None, None)",
    },
    jvp={
        "v": "support.interp_gather(v_dot, x, xp, left, right)",
        "x": "x_dot * support.interp_slope(x, xp, v)",
        "xp": "-support.interp_slope(x, xp, v) * support.interp_gather(xp_dot, x, xp, None, None)",
    },
    zero=("left", "right"),  # only whether they are given matters
    at=[(_V, _X, _XP, None, None), (_V, _X, _XP, None, 1.0)],
)
structured(
    support.interp_scatter,
    "ct, x, xp, left, right",
    vjp={
        "ct": "support.unbroadcast(support.interp_gather(g, x, xp, left, right), ct)",
        "x": "ct * support.interp_slope(x, xp, g)",
        "xp": "support.interp_scatter(-ct * support.interp_slope(x, xp, g), x, xp, None, None)",
    },
    jvp={
        "ct": "support.interp_scatter(ct_dot, x, xp, left, right)",
        "x": "support.interp_slope_back(ct * x_dot, x, xp)",
        "xp": "-support.interp_slope_back("
        "ct * support.interp_gather(xp_dot, x, xp, None, None), x, xp)",
    },
    zero=("left", "right"),  # only whether they are given matters
    at=[(np.cos(_X), _X, _XP, None, None), (np.cos(_X), _X, _XP, 1.0, None)],
)
structured(
    support.interp_slope,
    "x, xp, fp",
    vjp={
        "xp": "support.interp_slope_back(-g * out, x, xp)",
        "fp": "support.interp_slope_back(g, x, xp)",
    },
    jvp={
        "xp": "-out * support.interp_slope(x, xp, xp_dot)",
        "fp": "support.interp_slope(x, xp, fp_dot)",
    },
    zero=("x",),
    at=[(_X, _XP, _V), (0.7, _XP, _V)],
)
structured(
    support.interp_slope_back,
    "ct, x, xp",
    vjp={
        "ct": "support.interp_slope(x, xp, g)",
        "xp": "support.interp_slope_back(-ct * support.interp_slope(x, xp, g), x, xp)",
    },
    jvp={
        "ct": "support.interp_slope_back(ct_dot, x, xp)",
        "xp": "support.interp_slope_back(-ct * support.interp_slope(x, xp, xp_dot), x, xp)",
    },
    zero=("x",),
    at=[(np.cos(_X), _X, _XP), (0.4, 0.7, _XP)],
)
