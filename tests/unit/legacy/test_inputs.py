"""Pictures and files in forms that are easily taken for something else, and files that must not be touched."""

from __future__ import annotations

import base64
import errno
import io
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from legacy_helpers import png
from tir_distill.config import ROOT
from tir_distill.legacy.pictures import picture_bytes
from tir_distill.legacy.readers import read_rows
from tir_distill.records import BadRow, TirError

TALK = {
    "messages": [
        {"role": "user", "content": "<image>q"},
        {"role": "assistant", "content": "<think>t</think><answer>5</answer>"},
    ]
}


def noise(kind: str) -> bytes:
    """A small picture that is hard to pack."""
    from PIL import Image

    drawn = random.Random(1)
    image = Image.frombytes("RGB", (10, 10), bytes(drawn.randrange(256) for _ in range(300)))
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
@pytest.mark.parametrize("with_folder", [True, False])
def test_small_base64_is_no_path(kind: str, with_folder: bool, tmp_path: Path) -> None:
    data = noise(kind)
    text = base64.b64encode(data).decode()
    assert len(text) < 1024
    folder = tmp_path if with_folder else None
    assert picture_bytes(text, folder, "r") == data
    assert picture_bytes(base64.urlsafe_b64encode(data).decode().rstrip("="), folder, "r") == data


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("x" * 300 + ".png", "missing_picture"),
        ("/".join(["y" * 200] * 4) + ".jpg", "missing_picture"),
        ("a\x00b.png", "missing_picture"),
        ("loop/a.png", "missing_picture"),
        ("../other.png", "missing_picture"),
        ("é" * 300, "bad_picture"),
        ("/9j/", "missing_picture"),
    ],
)
def test_names_that_no_file_can_have(value: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(BadRow) as caught:
        picture_bytes(value, tmp_path, "r")
    assert caught.value.reason == reason


def test_a_picture_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(png())

    def refused(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(BadRow) as caught:
        picture_bytes("a.png", tmp_path, "r")
    assert caught.value.reason == "unreadable_picture"


def command(name: str, *options: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / name, *options], capture_output=True, text=True, check=False
    )


def test_a_whole_conversion_is_not_ended_by_one_picture(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        TALK | {"id": "a", "images": [base64.b64encode(noise("JPEG")).decode()]},
        TALK | {"id": "b", "images": ["x" * 300 + ".png"]},
        TALK | {"id": "c", "images": [base64.b64encode(noise("PNG")).decode()]},
    ]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    done = command("convert_tir_to_native.py", "--in", tmp_path / "in.jsonl", "--images", tmp_path,
                   "--out", tmp_path / "out.jsonl")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 of 3 rows" in done.stdout
    assert "dropped: missing_picture 1" in done.stdout


@pytest.mark.parametrize("name", ["convert_tir_to_native.py", "clean_legacy.py"])
def test_an_output_in_place_of_the_input_is_refused(name: str, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(orjson.dumps(TALK))
    (tmp_path / "link.jsonl").symlink_to(source)
    (tmp_path / "hard.jsonl").hardlink_to(source)
    for options in (
        ("--out", source),
        ("--out", tmp_path / "link.jsonl"),
        ("--out", tmp_path / "hard.jsonl"),
        ("--out", tmp_path / "out.jsonl", "--report", source),
        ("--out", tmp_path / "out.jsonl", "--report", tmp_path / "out.jsonl"),
    ):
        done = command(name, "--in", source, *options)
        assert done.returncode == 64, done.stderr
        assert "name the same file" in done.stderr
        assert "Traceback" not in done.stderr
    assert source.read_bytes() == orjson.dumps(TALK)


def test_a_parquet_file_that_is_none_is_one_line(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "in.parquet"
    path.write_bytes(b"PAR1xxxx")
    done = command("convert_tir_to_native.py", "--in", path, "--out", tmp_path / "out.jsonl")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1 + done.stderr.count("INFO"))
    assert "in.parquet: no sound parquet file" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()

    pq.write_table(pa.table({"messages": ["x" * 1000 + str(n) for n in range(500)]}), path)
    sound = path.read_bytes()
    path.write_bytes(sound[:40] + bytes(300) + sound[340:])
    with pytest.raises(TirError, match="no sound parquet file"):
        list(read_rows(path))
