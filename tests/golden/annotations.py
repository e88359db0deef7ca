import numpy as np
import numpy.typing as npt


def portfolio(weights: npt.NDArray[np.float64], risk: float) -> float:
    spread = weights - np.mean(weights)
    return float(risk * np.sum(spread**2) + np.sum(np.abs(weights)))


ARGS = (np.array([0.5, -0.2, 0.7]), 0.3)
WRT = "weights"
