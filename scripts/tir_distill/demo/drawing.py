"""Draw the demo's training sources in the layouts, names and types that upstream has."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from . import prose
from .ciphers import keystream
from .drawing_evaluation import draw_evaluation
from .forms import encode, truncated
from .inventory import RESOURCES, Ask, dice, load_questions, load_yaml
from .plots import draw_chart, draw_table
from .scenes import draw_scene
from .tasks import make_chart, make_table
from .upstream import fvqa_schema, image_struct, numpy_text, text_schema, write_bytes, write_parquet, write_zip

LETTERS = "ABCDE"


@dataclass
class Studio:
    """One drawing of everything: the seed, the questions, and what must be known again for the evaluation sets."""

    out: Path
    seed: int
    asks: list[Ask]
    truth: Mapping[str, Any]
    pictures: dict[str, Image.Image] = field(default_factory=dict)
    """Pictures of planted pairs, by name."""
    planted: list[dict[str, Any]] = field(default_factory=list)
    """Rows that must be dropped against an evaluation set."""
    rejects: list[dict[str, Any]] = field(default_factory=list)
    """Rows that cannot become questions."""

    def of(self, *groups: str) -> list[Ask]:
        return [ask for ask in self.asks if ask.group in groups]

    def note(self, bucket: str, identity: str, question: str, row: Mapping[str, Any]) -> None:
        """Remember a row that must not reach the hand-over."""
        entry = {"bucket": bucket, "id": identity, "question": question}
        if "planted" in row:
            planted = row["planted"]
            self.planted.append({**entry, "set": planted["set"], "item": planted["item"], "by": planted["by"]})
        if "fault" in row:
            self.rejects.append({**entry, "fault": row["fault"]})


def draw_sources(out: Path, seed: int, resources: Path = RESOURCES) -> dict[str, int]:
    """Write the whole mirror under ``out``: five question sources, four evaluation sets, and ``planted.json``.

    Returns the number of rows per source.
    """
    studio = Studio(out, seed, load_questions(resources), load_yaml("truth.yaml", resources))
    counts = {
        "fvqa": _draw_fvqa(studio),
        "livevqa": _draw_livevqa(studio),
        "evobrowsecomp": _draw_evobrowsecomp(studio),
        "chartqa": _draw_charts(studio),
        "tabmwp": _draw_tables(studio),
    }
    sets = studio.truth["evaluation"]
    draw_evaluation(studio.out, studio.seed, sets, studio.pictures)
    counts |= {name: len(items) for name, items in sets.items()}
    notes = {"planted": studio.planted, "rejects": studio.rejects}
    write_bytes(out / "planted.json", json.dumps(notes, indent=1, ensure_ascii=False).encode() + b"\n")
    return counts


def _draw_fvqa(studio: Studio) -> int:
    rows: list[dict[str, Any]] = []
    for ask in studio.of("fvqa"):
        fact = studio.truth["fvqa"][ask.key]
        data = encode(draw_scene(fact["scene"], fact["plate"], studio.seed), fact.get("form", "png"))
        rows.append(_fvqa_row(len(rows), ask.text, data, fact["answer"], fact.get("candidates", [])))
    for extra in studio.truth["fvqa_extras"]:
        picture = draw_scene(extra["scene"], extra["plate"], studio.seed)
        studio.pictures[extra["name"]] = picture
        data = encode(picture)
        if extra.get("fault") == "undecodable_picture":
            data = truncated(data)
        row = _fvqa_row(len(rows), extra["ask"], data, extra["answer"], [])
        studio.note("fvqa_train", row["data_id"], extra["ask"], extra)
        rows.append(row)
    write_parquet(
        studio.out / "mzhang1766" / "huawei_benchmark" / "fvqa_train.parquet", rows, fvqa_schema(with_category=True)
    )
    return len(rows)


def _fvqa_row(index: int, question: str, data: bytes, answer: str, candidates: list[str]) -> dict[str, Any]:
    return {
        "prompt": [{"content": question, "role": "user"}],
        "images": [{"bytes": data, "path": None}],
        "reward_model": {"candidate_answers": json.dumps(candidates), "ground_truth": answer, "style": "rule"},
        "data_source": "mmsearch_r1/fvqa_train",
        "image_urls": None,
        "data_id": f"fvqa_train_{index}",
        "category": "search_required" if index % 3 else "search_free",
    }


def _draw_livevqa(studio: Studio) -> int:
    import pyarrow as pa

    photos: dict[str, bytes] = {}
    rows: list[dict[str, Any]] = []
    counters: dict[tuple[str, int], int] = {}

    def add(article: str, level: int, question: str, entry: Mapping[str, Any]) -> None:
        about = studio.truth["livevqa"][article]
        number = counters.get((article, level), 0)
        counters[article, level] = number + 1
        name = f"news_images/demo_{about['stamp'][-6:]}.jpg"
        photos.setdefault(name, encode(draw_scene(about["scene"], about["plate"], studio.seed), "jpeg"))
        if entry.get("fault") == "photo_missing":
            name = f"news_images/demo_{about['stamp'][-6:]}_lost.jpg"
        options = [entry["answers"][0], *entry["wrong"]]
        random.Random(dice("options", question, studio.seed)).shuffle(options)
        identity = f"0_{about['stamp']}_l{level}_{number}"
        rows.append(
            {
                "id": identity,
                "level": level,
                "question": question,
                "options": [f"{LETTERS[index]}. {option}" for index, option in enumerate(options)],
                "Ground_Truth": LETTERS[options.index(entry["answers"][0])],
                "Ground_Truth_List": entry.get("list_text", numpy_text(entry["answers"])),
                "img_path": name,
                "topic": "news",
                "source": about["source"],
            }
        )
        studio.note(f"livevqa_news_l{level}", f"livevqa_{identity}", question, entry)

    for ask in studio.of("livevqa_l1", "livevqa_l2"):
        add(ask.article, 1 if ask.group == "livevqa_l1" else 2, ask.text, studio.truth["livevqa_answers"][ask.key])
    for extra in studio.truth["livevqa_extras"]:
        add(extra["article"], extra["level"], extra["ask"], extra)
    schema = pa.schema(
        [
            ("id", pa.string()),
            ("level", pa.int64()),
            ("question", pa.string()),
            ("options", pa.list_(pa.string())),
            *((name, pa.string()) for name in ("Ground_Truth", "Ground_Truth_List", "img_path", "topic", "source")),
        ]
    )
    folder = studio.out / "ONE-Lab" / "LiveVQA-2025"
    write_parquet(folder / "Dataset.parquet", rows, schema)
    write_zip(folder / "news.zip", photos)
    return len(rows)


def _draw_evobrowsecomp(studio: Studio) -> int:
    rng = random.Random(dice("keystream", studio.seed))
    pairs = [(ask.text, studio.truth["evobrowsecomp"][ask.key]) for ask in studio.of("evobrowsecomp")]
    for extra in studio.truth["evobrowsecomp_extras"]:
        language = extra["language"]  # ids count within the language, as the reader does
        number = sum(prose.language(question).upper() == language for question, _ in pairs)
        studio.note("evobrowsecomp", f"evobc_{language}_{number}", extra["ask"], extra)
        pairs.append((extra["ask"], extra["answer"]))
    rows = []
    for question, answer in pairs:
        cipher, key = keystream(question, rng)
        answer_cipher, answer_key = keystream(answer, rng)
        rows.append({"question": cipher, "question_key": key, "answer": answer_cipher, "answer_key": answer_key})
    # One row whose key is shorter than its text: an error to be counted, never plain text.
    rows.append({**rows[0], "question_key": rows[0]["question_key"][:16]})
    studio.rejects.append(
        {"bucket": "evobrowsecomp", "id": f"evobc#{len(rows) - 1}", "question": "", "fault": "key_length_differs"}
    )
    path = studio.out / "Krystalan" / "EvoBrowseComp" / "data" / "train-00000-of-00001.parquet"
    write_parquet(path, rows, text_schema("question", "question_key", "answer", "answer_key"))
    return len(rows)


def _draw_charts(studio: Studio) -> int:
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    drawn: dict[str, bytes] = {}

    def add(question: str, label: str, data: bytes, *, human: bool = True) -> None:
        rows.append(
            {
                "image": {"bytes": data, "path": None},
                "query": question,
                "label": [label],
                "human_or_machine": 0 if human else 1,
            }
        )

    for ask in studio.of("charts"):
        step, bars, answer = make_chart(ask, studio.seed)
        drawn[ask.key] = encode(draw_chart(f"Survey {ask.key.split('_')[1]}", bars, step))
        add(ask.text, answer, drawn[ask.key])
    for extra in studio.truth["charts_extras"]:
        if extra["chart"]:
            data = drawn[extra["chart"]]
        else:
            step, bars, _ = make_chart(Ask("chart_extra", "charts", extra["ask"], task={"op": "total"}), studio.seed)
            picture = draw_chart("Survey extra", bars, step)
            studio.pictures["charts_extra"] = picture
            data = encode(picture)
        studio.note("chartqa_human", f"chartqa_train_{len(rows)}", extra["ask"], extra)
        add(extra["ask"], str(extra["label"]), data, human=extra.get("human", True))
    schema = pa.schema(
        [
            ("image", image_struct()),
            ("query", pa.string()),
            ("label", pa.list_(pa.string())),
            ("human_or_machine", pa.int64()),
        ]
    )
    write_parquet(studio.out / "HuggingFaceM4" / "ChartQA" / "data" / "train-00000-of-00001.parquet", rows, schema)
    return len(rows)


def _draw_tables(studio: Studio) -> int:
    import pyarrow as pa

    rows: list[dict[str, Any]] = []

    def add(question: str, options: list[str], answer: str, data: bytes) -> str:
        number = str(1001 + 7 * len(rows))
        image = {"bytes": data, "path": f"{number}.png"}
        rows.append({"image": image, "id": number, "question": question, "options": options, "answer": answer})
        return number

    picture = b""
    for ask in studio.of("tables"):
        cells, answer = make_table(ask, studio.seed)
        picture = encode(draw_table(ask.key.split("_")[1].capitalize(), ask.rows, ask.columns, cells))
        add(ask.text, [], answer, picture)
    for extra in studio.truth["tables_extras"]:
        number = add(extra["ask"], extra["options"], extra["answer"], picture)
        studio.note("tabmwp_numeric", f"tabmwp_{number}", extra["ask"], extra)
    schema = pa.schema(
        [
            ("image", image_struct()),
            ("id", pa.string()),
            ("question", pa.string()),
            ("options", pa.list_(pa.string())),
            ("answer", pa.string()),
        ]
    )
    write_parquet(studio.out / "JiaerX" / "TabMWP" / "data" / "train-00000-of-00001.parquet", rows, schema)
    return len(rows)
