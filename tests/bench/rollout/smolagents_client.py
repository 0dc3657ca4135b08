"""The same four turns through smolagents' ToolCallingAgent, run by another interpreter (TIR_BENCH_SMOLAGENTS).

It is no dependency of this project. The agent is as its guide shows it: an OpenAI-compatible model, tools as functions,
one agent a question, questions over a pool of threads, because its loop is synchronous.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

TURNS = 4
RESULT = (
    "1. Harbour tram archive\nURL: https://archive.example/tram\nA list of trams by plate, with years and lines.\n" * 8
)


def agent(url: str) -> Any:
    """One agent with its own memory."""
    from smolagents import OpenAIServerModel, ToolCallingAgent, tool

    @tool
    def search(query: str) -> str:
        """Search the web.

        Args:
            query: what to look for
        """
        return RESULT

    @tool
    def open(url: str) -> str:
        """Read a page.

        Args:
            url: its address
        """
        return RESULT

    @tool
    def python(code: str) -> str:
        """Run a cell.

        Args:
            code: Python source
        """
        return RESULT

    class Model(OpenAIServerModel):  # type: ignore[misc]
        """Answers of the shared server end in <answer>; the framework wants a call of final_answer."""

        def generate(self, messages: Any, **options: Any) -> Any:
            message = super().generate(messages, **options)
            if not message.tool_calls:
                from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

                found = re.search(r"<answer>(.*?)</answer>", message.content or "")
                function = ChatMessageToolCallFunction(
                    name="final_answer", arguments={"answer": found.group(1) if found else ""}
                )
                message.tool_calls = [ChatMessageToolCall(function=function, id="x", type="function")]
            return message

    model = Model(model_id="m", api_base=url, api_key="x")
    return ToolCallingAgent(tools=[search, open, python], model=model, max_steps=TURNS + 1, verbosity_level=0)


def ask(url: str, number: int) -> None:
    answer = agent(url).run(f"Question number {number}?")
    assert answer == "right", answer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--conversations", type=int, default=100)
    parser.add_argument("--concurrency", type=int, default=64)
    args = parser.parse_args()
    logging.disable(logging.INFO)
    ask(args.url, 0)  # imports and first connection
    start, cpu = time.monotonic(), time.process_time()
    with ThreadPoolExecutor(args.concurrency) as pool:
        list(pool.map(lambda number: ask(args.url, number), range(args.conversations)))
    figures = {
        "turns": args.conversations * TURNS,
        "seconds": time.monotonic() - start,
        "cpu": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
