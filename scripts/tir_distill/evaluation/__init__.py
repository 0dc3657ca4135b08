"""A student on held-out questions: behaviour figures, intervals, and the gate between pilot and full run."""

from .gate import Behaviour, GateFigure, decide
from .intervals import Share, mcnemar, wilson

__all__ = ["Behaviour", "GateFigure", "Share", "decide", "mcnemar", "wilson"]
