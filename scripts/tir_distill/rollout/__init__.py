"""Sampling: one conversation, the samples of one question, one shard with its journal.

Design notes.

- *Memory before money.* The conversation loop asks what is already known of a turn before it asks the teacher or a
  tool, so going on after a kill is the same code as starting (``loop``, ``memory``). A finished sample is never run
  again; an unfinished one goes on from its turn, its python cells run again and compared (``replay``).
- *One journal per shard,* a checksum per line, the end repaired on opening, one writer (``journal``). The index in
  memory holds places and a few numbers, so memory does not grow with the run (``state``).
- *Order decides nothing.* Which samples are bought is a pure function of finished samples (``plan``); seeds come from
  question, sample and turn; samples of one question run at once only where they cannot share its last searches; files
  are written in hand-over order. What is left to chance is the provider's: a query that two questions share is billed
  to the one that asks first.
- *Faults are no samples.* What fails outside model and question puts the question aside, is counted over runs, and ends
  with a reason (``sampler``, RULINGS 8). When the same request would fail for certain, the next sample index is taken.
- *A question's search limit* ends the question, not the sample that meets it: that one is asked for its answer, because
  its searches are paid for. The *run's* limit stops the run, and the conversation goes on when the limit is raised.
- The rooms are put together in ``assemble`` alone; everything else knows only the narrow protocols in ``ports``.
"""

from .control import Control
from .faults import SampleFault
from .fingerprint import fingerprint
from .journal import Journal
from .loop import Conversation, Setting, converse
from .memory import Memory
from .plan import Next, Outcome, QuestionStatus, decide
from .prompt import system_for, system_prompt, tool_schemas
from .sampler import Prepared, Sampler
from .seeds import request_seed, sample_seed
from .settings import EngineSettings, Limits, PlanSettings
from .shard import Rooms, ShardJob, ShardReport, sample_shard
from .state import ShardState, journal_path

__all__ = [
    "Control",
    "Conversation",
    "EngineSettings",
    "Journal",
    "Limits",
    "Memory",
    "Next",
    "Outcome",
    "PlanSettings",
    "Prepared",
    "QuestionStatus",
    "Rooms",
    "SampleFault",
    "Sampler",
    "Setting",
    "ShardJob",
    "ShardReport",
    "ShardState",
    "converse",
    "decide",
    "fingerprint",
    "journal_path",
    "request_seed",
    "sample_seed",
    "sample_shard",
    "system_for",
    "system_prompt",
    "tool_schemas",
]
