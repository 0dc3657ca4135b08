"""The teacher: an OpenAI-compatible client with native tool calls and a text fallback.

Design notes.

- aiohttp and orjson, not the openai package: the client is on the hot path of every turn, and the package costs two to
  three milliseconds of CPU a turn where this costs a few tenths. The judge, called once per sample, uses the package.
- Messages are encoded once (``Transcript``); a request joins bytes.
- Faults are classed by what to do about them (``faults``), tried again by a frozen policy (``RetryPolicy``) outside the
  sample count, and a breaker ends a run whose endpoint answers nobody.
- Calls are read from the structured field first; text is read only when that field is empty and the text holds what can
  only be a call. What cannot be run is named malformed, never guessed.
"""

from .calls import AskedCall, checked, structured
from .client import TeacherClient, TeacherPool
from .faults import ENDPOINT_KINDS, FaultKind, TeacherFault, fault_of_status, retry_after
from .redaction import without
from .reply import Reply, read_body, read_reply
from .retry import Breaker, RetryPolicy
from .settings import Endpoint, EndpointNames, TeacherSettings, refuse_unsendable
from .text_protocol import find_calls, instructions
from .transcript import PictureReader, Transcript, data_url, picture_type

__all__ = [
    "ENDPOINT_KINDS",
    "AskedCall",
    "Breaker",
    "Endpoint",
    "EndpointNames",
    "FaultKind",
    "PictureReader",
    "Reply",
    "RetryPolicy",
    "TeacherClient",
    "TeacherFault",
    "TeacherPool",
    "TeacherSettings",
    "Transcript",
    "checked",
    "data_url",
    "fault_of_status",
    "find_calls",
    "instructions",
    "picture_type",
    "read_body",
    "read_reply",
    "refuse_unsendable",
    "retry_after",
    "structured",
    "without",
]
