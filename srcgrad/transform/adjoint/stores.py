"""Stores into arrays and containers: `u[k] = e` and `u[k] op= e`."""

from __future__ import annotations

import ast

from srcgrad.analysis.partials import must_reduce
from srcgrad.analysis.refused.outside import written_outside
from srcgrad.analysis.targets import Library, Packed, Uncharted
from srcgrad.errors import NotDifferentiable, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.python import OPERATORS
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.adjoints import is_complex
from srcgrad.transform.adjoint.displays import zero_number
from srcgrad.transform.adjoint.values import Values
from srcgrad.transform.operators import operation


class Stores(Values):
    """The reverse of stores."""

    def store(self, stmt: ir.Store) -> None:
        """`u[k] = e`: take the cotangent there, zero it, restore, then pass it on (finding 1)."""
        if not isinstance(stmt.base, ir.Var):
            raise written_outside(stmt)
        base = self.unit.type(stmt.base.name)
        if not isinstance(base, ty.Array):
            self.store_unknown(stmt)
            return
        if not ty.can_be_active(base) and self.unit.is_active(stmt.value):
            raise self.integer_store(stmt)
        place = self.unit.place_type(stmt)
        whole = ast.Subscript(self.bar_node(stmt.base.name), self.key(stmt.key), ast.Load())
        scalar = isinstance(place, ty.Number)
        distinct = self.unit.basic(stmt.key) or self.is_mask(stmt.key)
        if stmt.op is None:
            self.plain_store(stmt, whole, place, scalar, distinct)
        else:
            self.augmented_store(stmt, whole, place, scalar, distinct)

    def plain_store(
        self, stmt: ir.Store, whole: ast.expr, place: ty.Type, scalar: bool, distinct: bool
    ) -> None:
        assert isinstance(stmt.base, ir.Var)
        active = self.unit.is_active(stmt.value)
        g: ast.expr | None = None
        if self.is_mask(stmt.key) and self.may_overlap(stmt):
            raise self.unsupported(
                stmt,
                "storing a part of an array where a mask says in the same array, which depends on "
                "the order of the elements,",
                "store a copy of it",
            )
        if active:
            g = syn.name(self.text.names.temporary() + "_bar")
            if not distinct:
                node: ast.expr = self.module.support(
                    "last_written",
                    self.bar_node(stmt.base.name),
                    self.key_value(stmt.key),
                )
            elif scalar or not self.unit.basic(stmt.key):
                node = whole
            else:
                node = syn.expr("a.copy()", a=whole)
            self.emit(syn.assign(g, node))
        self.emit(syn.assign(whole, syn.number(0.0)))
        self.undo(stmt)
        if g is not None:
            self.store_contribution(stmt.value, g, place, True)

    def may_overlap(self, stmt: ir.Store) -> bool:
        """Whether the stored array may share memory with the one that it is stored in."""
        base, value, fx = stmt.base, stmt.value, self.unit.fx
        if not isinstance(base, ir.Var) or not isinstance(value, ir.Var):
            return False
        if not isinstance(self.unit.facts.of(value), ty.Array) or not fx.memory(value.name):
            return False
        return fx.root(base.name) == fx.root(value.name)

    def augmented_store(
        self, stmt: ir.Store, whole: ast.expr, place: ty.Type, scalar: bool, distinct: bool
    ) -> None:
        """`u[k] op= e`."""
        op, e = stmt.op, stmt.value
        assert isinstance(stmt.base, ir.Var) and op is not None
        shares = (
            isinstance(e, ir.Var)
            and self.unit.fx.memory(e.name)
            and (self.unit.fx.root(e.name) == self.unit.fx.root(stmt.base.name))
        )
        old = ast.Subscript(
            syn.name(self.text.var(stmt.base.name)), self.key(stmt.key), ast.Load()
        )
        active = self.unit.is_active(e)
        entry = self.unit.program.rule(OPERATORS[op]) if op in OPERATORS else None
        if entry is not None and entry.kind == "nondiff":
            self.emit(syn.assign(whole, syn.number(0.0)))
            self.undo(stmt)
            return
        if op in ir.AT_OPERATORS:
            self.undo(stmt)
            if active:
                got = (
                    syn.expr("a.copy()", a=whole)
                    if self.unit.basic(stmt.key) and not scalar
                    else whole
                )
                node = got if op == "add_at" else syn.negative(got)
                self.store_contribution(e, node, place, True)
            return
        if distinct and op in ("add", "sub"):
            self.undo(stmt)
            if active:
                node = whole
                if shares and not scalar:
                    node = syn.expr("a.copy()", a=whole)
                self.store_contribution(
                    e, node if op == "add" else syn.negative(node), place, shares
                )
            return
        if distinct and op in ("mul", "truediv") and not shares:
            self.undo(stmt)
            factor = self.primal(e)
            if active:
                if op == "mul":
                    node = syn.expr("g * u", g=whole, u=old)
                else:
                    node = syn.expr("-g * u / (e * e)", g=whole, u=old, e=factor)
                self.store_contribution(e, node, place, True)
            kind = ast.Mult() if op == "mul" else ast.Div()
            self.emit(ast.AugAssign(syn._as_store(whole), kind, factor))  # type: ignore[arg-type]
            return
        self.general_augmented(stmt, whole, old, place)

    def general_augmented(
        self, stmt: ir.Store, whole: ast.expr, old: ast.expr, place: ty.Type
    ) -> None:
        """Any operator and index: gather, apply the operator's own rule, scatter."""
        from srcgrad.analysis.partials import vjp_term

        assert stmt.op is not None and isinstance(stmt.base, ir.Var)
        bar = self.bar_node(stmt.base.name)
        g = syn.name(self.text.names.temporary() + "_bar")
        key = self.key_value(stmt.key)
        basic = self.unit.basic(stmt.key)
        once = syn.expr("a.copy()", a=whole) if basic and isinstance(place, ty.Array) else None
        self.emit(syn.assign(g, once or self.module.support("last_written", bar, key)))
        self.emit(syn.assign(whole, syn.number(0.0)))
        self.undo(stmt)

        def scatter(node: ast.expr) -> None:
            if basic:
                self.emit(syn.augment(whole, ast.Add(), node))
            else:
                self.emit(ast.Expr(self.module.support("item_add", bar, key, node)))

        if stmt.op in ("add", "sub"):
            node: ast.expr = g if stmt.op == "add" else syn.negative(g)
            self.store_contribution(stmt.value, node, ty.UNKNOWN, False)
            scatter(g)
            return
        entry = self.unit.program.rule(OPERATORS[stmt.op])
        if entry is None or entry.params is None:
            raise self.no_rule(stmt, stmt.value, Uncharted(f"the operator {stmt.op}", ""))
        one, two = list(entry.params.parameters)[:2]
        held = f"%held{stmt.sid}"
        self.unit.facts.types[held] = place if not isinstance(place, ty.Unknown) else ty.UNKNOWN
        call = Library(entry, ((one, ir.Var(held)), (two, stmt.value)))
        gathered = self.text.names.temporary()
        self.text.printed[held] = gathered
        if self.found.needs.reads_overwritten(stmt):
            self.emit(syn.assign(gathered, syn.expr("a + 0.0", a=old)))
        for param, operand in ((two, stmt.value), (one, ir.Var(held))):
            if param == two and not self.unit.is_active(stmt.value):
                continue
            term = vjp_term(self.unit.facts, call, param, operand, ty.UNKNOWN)
            if term is None:
                raise self.no_rule(stmt, stmt.value, Uncharted(f"the operator {stmt.op}", ""))
            out = operation(stmt.op, [syn.name(gathered), self.primal(stmt.value)])
            node = self.formula(term, g, out)
            if param == two:
                self.store_contribution(stmt.value, node, ty.UNKNOWN, False)
            else:
                scatter(node)

    def store_unknown(self, stmt: ir.Store | ir.StoreAttr) -> None:
        """A store into something of unknown type, into a container, or of an attribute."""
        assert isinstance(stmt.base, ir.Var)
        slot = self.slots.item_slot(stmt)
        obj = self.slots.holder(stmt, syn.name(self.text.var(stmt.base.name)))
        bar = self.slots.holder(stmt, self.bar_node(stmt.base.name))
        g = syn.name(self.text.names.temporary() + "_bar")
        undo = "add_at_back" if stmt.op in ir.AT_OPERATORS else "store_back"
        back = self.module.support(undo, obj, bar, self.slots.reverse_key(stmt), slot)
        self.emit(syn.assign(g, back))
        if self.unit.is_active(stmt.value):
            self.value_back(stmt.value, syn.negative(g) if stmt.op == "sub_at" else g)

    def item_added(self, stmt: ir.Effect, target: Library) -> None:
        """`support.item_add(a, key, ct)`: what an item of a stands for, ct stands for too."""
        a, key, ct = (dict(target.args)[n] for n in ("a", "key", "ct"))
        self.undo(stmt)
        if not isinstance(a, ir.Var) or not isinstance(ct, ir.Var) or not self.unit.is_active(ct):
            return
        assert not isinstance(key, Packed)
        g = self.module.support(
            "item_added_back", self.bar_node(a.name), self.primal(key), self.primal(ct)
        )
        if self.unit.kind(ct.name) != "memory":
            self.add(ct.name, g, False)
        elif isinstance(self.unit.type(ct.name), ty.Array):
            self.emit(syn.augment(self.bar_node(ct.name), ast.Add(), g))
        else:
            made = self.module.support("accumulate", self.bar_node(ct.name), g)
            self.emit(syn.assign(self.bar(ct.name), made))

    def value_back(self, e: ir.Atom, g: ast.expr) -> None:
        """What comes back for a stored value: its adjoint, or None where its shadow was shared."""
        assert isinstance(e, ir.Var)
        if self.unit.kind(e.name) == "memory" and not isinstance(self.unit.type(e.name), ty.Array):
            made = self.module.support("stored_back", self.bar_node(e.name), g, self.primal(e))
            self.emit(syn.assign(self.bar(e.name), made))
        elif self.unit.kind(e.name) == "memory":
            self.emit(
                ast.Expr(
                    self.module.support("stored_back", self.bar_node(e.name), g, self.primal(e))
                )
            )
        elif isinstance(t := self.unit.type(e.name), ty.Number):
            self.add(e.name, self.module.support("unbroadcast", g, zero_number(t)), False)
        else:
            self.add(e.name, self.module.support("unbroadcast", g, self.primal(e)), False)

    def store_contribution(self, e: ir.Atom, node: ast.expr, place: ty.Type, fresh: bool) -> None:
        """The cotangent of a stored value, summed to its shape."""
        if not isinstance(e, ir.Var) or not self.unit.is_active(e):
            return
        t = self.unit.facts.of(e)
        if isinstance(t, ty.Number) and isinstance(place, ty.Array) and not is_complex(place):
            node, fresh = self.module.numpy("sum", node), True
        elif must_reduce(t, place):
            shape = zero_number(t) if isinstance(t, ty.Number) else self.shape_of(e)
            node = self.module.support("unbroadcast", node, shape)
        self.contribute(e, node, fresh)

    def integer_store(self, stmt: ir.Store) -> Exception:
        assert isinstance(stmt.base, ir.Var) and isinstance(stmt.value, ir.Var)
        dtype = getattr(self.unit.type(stmt.base.name), "dtype", "int")
        return located(
            NotDifferentiable,
            stmt.loc,
            f"a value with a derivative is stored into {stmt.base.name}, "
            f"whose dtype {dtype} truncates it",
            chain=self.chain(stmt.value.name),
            fixes=["make the array of floats, for instance np.zeros(n)", "or stop_gradient(...)"],
        )

    def store_attr(self, stmt: ir.StoreAttr) -> None:
        """`obj.name = e`: the same store into the dict of the attributes."""
        if not isinstance(stmt.base, ir.Var):
            raise written_outside(stmt)
        self.store_unknown(stmt)
