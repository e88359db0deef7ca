import math


def gauss(x):
    return math.exp(-x * x)


def simpson(f, a, b, n):
    h = (b - a) / n
    total = f(a) + f(b)
    for k in range(1, n):
        weight = 4.0 if k % 2 else 2.0
        total += weight * f(a + k * h)
    return total * h / 3.0


def area(a, b):
    return simpson(gauss, a, b, 6)


ARGS = (-0.3, 1.1)
WRT = ("a", "b")
