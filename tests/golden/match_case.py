import math


def area(shape, size):
    match shape:
        case "circle":
            return math.pi * size * size
        case ("rectangle", ratio):
            return ratio * size * size
        case _:
            return 0.0


ARGS = (("rectangle", 1.6), 2.0)
WRT = "size"
