"""Whole phrases that say "the response is right", in English and Chinese. A reply with anything else in it is not one.

A list of what may be said, not of what may not: "Mumbai is correct, the response says Delhi", "the exact opposite is
correct" and 差一点就对了 all hold a positive word, and no list of negations is ever complete.
"""

from __future__ import annotations

import re
import unicodedata

_ADVERB = r"(?:(?:entirely|completely|fully|totally|indeed|clearly|definitely|absolutely|exactly|also) )?"
_RIGHT = r"(?:correct|right|true|accurate|valid|a match|correct and (?:complete|accurate))"
_OWNER = r"(?:given|model's|student's|candidate|candidate's|predicted|provided|final)"
_SUBJECT = (
    r"(?:(?:so|thus|hence|therefore|yes) )?"
    rf"(?:(?:the|this|that|its|{_OWNER})(?: {_OWNER})? (?:response|answer|prediction|output)|it|this|that)"
)
_KEY = (
    r"(?:the |a |its |our )?(?:given |accepted |expected |standard |gold |correct |reference |true |ground truth )*"
    r"(?:answer|response|reference|value|one|label|ground truth|key)s?"
)
_AGREES = (
    r"(?:matche[sd]|agrees with|equals|corresponds to"
    r"|is (?:consistent with|the same as|equivalent to|identical to))"
)
_HOW = r"(?: (?:exactly|perfectly|fully|completely|precisely|in meaning|semantically))?"
_ENGLISH = re.compile(
    rf"yes|yeah|yep|affirmative|match|matches|{_ADVERB}(?:correct|correctly|right|true|accurate)"
    r"|(?:a |the )?correct (?:answer|response)"
    rf"|{_SUBJECT}(?: is|'s| was) {_ADVERB}{_RIGHT}"
    rf"|{_SUBJECT} {_ADVERB}{_AGREES} {_KEY}{_HOW}"
    rf"|{_AGREES} {_KEY}{_HOW}"
)
_WHO = r"(?:因此|所以)?(?:(?:该|此|这个|这|模型的?|学生的?|所给的?|给出的?)?(?:回答|答案|回复|响应|预测|结果)|它|这)?"
_FULLY = r"(?:是|完全|确实|均|都)?"
_SOUND = r"(?:正确|对|准确|真实|准确无误|正确无误|没有错误|毫无错误|没有任何错误|没错)"
_CHINESE = re.compile(
    rf"是|是的|真|无误|没错|答对了|{_WHO}{_FULLY}{_SOUND}[的了]?"
    rf"|{_WHO}(?:与|和|同|跟)(?:标准|参考|正确|给定)的?(?:答案|回答){_FULLY}(?:一致|相符|相同|匹配|吻合|符合)的?"
    rf"|{_WHO}{_FULLY}(?:符合|匹配)(?:标准|参考|正确)的?(?:答案|回答)|{_FULLY}(?:一致|相符|匹配|符合)"
)
_KEY_TOLD = re.compile(r"the (?:correct|right|true|reference) answer (?:is|was) (?P<what>[\w '-]{1,60})")
_SPEAKS_OF_OTHERS = re.compile(
    r"\b(?:response|answer|prediction|model|says|said|gives|gave|while|which|but|not|no|never|instead|rather|than|without|other)\b"
    r"|n't\b|[不非无没]"
)
_SIMPLIFIED = str.maketrans("確準與標對錯誤無沒這個該認為預測實應復給", "确准与标对错误无没这个该认为预测实应复给")
_BREAKS = re.compile(r"[,;.。、\n—–]+|!+(?=\s|$)| -+ ")
_UNTICKED = re.compile(r"\[\s*\]")
_ECHOES = frozenset({"it is", "it does", "that is"})
_DECORATION = " *_`\"'“”<>[]()#:-—✅✔👍🎉☑\ufe0f"


def simplified(text: str) -> str:
    """The words of a verdict in simplified characters."""
    return text.translate(_SIMPLIFIED)


def affirms(text: str) -> bool:
    """Whether every piece of a reply says that the response is right, or names the right answer after saying so."""
    text = simplified(unicodedata.normalize("NFKC", text)).lower()
    if _UNTICKED.search(text):
        return False
    said = False
    for piece in _BREAKS.split(text):
        words = " ".join(piece.split()).strip(_DECORATION)
        if not words:
            continue
        if _ENGLISH.fullmatch(words) or _CHINESE.fullmatch(words) or (said and words in _ECHOES):
            said = True
            continue
        told = _KEY_TOLD.fullmatch(words)
        if not said or told is None or _SPEAKS_OF_OTHERS.search(told["what"]):
            return False
    return said
