"""The embedded servers as processes: keys, faults, and their end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
from pathlib import Path

import pytest

from demo_helpers import ROOT, base_of, get, post, servers


def status_of(url: str, body: object, headers: dict[str, str]) -> tuple[int, dict[str, str], dict[str, object]]:
    try:
        return 200, {}, post(url, body, headers)
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), json.loads(error.read())


def test_faults_on_demand(tmp_path: Path) -> None:
    with servers(tmp_path, "--credits", "2", "--teacher-429-every", "2") as env:
        assert set(env) == {
            *("TEACHER_URL", "TEACHER_MODEL", "TEACHER_API_KEY", "SERPER_URL", "SERPER_API_KEY"),
            *("JUDGE_URL", "JUDGE_API_KEY", "READER_URL"),
        }
        key = {"X-API-KEY": env["SERPER_API_KEY"]}
        found = post(env["SERPER_URL"], {"q": "lighthouse", "num": 3}, key)
        assert found["credits"] == 1
        assert [entry["position"] for entry in found["organic"]] == [1, 2, 3]
        assert set(found["organic"][0]) == {"title", "link", "snippet", "position"}
        dated = post(env["SERPER_URL"], {"q": "regatta news photo 302"}, key)["organic"][0]
        assert dated["date"] == "2026-04-19"
        status, _, body = status_of(env["SERPER_URL"], {"q": "more"}, key)
        assert (status, body) == (400, {"message": "Not enough credits", "statusCode": 400})

        base = base_of(env)
        post(f"{base}/faults", {"credits": None, "search_429_every": 1, "retry_after_s": 3})
        status, headers, _ = status_of(env["SERPER_URL"], {"q": "more"}, key)
        assert (status, headers["Retry-After"]) == (429, "3")
        assert status_of(f"{base}/faults", {"no_such": 1}, {})[0] == 400
        assert get(f"{base}/counters")["search_billed"] == 2

        chat = {"messages": [{"role": "user", "content": "Why?"}], "tools": [{}]}
        bearer = {"Authorization": f"Bearer {env['TEACHER_API_KEY']}"}
        url = f"{env['TEACHER_URL']}/chat/completions"
        assert [status_of(url, chat, bearer)[0] for _ in range(4)] == [200, 429, 200, 429]


def test_another_key_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with servers(tmp_path) as env:
        chat = {"messages": [{"role": "user", "content": "Why?"}]}
        for url, headers, expected in (
            (f"{env['TEACHER_URL']}/chat/completions", {"Authorization": "Bearer sentinel-key"}, 401),
            (f"{env['JUDGE_URL']}/chat/completions", {}, 401),
            (env["SERPER_URL"], {"X-API-KEY": "sentinel-key"}, 403),
        ):
            status, _, body = status_of(url, chat, headers)
            assert status == expected
            assert "sentinel-key" not in json.dumps(body)


def test_the_judge_answers_in_its_form(tmp_path: Path) -> None:
    with servers(tmp_path) as env:
        case = {"question": "?", "reference_answer": "Ada", "other_accepted_answers": [], "response": "Ada Lind"}
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
        parts = [picture, {"type": "text", "text": "Case to judge:\n" + json.dumps(case)}]
        body = {"model": "j", "messages": [{"role": "system", "content": "{}"}, {"role": "user", "content": parts}]}
        reply = post(f"{env['JUDGE_URL']}/chat/completions", body, {"Authorization": f"Bearer {env['JUDGE_API_KEY']}"})
        assert reply["choices"][0]["message"]["content"].startswith("<judge>Yes</judge>")


def test_unknown_pages_are_not_found(tmp_path: Path) -> None:
    with servers(tmp_path) as env, pytest.raises(urllib.error.HTTPError, match="404"):
        get(env["READER_URL"] + "https://atlas.example/no-such-page?x=1")


def test_the_servers_end_with_their_parent(tmp_path: Path) -> None:
    """A parent that is killed outright takes them along, also while it is still a zombie."""
    code = (
        "import subprocess, sys, os, time\n"
        "child = subprocess.Popen([sys.executable, '-m', 'tir_distill.demo', 'serve', '--port-file', sys.argv[1],"
        " '--parent', str(os.getpid())])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    port_file = tmp_path / "port.json"
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(port_file)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    deadline = time.monotonic() + 20
    while not port_file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    parent.kill()  # not waited for: it stays a zombie
    while Path(f"/proc/{child}").exists() and _state(child) != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    parent.wait(5)
    parent.stdout.close()
    assert not port_file.exists()
    assert json.loads((tmp_path / "port.counters.json").read_text())["teacher"] == 0


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "Z"


def test_wrong_usage_is_64() -> None:
    from tir_distill.demo.__main__ import main

    assert main(["serve"]) == 64
    assert main(["draw"]) == 64
