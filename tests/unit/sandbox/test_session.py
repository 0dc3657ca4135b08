"""Sessions as the tools use them: state, pictures, statuses."""

from __future__ import annotations

import asyncio
import io
import os
import time
from collections.abc import Iterator
from pathlib import Path

import PIL.Image
import pytest

from sandbox_shared import SharedSandboxes
from tir_distill.sandbox import CellResult, Session


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedSandboxes]:
    with SharedSandboxes() as made:
        yield made


def encoded(image: PIL.Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def test_pictures_that_come_back(shared: SharedSandboxes) -> None:
    got = shared.run(
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])",
        "plt.plot([1, 2])\nplt.savefig('a.png')\nplt.show()",
        "plt.plot([1]); plt.show(); plt.plot([2]); plt.show()",
        "from PIL import Image\nim = Image.new('RGB', (5, 4), 'red')\nim.save('b.png')\nim.show()",
        "im",
        "im.rotate(90, expand=True).save('c.jpg')",
        "Image.new('RGBA', (3, 3), (0, 0, 0, 0)).save('d.png')",
        "Image.new('I;16', (3, 3), 65535).save('e.png')",
        "open('f.png', 'w').write('no picture')",
        "for n in range(12): Image.new('RGB', (2, 2 + n)).save(f'g{n}.png')",
        "print('no picture this time')",
        "import cv2, numpy as np\ncv2.imshow('w', np.zeros((6, 7, 3), 'u1'))",
        "display(im, 5)",
    )
    assert [len(result.images) for result in got] == [1, 1, 2, 1, 1, 1, 1, 1, 0, 8, 0, 1, 1]
    assert (got[3].images[0].width, got[3].images[0].height) == (5, 4)
    assert got[3].images[0].png == got[4].images[0].png
    assert (got[5].images[0].width, got[5].images[0].height) == (4, 5)
    for index in (6, 7):  # transparent over white, and white 16-bit grey
        with PIL.Image.open(io.BytesIO(got[index].images[0].png)) as image:
            assert (image.mode, image.getpixel((1, 1))) == ("RGB", (255, 255, 255))
    assert "1 picture(s) left out" in got[8].note
    assert "4 picture(s) left out" in got[9].note
    assert got[12].stdout == "5\n"
    assert all(result.status == "ok" for result in got)


def test_the_picture_convention(shared: SharedSandboxes) -> None:
    red = encoded(PIL.Image.new("RGB", (8, 6), (200, 0, 0)), "JPEG", quality=95)
    blue = encoded(PIL.Image.new("RGB", (4, 4), (0, 0, 200)), "PNG")
    got = shared.run(
        "import os\nprint(sorted(os.listdir('.')), IMAGE_PATH)",
        "from PIL import Image\nprint(Image.open(IMAGE_PATH).format, image_1.format, "
        "image_2.getpixel((0, 0)), image_2.size)",
        "import numpy as np\nprint((np.asarray(image_1) == np.asarray(Image.open('input_image.jpg'))).all())",
        "import cv2, matplotlib.pyplot as plt\nprint(cv2.imread('image_1.png').shape, plt.imread('image_1.png').shape)",
        "image_1 = None\nos.remove('image_2.png')\nos.chdir('/')",
        "print(image_1.size, os.path.exists('input_image.jpg'))\nimage_2",
        images=(red, blue),
    )
    assert got[0].stdout == "['image_1.png', 'image_2.png', 'input_image.jpg'] input_image.jpg\n"
    assert got[1].stdout == "JPEG PNG (0, 0, 200) (4, 4)\n"
    assert got[2].stdout == "True\n"
    assert got[3].stdout == "(6, 8, 3) (6, 8, 3)\n"
    assert got[5].stdout == "(8, 6) True\n"
    assert "NameError" in got[5].error


def test_a_broken_question_picture_is_there_all_the_same(shared: SharedSandboxes) -> None:
    got = shared.run("import os\nprint(os.path.getsize(IMAGE_PATH))\nimage_1", images=(b"\xff\xd8\xffbroken",))
    assert got[0].stdout == "9\n"
    assert got[0].status == "error"


def test_statuses_and_what_is_kept(shared: SharedSandboxes) -> None:
    got = shared.run(
        "x = 1",
        "raise ValueError('图')",
        "def broken(:",
        "import sys\nprint('out'); print('err', file=sys.stderr)\nsys.exit(3)",
        "raise SystemExit",
        "input()",
        "import numpy as np\nnp.ones(10**10)",
        "open('big', 'wb').write(bytes(70 << 20))",
        "import time\ntime.sleep(9)",
        "print(x)",
        "import ctypes\nctypes.string_at(0)",
        "x",
        cell_seconds=1,
        wall_seconds=1.5,
        disk_mb=200,
    )
    assert [result.status for result in got] == [
        *("ok", "error", "error", "error", "ok", "error", "memory", "disk", "timeout", "ok", "killed", "error")
    ]
    assert got[1].error.splitlines()[-1] == "ValueError: 图"
    assert "SyntaxError" in got[2].error
    assert got[3].text == "out\n[stderr]\nerr\nSystemExit: 3"
    assert "EOFError" in got[5].error
    assert got[8].note == "[timeout: the cell ran longer than 1.5 s; variables are kept]"
    assert got[9].stdout == "1\n"
    assert "SIGSEGV" in got[10].note
    assert [result.restarted for result in got] == [False] * 10 + [True, False]


def test_equal_paths_in_every_layer(shared: SharedSandboxes) -> None:
    for without in ((), ("private_root",)):
        (result,) = shared.run("import os\nprint(os.getcwd())\nopen('none/x')", without=without)
        assert result.stdout == "/sandbox\n"


def test_the_command(tmp_path: Path) -> None:
    import subprocess
    import sys

    scripts = Path(__file__).resolve().parents[3] / "scripts"
    command = [sys.executable, "-m", "tir_distill.sandbox"]
    done = subprocess.run(command, input="print(6 * 7)", capture_output=True, text=True, cwd=scripts, check=True)
    assert done.stdout == "42\n"
    cell = tmp_path / "cell.py"
    cell.write_text("from PIL import Image\nImage.new('RGB', (3, 2))")
    options = ["--pictures", str(tmp_path / "out"), str(cell)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, cwd=scripts, check=True)
    assert "3 x 2" in done.stdout
    assert (tmp_path / "out" / "1_shown_1.png").exists()


def test_the_texts_of_cells(shared: SharedSandboxes) -> None:
    cells = {
        "1 / 0": (
            "error",
            (
                'Traceback (most recent call last):\n  File "<cell 1>", line 1, in <module>\n    1 / 0\n    ~~^~~\n'
                "ZeroDivisionError: division by zero"
            ),
        ),
        "def broken(:": (
            "error",
            '  File "<cell 2>", line 1\n    def broken(:\n               ^\nSyntaxError: invalid syntax',
        ),
        "raise KeyboardInterrupt": (
            "error",
            (
                'Traceback (most recent call last):\n  File "<cell 3>", line 1, in <module>\n'
                "    raise KeyboardInterrupt\nKeyboardInterrupt"
            ),
        ),
        "import sys\nprint(1)\nsys.exit(0)": ("ok", "1"),
        "sys.exit('bye')": ("error", "SystemExit: bye"),
        "raise SystemExit(1)": ("error", "SystemExit: 1"),
        "try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('bad') from e": (
            "error",
            (
                'Traceback (most recent call last):\n  File "<cell 7>", line 2, in <module>\n    1/0\n    ~^~\n'
                "ZeroDivisionError: division by zero\n\nThe above exception was the direct cause of the following "
                'exception:\n\nTraceback (most recent call last):\n  File "<cell 7>", line 4, in <module>\n'
                "    raise ValueError('bad') from e\nValueError: bad"
            ),
        ),
        "import warnings\nwarnings.warn('careful')\n3": (
            "ok",
            "3\n[stderr]\n<cell 8>:2: UserWarning: careful\n  warnings.warn('careful')",
        ),
        "print('a', file=sys.stderr)": ("ok", "[stderr]\na"),
        "None": ("ok", "(no output)"),
        "x = 'é'; x;  # not wanted": ("ok", "(no output)"),
        "x\n;": ("error", '  File "<cell 12>", line 2\n    ;\n    ^\nSyntaxError: invalid syntax'),
        "y = '\u2028'\n1 / 0": (
            "error",
            (
                'Traceback (most recent call last):\n  File "<cell 13>", line 2, in <module>\n    1 / 0\n    ~~^~~\n'
                "ZeroDivisionError: division by zero"
            ),
        ),
        "'a;b'": ("ok", "'a;b'"),
        "print('{\"a\": 1}')": ("ok", '{"a": 1}'),
        "": ("ok", "(no output)"),
        "# a remark": ("ok", "(no output)"),
        "print('\\ud800'); '\\ud800'": ("ok", "\\ud800\n'\\ud800'"),
        "import os\nos.write(1, b'\\xff\\xfe') and None": ("ok", "\ufffd\ufffd"),
        "import mmap\nheld = [mmap.mmap(-1, 1 << 28) for _ in range(9)]": (
            "memory",
            (
                'Traceback (most recent call last):\n  File "<cell 20>", line 2, in <module>\n'
                "    held = [mmap.mmap(-1, 1 << 28) for _ in range(9)]\n"
                "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
                '  File "<cell 20>", line 2, in <listcomp>\n    held = [mmap.mmap(-1, 1 << 28) for _ in range(9)]\n'
                "            ^^^^^^^^^^^^^^^^^^^^^^\nOSError: [Errno 12] Cannot allocate memory\n"
                "[memory: the cell needed more than 1024 MB; variables are kept]"
            ),
        ),
    }
    got = shared.run(*cells)
    assert [(result.status, result.text) for result in got] == list(cells.values())


def test_each_picture_comes_once(shared: SharedSandboxes) -> None:
    got = shared.run(
        "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2])\ndisplay(fig)",
        "plt.plot([1]); plt.show(); plt.show()",
        "from PIL import Image\nred = Image.new('RGB', (4, 4), 'red')\nred.show(); red.save('a.png'); red",
        "red.save('b.png'); red.save('c.bmp')",
        "Image.new('RGB', (4, 4), 'blue').save('a.png')",
        "frames = [Image.new('RGB', (6, 6), c) for c in ('red', 'blue')]\n"
        "frames[0].save('g.gif', save_all=True, append_images=frames[1:])",
        "plt.title('\\u4e2d\\u6587'); plt.savefig('t.png')",
        "import os\nos.mkdir('o'); red.rotate(45).save('o/r.png'); os.rename('o/r.png', 'o/s.png')",
        "import shutil\nshutil.copy('a.png', 'copy.png')\nNone",
        "os.remove('copy.png')",
    )
    assert [len(result.images) for result in got] == [1, 1, 1, 1, 1, 1, 1, 1, 1, 0]
    assert all(result.status == "ok" for result in got), [result.text for result in got]
    assert "tir_distill" not in got[6].text  # a missing glyph is told without our paths
    with PIL.Image.open(io.BytesIO(got[4].images[0].png)) as image:
        assert image.getpixel((0, 0)) == (0, 0, 255)
    with PIL.Image.open(io.BytesIO(got[5].images[0].png)) as image:  # the first frame
        assert image.getpixel((0, 0)) == (255, 0, 0)


def test_files_in_a_folder_that_cannot_be_listed_count(shared: SharedSandboxes) -> None:
    """As an ordinary user the controller sees into such a folder only after opening it."""
    code = (
        "import os\nos.mkdir('d', 0o300)\nfor n in range(6):\n    open(f'd/{n}', 'wb').write(bytes(8 << 20))\n"
        "import time\ntime.sleep(60)"
    )
    got = shared.run(code, "print(1)", disk_mb=20)
    assert [(result.status, result.restarted) for result in got] == [("disk", True), ("ok", False)]


def test_a_left_thread_rests_between_cells(shared: SharedSandboxes) -> None:
    async def main() -> tuple[CellResult, str, bytes, bytes, CellResult]:
        session: Session = await shared.sandbox().session()
        first = await session.run(
            "import threading, time\nopen('n', 'w').write('0')\ndef work():\n    n = 0\n    while True:\n"
            "        n += 1\n        open('n', 'w').write(str(n))\nthreading.Thread(target=work, daemon=True).start()"
        )
        assert session._channel is not None
        assert session._folder is not None
        pid = session._channel.worker.pid
        deadline = time.monotonic() + 60
        while stat(pid) != "T" and time.monotonic() < deadline:
            await asyncio.sleep(0.002)
        state = stat(pid)
        one = (session._folder / "n").read_bytes()
        await asyncio.sleep(0.05)
        two = (session._folder / "n").read_bytes()
        again = await session.run("print(threading.active_count())")
        await session.close()
        return first, state, one, two, again

    def stat(pid: int) -> str:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]

    first, state, one, two, again = shared.do(main())
    assert first.status == "ok"
    assert state == "T"
    assert one == two
    assert again.stdout == "2\n"


def test_a_worker_gives_way_to_the_one_that_watches_it(shared: SharedSandboxes) -> None:
    async def main() -> int:
        session: Session = await shared.sandbox().session()
        await session.run("1")
        assert session._channel is not None
        nice = os.getpriority(os.PRIO_PROCESS, session._channel.worker.pid)
        await session.close()
        return nice

    assert shared.do(main()) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 5)


def test_what_a_cell_made_is_never_formatted(shared: SharedSandboxes) -> None:
    """Neither variables nor signal handlers: their ``__repr__`` is the cell's code and may take for ever."""
    code = (
        "import signal\ncalls = []\nclass Odd:\n    def __call__(self, *_): pass\n    def __repr__(self):\n"
        "        calls.append(1)\n        return 'odd'\nkept = Odd()\nfor which in (signal.SIGPROF, signal.SIGALRM):\n"
        "    signal.signal(which, kept)"
    )
    got = shared.run(code, "1", "print(len(calls))")
    assert got[2].stdout == "0\n"


def test_no_descriptor_is_left_by_sessions(shared: SharedSandboxes) -> None:
    sandbox = shared.sandbox()

    def held() -> int:
        kept = len(sandbox.running._idle) + len(sandbox.live._idle)
        return len(os.listdir("/proc/self/fd")) - kept  # noqa: PTH208

    shared.run("1")
    before = held()
    for _ in range(3):
        shared.run("print(1)", "import os\nos._exit(3)", "2")
    assert held() == before
