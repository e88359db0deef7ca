import numpy as np

import srcgrad as sg


def softplus(x):
    return np.log1p(np.exp(x))


@sg.rule(softplus)
def softplus_rule(g, out, x):
    return g * np.exp(x - out)


@sg.custom_vjp
def scaled(x, width):
    return np.sin(x) * width


def scaled_forward(x, width):
    return scaled(x, width), (x, width)


def scaled_backward(saved, g):
    x, width = saved
    return g * np.cos(x) * width, np.sum(g * np.sin(x))


scaled.defvjp(scaled_forward, scaled_backward)


@sg.custom_jvp
def cubed(x):
    return x * x * x


@cubed.defjvp
def cubed_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return cubed(x), 3.0 * x * x * x_dot


@sg.custom_gradient
def squared(x):
    def back(dy):
        return 2.0 * dy * x

    return x * x, back


def doubled(x):
    return 2.0 * x


@sg.rule(doubled)
def doubled_rule(g, out, x):
    made = g * 2.0  # a statement more than is written out: this rule is called
    return made


def total(x, width):
    y = softplus(x)
    for _ in range(3):
        y = scaled(y, width) + cubed(x)
    return np.sum(squared(doubled(y)) * y)


ARGS = (np.array([0.1, -0.6, 1.2]), 0.7)
WRT = ("x", "width")
MODES = ("grad", "jvp")
