"""Text means the tree it was written from, and looks as a person would have written it."""

from __future__ import annotations

import ast
import itertools
import os
import random
import subprocess
import sys
import sysconfig
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

from srcgrad.codegen import writer
from srcgrad.codegen.writer import Blank, Comment, line_table, number, write
from srcgrad.errors import InternalError


def dump(tree: ast.AST) -> str:
    return ast.dump(tree).replace(", kind='u'", "")


def same(text: str) -> str:
    """The text that `text` is printed as, checked to mean the same."""
    tree = ast.parse(textwrap.dedent(text))
    before = ast.dump(tree)
    written = write(tree)
    assert dump(ast.parse(written)) == dump(tree)
    assert ast.dump(tree) == before
    return written


# ---- what astor gets wrong --------------------------------------------------

FAULTS = [
    # defaults beside positional-only parameters
    "def f(a, /, b, c=1, d=2):\n    pass\n",
    "def f(a=1, b=2, /, c=3, *, d, e=4, **g):\n    pass\n",
    "def f(a, b=2, /):\n    pass\n",
    "h = lambda a, b=1, /, c=2, *d, e=3: 0\n",
    "def f(*, a: int = 1, b=2) -> float:\n    pass\n",
    "def f(*args: *Ts, **kwargs: int):\n    pass\n",
    # statements astor doesn't know
    "match x, y:\n    case [1, 2 as z] if z:\n        pass\n"
    "    case A(b=1) | None:\n        pass\n"
    "    case {'k': v, **rest}:\n        pass\n    case (a, *b), -1:\n        pass\n"
    "    case _:\n        pass\n",
    "match (yield_):\n    case 1, 2:\n        x = 1\n",
    "try:\n    pass\nexcept* E as e:\n    try:\n        pass\n    except F:\n        pass\n",
    "try:\n    pass\nexcept (A, B):\n    pass\nelse:\n    pass\nfinally:\n    pass\n",
    # f-strings
    "x = f\"{ {'a': 1}['a'] }\"\n",
    "x = f\"{'yes' if s else 'no'} {y!r:>{w}}\"\n",
    "x = f'''a\n{b}\n\"c\" {{}}'''\n",
    "x = f'{x=} {y:%Y-%m}' 'tail'\n",
    # stars before what binds less
    "x = {**(a or b), 'k': 1, **c}\n",
    "x = {**(lambda: y)}\n",
    "x = {**a | b, **(a if b else c), **(not a)}\n",
    "f(*(c or d), **(a or b))\n",
    # tuples where commas mean something else
    "y = x[(a, b):c, ::(d, e)]\n",
    "y = x[(a, b)], x[a,], x[()], x[*a], x[*a, 1:2], x[a:b:c]\n",
    "if (a, b):\n    pass\nelif (c,):\n    pass\n",
    "while (a,):\n    pass\n",
    "assert (a, b), (c, d)\n",
    "with (a, b):\n    pass\nwith ((a, b)):\n    pass\nwith ((a, b)) as c, d:\n    pass\n",
    "x: (a, b) = c, d\n(y): int = 1\nz.w: int\n",
    "for a, *b in *c, d:\n    pass\n",
    "x = *a, b\nx += 1, 2\n",
    "del (a, b), c\n",
    # cosmetic, but must stay right
    "f = lambda: 0\ng = lambda *a, **k: (a, k)\n",
    "x = 2j ** 3, -2j, 1e400, -1e400, (1).real, 1.0.real, 2j.real, -(2).real\n",
    "x = (-a) ** b, -a ** b, a ** -b, a ** b ** c, (a ** b) ** c, (-1) ** 2\n",
    "x = (a < b) < c, a < b < c, a < (b < c), not (a and b), (not a) == b\n",
    "x = (a if b else c) if d else e, a if b else (c if d else e), a if (b if c else d) else e\n",
    "x = (yield), (await_), [*a, *b], {*a, 1}\n",
    "x = [a for a in (b, c) if (d if e else f) if g for h in a]\n",
    "x = ((a := 1), (b := 2))\nwhile c := d:\n    pass\nprint((e := 3), k=(g := 4))\n",
    "async def f():\n    async with a as b:\n        pass\n"
    "    async for c in d:\n        await c\n"
    "    return [x async for x in y]\n",
    "class A(B, *c, metaclass=M, **k):\n    x: int\n",
    "@a\n@b(1)\nclass C:\n    @d\n    def e(self):\n        pass\n",
    "global a, b\nimport os.path as p, sys\nfrom . import q\nfrom ..r import s as t, u\n",
    "raise A from b\n",
    "x = b'a\\x00', u'u'\n",
    "x = 'it\\'s', \"say \\\"hi\\\"\", 'both \\' and \"', 'tab\\t\\r\\n', '\u00e9'\n",
    'def f():\n    \'\'\'Doc with \\\\ and "quotes"\n\n    and """ triple """ \'\'\'\n',
    "def f():\n    'ends with \"'\n",
    "def f():\n    'carriage \\r return'\n",
    "'module doc'\n'second string'\nx = 'not a doc\\nof two lines'\n",
]


@pytest.mark.parametrize("text", FAULTS)
def test_round_trip(text: str) -> None:
    same(text)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of 3.12")
@pytest.mark.parametrize(
    "text",
    [
        "type X = int | str\ntype Y[T: int, *Ts, **P] = dict[T, tuple[*Ts]]\n",
        "def f[T](x: T) -> T:\n    pass\nclass A[T: (int, str)](B):\n    pass\n",
        'x = f"{\'\\n\'.join(a)} {"q"}"\n',
    ],
)
def test_round_trip_of_newer_syntax(text: str) -> None:
    same(text)


def test_numbers_built_into_trees_keep_their_value() -> None:
    for value in (-2.0, -3, -0.0, -2j, 1 + 2j, complex(-0.0, -1.0), float("-inf"), float("nan")):
        for op in (ast.Pow(), ast.Mult()):
            tree = ast.Module(
                [
                    ast.Assign(
                        [ast.Name("y", ast.Store())], ast.BinOp(ast.Constant(value), op, two())
                    )
                ],
                [],
            )
            space: dict[str, object] = {"np": np}
            exec(write(tree), space)
            with np.errstate(all="ignore"):
                expected = value**2 if isinstance(op, ast.Pow) else value * 2
            assert repr(space["y"]) == repr(expected)


def two() -> ast.expr:
    return ast.Constant(2)


def test_number() -> None:
    parts = [0.0, -0.0, 1.0, -2.5, 1e300, float("inf"), float("-inf"), float("nan")]
    values: list[object] = [complex(a, b) for a, b in itertools.product(parts, parts)]
    values += [*parts, 0, 3, -3, 10**400, -(10**400), True, False]
    for value in values:
        node = ast.fix_missing_locations(ast.Expression(number(value)))
        again = eval(compile(node, "<number>", "eval"), {"np": np})
        assert repr(again) == repr(value)
        assert type(again) is type(value)
        assert dump(ast.parse(ast.unparse(node), mode="eval")) == dump(node)


def test_number_of_numpy_scalars() -> None:
    for value, text in ((np.float64(-2.0), "-2.0"), (np.int8(-3), "-3"), (np.bool_(True), "True")):
        assert ast.unparse(number(value)) == text
    with pytest.raises(InternalError, match="can't be written as a number"):
        number("2.0")


# ---- comments, blank lines, layout -----------------------------------------


def test_layout_of_a_module() -> None:
    tree = ast.parse(
        "import numpy as np\ndef f(x):\n y=x\n return y\ndef g():\n def h(): pass\n"
        " return h\nz=1\n"
        "class A:\n 'Doc.'\n a=1\n def m(self): pass\n b=2\n"
    )
    function = tree.body[1]
    assert isinstance(function, ast.FunctionDef)
    function.body.insert(0, Comment(text="---- forward sweep ----"))
    function.body.append(Comment(text=""))
    tree.body.insert(1, Comment(text="about f\nof two lines"))
    tree.body.insert(0, Comment(text="Generated."))
    tree.body.append(Blank())
    tree.body.append(Comment(text="end"))
    assert write(tree) == textwrap.dedent(
        '''\
        # Generated.
        import numpy as np


        # about f
        # of two lines
        def f(x):
            # ---- forward sweep ----
            y = x
            return y
            #


        def g():
            def h():
                pass

            return h


        z = 1


        class A:
            """Doc."""
            a = 1

            def m(self):
                pass

            b = 2


        # end
        '''
    )


def test_blank_lines() -> None:
    tree = ast.parse("a = 1\nb = 2")
    tree.body.insert(1, Blank())
    assert write(tree) == "a = 1\n\nb = 2\n"
    assert write(ast.Module([], [])) == ""


def test_comments_of_every_block() -> None:
    tree = ast.parse(
        "if a:\n b\nelse:\n c\nfor d in e:\n f\nelse:\n g\nwhile h:\n i\nwith j:\n k\n"
        "try:\n l\nexcept m:\n n\nelse:\n o\nfinally:\n p\n"
        "match q:\n case r:\n  s\n"
    )
    blocks = [
        getattr(node, name)
        for node in ast.walk(tree)
        for name in ("body", "orelse", "finalbody")
        if isinstance(getattr(node, name, None), list) and getattr(node, name)
    ]
    for position, block in enumerate(blocks):
        block.insert(0, Comment(text=f"before {position} (["))
        block.append(Comment(text=f"after {position} }}"))
    text = write(tree)
    for position in range(len(blocks)):
        assert f"# before {position} ([\n" in text
        assert f"# after {position} }}\n" in text


def test_long_comments_are_wrapped() -> None:
    text = write(ast.Module([Comment(text="word " * 40), ast.Pass()], []))
    assert max(map(len, text.splitlines())) <= 99
    assert text.count("word") == 40
    assert all(line.startswith("# ") for line in text.splitlines()[:-1])


LONG = [
    "total = first_name * {0} + second_name * {0} - third_name ** {0} / {0}",
    "total[{0}, {0}] += np.sum({0} * np.exp({0} - {0}), axis=(0, 1), keepdims=True)",
    "return_value = {0} if {0} and {0} or not {0} else {0} is not {0}",
    "x = y = z = {0}, {0}, {0}, {0}, {0}",
    "f({0}, *{0}, key={0} + {0}, **{0})",
    "f(lambda x, y: x + y, [a for a, b in zip({0}, {0}) if a in {0}], {0})",
    "target.of_the_store[{0} + 1, {0}, {0} : {0}, {0}] = {0} + {0}",
    "assert {0} and {0} and {0}, 'message' + str({0})",
    "del a[{0}, {0}, {0}], b[{0}, {0}]",
    "from package import {0}_1, {0}_2, {0}_3, {0}_4",
    "raise ValueError({0} + {0} + {0} + f'{{{0}}} and {{{0}!r:>10}}')",
    "x: dict[{0}, {0}] = {0}[{0}]({0}, {0}).method({0})",
    "x = -{0} ** -{0} * ~{0} + {0} @ {0} - (not {0})",
    "x = {0}.a.b.c.d({0}).e[{0}].f({0}, {0})",
    "if {0} and {0} or {0}:\n    pass\nelif {0} < {0} <= {0} not in {0}:\n    pass",
    "for i in range({0}, {0}, {0} * {0} + {0}):\n    pass",
    "while {0} and {0} and {0} and {0}:\n    pass",
    "def f({0}, b={0}, *, c={0}, d: {0} = {0}, **e) -> {0}:\n    return {0} + {0}, {0} * {0}, {0}",
    "with open({0}, {0}, {0}) as a, open({0}, {0}) as b:\n    pass",
    "class A({0}, {0}, {0}, metaclass={0}, key={0}):\n    pass",
    "x = {{{0}: {0}, 'k': lambda a, b={0}: a + {0}, **{0}}}",
    "x = {{a: b for a in {0} for b in {0} if {0} if {0}}}",
    "{0}({0}, {0})({0}, {0}, {0})",
    "return_ = ({0}, {0}), [{0}, {0}], {{{0}, {0}}}, {0}[{0} : {0}, ::{0}]",
    "async def f():\n    return [x async for x in {0}({0}, {0}) if await {0}({0})]",
    "x = (yield_ := {0} + {0} + {0} + {0} + {0})",
    "def f():\n    x = yield {0} + {0} + {0} + {0} + {0}\n    yield {0}, {0}, {0}, {0}, {0}, {0}",
]


@pytest.mark.parametrize("template", LONG)
def test_long_lines_are_broken(template: str) -> None:
    text = same(template.format("a_name_of_24_characters_"))
    assert max(map(len, text.splitlines())) <= 99


def test_how_lines_are_broken() -> None:
    a, b = "first_long_name_of_it", "second_long_name_of_it"
    text = same(
        f"x = {a} * {b} + np.sin({a}) * {b} - np.cos({b}) * {a}\n"
        f"x_bar[i, j] += np.sum({a} * np.exp({b} - {a}), axis=(0, 1), keepdims=True)\n"
        f"d = {{'a': {a} + {b}, 'b': {a} * {b}, 'c': {a} - {b}}}\n"
        f"def f({a}, {b}, {a}_2, {b}_2, *, key=None):\n    return {a}, {b}, {a}_2, {b}_2, key\n"
    )
    assert text == textwrap.dedent(
        """\
        x = (
            first_long_name_of_it * second_long_name_of_it
            + np.sin(first_long_name_of_it) * second_long_name_of_it
            - np.cos(second_long_name_of_it) * first_long_name_of_it
        )
        x_bar[i, j] += np.sum(
            first_long_name_of_it * np.exp(second_long_name_of_it - first_long_name_of_it),
            axis=(0, 1),
            keepdims=True,
        )
        d = {
            "a": first_long_name_of_it + second_long_name_of_it,
            "b": first_long_name_of_it * second_long_name_of_it,
            "c": first_long_name_of_it - second_long_name_of_it,
        }


        def f(
            first_long_name_of_it,
            second_long_name_of_it,
            first_long_name_of_it_2,
            second_long_name_of_it_2,
            *,
            key=None,
        ):
            return (
                first_long_name_of_it,
                second_long_name_of_it,
                first_long_name_of_it_2,
                second_long_name_of_it_2,
                key,
            )
        """
    )


def test_what_has_no_break_stays_long() -> None:
    assert same(f"x = '{'a' * 200}'\n").count("\n") in (1, 3)
    assert same(f"{'a' * 200} = 1\n").splitlines()[0].startswith("a" * 200)


# ---- the guard -------------------------------------------------------------


def test_a_tree_that_text_cannot_mean_is_refused() -> None:
    bad = ast.Module([ast.Expr(ast.Name("not a name", ast.Load()))], [])
    with pytest.raises(InternalError, match="doesn't mean what was to be written"):
        write(bad)
    empty = ast.Module([ast.If(ast.Name("a", ast.Load()), [Comment(text="only this")], [])], [])
    with pytest.raises(InternalError, match="isn't Python"):
        write(empty)
    scalar = ast.Module([ast.Expr(ast.Constant(np.float64(2.0)))], [])
    with pytest.raises(InternalError, match="was made a literal without `number`"):
        write(scalar)


def test_a_fault_of_line_breaking_falls_back_to_long_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "wrap", lambda line, limit: [line[:50]])
    text = f"x = f({', '.join(['argument'] * 20)})\n"
    assert write(ast.parse(text)) == text


def test_trees_built_without_optional_fields() -> None:
    arguments = ast.arguments(args=[ast.arg("x")])
    function = ast.FunctionDef(name="f", args=arguments, body=[ast.Return(ast.Name("x"))])
    for node in (arguments, function):
        for name in ("posonlyargs", "kwonlyargs", "kw_defaults", "defaults", "decorator_list"):
            if name in node._fields and not hasattr(node, name):
                setattr(node, name, [])
    assert write(ast.Module(body=[function])) == "def f(x):\n    return x\n"


def test_shared_nodes_may_be_printed_by_many_threads() -> None:
    shared = ast.parse("(a + b) * c ** -d", mode="eval").body
    wrong: list[str] = []

    def run(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(50):
            op = draw.choice([ast.Pow(), ast.Add(), ast.Mult()])
            tree = ast.Module([ast.Expr(ast.BinOp(shared, op, shared))], [])
            if dump(ast.parse(write(tree))) != dump(tree):
                wrong.append(write(tree))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not any(
        name.startswith("_p") for name in vars(shared) if name not in shared._attributes
    )


# ---- lines -----------------------------------------------------------------


def test_line_table() -> None:
    tree = ast.parse(
        "def f(x):\n    if x:\n        y = a\n    else:\n        y = b\n    return y\n"
        "try:\n    c\nexcept d:\n    e\n"
    )
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    long = ast.parse("z = " + " + ".join(["a_long_name_for_this"] * 8)).body[0]
    function.body.insert(1, Comment(text="a comment\nof two"))
    function.body.insert(2, long)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | Comment):
            line = {"If": 20, "Return": 30}.get(type(node).__name__, 10)
            node.srcgrad_origin = "model.py", line  # type: ignore[attr-defined]
    text = write(tree)
    found = line_table(tree, text)
    assert {file for file, _ in found.values()} == {"model.py"}
    table = {ours: line for ours, (_, line) in found.items()}
    rows = text.splitlines()
    assert [rows[line - 1].strip() for line, origin in table.items() if origin == 20] == ["if x:"]
    assert [rows[line - 1].strip() for line, origin in table.items() if origin == 30] == [
        "return y"
    ]
    stretch = [i + 1 for i, row in enumerate(rows) if "a_long" in row]
    assert len(stretch) == 8
    assert all(table[line] == 10 for line in (stretch[0] - 1, *stretch, stretch[-1] + 1))
    assert not any("def" in rows[line - 1] or "#" in rows[line - 1] for line in table)


# ---- astor -----------------------------------------------------------------


def test_astor_is_imported_late_and_without_warnings() -> None:
    program = (
        "import sys, ast\n"
        "from srcgrad.codegen.writer import write\n"
        "assert 'astor' not in sys.modules\n"
        "print(write(ast.parse('x = f\"{y}\"')), end='')\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("x = f'{y}'\n", "")


# ---- much code -------------------------------------------------------------


def library(step: int) -> list[Path]:
    files = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    return [file for file in files if "site-packages" not in file.parts][::step]


def check_file(file: Path) -> bool:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return False
    with_breaks = writer._printed(writer._private(tree), writer._wrapped)
    assert dump(ast.parse(with_breaks)) == dump(tree), file
    return True


def test_some_of_the_standard_library() -> None:
    assert sum(map(check_file, library(100))) >= 10


@pytest.mark.slow
def test_much_of_the_standard_library() -> None:
    assert sum(map(check_file, library(4))) >= 100


@pytest.mark.parametrize("extra", range(12))
def test_nested_tuples_fit_whatever_their_length(extra: int) -> None:
    """A comma put behind the last item counts."""
    names = ", ".join(f"name_{k}" for k in range(10)) + "_" + "x" * extra
    text = write(ast.parse(f"def f():\n    return total * h / 3.0, (a, b), ({names})"))
    assert max(map(len, text.splitlines())) <= 99
    assert len(text.splitlines()) < 12
