"""Names under which legacy code finds its pictures, brought to the sandbox convention (seed section 10.1).

``input_image.jpg``, ``input_image``-style files and ``IMAGE_PATH`` run as they are. Absolute paths of the user's
picture (Thyme) become ``input_image.jpg``, ``image_2.png`` and so on; other absolute paths lead to the work folder;
PyVision's ``image_clue_<n>`` objects become ``image_<n+1>`` as long as they are input pictures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..records import BadRow

_ABSOLUTE = re.compile(r"""(["'])/(?:[^"'\n/]+/)+([^"'\n/]+)\1""")
_CLUE = re.compile(r"\bimage_clue_(\d+)\b")
_INPUT_OBJECT = re.compile(r"\binput_image\b(?!\.(?:jpe?g|png|webp|gif|bmp)\b)")
_SET_AFRESH = re.compile(r"^[ \t]*input_image\s*=(?!=)(?!.*\binput_image\b(?!\.(?:jpe?g|png|webp|gif|bmp)\b))", re.M)
_SETS = re.compile(r"^[ \t]*input_image\s*=(?!=)", re.M)


def runnable(code: str, paths: Sequence[str], pictures: int, name: str) -> str:
    """Code that runs under the convention. Raises BadRow ``picture_of_a_result`` for objects that would not exist."""
    for number, path in sorted(enumerate(paths), key=lambda item: -len(item[1])) if paths else ():
        # the longest first: one path may begin another
        code = code.replace(path, f"image_{number + 1}.png" if number else "input_image.jpg")
    if "/" in code:
        code = _ABSOLUTE.sub(_in_work_folder, code)

    def clue(match: re.Match[str]) -> str:
        number = int(match.group(1))
        if number >= pictures:
            raise BadRow(
                "picture_of_a_result", f"{name}: code uses {match.group(0)}, a picture that only a result held"
            )
        return f"image_{number + 1}"

    return _CLUE.sub(clue, code) if "image_clue_" in code else code


def with_input_object(codes: Sequence[str]) -> list[str]:
    """All cells of a row, able to use the object ``input_image`` that CodeDance preloads.

    It becomes ``image_1``, unless the row gives the name another picture: then it is set once, before its first use.
    """
    using = next((number for number, code in enumerate(codes) if _INPUT_OBJECT.search(code)), None)
    if using is None:
        return list(codes)
    if not any(map(_SETS.search, codes)):
        return [_INPUT_OBJECT.sub("image_1", code) for code in codes]
    use, fresh = _INPUT_OBJECT.search(codes[using]), _SET_AFRESH.search(codes[using])
    if use and fresh and fresh.start() <= use.start():
        return list(codes)
    return [f"input_image = image_1\n{code}" if number == using else code for number, code in enumerate(codes)]


def _in_work_folder(match: re.Match[str]) -> str:
    """A file keeps its name; a folder becomes the work folder, the only one that code can write to."""
    quote, last = match.groups()
    return f"{quote}{last if '.' in last else '.'}{quote}"


def uses(code: str) -> tuple[bool, bool]:
    """Whether code names ``IMAGE_PATH`` and whether it names ``input_image.jpg``."""
    return "IMAGE_PATH" in code, "input_image.jpg" in code
