"""Names under which legacy code finds its pictures, brought to the sandbox convention (seed section 10.1).

``input_image.jpg``, ``input_image``-style files and ``IMAGE_PATH`` run as they are. Absolute paths of the row's own
pictures (Thyme) become ``input_image.jpg``, ``image_2.png`` and so on; other files under the roots of the machines
that the sets were made on keep their names and lie in the work folder. PyVision's ``image_clue_<n>`` objects become
``image_<n+1>`` as long as they are input pictures.

A text is taken for a file only where nothing else is possible: a literal that is one whole path, with the extension
of a data file, under a known root. ``'/km/h'``, ``base + '/api/v1'``, patterns, f-strings and folders stay as they
are. What is renamed in the code is renamed in results and thoughts of the row too, which speak of the same file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from ..records import BadRow

_KINDS = (
    "jpe?g|png|webp|gif|bmp|tiff?|svg|pdf|txt|csv|tsv|jsonl?|npy|npz|pkl|parquet|xlsx?|docx?|pptx?|mp4|avi|mov|mp3|wav|"
    "ya?ml|xml|ttf|otf|log|zip"
)
_ROOTS = re.compile(r"mnt|mllm\w*|tmp|home|data\w*|root|workspace|content|kaggle|Users", re.I)
_STEP = r"[^\s\"'\\%*(){}\[\]?<>|:/]+(?: [^\s\"'\\%*(){}\[\]?<>|:/]+)*"
_FILE = re.compile(
    rf"(?<![\w)\]}}\"'])(?:[rRuUbBfF]{{1,2}})?([\"'])(/({_STEP})/(?:{_STEP}/)*({_STEP}\.(?:{_KINDS})))\1", re.I
)
_PICTURE = re.compile(r"input_image\.jpg|image_\d+\.png")
_CLUE = re.compile(r"\bimage_clue_(\d+)\b")
_INPUT_OBJECT = re.compile(r"\binput_image\b(?!\.(?:jpe?g|png|webp|gif|bmp)\b)")
_SET_AFRESH = re.compile(r"^[ \t]*input_image\s*=(?!=)(?!.*\binput_image\b(?!\.(?:jpe?g|png|webp|gif|bmp)\b))", re.M)
_SETS = re.compile(
    r"^[ \t]*input_image\s*=(?!=)"
    # names that only look alike: an attribute, a keyword, a loop's own name, a text
    r"|\.input_image\b|[(,]\s*input_image\s*=(?!=)|\bdef\b.*\binput_image\b|\bfor\b.*\binput_image\b.*\bin\b"
    r"|([\"'])input_image\1",
    re.M,
)


def file_names(codes: Sequence[str], own: Sequence[str]) -> dict[str, str]:
    """The name in the work folder of every absolute path that the row's code or its pictures certainly have.

    ``own``: absolute paths of the row's pictures, in their order, empty for one that has none. Two files of one name
    are kept apart.
    """
    names = {
        path: f"image_{number + 1}.png" if number else "input_image.jpg" for number, path in enumerate(own) if path
    }
    roots = {path.split("/")[1] for path in names if path.startswith("/")}
    taken = set(names.values())
    for code in codes:
        for match in _FILE.finditer(code):
            _, path, root, name = match.groups()
            if path in names or not (root in roots or _ROOTS.fullmatch(root) or _PICTURE.fullmatch(name)):
                continue
            if _part_of_address(code, match):
                continue
            names[path] = name if _PICTURE.fullmatch(name) or name not in taken else _another(name, taken)
            taken.add(names[path])
    return names


def renamer(names: Mapping[str, str]) -> Callable[[str], str]:
    """Gives paths their names where they stand for themselves: not inside a longer path or an address."""
    # the longest first: one path may begin another
    paths = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    found = re.compile(rf"(?<![A-Za-z0-9_/.~}})\]-])(?<!\b[A-Za-z]:)(?:{paths})(?![A-Za-z0-9_/*%{{-]|\.[A-Za-z0-9_])")
    return lambda text: found.sub(lambda match: names[match.group()], text)


def runnable(code: str, pictures: int, name: str) -> str:
    """Code with PyVision's picture objects under the names that exist.

    Raises BadRow ``picture_of_a_result`` for objects that would not.
    """

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

    It becomes ``image_1``, unless the row gives the name another meaning too: then it is set once, before its first
    use.
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


def uses(code: str) -> tuple[bool, bool]:
    """Whether code names ``IMAGE_PATH`` and whether it names ``input_image.jpg``."""
    return "IMAGE_PATH" in code, "input_image.jpg" in code


def _part_of_address(code: str, match: re.Match[str]) -> bool:
    """Something is put before or behind the text: ``base + '/data/v1.json'``."""
    return code[: match.start()].rstrip().endswith("+") or code[match.end() :].lstrip().startswith(
        ("+", "%", ".format")
    )


def _another(name: str, taken: set[str]) -> str:
    """The name with the first number from 2 on that no other file has."""
    stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
    number = 2
    while f"{stem}_{number}{suffix}" in taken:
        number += 1
    return f"{stem}_{number}{suffix}"
