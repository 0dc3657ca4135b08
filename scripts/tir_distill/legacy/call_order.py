"""Results of native rows in the order of their calls, which their ids say and their places may not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..records import BadRow

_TOLD = frozenset({"tool", "tool_response", "observation", "function_response"})


def in_call_order(turns: Sequence[Mapping[str, Any]], name: str, *, pictures_apart: bool) -> list[Mapping[str, Any]]:
    """The messages, with the results behind each message of calls in the order of the calls.

    Where neither calls nor results have ids, their order is all there is, and stays. Raises BadRow:
    ``unknown_call_id``, ``call_without_result``, and ``picture_order`` for results whose pictures stand in a list of
    the row in the wrong order (``pictures_apart``).
    """
    out: list[Mapping[str, Any]] = []
    at = 0
    while at < len(turns):
        turn = turns[at]
        out.append(turn)
        at += 1
        if not (calls := turn.get("tool_calls")):
            continue
        end = at
        while end < len(turns) and str(turns[end].get("role") or turns[end].get("from")).lower() in _TOLD:
            end += 1
        results = turns[at:end]
        if end < len(turns) or results:
            out += _sorted([call.get("id") for call in calls], results, name, pictures_apart)
        at = end
    return out


def _sorted(
    calls: Sequence[Any], results: Sequence[Mapping[str, Any]], name: str, pictures_apart: bool
) -> Sequence[Mapping[str, Any]]:
    named = [result.get("tool_call_id") for result in results]
    if not any(calls) or not any(named):
        return results
    if unknown := [given for given in named if not given or given not in calls]:
        raise BadRow("unknown_call_id", f"{name}: a result belongs to call {unknown[0]!r}; the calls are {list(calls)}")
    if len(set(calls)) < len(calls) or len(set(named)) < len(named):
        raise BadRow("unknown_call_id", f"{name}: call ids come twice in one message: {list(calls)}, {named}")
    if missing := [given for given in calls if given not in named]:
        raise BadRow("call_without_result", f"{name}: call {missing[0]!r} has no result")
    if named == list(calls):
        return results
    if pictures_apart and any("<image>" in str(result.get("content")) for result in results):
        raise BadRow("picture_order", f"{name}: results with pictures stand in another order than their calls")
    return sorted(results, key=lambda result: calls.index(result.get("tool_call_id")))
