"""What the teacher can call: search, open and python. Schema, execution, typed result.

Design notes.

*Three statuses.* ``ok``, ``model_error`` (the call was wrong, the code failed, the page is not there: the model is told
and goes on), ``infrastructure`` (our side failed: the sample must not be graded).

*Text from outside is data.* Nothing in it is interpreted. One function makes it harmless for chat templates and cuts
it, for all tools alike.

*Pages are parsed in the sandbox.* Every HTML and PDF parser hangs or eats memory on some input, inside C code, so each
page is parsed in a locked process that can be killed.

*Addresses are checked where the connection is made*, not on the text of the URL (``vetting``).

Names are loaded on first use: the sandbox's fork server imports ``tools.extract`` alone, and must stay small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .toolbox import Toolbox, ToolSession

__all__ = ["ToolSession", "Toolbox"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from . import toolbox

        return getattr(toolbox, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
