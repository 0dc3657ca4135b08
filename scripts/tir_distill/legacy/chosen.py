"""The option that an answer names by its letter: alone, beside its text (``B. blue``), or one of several (``A, C``)."""

from __future__ import annotations

import re
import unicodedata

from ..records import BadRow
from ..records.letters import is_letter
from .letters import doubtful_option, letter_of, options_in

_MARKUP = re.compile(r"\\(?:text|mathrm|mathbf|boxed)\b|[*$`{}]")
_LABEL = (
    r"(?:(?:the\s+)?(?:(?:correct|final|right)\s+)?(?:options?|choices?|answer)\s*(?:is)?|选项|答案[是为]?|选)?"
    r"\s*[:：]?\s*"
)
_NAMED = re.compile(
    rf"{_LABEL}(?:(?P<marked>[(\[【]\s*[A-H]\s*[)\]】]\s*[.:、,]?|[A-H]\s*[).:、](?!\d))|(?P<bare>[A-H])(?=[\s,(-]))"
    r"\s*-?\s*(?P<text>\S.*)",
    re.I | re.S,
)
_SEVERAL = re.compile(rf"(?i:{_LABEL})([\s(\[【]*[A-H](?:[\s,、;/&+()\[\]【】.]|\band\b|\bor\b|[和与及或]|[A-H])*)")
_AROUND = " \t\r\n.。,，;；:!?！？\"'“”‘’()（）[]【】"


def option_text(answer: str, question: str, name: str) -> str | None:
    """The text of the one option that the answer names, or None for an answer that names none by a letter.

    Raises BadRow: ``letter_without_options`` when the question lists no such option, ``option_is_letter`` when its
    text is a letter itself, ``option_end_unclear`` when the text cannot be told from what follows it,
    ``several_letters``, and ``letter_with_other_text`` when the text beside the letter is not that option's.
    """
    letter = letter_of(answer)
    if letter is None:
        letter = _beside_words(answer, question, name)
        if letter is None:
            return None
    text = options_in(question).get(letter)
    if text is None:
        raise BadRow("letter_without_options", f"{name}: answers {letter!r}, and the question lists no such option")
    if is_letter(text):
        raise BadRow("option_is_letter", f"{name}: option {letter} is {text!r}, a letter again")
    if letter == doubtful_option(question):
        raise BadRow("option_end_unclear", f"{name}: where option {letter} ends cannot be told: {text[:80]!r}")
    return text


def _beside_words(answer: str, question: str, name: str) -> str | None:
    """The letter of an answer that says more than a letter, where the question's options make it one."""
    plain = _MARKUP.sub("", unicodedata.normalize("NFKC", answer)).strip()
    several, named = _SEVERAL.fullmatch(plain), _NAMED.fullmatch(plain)
    if several is None and named is None:
        return None
    options = options_in(question)
    texts = {letter: _bare(text) for letter, text in options.items()}
    if _bare(answer) in texts.values():
        return None
    letter = re.findall(r"[A-Ha-h]", named["marked"] or named["bare"])[-1].upper() if named else ""
    if named is not None and letter in texts and _bare(named["text"]) == texts[letter]:
        return str(letter)
    if several is not None:
        letters = re.findall(r"[A-H]", several.group(1))
        if len(set(letters)) == len(letters) > 1 and options.keys() >= set(letters):
            raise BadRow("several_letters", f"{name}: answers {answer.strip()!r}, the letters of several options")
    if named is None or letter not in options:
        return None
    if named["marked"] is None or not re.search(r"[A-H]", named["marked"]):
        return None  # "A cat" where option A is another thing: an article
    raise BadRow("letter_with_other_text", f"{name}: answers {answer.strip()[:80]!r}; option {letter} says otherwise")


def _bare(text: str) -> str:
    return " ".join(_MARKUP.sub("", unicodedata.normalize("NFKC", text)).casefold().split()).strip(_AROUND)
