"""Folders written by cells: measured, read and removed without trust."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tir_distill.sandbox import SandboxFault
from tir_distill.sandbox import folder as folders


def test_measure_counts_blocks_and_entries(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(8192))
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "b").write_bytes(bytes(4096))
    os.truncate(tmp_path / "d" / "b", 1 << 30)  # a hole takes no room
    usage = folders.measure(tmp_path, max_entries=100, max_depth=5)
    assert usage.entries == 3
    assert 12288 <= usage.size < 64 << 10
    assert not usage.too_deep


def test_measure_stops_at_its_limits(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(8):
        deep /= "d"
    deep.mkdir(parents=True)
    assert folders.measure(tmp_path, max_entries=100, max_depth=5).too_deep
    for number in range(30):
        (tmp_path / str(number)).touch()
    assert folders.measure(tmp_path, max_entries=10, max_depth=50).entries == 11


def test_a_tree_of_two_thousand_levels_is_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    folders.remove(top)
    assert not top.exists()


def test_only_plain_files_are_read(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    (inside / "sub").mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"secret")
    (inside / "sub" / "fine.png").write_bytes(b"fine")
    (inside / "link.png").symlink_to(tmp_path / "secret")
    (inside / "door").symlink_to(tmp_path)
    os.link(tmp_path / "secret", inside / "hard.png")
    os.mkfifo(inside / "fifo.png")
    (inside / "large.png").write_bytes(bytes(100))
    assert folders.read_plain(inside, "sub/fine.png", 99) == b"fine"
    for name in (
        "link.png",
        "door/secret",
        "hard.png",
        "fifo.png",
        "large.png",
        "../secret",
        "/etc/passwd",
        "none",
        "sub",
    ):
        assert folders.read_plain(inside, name, 99) is None, name


def test_deleted_files_are_counted(tmp_path: Path) -> None:
    with (tmp_path / "gone").open("wb") as handle:
        handle.write(bytes(1 << 20))
        handle.flush()
        (tmp_path / "gone").unlink()
        assert folders.deleted_but_open(os.getpid()) >= 1 << 20


def test_a_host_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = folders.host_folder()
    assert path.stat().st_mode & 0o777 == 0o700
    path.chmod(0o777)
    with pytest.raises(SandboxFault):
        folders.host_folder()


def test_run_folders_of_dead_controllers_are_swept(tmp_path: Path) -> None:
    first = folders.RunFolder.create(tmp_path)
    second = folders.RunFolder.create(tmp_path)
    assert first.path.exists()
    os.close(first._lock)  # as the kernel does when the process dies
    third = folders.RunFolder.create(tmp_path)
    assert not first.path.exists()
    assert second.path.exists()
    for run in (second, third):
        run.remove()
    assert list(tmp_path.iterdir()) == []
