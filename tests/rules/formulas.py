"""Evaluates the formulas of rules: their values, and their derivatives by other rules.

`dual` runs a formula in forward mode with the rules of the functions it calls, which is what the
compiler does when it differentiates generated text again.
"""

from __future__ import annotations

import ast
import inspect
import math
from typing import Any

import numpy as np
from scipy import linalg, signal, special

from srcgrad.rules import registry
from srcgrad.rules.python import OPERATORS
from srcgrad.rules.registry import Entry
from srcgrad.runtime import support

SCOPE = {
    "np": np,
    "math": math,
    "support": support,
    "special": special,
    "linalg": linalg,
    "signal": signal,
}


# ---- trees of numbers --------------------------------------------------------


def is_active(x: Any) -> bool:
    """Whether a value has floating parts."""
    if isinstance(x, list | tuple):
        return any(map(is_active, x))
    if isinstance(x, dict):
        return any(map(is_active, x.values()))
    if isinstance(x, float | complex | np.inexact):
        return True
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def tree_map(f: Any, x: Any, *others: Any) -> Any:
    """f of each floating leaf; None for what has none."""
    if not is_active(x):
        return None
    if isinstance(x, list | tuple):
        parts = [tree_map(f, *each) for each in zip(x, *others, strict=True)]
        return rebuilt(x, parts)
    if isinstance(x, dict):
        return {k: tree_map(f, x[k], *(o[k] for o in others)) for k in x}
    return f(x, *others)


def rebuilt(x: Any, parts: list[Any]) -> Any:
    """A sequence like x of other parts."""
    if isinstance(x, list):
        return parts
    return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)


def leaves(x: Any) -> list[Any]:
    if isinstance(x, list | tuple):
        return [leaf for part in x for leaf in leaves(part)]
    if isinstance(x, dict):
        return [leaf for part in x.values() for leaf in leaves(part)]
    return [] if x is None else [x]


def random_like(x: Any, rng: np.random.Generator) -> Any:
    """A random value for each floating leaf; zero where the leaf is not finite."""

    def draw(leaf: Any) -> Any:
        value = rng.standard_normal(np.shape(leaf))
        if np.iscomplexobj(leaf):
            value = value + 1j * rng.standard_normal(np.shape(leaf))
        value = np.where(np.isfinite(leaf), value, 0.0)
        return value if isinstance(leaf, np.ndarray) else type(leaf)(value[()])

    return tree_map(draw, x)


def moved(x: Any, step: float, direction: Any) -> Any:
    """x + step * direction; what is not floating stays."""

    if direction is None:
        return x

    def move(leaf: Any, d: Any) -> Any:
        value = leaf + step * d
        return np.asarray(value) if isinstance(leaf, np.ndarray) else type(leaf)(value)

    if isinstance(x, list | tuple):
        return rebuilt(x, [moved(a, step, d) for a, d in zip(x, direction, strict=True)])
    if isinstance(x, dict):
        return {k: moved(x[k], step, direction[k]) for k in x}
    return move(x, direction) if is_active(x) else x


def pairing(cotangent: Any, tangent: Any) -> float:
    """The real pairing of a cotangent with a tangent."""
    if cotangent is None or tangent is None:
        return 0.0
    if isinstance(tangent, list | tuple):
        return sum(pairing(c, t) for c, t in zip(cotangent, tangent, strict=True))
    if isinstance(tangent, dict):
        return sum(pairing(cotangent[k], tangent[k]) for k in tangent)
    return float(np.sum(np.real(np.asarray(cotangent) * np.asarray(tangent))))


def precision(x: Any) -> float:
    """The coarsest precision of the parts of a value."""
    found = [np.finfo(np.asarray(v).dtype).eps for v in leaves(x) if is_active(v)]
    return max([2.3e-16, *map(float, found)])


def differences(f: Any) -> Any:
    """df/ds at s = 0 by central differences, extrapolated twice."""
    h = max(2e-3, precision(f(0.0)) ** 0.2)

    def central(step: float) -> Any:
        return tree_map(lambda a, b: (a - b) / (2.0 * step), f(step), f(-step))

    one, two, four = central(h), central(h / 2), central(h / 4)
    first = tree_map(lambda a, b: (4.0 * b - a) / 3.0, one, two)
    second = tree_map(lambda a, b: (4.0 * b - a) / 3.0, two, four)
    return tree_map(lambda a, b: (16.0 * b - a) / 15.0, first, second)


# ---- a call of an entry ------------------------------------------------------


class Sample:
    """An entry at one of its sample points."""

    def __init__(self, entry: Entry, point: Any) -> None:
        pair = len(point) == 2 and isinstance(point[0], tuple) and isinstance(point[1], dict)
        args, kwargs = point if pair else (point, {})
        assert entry.params is not None, f"{entry.name} has no signature"
        self.entry = entry
        self.given = entry.params.bind(*args, **kwargs)

    @property
    def arguments(self) -> dict[str, Any]:
        return self.given.arguments

    def active(self) -> list[str]:
        return [p for p, v in self.arguments.items() if is_active(v)]

    def replaced(self, **values: Any) -> Sample:
        new = object.__new__(Sample)
        new.entry = self.entry
        new.given = inspect.BoundArguments(
            self.given.signature, {**self.given.arguments, **values}
        )
        return new

    def call(self) -> Any:
        copies = {p: copied(v) for p, v in self.arguments.items()}
        given = inspect.BoundArguments(self.given.signature, copies)
        with np.errstate(all="ignore"):
            return self.entry.target(*given.args, **given.kwargs)

    def environment(self, **more: Any) -> dict[str, Any]:
        full = inspect.BoundArguments(self.given.signature, dict(self.arguments))
        full.apply_defaults()
        return {**full.arguments, **more}


def copied(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, list):
        return [copied(v) for v in x]
    return tuple(map(copied, x)) if type(x) is tuple else x


def evaluate(entry: Entry, text: str, names: dict[str, Any]) -> Any:
    """The value of a formula of this entry."""
    scope = _Lazy(entry, names)
    with np.errstate(all="ignore"):
        return eval(compile(text, entry.name, "eval"), {}, scope)


class _Lazy(dict[str, Any]):
    """Names bound by `let` are evaluated when they are asked for."""

    def __init__(self, entry: Entry, names: dict[str, Any]) -> None:
        super().__init__({**SCOPE, **names})
        self.entry = entry

    def __missing__(self, name: str) -> Any:
        if name not in self.entry.let:
            raise KeyError(name)
        self[name] = eval(compile(self.entry.let[name].text, name, "eval"), {}, self)
        return self[name]


def reverse(sample: Sample, param: str, g: Any, out: Any) -> Any:
    """The cotangent of one argument, as the compiler would have it."""
    entry = sample.entry
    names = sample.environment()
    x = names[param]
    if entry.kind == "function":
        assert entry.fn is not None
        parts = entry.fn(g, out, *sample.given.args, **sample.given.kwargs)
        parts = parts if isinstance(parts, tuple) else (parts,)
        return parts[list(sample.arguments).index(param)]
    formula = entry.vjps[param]
    assert formula is not None
    value = evaluate(entry, formula.text, {**names, "g": g, "out": out})
    return support.unbroadcast(value, x) if entry.kind == "elementwise" else value


def forward_text(entry: Entry, param: str) -> str | None:
    """The forward formula of an argument, with `<param>_dot`; None for a linear function."""
    if entry.kind == "linear":
        return None
    if entry.kind == "structured":
        formula = entry.jvps.get(param)
        assert formula is not None, f"{entry.name} has no forward rule for {param}"
        return formula.text
    formula = entry.vjps[param]
    assert formula is not None
    tree = ast.parse(formula.text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "g":
            node.id = f"{param}_dot"
    return ast.unparse(tree)


def forward(sample: Sample, param: str, tangent: Any, out: Any) -> Any:
    """The tangent of the result due to one argument."""
    text = forward_text(sample.entry, param)
    if text is None:
        return _linear_forward(sample, param, tangent)
    names = sample.environment(out=out)
    return evaluate(sample.entry, text, {**names, f"{param}_dot": tangent})


def _linear_forward(sample: Sample, param: str, tangent: Any) -> Any:
    """A linear function of the tangent, the other arguments it is linear in being zero."""
    linear = [p for p in sample.arguments if sample.entry.vjps.get(p) is not None]
    values = {p: filled(None, sample.arguments[p]) for p in linear}
    values[param] = filled(tangent, sample.arguments[param])
    return sample.replaced(**values).call()


def filled(tangent: Any, x: Any) -> Any:
    """The tangent with zeros of the right kind for what is not floating."""
    if not is_active(x):
        return x if isinstance(x, list | tuple | str) or x is None else np.multiply(x, 0)
    if isinstance(x, list | tuple):
        parts = [None] * len(x) if tangent is None else tangent
        return rebuilt(x, [filled(t, v) for t, v in zip(parts, x, strict=True)])
    return support.zero_like(x) if tangent is None else tangent


# ---- forward mode over a formula ---------------------------------------------


def _tangent_of(value: Any, tangent: Any) -> Any:
    if tangent is not None or not is_active(value):
        return tangent
    return tree_map(support.zero_like, value)


_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Mod: "mod",
    ast.FloorDiv: "floordiv", ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and",
    ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip
_UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not"}
_PLAIN = ("shape", "size", "ndim", "dtype")

Dual = tuple[Any, Any]  # a value and its tangent, None when it has none


class Forward:
    """Evaluates an expression with tangents, by the rules of what it calls."""

    def __init__(
        self,
        entry: Entry | None,
        names: dict[str, Any],
        tangents: dict[str, Any],
        scope: dict[str, Any] | None = None,
    ) -> None:
        self.entry = entry
        self.scope = SCOPE if scope is None else scope
        self.names: dict[str, Dual] = {k: (v, tangents.get(k)) for k, v in names.items()}

    def text(self, text: str) -> Dual:
        with np.errstate(all="ignore"):
            return self.value(ast.parse(text, mode="eval").body)

    def value(self, node: ast.expr) -> Dual:
        match node:
            case ast.Constant(value):
                return value, None
            case ast.Name(name):
                return self.name(name)
            case ast.UnaryOp(op, operand):
                operand_value = [self.value(operand)]
                return self.apply(OPERATORS[_UNARY[type(op)]], operand_value, node)
            case ast.BinOp(left, op, right):
                operands = [self.value(left), self.value(right)]
                return self.apply(OPERATORS[_BINARY[type(op)]], operands, node)
            case ast.Compare() | ast.BoolOp():
                return self.plain(node), None
            case ast.IfExp(test, body, orelse):
                return self.value(body if self.plain(test) else orelse)
            case ast.Tuple(items) | ast.List(items):
                return self.display(node, items)
            case ast.Subscript(value, index):
                x, t = self.value(value)
                key = self.plain(index)
                return x[key], None if t is None else t[key]
            case ast.Attribute(value, name):
                return self.attribute(value, name)
            case ast.Call(ast.Attribute(ast.Name(name), "pop"), []):
                items, tangents = self.names[name]
                self.names[name] = items[:-1], None if tangents is None else tangents[:-1]
                return items[-1], None if tangents is None else tangents[-1]
            case ast.Call():
                return self.call(node)
        raise AssertionError(f"no formula may contain {ast.dump(node)}")

    def block(self, body: list[ast.stmt]) -> Dual | None:
        """Runs statements; the result when one of them returns."""
        for stmt in body:
            result = self.statement(stmt)
            if result is not None:
                return result
        return None

    def statement(self, stmt: ast.stmt) -> Dual | None:
        match stmt:
            case ast.Return(value) if value is not None:
                return self.value(value)
            case ast.If(test, then, orelse):
                return self.block(then if self.plain(test) else orelse)
            case ast.Assign([target], value):
                self.bind(target, *self.value(value))
            case ast.AugAssign(ast.Name(name), op, value):
                self.bind(stmt.target, *self.value(ast.BinOp(ast.Name(name), op, value)))
            case ast.For(ast.Name(name), iterable, body):
                for item in self.plain(iterable):
                    self.names[name] = item, None
                    result = self.block(body)
                    if result is not None:
                        return result
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [item])):
                self.append(name, *self.value(item))
            case ast.Expr(value):  # a docstring or a check
                self.plain(value)
            case _:
                raise AssertionError(f"a helper without a rule has {ast.unparse(stmt)}")
        return None

    def append(self, name: str, item: Any, tangent: Any) -> None:
        items, tangents = self.names[name]
        tangents = [None] * len(items) if tangents is None else tangents
        self.names[name] = [*items, item], [*tangents, tangent]

    def bind(self, target: ast.expr, value: Any, tangent: Any) -> None:
        match target:
            case ast.Name(name):
                self.names[name] = value, tangent
            case ast.Tuple(items):
                tangents = [None] * len(items) if tangent is None else tangent
                for item, v, t in zip(items, value, tangents, strict=True):
                    self.bind(item, v, t)
            case _:
                raise AssertionError(f"a helper without a rule stores {ast.unparse(target)}")

    def name(self, name: str) -> Dual:
        if name in self.names:
            return self.names[name]
        if self.entry is not None and name in self.entry.let:
            self.names[name] = self.value(self.entry.let[name].node)
            return self.names[name]
        return self.plain(ast.Name(name, ast.Load())), None

    def plain(self, node: ast.expr) -> Any:
        for name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
            if self.entry is not None and name in self.entry.let:
                self.name(name)
        local = {k: v for k, (v, _) in self.names.items()}
        tree = ast.fix_missing_locations(ast.Expression(node))
        return eval(compile(tree, "formula", "eval"), {**self.scope, **local})

    def display(self, node: ast.expr, items: list[ast.expr]) -> Dual:
        parts = [self.value(item) for item in items]
        kind: Any = tuple if isinstance(node, ast.Tuple) else list
        values = kind(v for v, _ in parts)
        if all(t is None for _, t in parts):
            return values, None
        return values, kind(_tangent_of(v, t) for v, t in parts)

    def attribute(self, value: ast.expr, name: str) -> Dual:
        x, t = self.value(value)
        result = getattr(x, name)
        if t is None or name in _PLAIN:
            return result, None
        if isinstance(x, tuple):
            return result, t[x._fields.index(name)]
        assert name in ("T", "mT", "real", "imag"), f"no rule for the attribute {name}"
        return result, getattr(np.asarray(t), name)

    def call(self, node: ast.Call) -> Dual:
        if isinstance(node.func, ast.Attribute):
            owner, tangent = self.value(node.func.value)
            if isinstance(owner, np.ndarray | np.generic):
                method = getattr(np.ndarray, node.func.attr)
                rest = self.arguments(node)
                return self.apply(method, [(owner, tangent), *rest[0]], None, rest[1])
        args, kwargs = self.arguments(node)
        return self.apply(self.plain(node.func), args, None, kwargs)

    def arguments(self, node: ast.Call) -> tuple[list[Dual], dict[str, Dual]]:
        args: list[Dual] = []
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                values, tangents = self.value(arg.value)
                tangents = [None] * len(values) if tangents is None else tangents
                args += list(zip(values, tangents, strict=True))
            else:
                args.append(self.value(arg))
        return args, {k.arg or "": self.value(k.value) for k in node.keywords}

    def apply(
        self,
        fn: Any,
        args: list[Dual],
        node: ast.BinOp | ast.UnaryOp | None = None,
        kwargs: dict[str, Dual] | None = None,
    ) -> Dual:
        kwargs = kwargs or {}
        if registry.lookup(fn) is None and inspect.isfunction(fn):
            from sources import called

            return called(fn, args, kwargs)
        if node is None:
            result = fn(*(v for v, _ in args), **{k: v for k, (v, _) in kwargs.items()})
        else:  # numbers stay Python's, which np.add does not promise
            result = _operate(node, [v for v, _ in args])
        if all(t is None for _, t in [*args, *kwargs.values()]):
            return result, None
        return result, derivative(fn, args, kwargs, result)


def _operate(node: ast.BinOp | ast.UnaryOp, values: list[Any]) -> Any:
    names = [ast.Name(f"x{k}") for k in range(len(values))]
    again: ast.expr = (
        ast.BinOp(names[0], node.op, names[1])
        if isinstance(node, ast.BinOp)
        else ast.UnaryOp(node.op, names[0])
    )
    return eval(ast.unparse(again), {f"x{k}": v for k, v in enumerate(values)})


def derivative(fn: Any, args: list[Dual], kwargs: dict[str, Dual], out: Any) -> Any:
    """The tangent of a call, by the function's rule."""
    entry = registry.lookup(fn)
    if entry is None:
        return _from_source(fn, args, kwargs)
    entry = registry.for_call(entry, len(args))
    if entry.kind == "nondiff":
        return None
    values = Sample(entry, (tuple(v for v, _ in args), {k: v for k, (v, _) in kwargs.items()}))
    assert entry.params is not None
    tangents = entry.params.bind(*(t for _, t in args), **{k: t for k, (_, t) in kwargs.items()})
    total = None
    for param, tangent in tangents.arguments.items():
        if tangent is None or param in entry.zero:
            continue
        if entry.params.parameters[param].kind is inspect.Parameter.VAR_POSITIONAL:
            if all(t is None for t in tangent):
                continue
        assert entry.vjps.get(param) is not None, f"{entry.name} has no rule for {param}"
        part = forward(values, param, tangent, out)
        total = part if total is None else tree_sum(total, part)
    return total


def _from_source(fn: Any, args: list[Dual], kwargs: dict[str, Dual]) -> Any:
    """The tangent of a helper that has no rule of its own, statement by statement."""
    name = registry.name_of(fn)
    assert name.startswith("srcgrad.runtime.support"), f"a formula calls {name}, without a rule"
    signature = inspect.signature(fn)
    values = signature.bind(*(v for v, _ in args), **{k: v for k, (v, _) in kwargs.items()})
    values.apply_defaults()
    tangents = signature.bind(*(t for _, t in args), **{k: t for k, (_, t) in kwargs.items()})
    (definition,) = ast.parse(inspect.getsource(fn)).body
    assert isinstance(definition, ast.FunctionDef)
    run = Forward(None, values.arguments, tangents.arguments, fn.__globals__)
    result = run.block(definition.body)
    assert result is not None, f"{name} returns nothing"
    return result[1]


def tree_sum(a: Any, b: Any) -> Any:
    if isinstance(a, str) or a is ...:
        return a
    if isinstance(a, list | tuple):
        return rebuilt(a, [tree_sum(x, y) for x, y in zip(a, b, strict=True)])
    if a is None or b is None:
        return a if b is None else b
    return a + b
