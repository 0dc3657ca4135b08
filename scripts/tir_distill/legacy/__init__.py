"""Earlier tool-integrated data in text protocols, as native rows.

Read (``readers``), recognise the shape (``shapes``), cut the texts (``protocol``), build turns (``turns``), make their
cells sound and bring them to the sandbox convention (``cells``, ``python_source``, ``convention``), write the row
(``convert``), all for a file with a report (``stage``).
Cleaning is a step of its own (``clean``): a conversion says what the data is, and the audit can be run on that; what
may be trained is decided after.
"""

from .clean import letter_to_text, without_thinking
from .convert import Converted, LegacySettings, convert
from .letters import letter_of, options_in
from .shapes import LegacyMessage, LegacyRow, read_row
from .stage import CleanReport, LegacyReport, clean_file, convert_file
from .text_form import to_text
from .turns import NativeConversation, NativeTurn, to_turns

__all__ = [
    "CleanReport",
    "Converted",
    "LegacyMessage",
    "LegacyReport",
    "LegacyRow",
    "LegacySettings",
    "NativeConversation",
    "NativeTurn",
    "clean_file",
    "convert",
    "convert_file",
    "letter_of",
    "letter_to_text",
    "options_in",
    "read_row",
    "to_text",
    "to_turns",
    "without_thinking",
]
