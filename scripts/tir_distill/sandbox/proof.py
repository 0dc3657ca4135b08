"""The proof at start-up: an honest cell tries to escape in the ways that matter, judged from outside."""

from __future__ import annotations

import json
import os
import secrets
import socket
from typing import TYPE_CHECKING

from . import folder as folders
from .settings import SandboxFault

if TYPE_CHECKING:
    from .controller import Sandbox

_CELL = """
import json, os, socket
def attempt(action):
    try:
        return action()
    except BaseException as error:
        return None
def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    return True
def connect():
    with socket.create_connection(("127.0.0.1", PORT), 1):
        return True
def execute():
    return os.posix_spawn("/bin/true", ["true"], {})
print(json.dumps({
    "read": attempt(lambda: open(SECRET).read()),
    "environment": attempt(lambda: open("/proc/%d/environ" % CONTROLLER).read()),
    "write": attempt(lambda: open(OUTSIDE, "w").write("x")),
    "connect": attempt(connect),
    "fork": attempt(fork),
    "execute": attempt(execute),
    "own": attempt(lambda: open("own.txt", "w").write("x")),
}))
"""


async def prove(sandbox: Sandbox) -> list[str]:
    """What an escaping cell could do, in words; empty when every attempt failed. SandboxFault when it cannot run."""
    place = folders.host_folder() / f"proof-{secrets.token_hex(8)}"
    place.mkdir(mode=0o700)
    word = secrets.token_hex(16)
    (place / "secret").write_text(word)
    outside = place / "written"
    session = await sandbox.session()
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            head = (
                f"PORT, CONTROLLER = {listener.getsockname()[1]}, {os.getpid()}\n"
                f"SECRET, OUTSIDE = {str(place / 'secret')!r}, {str(outside)!r}\n"
            )
            result = await session.run(head + _CELL)
            escapes = []
            try:
                listener.accept()[0].close()
                escapes.append("connect to the network")
            except BlockingIOError:
                pass
        if result.status != "ok":
            raise SandboxFault(f"the proof at start-up could not run: {result.text}")
        said = json.loads(result.stdout)
        if word in result.text:
            escapes.append("read files outside its folder")
        if outside.exists():
            escapes.append("write files outside its folder")
        for key, words in (
            ("environment", "read the controller's environment"),
            ("fork", "start processes"),
            ("execute", "run programs"),
        ):
            if said[key]:
                escapes.append(words)
        if not said["own"]:
            raise SandboxFault("the proof at start-up could not run: a cell cannot write into its own folder")
        return escapes
    finally:
        await session.close()
        folders.remove(place)
