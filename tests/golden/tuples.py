import numpy as np


def rotate(point, angle):
    x, y = point
    c, s = np.cos(angle), np.sin(angle)
    return x * c - y * s, x * s + y * c


def moved(point, angle):
    x, y = rotate(rotate(point, angle), 2.0 * angle)
    return x * x * y


ARGS = ((0.4, -1.2), 0.7)
WRT = ("point", "angle")
