"""The fork server: a clean process that has imported the libraries once and forks a locked worker for each request.

It is executed, never forked, from the controller, with an environment of its own: a fork of the process that read
``.env`` would carry the keys in every worker's memory. It runs no cell and stays single-threaded, since a fork copies
only one thread.
"""

from __future__ import annotations

import array
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from typing import Any

from . import lockdown, worker

LIBRARIES = ("numpy", "pandas", "PIL.Image", "PIL.ImageDraw", "PIL.ImageFont", "PIL.ImageFilter", "PIL.ImageOps", "cv2")
WIDE_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN"),
    *("WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback", "Microsoft YaHei", "SimHei", "PingFang SC"),
    *("Arial Unicode MS", "AR PL UMing CN", "AR PL UKai CN", "IPAGothic", "Unifont"),
)
MAX_MESSAGE = 1 << 16


def main() -> None:
    """Entry point; descriptor 3 is the control socket, whose end ends this process and all workers."""
    control = socket.socket(fileno=3)
    os.set_inheritable(3, False)
    try:
        setup = json.loads(control.recv(MAX_MESSAGE))
        _import_libraries(setup["preload"])
        readable = lockdown.readable_paths()
        layers = lockdown.available(setup["anchor"], readable, setup["without"])
    except Exception:
        control.send(json.dumps({"failed": traceback.format_exc(limit=3)[-4000:]}).encode())
        return
    control.send(
        json.dumps({"layers": layers.to_dict(), "describe": layers.describe(), "missing": layers.missing}).encode()
    )
    sys.dont_write_bytecode = True  # workers can write nowhere, and need not try
    gc.collect()
    gc.freeze()  # keeps the collector of each worker from touching, and so copying, what it shares with the server
    _Server(control, layers, readable).serve()


def _import_libraries(preload: list[str]) -> None:
    for name in LIBRARIES:
        importlib.import_module(name)
    import cv2
    import PIL.Image

    cv2.setNumThreads(1)
    PIL.Image.init()  # register every format now: the first open() of a cell would import plugins
    import pandas

    # pandas keeps text in pyarrow, which it imports at the first text column
    repr(
        pandas.DataFrame({"a": ["x", "y"], "t": pandas.to_datetime(["2024-01-01", "2024-01-02"])}).groupby("a").count()
    )
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    _use_wide_font(matplotlib)
    figure = pyplot.figure()  # the first plot builds the font cache and imports the renderer
    figure.add_subplot().plot([0, 1], label="a")
    figure.savefig(os.devnull, format="png", bbox_inches="tight")
    pyplot.close("all")
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    if threads != 1:
        raise RuntimeError(f"a library started {threads - 1} threads; forks would miss them")
    for name in preload:
        module, _, function = name.partition(":")
        loaded = importlib.import_module(module)
        if function:
            getattr(loaded, function)()


def _use_wide_font(matplotlib: Any) -> None:
    """Chinese, Japanese and Korean labels: a font of the machine that has them steps in where the default one fails."""
    from matplotlib import font_manager

    known = {font.name for font in font_manager.fontManager.ttflist}
    wide = next((name for name in WIDE_FONTS if name in known), None)
    if wide is not None:
        matplotlib.rcParams["font.family"] = ["sans-serif", wide]


class _Server:
    def __init__(self, control: socket.socket, layers: lockdown.Layers, readable: list[str]) -> None:
        self.control, self.layers, self.readable = control, layers, readable
        self.null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self.children: dict[int, int] = {}

    def serve(self) -> None:
        wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(wake_read, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == wake_read:
                    os.read(wake_read, 4096)
                    self._reap()
                    continue
                message = self.control.recv(MAX_MESSAGE)
                if not message:
                    self._end()
                    return
                self._spawn(json.loads(message))

    def _spawn(self, spec: dict[str, Any]) -> None:
        command_read, command_write = os.pipe2(os.O_CLOEXEC)
        result_read, result_write = os.pipe2(os.O_CLOEXEC)
        out_read, out_write = os.pipe2(os.O_CLOEXEC)
        err_read, err_write = os.pipe2(os.O_CLOEXEC)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                worker.main(
                    spec, (self.null, out_write, err_write, command_read, result_write), self.layers, self.readable
                )
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        self.children[child] = spec["id"]
        for descriptor in (command_read, result_write, out_write, err_write):
            os.close(descriptor)
        # A descriptor for the process itself: killing by number could hit another process that got the number later.
        process = os.pidfd_open(child)
        handles = [command_write, result_read, out_read, err_read, process]
        answer = json.dumps({"spawned": spec["id"], "pid": child}).encode()
        self.control.sendmsg([answer], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", handles))])
        for descriptor in handles:
            os.close(descriptor)

    def _reap(self) -> None:
        while self.children:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            number = self.children.pop(child)
            self.control.send(json.dumps({"ended": number, "code": os.waitstatus_to_exitcode(status)}).encode())

    def _end(self) -> None:
        for child in self.children:
            os.kill(child, signal.SIGKILL)  # not yet waited for, so the number is still theirs
        for child in self.children:
            os.waitpid(child, 0)
        sys.exit(0)
