"""The adjoint of an argument with fields is one adjoint for each of them, where that is all it is.

s_bar = support.zeros(s)                   k_bar = 0.0
...                                        ...
support.attr_add(s_bar, "k", g * x)   ->   k_bar += g * x
...                                        ...
return support.gradient(s_bar, s)          return support.gradient_of_fields({"k": k_bar}, s)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.ir import asts
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn

Leaves = tuple[tuple[Any, ty.Type], ...]


def split_records(function: ast.FunctionDef) -> None:
    """Give the fields of dicts, dataclasses and namedtuples adjoints of their own, in place."""
    for s in function.body:
        calls = asts.walk(s.value) if isinstance(s, ast.Return) and s.value else ()
        for node in list(calls):
            t = getattr(node, "srcgrad_type", None)
            match node:
                case ast.Call(_, [ast.Name(bar), ast.Name(name)]) if t is not None:
                    record = _record(function, bar, name, t)
                    if record is not None:
                        record.split(node)


@dataclass
class _Record:
    function: ast.FunctionDef
    bar: str
    name: str
    type: ty.Type
    leaves: Leaves
    made: ast.stmt
    additions: list[tuple[list[ast.stmt], ast.stmt, Any, ast.expr]]

    def split(self, result: ast.Call) -> None:
        taken = asts.names(self.function) | {a.arg for a in _arguments(self.function)}
        kinds = dict(self.leaves)
        added = {key for _, _, key, _ in self.additions}
        names: dict[Any, str] = {}
        for key, _ in self.leaves:
            if key in added:
                names[key] = self._fresh(str(self._field(key)), taken)
                taken.add(names[key])
        for block, s, key, value in self.additions:
            made = syn.augment(names[key], ast.Add(), value)
            vars(made).update({k: v for k, v in vars(s).items() if k.startswith("srcgrad_")})
            if isinstance(kinds[key], ty.Number):
                vars(made)["srcgrad_number"] = True
            block[block.index(s)] = made
        for key, t in reversed(self.leaves):
            if key in added:
                self._begin(names[key], key, t)
        self.function.body.remove(self.made)
        self._gather(result, names)

    def _begin(self, name: str, key: Any, t: ty.Type) -> None:
        """Begin an adjoint with the first addition, or with zeros where all of it was made."""
        body = self.function.body
        first = next(s for s in body if name in asts.names(s))
        number = isinstance(t, ty.Number)
        whole = number or hasattr(first, "srcgrad_thin")
        if not (isinstance(first, ast.AugAssign) and whole):
            body.insert(body.index(self.made), self._begun(name, key, t))
            return
        value = syn.negative(first.value) if isinstance(first.op, ast.Sub) else first.value
        if not number:
            value = ast.Call(ast.Attribute(value, "copy", ast.Load()), [], [])
        made = syn.assign(name, value)
        vars(made).update({k: v for k, v in vars(first).items() if k.startswith("srcgrad_")})
        body[body.index(first)] = made

    def _field(self, key: Any) -> Any:
        """The name of a field of a namedtuple, whose leaves are numbered."""
        return self.type.cls._fields[key] if isinstance(self.type, ty.Tuple) else key  # type: ignore[attr-defined]

    def _fresh(self, key: str, taken: set[str]) -> str:
        plain = key.isidentifier() and key not in taken and f"{key}_bar" not in taken
        base = f"{key}_bar" if plain else f"{self.name}_{key}_bar"
        found, k = base, 1
        while found in taken or not found.isidentifier():
            k += 1
            found = f"{self.name}_bar_{k}"
        return found

    def _place(self, key: Any) -> ast.expr:
        if isinstance(self.type, ty.Dict | ty.Tuple):
            return syn.expr("x[k]", x=syn.name(self.name), k=syn.number(key))
        return ast.Attribute(syn.name(self.name), key, ast.Load())

    def _begun(self, name: str, key: Any, t: ty.Type) -> ast.stmt:
        if isinstance(t, ty.Number):
            made = syn.assign(name, ast.Constant(0.0))
            vars(made)["srcgrad_number"] = True
            return made
        return syn.assign(name, syn.expr("np.zeros(x.shape, x.dtype)", x=self._place(key)))

    def _gather(self, result: ast.Call, names: dict[Any, str]) -> None:
        """The adjoints as an object of the argument's kind."""
        parts: list[ast.expr] = []
        for key, _ in self.leaves:
            parts.append(syn.name(names[key]) if key in names else syn.number(None))
        if isinstance(self.type, ty.Tuple):
            result.args[0] = syn.tuple_of(parts)
            return
        keys: list[ast.expr | None] = [syn.number(key) for key, _ in self.leaves]
        gathered = ast.Dict(keys, parts)
        arrays = all(isinstance(t, ty.Array) for _, t in self.leaves)
        if isinstance(self.type, ty.Dict) and arrays and len(names) == len(keys):
            self._put(result, gathered)  # with arrays of its own already
            return
        result.args[0] = gathered
        if isinstance(self.type, ty.Object):
            result.func = syn.expr("support.gradient_of_fields")

    def _put(self, result: ast.Call, made: ast.expr) -> None:
        for s in self.function.body:
            if isinstance(s, ast.Return) and s.value is not None:
                s.value = asts.changed(s.value, {ast.Call: lambda n: made if n is result else n})


def _record(function: ast.FunctionDef, bar: str, name: str, t: ty.Type) -> _Record | None:
    """What a function does with the adjoint of an argument, if it only adds to fields."""
    leaves = _leaves(t)
    if leaves is None:
        return None
    kinds = dict(leaves)
    made: list[ast.stmt] = []
    additions = []
    for block in syn.blocks(function.body):
        for s in block:
            if name in syn.names_bound(s):
                return None
            if bar not in asts.names(s) or _has_blocks(s):
                continue
            found = _addition(s, bar)
            if found is not None:
                key, value = found
                if isinstance(t, ty.Tuple) and isinstance(key, str):
                    key = t.cls._fields.index(key)  # type: ignore[attr-defined]
                if not _is_floating(kinds.get(key)) or bar in asts.names(value):
                    return None
                additions.append((block, s, key, value))
            elif block is function.body and _makes_zeros(s, bar, name):
                made.append(s)
            elif not isinstance(s, ast.Return) or _mentions(s, bar) != 1:
                return None
    if len(made) != 1 or not additions:
        return None
    return _Record(function, bar, name, t, leaves, made[0], additions)


def _leaves(t: ty.Type) -> Leaves | None:
    """The fields of a record, none of which has parts itself."""
    found: Leaves
    match t:
        case ty.Dict(items) if items is not None:
            found = items
        case ty.Object(_, fields) if fields is not None:
            found = fields
        case ty.Tuple(items, cls) if cls is not tuple and hasattr(cls, "_fields"):
            found = tuple(enumerate(items))
        case _:
            return None
    plain = all(isinstance(leaf, _PLAIN) for _, leaf in found)
    return found if plain and all(isinstance(k, str | int) for k, _ in found) else None


_PLAIN = ty.Number | ty.Array | ty.Literal | ty.Other


def _is_floating(t: ty.Type | None) -> bool:
    match t:
        case ty.Number(cls):
            return issubclass(cls, float)
        case ty.Array(dtype, dims):
            return bool(dims) and dtype == np.float64
    return False


def _addition(s: ast.stmt, bar: str) -> tuple[Any, ast.expr] | None:
    match s:
        case ast.Expr(
            ast.Call(
                ast.Attribute(ast.Name("support"), "attr_add"),
                [ast.Name(name), ast.Constant(key), value],
            )
        ) if name == bar:
            return key, value
        case ast.AugAssign(
            ast.Subscript(ast.Name(name), ast.Constant(key)), ast.Add() | ast.Sub() as op, value
        ) if name == bar:
            return key, syn.negative(value) if isinstance(op, ast.Sub) else value
    return None


def _makes_zeros(s: ast.stmt, bar: str, name: str) -> bool:
    match s:
        case ast.Assign(
            [ast.Name(made)],
            ast.Call(ast.Attribute(ast.Name("support"), "zeros"), [ast.Name(like)]),
        ):
            return made == bar and like == name
    return False


def _has_blocks(s: ast.stmt) -> bool:
    """Whether a statement has statements in it, and no mention outside of them matters."""
    return isinstance(s, ast.For | ast.If | ast.While | ast.With | ast.Try)


def _mentions(s: ast.stmt, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for n in asts.walk(s))


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    return [a for a in asts.walk(function.args) if isinstance(a, ast.arg)]


__all__ = ["split_records"]
