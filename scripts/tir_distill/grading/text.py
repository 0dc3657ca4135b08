r"""Folding of answers before comparison: what may differ between two spellings of one answer.

Unicode's own compatibility folding (NFKC) is unsafe for numbers, so some things are put in safety first: ``10²`` would
become ``102``, ``2ⁿ`` ``2n``, ``10₂`` ``102``, ``①②`` ``12`` and ``1½`` ``11⁄2``; dashes and minus would stay apart.
"""

from __future__ import annotations

import re
import unicodedata

_RAISED = re.compile("([\u00b2\u00b3\u00b9\u2070-\u207f]+)")
_LOWERED = re.compile("(?<=\\d)(?=[\u2080-\u208e])|(?<=[\u2080-\u208e])(?=\\d)")
"""Between a lowered sign and a digit, as in the base of a number or of a logarithm. H₂O stays H2O."""
_ENCLOSED = re.compile("([\u2460-\u24ff\u2776-\u2793\u3220-\u324f\u3280-\u32bf])")
_VULGAR = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅟↉])")
_INVISIBLE = "\u00ad\u200b\u200c\u200e\u200f\u2060\ufeff\ufe0e\ufe0f\u202a\u202b\u202c\u202d\u202e"
"""Soft hyphen, zero-width and direction marks, presentation selectors. The zero-width joiner stays: it builds emoji."""
_SINGLES = str.maketrans(
    dict.fromkeys("‐‑‒–—―−﹣－", "-")
    | dict.fromkeys("‘’‚‛ʼʹ`´′", "'")
    | dict.fromkeys("“”„‟«»「」『』《》〈〉″", '"')
    | {"⁄": "/", "∕": "/", "÷": "/", "、": ",", "。": ".", "・": "·", "〜": "~", "～": "~", "∼": "~"}
    | dict.fromkeys(_INVISIBLE)
)
_SPACE = re.compile(r"\s+")
_CJK = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
_CJK_GAP = re.compile(rf"(?<={_CJK}) | (?={_CJK})")
_BOXED = re.compile(r"\\boxed\{(.*)\}", re.DOTALL)
_TEXT_BOX = re.compile(r"\\(?:text|mathrm|mathbf)\{([^{}]*)\}")
_LABEL = re.compile(
    r"^(?:(?:the )?(?:final )?answer(?: is)?\s*[:：]|(?:最终)?答案(?:是|为)?\s*[:：])\s*", re.IGNORECASE
)
_DUNDER = re.compile(r"[a-z][a-z_]*")
"""``__init__`` is a name, ``__Paris__`` is bold."""
_SIGNED_LETTER = re.compile(r"[A-Za-z][-+]")
_PAIRS = {'"': '"', "'": "'", "(": ")", "[": "]", "{": "}"}


def without_format_marks(text: str) -> str:
    """Without characters that are not seen (Unicode's Cf): ``in\\u200bcorrect`` reads as "incorrect"."""
    return text if text.isascii() else "".join(c for c in text if unicodedata.category(c) != "Cf")


def unwrap(text: str) -> str:
    """The answer without what models wrap around it: a label, bold marks, a LaTeX box, a code mark."""
    text = text.strip()
    while True:
        before = text
        text = _LABEL.sub("", text).strip()
        boxed = _BOXED.fullmatch(text.strip("$ "))
        if boxed:
            text = boxed.group(1)
        text = _TEXT_BOX.sub(r"\1", text)
        for mark in ("**", "__", "`"):
            if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
                inner = text[len(mark) : -len(mark)]
                if mark not in inner and not (mark == "__" and _DUNDER.fullmatch(inner)):
                    text = inner.strip()
        if len(text) > 2 and text[0] == text[-1] == "$" and "$" not in text[1:-1]:
            text = text[1:-1].strip()
        if text == before:
            return text


def fold(text: str, *, case: bool = True) -> str:
    """One spelling for forms that mean the same; ``case=False`` keeps upper and lower case apart (units)."""
    if not text.isascii():
        text = _RAISED.sub(r"^\1", _LOWERED.sub("_", _ENCLOSED.sub(r" \1 ", _VULGAR.sub(" ", text))))
    text = text.translate(_SINGLES)  # NFKC breaks ´ and ″ apart
    text = unicodedata.normalize("NFKC", text).translate(_SINGLES)
    text = _CJK_GAP.sub("", _SPACE.sub(" ", text)).strip()
    return text.casefold() if case else text


def strip_outer(text: str) -> str:
    """Without outer quotes, brackets and a sentence's full stop, as long as something is left."""
    while True:
        before = text
        # 5! is a factorial, "Mumbai!" is not
        end = len(text) > 1 and (text[-1] in ".;," or (text[-1] == "!" and not text[-2].isdigit()))
        if end and not text.endswith(".."):
            text = text[:-1].rstrip()
        if (
            len(text) > 2
            and _PAIRS.get(text[0]) == text[-1]
            and text[0] not in text[1:-1]
            and text[-1] not in text[1:-1]
        ):
            text = text[1:-1].strip()
        if text == before:
            return text


def key(text: str, *, case: bool = True) -> str:
    """The form in which two texts are compared for sameness."""
    return strip_outer(fold(unwrap(text), case=case))


def is_meaningful(text: str) -> bool:
    """Whether anything but punctuation is there: a letter, a digit, or a sign beyond ASCII (emoji, currency)."""
    return any(unicodedata.category(c)[0] in "LN" or (c > "\x7f" and unicodedata.category(c)[0] == "S") for c in text)


def is_single_letter(text: str) -> bool:
    """``B``, ``(b)``, ``B.``, full-width forms too: the shape of an option letter, unsafe to accept by rule.

    ``A-`` is none: the sign belongs to a grade, a rating or a blood group.
    """
    text = unicodedata.normalize("NFKC", text.translate(_SINGLES)).strip()
    if _SIGNED_LETTER.fullmatch(text):
        return False
    bare = [c for c in text if unicodedata.category(c)[0] not in "PZC"]
    return len(bare) == 1 and bare[0].isascii() and bare[0].isalpha()
