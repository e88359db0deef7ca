"""Functions that `test_overrides.py` calls through this module."""


def inner(x):
    return x * x


def outer(x):
    return inner(x)


def scaled(k, x):
    return k * x
