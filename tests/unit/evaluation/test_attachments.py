from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evaluation_helpers import attached, gaia_row, png, write_gaia
from rollout_helpers import question
from tir_distill.evaluation import attachments
from tir_distill.evaluation.attachments import Rendering, attach, kind_of, plain_name
from tir_distill.evaluation.gaia import prepare_gaia
from tir_distill.evaluation.student import RunFolder, files_of, hold_to_files
from tir_distill.records import BadRow, UsageError
from tir_distill.records.private import private_folder
from tir_distill.sources.gaia_tasks import gaia_tasks, shown_picture


async def no_render(kind: str, data: bytes) -> Rendering:
    return Rendering(problem="it is broken")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.XLSX", "xlsx"), ("b.docx", "docx"), ("c.pptx", "pptx"), ("d.pdf", "pdf"), ("e.csv", "text"),
     ("f.PNG", "picture"), ("g.mp3", "other"), ("h", "other"), ("i.xls", "other")],
)  # fmt: skip
def test_kinds(name: str, kind: str) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    ("name", "plain"),
    [("../../etc/passwd", "passwd"), ("a b'c.txt", "a b_c.txt"), (".env", "_env"), ("", "attachment")],
)
def test_names_are_safe(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_a_broken_file_is_placed_and_its_fault_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"junk")
    found = asyncio.run(attach(tmp_path / "a.xlsx", no_render))
    assert [file.name for file in found.files] == ["a.xlsx"]
    assert "a.xlsx (no text could be made of it: it is broken)" in found.words


def test_a_large_file_is_named_and_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "MAX_BYTES", 10)
    (tmp_path / "a.mp3").write_bytes(b"0" * 11)
    found = asyncio.run(attach(tmp_path / "a.mp3", no_render))
    assert found.files == ()
    assert "a.mp3 (not available" in found.words


def test_gaia_rows_become_private_questions(tmp_path: Path) -> None:
    rows = [
        gaia_row(0), attached(1, "one.png"), attached(2, "two.mp3"), attached(3, "bad.jpg"), attached(4, "gone.pdf"),
        gaia_row(5, **{"Final answer": ""}), gaia_row(0),
    ]  # fmt: skip
    source = write_gaia(tmp_path / "gaia", rows, {"one.png": png(), "two.mp3": b"ID3", "bad.jpg": b"no picture"})
    private = tmp_path / "run" / "private"
    made = asyncio.run(prepare_gaia(gaia_tasks(source), private, render=no_render, show=shown_picture))
    assert made.rejects == {"g004": "file_missing", "g005": "missing_final_answer"}
    by_id = {item.id: item for item in made.questions}
    assert list(by_id) == ["g000", "g001", "g002", "g003"]
    assert (by_id["g001"].task_type, by_id["g000"].task_type) == ("image_search", "text_search")
    assert (private / by_id["g001"].images[0]).read_bytes() == png()
    assert all(item.meta["private"] is True for item in made.questions)
    assert by_id["g002"].question.endswith("working folder:\n- two.mp3 (as it is)")
    assert "cannot be shown" in by_id["g003"].question
    assert files_of(private, by_id["g002"])["two.mp3"].read_bytes() == b"ID3"
    assert private_folder(private / "questions.jsonl") == private.resolve()


def test_a_file_outside_its_folder_is_refused(tmp_path: Path) -> None:
    asked = question(1, meta={"files": [{"name": "a", "path": "../../etc/hostname"}]})
    with pytest.raises(BadRow, match="outside"):
        files_of(tmp_path, asked)


def test_a_run_keeps_to_the_files_it_began_with(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    (folder.private / "state").mkdir(parents=True)
    first = question(1, meta={"files": [{"name": "a", "path": "a", "sha256": "1"}]})
    hold_to_files(folder, [first])
    hold_to_files(folder, [first, question(2)])
    with pytest.raises(UsageError, match="have changed"):
        hold_to_files(folder, [question(1, meta={"files": [{"name": "a", "path": "a", "sha256": "2"}]})])
