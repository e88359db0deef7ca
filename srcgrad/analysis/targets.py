"""What a call calls, once the types are known."""

from __future__ import annotations

from dataclasses import dataclass

from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry


@dataclass(frozen=True)
class Packed:
    """Arguments gathered for `*args` (kind tuple) or `**kwargs` (kind dict, with keys)."""

    kind: str
    items: tuple[ir.Atom | ir.Star, ...]
    keys: tuple[str | None, ...] = ()


Bound = ir.Atom | Packed


def bound_atoms(bound: Bound) -> tuple[ir.Atom, ...]:
    """The atoms of one bound argument."""
    if isinstance(bound, Packed):
        return tuple(ir.unstar(i) for i in bound.items)
    return (bound,)


@dataclass(frozen=True)
class Library:
    """A function with a rule; `args` by parameter, in the order written."""

    entry: Entry
    args: tuple[tuple[str, Bound], ...]
    positional: bool = True  # were all arguments given by position or name of the signature
    source: User | None = None  # a function with a user's rule: the call without the rule
    opaque: bool = False  # a Python function with a user's rule that can't be followed
    called: Library | None = None  # of a user's rule that is written out: as it would be called


def writes_argument(call: Library) -> bool:
    """Whether a call is given an array to write into (`out=` and the like)."""
    return any(n in call.entry.writes and b != ir.Const(None) for n, b in call.args)


@dataclass(frozen=True)
class User:
    """A function with source: `args` are all of its parameters in order, then its captured
    variables."""

    fn: ir.Function
    args: tuple[Bound, ...]
    closure: ir.Atom | None = None  # the closure value whose parts follow the parameters
    types: tuple[ty.Type, ...] = ()


def chooses(call: object) -> bool:
    """Whether a call gives one of its arguments: max or min of several."""
    if not isinstance(call, Library) or call.entry.view == "never":
        return False
    return call.entry.target is max or call.entry.target is min


@dataclass(frozen=True)
class Container:
    """A method of a list, dict or tuple that the compiler knows: append, extend, pop, get, ..."""

    name: str


@dataclass(frozen=True)
class Construct:
    """An instance of a class whose fields are its arguments: namedtuple or plain dataclass."""

    cls: type
    fields: tuple[str, ...]
    args: tuple[Bound, ...]


@dataclass(frozen=True)
class Constant:
    """The value of an attribute or call known when compiling (a class attribute, a bound
    method)."""

    type: ty.Type


@dataclass(frozen=True)
class Uncharted:
    """A call into something without rule and source; `why` says what was tried."""

    what: str
    why: str
    pending: bool = False  # the next form of the function says it in another way

    @property
    def text(self) -> str:
        """As a message goes on: no derivative rule for ..."""
        return f"{self.what}: {self.why}" if self.why else self.what

    @property
    def fixes(self) -> list[str]:
        """What can be done; a rule can be given only for what has a name.

        >>> Uncharted("the method e", "its object is not known").fixes
        ['mark the value constant with srcgrad.stop_gradient(...)']
        """
        if self.what in ("iter", "next"):
            return ["take the items of a list by their index"]
        named = all(part.isidentifier() for part in self.what.split("."))
        rule = [f"give a rule with @srcgrad.rule({self.what})"] if named else []
        return [*rule, "mark the value constant with srcgrad.stop_gradient(...)"]


UNNAMED = Uncharted("this operation", "")
Target = Library | User | Container | Construct | Constant | Uncharted
