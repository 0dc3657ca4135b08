"""Names that a cell defines and needs."""

from __future__ import annotations

import pytest

from tir_distill.filters.cell_files import GIVEN
from tir_distill.filters.cell_names import cell_names


@pytest.mark.parametrize(
    ("code", "defined", "needed"),
    [
        ("x = y + 1", {"x"}, {"y"}),
        ("x = 1\nprint(x)", {"x"}, set()),
        ("x = x + 1", {"x"}, {"x"}),
        ("x += 1", {"x"}, {"x"}),
        ("a, (b, *c) = d", {"a", "b", "c"}, {"d"}),
        ("a: int = b", {"a"}, {"b"}),
        ("import numpy as np, os.path\nnp.array(z)", {"np", "os"}, {"z"}),
        ("from PIL import Image", {"Image"}, set()),
        ("for i in xs:\n    t = i", {"i", "t"}, {"xs"}),
        ("[v for v in vs if v > w]", {"v"}, {"vs", "w"}),
        ("{k: v for k, v in d.items()}", {"k", "v"}, {"d"}),
        ("def f(a, b=c):\n    return a + b + g", {"f"}, {"c", "g"}),
        ("f = lambda q: q + r", {"f"}, {"r"}),
        ("with open(p) as h:\n    h.read()", {"h"}, {"p"}),
        ("try:\n    a()\nexcept E as e:\n    print(e)", {"e"}, {"a", "E"}),
        ("class A(B):\n    x = 1", {"A", "x"}, {"B"}),
        ("if (n := m) > 1:\n    print(n)", {"n"}, {"m"}),
        ("image_1.size; IMAGE_PATH; input_image", set(), set()),
        ("print(len(sorted([1])))", set(), set()),
        ("async def g():\n    await h()", {"g"}, {"h"}),
        ("def fact(n):\n    return n * fact(n - 1)", {"fact"}, set()),
    ],
)
def test_names(code: str, defined: set[str], needed: set[str]) -> None:
    names = cell_names(code)
    assert names.defined == defined
    assert names.needed == needed


def test_files_but_not_ours() -> None:
    code = (
        "im.save('part.png'); pd.read_csv('/tmp/a/b.csv'); open('input_image.jpg'); open('x/image_2.png'); s = 'hello.'"
    )
    names = cell_names(code).outside
    assert names.written == {"part.png"}
    assert names.read == {"b.csv", GIVEN}
    assert not names.reads_any
    assert not names.writes_any


@pytest.mark.parametrize(
    ("code", "read", "written"),
    [
        ("im.save('a.png'); cv2.imread('a.png')", set(), {"a.png"}),
        ("p = 'out/a.png'\nim.save(p)", set(), {"a.png"}),
        ("open('a.txt', 'w').write('b'); open('c.txt')", {"c.txt"}, {"a.txt"}),
        ("look('a.png')", {"a.png"}, {"a.png"}),  # by a function that nobody knows
        ("from pathlib import Path\nPath('d').mkdir(); (Path('d') / 'a.json').read_text()", {"a.json"}, {"d"}),
        ("f = lambda: open('a.csv')", {"a.csv"}, set()),
    ],
)
def test_files_read_and_written(code: str, read: set[str], written: set[str]) -> None:
    names = cell_names(code).outside
    assert (names.read, names.written) == (read, written)


@pytest.mark.parametrize(
    ("code", "reads", "writes"),
    [
        ("im.save(f'c_{1}.png')", False, True),
        ("im.save('c' + '.png')", False, True),
        ("from PIL import Image\nImage.open(f'c_{1}.png')", True, False),
        ("import glob\nglob.glob('*.png')", True, False),
        ("import os\nos.listdir('.')", False, False),
        ("import os\nos.listdir()", True, False),
        ("import shutil\nshutil.copy('a', 'b')", False, True),
        ("'a-b'.replace('-', '')", False, False),
        ("open(name, mode)", False, True),
    ],
)
def test_files_whose_names_only_show_later(code: str, reads: bool, writes: bool) -> None:
    names = cell_names(code).outside
    assert (names.reads_any, names.writes_any) == (reads, writes)


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("print(im.size, len(rows), round(x))", set()),
        ("part = im.crop((0, 0, 9, 9)).convert('L')", set()),
        ("import numpy as np\na = np.asarray(im)\nprint(a.mean())", set()),
        ("import cv2\ngray = cv2.cvtColor(a, cv2.COLOR_BGR2GRAY)", set()),
        ("import cv2\n_ = cv2.circle(a, (1, 1), 3, 0)", {"a"}),
        ("import cv2\ncv2.flip(a, 1, b)", {"b"}),
        ("cv2.line(a, p, q, 0)", {"cv2", "a", "p", "q"}),  # imported elsewhere, if at all
        ("from PIL import ImageDraw\nImageDraw.Draw(im).line((0, 0, 9, 9))", {"im"}),
        ("import numpy as np\nnp.copyto(a, 0)", {"a"}),
        ("import random\nx = random.shuffle(rows) or 1", {"rows"}),
        ("x = rows.pop()", {"rows"}),
        ("x = rows.sort() or 1", {"rows"}),
        ("rows.append(x)", {"rows"}),
        ("d['k'][0].w = 1", {"d"}),
        ("df.sort_values('a', inplace=True)", {"df"}),
        ("print('a', file=log)", {"log"}),
        ("mystery(a, b=c)", {"mystery", "a", "c"}),
        ("def f():\n    d['k'] = 1", set()),
        ("def f():\n    d['k'] = 1\nf()", {"d"}),
        ("def f():\n    x = d\n    x['k'] = 1\nf()", {"d"}),
        ("def f():\n    d = {}\n    d['k'] = 1\nf()", set()),
        ("def f(q):\n    q.append(1)\nf(rows)", {"rows"}),
        ("def f(q):\n    return len(q)\nf(rows)", set()),
        ("def f():\n    global d\n    d = 1\nf()", {"d"}),
        ("def f():\n    def g():\n        rows.pop()\n    g()\nf()", {"rows"}),
        ("def f():\n    rows.pop()\nrun(f)", {"rows", "run", "f"}),
        ("f = lambda: rows.pop()", {"rows"}),
        ("ImageDraw.Draw(image_1).line(0)", {"ImageDraw"}),
    ],
)
def test_what_may_have_been_changed_in_place(code: str, changed: set[str]) -> None:
    assert cell_names(code).changed == changed


@pytest.mark.parametrize(
    ("code", "links"),
    [
        ("d = ImageDraw.Draw(im)", [{"d", "ImageDraw", "im"}]),
        ("from PIL import ImageDraw\nd = ImageDraw.Draw(im)", [{"d", "im"}]),
        ("b = a", [{"a", "b"}]),
        ("b = [a, 1]", [{"a", "b"}]),
        ("b = a.copy()", []),
        ("w, h = im.size", []),
        ("n = w * 3", []),
        ("rows.append(x)", [{"rows", "x"}]),
        ("for r in rows:\n    pass", [{"r", "rows"}]),
    ],
)
def test_names_for_one_object(code: str, links: list[set[str]]) -> None:
    assert list(cell_names(code).links) == links


@pytest.mark.parametrize(
    ("code", "state", "modules"),
    [
        ("import numpy as np\nnp.random.seed(3)", {"numpy.random"}, {"numpy.random.seed"}),
        ("import os\nos.environ['W'] = '1'", {"os.environ"}, {"os.environ"}),
        ("import os\nos.getenv('W')", set(), {"os.environ.get"}),
        ("from random import random\nrandom()", {"random"}, {"random.random"}),
        ("import matplotlib.pyplot as plt\nplt.plot(x)", set(), {"matplotlib.pyplot.plot"}),
        ("import matplotlib.pyplot as plt\nplt.style.use('x')", {"matplotlib"}, {"matplotlib.pyplot.style.use"}),
        ("import pandas as pd\npd.set_option('x', 1)", {"pandas"}, {"pandas.set_option"}),
        ("import wonder\nwonder.work()", {"wonder"}, {"wonder.work"}),
    ],
)
def test_state_of_modules(code: str, state: set[str], modules: set[str]) -> None:
    names = cell_names(code).outside
    assert (names.state, names.modules) == (state, modules)


def test_imports_and_functions_of_earlier_cells() -> None:
    first = cell_names("import cv2\ndef mark(q):\n    cv2.circle(q, (1, 1), 3, 0)")
    second = cell_names("mark(im)\nsmall = cv2.resize(big, (9, 9))", first.imports, first.functions)
    assert second.changed == {"im"}


def test_calling_a_function_of_an_earlier_cell_is_doing_what_its_body_says() -> None:
    first = cell_names(
        "import random\ndef f():\n    rows.pop()\n    random.seed(n)\n    return open('a.txt', 'w').write(text)"
    )
    second = cell_names("x = f()", first.imports, first.functions)
    assert second.changed == {"rows"}
    assert second.needed == {"f", "random", "rows", "n", "text"}
    assert second.outside.state == {"random"}
    assert second.outside.written == {"a.txt"}


def test_code_that_does_not_parse() -> None:
    names = cell_names("!pip install x\npart = 3\nif part == 4:")
    assert names.defined == {"part"}
    assert not names.needed


@pytest.mark.parametrize("code", ["(" * 500, "\x00", "a" * 100_000, "-" * 20_000 + "1", "'\\d'"])
def test_hostile_code_is_survived(code: str) -> None:
    cell_names(code)
