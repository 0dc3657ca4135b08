"""What the turns of a row need before they can be written: sound code, names that exist, no NUL."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..records import BadRow
from .convention import file_names, renamer, with_input_object
from .python_source import error_in, sound
from .shapes import LegacyRow
from .turns import NativeCall, NativeTurn, python_call

_STRAY = re.compile(r"(?<!`)</code>")
_ABSOLUTE_FILE = re.compile(r"/[^\n]{1,1000}\.\w{1,5}")


def prepare(turns: Sequence[NativeTurn], legacy: LegacyRow, given: int) -> None:
    """Bring the turns in order. ``given``: pictures of the question. Raises BadRow as ``python_source.sound`` does."""
    has_code = False
    for turn in turns:
        if "\0" in turn.thinking or "\0" in turn.text:
            turn.thinking, turn.text = turn.thinking.replace("\0", ""), turn.text.replace("\0", "")
        for number, call in enumerate(turn.calls):
            if call.name == "python":
                has_code = True
                if error_in(call.given) is not None:
                    turn.calls[number] = _mended(call, turn, turn.results[number], legacy.id)
    if has_code:
        _give_input_object(turns)
    if has_code or legacy.image_paths:
        _rename_files(turns, _own_paths(legacy, given))


def _mended(call: NativeCall, turn: NativeTurn, result: str, name: str) -> NativeCall:
    try:
        code = sound(call.given, result, name)
    except BadRow:
        if is_stray(turn.thinking) or is_stray(turn.text):
            return call  # cut at a tag in its own string, which is said of the row when it is written
        raise
    return call if code == call.given else python_call(code)


def is_stray(text: str) -> bool:
    """Whether a text holds the end of a code block without its beginning."""
    return "</code>" in text and _STRAY.search(text) is not None


def _give_input_object(turns: Sequence[NativeTurn]) -> None:
    if not any("input_image" in call.given for turn in turns for call in turn.calls):
        return
    places = [(turn, n) for turn in turns for n, call in enumerate(turn.calls) if call.name == "python"]
    codes = [turn.calls[number].given for turn, number in places]
    for (turn, number), code in zip(places, with_input_object(codes), strict=True):
        turn.calls[number] = python_call(code)


def _own_paths(legacy: LegacyRow, given: int) -> Sequence[str]:
    """Absolute paths of the question's pictures: those that the question states, else those in the row's list."""
    images = legacy.images[:given]
    if legacy.image_paths or not any(isinstance(value, str) and value.startswith("/") for value in images):
        return legacy.image_paths
    return [value if _ABSOLUTE_FILE.fullmatch(str(value)) else "" for value in images]


def _rename_files(turns: Sequence[NativeTurn], own: Sequence[str]) -> None:
    """Files of other machines by their names here, wherever the row speaks of them: code, results, thoughts, text."""
    names = file_names([call.given for turn in turns for call in turn.calls if call.name == "python"], own)
    if not names:
        return
    rename = renamer(names)
    for turn in turns:
        turn.thinking, turn.text = rename(turn.thinking), rename(turn.text)
        turn.calls = [python_call(rename(call.given)) if call.name == "python" else call for call in turn.calls]
        turn.results = list(map(rename, turn.results))
