"""Reading a judge's reply. Strict: what does not plainly say one thing is undecided, and undecided is never "wrong".

Models answer in other forms than asked for: JSON in fences, prose that changes its mind, Chinese. "CORRECT" stands
inside "INCORRECT" and 真 inside 不真实, so negative phrases are taken out before positive ones are looked for.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from ..records import dumps

LONGEST = 20_000
"""Characters above which a reply is no verdict."""

SHORTEST_ECHO = 8
"""Characters from which a repeated answer is taken out of a reply; ``Yes`` may be answer and verdict both."""

_THINK = re.compile(r"<think>.*?</think>|\A.*</think>", re.DOTALL | re.IGNORECASE)
"""Reasoning; some servers leave its opening tag out."""
_TAG = re.compile(r"(?<![\"'`“‘「])<(judge|verdict|judgement|judgment)>\s*(.*?)\s*</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_TAG = re.compile(r"<(judge|verdict|judgement|judgment)>", re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_FIELD = ("correct", "is_correct", "iscorrect", "judge", "judgement", "judgment", "verdict", "result", "answer_correct")

_NEGATIVE = re.compile(
    "|".join(
        (
            r"\bin-?correct(?:ly)?\b",
            r"\bwrong(?:ly)?\b",
            r"\bfalse\b",
            r"\bmismatch(?:es|ed)?\b",
            r"\bnot\s+attempted\b",
            r"(?:\bnot|\bnever|\bcannot\s+be|n't(?:\s+be)?)\s+(?:\w+\s+){0,2}?(?:correct|right|true|accurate|a\s+match|match\w*)\b",
            r"\bpartial(?:ly)?[\s-]+(?:correct|right|true)\b",
            r"\bno\b",
            r"不(?:是|太|够|完全|算)?(?:正确|对|准确|真实|符合|匹配|一致)|不相?符|^不是$",
            r"(?:未|没有?|非)(?:能|完全)?(?:正确|准确|符合|匹配)|部分(?:正确|真实|对)",
            r"(?<![没不])错|有误|否|假",
        )
    ),
    re.IGNORECASE,
)
_POSITIVE = re.compile(
    r"\bcorrect(?:ly)?\b|\bright\b|\btrue\b|\byes\b|\baccurate\b|\bmatch(?:es|ed)\b"
    r"|没错|无误|相符|正确|准确|真实|一致|符合|匹配|(?<![面相反绝针])对(?![比应于照话象方])|^是的?(?=$|[。.!！，,])|^真$",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"[*_`]+")
_LEFT = re.compile(
    r"\b(?:not|non|none|never|nowhere|without|zero|instead|rather|contradict\w*|differ\w*|miss\w*|deviat\w*|part|partly|semi|less|too|un)\b"
    r"|n't\b|[不未难没欠❌✗%]",
    re.IGNORECASE,
)
"""A "no" that no phrase above accounts for: beside a positive word it leaves the reply undecided."""
_NO_FAULT = re.compile(r"(?:没有|毫无|并无|没|无)(?:任何|明显)?错误?|(?<!有)无误")
_KEY_NAMED = re.compile(
    r"\b(?:the\s+)?(?:correct|right|true|reference)\s+(?:answer|response|value|name|one)s?\s*(?:is|was|are|would\s+be|should\s+be|:)"
    r"|(?:正确|标准|参考)(?:的)?(?:答案|回答)(?:应该?)?[是为：:]",
    re.IGNORECASE,
)
"""Says what would be right, which is no word on the response."""
_DOUBT = re.compile(
    r"\b(?:cannot|can't|can\s+not|could\s+not|couldn't|unable|unclear|unsure|uncertain|whether|would|might|may|if|sorry)\b"
    r"|\b(?:apologi[sz]e|insufficient|depends|almost|mostly|nearly|somewhat|half|to\s+be)\b|\?\s*$"
    r"|\b(?:should|likely|probably|perhaps|technically|arguably|otherwise|but|however|although|though|except|unless)\b"
    r"|\b(?:far\s+from|hardly|barely|scarcely|lacks?|lacking|fails?|failed|nothing|neither|nor|anything\s+but)\b"
    r"|(?:\bnot|\bnever|n't)\s+(?:\w+\s+){0,2}?(?:incorrect|wrong|false)\b"
    r"|无法|不能|不确定|是否|难以|可能|抱歉|如果|大致|基本|不是错|不算错|不错|(?:没有|并非|不是)不|但|不过|虽然|除非|似乎|应该|[并绝]非错",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"(?:\bfinal\s+(?:verdict|judg\w*|answer|decision|conclusion|grade)|最终(?:判断|判定|结论|裁定|结果|答案))"
    r"\W{0,4}(?:is|为|是)?\W{0,4}([^\n]*)",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?:\b(?:verdict|judg(?:e?ment|e)|conclusion|decision|grade|result)|判断|判定|结论|裁定|评判)\s*\**\s*(?:is|为|是|[:：=])\s*([^\n]*)",
    re.IGNORECASE,
)


def parse_reply(text: str | None, *, finished: bool = True, graded: str = "") -> bool | None:
    """True: right; False: wrong; None: undecided. ``finished`` is False when the reply was cut at its token limit.

    ``graded``: the answer that the judge was shown. Where the reply repeats one that is long enough to hold a verdict
    of its own, the repetition is taken out: what an answer says of itself is no verdict.
    """
    if not text or len(text) > LONGEST:
        return None
    text = _THINK.sub("", text)
    if len(graded) >= SHORTEST_ECHO:
        for form in (graded, dumps(graded).decode()[1:-1]):
            text = text.replace(form, " ")
    text = text.strip()
    if not text or "<think>" in text.lower():
        return None
    tags = _TAG.findall(text)
    if tags:
        return _agree([_phrase(body) for _, body in tags])
    if not finished or _OPEN_TAG.search(text):
        return None
    if "{" in text:
        return _from_json(text)
    for pattern in (_FINAL, _LABELLED):
        found = pattern.findall(text)
        if found:
            return _agree([_phrase(body) for body in found])
    return _phrase(text)


def _agree(verdicts: list[bool | None]) -> bool | None:
    return verdicts[0] if len(set(verdicts)) == 1 else None


def _phrase(text: str) -> bool | None:
    """The one verdict a phrase states; None when it states both, none, or doubts."""
    text = _EMPHASIS.sub("", text.replace("’", "'"))
    text = _KEY_NAMED.sub(" ", text).strip().strip("*_`\"'“”<>[]() ").rstrip("。.!！")
    if not text or _DOUBT.search(text):
        return None
    text = _NO_FAULT.sub("正确", text)
    rest, negatives = _NEGATIVE.subn(" ", text)
    positives = len(_POSITIVE.findall(rest.strip().strip("。.!！,，;；:： ")))
    if bool(negatives) == bool(positives) or (positives and _LEFT.search(rest)):
        return None
    return positives > 0


def _from_json(text: str) -> bool | None:
    fenced = _FENCE.findall(text)
    pieces = fenced or [text[text.index("{") : text.rfind("}") + 1]]
    verdicts: list[bool | None] = []
    for piece in pieces:
        try:
            value = orjson.loads(piece.strip())
        except orjson.JSONDecodeError:
            return None
        if not isinstance(value, dict):
            return None
        verdicts.extend(_field(item) for name, item in value.items() if str(name).strip().lower() in _FIELD)
    return _agree(verdicts) if verdicts else None


def _field(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    return _phrase(value) if isinstance(value, str) else None
