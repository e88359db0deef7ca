def huber(residual, delta):
    """Quadratic near zero, linear beyond delta."""
    size = abs(residual)
    if size <= delta:
        return 0.5 * residual**2
    return delta * (size - 0.5 * delta)


ARGS = (-2.5, 1.1)
WRT = ("residual", "delta")
MODES = ("grad", "jvp")
