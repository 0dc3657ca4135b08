"""The audit before training: checks 1 to 6 of the hand-over note and more, over every row, with exit code 3.

Design notes

- *What was not checked did not pass.* No template, no evaluation index: the check fails with that reason.
- *Findings say which check.* A defect is reported by the one check that it belongs to where possible; an unclosed
  ``<think>`` is truncation, not a missing thought.
- *Speed.* Tokenising is most of the work, so everything else stays below it: literals before patterns, one taking apart
  of a row for all checks (``view``), tokens in a second thread, the loader check in a second process.
- *Evaluation sets are an argument* (``EvaluationIndex``): this room knows no data set.
"""

from .findings import CHECKS, Book, Finding
from .overlap import EvaluationIndex
from .report import AuditReport
from .row_check import RowCheck
from .run import Auditor, audit_file
from .secrets import Secrets
from .settings import PROFILES, AuditSettings, Profile

__all__ = [
    "CHECKS",
    "PROFILES",
    "AuditReport",
    "AuditSettings",
    "Auditor",
    "Book",
    "EvaluationIndex",
    "Finding",
    "Profile",
    "RowCheck",
    "Secrets",
    "audit_file",
]
