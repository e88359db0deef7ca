def ridge(weights, xs, ys, penalty):
    errors = [y - sum(w * x for w, x in zip(weights, row)) for row, y in zip(xs, ys)]
    return sum(e * e for e in errors) + penalty * sum(w**2 for w in weights)


ARGS = ([0.3, -0.7], ((1.0, 2.0), (0.5, -1.0)), (0.4, 1.1), 0.1)
WRT = ("weights", "penalty")
