"""Single-letter answers replaced by the text of the option they name (seed section 11, last paragraph)."""

from __future__ import annotations

import re

LETTER = re.compile(r"\A[\s(（\[【]*([A-Ha-h])[\s.)）\]】:：、．,，]*\Z")
"""An answer that is an option letter and nothing else, in any of the usual dresses."""

_MARK = re.compile(
    r"(?:(?<=\s)|(?<=^)|(?<=[;；,，。?？:：]))[(（\[【]?([A-H])(?:[.．、:：]|[)）\]】][.．、:：]?)[ \t\u3000]*", re.M
)


def letter_of(answer: str) -> str | None:
    """The upper-case letter when the answer is only a letter, else None."""
    match = LETTER.match(answer)
    return match.group(1).upper() if match else None


def options_in(question: str) -> dict[str, str]:
    """Options of a multiple-choice question by letter, in the order of the text.

    Marks may be ``A.``, ``A)``, ``(A)``, ``A:``, ``A、`` or ``A．``, on lines of their own or all on one line. Only a
    run that starts at A and goes on without a gap counts, so "Vitamin C. It" is no option.
    """
    marks = list(_MARK.finditer(question))
    for start, mark in enumerate(marks):
        if mark.group(1) != "A":
            continue
        run = [mark]
        for following in marks[start + 1 :]:
            if following.group(1) == chr(ord(run[-1].group(1)) + 1):
                run.append(following)
        if len(run) >= 2:
            ends = [following.start() for following in run[1:]] + [len(question)]
            found = {
                item.group(1): _clean(question[item.end() : end], last=end == len(question))
                for item, end in zip(run, ends, strict=True)
            }
            if all(found.values()):
                return found
    return {}


def _clean(text: str, *, last: bool) -> str:
    """An option's text: its first line when it is the last one, without separators around it."""
    text = text.strip()
    if last:
        text = text.split("\n", 1)[0]
    return text.strip().strip(";；,，").rstrip("(（[【").strip()
