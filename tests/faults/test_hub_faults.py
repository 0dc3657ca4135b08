"""Every fault of a hub has one message and one exit code, and what was fetched stays (issue 3, Must show 1).

The real client libraries talk to a local server; both hubs go through the same cases.
"""

from __future__ import annotations

import hashlib
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import fetch_source
from sources_helpers import COMMIT, Hub, parquet, serving
from tir_distill import cli
from tir_distill.config import load
from tir_distill.sources.hub import alone
from tir_distill.sources.lock import Lock

MB = 1024 * 1024
HUBS = ("huggingface", "modelscope")
SECRET = "sentinel-token-4711"


@pytest.fixture(params=HUBS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    table = parquet([{"question": f"q{i}"} for i in range(5)])
    with serving(Hub({"data/train-0.parquet": table, "cache.pkl": b"never", "README.md": b"card"})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("MODELSCOPE_ENDPOINT", hub.url)
        monkeypatch.setenv("MODELSCOPE_HOME", str(tmp_path / "ms-home"))
        monkeypatch.setenv("MODELSCOPE_CACHE", str(tmp_path / "ms-cache"))
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.delenv("HF_TOKEN", raising=False)
        monkeypatch.setattr(logging, "raiseExceptions", False)  # the libraries' handlers hold an earlier test's stderr
        monkeypatch.setattr("modelscope_hub._download.DOWNLOAD_RETRY_MAX_DELAY_SECONDS", 0.002)
        monkeypatch.setattr("modelscope_hub._download.DOWNLOAD_INTEGRITY_RETRY_BACKOFF", 0.002)
        really_sleep = time.sleep
        monkeypatch.setattr(time, "sleep", lambda seconds: really_sleep(min(seconds, 0.002)))
        yield hub


def config(folder: Path, kind: str, **over: object) -> Path:
    entry = {
        "repo": "owner/set",
        "revision": "main" if kind == "huggingface" else "master",
        "files": ["data/*.parquet"],
        "licence": "Apache-2.0",
        "hub": kind,
        **over,
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump({"sources": {"sets": {"demo": entry}}}))
    return path


def fetch(config_path: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """(exit code, what was said)."""
    with pytest.raises(SystemExit) as ended:
        arguments = ["--config", str(config_path), "--source", "demo", "--out", str(out)]
        cli.run(fetch_source.main, fetch_source.parser, arguments)
    said = capsys.readouterr()
    return int(str(ended.value.code)), said.out + said.err


def test_a_source_is_fetched_locked_and_not_fetched_twice(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = config(tmp_path, kind, rows=5)
    assert fetch(path, tmp_path / "out", capsys)[0] == 0
    lock = Lock.read(tmp_path / "out")
    assert [file.path for file in lock.files] == ["data/train-0.parquet"]
    assert lock.files[0].sha256 == hashlib.sha256(hub.files["data/train-0.parquet"]).hexdigest()
    assert lock.rows == 5
    assert lock.revision == (COMMIT if kind == "huggingface" else "master")
    assert lock.licence == "Apache-2.0"
    assert not (tmp_path / "out" / "cache.pkl").exists()
    first = (tmp_path / "out" / "lock.json").read_bytes()
    hub.sent.clear()
    assert fetch(path, tmp_path / "out", capsys)[0] == 0
    assert hub.sent == {}
    assert (tmp_path / "out" / "lock.json").read_bytes() == first


def test_pickles_are_never_fetched_even_when_asked_for(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = fetch(config(tmp_path, kind, files=["*.pkl"]), tmp_path / "out", capsys)
    assert code == 64
    assert "files *.pkl not found" in said
    assert hub.sent == {}


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (401, 1, "refused access (HTTP 401)"),
        (403, 1, "refused access (HTTP 403)"),
        (404, 64, "not found"),
        (429, 2, "hub_rate_limit"),
        (500, 2, "hub_unavailable"),
        (503, 2, "hub_unavailable"),
    ],
)
@pytest.mark.parametrize("where", ["listing", "file"])
def test_statuses(
    kind: str,
    where: str,
    status: int,
    code: int,
    words: str,
    hub: Hub,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if where == "listing":
        hub.listing_status = status
    else:
        hub.file_status = status
        if status == 404:
            hub.error_code = "EntryNotFound"
    found, said = fetch(config(tmp_path, kind), tmp_path / "out", capsys)
    assert found == code, said
    assert words in said
    assert "owner/set" in said
    assert "Traceback" not in said
    assert not (tmp_path / "out" / "lock.json").exists()
    hub.heal()
    assert fetch(config(tmp_path, kind), tmp_path / "out", capsys)[0] == 0


def test_gated_without_access_says_where_to_accept(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.token = SECRET
    code, said = fetch(config(tmp_path, kind, gated=True), tmp_path / "out", capsys)
    assert code == 1
    assert "gated" in said
    assert f"{hub.url}/datasets/owner/set" in said
    assert ("HF_TOKEN" if kind == "huggingface" else "MODELSCOPE_API_TOKEN") in said


def test_the_token_opens_a_gated_set_and_is_never_shown(
    hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = SECRET
    monkeypatch.setenv("HF_TOKEN", SECRET)
    code, said = fetch(config(tmp_path, "huggingface", gated=True), tmp_path / "out", capsys)
    assert code == 0
    assert SECRET not in said
    assert SECRET not in (tmp_path / "out" / "lock.json").read_text()


@pytest.mark.parametrize(("over", "words"), [({"revision": "v9"}, "v9"), ({"repo": "owner/other"}, "owner/other")])
def test_unknown_names(
    kind: str, over: dict[str, str], words: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = fetch(config(tmp_path, kind, **over), tmp_path / "out", capsys)
    assert code == 64
    assert words in said
    assert "sources.sets" in said


def test_a_pattern_without_files_is_an_error_unless_the_layout_is_uncertain(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["data/*.parquet", "photos/*.zip"]
    code, said = fetch(config(tmp_path, kind, files=files), tmp_path / "out", capsys)
    assert code == 64
    assert "photos/*.zip" in said
    assert "README.md" in said
    code, said = fetch(config(tmp_path, kind, files=files, tolerant=True), tmp_path / "out", capsys)
    assert code == 0
    assert "photos/*.zip" in said


def test_a_short_body_stops_and_the_next_run_fetches_the_rest(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = 50 * MB
    hub.files = {"big.zip": os.urandom(MB) * 50, "small.jsonl": b"{}\n"}
    hub.cut_at = size * 6 // 10
    path = config(tmp_path, kind, files=["small.jsonl", "big.zip"])
    code, said = fetch(path, tmp_path / "out", capsys)
    assert code == 2
    assert "short_body" in said
    assert f"{size}" in said
    hub.heal()
    assert fetch(path, tmp_path / "out", capsys)[0] == 0
    assert hub.sent["big.zip"] == size * 4 // 10
    assert (tmp_path / "out" / "big.zip").read_bytes() == hub.files["big.zip"]
    assert sorted(p.name for p in (tmp_path / "out").rglob("*") if p.is_file() and p.name[0] != ".") == [
        "big.zip",
        "lock.json",
        "small.jsonl",
    ]


def test_killed_at_60_percent_and_run_again_only_the_rest_is_fetched(kind: str, hub: Hub, tmp_path: Path) -> None:
    size = 50 * MB
    hub.files = {"big.zip": os.urandom(MB) * 50}
    hub.cut_at, hub.stall = size * 6 // 10, True
    command = [sys.executable, fetch_source.__file__, "--config", str(config(tmp_path, kind, files=["big.zip"]))]
    command += ["--source", "demo", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert hub.reached_cut.wait(60)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and _bytes_on_disk(tmp_path / "out") < hub.cut_at:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    hub.released.set()
    hub.heal()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert hub.sent["big.zip"] == size * 4 // 10
    assert (tmp_path / "out" / "big.zip").read_bytes() == hub.files["big.zip"]


def test_a_server_that_does_not_continue_a_file_gives_it_from_the_start(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """HTTP 416 on the rest of a cut-off file must not stop the source for ever."""
    hub.files["data/train-0.parquet"] = body = parquet(
        [{"question": f"q{i}", "pad": os.urandom(99)} for i in range(9000)]
    )
    path = config(tmp_path, kind)
    hub.cut_at = 600_000
    code, _ = fetch(path, tmp_path / "out", capsys)
    assert code == 2
    hub.heal()
    hub.refuse_range = True
    code, said = fetch(path, tmp_path / "out", capsys)
    assert code == 0, said
    assert (tmp_path / "out/data/train-0.parquet").read_bytes() == body
    assert [p.name for p in (tmp_path / "out/data").iterdir()] == ["train-0.parquet"]


@pytest.mark.parametrize("name", ["lock.json", ".fetching", "x" * 300 + ".parquet"])
def test_a_listed_name_that_cannot_be_stored_is_refused(
    kind: str, name: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.files[name] = b"not ours"
    code, said = fetch(config(tmp_path, kind, files=["*"]), tmp_path / "out", capsys)
    assert code == 1
    assert "under a name that cannot be stored here" in said
    assert not (tmp_path / "out/lock.json").exists()
    assert (tmp_path / "out/.fetching").read_bytes() == b""


def test_a_listing_nested_too_deep_is_one_line(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.deep_listing = True
    code, said = fetch(config(tmp_path, kind), tmp_path / "out", capsys)
    assert code in (1, 2)
    assert "Traceback" not in said


def _bytes_on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("big.zip.*")) if folder.exists() else 0


def test_bytes_that_differ_from_the_listing_are_removed(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = hub.files["data/train-0.parquet"]
    hub.lie = {"data/train-0.parquet": bytes(len(good))}
    code, said = fetch(config(tmp_path, kind), tmp_path / "out", capsys)
    assert code == 1
    assert "checksum" in said or "Hash mismatch" in said
    assert not (tmp_path / "out" / "data/train-0.parquet").exists()
    hub.heal()
    assert fetch(config(tmp_path, kind), tmp_path / "out", capsys)[0] == 0


def test_a_pinned_sha256_that_differs_keeps_the_file(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = config(tmp_path, kind, sha256={"data/train-0.parquet": "0" * 64})
    code, said = fetch(path, tmp_path / "out", capsys)
    assert code == 1
    assert "upstream has changed" in said
    assert (tmp_path / "out" / "data/train-0.parquet").exists()


def test_a_damaged_local_file_is_fetched_again(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch(config(tmp_path, kind), tmp_path / "out", capsys)[0] == 0
    target = tmp_path / "out" / "data/train-0.parquet"
    good = target.read_bytes()
    target.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    assert fetch(config(tmp_path, kind), tmp_path / "out", capsys)[0] == 0
    assert target.read_bytes() == good


def test_row_counts(kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = fetch(config(tmp_path, kind, rows=6), tmp_path / "out", capsys)
    assert code == 1
    assert "5 rows" in said
    assert "expects 6" in said
    code, said = fetch(config(tmp_path, kind, rows=6, tolerant=True), tmp_path / "out", capsys)
    assert code == 0
    assert "expects 6" in said


def test_no_connection(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = "http://127.0.0.1:9"
    monkeypatch.setenv("HF_ENDPOINT", closed)
    monkeypatch.setenv("MODELSCOPE_ENDPOINT", closed)
    code, said = fetch(config(tmp_path, kind), tmp_path / "out", capsys)
    assert code == 2
    assert "hub_unreachable" in said


def test_a_full_disk_is_said_as_such(kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """/dev/full answers every write as a full disk does."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    data = hub.files["data/train-0.parquet"]
    hub.files["data/a.parquet"] = data
    (tmp_path / "out" / "data").mkdir(parents=True)
    ending = f"{hashlib.sha256(data).hexdigest()[:12]}.part" if kind == "huggingface" else "incomplete"
    (tmp_path / "out" / "data" / f"train-0.parquet.{ending}").symlink_to("/dev/full")
    code, said = fetch(config(tmp_path, kind), tmp_path / "out", capsys)
    assert code == 2
    assert "disk_full" in said
    assert (tmp_path / "out" / "data" / "a.parquet").exists()


def test_small_files_kept_in_git_are_checked_by_gits_own_hash(
    hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.hide_sha256 = True
    hub.files = {"a.jsonl": b'{"n": 1}\n'}
    path = config(tmp_path, "huggingface", files=["*.jsonl"])
    hub.lie = {"a.jsonl": b'{"n": 9}\n'}
    code, said = fetch(path, tmp_path / "out", capsys)
    assert code == 1
    assert "checksum" in said
    hub.heal()
    assert fetch(path, tmp_path / "out", capsys)[0] == 0
    hub.files = {"a.jsonl": b'{"n": 2}\n'}  # the branch moved on: same size, other content
    assert fetch(path, tmp_path / "out", capsys)[0] == 0
    assert (tmp_path / "out" / "a.jsonl").read_bytes() == b'{"n": 2}\n'


def test_what_an_earlier_revision_left_is_not_continued(
    hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.files = {"big.zip": b"old" * 9_000_000}
    hub.cut_at = 20 * MB
    path = config(tmp_path, "huggingface", files=["big.zip"])
    assert fetch(path, tmp_path / "out", capsys)[0] == 2
    hub.heal()
    hub.files = {"big.zip": b"new" * 9_000_000}
    assert fetch(path, tmp_path / "out", capsys)[0] == 0
    assert (tmp_path / "out" / "big.zip").read_bytes() == hub.files["big.zip"]
    assert list((tmp_path / "out").glob("*.part")) == []


def test_two_at_once_do_not_mix(kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with alone(tmp_path / "out"):
        code, said = fetch(config(tmp_path, kind), tmp_path / "out", capsys)
    assert code == 1
    assert "another process" in said
    assert fetch(config(tmp_path, kind), tmp_path / "out", capsys)[0] == 0


def test_modelscope_reads_main_as_its_default_branch(
    hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.revisions = ("master",)
    assert fetch(config(tmp_path, "modelscope", revision="main"), tmp_path / "out", capsys)[0] == 0
    assert Lock.read(tmp_path / "out").revision == "master"


def test_a_listing_that_leaves_the_folder_is_refused(
    kind: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.files = {"data/../../evil.parquet": b"x"}
    code, said = fetch(config(tmp_path, kind), tmp_path / "out", capsys)
    assert code == 1
    assert "outside its folder" in said


def test_mirror(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "mirror" / "owner" / "set"
    place.mkdir(parents=True)
    (place / "a.jsonl").write_text("{}\n")
    (place / "b.pkl").write_bytes(b"never")
    path = config(tmp_path, "mirror", files=["*"])
    code, said = fetch(path, tmp_path / "out", capsys)
    assert code == 64
    assert "sources.mirror is not set" in said
    path.write_text(path.read_text().replace("sources:", f"sources:\n  mirror: {tmp_path / 'mirror'}", 1))
    assert fetch(path, tmp_path / "out", capsys)[0] == 0
    assert (tmp_path / "out" / "a.jsonl").stat().st_nlink == 1
    assert not (tmp_path / "out" / "b.pkl").exists()
    first = Lock.read(tmp_path / "out")
    assert first.revision.startswith("mirror-")
    assert str(tmp_path) not in (tmp_path / "out" / "lock.json").read_text()
    (place / "a.jsonl").write_text("{ }\n")
    assert fetch(path, tmp_path / "out", capsys)[0] == 0
    assert Lock.read(tmp_path / "out").revision != first.revision


def configured() -> list[str]:
    return sorted(load()["sources"]["sets"])


@pytest.mark.parametrize("source", configured())
def test_each_configured_source_brings_its_files_and_nothing_else(
    kind: str, source: str, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every entry of config.yaml, with files that its patterns name among files that they do not."""
    entry = load()["sources"]["sets"][source]
    table = parquet([{"question": "q"}])
    wanted = {
        pattern.replace("**/", "deep/").replace("*.*", "x.png").replace("*.", "0.").replace("*", "0.parquet")
        for pattern in entry["files"]
    }
    decoys = {"README.md", "cache.pkl", "youtube_images.zip", "paper_images.zip", "val/val-0.arrow", "script.py"}
    hub.repo = entry["repo"]
    hub.revisions = (entry["revision"], "master")
    hub.files = dict.fromkeys(wanted | decoys, table)
    path = tmp_path / "config.yaml"
    revision = entry["revision"] if kind == "huggingface" else "master"
    path.write_text(yaml.safe_dump({"sources": {"hub": kind, "sets": {source: {**entry, "revision": revision}}}}))
    arguments = ["--config", str(path), "--source", source, "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as ended:
        cli.run(fetch_source.main, fetch_source.parser, arguments)
    assert ended.value.code == 0, capsys.readouterr().err
    lock = Lock.read(tmp_path / "out")
    assert {file.path for file in lock.files} == wanted
    assert set(hub.sent) == wanted
    assert (lock.repo, lock.licence) == (entry["repo"], entry["licence"])
