"""Typed records, JSON Lines, hashes, errors: the floor that every other room stands on. Imports no other room."""

from .conversation import Message, conversation, opening, turn_messages
from .errors import AuditFailed, BadRow, ExitCode, Stopped, TirError, UsageError
from .hashing import canonical_json, digest, file_sha256, shard_of, stable_int, stable_unit, text_digest
from .jsonl import atomic_writer, dumps, read_json, read_jsonl, write_json, write_jsonl
from .protocols import Progress, Settings, TokenCounter
from .question import PRIORITIES, TASK_TYPES, Question
from .trajectory import (
    Picture,
    StopReason,
    TokenCounts,
    ToolCall,
    ToolResult,
    ToolStatus,
    Trajectory,
    Turn,
    Usage,
    Verdict,
)

__all__ = [
    "PRIORITIES",
    "TASK_TYPES",
    "AuditFailed",
    "BadRow",
    "ExitCode",
    "Message",
    "Picture",
    "Progress",
    "Question",
    "Settings",
    "StopReason",
    "Stopped",
    "TirError",
    "TokenCounter",
    "TokenCounts",
    "ToolCall",
    "ToolResult",
    "ToolStatus",
    "Trajectory",
    "Turn",
    "Usage",
    "UsageError",
    "Verdict",
    "atomic_writer",
    "canonical_json",
    "conversation",
    "digest",
    "dumps",
    "file_sha256",
    "opening",
    "read_json",
    "read_jsonl",
    "shard_of",
    "stable_int",
    "stable_unit",
    "text_digest",
    "turn_messages",
    "write_json",
    "write_jsonl",
]
