"""Makes text from outside harmless for chat templates and trainers.

A page or a cell can print ``<|im_start|>`` or ``</tool_response>``, which a template would take for its own, or
``<image>``, which a trainer counts as a picture. A space after the ``<`` breaks the token and leaves it readable.
"""

from __future__ import annotations

import re

_TAGS = (
    "think|tool_call|tool_response|tools|answer|image|video|audio|img|bbox|ref-object|cot-process|start-image|point|"
    "s|bos|eos|pad|unk"
)
_TOKEN = re.compile(rf"<(?=\|[^<>|\s]{{1,64}}\|>|/?(?:{_TAGS})>|/?(?:function|parameter)(?:=[^<>\n]{{0,128}})?>)")
_UNSAFE = re.compile("[\x00\ud800-\udfff]")


def neutralise(text: str) -> str:
    """The text without template tokens, NUL characters and lone surrogates. Applying it again changes nothing.

    Surrogate pairs become the character they stand for; lone ones and NUL become U+FFFD.
    """
    if _UNSAFE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", "\ufffd")
    return _TOKEN.sub("< ", text)
