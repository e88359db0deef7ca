from dataclasses import dataclass

import numpy as np


@dataclass
class Spring:
    stiffness: float
    rest: np.ndarray


def energy(spring, x):
    stretch = x - spring.rest
    return 0.5 * spring.stiffness * (stretch @ stretch)


ARGS = (Spring(2.0, np.array([0.1, 0.2])), np.array([1.0, -0.5]))
WRT = ("spring", "x")
