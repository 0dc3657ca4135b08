"""Whether a licence lets a row be used commercially: one answer for hand-over, mixes and what is pushed.

Only licences known to grant it count as granting it. What is not stated, a sentence of its own, or a name that nobody
here has read does not: the flag is there so that a person looks.
"""

from __future__ import annotations

import re

_FORBIDS = re.compile(
    r"(?<![a-z])nc(?![a-z])|non[\s_-]?commercial|no commercial|\b(?:research|academic|evaluation|personal)\b"
    r"|\bgated\b|\bnot (?:stated|specified|known)\b|\b(?:unknown|unspecified|unclear|none|other|proprietary|private)\b"
)
_GRANTS = re.compile(
    r"\b(?:apache|mit|bsd|isc|unlicense|ncsa|cc0|[al]?gpl|mpl|epl|odc[\s-]?by|odbl|pddl|cdla|artistic|zlib|wtfpl)\b"
    r"|\bcc[\s-]?by\b|creative commons attribution|public domain|\b[al]?gpl(?:v?\d)"
)


def forbids_commerce(licence: str) -> bool:
    """Whether a licence text forbids commercial use or is not known to grant it."""
    text = licence.lower().replace("_", "-")
    return _FORBIDS.search(text) is not None or _GRANTS.search(text) is None
