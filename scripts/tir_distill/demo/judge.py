"""The embedded judge: right when the response names a reference, plainly and whole. Answers in the judge's form."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_CJK = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Case:
    """What the judge was asked to compare."""

    references: tuple[str, ...]
    response: str


def read_case(message: str) -> Case | None:
    """The case in a judge's user message: the JSON object with a reference answer and a response."""
    decoder = json.JSONDecoder()
    for start in re.finditer(r"\{", message):
        try:
            value, _ = decoder.raw_decode(message, start.start())
        except json.JSONDecodeError:
            continue
        if isinstance(value, dict) and "reference_answer" in value and "response" in value:
            others = value.get("other_accepted_answers") or ()
            references = [value["reference_answer"], *others]
            return Case(tuple(str(item) for item in references), str(value["response"]))
    return None


def normal(text: str) -> str:
    """Lower case, one width, no accents, articles or punctuation, single spaces."""
    text = unicodedata.normalize("NFKD", text).lower()
    text = "".join(char for char in text if not unicodedata.combining(char))
    text = re.sub(r"[^\w]+", " ", text)
    return " ".join(_ARTICLES.sub(" ", text).split())


def is_right(case: Case) -> bool:
    """True when the response is a reference or holds one as whole words (CJK: as characters)."""
    response = normal(case.response)
    return bool(response) and any(_holds(response, normal(reference)) for reference in case.references)


def _holds(response: str, reference: str) -> bool:
    if not reference:
        return False
    if _CJK.search(reference):
        return reference.replace(" ", "") in response.replace(" ", "")
    return f" {reference} " in f" {response} "


def verdict(message: str) -> str:
    """The judge's reply to one user message."""
    case = read_case(message)
    if case is None:
        return "I could not find a reference answer and a response in this request."
    if is_right(case):
        return "<judge>Yes</judge>\n<reason>The response names an accepted answer.</reason>"
    return "<judge>No</judge>\n<reason>The response names none of the accepted answers.</reason>"
