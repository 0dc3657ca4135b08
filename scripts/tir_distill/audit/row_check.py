"""The checks that a row must pass by itself, for rows that join a mix one by one.

What needs the whole file is left out here: figures, duplicates, one prompt, the loader. So are pictures, length and the
evaluation sets, which the mix looks at anyway.
"""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from ..export import Renderer, Row
from . import rendering, shape
from .behaviour import Behaviour
from .conversation import check_conversation
from .findings import Finding
from .secrets import Secrets
from .settings import AuditSettings
from .thinking import check_thinking
from .truncation import check_truncation

FORM_ONLY = "any"
"""Profile of rows of any origin: how they think, call and answer is their own affair, only their form is checked."""

BROKEN_TAGS = frozenset({"text_before_think", "stray_think_end", "two_thinks"})
"""What no template renders as it stands."""


class RowCheck:
    """One per part of a mix: its profile says what is expected."""

    def __init__(self, settings: AuditSettings, renderer: Renderer, secrets: Secrets) -> None:
        self._settings, self._renderer, self._secrets = settings, renderer, secrets

    def findings(self, row: Row) -> Iterator[Finding]:
        """What is wrong with a row, in the order of the checks; nothing for a sound one."""
        settings = self._settings
        yield from self._secrets.check(orjson.dumps(row))
        found, view = shape.check_shape(row, settings.profile, {name: type(value) for name, value in row.items()})
        yield from found
        if view is None:
            return
        yield from rendering.render(view, self._renderer)[1]
        yield from check_truncation(view)
        thinking = list(check_thinking(view, settings))
        if settings.profile.name == FORM_ONLY:
            yield from (finding for finding in thinking if finding.reason in BROKEN_TAGS)
            return
        yield from thinking
        yield from check_conversation(view, settings)
        behaviour = Behaviour(settings)
        behaviour.add(view, str(row.get("id", "")), 1)
        for name, behind in (
            ("letter_answers", behaviour.letters),
            ("image_code_without_picture", behaviour.image_code),
        ):
            if name in settings.profile.enforced:
                yield from (finding for _, _, finding in behind)
