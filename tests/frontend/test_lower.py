"""Lowering: what the IR does is what the function does, and its form is the one agreed on."""

import ast
import copy
import inspect
import linecache
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from ir_interpreter import run

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.lower import lower
from srcgrad.frontend.scope import RecursiveRef, handled
from srcgrad.frontend.source import read
from srcgrad.ir import nodes
from srcgrad.ir.show import show
from srcgrad.ir.verify import problems

sys.path.insert(0, str(Path(__file__).parent))
import lower_programs as programs

Box, Pair, Point, X = programs.Box, programs.Pair, programs.Point, programs.X
CASES = Path(__file__).parents[3] / "shared" / "cases"


def lowered(fn):
    found = lower(read(fn))
    assert list(problems(found)) == []  # whatever is lowered in these tests is well-formed
    return found


def made(text, name="f", **names):
    """A function from text, with a file that `read` finds."""
    text = textwrap.dedent(text)
    file = f"<test {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np, "__name__": "made", **names}
    exec(compile(text, file, "exec"), space)
    return space[name]


def text_of(text, **names):
    return show(lowered(made(text, **names)))


def same(a, b):
    if isinstance(a, dict):
        return type(a) is type(b) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Box):
        return same(vars(a), vars(b))
    if isinstance(a, np.ndarray | np.generic | float):
        return type(a) is type(b) and np.array_equal(a, b, equal_nan=True)
    return type(a) is type(b) and a == b


def outcome(call, args):
    programs.CALLS.clear()
    try:
        result = call(*args)
    except Exception as error:
        result = (type(error).__name__, str(error).split(" while")[0])
    return result, list(programs.CALLS), args


def check(fn, *args, **kwargs):
    """Both ways of running it give the same result, the same calls and the same mutations."""
    source = read(fn)
    ir = lower(source)
    first = outcome(lambda *a: fn(*a, **copy.deepcopy(kwargs)), copy.deepcopy(args))
    second = outcome(
        lambda *a: run(ir, *source.bound, *a, **copy.deepcopy(kwargs)), copy.deepcopy(args)
    )
    assert same(list(first), list(second)), f"{first}\n{second}\n{show(ir)}"
    return first[0]


PROGRAMS = [
    ("order_of_operands", (2.0,)),
    ("order_in_calls", (2.0,)),
    ("order_in_stores", (2.0,)),
    ("order_of_updates", (X,)),
    ("order_in_dicts", (2.0,)),
    ("walrus_order", (3.0,)),
    ("walrus_in_update", (3.0,)),
    *[("short_circuit", (a, b)) for a in (0.0, 1.0) for b in (0.0, 2.0)],
    *[("impure_condition", (1.5, n)) for n in (0, 1, 11, 300)],
    *[("chain_with_effect", (v,)) for v in (0, 2, 7)],
    ("swaps", (1, 2, 3)),
    ("tuple_targets", ((1.0, 2.0, 3.0),)),
    ("index_then_name", ([1.0, 2.0, 3.0],)),
    ("duplicate_target", (1.0,)),
    *[("starred", (v,)) for v in ([1, 2, 3, 4], X, (1, 2), (1,), {1: 2, 3: 4}, 5)],
    ("chained", (1.0,)),
    ("annotated", (1.0,)),
    ("updates", (4.0, Box(2.0))),
    *[("ranges", (n,)) for n in (0, 1, 6, 7)],
    ("many_sources", (X, {"p": 1.0, "q": 2.0})),
    ("unequal_zip", (X,)),
    ("unpacked_iterators", (X,)),
    ("generator_in_step", (X,)),
    ("same_names", (1.0,)),
    *[("loop_else", (x, limit)) for x in (1.0, 30.0) for limit in (0, 3, 50)],
    *[("nested_exits", (x, n)) for x in (0.0, 48.0) for n in (0, 2, 5)],
    ("iterable_rebound", (X,)),
    ("assigned_target", (1.0,)),
    ("target_is_subscript", (1.0,)),
    ("comprehensions", (X, 3)),
    ("comprehensions", (X, 0)),
    ("stops_early", (1.0,)),
    ("nested_late_binding", (2.0,)),
    ("nested_chain", (2.0,)),
    ("nested_recursion", (1.5, 4)),
    *[("conditional_function", (1.5, flag)) for flag in (True, False)],
    ("function_in_loop", (1.5,)),
    ("early_bound_lambdas", (2.0,)),
    ("returned_lambda", (2.0,)),
    ("uses_adder", (2.0,)),
    ("functions_in_containers", (2.0,)),
    ("varied_call", (1.0, 2.0, 3.0)),
    ("posonly", (1.0,)),
    ("imports", (0.5,)),
    ("local_names", (0.5,)),
    ("global_paths", (0.5,)),
    ("undefined_name", (0.5,)),
    ("new_axes", (X,)),
    *[("with_context", (x,)) for x in (-1.0, 1.0)],
    *[("tries", (1.5, kind)) for kind in (0, 1, 2)],
    *[("tuple_in_try", (x,)) for x in (0.0, 2.0)],
    *[("asserts", (x,)) for x in (1.0, -1.0, 1000.0)],
    ("deletes", (1.0,)),
    ("written_in_conditions", (X,)),
    *[("texts", (x,)) for x in (1.5, -1.0)],
    ("prints", ([3, 1, 2],)),
    *[
        ("matches", (x, s))
        for x in (1.0, 9.0)
        for s in (
            1,
            2,
            101,
            50,
            None,
            "a",
            [],
            (),
            [1, [2, 3, 4], 5],
            (7, [1], 2),
            (7,),
            [8],
            {"kind": "circle", "r": 2, "z": 3},
            {"side": 2},
            {"side": 3},
            Point(0.0, 4.0),
            Point(1.0, Point(2.0, 3.0)),
            Point(1.0, 2.0),
            Pair(1.0, 2.0),
            2.5,
            "text",
            X,
        )
    ],
    ("attributes", (Box(1.0), 3.0)),
    ("dead_code", (1.0,)),
    ("nothing", (1.0,)),
    *[("ternaries", (x, c)) for x in (0.0, 1.0) for c in (0, 1, 2)],
    ("signs", (2.0,)),
    ("closed", (0.5,)),
    *[("anonymous", (x,)) for x in (0.0, 1.5)],
]


@pytest.mark.parametrize(
    ("name", "args"), PROGRAMS, ids=[f"{name}-{k}" for k, (name, _) in enumerate(PROGRAMS)]
)
def test_does_what_the_function_does(name, args, capsys):
    check(getattr(programs, name), *args)


def test_every_program_is_run():
    own = {
        name
        for name, value in vars(programs).items()
        if inspect.isfunction(value) and value.__module__ == programs.__name__
    }
    helpers = {"note", "apply", "make_adder", "make_closure", "shared_iterator"}
    assert own - {name for name, _ in PROGRAMS} == helpers


def test_a_loop_over_an_iterator_is_refused_when_it_runs():
    with pytest.raises(TypeError, match="loop over an iterator"):
        run(lowered(programs.shared_iterator), X)


def test_keyword_arguments():
    check(programs.varied_call, 1.0, 2.0, scale=3.0, extra=4.0)
    check(programs.posonly, 1.0, y=5.0, z=6.0)


# ---- the shared cases ----


def case_jobs():
    if not (CASES / "cases.py").exists():
        return []
    sys.path.insert(0, str(CASES))
    try:
        import cases
    finally:
        sys.path.remove(str(CASES))
    return [(c.name, c.fn, c.args, getattr(c, "kwargs", {})) for c in cases.CASES] + [
        (c.name, c.fn, c.args, {}) for c in (*cases.RULE_CASES, *cases.HIGHER)
    ]


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
@pytest.mark.filterwarnings("ignore")
def test_shared_cases():
    jobs = case_jobs()
    assert len(jobs) > 250
    with np.errstate(all="ignore"):
        for _name, fn, args, kwargs in jobs:
            check(fn, *args, **kwargs)


# ---- form ----


def test_operands_are_atoms_in_order():
    assert text_of(
        """
        def f(x, w):
            return np.sin(x * w) + x[0] ** 2
        """
    ) == textwrap.dedent(
        """\
        def f(x, w):
            %1 = x * w
            %2 = numpy.sin(%1)
            %3 = x[0]
            %4 = %3 ** 2
            %5 = %2 + %4
            return %5"""
    )


def test_conditions_are_kept():
    assert text_of(
        """
        def f(x, n):
            y = x if n > 0 and x.ndim == 1 else -x
            if np.any(np.isnan(y)) or len(y) > LIMIT:
                y = 0.0
            while abs(y) > 1.0:
                y = y / 2.0
            return y
        """,
        LIMIT=3,
    ) == textwrap.dedent(
        """\
        def f(x, n):
            if `n > 0 and x.ndim == 1`:
                y = x
            else:
                y = -x
            if `numpy.any(numpy.isnan(y)) or len(y) > made.LIMIT`:
                y = 0.0
            while `abs(y) > 1.0`:
                y = y / 2.0
            return y"""
    )


def test_impure_conditions_come_first():
    assert text_of(
        """
        def f(x, g):
            while g(x) > 1.0:
                x = x - 1.0
            return x
        """
    ) == textwrap.dedent(
        """\
        def f(x, g):
            while True:
                %1 = g(x)
                %2 = %1 > 1.0
                if not %2:
                    break
                x = x - 1.0
            return x"""
    )


def test_loops_are_counted():
    assert text_of(
        """
        def f(xs, n):
            s = 0.0
            for i in range(n):
                s += i
            for i in range(n):
                i = i * 2
            for k, (a, b) in enumerate(zip(xs, xs)):
                s += a * b
            return s
        """
    ) == textwrap.dedent(
        """\
        def f(xs, n):
            s = 0.0
            for i in range(0, n, 1):
                s += i
            for i%1 in range(0, n, 1):
                i = i%1
                i = i * 2
            %2 = srcgrad.runtime.support.sequence(xs)
            %3 = srcgrad.runtime.support.sequence(xs)
            %4 = len(%2)
            %5 = len(%3)
            %6 = min(%4, %5)
            for k in range(0, %6, 1):
                a = %2[k]
                b = %3[k]
                %7 = a * b
                s += %7
            return s"""
    )


def test_loop_else_has_a_flag():
    assert text_of(
        """
        def f(x):
            for k in range(3):
                if x > k:
                    break
            else:
                x = 0.0
            return x
        """
    ) == textwrap.dedent(
        """\
        def f(x):
            left%1 = False
            for k in range(0, 3, 1):
                if `x > k`:
                    left%1 = True
                    break
            if not left%1:
                x = 0.0
            return x"""
    )


def test_tuples():
    assert text_of(
        """
        def f(a, b, E):
            a, b = b, a
            c, d = a * 2.0, b
            e, *g = E
            return c
        """
    ) == textwrap.dedent(
        """\
        def f(a, b, E):
            %1 = a
            a = b
            b = %1
            c = a * 2.0
            d = b
            %2 = srcgrad.runtime.support.unpacked(E, 1, 0)
            e = %2[0]
            %3 = %2[1:]
            g = list(%3)
            return c"""
    )


def test_comprehension():
    assert text_of(
        """
        def f(xs):
            return np.array([x ** 2 for x in xs if x > 0])
        """
    ) == textwrap.dedent(
        """\
        def f(xs):
            %1 = []
            %2 = srcgrad.runtime.support.sequence(xs)
            %4 = len(%2)
            for i%5 in range(0, %4, 1):
                x%3 = %2[i%5]
                if `x%3 > 0`:
                    %6 = x%3 ** 2
                    %1.append(%6)
            %7 = numpy.array(%1)
            return %7"""
    )


def test_closures_are_written_where_they_are_used():
    assert text_of(
        """
        def f(x):
            k = 2.0
            def g(v, n=3):
                return g(v, n - 1) * k if n else v
            k = 3.0
            return g(x)
        """
    ) == textwrap.dedent(
        """\
        def f(x):
            k = 2.0
            k = 3.0
            %4 = closure g(v, n=3) with [k=k]:
                if n:
                    %2 = n - 1
                    %3 = <self>.g(v, %2)
                    %1 = %3 * k
                else:
                    %1 = v
                return %1
            %5 = %4(x)
            return %5"""
    )


def test_self_reference():
    ir = lowered(programs.nested_recursion)
    closures = [
        s.value.fn
        for s in nodes.walk(ir.body)
        if isinstance(s, nodes.Assign) and isinstance(s.value, nodes.Closure)
    ]
    refs = [
        a.value
        for fn in closures
        for s in nodes.walk(fn.body)
        for e in nodes.exprs(s)
        for a in nodes.operands(e)
        if isinstance(a, nodes.Global) and a.root.key == "<self>"
    ]
    assert refs == [RecursiveRef("power"), RecursiveRef("fact")]
    assert [fn.free for fn in closures] == [("x",), ()]


def test_defaults_are_captured():
    ir = lowered(programs.nested_late_binding)
    (fn,) = {
        id(s.value.fn): s.value.fn
        for s in nodes.walk(ir.body)
        if isinstance(s, nodes.Assign) and isinstance(s.value, nodes.Closure)
    }.values()
    assert fn.doc == "Late k, early x and plus."
    assert [name for name, _ in fn.defaults] == ["by", "plus"]
    assert all(atom.name in fn.free for _, atom in fn.defaults)


def test_statement_numbers_and_places():
    ir = lowered(programs.impure_condition)
    sids = [s.sid for s in nodes.walk(ir.body)]
    assert sorted(sids) == list(range(len(sids)))
    first = inspect.getsourcelines(programs.impure_condition)[1]
    lines = [s.loc.line - first for s in nodes.walk(ir.body)]
    assert lines[0] == 1
    assert max(lines) == 11
    assert ir.loc.line == first


def paths(fn):
    found = {}
    for stmt in nodes.walk(lowered(fn).body):
        for expr in nodes.exprs(stmt):
            for atom in nodes.operands(expr):
                if isinstance(atom, nodes.Global):
                    found[atom.path] = atom.root
    return found


def test_paths_of_globals():
    found = paths(programs.global_paths)
    assert {path: root.key for path, root in found.items()} == {
        ("sin",): "numpy",
        ("FACTOR",): "lower_programs",
        ("TABLE",): "lower_programs",
        ("pi",): "numpy",
        ("Box", "scale"): "lower_programs",
        ("tau",): "math",
    }
    assert {root.key for root in paths(programs.closed).values()} == {"inner_free", "numpy"}


def test_changeable_names_are_read_live():
    f = made(
        """
        import numpy as np
        from numpy import cos as c
        act = np.tanh
        def f(x):
            return act(x) + c(x) + helper(x) + len(x)
        """,
        helper=programs.apply,
    )
    found = paths(f)
    assert {path: (root.kind, root.key) for path, root in found.items()} == {
        ("act",): ("namespace", "made"),
        ("cos",): ("module", "numpy"),
        ("helper",): ("namespace", "made"),
        ("len",): ("builtins", ""),
    }
    f.__globals__["act"] = np.sin
    assert found[("act",)].obj.act is np.sin


def test_missing_name_is_left_to_the_program():
    ir = lowered(programs.undefined_name)
    (op,) = [s.value for s in ir.body if isinstance(s, nodes.Assign)]
    assert op.args[1].value is nodes.MISSING


# ---- srcgrad's own blocks ----


class override:
    __srcgrad_special__ = "override"


class adjoint_of:
    __srcgrad_special__ = "adjoint_of"


class checkpointed:
    __srcgrad_special__ = "checkpointed"


SPECIAL = {
    "override": override,
    "adjoint_of": adjoint_of,
    "checkpointed": checkpointed,
    "rule": programs.apply,
}


def test_own_blocks():
    f = made(
        """
        def f(x):
            with override({np.square: rule, "numpy.sin": "Custom"}):
                y = np.square(x)
            with adjoint_of(y) as y_bar:
                if np.any(y_bar > 3.0):
                    y_bar[...] = [v for v in y_bar]
            for k in checkpointed(range(10), snapshots=3):
                y = y * 2.0
            return y
        """,
        **SPECIAL,
    )
    ir = lowered(f)
    first, second, loop = (s for s in ir.body if isinstance(s, nodes.With | nodes.For))
    assert (first.special, second.special, second.bound) == ("override", "adjoint_of", "y_bar")
    assert [(k.value, v.value) for k, v in first.value] == [
        (np.square, programs.apply),
        ("numpy.sin", "Custom"),
    ]
    assert second.value == nodes.Var("y")
    (kept,) = second.body
    assert isinstance(kept, nodes.Verbatim)
    assert kept.reads == (nodes.Var("y_bar"),)
    assert loop.checkpoint == nodes.Const(3)


# ---- refusals ----

REFUSED = [
    ("def f(x):\n    yield x", "yield"),
    ("async def f(x):\n    return x", "async"),
    ("def f(x):\n    global K\n    K = x\n    return K", "global K"),
    ("def f(x):\n    class A: pass\n    return x", "class A"),
    ("def f(x):\n    @np.vectorize\n    def g(v): return v\n    return g(x)", "decorated"),
    ("def f(x):\n    return eval('x')", "eval"),
    ("def f(x):\n    return locals()['x']", "locals"),
    ("def f(x):\n    return globals()['x']", "globals"),
    ("def f(x):\n    return open(x).read()", "open"),
    ("def f(x):\n    return super().f(x)", "super"),
    ("def f(x):\n    for v in x:\n        x.append(v)\n    return x", "resized"),
    ("def f(x):\n    for k, v in enumerate(x):\n        x += [v]\n    return x", "resized"),
    (
        "def f(x):\n    import itertools\n    for v in itertools.chain(x, x):\n"
        "        x[0] = v\n    return x",
        "x may change",
    ),
    ("def f(x):\n    g = (v for v in x)\n    return g", "generator"),
    ("def f(x, h):\n    return h(v for v in x)", "generator"),
    ("def f(x):\n    return np.array(v for v in x)", "object array"),
    (
        "def f(x, fs):\n    for k in x:\n        fs.append(lambda v: v * k)\n    return fs",
        "captures k",
    ),
    ("def f(x):\n    fs = [lambda v: v * k for k in x]\n    return fs", "captures k"),
    ("def f(x):\n    k = x\n    fs = [lambda: k]\n    k = 2.0\n    return fs[0]()", "captures k"),
    ("def f(x):\n    with override(RULES):\n        return x", "override"),
    ("def f(x):\n    with adjoint_of(x + 1) as b:\n        b += 1\n    return x", "adjoint_of"),
    (
        "def f(x):\n    import itertools\n    for v in itertools.cycle(x):\n        return v",
        "no end",
    ),
    (
        "def f(x):\n    try:\n        x += 1\n    except* KeyError:\n        x = 1\n    return x",
        "TryStar",
    ),
    (
        "def f(x):\n    def g(v): return h(v)\n    def h(v): return g(v)\n    return g(x)",
        "itself|captures",
    ),
    ("def f(x):\n    np.pi = x\n    return x", "np.pi is a global"),
    ("def f(x):\n    k = x\n    b = Box(lambda: k)\n    k = 2.0\n    return b", "captures k"),
    ("def f(x):\n    with override({**RULES}):\n        return x", "written out"),
    ("class A:\n    def f(self, x):\n        return self.__k * x\nf = A.f", "private"),
]


@pytest.mark.parametrize(("text", "word"), REFUSED)
def test_refuses_with_a_place(text, word):
    f = made(text, RULES={}, Box=Box, **SPECIAL)
    with pytest.raises(UnsupportedSyntax, match=word) as caught:
        lowered(f)
    assert caught.value.lineno >= 1


def test_refusal_reads_well():
    f = made("def f(x):\n    return eval('x')")
    with pytest.raises(UnsupportedSyntax) as caught:
        lowered(f)
    assert [*str(caught.value).splitlines()[:3]] == [
        f"{f.__code__.co_filename}:2:11: eval runs code that can't be read when compiling",
        "    return eval('x')",
        "           ^^^^^^^^^",
    ]


# ---- size and speed ----


def test_a_sum_of_many_terms():
    f = made("def f(x):\n    return " + " + ".join(f"{k} * x" for k in range(400)))
    assert check(f, 2.0) == f(2.0)


def work(fn):
    """How many functions of Python are called to lower one: it does not depend on the machine."""
    source, calls = read(fn), 0

    def note(frame, event, arg):
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        lower(source)
    finally:
        sys.setprofile(before)
    return calls


def test_work_grows_with_the_function():
    def long(n):
        rows = [f"    y = y * {k}.0 + np.sin(x[{k % 7}]) if y > {k} else y" for k in range(n)]
        return made("\n".join(["def f(x, y):", *rows, "    return y"]))

    small, large = work(long(100)), work(long(1000))
    assert large < 11 * small


def test_every_kind_of_syntax_is_handled_or_refused_on_purpose():
    expressions, statements = handled()
    inner = {ast.FormattedValue, ast.Slice}  # only ever parts of others
    newer = {"TemplateStr", "Interpolation", "TypeAlias"}  # of Python 3.12 and 3.14
    on_purpose = {ast.AsyncFor, ast.AsyncWith, ast.TryStar}
    missing = {
        kind
        for kind in (*ast.expr.__subclasses__(), *ast.stmt.__subclasses__())
        if kind.__module__ == "ast" and kind not in expressions | statements
    }
    assert {kind for kind in missing if kind.__name__ not in newer} - inner == on_purpose
