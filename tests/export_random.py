"""Seeded conversations of the exporter's shape for renderer comparisons. Standard library only: it also runs where the
goldens are made, in an environment that has transformers and not this package."""

from __future__ import annotations

import json
import random
from typing import Any

CASES = 600

PIECES = (
    *("alpha", "Beta", "gamma-3", "3.14", "1,024", "don't", "it's", "x_y", "http://e.example/a?b=c&d=%20", "#1", "C++"),
    *(
        "图片",
        "城市在一九三二年。",
        "「引用」",
        "数据：42",
        "日本語テキスト",
        "한국어",
        "ไทย",
        "ภาษา",
        "العربية",
        "हिन्दी",
        "Ελλάδα",
    ),
    *("😀", "👩‍👩‍👧", "🇮🇳", "e\u0301", "n\u0303", "\u1e9b\u0323", "ﬁ", "Å", "½", "①", "\u200b", "\ufeff", "\u00ad"),
    *(
        "{'a': 1}",
        '{"k": [1, 2]}',
        "<b>bold</b>",
        "a < b > c",
        "&amp;",
        "{{ x }}",
        "{% if %}",
        "\\n",
        "\\u4e00",
        "|",
        "<|",
        "|>",
    ),
    *(
        "def f(x):\n    return x",
        "if a:\n\tb()",
        "| a | b |\n|---|---|",
        "$$x^2$$",
        "* item",
        "    indented",
        "```python\n1\n```",
    ),
)
SPACES = (" ", " ", " ", " ", " ", "\n", "\n\n", "  ", "\t", " \n ", "\u3000", "\u00a0", "\u2028", "\r\n", "\u0085", "")

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": text,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": "string", "description": about}},
                "required": [key],
            },
        },
    }
    for name, key, text, about in (
        ("search", "query", "Search the web — 搜索.", "What to look for"),
        ("open", "url", "Read a page as text.", "Address"),
        ("python", "code", 'Run Python <code>; "image_1" is loaded.', "Source"),
    )
]


def prose(rng: random.Random, words: int) -> str:
    """Pieces with odd white space between them, none outside."""
    return "".join(rng.choice(PIECES) + rng.choice(SPACES) for _ in range(words)).strip()


def conversation(seed: int) -> dict[str, Any]:
    """``messages`` as in a row, ``tools``, and ``sizes`` of the pictures in the order of their tags."""
    rng = random.Random(f"conversation {seed}")
    sizes: list[tuple[int, int]] = []

    def tags(most: int) -> str:
        count = rng.choice([0, 0, 1, 1, most])
        sizes.extend((rng.randint(8, 2000), rng.randint(20, 1500)) for _ in range(count))
        return "<image>" * count

    tools = TOOLS if rng.random() < 0.9 else []
    messages: list[dict[str, Any]] = []
    if rng.random() < 0.95:
        messages.append({"role": "system", "content": prose(rng, rng.randint(1, 20))})
    messages.append({"role": "user", "content": tags(2) + prose(rng, rng.randint(1, 30))})
    for turn in range(rng.randint(0, 6) if tools else 0):
        visible = prose(rng, rng.randint(1, 8)) if rng.random() < 0.4 else ""
        thinking = prose(rng, rng.randint(1, 60))
        calls = []
        for position in range(rng.choice([1, 1, 1, 2, 3])):
            tool = rng.choice(tools)["function"]
            key = tool["parameters"]["required"][0]
            arguments = json.dumps({key: prose(rng, rng.randint(1, 12))}, ensure_ascii=rng.random() < 0.3)
            calls.append({"id": f"call_{turn}_{position}", "type": "function"})
            calls[-1]["function"] = {"name": tool["name"], "arguments": arguments}
        content = f"<think>\n{thinking}\n</think>\n\n{visible}"
        messages.append({"role": "assistant", "content": content, "turn": turn, "tool_calls": calls})
        for call in calls:
            text, pictures = prose(rng, rng.randint(1, 80)), tags(2) if call["function"]["name"] == "python" else ""
            joint = "\n" if text and pictures else ""
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"{text}{joint}{pictures}".strip()})
    thinking, visible = prose(rng, rng.randint(1, 40)), f"{prose(rng, 4)}\n\n<answer>{rng.randint(0, 99)}</answer>"
    messages.append({"role": "assistant", "content": f"<think>\n{thinking}\n</think>\n\n{visible}", "turn": 99})
    return {"messages": messages, "tools": tools, "sizes": sizes}
