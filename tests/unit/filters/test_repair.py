"""F5: the eight cases of its definition, and the corners around them."""

from __future__ import annotations

import copy
import dataclasses

import pytest

from filters_helpers import THINK, Script, default_settings, make_picture
from tir_distill.filters import evaluate, repair
from tir_distill.records import TokenCounts, Trajectory, conversation

SETTINGS = default_settings()
OPEN = "from PIL import Image\nim = Image.open('input_image.jpg')\nprint(im.getpixel((3, 4))[0])"
AFTERWARDS = "So that settles what was asked, and the answer follows from it."


def f5(trajectory: Trajectory) -> str | None:
    return next((fail.reason for fail in evaluate(trajectory, SETTINGS).fails if fail.rule == "F5"), None)


def kept(trajectory: Trajectory) -> list[int]:
    return [turn.index for turn in evaluate(trajectory, SETTINGS).trajectory.turns]


def accepted(trajectory: Trajectory) -> bool:
    return evaluate(trajectory, SETTINGS).accepted


# the eight cases


def test_unused_output_is_cut_with_its_turn() -> None:
    sample = Script().cell(OPEN, "137").search().answer(thinking=AFTERWARDS).done("image_search")
    report = evaluate(sample, SETTINGS)
    assert report.accepted
    assert kept(sample) == [1, 2]
    assert report.trajectory.repaired_turns == (0,)
    assert report.trajectory.notes == ("f5_cut:call_0_0",)
    assert "137" not in str(conversation(report.trajectory))


def test_used_number_is_kept() -> None:
    sample = (
        Script().cell(OPEN, "137").search().answer(thinking="With 137 in red it must be Mumbai.").done("image_search")
    )
    assert kept(sample) == [0, 1, 2]
    assert evaluate(sample, SETTINGS).trajectory.repaired_turns == ()


def test_used_picture_is_kept_and_unused_picture_cut() -> None:
    code = "image_1.crop((0, 0, 64, 64))"
    used = Script().search().cell(code, pictures=[make_picture()])
    assert kept(used.answer(thinking="The crop shows a harbour, so this is Mumbai.").done("image_search")) == [0, 1, 2]
    unused = Script().search().cell(code, pictures=[make_picture()])
    sample = unused.answer(thinking="By the article the answer is Mumbai, nothing else fits.").done("image_search")
    assert kept(sample) == [0, 2]
    assert accepted(sample)


def test_failed_cell_is_cut() -> None:
    script = Script().search().failed_cell("image_1.crop((9, 9, 1, 1))", "Traceback\nSystemError: tile cannot extend")
    sample = script.answer(thinking=AFTERWARDS).done("image_search")
    assert kept(sample) == [0, 2]
    assert accepted(sample)


def test_later_cell_that_needs_a_cut_name_drops_the_sample() -> None:
    script = Script().search().cell("part = image_1.crop((0, 0, 9, 9))").cell("print(part.size[0] * 7)", "63")
    sample = script.answer(thinking="It is 63 wide, which is what the text says.").done("image_search")
    assert f5(sample) == "name_needed"
    report = evaluate(sample, SETTINGS)
    assert report.trajectory.turns == sample.turns
    assert report.first == "F5"


def test_answer_only_from_the_cut_cell_drops_the_sample() -> None:
    script = (
        Script()
        .search()
        .failed_cell("print(image_1.size)\nraise ValueError", "512 384\nTraceback (most recent call last)\nValueError")
    )
    sample = script.answer("384", thinking=AFTERWARDS).done("image_search")
    assert f5(sample) in ("answer_needed", "quote_needed")


def test_two_image_turns_one_used_one_not() -> None:
    script = Script().cell(OPEN, "137").cell("print(image_1.getpixel((8, 8))[0])", "59").search()
    sample = script.answer(thinking="The value 59 is what decides this question here.").done("image_search")
    assert kept(sample) == [1, 2, 3]
    assert accepted(sample)


def test_two_image_turns_both_unused() -> None:
    script = Script().cell(OPEN, "137").cell("print(image_1.getpixel((8, 8))[0])", "59").search()
    sample = script.answer(thinking=AFTERWARDS).done("image_search")
    assert kept(sample) == [2, 3]
    assert evaluate(sample, SETTINGS).trajectory.repaired_turns == (0, 1)


def test_mixed_turn_loses_only_the_picture_call() -> None:
    script = Script()
    script.turn(script.a_cell(OPEN, "137"), script.a_search(place=1), content="Both at once.")
    sample = script.answer(thinking=AFTERWARDS).done("image_search")
    report = evaluate(sample, SETTINGS)
    assert report.accepted
    first = report.trajectory.turns[0]
    assert [call.name for call in first.calls] == ["search"]
    assert [result.name for result in first.results] == ["search"]
    assert first.content == "Both at once."
    assert first.thinking == sample.turns[0].thinking
    assert report.trajectory.repaired_turns == (0,)


# what counts as a use


@pytest.mark.parametrize(
    ("output", "later"),
    [
        ("0.38764", "That is about 0.39 of the whole, so Mumbai."),
        ("0.38764", "So 38.8% of them live there, in Mumbai."),
        ("1,234,567", "There are 1234567 people in this place."),
        ("Total: 42.0", "The count is 42 and that is enough."),
        ("SHIVAJI TERMINUS", "The sign names Shivaji, a station in Mumbai."),
        ("孟买火车站", "牌子上写着火车站，所以应该是孟买没有别的可能了。"),
        ("7", "There are 7 of these on the quay, so Mumbai."),
    ],
)
def test_forms_of_use(output: str, later: str) -> None:
    sample = Script().search().cell("print(image_1.info)", output).answer(thinking=later).done("image_search")
    assert kept(sample) == [0, 1, 2]


@pytest.mark.parametrize(
    "later",
    [
        "The letters on the banner spell MUMBAI CST. Done then.",
        "Now it is clear: the sign says Mumbai on the wall.",
        "牌子上写着孟买火车站，因此答案应当是孟买，没有疑问了。",
        "So it is the Victoria Terminus, and the city is Mumbai.",  # in no words that one could look for
        "By the article it is Mumbai, and the banner has the name too.",
    ],
)
def test_picture_is_used_by_the_next_turn_in_whatever_words(later: str) -> None:
    script = Script().search().cell("image_1.crop((0, 0, 64, 64))", "[image saved]", pictures=[make_picture()])
    sample = script.answer(thinking=later).done("image_search")
    assert kept(sample) == [0, 1, 2]
    assert accepted(sample)


@pytest.mark.parametrize(
    "later",
    [
        "According to the search results it is Mumbai, nothing else.",
        "The article says that it is Mumbai, so that is settled.",
        "I already know that place, it is in the city of Mumbai.",
        "根据搜索结果，这个城市就是孟买，没有其他可能，所以回答孟买。",
    ],
)
def test_picture_is_not_used_by_a_turn_that_stands_on_something_else(later: str) -> None:
    script = Script().search().cell("image_1.crop((0, 0, 64, 64))", "[image saved]", pictures=[make_picture()])
    assert kept(script.answer(thinking=later).done("image_search")) == [0, 2]


@pytest.mark.parametrize(
    ("code", "output", "used"),
    [
        ("print('red' if image_1.width > 9 else 'blue')", "red", True),
        ("if image_1.width > 9:\n    print('red')\nelse:\n    print('blue')", "red", True),
        ("print(['red', 'blue'][image_1.width > 9])", "red", True),
        ("print('red', image_1.width)", "red 59", False),
        ("print(['red', 'blue'], image_1.width)", "['red', 'blue'] 59", False),
    ],
)
def test_word_that_the_code_chose_is_news(code: str, output: str, used: bool) -> None:
    script = Script().search().cell(code, output, thinking="Is the flag red or is it blue? I compare both of them.")
    sample = script.answer(thinking="So the flag is red at that place; Mumbai it must be.").done("image_search")
    assert kept(sample) == ([0, 1, 2] if used else [0, 2])


def test_output_that_is_spoken_of_and_not_quoted_drops_the_sample() -> None:
    script = Script().search().cell("print(image_1.getpixel((3, 4)))", "(255, 0, 0)")
    sample = script.answer(thinking="The pixel is pure red, so this is the flag. Mumbai then.").done("image_search")
    assert f5(sample) == "output_spoken_of"


def test_answer_from_the_code_of_a_failed_cell_drops_the_sample() -> None:
    script = Script().search().failed_cell("print('Zanzibar'); image_1.foo", "Zanzibar\nAttributeError")
    assert f5(script.answer("Zanzibar", thinking=AFTERWARDS).done("image_search")) == "answer_needed"
    told = Script().failed_cell("print('Zanzibar'); image_1.foo", "Zanzibar\nAttributeError")
    told.turn(told.a_search(results="1. Zanzibar\nURL: https://example.org/z\nAn island."))
    assert kept(told.answer("Zanzibar", thinking=AFTERWARDS).done("image_search")) == [1, 2]


def test_use_in_a_later_call_counts() -> None:
    script = Script().cell("print(image_1.info)", "Gateway monument").search("Gateway of India city")
    assert kept(script.answer(thinking=AFTERWARDS).done("image_search")) == [0, 1, 2]


def test_use_in_the_answer_counts() -> None:
    script = Script().search().cell("print(image_1.info)", "Colaba")
    assert kept(script.answer("Colaba", thinking=AFTERWARDS).done("image_search")) == [0, 1, 2]


def test_what_was_known_before_is_no_use() -> None:
    script = Script().search(thinking="I guess the monument in the middle is from 1924.")
    script.cell("print(image_1.info)", "1924 monument")
    sample = script.answer(thinking="The monument of 1924 stands where it stood.").done("image_search")
    assert kept(sample) == [0, 2]


def test_what_its_own_code_said_is_no_use() -> None:
    script = Script().search().cell("print(image_1.resize((640, 480)).size)", "(640, 480)")
    sample = script.answer(thinking="At 640 by 480 all can be made out, it is Mumbai.").done("image_search")
    assert kept(sample) == [0, 2]


def test_notices_and_common_words_are_no_output() -> None:
    for output in (
        "(no output)",
        "done",
        "saved image",
        "[timeout: the cell ran longer than 20 s; variables are kept]",
    ):
        script = Script().search().cell("print(image_1.info)", output)
        sample = script.answer(thinking="Once done, the saved image had no output or timeout: 20 s.").done(
            "image_search"
        )
        assert kept(sample) == [0, 2], output


def test_a_use_inside_a_cut_cell_is_no_use() -> None:
    script = Script().cell("print(image_1.info)", "137").cell("print(image_1.getpixel((137, 0)))", "59").search()
    sample = script.answer(thinking=AFTERWARDS).done("image_search")
    assert kept(sample) == [2, 3]


def test_output_of_a_failed_cell_is_no_source() -> None:
    script = Script().failed_cell("print(image_1.info); 1/0", "137\nZeroDivisionError: division by zero")
    script.cell("print(image_1.info)", "137").search()
    sample = script.answer(thinking="The value 137 decides it, it must be Mumbai.").done("image_search")
    assert kept(sample) == [1, 2, 3]
    assert accepted(sample)


# what breaks the chain


def test_quoted_error_drops_the_sample() -> None:
    script = Script().search().failed_cell("image_1.crop(1)", "Traceback\nTypeError: crop needs a box of four")
    assert (
        f5(script.answer(thinking="The TypeError tells me that four are needed.").done("image_search"))
        == "quote_needed"
    )


def test_failure_spoken_of_in_the_next_turn_drops_the_sample() -> None:
    script = Script().search().failed_cell("image_1.crop(1)", "Traceback\nTypeError")
    assert (
        f5(script.answer(thinking="That failed, so I go by the article alone.").done("image_search"))
        == "failure_quoted"
    )


def test_result_that_another_cell_gave_too_is_no_quote_of_the_cut_one() -> None:
    script = Script().failed_cell("print(image_1.mode); 1/0", "RGBA 137\nZeroDivisionError").search()
    script.cell("print(image_1.mode)", "RGBA 137")
    sample = script.answer(thinking="In RGBA the value 137 stands for Mumbai, so that is it.").done("image_search")
    assert kept(sample) == [1, 2, 3]


def test_picture_of_a_failed_cell_that_is_spoken_of() -> None:
    script = Script().search().failed_cell("image_1.crop((0,0,9,9)); 1/0", "Traceback", pictures=[make_picture()])
    sample = script.answer(thinking="The cropped part has a harbour in it, so Mumbai.").done("image_search")
    assert f5(sample) == "picture_needed"


def test_name_defined_again_is_not_missing() -> None:
    script = Script().search().cell("part = image_1.crop((0, 0, 9, 9))")
    script.cell("part = 9\nprint(part * 7)", "63")
    sample = script.answer(thinking="It is 63 wide, which is what the text says.").done("image_search")
    assert kept(sample) == [0, 2, 3]


@pytest.mark.parametrize(
    ("before", "cut", "after", "reason"),
    [
        ("width = 9", "width = image_1.size[0]", "print(width * 7)", "name_needed"),  # another value
        ("width = 9", "width = 9\nimage_1.load()", "print(width * 7)", None),  # the same line again
        ("import math", "import math\nimage_1.load()", "print(math.floor(63.5))", None),
        ("rows = [9]", "rows.append(image_1.size[0])", "print(rows[0] * 7)", "name_needed"),
        ("d = {}", "d['w'] = image_1.size[0]", "print(d['w'] * 7)", "name_needed"),
        ("im = 9", "im.width = image_1.size[0]", "print(im * 7)", "name_needed"),
        ("rows = [9]", "rows.append(image_1.size[0])", "rows = [9]\nprint(rows[0] * 7)", None),
        ("rows = [9]", "rows.append(image_1.size[0]", "print(rows[0] * 7)", None),  # does not parse, did not run
        ("total = 9", "total += image_1.size[0]", "print(total * 7)", "name_needed"),
        ("x = 9", "from PIL.ImageFilter import *", "print(BLUR)", "name_needed"),
        ("x = 9", "from PIL.ImageFilter import *", "print(x * 7)", None),
        ("x = 9", "def f():\n    return image_1.size", "def g():\n    return f()\nprint(g())", "name_needed"),
    ],
)
def test_state_that_a_later_cell_takes_from_the_cut_one(before: str, cut: str, after: str, reason: str | None) -> None:
    script = Script().cell(before, "45").cell(cut).search().cell(after, "63")
    sample = script.answer(thinking="It is 63 wide, or 45, which is what the text says.").done("image_search")
    assert f5(sample) == reason
    assert kept(sample) == ([0, 1, 2, 3, 4] if reason else [0, 2, 3, 4])


def test_file_that_only_the_cut_cell_wrote() -> None:
    script = Script().search().cell("image_1.crop((0, 0, 9, 9)).save('part.png')")
    script.cell("from PIL import Image\nprint(Image.open('part.png').size[0] * 7)", "63")
    sample = script.answer(thinking="It is 63 wide, which is what the text says.").done("image_search")
    assert f5(sample) == "file_needed"


DRAWN = [
    "from PIL import ImageDraw\nImageDraw.Draw(im).rectangle((0, 0, 50, 50), fill='black')",
    "from PIL import ImageDraw\nImageDraw.Draw(im).text((0, 0), 'A')",
    "import cv2\ncv2.rectangle(im, (0, 0), (50, 50), 0, -1)",
    "import cv2\ncv2.putText(im, 'A', (0, 0), 0, 1, 0)",
    "import cv2\ncv2.line(im, (0, 0), (9, 9), 0) if True else None",
    "import cv2\nfor b in [1]:\n    cv2.circle(im, (b, b), 3, 0)",
    "import cv2\n_ = cv2.circle(im, (1, 1), 3, 0)",
    "import cv2\ndef mark():\n    cv2.circle(im, (1, 1), 3, 0)\nmark()",
    "cv2.circle(im, (1, 1), 3, 0)",
    "import numpy as np, cv2\nnp.copyto(im, 0)",
    "image_1.load()\npen.line((0, 0, 9, 9))",
    "image_1.load()\nstroke((0, 0, 9, 9))",
    "image_1.load()\nim = Image.open('input_image.jpg')",  # as it was before the drawing of the first cell
]


@pytest.mark.parametrize("draw", DRAWN)
def test_picture_that_the_cut_cell_drew_on_in_place(draw: str) -> None:
    """The cell prints nothing, so nothing quotes it, and yet the picture shown later is its work."""
    first = (
        "from PIL import Image, ImageDraw\nim = Image.open('input_image.jpg')\npen = ImageDraw.Draw(im)\n"
        "pen.point((1, 1))\ndef stroke(box):\n    pen.line(box)\nprint(im.size)"
    )
    script = Script().search().cell(first, "(641, 480)").cell(draw, thinking="I now mark the place of the sign in it.")
    script.cell(
        "im.save('marked.png')", "[image saved]", pictures=[make_picture()], thinking="It is 641 wide. Now I save."
    )
    sample = script.answer(thinking="The picture shows the mark over the sign; Mumbai it is.").done("image_search")
    assert f5(sample) == "name_needed"
    assert kept(sample) == [0, 1, 2, 3, 4]


def test_cell_that_only_looked_at_the_picture_can_go() -> None:
    first = "from PIL import Image\nim = Image.open('input_image.jpg')\nprint(im.size)"
    looks = "import PIL, numpy as np\na = np.asarray(im.convert('L'))\nprint(a.mean(), im.getpixel((3, 4)))"
    script = Script().search().cell(first, "(641, 480)").cell(looks, "127.25 (9, 8, 6)", thinking="I measure it.")
    script.cell("print(im.width * 7)", "4487", thinking="It is 641 wide. Now I count on.")
    sample = script.answer(thinking="So 4487 it is, as the article has it; Mumbai.").done("image_search")
    assert f5(sample) is None
    assert kept(sample) == [0, 1, 3, 4]


@pytest.mark.parametrize(
    ("before", "cut", "after", "reason"),
    [
        ("d = {}", "def g():\n    d['k'] = image_1.size[0]\ng()", "print(d)", "name_needed"),
        ("d = 0", "def g():\n    global d\n    d = image_1.size[0]\ng()", "print(d)", "name_needed"),
        ("a = [3, 1]", "x = a.sort() or image_1.size", "print(a)", "name_needed"),
        ("a = [3, 1]", "x = a.pop()\ny = image_1.size", "print(a)", "name_needed"),
        ("a = [3, 1]\nb = a", "b.pop()\ny = image_1.size", "print(a)", "name_needed"),
        ("import random\na = [3, 1]", "random.shuffle(a)\nimage_1.load()", "print(a)", "name_needed"),
        ("def f(q):\n    q.pop()\na = [3]", "f(a)\nimage_1.load()", "print(a)", "name_needed"),
        ("def f(q):\n    return q[0]\na = [3]", "f(a)\nimage_1.load()", "print(f(a))", None),
        ("a = [3]\ndef f():\n    return a[0]", "a.append(image_1.width)", "print(f())", "name_needed"),
        ("a = [3]\ndef f():\n    a.pop()\ng = f", "g()\nimage_1.load()", "print(a)", "name_needed"),
        (
            "def f(im, p):\n    im.save(p)",
            "f(image_1, 'c.png')",
            "print(open('c.png', 'rb').read()[:4])",
            "file_needed",
        ),
        ("import os", "import os\nos.environ['W'] = image_1.mode", "import os\nprint(os.environ['W'])", "state_needed"),
        ("import os", "import os\nos.environ['W'] = image_1.mode", "import os\nprint(os.getenv('W'))", "state_needed"),
        ("import os", "import os\nos.environ['W'] = image_1.mode", "import os\nprint(os.path.join('a', 'b'))", None),
        ("import numpy as np", "np.random.seed(image_1.width)", "print(np.random.rand())", "state_needed"),
        ("import numpy as np", "np.random.seed(image_1.width)", "print(np.zeros(3))", None),
        ("x = 9", "globals()['zz'] = image_1.width", "print(zz)", "state_unknown"),
        ("x = 9", "globals()['zz'] = image_1.width", "print(7)", None),
        ("x = 9", "zz = image_1.width", "print(eval('z' + 'z'))", "state_unknown"),
        ("n = 9\nw = n * 7", "w = n * 7\nimage_1.load()", "print(w)", None),
        ("w = 1", "image_1.save(f'c_{1}.png')", "import os\nprint(os.path.getsize('c_1.png'))", "file_needed"),
        ("w = 1", "image_1.save('c' + '.png')", "print(open('c.png', 'rb').read()[:4])", "file_needed"),
        ("w = 1", "image_1.save('c.png')", "import glob\nprint(glob.glob('*.png'))", "file_needed"),
        ("w = 1", "image_1.save('./c.png')", "print(open('c.png', 'rb').read()[:4])", "file_needed"),
        ("w = 1", "image_1.save('input_image.jpg')", "print(open(IMAGE_PATH, 'rb').read()[:4])", "file_needed"),
        (
            "open('c.txt', 'w').write('9')",
            "open('c.txt', 'w').write(image_1.mode)",
            "print(open('c.txt').read())",
            "file_needed",
        ),
        ("open('c.txt', 'w').write('9')", "image_1.save(f'c_{1}.png')", "print(open('c.txt').read())", None),
        ("w = 1", "image_1.save('c.png')", "open('d.txt', 'w').write('9')\nprint(open('d.txt').read())", None),
    ],
)
def test_state_that_shows_only_when_the_cells_run(before: str, cut: str, after: str, reason: str | None) -> None:
    script = Script().cell(before, "45").cell(cut).search().cell(after, "63")
    sample = script.answer(thinking="It is 63 wide, or 45, which is what the text says.").done("image_search")
    assert f5(sample) == reason
    assert kept(sample) == ([0, 1, 2, 3, 4] if reason else [0, 2, 3, 4])


def test_same_line_after_a_change_of_what_it_rests_on() -> None:
    script = Script().cell("n = 9\nw = n * 7", "45").cell("n = 5", "44").cell("w = n * 7\nimage_1.load()").search()
    script.cell("print(w)", "35")
    sample = script.answer(thinking="It is 35 wide, or 45, 44, which is what the text says.").done("image_search")
    assert f5(sample) == "name_needed"


def test_prelude_names_are_never_missing() -> None:
    script = Script().search().cell("image_1 = image_1.rotate(90)")
    script.cell("print(image_1.size[0] * 7)", "63")
    sample = script.answer(thinking="It is 63 wide, which is what the text says.").done("image_search")
    assert kept(sample) == [0, 2, 3]


def test_our_notice_may_not_go_with_the_turn() -> None:
    script = Script().search()
    script.turn(script.a_cell(OPEN, "137", notice="[notice] Turn limit reached. Answer now."))
    assert f5(script.answer(thinking=AFTERWARDS, forced=True).done("image_search")) == "notice_cut"


# where F5 does not look


def test_other_code_is_left_alone() -> None:
    script = Script().search().failed_cell("print(1 / 0)", "ZeroDivisionError")
    assert kept(script.answer(thinking=AFTERWARDS).done("image_search")) == [0, 1, 2]


def test_text_questions_are_f4s_business() -> None:
    script = Script().search().cell(OPEN, "137")
    sample = script.answer(thinking=AFTERWARDS).done("text_search")
    assert kept(sample) == [0, 1, 2]
    assert "F4" in [fail.rule for fail in evaluate(sample, SETTINGS).fails]


def test_last_turn_keeps_its_answer() -> None:
    script = Script().search()
    script.turn(script.a_cell(OPEN, "137"), content="<answer>Mumbai</answer>")
    report = evaluate(script.done("image_search"), SETTINGS)
    assert report.trajectory.turns[-1].content == "<answer>Mumbai</answer>"
    assert report.trajectory.turns[-1].calls == ()


# the record


def test_tokens_shrink_with_the_cut_and_are_no_longer_exact() -> None:
    picture = make_picture(width=320, height=64)
    thinking = "x" * 100
    script = Script().turn(thinking=thinking, content="")
    script.turn(script.a_cell("image_1.crop(0)", "y" * 400, pictures=[picture]), thinking=thinking)
    script.search(thinking="By the article it is so. ".ljust(100, "z"))
    written = sum(
        len(turn.thinking) + len(turn.content) + sum(len(call.arguments) for call in turn.calls)
        for turn in script.turns
    )
    cut_output = 100 + len('{"code": "image_1.crop(0)"}')
    sample = script.answer(thinking=AFTERWARDS).done(
        "image_search", tokens=TokenCounts(assistant=1000, sequence=5000, exact=True)
    )
    written += len(AFTERWARDS) + len("<answer>Mumbai</answer>")
    after = evaluate(sample, SETTINGS).trajectory.tokens
    assistant = round(1000 * (1 - cut_output / written))
    assert after.assistant == assistant
    assert after.sequence == 5000 - (1000 - assistant) - 10 * 2 - 100
    assert not after.exact


def test_repair_is_pure_and_stable() -> None:
    sample = Script().cell(OPEN, "137").search().answer(thinking=AFTERWARDS).done("image_search")
    before = copy.deepcopy(sample)
    once = repair(sample)
    assert sample == before
    assert repair(once.trajectory).trajectory == once.trajectory


def test_calls_and_results_stay_paired() -> None:
    script = Script()
    script.turn(script.a_cell(OPEN, "137"), script.a_search(place=1), script.an_open(place=2))
    for turn in repair(script.answer(thinking=AFTERWARDS).done("image_search")).trajectory.turns:
        assert [call.id for call in turn.calls] == [result.call_id for result in turn.results]


def test_timeout_counts_as_failed_even_with_status_ok() -> None:
    script = Script().search()
    script.turn(script.a_cell("image_1.crop((0,0,9,9))", "137", meta={"cell": "timeout"}))
    assert kept(script.answer(thinking=AFTERWARDS).done("image_search")) == [0, 2]


def test_malformed_picture_call_is_left_to_its_own_rule() -> None:
    script = Script().search()
    script.turn(script.a_cell("image_1.crop(", "not run", malformed="bad_json"))
    sample = script.answer(thinking=AFTERWARDS).done("image_search")
    assert [fail.rule for fail in evaluate(sample, SETTINGS).fails] == ["malformed_call"]
    assert dataclasses.replace(sample).turns == evaluate(sample, SETTINGS).trajectory.turns


def test_thinking_constant_is_long_enough() -> None:
    assert len(THINK) >= 20
