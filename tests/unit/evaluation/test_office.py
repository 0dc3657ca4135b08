from __future__ import annotations

import io
import zipfile

import pytest

from evaluation_helpers import docx, pptx, xlsx, zipped
from tir_distill.evaluation import office
from tir_distill.evaluation.office import render


def texts(kind: str, data: bytes) -> dict[str, str]:
    header, blobs = render({"kind": kind}, [data])
    assert "problem" not in header, header
    return {suffix: blob.decode() for (suffix, _), blob in zip(header["files"], blobs, strict=True)}


def problem(kind: str, data: bytes) -> str:
    header, blobs = render({"kind": kind}, [data])
    assert blobs == []
    return str(header["problem"])


def test_a_sheet_is_csv_with_shared_and_inline_text_dates_gaps_and_fills() -> None:
    assert texts("xlsx", xlsx()) == {
        "_sheet1.csv": 'day,"count, all"\n,\n2024-01-01,17\n',
        "_sheet1_fills.csv": "cell,fill\nB3,#00FF00\n",
    }


def test_cells_without_places_follow_each_other() -> None:
    rows = "<row><c><v>1</v></c><c><v>2.5</v></c></row><row><c/><c t='b'><v>1</v></c></row>"
    sheet = f"<worksheet><sheetData>{rows}</sheetData></worksheet>"
    assert texts("xlsx", xlsx(sheet))["_sheet1.csv"] == "1,2.5\n,TRUE\n"


def test_a_document_is_its_paragraphs_and_tables() -> None:
    assert texts("docx", docx()) == {".txt": "The owl sleeps.\nKim | 7"}


def test_slides_are_in_the_order_of_their_numbers() -> None:
    assert texts("pptx", pptx())[".txt"].splitlines() == [
        "--- slide 1 ---", "Slide words 1", "--- slide 2 ---", "Slide words 2", "--- slide 10 ---", "Slide words 10",
    ]  # fmt: skip


def test_a_zip_bomb_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MAX_PART", 1 << 20)
    bomb = xlsx(b"<worksheet>" + b" " * (8 << 20) + b"</worksheet>")
    assert len(bomb) < 50_000
    assert "unpacks to more than 1 MB" in problem("xlsx", bomb)


def test_many_parts_together_are_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MAX_ALL", 1 << 20)
    slides = {f"ppt/slides/slide{n}.xml": "<a>" + " " * (400 << 10) + "</a>" for n in range(1, 5)}
    assert "unpacks to more than" in problem("pptx", zipped(slides))
    monkeypatch.setattr(office, "MAX_PARTS", 3)
    assert "4 parts" in problem("pptx", zipped(slides))


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("xlsx", b"PK\x03\x04 but no more", "no Office file"),
        ("xlsx", b"", "no Office file"),
        ("xlsx", xlsx()[:-60], "no Office file"),
        ("xlsx", xlsx("<worksheet><row>"), "no XML"),
        ("xlsx", xlsx('<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet>&a;</worksheet>'), "entities"),
        ("docx", pptx(), "word/document.xml is missing"),
        ("pptx", docx(), "no slide"),
    ],
)
def test_a_broken_file_is_a_message(kind: str, data: bytes, words: str) -> None:
    assert words in problem(kind, data)


def test_a_damaged_member_is_a_message() -> None:
    data = bytearray(docx())
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        start = archive.getinfo("word/document.xml").header_offset + 60
    data[start : start + 20] = b"\xff" * 20
    assert "damaged" in problem("docx", bytes(data)) or "no XML" in problem("docx", bytes(data))
