"""Judge a program by its derivatives along random directions, which differences of the program
itself give: no second language for the reference, and any argument that is a tree of arrays."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.fuzz.generator import Program
from tests.fuzz.made import leaves, made, mapped
from tests.fuzz.oracle import TookTooLong, Verdict, crash, limited, loaded

SECONDS = 60
LARGEST = 1e4  # programs with larger values or derivatives than this say little
STEP = 1e-4
DIRECTIONS = 2
EXACT = 1e-8  # between derivatives
ROUGH = 2e-6  # between a derivative and differences
SECOND = 4  # one program in so many is differentiated twice


class Unfit(Exception):
    """The program itself is of no use."""


def judge(program: Program, folder: Path, generic: bool = True, forward: bool = True) -> Verdict:
    """Compile and run the derivatives of a program; `generic` and `forward`: these, too."""
    import srcgrad as sg

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with loaded(program.text, folder) as module, limited(SECONDS):
                return _Judge(program, module, folder).verdict(generic, forward)
        except Unfit as error:
            return Verdict("skipped", str(error))
        except sg.SrcgradError as error:
            return Verdict("refused", f"{type(error).__name__}: {error}")
        except TookTooLong:
            return Verdict("crashed", "took too long")
        except Exception as error:
            return crash(error)


class _Judge:
    """One program, its arguments, and what its derivatives should be."""

    def __init__(self, program: Program, module: ModuleType, folder: Path) -> None:
        self.program, self.module, self.folder = program, module, folder
        self.single = "float32" in program.text
        self.exact = 1e-3 if self.single else EXACT
        self.rough = 1e-3 if self.single else ROUGH
        self.is_procedure = not hasattr(module, "f")
        self.function = module.kernel if self.is_procedure else module.f
        self.rng = np.random.default_rng(program.seed)
        self.cotangent = self.rng.standard_normal(4) if self.is_procedure else None

    # ---- the program ----

    def args(self, module: ModuleType | None = None) -> list[Any]:
        return [made(a, module or self.module) for a in self.program.args]

    def along(self, direction: tuple[Any, ...], h: float, module: ModuleType) -> list[Any]:
        args = self.args(module)
        for i, d in zip(self.program.wrt, direction, strict=True):
            args[i] = mapped(lambda a, t: a + h * t, args[i], d)
        return args

    def value(self, args: list[Any], module: ModuleType | None = None) -> float:
        module = module or self.module
        if self.is_procedure:
            module.kernel(*args)
            return float(args[0] @ self.cotangent)
        return float(module.f(*args))

    def direction(self) -> tuple[Any, ...]:
        args = self.args()

        def random(leaf: Any) -> Any:
            shape = np.shape(leaf)
            return self.rng.standard_normal(shape) if shape else float(self.rng.standard_normal())

        return tuple(mapped(random, args[i]) for i in self.program.wrt)

    def differences(self, direction: tuple[Any, ...]) -> float:
        """The derivative along a direction; of a float32 program, of the same in float64."""
        if not self.single:
            return self._differences(direction, self.module)
        with loaded(self.program.text.replace("float32", "float64"), self.folder) as wide:
            return self._differences(direction, wide)

    def _differences(self, direction: tuple[Any, ...], module: ModuleType) -> float:
        def slope(h: float) -> float:
            up = self.value(self.along(direction, h, module), module)
            down = self.value(self.along(direction, -h, module), module)
            return (up - down) / (2 * h)

        a, b, c = slope(STEP), slope(2 * STEP), slope(4 * STEP)
        fine, coarse = (4 * a - b) / 3, (4 * b - c) / 3
        if not np.isfinite(fine) or abs(fine) > LARGEST:
            raise Unfit("no finite slope")
        if abs(fine - coarse) > 0.2 * ROUGH * (1 + abs(fine)):
            raise Unfit("not smooth here")
        return fine

    # ---- the derivatives ----

    def verdict(self, generic: bool, forward: bool) -> Verdict:
        import srcgrad as sg

        try:
            value = self.value(self.args())
        except Exception as error:
            raise Unfit(f"the program raises {type(error).__name__}: {error}") from error
        if not abs(value) < LARGEST:
            raise Unfit("values too large")
        self.expected = value
        self.directions = [self.direction() for _ in range(DIRECTIONS)]
        self.slopes = [self.differences(d) for d in self.directions]
        problem = self.reverse("reverse", {}) or self.reverse("again", {})
        if not problem and forward:
            problem = self.forward({})
        if not problem and generic:
            problem = self.reverse("reverse without types", {"specialize": False})
            if not problem and forward and self.program.seed % 3 == 0:
                problem = self.forward({"specialize": False})
        if not problem and self.program.seed % SECOND == 0 and not self.single:
            problem = self.second(sg)
        return Verdict("wrong", problem) if problem else Verdict("right")

    def derivative(self, options: dict[str, Any]) -> Any:
        """A function of the arguments: the value and the gradients."""
        import srcgrad as sg

        wrt = self.program.wrt
        if not self.is_procedure:
            return sg.value_and_grad(self.function, wrt=wrt, **options)
        pulled = sg.vjp(self.function, wrt=wrt, out=0, **options)
        cotangent = self.cotangent

        def value_and_gradients(*args: Any) -> Any:
            out, gradients = pulled(cotangent.copy(), *args)
            return float(out @ cotangent), gradients

        return value_and_gradients

    def reverse(self, what: str, options: dict[str, Any]) -> str | None:
        given = self.args()
        value, gradients = self.derivative(options)(*given)
        if not self.close(value, self.expected, self.exact):
            return f"{what}: the value is {value!r}, not {self.expected!r}"
        for i, got in zip(self.program.wrt, gradients, strict=True):
            problem = _misshapen(got, given[i])
            if problem:
                return f"{what}: gradient {i} {problem}"
        for d, slope in zip(self.directions, self.slopes, strict=True):
            got = _inner(gradients, d)
            if not self.close(got, slope, self.rough):
                return f"{what}: the slope is {got!r}, not {slope!r}"
        self.gradients = gradients
        return self.changed(what, given)

    def forward(self, options: dict[str, Any]) -> str | None:
        import srcgrad as sg

        wrt = self.program.wrt
        out = {"out": 0} if self.is_procedure else {}
        pushed = sg.jvp(self.function, wrt=wrt, **out, **options)
        what = "forward without types" if options else "forward"
        for d in self.directions:
            given = self.args()
            value, tangent = pushed(mapped(lambda t: t, d), *given)
            if self.is_procedure:
                value, tangent = value @ self.cotangent, tangent @ self.cotangent
            if not self.close(value, self.expected, self.exact):
                return f"{what}: the value is {value!r}, not {self.expected!r}"
            want = _inner(self.gradients, d)
            if np.shape(tangent) != () or not self.close(tangent, want, self.exact):
                return f"{what}: the tangent is {tangent!r}, not {want!r}"
            problem = self.changed(what, given)
            if problem:
                return problem
        return None

    def second(self, sg: Any) -> str | None:
        """A Hessian-vector product against differences of the gradient."""
        floats = [i for i in self.program.wrt if isinstance(self.program.args[i], np.ndarray)]
        if self.is_procedure or not floats:
            return None
        wrt = floats[0]
        vector = self.rng.standard_normal(np.shape(self.program.args[wrt]))
        gradient = sg.grad(self.function, wrt=wrt)

        def at(h: float) -> Any:
            args = self.args()
            args[wrt] = args[wrt] + h * vector
            return gradient(*args)

        a, b = ((at(h) - at(-h)) / (2 * h) for h in (STEP, 2 * STEP))
        want = (4 * a - b) / 3
        if not np.all(np.isfinite(want)) or np.max(np.abs(a - b), initial=0.0) > 1e-4:
            return None  # the gradient has a kink
        typed = self.program.seed % (3 * SECOND) > 0
        try:
            product = sg.hvp(self.function, wrt=wrt, specialize=typed)
            got = product(vector, *self.args())
        except sg.SrcgradError:
            return None  # a refusal of the second order is no refusal of the program
        if not self.close(got, want, 1e-5):
            return f"hvp: {np.asarray(got).tolist()}, not {want.tolist()}"
        return None

    # ---- comparing ----

    def changed(self, what: str, given: list[Any]) -> str | None:
        for i, (got, kept) in enumerate(zip(given, self.args(), strict=True)):
            pairs = zip(leaves(got), leaves(kept), strict=True)
            if not all(np.array_equal(a, b) for a, b in pairs):
                return f"{what}: argument {i} was changed"
        return None

    def close(self, got: Any, want: Any, tolerance: float) -> bool:
        got, want = np.asarray(got, float), np.asarray(want, float)
        scale = 1.0 + float(np.max(np.abs(want), initial=0.0))
        return got.shape == want.shape and bool(np.all(np.abs(got - want) <= tolerance * scale))


def _misshapen(gradient: Any, argument: Any) -> str | None:
    try:
        pairs = list(zip(leaves(gradient), leaves(argument), strict=True))
    except ValueError:
        return "has another structure"
    for got, have in pairs:
        if np.shape(got) != np.shape(have):
            return f"has shape {np.shape(got)}, not {np.shape(have)}"
        if isinstance(have, np.ndarray) and got.dtype != have.dtype:
            return f"has dtype {got.dtype}"
    return None


def _inner(gradients: Any, direction: tuple[Any, ...]) -> float:
    pairs = zip(leaves(gradients), leaves(direction), strict=True)
    return sum(float(np.sum(np.asarray(g, float) * d)) for g, d in pairs)
