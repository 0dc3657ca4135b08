"""A small conversation driver for the embedded servers: a loop over HTTP with tools that do as little as possible."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESOURCES = ROOT / "resources" / "demo"
NOTICE = "[notice] {} Do not call tools any more: give your final answer now inside <answer></answer>."
LIMITS = {"text_search": (15, 20)}
"""Turns and searches of one conversation by task type; others have 10 and 8 (seed section 12)."""


@contextlib.contextmanager
def servers(folder: Path, *options: str, parent: int | None = None) -> Iterator[dict[str, str]]:
    """Embedded servers in a process of their own; yields the endpoints of their port file."""
    port_file = folder / "port.json"
    command = [sys.executable, "-m", "tir_distill.demo", "serve", "--port-file", str(port_file)]
    command += ["--parent", str(parent or os.getpid()), *options]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")})
    try:
        deadline = time.monotonic() + 30
        while not port_file.exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield json.loads(port_file.read_text())
    finally:
        process.terminate()
        process.wait(10)


def post(url: str, body: Any, headers: dict[str, str] | None = None) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    for name, value in (headers or {}).items():
        request.add_header(name, value)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=30) as response:
        return json.load(response)


def base_of(env: dict[str, str]) -> str:
    return env["SERPER_URL"].removesuffix("/search")


@dataclass
class Item:
    """A question as the teacher is asked it, with what would be right."""

    group: str
    text: str
    task_type: str
    picture: bytes | None
    references: list[str]


@dataclass
class Talk:
    """One finished conversation."""

    answer: str | None
    replies: list[dict[str, Any]] = field(default_factory=list)
    """The server's whole bodies."""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Calls that were run."""
    results: list[str] = field(default_factory=list)
    searches: int = 0

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [reply["choices"][0]["message"] for reply in self.replies]

    @property
    def thinking(self) -> list[str]:
        return [message["reasoning_content"] for message in self.messages]

    @property
    def finish(self) -> list[str]:
        return [reply["choices"][0]["finish_reason"] for reply in self.replies]


@dataclass
class Driver:
    """Talks to the embedded teacher and runs its calls."""

    env: dict[str, str]
    work: Path
    searching: bool = True
    """False: every search brings no results."""

    def talk(self, item: Item, sample: int = 0, *, native: bool = True) -> Talk:
        turns, searches = LIMITS.get(item.task_type, (10, 8))
        talk = Talk(None)
        names: dict[str, Any] = {}
        parts: list[dict[str, Any]] = [{"type": "text", "text": item.text}]
        if item.picture is not None:
            url = "data:image/png;base64," + base64.b64encode(item.picture).decode()
            parts.insert(0, {"type": "image_url", "image_url": {"url": url}})
            path = self.work / "input_image.jpg"
            path.write_bytes(item.picture)
            names["IMAGE_PATH"] = str(path)
        messages: list[dict[str, Any]] = [{"role": "system", "content": "Answer."}, {"role": "user", "content": parts}]
        for turn in range(turns + 1):
            reply = self.ask(messages, seed=16 * (1000 + turn) + sample, native=native)
            talk.replies.append(reply)
            message = reply["choices"][0]["message"]
            calls = message.get("tool_calls") or _calls_in(message["content"] or "")
            content = f"<think>\n{message['reasoning_content']}\n</think>\n\n{message['content'] or ''}"
            said: dict[str, Any] = {"role": "assistant", "content": content}
            if native and calls:
                said = {"role": "assistant", "content": content.partition("<tool_call>")[0], "tool_calls": calls[:3]}
            messages.append(said)
            if not calls:
                break
            notice = NOTICE.format("The turn limit is reached.") if turn + 1 >= turns else ""
            for index, call in enumerate(calls[:3]):
                name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
                talk.calls.append((name, arguments))
                if name == "search":
                    talk.searches += 1
                    if talk.searches >= searches:
                        notice = NOTICE.format("The search limit is reached.")
                over = name == "search" and talk.searches > searches
                text = "Search budget used up: this search was not run." if over else self.run(name, arguments, names)
                talk.results.append(text)
                if notice and index == len(calls[:3]) - 1:
                    text += f"\n\n{notice}"
                if native:
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
                else:
                    messages.append({"role": "user", "content": f"<tool_response>\n{text}\n</tool_response>"})
        final = talk.messages[-1]["content"] or ""
        if "<answer>" in final:
            talk.answer = final.rpartition("<answer>")[2].partition("</answer>")[0]
        return talk

    def ask(self, messages: list[dict[str, Any]], *, seed: int, native: bool = True, **options: Any) -> Any:
        body = {"model": self.env["TEACHER_MODEL"], "messages": messages, "seed": seed, "max_tokens": 8192, **options}
        if native:
            body["tools"] = [{"type": "function", "function": {"name": "search"}}]
        headers = {"Authorization": f"Bearer {self.env['TEACHER_API_KEY']}"}
        return post(f"{self.env['TEACHER_URL']}/chat/completions", body, headers)

    def run(self, name: str, arguments: dict[str, Any], names: dict[str, Any]) -> str:
        if name == "search":
            return self.search(arguments["query"]) if self.searching else "No results."
        if name == "open":
            return self.open(arguments["url"])
        return self.python(arguments["code"], names)

    def search(self, query: str) -> str:
        found = post(self.env["SERPER_URL"], {"q": query, "num": 8}, {"X-API-KEY": self.env["SERPER_API_KEY"]})
        blocks = []
        for entry in found["organic"]:
            date = f"Date: {entry['date']}\n" if "date" in entry else ""
            blocks.append(f"{entry['position']}. {entry['title']}\nURL: {entry['link']}\n{date}{entry['snippet']}")
        return "\n\n".join(blocks) or "No results."

    def open(self, url: str) -> str:
        try:
            with urllib.request.urlopen(self.env["READER_URL"] + url, timeout=30) as response:
                head, _, body = response.read().decode().partition("Markdown Content:\n")
                text: str = f"# {head.partition('Title: ')[2].partition(chr(10))[0]}\n\n{body}"
        except urllib.error.HTTPError as error:
            return f"Could not open {url}: status {error.code}"
        return text if len(text) <= 8000 else text[:8000] + "\n[tool output truncated]"

    def python(self, code: str, names: dict[str, Any]) -> str:
        """Runs in this process: the demo's own cells, in a test."""
        printed = io.StringIO()
        before = Path.cwd()
        os.chdir(self.work)
        try:
            with contextlib.redirect_stdout(printed):
                exec(code, names)
        except Exception as error:  # a cell's own error is what the model would be shown
            printed.write(f"{type(error).__name__}: {error}")
        finally:
            os.chdir(before)
        return printed.getvalue() or "(no output)"


def _calls_in(content: str) -> list[dict[str, Any]]:
    """Calls written as text, as a tolerant client reads them."""
    calls = []
    for piece in content.split("<tool_call>")[1:]:
        value, _ = json.JSONDecoder().raw_decode(piece.strip())
        name = value.pop("action")
        calls.append((name, value))
    for piece in content.split("<code>")[1:]:
        calls.append(("python", {"code": piece.split("```python\n")[1].split("\n```")[0]}))
    return [
        {"id": f"text_{index}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for index, (name, arguments) in enumerate(calls)
    ]


def stored(data: bytes) -> bytes:
    """The picture as the hand-over stores it: upright, 8-bit, RGB; a plain JPEG or PNG as it is."""
    import numpy as np
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(data)) as opened:
        if opened.format in ("PNG", "JPEG") and opened.mode in ("RGB", "L") and not opened.getexif():
            return data
        picture: Image.Image = ImageOps.exif_transpose(opened)
    if picture.mode.startswith("I"):
        picture = Image.fromarray((np.asarray(picture) // 257).astype("uint8"))
    if picture.mode in ("P", "RGBA", "LA"):
        over = picture.convert("RGBA")
        picture = Image.new("RGBA", over.size, "white")
        picture.alpha_composite(over)
    buffer = io.BytesIO()
    picture.convert("RGB").save(buffer, "PNG")
    return buffer.getvalue()


def xor(cipher: str, key: str) -> str:
    pairs = zip(base64.b64decode(cipher), base64.b64decode(key), strict=True)
    return bytes(a ^ b for a, b in pairs).decode()


def rows_of(path: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def items_of(mirror: Path) -> list[Item]:
    """All usable rows of a drawn mirror, read independently of the project's readers."""
    items = []
    for row in rows_of(mirror / "mzhang1766/huawei_benchmark/fvqa_train.parquet"):
        model = row["reward_model"]
        references = [model["ground_truth"], *json.loads(model["candidate_answers"])]
        items.append(Item("fvqa", row["prompt"][0]["content"], "image_search", row["images"][0]["bytes"], references))
    with zipfile.ZipFile(mirror / "ONE-Lab/LiveVQA-2025/news.zip") as archive:
        for row in rows_of(mirror / "ONE-Lab/LiveVQA-2025/Dataset.parquet"):
            if row["img_path"] in archive.namelist():
                right = row["options"]["ABCDE".index(row["Ground_Truth"])][3:]
                photo = archive.read(row["img_path"])
                items.append(Item(f"livevqa_l{row['level']}", row["question"], "image_search", photo, [right]))
    for row in rows_of(mirror / "Krystalan/EvoBrowseComp/data/train-00000-of-00001.parquet")[:-1]:
        question, answer = (xor(row[name], row[f"{name}_key"]) for name in ("question", "answer"))
        items.append(Item("evobrowsecomp", question, "text_search", None, [answer]))
    for row in rows_of(mirror / "HuggingFaceM4/ChartQA/data/train-00000-of-00001.parquet"):
        items.append(Item("charts", row["query"], "image_reasoning", row["image"]["bytes"], row["label"]))
    for row in rows_of(mirror / "JiaerX/TabMWP/data/train-00000-of-00001.parquet"):
        items.append(Item("tables", row["question"], "image_reasoning", row["image"]["bytes"], [row["answer"]]))
    return items


def is_right(item: Item, answer: str | None) -> bool:
    """A reference stands in the answer."""
    return answer is not None and any(ref.strip("[]").lower() in answer.lower() for ref in item.references)
