"""Texts that are more than text: control tokens, template tags, and the media tags of ms-swift.

Written into a page, a thought or a piece of code they would change what is trained: a control token is one id
wherever it stands, ``<image>`` takes the picture meant for a later place, ``</parameter>`` ends an argument early.
Tool output is neutralised where it is made (``records.neutralise``); here it is looked for again, on its own terms.
"""

from __future__ import annotations

import re

CONTROL = (
    "endoftext|im_start|im_end|object_ref_start|object_ref_end|box_start|box_end|quad_start|quad_end|vision_start|"
    "vision_end|vision_pad|image_pad|video_pad|fim_prefix|fim_middle|fim_suffix|fim_pad|repo_name|file_sep|"
    "audio_start|audio_end|audio_pad"
)
"""Names inside ``<|...|>`` that the vocabulary holds as control tokens."""

_TOKENS = rf"<\|(?:{CONTROL})\|>|<tts_(?:pad|text_bos|text_eod|text_bos_single)>"
_TAGS = r"</?(?:think|tool_call|tool_response)>"
_MEDIA = r"<(?:image|video|audio|img|bbox|ref-object|cot-process|start-image)>|</img>"
_CALL = r"<function=|</function>|<parameter=|</parameter>"

ANYWHERE = re.compile(f"{_TOKENS}|{_TAGS}|{_MEDIA}")
"""Never legal in text of any role, but for the places that the row's shape itself gives (thinking, pictures)."""

IN_MODEL_TEXT = re.compile(f"{_TOKENS}|{_TAGS}|{_MEDIA}|{_CALL}")
"""Never legal in what the model wrote: also the inner call markup, which a server's parser would act on."""

FOREIGN_CALL = re.compile(
    r"<\s*[|｜]\s*/?\s*(?:redacted_)?(?:tool|function)[\s_▁]*(?:calls?|outputs?|sep|response)(?![a-z])[^<>\n]{0,40}[|｜]\s*>"
    r"|<\s*/?[|｜]DSML[|｜]|\[TOOL_CALLS?\]"
)
"""Call tokens of other makers, as nobody writes them who merely speaks of calls."""


def find_markup(text: str, *, by_model: bool = False) -> str | None:
    """The first forbidden piece of the text, or None. ``by_model``: thinking, visible text and arguments.

    ``NUL`` for that character: it ends strings in some readers, and no page or thought needs it.
    """
    if "\x00" in text:
        return "NUL"
    if "<" not in text and "[TOOL_CALL" not in text:
        return None
    match = (IN_MODEL_TEXT if by_model else ANYWHERE).search(text)
    if match is None and by_model and ("<|" in text or "｜" in text or "[TOOL_CALL" in text):
        match = FOREIGN_CALL.search(text)
    return match.group() if match else None
