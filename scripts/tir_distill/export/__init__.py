"""Rows for ms-swift, rendering with the official chat template, exact token counts.

Design notes

- *Message keys.* System and user messages hold ``role`` and ``content``; assistant messages also ``turn`` (the raw
  sample's turn index) and, only when they call, ``tool_calls``; tool messages also ``tool_call_id``. Keys thus differ
  inside every list of messages. That is on purpose: ``datasets`` (4.8 and 5.2 were tried) then stores messages as JSON
  and fixes no type at all, so rows without calls may come first, while a list whose messages all have the same keys
  becomes a struct and a later ``tool_calls`` fails to load. ``"tool_calls": []`` or null would also break pyarrow's own
  reader, which types an empty list as null; an absent key loads with both.
- *Pictures.* A column whose first block holds only empty lists gets the type null and fails later, and no spelling of
  "no picture" avoids that, so the first row of a file is one with a picture and a call (``complete_first``).
- *Thinking* stands in ``content``: a separate reasoning field is dropped by ms-swift and renamed by servers.
- *Outer white space* is trimmed as the template trims it. Leading blanks of visible text stay: the template keeps them.
"""

from .image_tokens import image_tokens
from .lineage import LINEAGE_KEYS, lineage_of, repaired, same_conversation
from .markup import find_markup
from .mask import loss_spans, mask_tokens, mask_turns
from .places import PicturePlaces
from .render import IMAGE_TAG, Renderer, native_messages, parse_arguments, row_messages
from .rows import ROW_KEYS, Row, messages_of, to_row, tools_text
from .settings import ExportSettings
from .template_source import TemplateSource, find_template
from .tokens import Tokens
from .vocabulary import Vocabulary, load_vocabulary
from .write import ExportCounts, complete_first, export_rows, is_complete

__all__ = [
    "IMAGE_TAG",
    "LINEAGE_KEYS",
    "ROW_KEYS",
    "ExportCounts",
    "ExportSettings",
    "PicturePlaces",
    "Renderer",
    "Row",
    "TemplateSource",
    "Tokens",
    "Vocabulary",
    "complete_first",
    "export_rows",
    "find_markup",
    "find_template",
    "image_tokens",
    "is_complete",
    "lineage_of",
    "load_vocabulary",
    "loss_spans",
    "mask_tokens",
    "mask_turns",
    "messages_of",
    "native_messages",
    "parse_arguments",
    "repaired",
    "row_messages",
    "same_conversation",
    "to_row",
    "tools_text",
]
