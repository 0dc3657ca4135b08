"""Names under which legacy code finds its pictures, brought to the sandbox convention (seed section 10.1).

``input_image.jpg``, ``input_image``-style files and ``IMAGE_PATH`` run as they are. Absolute paths of the user's
picture (Thyme) become ``input_image.jpg``; other absolute paths keep their file name, in the work folder; PyVision's
``image_clue_<n>`` objects become ``image_<n+1>`` as long as they are input pictures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..records import BadRow

_ABSOLUTE = re.compile(r"""(["'])/(?:[^"'\n/]+/)+([^"'\n/]+)\1""")
_CLUE = re.compile(r"\bimage_clue_(\d+)\b")
_INPUT_OBJECT = re.compile(r"\binput_image\b(?!\.)")


def runnable(code: str, paths: Sequence[str], pictures: int, name: str) -> str:
    """Code that runs under the convention. Raises BadRow ``picture_of_a_result`` for objects that would not exist."""
    for path in paths:
        code = code.replace(path, "input_image.jpg")
    code = _ABSOLUTE.sub(lambda match: f"{match.group(1)}{match.group(2)}{match.group(1)}", code)

    def clue(match: re.Match[str]) -> str:
        number = int(match.group(1))
        if number >= pictures:
            raise BadRow(
                "picture_of_a_result", f"{name}: code uses {match.group(0)}, a picture that only a result held"
            )
        return f"image_{number + 1}"

    code = _CLUE.sub(clue, code)
    return _INPUT_OBJECT.sub("image_1", code) if _uses_undefined_input(code) else code


def _uses_undefined_input(code: str) -> bool:
    """CodeDance preloads an object ``input_image``; the sandbox calls it ``image_1``."""
    return bool(_INPUT_OBJECT.search(code)) and not re.search(r"^\s*input_image\s*=", code, re.M)


def uses(code: str) -> tuple[bool, bool]:
    """Whether code names ``IMAGE_PATH`` and whether it names ``input_image.jpg``."""
    return "IMAGE_PATH" in code, "input_image.jpg" in code
