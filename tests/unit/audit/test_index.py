"""The real evaluation index, as the hand-over carries it, through the real command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson

from audit_helpers import EVALUATION_TEXT, Row, clean_rows, write
from tir_distill.audit.pictures import Pictures
from tir_distill.config import ROOT, load
from tir_distill.export import find_template
from tir_distill.questions.evaluation_index import FORMAT, picture_versions
from tir_distill.questions.settings import DecontaminationSettings
from tir_distill.sources.text_units import GRAM_TOKENS, TextPrint

QUESTION = (
    "In which year was the stone bridge over the northern river, later drawn on the old city map, opened by its mayor?"
)


def index_of(path: Path, picture: str, flat: bool) -> Path:
    """An index of three items: a long question, a picture, a text."""
    import base64

    import numpy as np

    def packed(numbers: tuple[int, ...]) -> str:
        return base64.b64encode(np.array(numbers, dtype="<u8").tobytes()).decode()

    items = []
    for name, text, pictures in (
        ("q", QUESTION, []),
        ("p", "What is this?", [{"phash": picture, "flat": flat}]),
        ("t", EVALUATION_TEXT, []),
    ):
        made = TextPrint.of(text)
        items.append(
            {
                **{"set": "gaia", "id": name, "units": made.units, "script": made.script, "text_key": made.text_key},
                **{"shingles": packed(made.shingles), "grams": packed(made.grams), "pictures": pictures},
            }
        )
    rules = DecontaminationSettings.from_config(load()).to_dict()
    head = {"format": FORMAT, "gram_tokens": GRAM_TOKENS, "rules": rules, "versions": picture_versions()}
    path.write_bytes(orjson.dumps({**head, "items": items}))
    return path


def run(root: Path, rows: list[Row]) -> tuple[int, dict[str, object]]:
    """The command line of seed section 11, word for word, in the folder that it is meant for."""
    tokenizer = root / "Qwen3.5-4B"
    tokenizer.mkdir()
    (tokenizer / "chat_template.jinja").write_text(find_template().text, encoding="utf-8", newline="")
    (root / "out" / "full").mkdir(parents=True)
    write(root / "out" / "full" / "accepted.jsonl", rows)
    (root / "scripts").symlink_to(ROOT / "scripts")
    line = "scripts/check_distilled.py --in out/full/accepted.jsonl --img-root . --template-dir Qwen3.5-4B"
    line += " --eval-index eval_text_index.json --report out/full/audit.json"
    done = subprocess.run(
        [sys.executable, *line.split()], capture_output=True, text=True, cwd=root, env=dict(os.environ)
    )
    assert done.returncode in (0, 3), done.stderr
    return done.returncode, orjson.loads((root / "out" / "full" / "audit.json").read_bytes())


def test_planted_question_picture_and_text_are_found(tmp_path: Path) -> None:
    rows = clean_rows(tmp_path)
    pictures = Pictures(tmp_path, hashes=True, flat_max_std=4.0)
    shown = pictures.look(rows[0]["images"][1])
    index_of(tmp_path / "eval_text_index.json", shown.phash, shown.flat)
    rows[1]["messages"][1]["content"] = f"<image>{QUESTION.upper()}"
    rows[2]["messages"][3]["content"] += f" {EVALUATION_TEXT} and more"
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in QUESTION)  # full-width forms
    rows[3]["messages"][1]["content"] = wide
    code, report = run(tmp_path, rows)
    assert code == 3
    failures = [(f["line"], f["check"], f["reason"], f["message"]) for f in report["failures"]]  # type: ignore[attr-defined]
    assert failures == [
        (1, "5_overlap", "picture", None),
        (2, "5_overlap", "question", 1),
        (4, "5_overlap", "question", 1),
    ]
    warnings = [(f["line"], f["reason"], f["message"]) for f in report["warnings"]]  # type: ignore[attr-defined]
    assert warnings == [(3, "observation", 3)]
