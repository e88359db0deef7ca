import math


def score(x, y, kind="soft"):
    """Ternaries, short circuits, chained comparisons and walrus."""
    scale = x or 1.0
    if (ratio := y / scale) > 0.5 and 0.0 < x < 3.0:
        ratio = ratio**2
    bonus = math.log1p(ratio) if kind == "soft" else ratio
    return bonus * scale - min(x, y, 2.0)


ARGS = (1.4, 0.9)
WRT = ("x", "y")
