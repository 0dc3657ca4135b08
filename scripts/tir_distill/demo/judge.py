"""The embedded judge: right when the response names a reference, plainly and whole. Answers in the judge's form."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass

_FIELDS = {
    "truth": r"(?:ground[ _-]?truth|reference(?: answer)?|correct answer)s?(?: answer)?",
    "candidates": r"(?:candidate|other accepted|accepted|alternative)[ _-]?(?:answers?|forms?)?",
    "response": r"(?:model(?:'s)?[ _-]?(?:response|answer)|response|prediction|answer given|final answer)",
}
_OTHER = r"(?:question|instructions?|rules?|image)"
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True)
class Case:
    """What the judge was asked to compare."""

    references: tuple[str, ...]
    response: str


def read_case(message: str) -> Case | None:
    """Find references and response in a judge's user message: ``<label>: <text>`` lines or ``<tag>text</tag>``."""
    found = {name: _field(message, pattern) for name, pattern in _FIELDS.items()}
    if found["truth"] is None or found["response"] is None:
        return None
    references = [found["truth"].strip()]
    listed = (found["candidates"] or "").strip()
    try:
        parsed = json.loads(listed) if listed else []
    except json.JSONDecodeError:
        parsed = [part.strip(" -*\t") for part in re.split(r"[\n;]", listed)]
    references += (
        [item for item in parsed if isinstance(item, str) and item.strip()] if isinstance(parsed, list) else []
    )
    return Case(tuple(references), found["response"].strip())


def _field(message: str, label: str) -> str | None:
    tag = label.replace("[ _-]?", "_?")
    tagged = re.search(rf"<({tag})>(.*?)</\1>", message, re.IGNORECASE | re.DOTALL)
    if tagged:
        return tagged.group(2)
    following = "|".join([*_FIELDS.values(), _OTHER])
    start = re.compile(rf"^[ \t#*\[(-]*{label}[ \t*\])]*[:：][ \t*]*", re.IGNORECASE | re.MULTILINE)
    matches = list(start.finditer(message))
    if not matches:
        return None
    rest = message[matches[-1].end() :]
    end = re.search(rf"\n[ \t#*\[(-]*(?:{following})[ \t*\])]*[:：]|\n\s*\n", rest, re.IGNORECASE)
    return rest[: end.start()] if end else rest


def normal(text: str) -> str:
    """Lower case, one width, no accents, articles or punctuation, single spaces."""
    text = unicodedata.normalize("NFKD", text).lower()
    text = "".join(char for char in text if not unicodedata.combining(char))
    text = re.sub(r"[^\w]+", " ", text, flags=re.UNICODE)
    return " ".join(_ARTICLES.sub(" ", text).split())


def is_right(case: Case) -> bool:
    """True when the response is a reference or holds one as whole words (CJK: as characters)."""
    response = normal(case.response)
    return bool(response) and any(_holds(response, normal(reference)) for reference in case.references)


def _holds(response: str, reference: str) -> bool:
    if not reference:
        return False
    if re.search(r"[\u3400-\u9fff]", reference):
        return reference.replace(" ", "") in response.replace(" ", "")
    return f" {reference} " in f" {response} "


def verdict(message: str) -> str:
    """The judge's reply to one user message."""
    case = read_case(message)
    if case is None:
        return "I could not find a ground truth and a response in this request."
    if is_right(case):
        return "<judge>Yes</judge>\n<reason>The response names an accepted answer.</reason>"
    return "<judge>No</judge>\n<reason>The response names none of the accepted answers.</reason>"
