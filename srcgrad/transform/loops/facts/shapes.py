"""The extents of arrays as far as they can be told from the text of a function."""

from __future__ import annotations

import ast
from collections import Counter

from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.tapes import plus_one
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.order import descends, plain_number

Extent = str  # two extents with the same text are the same number


class Shapes:
    """The extents of the arrays of a function, in a form that can be compared."""

    def __init__(self, fn: Function) -> None:
        self.times = fn.bindings - Counter(_added_to_arrays(fn))
        self.values: dict[str, ast.expr] = {}  # of names that are bound once, at the top
        for s in fn.node.body:
            match s:
                case ast.Assign([ast.Name(name)], value) if self.times[name] == 1:
                    self.values[name] = value
                case ast.Assign([ast.Tuple(names)], value):
                    for d, n in enumerate(names):
                        if isinstance(n, ast.Name) and self.times[n.id] == 1:
                            self.values[n.id] = ast.Subscript(value, ast.Constant(d), ast.Load())

    def extent(self, e: ast.expr) -> Extent:
        """A number of elements, whose text is the same for the same number."""
        match e:
            case ast.Name(name) if name in self.values:
                return self.extent(self.values[name])
            case ast.Call(ast.Name("max"), [inner, ast.Constant(0)]) | ast.Call(
                ast.Name("int"), [inner]
            ):
                return self.extent(inner)
            case ast.Subscript(ast.Name(name), key) if name in self.values:
                return self.extent(ast.Subscript(self.values[name], key, ast.Load()))
            case ast.Subscript(ast.Attribute(ast.Name(array), "shape"), ast.Constant(int(d))):
                whole = self.shape(array)
                if whole is not None and d < len(whole):
                    return whole[d]
                return f"{self.origin(array)}.shape[{d}]"
            case ast.Call(ast.Name("len"), [ast.Name() as array]):
                shape = ast.Attribute(array, "shape", ast.Load())
                return self.extent(ast.Subscript(shape, ast.Constant(0), ast.Load()))
            case ast.BinOp(left, op, right):
                return f"({self.extent(left)} {type(op).__name__} {self.extent(right)})"
            case ast.Constant(value):
                return repr(value)
            case ast.Name(name) if self.times[name] == 1:
                return name
        return f"?{id(e)}"

    def shape(self, array: str) -> list[Extent] | None:
        """The extents of an array that is made in this function; None of one that came in."""
        match self.values.get(array):
            case ast.Call(ast.Attribute(ast.Name("np"), "empty" | "zeros"), [shape, *_]):
                match shape:
                    case ast.Tuple(items):
                        return [self.extent(i) for i in items]
                    case ast.Attribute(ast.Name(other), "shape"):
                        return self.shape(other)
                return [self.extent(shape)]
            case ast.Call(ast.Attribute(ast.Name(other), "copy"), []):
                return self.shape(other)
        return None

    def origin(self, array: str) -> str:
        """The array that came in whose shape this one has."""
        match self.values.get(array):
            case ast.Call(
                ast.Attribute(ast.Name("np"), "empty" | "zeros"),
                [ast.Attribute(ast.Name(other), "shape"), *_],
            ) | ast.Call(ast.Attribute(ast.Name(other), "copy"), []):
                return self.origin(other)
        return array if self.times[array] == 1 else f"?{array}"

    def covers(self, array: str, d: int, loop: ast.For) -> bool:
        """Whether a counter runs through all indices of a dimension."""
        match loop.iter:
            case ast.Call(ast.Name("range"), [stop], []):
                pass
            case ast.Call(ast.Name("range"), [high, last, _], []) if descends(loop):
                if not syn.is_number(plus_one(plain_number(last)), 0):
                    return False
                stop = plus_one(high)
            case _:
                return False
        shape = ast.Attribute(syn.name(array), "shape", ast.Load())
        wanted = ast.Subscript(shape, ast.Constant(d), ast.Load())
        return self.extent(wanted) == self.extent(stop)


def _added_to_arrays(fn: Function) -> list[str]:
    """The names of arrays that are made here, for each addition in place to one, which leaves it
    what it is."""
    made: set[str] = set()
    for s in fn.node.body:
        match s:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(_, "zeros" | "empty"))):
                made.add(name)
    targets = [s.target for s in fn.statements if isinstance(s, ast.AugAssign)]
    return [t.id for t in targets if isinstance(t, ast.Name) and t.id in made]


__all__ = ["Shapes"]
