"""Single-letter answers replaced by the text of the option they name (seed section 11, last paragraph).

A letter is what the filters and the audit take for one (``records.letters.is_letter``): ``B``, ``(b).``, ``选项B``,
full-width ``Ｂ``, ``The answer is B``. Whether it names an option only the question can say: where the question lists
one under that letter, the option's text replaces it; where it does not (a blood type, an unknown ``x``), the row is
dropped, since the trained model must not answer in letters and nothing tells the two apart.
"""

from __future__ import annotations

import re
import unicodedata

from ..records.letters import is_letter
from .last_option import may_go_too_far, without_instruction

_COMMAND = re.compile(r"\\[a-z]+")
_ALONE = re.compile(r"(?<![a-z])([a-z])(?![a-z])")

_OPENS, _ENDS = "(（\\[【", ")）\\]】"
_MARK = re.compile(
    rf"""(?:
        (?P<line>^[ \t\u3000]*(?:[-*•][ \t]*)?)               # a line of its own, perhaps in a list
      | (?<=[\s;；,，。?？:："'“])                            # after white space, a separator, a quotation mark
      | (?<=[\u3400-\u9fff])(?=[{_OPENS}A-HＡ-Ｈ])             # Chinese writes no spaces
      | (?<![A-Za-z0-9])(?=[{_OPENS}])                        # a bracket, but not that of f(A)
    )
    (?: [{_OPENS}](?P<inside>[A-Ha-hＡ-Ｈ])[{_ENDS}][.．、:：]?
      | (?P<closed>[A-Ha-hＡ-Ｈ])[{_ENDS}][.．、:：]?
      | (?P<bare>[A-HＡ-Ｈ])(?:[.．:：]|(?<![\u3400-\u9fff][A-HＡ-Ｈ])、)
    )[ \t\u3000]*""",
    re.M | re.X,
)
_BULLET = re.compile(r"\n[ \t]*[-*•]\Z")


def letter_of(answer: str) -> str | None:
    """The upper-case letter when the answer is only a letter, else None."""
    if not is_letter(answer):
        return None
    plain = _COMMAND.sub(" ", unicodedata.normalize("NFKC", answer).casefold())
    # the letter comes last: "a" may be an article before it
    found = _ALONE.findall(plain)
    return found[-1].upper() if found else None


def options_in(question: str) -> dict[str, str]:
    """Options of a multiple-choice question by letter, in the order of the text; empty when it lists none.

    Marks may be ``A.``, ``A)``, ``(A)``, ``A:``, ``A、``, ``A．`` or full-width, ``a)`` and ``(a)``, on lines of their
    own, all on one line, or in a quoted list. Only a run that starts at A and goes on without a gap counts, so
    "Vitamin C. It" is no option. Of several runs the longest counts, then one of whole lines, then the latest: "Who
    was A. Lincoln?" comes before the options. An instruction behind the last option is none of its text.
    """
    return _options(question)[0]


def doubtful_option(question: str) -> str | None:
    """The letter of the last option where it is not certain that its text ends with its line."""
    return _options(question)[1]


def _options(question: str) -> tuple[dict[str, str], str | None]:
    marks = [(match, _letter(match)) for match in _MARK.finditer(question)]
    best: list[re.Match[str]] = []
    for pool in (marks, [(match, letter) for match, letter in marks if match.group("line") is not None]):
        for start, (match, letter) in enumerate(pool):
            if letter not in "Aa":
                continue
            run = [match]
            for following, its in pool[start + 1 :]:
                if its == chr(ord(letter) + len(run)):
                    run.append(following)
            if len(run) >= max(2, len(best)):
                best = run
    ends = [following.start() for following in best[1:]] + [len(question)]
    found = {
        _letter(match).upper(): _text(question, match, end, last=end == len(question))
        for match, end in zip(best, ends, strict=False)
    }
    if not found or not all(found.values()):
        return {}, None
    *others, last = found.values()
    letter = _letter(best[-1]).upper()
    found[letter] = text = without_instruction(last, others)
    if best[-1].group("line") is not None or text != last:
        return found, None
    found[letter] = text if any(other.endswith(("?", "。", "？")) for other in others) else text.rstrip("?。？")
    return found, letter if may_go_too_far(text, others) else None


def _letter(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match.group("inside") or match.group("closed") or match.group("bare"))


def _text(question: str, mark: re.Match[str], end: int, *, last: bool) -> str:
    """An option's text: its first line when it is the last one, without separators, brackets and quotes around it."""
    text = question[mark.end() : end].strip()
    if last:
        text = text.split("\n", 1)[0]
    quote = question[mark.start() - 1 : mark.start()]
    if quote in ("'", '"'):  # ['A. red', 'B. blue']: what follows the text is `', '` or `']`
        return re.split(rf"{quote}\s*[\],]", text, maxsplit=1)[0].removesuffix(quote).rstrip(" ,]").strip()
    return _BULLET.sub("", text).strip(" \t\r\n;；,，").rstrip("(（[【").strip()
