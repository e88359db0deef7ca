import numpy as np


def high_frequency_power(signal, weights):
    amplitudes = np.fft.rfft(signal)
    return np.sum(weights * np.abs(amplitudes) ** 2)


ARGS = (np.array([0.3, -1.0, 0.7, 0.2]), np.array([0.0, 1.0, 2.0]))
WRT = ("signal", "weights")
