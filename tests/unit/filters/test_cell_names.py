"""Names that a cell defines and needs."""

from __future__ import annotations

import pytest

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
    assert cell_names(code).files == {"part.png", "/tmp/a/b.csv"}


def test_code_that_does_not_parse() -> None:
    names = cell_names("!pip install x\npart = 3\nif part == 4:")
    assert names.defined == {"part"}
    assert not names.needed


@pytest.mark.parametrize("code", ["(" * 500, "\x00", "a" * 100_000, "-" * 20_000 + "1", "'\\d'"])
def test_hostile_code_is_survived(code: str) -> None:
    cell_names(code)
