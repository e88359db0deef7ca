def cube_root(a):
    x = 1.0 + 0.1 * a
    while abs(x * x * x - a) > 1e-13:
        x = x - (x * x * x - a) / (3.0 * x * x)
    return x


ARGS = (7.0,)
WRT = 0
