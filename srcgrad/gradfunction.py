"""A derivative as users hold it: picks or makes the compiled one for its arguments."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Sequence
from typing import Any, Generic, ParamSpec

from srcgrad import compiled, parcel, quick
from srcgrad.analysis.signature import signature_key
from srcgrad.analysis.types import typeof
from srcgrad.compiled import Compiled, Request
from srcgrad.debug import debugging
from srcgrad.errors import ArgumentError
from srcgrad.ir import types as ty
from srcgrad.primal import Derivative, Primal, primal_of, public_signature
from srcgrad.rules import scope
from srcgrad.runtime import dispatchers, foreign
from srcgrad.wrt import Wrt, as_numbers, check_types, doc_of, gathered, items_of, picker, reach

P = ParamSpec("P")


class GradFunction(Derivative, Generic[P]):
    """A derivative of a function: called like it, specialised to the types of its arguments.

    Made by `grad`, `value_and_grad`, `vjp`, `jvp`.
    """

    def __init__(
        self,
        fn: Any,
        mode: str,
        wrt: Wrt,
        *,
        has_aux: bool = False,
        rules: Any = None,
        backend: str = "numpy",
        specialize: bool = True,
        out: Wrt | None = None,
    ) -> None:
        if backend not in ("numpy", "numba"):
            raise ArgumentError(f"backend must be 'numpy' or 'numba', got {backend!r}")
        self._fn, self._mode, self._wrt = fn, mode, wrt
        self._aux, self._backend, self._specialize = has_aux, backend, specialize
        if isinstance(fn, GradFunction):
            self._options: dict[str, Any] = fn._options
            self._backend = "numba" if fn._backend == "numba" else backend
        else:
            self._options = dispatchers.options_of(fn)
            if dispatchers.dispatcher_of(fn) is not None:
                self._backend = "numba"
        self._rules_given = rules
        self._rules = scope.entries_of(rules) if rules else scope.Scope()
        self._single, self._out = isinstance(wrt, int | str), out
        self._settle()
        self._made: dict[Any, Compiled] = {}
        self._by_types: dict[Any, Compiled] = {}
        self._quick: dict[Any, tuple[Compiled, quick.Quick | None]] = {}
        self._ready: dict[tuple[type, ...], quick.Quick] = {}  # the last of each tuple of classes
        self._lock = threading.RLock()
        self._last: Compiled | None = None
        self.__name__ = self.__qualname__ = f"{self._primal.name}_{mode}"
        self.__module__ = getattr(fn, "__module__", __name__)
        self.__doc__ = doc_of(self._primal.name, mode, self._items)

    def _settle(self) -> None:
        """Find the parameters; again when made anew, for a function's code may be replaced."""
        self._primal: Primal = primal_of(
            self._fn, (self._rules, *scope.active()), reach(self._wrt)
        )
        self._given = self._primal.keywords()
        self._items = items_of(self._primal, self._wrt)
        self._spread = any(i.position is not None or i.key is not None for i in self._items)
        out = () if self._out is None else items_of(self._primal, self._out)
        self._results = tuple(i.param for i in out)
        self.__signature__ = public_signature(self._primal, self._mode)

    # ---- calling ----

    def __call__(self, *given: P.args, **named: P.kwargs) -> Any:
        if given and self._mode in ("vjp", "jvp"):
            first = as_numbers(given[0], given[1:], self._mode)
            given = (first, *given[1:])  # type: ignore[assignment]
        if not named:
            ready = self._ready.get(tuple(map(type, given)))
            if ready is not None and ready.holds(given):
                self._last = ready.made
                try:
                    return ready.function(*given)
                except Exception as error:
                    ready.made.explain(error)
                    raise
        made, args, kwargs = self._prepared(given, named)
        try:
            result = made.function(*args, **kwargs)
        except Exception as error:
            made.explain(error)
            raise
        if made.debug:
            self._examine(given, named)
        return self._finish(result) if self._spread else result

    def _prepared(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Compiled, tuple[Any, ...], dict[str, Any]]:
        """The derivative for a call, and the arguments that its function takes."""
        extra: tuple[Any, ...] = ()
        if self._mode in ("vjp", "jvp"):
            if not args:
                what = "cotangent" if self._mode == "vjp" else "tangents"
                raise ArgumentError(
                    f"{self.__name__} takes the {what} before the arguments of the function"
                )
            extra, args = args[:1], args[1:]
        named = kwargs
        if self._given:
            kwargs = {**self._given, **named}
        scopes = self._scopes()
        key = (signature_key(args, kwargs), scope.token(scopes))
        made = self._made.get(key)
        if made is None or not made.is_current():
            made = self._make(key, args, named, scopes)
            kwargs = {**self._given, **named}  # a partial may give others by now
        elif not kwargs and not self._spread:
            self._quicken(key, made, (*extra, *args), len(extra))
        self._last = made
        if scopes:
            scope.evaluated(scopes, made.used_rules())
        if self._spread and self._mode == "jvp":
            bound = self._primal.signature.bind(*self._primal.full(args), **kwargs)
            bound.apply_defaults()
            each = extra if self._single else tuple(extra[0])
            extra = (gathered(self._items, each, bound.arguments),)
        if made.takes_functions:
            args = tuple(map(made.backend.argument, args))
        return made, (*extra, *self._primal.full(args)), kwargs

    def _quicken(self, key: Any, made: Compiled, given: tuple[Any, ...], extra: int) -> None:
        """Let the next call with such arguments take the quick path, if it can."""
        known = self._quick.get(key)
        if known is None or known[0] is not made:
            path = quick.prepare(made, given, extra, self._primal.full)
            known = self._quick[key] = made, path
        if known[1] is not None:
            self._ready[tuple(map(type, given))] = known[1]

    def _examine(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Under SRCGRAD_DEBUG=1: where the nan or inf of a result was made."""
        from srcgrad import trace

        found = trace.trace_nan(self, *args, **kwargs)
        if found is not None:
            raise trace.NonFiniteDerivative(str(found))

    @property
    def njit(self) -> Any:
        """The Numba dispatcher of the current specialisation, to be called from jitted code.

        Example:
            >>> import numba, srcgrad as sg
            >>> df = sg.grad(numba.njit(lambda x: x * x))
            >>> df(3.0) == df.njit(3.0) == 6.0
            True
        """
        if self._backend != "numba":
            raise ArgumentError(
                f"{self!r} isn't compiled by Numba",
                fixes=['make it with backend="numba", or from a function that is compiled'],
            )
        from srcgrad.runtime import numba as numba_backend

        return numba_backend.lazy(self) if self._last is None else self._any_length(self._last)

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks of an object that jitted code names."""
        from srcgrad.runtime import numba as numba_backend

        return numba_backend.type_of(self)

    def _any_length(self, made: Compiled) -> Any:
        """The function of a specialisation for arrays of any length: a dispatcher tells arrays
        apart by dtype and dimensions alone, and one of length one is broadcast."""
        from srcgrad.analysis.types import dims

        types = tuple(dims.renamed(t, lambda _: "?") for t in made.types)
        if types == made.types:
            return made.function
        key = "numba", types, scope.token(self._scopes())
        loose = self._by_types.get(key)
        if loose is None or not loose.is_current():
            loose = self._by_types[key] = self._compile(types, self._scopes(), "numba")
        return made.function if loose.says_the_same(made) else loose.function

    def _for_numba(self, types: tuple[ty.Type, ...]) -> Compiled:
        """The compiled derivative for types of its own parameters: jitted code calls it."""
        if self._spread:
            raise ArgumentError(
                f"{self!r} can't be called from jitted code: wrt names an item of *args"
            )
        if self._mode in ("vjp", "jvp"):
            types = types[1:]
        bound = tuple(map(typeof.type_of, self._primal.full(())))
        types = (*bound, *types)
        check_types(self._primal, self._items, types)
        made = self._compile(types, self._scopes(), "numba")
        if self._last is None:
            self._last = made
        return made

    def _scopes(self) -> tuple[scope.Scope, ...]:
        """The rules in force for a call here, strongest first."""
        return (self._rules, *scope.active()) if self._rules else scope.active()

    def _finish(self, result: Any) -> Any:
        """The gradients by parameter as those of the items that were asked for."""
        pick = picker(self._items, self._single)
        if self._mode == "jvp":
            return result
        if self._mode == "grad" and not self._aux:
            return pick(result)
        if self._mode == "grad":
            return pick(result[0]), result[1]
        return result[0], pick(result[1])

    def _make(self, key: Any, args: Any, kwargs: Any, scopes: Any) -> Compiled:
        with self._lock:
            made = self._made.get(key)
            if made is not None and made.is_current():
                return made
            if not self._primal.is_current():
                self._settle()
            types = self._types(args, {**self._given, **kwargs})
            check_types(self._primal, self._items, types)
            made = self._compile(types, scopes)
            made.debug = debugging()
            made.takes_functions = made.backend is not None and any(map(inspect.isfunction, args))
            self._made[key] = made
            return made

    def for_types(self, types: tuple[ty.Type, ...]) -> Compiled:
        """The compiled derivative for types of its own parameters (cotangent or tangents first):
        how a derivative is seen through when it is differentiated again."""
        if self._spread:
            raise ArgumentError(
                f"{self!r} can't be differentiated: wrt names an item of *args or **kwargs"
            )
        if self._mode in ("vjp", "jvp"):
            types = types[1:]
        scopes = self._scopes()
        key = (types, scope.token(scopes))
        made = self._by_types.get(key)
        if made is None or not made.is_current():
            check_types(self._primal, self._items, types)
            made = self._by_types[key] = self._compile(types, scopes, "numpy", True)
        return made

    def for_numpy(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Compiled:
        """The derivative for a call as NumPy runs it, whatever compiles it else."""
        if self._mode in ("vjp", "jvp"):
            args = args[1:]
        types = self._types(args, {**self._given, **kwargs})
        return self._compile(types, self._scopes(), "numpy")

    def as_primal(self) -> Primal:
        """This derivative as something to differentiate."""
        return primal_of(self)

    def _compile(
        self, types: tuple[ty.Type, ...], scopes: Any, backend: str = "", seen: bool = False
    ) -> Compiled:
        backend = backend or self._backend
        other = next(filter(None, map(foreign.found_in, types)), "")
        if backend != "numba" and (other or not self._specialize):
            known = tuple(ty.UNKNOWN if foreign.found_in(t) else t for t in types)
            types = self._primal.generic(known)
        inner, target = self._primal.for_types(types, scopes)
        wrt = tuple(dict.fromkeys(i.param for i in self._items))
        spread = len(wrt) != len(self._items) or any(
            i.position is not None or i.key for i in self._items
        )
        single = self._single and not spread
        options = tuple(self._options.items()) if backend == "numba" else ()
        request = Request(
            target, self._mode, wrt, types, self._aux, single, backend, options,
            self._results, not isinstance(self._out, tuple | list), other, not seen,
        )  # fmt: skip
        made = compiled.make(request, scopes)
        made.types = types
        if inner is not None:
            made.requires.append(inner)
        if self._rules:
            scope.evaluated((self._rules,), made.used_rules())
            scope.warn_unused(self._rules.unused())
        return made

    def _types(self, args: Sequence[Any], kwargs: Any) -> tuple[ty.Type, ...]:
        primal = self._primal
        try:
            bound = primal.signature.bind(*primal.full(tuple(args)), **kwargs)
        except TypeError as e:
            raise TypeError(f"{primal.name}: {e}") from None
        bound.apply_defaults()
        return tuple(typeof.type_of(bound.arguments[p]) for p in primal.signature.parameters)

    # ---- looking ----

    @property
    def source(self) -> str:
        """The text of the current specialisation; generic when there is none."""
        if self._last is None:
            types = self._annotated()
            self._last = self._compile(types, self._scopes())
        return self._last.text

    @property
    def sources(self) -> dict[Any, str]:
        """All texts made so far, by signature."""
        return {k[0]: m.text for k, m in self._made.items()}

    @property
    def path(self) -> str:
        """The generated file of the current specialisation."""
        self.source  # noqa: B018 - makes one when there is none
        assert self._last is not None
        return str(self._last.module.__file__)

    def specialize(self, *arguments: Any, **kwargs: Any) -> Any:
        """Make the function for example arguments (or types) without calling it; returns it."""
        kwargs = {**self._given, **kwargs}
        scopes = self._scopes()
        key = (signature_key(arguments, kwargs), scope.token(scopes))
        made = self._made.get(key) or self._make(key, arguments, kwargs, scopes)
        self._last = made
        return made.function

    def _annotated(self) -> tuple[ty.Type, ...]:
        out = []
        hints = self._primal.hints()
        fixed = dict(zip(self._primal.signature.parameters, self._primal.full(()), strict=False))
        for name, p in self._primal.signature.parameters.items():
            if name in fixed:
                out.append(typeof.type_of(fixed[name]))
                continue
            t = typeof.of_parameter(p, hints.get(name, p.annotation))
            out.append(t if t is not None and self._specialize else ty.UNKNOWN)
        return tuple(out)

    def __repr__(self) -> str:
        wrt = ", ".join(i.key or i.param for i in self._items)
        return f"<{self._mode} of {self._primal.name} with respect to {wrt}>"

    def _repr_html_(self) -> str:
        """In a notebook: the function beside its derivative."""
        from srcgrad.show.notebook import frame

        return frame(self)

    def __reduce__(self) -> Any:
        along = parcel.packed(self._fn, list(self._made.values()))
        return _rebuild, (self._fn, self._mode, self._wrt, self._settings(), along)

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        if obj is None:
            return self
        bound = self._fn.__get__(obj, owner)
        return _rebuild(bound, self._mode, self._wrt, self._settings())

    def __srcgrad_parts__(self) -> tuple[Any, ...]:
        """The function, and how the derivative was asked for."""
        settings = [v for _, v in sorted(self._settings().items())]
        return self._fn, self._mode, self._wrt, *settings, *self._options.items()

    def _settings(self) -> dict[str, Any]:
        return {
            "has_aux": self._aux, "backend": self._backend, "specialize": self._specialize,
            "out": self._out, "rules": self._rules_given,
        }  # fmt: skip


def _rebuild(
    fn: Any, mode: str, wrt: Wrt, options: dict[str, Any], along: parcel.Parcel = ((), ())
) -> GradFunction[Any]:
    parcel.unpacked(along)
    return GradFunction(fn, mode, wrt, **options)


__all__ = ["GradFunction"]
