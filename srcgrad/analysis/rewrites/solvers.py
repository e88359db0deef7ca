"""Root finders, written out so that the root gets its derivative: see `rules.solvers`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from srcgrad.analysis.rewrites.base import Rewrites
from srcgrad.frontend.resolve import global_of, helper, numpy_function
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.solvers import REPORT, Solver
from srcgrad.runtime import support

# What only the derivative of a solution reads; nobody notices when it is left out.
FOR_SOLUTION = "%for_solution"


def is_solution(expr: ir.Expr) -> bool:
    """Whether a value is a root that was found, beside what its derivative reads."""
    if not isinstance(expr, ir.Call) or not isinstance(expr.fn, ir.Global):
        return False
    return expr.fn.value is support.solution or expr.fn.value is support.solutions


def arguments(solver: Solver, call: ir.Call) -> dict[str, ir.Atom] | None:
    """The arguments of a root finder by parameter; None when they can't be followed."""
    if any(isinstance(a, ir.Star) for a in call.args) or any(k is None for k, _ in call.kwargs):
        return None
    try:
        bound = solver.signature.bind(*call.args, **{str(k): v for k, v in call.kwargs})
    except TypeError:
        return None
    given: dict[str, ir.Atom] = bound.arguments
    told = given.get("full_output", ir.Const(False)) == ir.Const(False)
    # Where a bound or a constraint holds, the derivative of the function is not zero.
    nothing = (ir.Const(None), ir.Const(()))
    free = all(given.get(k, nothing[0]) in nothing for k in ("bounds", "constraints"))
    # With `True` for a derivative the function returns it beside its value.
    alone = all(given.get(k) != ir.Const(True) for k in ("fprime", "fprime2", "jac"))
    return given if told and alone and (free or not solver.minimum) else None


@dataclass
class Solvers(Rewrites):
    """The part of sharpening that sees to root finders."""

    roots: dict[str, ir.Var] = field(default_factory=dict)  # by the variable of the whole result

    def of_solver(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        value = stmt.value
        if isinstance(value, ir.Attr) and getattr(value.obj, "name", "") in self.roots:
            if value.name not in REPORT:
                self.changed = True
                return [replace(stmt, value=self.roots[value.obj.name])]  # type: ignore[union-attr]
            return None
        solver = self.facts.solvers.get(stmt.sid)
        if solver is None or not isinstance(stmt, ir.Assign) or not isinstance(value, ir.Call):
            return None
        given = arguments(solver, value)
        if given is None or not self.reads_the_root(solver, stmt):
            return None
        self.changed = True
        return self.written_out(stmt, value, solver, given)

    def reads_the_root(self, solver: Solver, stmt: ir.Assign) -> bool:
        """Whether what is read of the result is the root, or has no derivative."""
        if solver.field is None:
            return True
        name, known = stmt.target.name, {solver.field, *REPORT}
        if name not in self.facts.extents.bound_once:
            return False
        readers = (s for s in ir.walk(self.facts.fn.body) if ir.Var(name) in ir.reads(s))
        return all(_reads_only(r, name, known) for r in readers)

    def written_out(
        self, stmt: ir.Assign, call: ir.Call, solver: Solver, given: Mapping[str, ir.Atom]
    ) -> list[ir.Stmt]:
        out: list[ir.Stmt] = []

        def put(value: ir.Expr, name: str = "%found") -> ir.Var:
            sid = next(self.sids)
            target = ir.Var(f"{name}{sid}")
            out.append(ir.Assign(sid, stmt.loc, target, value))
            return target

        assert isinstance(call.fn, ir.Global)
        searched = replace(call, fn=replace(call.fn, value=solver.search))
        if solver.field is None:
            found = put(searched)
        else:
            out.append(replace(stmt, value=searched))
            found = put(ir.Attr(stmt.target, solver.field))
        fn = next(iter(given.values()))
        args = (found, *self.more(given.get("args")))
        place = 0
        method = self.facts.extents.definition(fn)
        if isinstance(method, ir.Attr):
            value: ir.Expr = ir.Method(method.obj, method.name, args)
            cls = self.facts.of(method.obj)
            assert isinstance(cls, ty.Object)
            fn, args, place = global_of(getattr(cls.cls, method.name)), (method.obj, *args), 1
        else:
            value = ir.Call(fn, args)
        module, number = sys.modules["srcgrad"], solver.unknowns == "number"
        if solver.minimum:
            value = ir.Call(self.derivative(module.grad, fn, place, put), args)
            derivative = self.derivative(module.hessian, fn, place, put)
        elif number:
            derivative = self.derivative(module.grad, fn, place, put)
        else:  # the function may return a list
            derivative = self.derivative(module.jacobian, fn, place, put, mode="forward")
        residual = put(value, FOR_SOLUTION)
        slope = put(ir.Call(derivative, args), FOR_SOLUTION)
        if solver.moves:
            residual = put(ir.Op("sub", (found, residual)), FOR_SOLUTION)
            slope = put(ir.Op("sub", (ir.Const(1.0), slope)), FOR_SOLUTION)
        if solver.minimum:
            residual = put(ir.Call(helper("stationary"), (residual, slope, found)), FOR_SOLUTION)
        if not number:
            residual = put(ir.Call(numpy_function("asarray"), (residual,)), FOR_SOLUTION)
        name = "solution" if number else "solutions"
        solved = ir.Call(helper(name), (found, residual, slope))
        if solver.field is None:
            return [*out, replace(stmt, value=solved)]
        self.roots[stmt.target.name] = put(solved)
        return out

    def more(self, args: ir.Atom | None) -> tuple[ir.Atom | ir.Star, ...]:
        """What the function is given besides the unknowns: `args=(a, b)`, `args=a`."""
        if args is None or args == ir.Const(()):
            return ()
        return (ir.Star(args) if isinstance(self.facts.of(args), ty.Tuple) else args,)

    def derivative(
        self,
        maker: Callable[..., object],
        fn: ir.Atom,
        place: int,
        put: Callable[[ir.Expr, str], ir.Var],
        **options: str,
    ) -> ir.Atom:
        """A derivative of the function by the unknowns, its argument at `place`."""
        if isinstance(fn, ir.Global):
            return global_of(maker(fn.value, place, **options))
        named = tuple((k, ir.Const(v)) for k, v in options.items())
        return put(ir.Call(global_of(maker), (fn,), named), FOR_SOLUTION)


def _reads_only(stmt: ir.Stmt, name: str, attributes: set[str]) -> bool:
    """Whether a statement reads nothing but these attributes of an object."""
    for expr in ir.exprs(stmt):
        if isinstance(expr, ir.Opaque):
            parts = list(ast.walk(expr.node))
            told = [
                p.value for p in parts if isinstance(p, ast.Attribute) and p.attr in attributes
            ]
            read = [p for p in parts if isinstance(p, ast.Name) and p.id == name]
            if any(p not in told for p in read):
                return False
        elif not isinstance(expr, ir.Attr) or expr.name not in attributes:
            if ir.Var(name) in ir.operands(expr):
                return False
    return isinstance(stmt, ir.Assign | ir.If | ir.While)
