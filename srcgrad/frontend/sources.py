"""What a loop runs over: how many items there are, and the item at each position.

`enumerate`, `zip`, `reversed` and the methods of dictionaries combine sources, so that no list of
tuples is made at run time.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from srcgrad.frontend.bindings import names_in
from srcgrad.frontend.expressions import operands
from srcgrad.frontend.functions import function_atom
from srcgrad.frontend.resolve import builtin, callee, fold, helper, numpy_function
from srcgrad.frontend.scope import Scope, atom, ref
from srcgrad.frontend.targets import Several, Value, assign_to
from srcgrad.ir.nodes import Atom, Attr, Call, Const, Expr, Index, Method, Op, Var
from srcgrad.rules import sources

_ENDLESS = (itertools.count, itertools.cycle, itertools.repeat)
# Iterators that take all of their arguments' items when made, and those that read on as they go.
_COMBINING = (
    np.ndindex,
    itertools.combinations,
    itertools.combinations_with_replacement,
    itertools.permutations,
    itertools.product,
)
_STEPPING = (builtins.zip, itertools.chain, itertools.pairwise, itertools.zip_longest)
Bounds = tuple[Atom, Atom, Atom]


@dataclass(frozen=True)
class Source:
    """Something to loop over.

    `item(position)` is the item at a position, made where it is asked for.  `bounds` are those of
    the counted loop, from 0 to `length()` when None; `value(index)` is what its index stands for.
    """

    length: Callable[[], Atom]
    item: Callable[[Atom], Value]
    bounds: Bounds | None = None
    value: Callable[[Atom], Value] | None = None
    numbered: Callable[[Atom], Value] | None = (
        None  # `enumerate` from 0: the items without numbers
    )
    parallel: bool = False  # Numba's `prange`

    @property
    def is_range(self) -> bool:
        return self.bounds is not None and self.value is None


def source_of(scope: Scope, node: ast.expr) -> Source:
    """What the iterable of a `for` or of a comprehension gives."""
    generator = as_generator(scope, node)
    if generator is not None:
        return _generated(scope, generator)
    special = _call_source(scope, node) if isinstance(node, ast.Call) else None
    return _sequence(scope, node) if special is None else special


def _call_source(scope: Scope, node: ast.Call) -> Source | None:
    target = callee(scope, node.func)
    if any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    if target is itertools.repeat and len(node.args) == 2 and not node.keywords:
        repeated, count = _held(scope, node.args[0]), atom(scope, node.args[1])
        return Source(lambda: count, lambda at: repeated)
    if target in _ENDLESS:
        raise scope.refusal(node, "this iterator may have no end", "loop over a range")
    if _is_prange(target):
        made = _range(scope, node)
        return None if made is None else replace(made, parallel=True)
    make = _MAKERS.get(target) if isinstance(target, type) else None
    if make is not None:
        return make(scope, node)
    match node:
        case ast.Call(
            func=ast.Attribute(value=base, attr="items" | "keys" | "values" as method),
            args=[],
            keywords=[],
        ) if fold(scope, node.func) is None:
            return _dictionary(scope, base, method)
    return None


def _sequence(scope: Scope, node: ast.expr) -> Source:
    """Anything else is made a sequence that can be indexed, once."""
    if isinstance(node, ast.Attribute) and node.attr == "flat" and fold(scope, node) is None:
        made = Method(atom(scope, node.value), "ravel", ())
        return _indexed(scope, scope.keep(node, made), node)
    found = atom(scope, node)
    if isinstance(node, ast.Tuple | ast.List) and not any(
        isinstance(item, ast.Starred) for item in node.elts
    ):
        count = Const(len(node.elts))
        return Source(lambda: count, lambda at: Index(found, at))
    fresh = isinstance(node, ast.Call) and makes_items(scope, node)
    make = builtin("list") if fresh else helper("sequence")  # nobody else holds the iterator
    return _indexed(scope, scope.keep(node, Call(make, (found,))), node)


def makes_items(scope: Scope, node: ast.Call) -> bool:
    """Whether a call makes an iterator of items, such as `zip`."""
    target = callee(scope, node.func)
    if sources.instead_of(sources.ITERATORS, target) is not None:
        return True
    return any(target is maker for maker in (*_COMBINING, *_STEPPING))


def steps_through(scope: Scope, node: ast.expr) -> frozenset[str]:
    """The names whose contents a loop over this reads step by step, through an iterator."""
    return frozenset().union(
        *(
            names_in(*part.args)
            for part in ast.walk(node)
            if isinstance(part, ast.Call)
            and any(callee(scope, part.func) is maker for maker in _STEPPING)
        )
    )


def _indexed(scope: Scope, items: Atom, node: ast.AST) -> Source:
    def length() -> Atom:
        return scope.keep(node, Call(builtin("len"), (items,)))

    return Source(length, lambda at: Index(items, at))


# ---- ranges --------------------------------------------------------------------------


def _range(scope: Scope, node: ast.Call) -> Source | None:
    if node.keywords or not 1 <= len(node.args) <= 3:
        return None
    args = operands(scope, node.args)
    start = args[0] if len(args) > 1 else Const(0)
    stop = args[1] if len(args) > 1 else args[0]
    step = args[2] if len(args) > 2 else Const(1)

    def length() -> Atom:
        made = scope.keep(node, Call(builtin("range"), args))
        return scope.keep(node, Call(builtin("len"), (made,)))

    def item(at: Atom) -> Value:
        scaled = at if step == Const(1) else scope.keep(node, Op("mul", (at, step)))
        return scaled if start == Const(0) else Op("add", (start, scaled))

    return Source(length, item, (start, stop, step))


def _is_prange(target: Any) -> bool:
    """Whether a name means Numba's `prange`, which is a range where nothing runs in parallel."""
    named = getattr(target, "__name__", ""), getattr(target, "__module__", "")
    return named == ("prange", "numba.misc.special")


def _shifted(scope: Scope, node: ast.AST, value: Atom, by: int) -> Atom:
    if isinstance(value, Const) and isinstance(value.value, int):
        return Const(value.value + by)
    return scope.keep(node, Op("add" if by > 0 else "sub", (value, Const(abs(by)))))


def _reversed(scope: Scope, node: ast.Call) -> Source | None:
    if node.keywords or len(node.args) != 1:
        return None
    inner = source_of(scope, node.args[0])
    if inner.is_range and inner.bounds is not None:
        start, stop, step = inner.bounds
        if isinstance(step, Const) and step.value in (1, -1):
            first = _shifted(scope, node, stop, -step.value)
            end = _shifted(scope, node, start, -step.value)
            length = inner.length
            back = Const(-step.value)

            def from_end(at: Atom) -> Value:
                return Op("sub" if step.value == 1 else "add", (first, at))

            return Source(length, from_end, (first, end, back))
    count = inner.length()
    last = _shifted(scope, node, count, -1)

    def item(at: Atom) -> Value:
        return inner.item(scope.keep(node, Op("sub", (last, at))))

    return Source(lambda: count, item, (last, Const(-1), Const(-1)), inner.item)


# ---- generators ------------------------------------------------------------------------


def as_generator(scope: Scope, node: ast.expr) -> ast.GeneratorExp | None:
    """A generator as it is; `map(f, xs)` as `(f(x) for x in xs)`."""
    if isinstance(node, ast.GeneratorExp):
        return node
    if isinstance(node, ast.Call) and callee(scope, node.func) is builtins.map:
        plain = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
        if plain and len(node.args) >= 2:
            return _mapped(scope, node)
    return None


def _mapped(scope: Scope, node: ast.Call) -> ast.GeneratorExp:
    called = function_atom(scope, node.args[0]) or atom(scope, node.args[0])
    names = [f"item%{k}" for k in range(len(node.args) - 1)]
    stores: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    reads: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
    target = stores[0] if len(stores) == 1 else ast.Tuple(stores, ast.Store())
    zipped = ast.Call(ref(builtin("zip"), node), list(node.args[1:]), [])
    iterable = node.args[1] if len(stores) == 1 else zipped
    call = ast.Call(ref(called, node.args[0]), reads, [])
    for part in (call, zipped, target, *stores, *reads):
        ast.copy_location(part, node)
    made = ast.GeneratorExp(call, [ast.comprehension(target, iterable, [], 0)])
    return ast.copy_location(made, node)


def stored_names(target: ast.expr) -> set[str]:
    """The names that a loop's target binds."""
    return {
        part.id
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


def _generated(scope: Scope, node: ast.GeneratorExp) -> Source:
    """A generator makes each item when the loop asks for it."""
    part = node.generators[0]
    if len(node.generators) > 1 or part.ifs or part.is_async:
        raise scope.refusal(
            node,
            "this generator would run in step with the loop",
            "write a list: [...] instead of (...)",
        )
    inner = source_of(scope, part.iter)
    names = {name: scope.hidden(name) for name in sorted(stored_names(part.target))}
    seen = {**scope.renames, **names}  # not the variables of the loop that asks for the items

    def item(at: Atom) -> Value:
        value = inner.item(at)
        with scope.renamed(seen, keep=False):
            assign_to(scope, part.target, value, part.target)
            return atom(scope, node.elt)

    return Source(inner.length, item)


# ---- combinations ----------------------------------------------------------------------


def _enumerate(scope: Scope, node: ast.Call) -> Source | None:
    given = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "start")]
    if not node.args or len(given) > 1 or any(k.arg != "start" for k in node.keywords):
        return None
    inner = source_of(scope, node.args[0])
    start = atom(scope, given[0]) if given else Const(0)

    def item(at: Atom) -> Value:
        count: Expr = at if start == Const(0) else Op("add", (start, at))
        return Several((count, inner.item(at)))

    return Source(inner.length, item, numbered=inner.item if start == Const(0) else None)


def _zip(scope: Scope, node: ast.Call) -> Source | None:
    strict = False
    for keyword in node.keywords:
        if keyword.arg != "strict" or not isinstance(keyword.value, ast.Constant):
            return None
        strict = bool(keyword.value.value)
    if not node.args:
        return None
    endless = [None if strict else _endless(scope, arg) for arg in node.args]
    if all(endless):
        return None
    sources = [
        source_of(scope, arg) if item is None else Source(lambda: Const(None), item)
        for arg, item in zip(node.args, endless, strict=True)
    ]
    finite = [s for s, item in zip(sources, endless, strict=True) if item is None]

    def length() -> Atom:
        lengths = tuple(source.length() for source in finite)
        if len(lengths) == 1:
            return lengths[0]
        if all(isinstance(n, Const) and n == lengths[0] for n in lengths):
            return lengths[0]
        shortest = helper("equal_lengths") if strict else builtin("min")
        return scope.keep(node, Call(shortest, lengths))

    return Source(length, lambda at: Several(tuple(source.item(at) for source in sources)))


def _held(scope: Scope, node: ast.expr) -> Var:
    """A value that a loop reads each time: in a variable, as temporaries are read once."""
    held = scope.hidden("item")
    scope.assign(node, held, atom(scope, node))
    return held


def _endless(scope: Scope, node: ast.expr) -> Callable[[Atom], Value] | None:
    """The items of `count`, `cycle` and `repeat`, which `zip` takes as many of as it needs."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    target = callee(scope, node.func)
    if target is itertools.repeat and len(node.args) == 1:
        repeated = _held(scope, node.args[0])
        return lambda at: repeated
    if target is itertools.cycle and len(node.args) == 1:
        inner = source_of(scope, node.args[0])
        size = inner.length()
        return lambda at: inner.item(scope.keep(node, Op("mod", (at, size))))
    if target is itertools.count:
        args = operands(scope, node.args)
        start = args[0] if args else Const(0)
        step = args[1] if len(args) > 1 else Const(1)
        return lambda at: Op("add", (start, scope.keep(node, Op("mul", (at, step)))))
    return None


def _dictionary(scope: Scope, node: ast.expr, method: str) -> Source:
    base = atom(scope, node)
    keys = scope.keep(node, Call(helper("sequence"), (base,)))

    def item(at: Atom) -> Value:
        if method == "keys":
            return Index(keys, at)
        found = scope.keep(node, Index(keys, at))
        value = Index(base, found)
        return Several((found, value)) if method == "items" else value

    return Source(_indexed(scope, keys, node).length, item)


def _ndenumerate(scope: Scope, node: ast.Call) -> Source | None:
    if node.keywords or len(node.args) != 1:
        return None
    array = scope.keep(node, Call(numpy_function("asarray"), (atom(scope, node.args[0]),)))
    shape = scope.keep(node, Attr(array, "shape"))
    indices = scope.keep(node, Call(helper("places_in"), (shape,)))

    def item(at: Atom) -> Value:
        index = scope.keep(node, Index(indices, at))
        return Several((index, Index(array, index)))

    return Source(_indexed(scope, indices, node).length, item)


def _ndindex(scope: Scope, node: ast.Call) -> Source | None:
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    lengths = tuple(atom(scope, a) for a in node.args)
    return _indexed(scope, scope.keep(node, Call(helper("places_in"), lengths)), node)


_Maker = Callable[[Scope, ast.Call], Source | None]
_MAKERS: dict[Any, _Maker] = {
    builtins.range: _range,
    builtins.reversed: _reversed,
    builtins.enumerate: _enumerate,
    builtins.zip: _zip,
    np.ndenumerate: _ndenumerate,
    np.ndindex: _ndindex,
}
