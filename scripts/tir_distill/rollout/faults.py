"""A sample could not be taken, for reasons outside model and question."""

from __future__ import annotations


class SampleFault(Exception):
    """The sample stops here, is not recorded, and is no sample. ``certain``: trying it again fails again."""

    def __init__(self, kind: str, detail: str = "", *, certain: bool = False) -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail
        self.certain = certain
