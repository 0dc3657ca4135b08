"""The training hook with a stand-in for the driver's tool: nothing is trained here, and nothing says so."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from tir_distill.evaluation import training
from tir_distill.evaluation.training import TrainingSettings, check_student, has_gpu, served, train
from tir_distill.records import Stopped, TirError, file_sha256, read_json, write_json


@pytest.fixture
def mix(tmp_path: Path) -> Path:
    folder = tmp_path / "train" / "pilot mix"
    folder.mkdir(parents=True)
    (folder / "MIX.json").write_text("{}")
    return folder


def settings(
    train: str = "bash {mix}/sft.sh", serve: str = "bash {mix}/serve.sh {checkpoint}", url: str = "http://x/v1"
) -> TrainingSettings:
    return TrainingSettings(train=train, serve=serve, url=url, model="student", serve_seconds=20)


def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str) -> None:
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\n{says}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")


def test_a_gpu_is_there_when_the_driver_lists_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    driver(monkeypatch, tmp_path, "echo 'GPU 0: A100 (UUID: GPU-1)'")
    assert has_gpu()
    (tmp_path / "bin" / "nvidia-smi").write_text("#!/bin/sh\necho 'No devices were found'\nexit 6\n")
    assert not has_gpu()


def test_without_a_gpu_it_stops_with_commands_and_the_file_to_put_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mix: Path
) -> None:
    monkeypatch.setattr(training, "has_gpu", lambda: False)
    out = tmp_path / "student.json"
    with pytest.raises(Stopped) as caught:
        train(settings(), mix, out)
    words = str(caught.value)
    assert caught.value.exit_code == 2
    assert not out.exists()
    for part in (f"bash '{mix}'/sft.sh", f"write {out}", file_sha256(mix / "MIX.json"), "serve.sh", "STUDENT_URL="):
        assert part in words
    with pytest.raises(Stopped, match="STUDENT_URL=http://x/v1"), served(settings(), mix, "/c"):
        pass


def test_with_a_gpu_the_command_runs_and_its_checkpoint_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mix: Path
) -> None:
    monkeypatch.setattr(training, "has_gpu", lambda: True)
    out = tmp_path / "student.json"
    train(settings(train="mkdir -p {mix}/checkpoints/v0/checkpoint-7"), mix, out)
    assert check_student(out, mix)["checkpoint"] == str(mix / "checkpoints" / "v0" / "checkpoint-7")
    (mix / "MIX.json").write_text('{"other": 1}')
    with pytest.raises(TirError, match="trained on another mix"):
        check_student(out, mix)


@pytest.mark.parametrize(("command", "words"), [("exit 9", "exit code 9"), ("true", "left no checkpoint")])
def test_a_training_that_fails_or_leaves_nothing_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mix: Path, command: str, words: str
) -> None:
    monkeypatch.setattr(training, "has_gpu", lambda: True)
    with pytest.raises(TirError, match=words):
        train(settings(train=command), mix, tmp_path / "student.json")
    assert not (tmp_path / "student.json").exists()


def test_a_student_file_must_name_a_checkpoint(tmp_path: Path, mix: Path) -> None:
    write_json(tmp_path / "student.json", {"mix_sha256": file_sha256(mix / "MIX.json")})
    with pytest.raises(TirError, match="checkpoint"):
        check_student(tmp_path / "student.json", mix)


def test_the_server_is_waited_for_and_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mix: Path) -> None:
    monkeypatch.setattr(training, "has_gpu", lambda: True)
    monkeypatch.setattr(training, "POLL_S", 0.05)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "www" / "v1").mkdir(parents=True)
    (tmp_path / "www" / "v1" / "models").write_text("{}")
    serve = f"echo $$ > {tmp_path}/pid; exec {sys.executable} -m http.server {port} --bind 127.0.0.1 -d {tmp_path}/www"
    with served(settings(serve=serve, url=f"http://127.0.0.1:{port}/v1"), mix, "/c"):
        pid = int((tmp_path / "pid").read_text())
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(TirError, match="exit code 4"), served(settings(serve="exit 4"), mix, "/c"):
        pass


def test_student_json_is_plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mix: Path) -> None:
    monkeypatch.setattr(training, "has_gpu", lambda: True)
    out = tmp_path / "student.json"
    train(settings(train="mkdir -p {mix}/checkpoints/checkpoint-1"), mix, out)
    assert set(read_json(out)) == {"checkpoint", "mix_sha256", "command"}
