"""LiveVQA-2025, news part: multiple-choice questions on press photos, turned open-ended (seed sections 3 and 9).

The columns of the published table are not certain, so two layouts are read:

* flat, one row per question: ``id``, ``level``, ``question``, ``options``, ``Ground_Truth``, ``Ground_Truth_List``,
  ``img_path`` (the layout of the sibling data set LiveVQA-new);
* nested, one row per article as the upstream pipeline builds it: ``img_paths`` with ``level1_qas`` (one question per
  picture) and ``level2_qas_img1``, ``level2_qas_img2``, ... (up to five each).

Photos stay inside ``news.zip``; each is read from there when its question comes up. Ids are
``livevqa_<article>_l<level>_<k>``, k counted within article and level.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ..candidate import Candidate, other_forms
from ..fields import Row, first, optional_text, parsed_text, text
from ..lock import source_files
from ..numpy_list import naive_parse, parse_list
from ..picture_bytes import picture_bytes
from ..tables import columns_of
from ..zip_pictures import ZipPictures
from .base import NOT_OURS, BadRow, QuestionReader

_ID = re.compile(r"(?P<article>.+?)_l(?P<level>[12])_(?P<k>\d+)")
_LETTER = re.compile(r"\s*\(?([A-Ha-h])\)?\s*(?:[.:：、)）].*)?", re.DOTALL)
_OPTION_HEAD = re.compile(r"\s*\(?([A-Ha-h])\)?\s*[.:：、)）]\s*")
_NEXT_OPTION = re.compile(r"[\n;,]\s*(?=\(?[A-H]\)?\s*[.:：、)）]\s*\S)")
"""Between the options of a list that came as one text."""
_OPTION_LINE = re.compile(r"^\s*\(?[A-H]\)?\s*[.:、)]\s+\S", re.MULTILINE)
_LEVEL2_KEY = re.compile(r"level2_qas_img(\d+)")


def option_texts(value: Any) -> dict[str, str]:
    """Letter -> text of the options, their letters taken off.

    Takes a list in any form, a mapping by letter (also as text), and one text that holds the options one after the
    other. Raises BadRow ``unreadable_options`` for text that begins like a mapping and is none. A head like
    ``C.`` is a letter only where it can be: at its own place, or when all options bear different ones, A among them;
    ``C. Ronaldo`` before ``L. Messi`` is a name.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = parsed_text(value)
        if not isinstance(value, Mapping):
            raise BadRow("unreadable_options", "the options begin like a mapping by letter and are none")
    if isinstance(value, Mapping):
        return {str(letter).strip().upper(): str(text).strip() for letter, text in value.items() if text is not None}
    options = parse_list(value)
    if len(options) == 1 and _OPTION_HEAD.match(options[0]):
        options = _NEXT_OPTION.split(options[0])
    heads = [_OPTION_HEAD.match(option) for option in options]
    letters = [head.group(1).upper() if head else "" for head in heads]
    marked = "" not in letters and "A" in letters and len(set(letters)) == len(letters)
    out = {}
    for position, (option, head, letter) in enumerate(zip(options, heads, letters, strict=True)):
        place = chr(ord("A") + position)
        if head and (marked or letter == place):
            place, option = letter, option[head.end() :]
        out[place] = option.strip()
    return out


def without_letter(text: str, options: Mapping[str, str]) -> str:
    """The text without an option's letter in front of that option's text."""
    head = _OPTION_HEAD.match(text)
    rest = text[head.end() :].strip() if head else ""
    return rest if head and rest and options.get(head.group(1).upper(), "").casefold() == rest.casefold() else text


def right_option(value: Any, options: Mapping[str, str]) -> str:
    """Text of the option that ``Ground_Truth`` names by letter or by its text; empty when it names none."""
    if not isinstance(value, str):
        return ""
    if (match := _LETTER.fullmatch(value)) and match.group(1).upper() in options:
        return options[match.group(1).upper()]
    return next((option for option in options.values() if option.casefold() == value.strip().casefold()), "")


def open_question(question: str) -> str:
    """The question without a list of options that may stand under it."""
    lines = list(_OPTION_LINE.finditer(question))
    return question[: lines[0].start()].strip() if len(lines) >= 2 and lines[0].start() > 0 else question


def level_of(value: Any) -> int | None:
    """1 or 2 from ``2``, ``"2"``, ``"level2"``, ``"L2"``; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    digits = re.findall(r"[12](?!\d)", str(value).removesuffix(".0"))
    return int(digits[-1]) if digits else None


def _question_list(value: Any) -> list[Row | BadRow]:
    """Question objects of a nested column, which may come as JSON text; what is none is a BadRow in its place."""
    if isinstance(value, str):
        value = parsed_text(value)
    if value is None or value == "":
        return []
    if not isinstance(value, list | tuple):
        return [BadRow("unreadable_questions", f"expected a list of questions, found {type(value).__name__}")]
    out: list[Row | BadRow] = []
    for item in value:
        if isinstance(item, str):
            item = parsed_text(item)
        if item is None or item == "":
            item = {}
        out.append(item if isinstance(item, Mapping) else BadRow("damaged_question", "the question is not an object"))
    return out


class LiveVqa(QuestionReader):
    """Both levels; a subclass names its own."""

    source = "livevqa_news"
    columns = ()  # all: the nested layout has columns numbered by picture
    required = ("question", "options", "Ground_Truth", "Ground_Truth_List", "img_path")
    level: ClassVar[int]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._zip = ZipPictures([path for path in source_files(self.folder) if path.suffix == ".zip"])
        self._seen: Counter[str] = Counter()

    def close(self) -> None:
        self._zip.close()

    def missing_columns(self) -> dict[str, list[str]]:
        missing = super().missing_columns()
        return {name: columns for name, columns in missing.items() if not self._is_nested(name)}

    def _is_nested(self, name: str) -> bool:
        return any("level1_qas" in column for column in columns_of(self.folder / name) or [])

    def row_id(self, row: Row, index: int) -> str:
        name = row.get("id")
        return f"livevqa_{name}" if isinstance(name, str | int) and str(name).strip() else f"livevqa#{index}"

    def parse(self, row: Row, index: int) -> Any:
        nested = [row[key] for key in row if isinstance(key, str) and key.startswith(("level1_qas", "level2_qas"))]
        if any(nested) or (nested and row.get("question") is None):
            return list(self._nested(row))
        article, level, k = self._place(row)
        if level != self.level or not self._is_news(row):
            return NOT_OURS
        if k is None:
            k = self._seen[article]
            self._seen[article] += 1
        return self._candidate(row, row, article, k)

    def _place(self, row: Row) -> tuple[str, int | None, int | None]:
        """(article, level, k) by the id, or by the ``level`` column for an id that names the article only."""
        name = text(row, "id", "sample_id")
        if match := _ID.fullmatch(name):
            return match["article"], int(match["level"]), int(match["k"])
        level = level_of(row.get("level"))
        if level is None:
            raise BadRow("missing_level", f"neither the id {name!r} nor a column 'level' says the level")
        return name, level, None

    @staticmethod
    def _is_news(row: Row) -> bool:
        """False for the papers and videos that share the table."""
        place = f"{optional_text(row, 'img_path')} {optional_text(row, 'topic')}".lower()
        return not any(word in place for word in ("paper_images", "youtube_images", "video_images"))

    def _nested(self, row: Row) -> Iterator[Candidate | BadRow]:
        """The questions of one article at this level, in the order of its pictures."""
        article = text(row, "id")
        if row.get("discarded") is True:
            raise BadRow("discarded_upstream", optional_text(row, "discard_reason"))
        if not self._is_news(row):
            return
        for k, (question, position) in enumerate(self._nested_questions(row)):
            try:
                if isinstance(question, BadRow):
                    raise question
                yield self._candidate(question, row, article, k, position)
            except BadRow as error:
                yield BadRow(error.reason, f"question {k}: {error.detail}")

    def _nested_questions(self, row: Row) -> Iterator[tuple[Row | BadRow, int]]:
        """(question object, position of its picture); a place without a question is passed over."""
        lists: list[tuple[Any, int | None]]
        if self.level == 1:
            lists = [(row.get("level1_qas"), None)]
        else:
            keys = sorted((int(m[1]), key) for key in row if (m := _LEVEL2_KEY.fullmatch(str(key))))
            lists = [(row[key], number - 1) for number, key in keys]
        for values, fixed in lists:
            for position, question in enumerate(_question_list(values)):
                if question:
                    yield question, position if fixed is None else fixed

    def _candidate(self, question: Row, row: Row, article: str, k: int, position: int = 0) -> Candidate:
        raw = first(question, "Ground_Truth_List", "ground_truth_list", "gt_list")
        written = [item.strip() for item in parse_list(raw) if item.strip()]
        options = option_texts(first(question, "options", "Options"))
        listed = [without_letter(item, options) for item in written]
        right = right_option(first(question, "Ground_Truth", "ground_truth"), options)
        answer = listed[0] if listed else right
        if not answer:
            raise BadRow("missing_answer", "no ground truth list and no right option")
        low, high = self.answer_chars
        if len(answer) < low:
            raise BadRow("answer_too_short", f"{len(answer)} characters, at least {low}")
        if len(answer) > high:
            raise BadRow("answer_too_long", f"{len(answer)} characters, at most {high}")
        naive = naive_parse(raw)
        meta: dict[str, Any] = {
            "level": self.level,
            "article": article,
            "answer_fixed": naive is not None and [item.strip() for item in naive if item.strip()] != written,
        }
        for key, names in (("category", ("category", "topic")), ("publisher", ("source",)), ("url", ("url",))):
            if value := optional_text(row, *names):
                meta[key] = value
        if kind := optional_text(question, "question_type"):
            meta["question_type"] = kind
        return Candidate(
            id=f"livevqa_{article}_l{self.level}_{k}",
            question=open_question(text(question, "question")),
            answer=answer,
            candidates=other_forms(answer, listed, [right]),
            group=article,
            pictures=(self._picture(question, row, position),),
            meta=meta,
        )

    def _picture(self, question: Row, row: Row, position: int) -> bytes:
        value = first(question, "image", "img_path", "img")
        if value is None:
            paths = row.get("img_paths")
            if isinstance(paths, str):
                paths = parse_list(paths)
            value = paths[position] if isinstance(paths, list | tuple) and position < len(paths) else None
        if isinstance(value, str) and self._zip.files and len(value) < 1024:
            return self._zip.read(value)
        return picture_bytes(value, self.folder)


class LiveVqaLevel1(LiveVqa):
    """Bucket livevqa_news_l1: what the picture shows."""

    level = 1


class LiveVqaLevel2(LiveVqa):
    """Bucket livevqa_news_l2: what must be found out beyond the picture."""

    level = 2
