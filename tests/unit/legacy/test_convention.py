"""Only what is certainly a file of the data set gets another name, and then everywhere in its row."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_cases import BLUE, RED, Case, check, said, tool, user
from legacy_helpers import data_uri
from tir_distill.legacy.convention import file_names, renamer, with_input_object

OWN = "/mllm_hdd/set/pic 1.jpg"


@pytest.mark.parametrize(
    "code",
    [
        "print(f'/{a}/{b}')",
        "print(v, '/km/h')",
        "u = base + '/api/v1'",
        "u = base + '/data/v1.json'",
        "u = '/data/v1.json' % x",
        "d.strftime('/%Y/%m')",
        "re.search('/(\\\\d+)/(\\\\d+)', s)",
        "re.search(r'/data/(\\d+).png', s)",
        "glob.glob('/mnt/data/*')",
        "glob.glob('/mnt/data/*.png')",
        "os.listdir('/mnt/data/v1.2')",
        "os.makedirs('/mllm_hdd/out', exist_ok=True)",
        "open(f'/mnt/data/{n}.png')",
        "open('/mnt/data/%d.png' % n)",
        "open('/mnt/data/{}.png'.format(n))",
        "font = '/usr/share/fonts/x.ttf'",
        "u = 'https://a.com/data/c.png'",
        "a = x['k']/data/c.png",
        "s = '/'.join(x)",
        "a = 'x'/b/'y'",
        "t = 'mnt/data/c.png'",
        "t = '/tmp/ is where x.png lies'",
    ],
)
def test_ordinary_code_stays_as_it_is(code: str) -> None:
    assert file_names([code], []) == {}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("Image.open('/mnt/data/a.png')", {"/mnt/data/a.png": "a.png"}),
        ('im.save(r"/tmp/out/b_1.JPG")', {"/tmp/out/b_1.JPG": "b_1.JPG"}),
        ("p = f'/home/u/c.csv'", {"/home/u/c.csv": "c.csv"}),
        ("open('/mllm_hdd/x y/图.webp')", {"/mllm_hdd/x y/图.webp": "图.webp"}),
        ("open('/anything/at/input_image.jpg')", {"/anything/at/input_image.jpg": "input_image.jpg"}),
        ("open('/anything/image_2.png')", {"/anything/image_2.png": "image_2.png"}),
        (
            "shutil.copy('/mnt/a/x.png', '/mnt/b/x.png')",
            {"/mnt/a/x.png": "x.png", "/mnt/b/x.png": "x_2.png"},
        ),
    ],
)
def test_files_of_the_data_set_lie_in_the_work_folder(code: str, names: dict[str, str]) -> None:
    assert file_names([code], []) == names


def test_the_folder_of_the_rows_own_picture_is_known_too() -> None:
    assert file_names(["open('/d/out/b.png')"], ["/d/a.jpg"]) == {
        "/d/a.jpg": "input_image.jpg",
        "/d/out/b.png": "b.png",
    }
    assert file_names(["open('/d/out/b.png')"], []) == {}


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("saved /d/a.jpg.", "saved input_image.jpg."),
        ("存到/d/a.jpg里", "存到input_image.jpg里"),
        ("Path:/d/a.jpg", "Path:input_image.jpg"),
        ("/d/a.jpg.png", "image_2.png"),
        ("http://h/d/a.jpg", "http://h/d/a.jpg"),
        ("C:/d/a.jpg", "C:/d/a.jpg"),
        ("/x/d/a.jpg", "/x/d/a.jpg"),
        ("/d/a.jpg_2", "/d/a.jpg_2"),
        ("f'{root}/d/a.jpg'", "f'{root}/d/a.jpg'"),
    ],
)
def test_a_path_is_renamed_only_where_it_is_whole(text: str, after: str) -> None:
    names = file_names([], ["/d/a.jpg", "/d/a.jpg.png"])
    assert renamer(names)(text) == after


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("print(input_image.size)", "print(image_1.size)"),
        ("open('input_image.jpg')", "open('input_image.jpg')"),
        (
            "f(input_image=3)\nprint(input_image.size)",
            "input_image = image_1\nf(input_image=3)\nprint(input_image.size)",
        ),
        ("self.input_image = input_image", "input_image = image_1\nself.input_image = input_image"),
        ("print('input_image', input_image)", "input_image = image_1\nprint('input_image', input_image)"),
    ],
)
def test_the_preloaded_object_has_a_name_that_exists(code: str, after: str) -> None:
    assert with_input_object([code]) == [after]


CASES = [
    Case(
        "what code renames, results and thoughts rename",
        {
            "image": [data_uri(RED), data_uri(BLUE)],
            "question": f'Which?\n### User Image Path: "{OWN}"',
            "response": f"<think>It lies at {OWN}.<code>\n```python\ncrop('{OWN}', '/mllm_hdd/out/c.png')\n"
            "print('/mllm_hdd/out/c.png')\n```\n</code><sandbox_output>/mllm_hdd/out/c.png\n<image></sandbox_output>"
            f"I cut {OWN} to /mllm_hdd/out/c.png.</think>From /mllm_hdd/out/c.png: <answer>red</answer>",
        },
        [
            user("<image>Which?"),
            said("It lies at input_image.jpg.", "", "crop('input_image.jpg', 'c.png')\nprint('c.png')"),
            tool("c.png\n<image>"),
            said("I cut input_image.jpg to c.png.", "From c.png: <answer>red</answer>"),
        ],
        [RED, BLUE],
        "red",
    ),
    Case(
        "ordinary code and its result",
        {
            "messages": [
                {"role": "user", "content": "How fast?"},
                {"role": "assistant", "content": "<think>a</think><code>print(90, '/km/h', f'/{a}/{b}')</code>"},
                {"role": "tool", "content": "90 /km/h /1/2"},
                {"role": "assistant", "content": "<think>b</think><answer>90</answer>"},
            ]
        },
        [
            user("How fast?"),
            said("a", "", "print(90, '/km/h', f'/{a}/{b}')"),
            tool("90 /km/h /1/2"),
            said("b", "<answer>90</answer>"),
        ],
        [],
        "90",
    ),
    Case(
        "line ends of Windows behind a picture",
        {
            "messages": [
                {"role": "user", "content": "<image>\r\n\r\nWhich?"},
                {"role": "assistant", "content": "<think>b</think><answer>red</answer>"},
            ],
            "images": [data_uri(RED)],
        },
        [user("<image>Which?"), said("b", "<answer>red</answer>")],
        [RED],
        "red",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_rows(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_a_picture_listed_by_its_absolute_path_is_known_by_it(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(RED)
    path = str(tmp_path / "p.png")
    row = {
        "messages": [
            {"role": "user", "content": "<image>Which?"},
            {"role": "assistant", "content": f"<think>a</think><code>open('{path}')</code>"},
            {"role": "tool", "content": f"<{path}>"},
            {"role": "assistant", "content": "<think>b</think><answer>red</answer>"},
        ],
        "images": [path],
    }
    after = [
        user("<image>Which?"),
        said("a", "", "open('input_image.jpg')"),
        tool("<input_image.jpg>"),
        said("b", "<answer>red</answer>"),
    ]
    check(Case("absolute", row, after, [RED], "red"), tmp_path)
