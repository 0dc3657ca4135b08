# ruff: noqa: E501 - cells are kept as a model writes them
"""Planted keys never come out: not as text, in a traceback, in a file, in a picture or in an encoded form.

Sentinels lie in the controller's environment and memory, in a ``.env`` beside the project, and in a sibling's folder.
Each scripted search is first shown to find its sentinel without the sandbox (``test_the_searches_find_keys_outside``).
"""

from __future__ import annotations

import os
import random
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_battery import pixels
from sandbox_shared import SharedSandboxes
from sandbox_world import leaked
from tir_distill.sandbox import Sandbox
from tir_distill.sandbox import folder as folders

SEARCHES = {
    "environment": "import os\nprint(dict(os.environ))",
    "environment, every process": (
        "import glob\nfor p in glob.glob('/proc/*/environ'):\n    try: print(open(p,'rb').read())\n    except OSError: pass"
    ),
    "parent": "import os\nprint(open(f'/proc/{os.getppid()}/environ', 'rb').read())",
    "own heap": (
        "import gc\nfound = []\nfor o in gc.get_objects():\n    try:\n        t = repr(o)[:100000]\n"
        "    except BaseException:\n        continue\n    if WORD_HEAD in t: found.append(t[t.find(WORD_HEAD):][:80])\n"
        "print(found[:5])"
    ),
    "own memory": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nprint(ctypes.string_at(ctypes.c_void_p.in_dll(libc, 'environ').value, 8))\n"
        "import os\nprint([os.environb.get(k) for k in os.environb])"
    ),
    "env file": "print(open(ENV_FILE).read())",
    "env file, walking up": (
        "import os\nhere = os.getcwd()\nfor _ in range(8):\n    here = os.path.dirname(here)\n    try:\n"
        "        print(open(os.path.join(here, '.env')).read())\n    except OSError: pass"
    ),
    "env file, encoded": "import base64\nprint(base64.b64encode(open(ENV_FILE,'rb').read()))",
    "env file, reversed": "print(open(ENV_FILE).read()[::-1])",
    "env file, painted": (
        "from PIL import Image\nd = open(ENV_FILE,'rb').read()\nImage.frombytes('L', (len(d), 1), d).convert('RGB').save('x.png')"
    ),
    "env file, in the traceback": "raise RuntimeError(open(ENV_FILE).read())",
    "env file, bytes": "print(list(open(ENV_FILE,'rb').read()))",
    "sibling": "import glob\nfor p in glob.glob(SIBLINGS + '/**', recursive=True):\n    try: print(open(p).read())\n    except OSError: pass",
    "open descriptors": (
        "import os\nfor n in range(3, 256):\n    try: print(os.pread(n, 4096, 0))\n    except OSError: pass"
    ),
    "modules": "import sys\nprint([vars(m) for n, m in list(sys.modules.items()) if 'distill' in n])",
    "dotenv": "import dotenv\nprint(dotenv.dotenv_values(ENV_FILE))",
}
PIECES = [
    "import os; x = os.environ", "x = dict(globals())", "import gc; x = gc.get_objects()[-300:]", "import sys; x = sys.argv",
    "x = open('/proc/self/environ','rb').read()", "x = open('/proc/self/maps').read()", "x = __builtins__",
    "import glob; x = glob.glob('/**/.env', recursive=False)", "x = open(ENV_FILE).read()", "import os; x = os.listdir('/')",
    "import sys; x = list(sys.modules)", "import inspect, sys; x = sys._getframe(1).f_locals", "x = open(__file__).read()",
    "import sys; x = sys._getframe(2).f_globals", "import os; x = os.popen('env').read()", "x = vars()",
    "import os; x = [os.readlink(f'/proc/self/fd/{n}') for n in range(9)]", "import linecache; x = linecache.cache",
    "import threading, sys; x = [f.f_locals for f in sys._current_frames().values()]", "x = open('/etc/environment').read()",
]  # fmt: skip
OUTLETS = [
    "print(x)", "x", "raise KeyError(x)", "open('o.txt','w').write(str(x))", "print(str(x)[::-1])",
    "import base64; print(base64.b64encode(str(x).encode()))", "print(str(x).encode().hex())", "import sys; print(x, file=sys.stderr)",
    "from PIL import Image; d=str(x).encode()[:30000]; Image.frombytes('L',(len(d),1),d).save('o.png')",
    "import matplotlib.pyplot as plt; plt.title(str(x)[:200]); plt.show()", "import json; print(json.dumps(x, default=repr))",
    "import zlib; open('o.bin','wb').write(zlib.compress(str(x).encode()))", "assert not x, x", "import pprint; pprint.pprint(x)",
]  # fmt: skip


def head(env_file: Path, siblings: str, word: str) -> str:
    return f"ENV_FILE = {str(env_file)!r}\nSIBLINGS = {siblings!r}\nWORD_HEAD = {word[:6]!r}\n"


def random_cell(chance: random.Random) -> str:
    """One or two ways to reach for something and one to let it out; failures of the first are swallowed."""
    lines = ["x = None"]
    for piece in chance.sample(PIECES, chance.randint(1, 2)):
        lines += ["try:", f"    {piece}", "except BaseException as error:", "    x = (x, repr(error))"]
    return "\n".join([*lines, chance.choice(OUTLETS)])


LIMITS = {"cell_seconds": 0.4, "grace_seconds": 0.5, "image_pixels": 200_000}


async def hunt(sandbox: Sandbox, cells: list[str], env_file: Path, word: str) -> list[str]:
    """Cells whose output holds the word; sessions are changed every fifty cells."""
    told = []
    held = {"key": word, "list": [word] * 10}  # in the controller's memory
    sibling = await sandbox.session()
    await sibling.run(f"open('key.txt','w').write({word!r})\nkey = {word!r}")
    start = head(env_file, str(sandbox.folder.path), "sk-nothing")
    session = await sandbox.session()
    for at, cell in enumerate(cells):
        if at % 50 == 49:
            await session.close()
            session = await sandbox.session()
        result = await session.run(start + cell)
        assert result.status != "infrastructure"
        places = [result.text.encode("utf-8", "replace"), result.stdout.encode(), *pixels(result)]
        assert session._folder is not None
        for path in session._folder.rglob("*"):
            data = folders.read_plain(session._folder, str(path.relative_to(session._folder)), 1 << 20)
            places.append(data or b"")
        if leaked(word, *places):
            told.append(cell)
    assert held["key"] == word
    await sibling.close()
    await session.close()
    return told


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Planted before the sandbox starts; the word is looked for in all tests of this file."""
    word = f"sk-{secrets.token_hex(16)}"
    folder = tmp_path_factory.mktemp("planted")
    (folder / ".env").write_text(f"SERPER_API_KEY={word}\n")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SERPER_API_KEY", "JUDGE_API_KEY", "TEACHER_API_KEY", "HF_TOKEN"):
            patch.setenv(name, word)
        yield folder / ".env", word


@pytest.fixture(scope="module")
def shared(planted: tuple[Path, str]) -> Iterator[SharedSandboxes]:
    """Started while an inheritable descriptor of the key file is open."""
    descriptor = os.open(planted[0], os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    with SharedSandboxes() as made:
        made.sandbox(**LIMITS)
        yield made
    os.close(descriptor)


def test_scripted_searches_find_nothing(planted: tuple[Path, str], shared: SharedSandboxes) -> None:
    assert shared.do(hunt(shared.sandbox(**LIMITS), list(SEARCHES.values()), *planted)) == []


def test_random_cells_find_nothing(planted: tuple[Path, str], shared: SharedSandboxes) -> None:
    chance = random.Random(1)
    cells = [random_cell(chance) for _ in range(120)]
    assert shared.do(hunt(shared.sandbox(**LIMITS), cells, *planted)) == []


@pytest.mark.slow
def test_ten_thousand_cells_find_nothing(planted: tuple[Path, str], shared: SharedSandboxes) -> None:
    chance = random.Random(2)
    cells = [random_cell(chance) for _ in range(10_000 - len(SEARCHES))] + list(SEARCHES.values())
    assert shared.do(hunt(shared.sandbox(**LIMITS), cells, *planted)) == []


@pytest.mark.parametrize(
    "name", ["environment", "env file", "env file, encoded", "env file, reversed", "env file, bytes", "own heap"]
)
def test_the_searches_find_keys_outside(name: str, planted: tuple[Path, str], tmp_path: Path) -> None:
    """Positive control."""
    env_file, word = planted
    code = f"KEPT = {word!r}\n" if name == "own heap" else ""
    code += head(env_file, str(tmp_path), word) + SEARCHES[name]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, env=dict(os.environ), cwd=tmp_path
    )
    assert leaked(word, done.stdout) or (name == "own heap" and word[:6].encode() in done.stdout)


def test_the_fork_server_gets_no_environment_and_no_descriptors(
    planted: tuple[Path, str], shared: SharedSandboxes
) -> None:
    sandbox = shared.sandbox(**LIMITS)
    assert sandbox._link is not None
    pid = sandbox._link.process.pid
    assert planted[1].encode() not in Path(f"/proc/{pid}/environ").read_bytes()
    links = [str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()]
    assert not any(".env" in link for link in links)
    assert sum(link.startswith("socket:") for link in links) == 1
