"""Made GAIA sources, a student with scripted habits over real HTTP, and a search server that counts."""

from __future__ import annotations

import io
import json
import re
import threading
import zipfile
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from rollout_helpers import Asked, FakeTeacher, call, completion, settings

# ---- a source -------------------------------------------------------------------------------------------------------


def gaia_row(number: int, **changes: Any) -> dict[str, Any]:
    """Question ``number``: its level is 1, 2 or 3 in turn, its answer ``place <number>``."""
    row = {
        "task_id": f"g{number:03d}",
        "Question": f"Made question {number}: where is it?",
        "Level": str(1 + number % 3),
        "Final answer": f"place {number}",
        "file_name": "",
        "file_path": "",
    }
    return {**row, **changes}


def write_gaia(folder: Path, rows: Sequence[Mapping[str, Any]], files: Mapping[str, bytes] | None = None) -> Path:
    """A source folder as ``fetch_source.py`` leaves it, without its lock."""
    place = folder / "2023" / "validation"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), place / "metadata.parquet")
    for name, data in (files or {}).items():
        (place / name).write_bytes(data)
    return folder


def attached(number: int, name: str, **changes: Any) -> dict[str, Any]:
    return gaia_row(number, file_name=name, file_path=f"2023/validation/{name}", **changes)


def png(size: tuple[int, int] = (40, 30), colour: str = "teal") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


# ---- office files, written by hand ----------------------------------------------------------------------------------

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DRAW = "http://schemas.openxmlformats.org/drawingml/2006/main"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def xlsx(sheet: str | bytes | None = None) -> bytes:
    """Two columns, a shared text, an inline text, a date, a gap and one green cell."""
    cells = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>count, all</t></is></c></row>'
        '<row r="3"><c r="A3" s="1"><v>45292</v></c><c r="B3" s="2"><v>17</v></c></row>'
    )
    body = f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>' if sheet is None else sheet
    return zipped(
        {
            "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINK}"><sheets>'
            '<sheet name="Stock" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": '<Relationships xmlns="x"><Relationship Id="rId1" Target="worksheets/s.xml"/>'
            "</Relationships>",
            "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}"><si><r><t>da</t></r><r><t>y</t></r></si></sst>',
            "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><fills><fill><patternFill patternType="none"/></fill><fill>'
            '<patternFill patternType="solid"><fgColor rgb="FF00FF00"/></patternFill></fill></fills><cellXfs>'
            '<xf numFmtId="0" fillId="0"/><xf numFmtId="14" fillId="0"/><xf numFmtId="0" fillId="1"/></cellXfs>'
            "</styleSheet>",
            "xl/worksheets/s.xml": body,
        }
    )


def docx() -> bytes:
    body = (
        "<w:p><w:r><w:t>The owl</w:t></w:r><w:r><w:t> sleeps.</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Kim</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>7</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    )
    text = f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
    return zipped({"word/document.xml": text})


def pptx() -> bytes:
    def slide(words: str) -> str:
        return f'<p:sld xmlns:p="p" xmlns:a="{_DRAW}"><a:p><a:r><a:t>{words}</a:t></a:r></a:p></p:sld>'

    return zipped({f"ppt/slides/slide{number}.xml": slide(f"Slide words {number}") for number in (10, 2, 1)})


def pdf(words: str = "A page about herons") -> bytes:
    stream = f"BT /F1 18 Tf 20 100 Td ({words}) Tj ET".encode()
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(parts) + 1, table)
    return out + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(parts) + 1, start)


# ---- a student ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Habits:
    """What a scripted student does, by the number in the question."""

    searching: int = 31
    """Searches in questions 0 ... searching - 1."""
    drawing: Container[int] = (163, 164)
    """Writes picture code in these questions."""

    def __call__(self, asked: Asked) -> dict[str, Any]:
        found = re.search(r"Made question (\d+)", asked.question)
        assert found is not None
        number = int(found[1])
        if asked.turn == 0 and number < self.searching:
            return completion(calls=[call("search", {"query": f"where is {number}"})])
        if asked.turn == 0 and number in self.drawing:
            return completion(calls=[call("python", {"code": "from PIL import Image\nprint(1)"})])
        if asked.turn == 0 and number == 60:
            return completion(calls=[call("python", {"code": "1 / 0"})])
        if number == 100:
            return completion("I do not know.")
        if number % 5 == 0:
            return completion(f"<answer>Place {number}.</answer>", tokens=40)
        return completion("<answer>B</answer>" if number == 61 else "<answer>elsewhere</answer>")


class Search(BaseHTTPRequestHandler):
    """Serper's shape; counts in ``server.asked``."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked[body["q"]] += 1  # type: ignore[attr-defined]
        hit = {"title": "A page", "link": "https://pages.example/1", "snippet": f"about {body['q']}"}
        data = json.dumps({"organic": [hit], "credits": 1}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@dataclass
class World:
    """A student and a search server, alive."""

    student: FakeTeacher
    asked: Counter[str] = field(default_factory=Counter)
    env: dict[str, str] = field(default_factory=dict)


@contextmanager
def world(script: Any, **options: Any) -> Iterator[World]:
    """Both servers; ``env`` holds their addresses."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Search)
    server.asked = Counter()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with FakeTeacher(script, **options) as student:
            env = {
                "STUDENT_URL": student.url,
                "STUDENT_MODEL": "made-student",
                "SERPER_URL": f"http://127.0.0.1:{server.server_port}/search",
                "SERPER_API_KEY": "no-key-at-all",
            }
            yield World(student, server.asked, env)  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()


def use(monkeypatch: pytest.MonkeyPatch, here: World) -> None:
    for name, value in here.env.items():
        monkeypatch.setenv(name, value)


def quick() -> dict[str, Any]:
    """The default configuration without waiting for a search provider."""
    return settings(budgets={"serper_qps": 1000})
