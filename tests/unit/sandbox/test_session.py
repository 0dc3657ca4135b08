"""Sessions as the tools use them: state, pictures, statuses."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import PIL.Image

from tir_distill.sandbox import CellResult, Sandbox, SandboxSettings


def run(*cells: str, images: tuple[bytes, ...] = (), **settings: object) -> list[CellResult]:
    async def main() -> list[CellResult]:
        sandbox = await Sandbox.start(SandboxSettings(**settings))  # type: ignore[arg-type]
        try:
            session = await sandbox.session(images)
            return [await session.run(cell) for cell in cells]
        finally:
            await sandbox.close()

    return asyncio.run(main())


def encoded(image: PIL.Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def test_pictures_that_come_back() -> None:
    got = run(
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


def test_the_picture_convention() -> None:
    red = encoded(PIL.Image.new("RGB", (8, 6), (200, 0, 0)), "JPEG", quality=95)
    blue = encoded(PIL.Image.new("RGB", (4, 4), (0, 0, 200)), "PNG")
    got = run(
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


def test_a_broken_question_picture_is_there_all_the_same() -> None:
    got = run("import os\nprint(os.path.getsize(IMAGE_PATH))\nimage_1", images=(b"\xff\xd8\xffbroken",))
    assert got[0].stdout == "9\n"
    assert got[0].status == "error"


def test_statuses_and_what_is_kept() -> None:
    got = run(
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


def test_equal_paths_in_every_layer() -> None:
    for without in ((), ("private_root",)):
        (result,) = run("import os\nprint(os.getcwd())\nopen('none/x')", without=without)
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
