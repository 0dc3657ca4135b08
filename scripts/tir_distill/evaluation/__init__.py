"""A student on held-out questions: scores, behaviour figures, comparison, and the gate between pilot and full run.

Design notes.

- *No second engine.* A student is a teacher with another plan (n samples, none added, none left out) and another
  grader (the leaderboard's scorer, with the guarded verdict beside it). Conversation, tools, limits, journal, resume
  and records are those of ``rollout``; only attached files are new, and they go through the sandbox's own door.
- *Private means a folder.* Questions, conversations and the search ledger of a run lie below ``private/``, which holds
  a marker that the packer and the mix refuse (``records.private``). ``metrics.json`` and ``pilot_gate.json`` hold ids
  and counts. The ledger is not shared with training runs, although that costs searches again: its cache would carry
  the questions into ``search_cache.jsonl``.
- *First samples.* Scores, gate and comparison look at each question's first sample, so ``--n`` changes none of them.
- *Failing is no way out.* A question that could not be asked counts in every total.
- *Picture code counts when written,* not only when run, as in F4.

Heavy modules (``gaia``, ``student``) are imported where they are used: the workers that render attached files import
this package.
"""

from .gate import Behaviour, GateFigure, decide
from .intervals import Share, mcnemar, wilson

__all__ = ["Behaviour", "GateFigure", "Share", "decide", "mcnemar", "wilson"]
