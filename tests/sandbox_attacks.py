# ruff: noqa: E501 - cells are kept as a model writes them
"""Attack cells in five families. Each names the effect by which it is judged from outside.

Effects: ``leak`` (the secret came out), ``written`` (something outside changed), ``connected`` (a listener heard it),
``victim`` (another process was touched), ``spawned`` (a process was started), ``said`` (a kernel facility answered: the
cell prints ESCAPED, for what leaves no trace outside). ``resource`` and ``protocol`` attacks are judged by limits and by
what the controller reports (see ``test_attacks.py``).

``control``: how the attack is shown to work without the sandbox: ``any`` user, ``root`` only, or ``none`` (resource
attacks on the machine itself, harness attacks without a harness).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attack:
    name: str
    family: str
    effect: str
    code: str
    control: str = "any"


def _attacks(family: str, text: str) -> list[Attack]:
    """Cells of one family from one text: each starts with ``### name effect [control]``."""
    found = []
    for part in text.split("### ")[1:]:
        head, _, code = part.partition("\n")
        name, effect, *control = head.split()
        found.append(Attack(f"{family}_{name}", family, effect, code.strip() + "\n", *control))
    return found


FILES = _attacks(
    "files",
    r"""
### read_env leak
print(open(SECRET).read())
### read_os leak
import os
print(os.read(os.open(SECRET, os.O_RDONLY), 999))
### read_pandas leak
import pandas as pd
print(pd.read_csv(SECRET, header=None).to_string())
### read_numpy leak
import numpy as np
print(np.fromfile(SECRET, dtype="u1").tobytes())
### read_mmap leak
import mmap, os
print(mmap.mmap(os.open(SECRET, os.O_RDONLY), 0, prot=mmap.PROT_READ)[:])
### read_ctypes leak
import ctypes
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
buffer = ctypes.create_string_buffer(200)
handle = libc.fopen(SECRET.encode(), b"r")
handle and libc.fread(buffer, 1, 199, ctypes.c_void_p(handle))
print(buffer.value)
### read_encoded leak
print(open(SECRET).read().encode().hex())
### read_in_traceback leak
raise ValueError(open(SECRET).read())
### read_as_picture leak
from PIL import Image
data = open(SECRET, "rb").read()
Image.frombytes("L", (len(data), 1), data).save("data.bmp")
print(open("data.bmp", "rb").read())
### symlink leak
import os
os.symlink(SECRET, "innocent.png")
print(open("innocent.png").read())
### symlink_collected leak
import os, shutil
try:
    os.symlink(SECRET, "link.png")
except OSError:
    pass
print(open("link.png").read())
### hardlink leak
import os
os.link(SECRET, "hard.txt")
print(open("hard.txt").read())
### walk_up leak
import os
where = os.path.relpath(SECRET, os.getcwd())
print(open(where).read())
### chdir leak
import os
os.chdir(os.path.dirname(SECRET))
print(open(".env").read())
### dirfd leak
import os
folder = os.open(os.path.dirname(SECRET), os.O_RDONLY)
print(os.read(os.open(".env", os.O_RDONLY, dir_fd=folder), 99))
### o_path leak
import os
handle = os.open(SECRET, os.O_PATH)
print(open(f"/proc/self/fd/{handle}").read())
### proc_root leak
print(open("/proc/self/root" + SECRET).read())
### proc_victim_root leak
print(open(f"/proc/{VICTIM}/root" + SECRET).read())
### sibling_read leak
print(open(SIBLING + "/answer.txt").read())
### sibling_list said
import os
print("ESCAPED" if "answer.txt" in os.listdir(SIBLING) else "")
### sibling_write written
open(SIBLING + "/answer.txt", "w").write("forged")
### write_new written
open(OUTSIDE + "/new.txt", "w").write("x")
### write_append written
open(OUTSIDE + "/kept.txt", "a").write("x")
### truncate_path written
import os
os.truncate(OUTSIDE + "/kept.txt", 0)
### truncate_read_only written
import os
os.open(OUTSIDE + "/kept.txt", os.O_RDONLY | os.O_TRUNC)
### remove written
import os
os.remove(OUTSIDE + "/kept.txt")
### rename_out written
import os
open("mine.txt", "w").write("x")
os.rename("mine.txt", OUTSIDE + "/kept.txt")
### make_folder written
import os
os.mkdir(OUTSIDE + "/folder")
### chmod written
import os
os.chmod(OUTSIDE + "/kept.txt", 0o777)
### chmod_syscall written
import ctypes
ctypes.CDLL(None).chmod(OUTSIDE.encode(), 0)
### utime written
import os
os.utime(OUTSIDE + "/kept.txt", (1, 1))
### chown written root
import os
os.chown(OUTSIDE + "/kept.txt", 1, 1)
### numpy_save written
import numpy as np
np.save(OUTSIDE + "/array", np.zeros(3))
### savefig_out written
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig(OUTSIDE + "/plot.png")
### sqlite_out written
import sqlite3
sqlite3.connect(OUTSIDE + "/base.db").execute("create table t (a)").connection.commit()
### unix_socket_file written
import socket
socket.socket(socket.AF_UNIX).bind(OUTSIDE + "/mine.sock")
### fifo written
import os
os.mkfifo(OUTSIDE + "/fifo")
### list_outside said
import os
print("ESCAPED" if "kept.txt" in os.listdir(OUTSIDE) else "")
### passwd said
print("ESCAPED" if "root:" in open("/etc/passwd").read() else "")
### shm said
open("/dev/shm/tir-attack", "w").write("x")
print("ESCAPED")
import os
os.remove("/dev/shm/tir-attack")
### tmp_write said
import os
open("/tmp/tir-attack", "w").write("x")
print("ESCAPED")
os.remove("/tmp/tir-attack")
### handle_open leak root
import ctypes, os, struct
libc = ctypes.CDLL(None)
handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0) + bytes(128), 136)
mount = ctypes.c_int()
libc.name_to_handle_at(-100, SECRET.encode(), handle, ctypes.byref(mount), 0)
folder = os.open("/tmp" if os.path.exists("/tmp") else ".", os.O_RDONLY)
print(os.read(libc.open_by_handle_at(folder, handle, 0), 99))
### openat2 leak
import ctypes, os, struct
how = ctypes.create_string_buffer(struct.pack("=QQQ", os.O_RDONLY, 0, 0), 24)
print(os.read(ctypes.CDLL(None).syscall(437, -100, SECRET.encode(), how, 24), 99))
### copy_file leak
import shutil
shutil.copy(SECRET, "mine.txt")
print(open("mine.txt").read())
### rename_in leak
import os
os.rename(SECRET, "mine.txt")
print(open("mine.txt").read())
### sqlite_attach leak
import sqlite3
base = sqlite3.connect(":memory:")
base.execute("create table t (a)")
import pathlib
base.execute("insert into t values (?)", (pathlib.Path(SECRET).read_text(),))
print(base.execute("select * from t").fetchall())
### lock_outside said
import fcntl
fcntl.flock(open(OUTSIDE + "/kept.txt"), fcntl.LOCK_EX)
print("ESCAPED")
### xattr_outside said
import os
os.setxattr(OUTSIDE + "/kept.txt", "user.tir", b"x")
print("ESCAPED" if os.getxattr(OUTSIDE + "/kept.txt", "user.tir") == b"x" else "")
### fanotify said root
import ctypes
print("ESCAPED" if ctypes.CDLL(None).fanotify_init(0, 0) >= 0 else "")
### mount said root
import ctypes, os
os.mkdir("m")
print("ESCAPED" if ctypes.CDLL(None).mount(b"tmpfs", b"m", b"tmpfs", 1 << 1, None) == 0 else "")
ctypes.CDLL(None).umount2(b"m", 2)
### device_node said root
import os
os.mknod("disk", 0o600 | 0o020000, os.makedev(1, 5))
print("ESCAPED")
### proc_listing said
import os
print("ESCAPED" if any(name.isdigit() for name in os.listdir("/proc")) else "")
""",
)

NETWORK = _attacks(
    "network",
    r"""
### tcp connected
import socket
socket.create_connection(("127.0.0.1", PORT), 2).send(b"x")
### urllib connected
import urllib.request
urllib.request.urlopen(f"http://127.0.0.1:{PORT}/", timeout=1)
### http_client connected
import http.client
http.client.HTTPConnection("127.0.0.1", PORT, timeout=1).request("GET", "/")
### pandas_url connected
import pandas as pd, socket
socket.setdefaulttimeout(1)
pd.read_csv(f"http://127.0.0.1:{PORT}/a.csv")
### udp connected
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", UDP_PORT))
### udp_ctypes connected
import ctypes, socket, struct
libc = ctypes.CDLL(None)
handle = libc.socket(2, 2, 0)
address = struct.pack("=HH4s8x", 2, socket.htons(UDP_PORT), socket.inet_aton("127.0.0.1"))
libc.sendto(handle, b"x", 1, 0, address, len(address))
### unix_path connected
import socket
socket.socket(socket.AF_UNIX).connect(UNIX)
### unix_abstract connected
import socket
socket.socket(socket.AF_UNIX).connect(ABSTRACT)
### asyncio connected
import asyncio
async def main():
    await asyncio.wait_for(asyncio.open_connection("127.0.0.1", PORT), 2)
asyncio.run(main())
### thread connected
import socket, threading
def work():
    socket.create_connection(("127.0.0.1", PORT), 2)
thread = threading.Thread(target=work)
thread.start()
thread.join()
### socketpair_dgram said
import socket
socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
print("ESCAPED")
### pair_connect connected
import ctypes, socket
left, right = socket.socketpair()
path = UNIX.encode()
address = b"\x01\x00" + path + b"\x00"
ctypes.CDLL(None).connect(left.fileno(), address, len(address))
socket.socket(socket.AF_UNIX).connect(UNIX)
### sendto_address connected
import socket
left, right = socket.socketpair()
try:
    left.sendto(b"x", UNIX)
finally:
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect(UNIX)
### listen said
import socket
socket.create_server(("127.0.0.1", 0))
print("ESCAPED")
### bind_any said
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind(("0.0.0.0", 0))
print("ESCAPED")
### netlink said
import socket
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
print("ESCAPED")
### packet said root
import socket
socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
print("ESCAPED")
### raw said root
import socket
socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
print("ESCAPED")
### vsock said
import socket
socket.socket(40, socket.SOCK_STREAM)
print("ESCAPED")
### opencv_url connected
import os
os.environ["OPENCV_FFMPEG_CAPTURE_OPTIONS"] = "timeout;1000000"
import cv2
cv2.VideoCapture(f"http://127.0.0.1:{PORT}/video.avi", cv2.CAP_FFMPEG, [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, 1000])
import socket
socket.create_connection(("127.0.0.1", PORT), 2)
### resolver said
import socket
print("ESCAPED" if socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM)[0][4][1] == 80
      and socket.socket() else "")
### fd_passing said
import socket
left, right = socket.socketpair()
socket.send_fds(left, [b"x"], [0])
print("ESCAPED" if socket.recv_fds(right, 1, 1)[1] else "")
### kernel_crypto said none
import socket
socket.socket(38, socket.SOCK_SEQPACKET)
print("ESCAPED")
### tcp_fastopen connected
import socket
handle = socket.socket()
handle.sendto(b"x", 0x20000000, ("127.0.0.1", PORT))
### dual_stack connected
import socket
socket.socket(socket.AF_INET6).connect(("::ffff:127.0.0.1", PORT))
### sendmmsg connected
import ctypes, socket
handle = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
handle.sendmsg([b"x"], [], 0, ("127.0.0.1", UDP_PORT))
""",
)

PROCESSES = _attacks(
    "processes",
    r"""
### fork said
import os
child = os.fork()
if child == 0:
    os._exit(0)
print("ESCAPED")
### vfork_exec spawned
import subprocess
subprocess.Popen(["sh", "-c", "sleep 3; : " + MARKER])
### os_system spawned
import os
os.system("(sleep 3; : " + MARKER + ") & ")
### posix_spawn spawned
import os
os.posix_spawn("/bin/sh", ["sh", "-c", "sleep 3; : " + MARKER], {})
### exec_self spawned
import os
os.execv("/bin/sh", ["sh", "-c", "sleep 3; : " + MARKER])
### run_script written
import subprocess
subprocess.run(["/bin/sh", OUTSIDE + "/run.sh"])
### pty said
import pty, os
child, handle = pty.fork()
if child == 0:
    os._exit(0)
print("ESCAPED")
### multiprocessing said
import multiprocessing
context = multiprocessing.get_context("fork")
process = context.Process(target=print)
process.start()
process.join()
print("ESCAPED")
### clone_raw said
import ctypes, os
number = 56 if os.uname().machine == "x86_64" else 220
child = ctypes.CDLL(None).syscall(number, 17, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
print("ESCAPED" if child > 0 else "")
### clone3_raw said
import ctypes, os, struct
arguments = ctypes.create_string_buffer(struct.pack("=8Q", 0, 0, 0, 0, 17, 0, 0, 0), 64)
child = ctypes.CDLL(None).syscall(435, arguments, 64)
if child == 0:
    os._exit(0)
print("ESCAPED" if child > 0 else "")
### clone_namespace said root
import ctypes, os
number = 56 if os.uname().machine == "x86_64" else 220
child = ctypes.CDLL(None).syscall(number, 17 | 0x10000000, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
print("ESCAPED" if child > 0 else "")
### kill_victim victim
import os, signal
os.kill(VICTIM, signal.SIGKILL)
import time
time.sleep(0.2)
### stop_victim victim
import os, signal
os.kill(VICTIM, signal.SIGSTOP)
import time
time.sleep(0.2)
### pidfd_signal victim
import os, signal, time
signal.pidfd_send_signal(os.pidfd_open(VICTIM), signal.SIGKILL)
time.sleep(0.2)
### tgkill victim
import ctypes, os, time
number = 234 if os.uname().machine == "x86_64" else 131
ctypes.CDLL(None).syscall(number, VICTIM, VICTIM, 9)
time.sleep(0.2)
### sigqueue victim
import ctypes, os, struct, time
number = 129 if os.uname().machine == "x86_64" else 138
info = ctypes.create_string_buffer(struct.pack("=iii", 9, 0, -1) + bytes(116), 128)
ctypes.CDLL(None).syscall(number, VICTIM, 9, info)
time.sleep(0.2)
### nice_victim victim
import os
os.setpriority(os.PRIO_PROCESS, VICTIM, 15)
### affinity_victim victim
import os
os.sched_setaffinity(VICTIM, {min(os.sched_getaffinity(0))})
### prlimit_victim victim
import resource
resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (17, 17))
### ptrace said
import ctypes
print("ESCAPED" if ctypes.CDLL(None).ptrace(16, VICTIM, 0, 0) == 0 else "")
### read_memory leak
import ctypes
maps = open(f"/proc/{VICTIM}/maps").read()
start = next(line for line in maps.splitlines() if "[stack]" in line).split("-")
low, high = int(start[0], 16), int(start[1].split()[0], 16)
with open(f"/proc/{VICTIM}/mem", "rb") as memory:
    memory.seek(low)
    data = memory.read(high - low)
at = data.find(b"API_KEY=")
print(data[at : at + 60])
### vm_readv leak
import ctypes, os
maps = open(f"/proc/{VICTIM}/maps").read()
start = next(line for line in maps.splitlines() if "[stack]" in line).split("-")
low, high = int(start[0], 16), int(start[1].split()[0], 16)
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(high - low)
here, there = Vector(ctypes.addressof(buffer), high - low), Vector(low, high - low)
ctypes.CDLL(None).process_vm_readv(VICTIM, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
at = buffer.raw.find(b"API_KEY=")
print(buffer.raw[at : at + 60])
### environ_victim leak
print(open(f"/proc/{VICTIM}/environ").read())
### environ_all leak
import glob
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        print(open(path).read())
    except OSError:
        pass
### pidfd_getfd said
import ctypes, os
pidfd = os.pidfd_open(VICTIM)
got = ctypes.CDLL(None).syscall(438, pidfd, 1, 0)
print("ESCAPED" if got >= 0 else "")
### unshare_user said
import ctypes
print("ESCAPED" if ctypes.CDLL(None).unshare(0x10000000) == 0 else "")
### unshare_mounts said root
import ctypes
print("ESCAPED" if ctypes.CDLL(None).unshare(0x00020000) == 0 else "")
### setns said root
import ctypes, os
handle = os.open(f"/proc/{VICTIM}/ns/net", os.O_RDONLY)
print("ESCAPED" if ctypes.CDLL(None).setns(handle, 0) == 0 else "")
### chroot said root
import os
os.mkdir("r")
os.chroot("r")
print("ESCAPED")
### memfd_exec said
import os
handle = os.memfd_create("x")
print("ESCAPED")
### shm_sysv said
import ctypes
got = ctypes.CDLL(None).shmget(0, 4096, 0o1600)
print("ESCAPED" if got >= 0 else "")
got >= 0 and ctypes.CDLL(None).shmctl(got, 0, 0)
### io_uring said
import ctypes
parameters = ctypes.create_string_buffer(120)
got = ctypes.CDLL(None).syscall(425, 4, parameters)
print("ESCAPED" if got >= 0 else "")
### keyctl said
import ctypes, os
number = 250 if os.uname().machine == "x86_64" else 219
print("ESCAPED" if ctypes.CDLL(None).syscall(number, 0, -3, 1) > 0 else "")
### inotify said
import ctypes
got = ctypes.CDLL(None).inotify_init1(0)
print("ESCAPED" if got >= 0 else "")
### personality said
import ctypes
print("ESCAPED" if ctypes.CDLL(None).personality(0x0040000) >= 0 else "")
### raise_limit said
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
print("ESCAPED")
### death_signal said
import ctypes
print("ESCAPED" if ctypes.CDLL(None).prctl(1, 0) == 0 else "")
### x32_call said none
import ctypes
print("ESCAPED" if ctypes.CDLL(None).syscall(0x40000000 + 39) > 0 else "")
### scheduler said
import os
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
print("ESCAPED")
### setuid said root
import os
os.setresuid(1, 1, 1)
print("ESCAPED")
### vfork said none
import ctypes
print("ESCAPED" if ctypes.CDLL(None).syscall(58) >= 0 else "")
### signal_parent said
import os
os.kill(os.getppid(), 0)
print("ESCAPED")
### signal_everybody said
import os
os.kill(-1, 0)
print("ESCAPED")
### signal_controller said
import os
os.kill(CONTROLLER, 0)
print("ESCAPED")
### trace_me said none
import ctypes
print("ESCAPED" if ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0 else "")
### vm_writev said
import ctypes
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
maps = open(f"/proc/{VICTIM}/maps").read()
start = next(line for line in maps.splitlines() if "[heap]" in line).split("-")[0]
buffer = ctypes.create_string_buffer(1)
libc = ctypes.CDLL(None)
here, there = Vector(ctypes.addressof(buffer), 1), Vector(int(start, 16), 1)
libc.process_vm_readv(VICTIM, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
print("ESCAPED" if libc.process_vm_writev(VICTIM, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 1 else "")
### kcmp said
import ctypes, os
number = 312 if os.uname().machine == "x86_64" else 272
print("ESCAPED" if ctypes.CDLL(None).syscall(number, os.getpid(), VICTIM, 1, 0, 0) >= 0 else "")
### userfaultfd said
import ctypes, os
number = 323 if os.uname().machine == "x86_64" else 282
print("ESCAPED" if ctypes.CDLL(None).syscall(number, 1) >= 0 else "")
### bpf said root
import ctypes, os, struct
number = 321 if os.uname().machine == "x86_64" else 280
attributes = ctypes.create_string_buffer(struct.pack("=IIIII", 2, 4, 4, 1, 0), 72)
print("ESCAPED" if ctypes.CDLL(None).syscall(number, 0, attributes, 72) >= 0 else "")
### perf said root
import ctypes, os, struct
number = 298 if os.uname().machine == "x86_64" else 241
attributes = ctypes.create_string_buffer(struct.pack("=IIQ", 1, 112, 0) + bytes(96), 112)
print("ESCAPED" if ctypes.CDLL(None).syscall(number, attributes, 0, -1, -1, 0) >= 0 else "")
### add_key said
import ctypes, os
number = 248 if os.uname().machine == "x86_64" else 217
print("ESCAPED" if ctypes.CDLL(None).syscall(number, b"user", b"tir", b"x", 1, -2) >= 0 else "")
### semaphore_sysv said
import ctypes
got = ctypes.CDLL(None).semget(0, 1, 0o1600)
print("ESCAPED" if got >= 0 else "")
got >= 0 and ctypes.CDLL(None).semctl(got, 0, 0)
### queue_sysv said
import ctypes
got = ctypes.CDLL(None).msgget(0, 0o1600)
print("ESCAPED" if got >= 0 else "")
got >= 0 and ctypes.CDLL(None).msgctl(got, 0, 0)
### queue_posix said
import ctypes
libc = ctypes.CDLL(None)
got = libc.mq_open(b"/tir-attack", 0o102, 0o600, None)
print("ESCAPED" if got >= 0 else "")
libc.mq_unlink(b"/tir-attack")
### semaphore_posix said
import ctypes
libc = ctypes.CDLL(None)
libc.sem_open.restype = ctypes.c_void_p
print("ESCAPED" if libc.sem_open(b"/tir-attack", 0o100, 0o600, 1) else "")
libc.sem_unlink(b"/tir-attack")
### core_pattern said root
print("ESCAPED" if open("/proc/sys/kernel/core_pattern", "r+") else "")
### oom_score said
open("/proc/self/oom_score_adj", "w").write("500")
print("ESCAPED")
""",
)

PROTOCOL = _attacks(
    "protocol",
    r"""
### exit_zero protocol none
import os
os._exit(0)
### exit_after_print protocol none
import os
print("42")
os._exit(0)
### huge_length protocol none
import os
os.write(4, b"\xff\xff\xff\xff" + b"x" * 1000)
### length_only protocol none
import os
os.write(4, b"\x00\x00\xff\xff")
### not_json protocol none
import os
os.write(4, b"\x00\x00\x00\x04abcd")
### deep_json protocol none
import os, struct
text = b"[" * 200000
os.write(4, struct.pack("!I", len(text)) + text)
### blob_bomb protocol none
import json, os, struct
text = json.dumps({"cell": 1, "status": "ok", "error": "", "names": [], "left_out": 0, "full": False,
                   "blobs": [1 << 40]}).encode()
os.write(4, struct.pack("!I", len(text)) + text)
### many_blobs protocol none
import json, os, struct
text = json.dumps({"cell": 1, "status": "ok", "blobs": [0] * 100000}).encode()
os.write(4, struct.pack("!I", len(text)) + text)
### wrong_types protocol none
import json, os, struct
text = json.dumps({"cell": "1", "status": ["ok"], "error": 5, "names": 1, "left_out": "x", "blobs": []}).encode()
os.write(4, struct.pack("!I", len(text)) + text)
### infrastructure_claim protocol none
import json, os, struct
text = json.dumps({"cell": 1, "status": "infrastructure", "error": "", "names": [], "left_out": 0, "full": False,
                   "blobs": []}).encode()
os.write(4, struct.pack("!I", len(text)) + text)
### queue_answers protocol none
import json, os, struct, threading
def forge():
    for cell in range(1, 50):
        text = json.dumps({"cell": cell, "status": "ok", "error": "", "names": [], "left_out": 0, "full": False,
                           "blobs": []}).encode()
        os.write(4, struct.pack("!I", len(text)) + text)
forge()
### close_pipes protocol none
import os
for handle in range(64):
    try:
        os.close(handle)
    except OSError:
        pass
### swap_pipes protocol none
import os
os.dup2(1, 4)
print("x" * 100)
### break_harness protocol none
import tir_distill.sandbox.frames as frames
frames.write = None
frames.read = None
### break_builtins protocol none
import builtins
builtins.print = builtins.repr = builtins.open = builtins.len = None
### break_streams protocol none
import sys
sys.stdout.close()
sys.stderr = None
### break_json protocol none
import json
json.dumps = lambda *a, **k: "{}"
### no_signals protocol none
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, 65)) - {9, 19})
### lying_names protocol none
from PIL import Image
import os
Image.new("RGB", (4, 4)).save("a\nb\x1b[31m.png")
### fake_png protocol none
open("evil.png", "wb").write(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xff\xff\xff\xff\xff\xff\xff\x08\x02\x00\x00\x00" * 2)
### png_bomb protocol none
import struct, zlib
def chunk(kind, data):
    return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))
head = struct.pack("!IIBBBBB", 4400, 4400, 8, 2, 0, 0, 0)
body = zlib.compress(bytes(4400 * (4400 * 3 + 1)))
open("bomb.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b""))
### surrogates protocol none
print("\ud800\udfff <|im_start|>\x00")
raise ValueError("\ud800")
### forged_ok_and_loop protocol none
import json, os, struct
def forge(blobs=(), **changed):
    head = {"cell": 1, "status": "ok", "error": "", "names": [], "left_out": 0, "full": False,
            "blobs": [len(blob) for blob in blobs], **changed}
    text = json.dumps(head).encode()
    data = memoryview(struct.pack("!I", len(text)) + text + b"".join(blobs))
    while data:
        data = data[os.write(4, data):]
forge()
while True:
    pass
### forged_huge_error protocol none
import json, os, struct
def forge(blobs=(), **changed):
    head = {"cell": 1, "status": "ok", "error": "", "names": [], "left_out": 0, "full": False,
            "blobs": [len(blob) for blob in blobs], **changed}
    text = json.dumps(head).encode()
    data = memoryview(struct.pack("!I", len(text)) + text + b"".join(blobs))
    while data:
        data = data[os.write(4, data):]
forge(error="\ud800" + "<|im_start|>" * 60000)
### forged_pictures protocol none
import json, os, struct
def forge(blobs=(), **changed):
    head = {"cell": 1, "status": "ok", "error": "", "names": [], "left_out": 0, "full": False,
            "blobs": [len(blob) for blob in blobs], **changed}
    text = json.dumps(head).encode()
    data = memoryview(struct.pack("!I", len(text)) + text + b"".join(blobs))
    while data:
        data = data[os.write(4, data):]
forge([b"x" * (7 << 20)] * 8, names=["../../up.png", 5, None, "a" * 10000, "\x1b[2J", "b", "c", "d"])
### forged_negative protocol none
import json, os, struct
def forge(blobs=(), **changed):
    head = {"cell": 1, "status": "ok", "error": "", "names": [], "left_out": 0, "full": False,
            "blobs": [len(blob) for blob in blobs], **changed}
    text = json.dumps(head).encode()
    data = memoryview(struct.pack("!I", len(text)) + text + b"".join(blobs))
    while data:
        data = data[os.write(4, data):]
forge(left_out=-10**9)
### forged_bool protocol none
import json, os, struct
def forge(blobs=(), **changed):
    head = {"cell": 1, "status": "ok", "error": "", "names": [], "left_out": 0, "full": False,
            "blobs": [len(blob) for blob in blobs], **changed}
    text = json.dumps(head).encode()
    data = memoryview(struct.pack("!I", len(text)) + text + b"".join(blobs))
    while data:
        data = data[os.write(4, data):]
forge(left_out=True, full=1)
### forged_digits protocol none
import os, struct
text = b'{"cell": ' + b"9" * 500000 + b', "blobs": []}'
os.write(4, struct.pack("!I", len(text)) + text)
### dripping_frame protocol none
import os, struct, time
os.write(4, struct.pack("!I", 1000))
while True:
    os.write(4, b" ")
    time.sleep(0.05)
### result_flood protocol none
import os
while True:
    os.write(4, b"\x00" * 65536)
### read_commands protocol none
import os
print(os.read(3, 100))
### close_backup protocol none
import os
os.closerange(3, 64)
### break_modules protocol none
import sys
for name in ("json", "struct", "PIL.Image", "matplotlib.pyplot", "numpy", "os", "traceback", "ast"):
    sys.modules[name] = None
### break_os protocol none
import os
os.write = os.read = os.dup2 = os.chdir = None
### break_struct protocol none
import struct
struct.pack = lambda *a: b""
### break_hooks protocol none
import sys
sys.excepthook = sys.displayhook = sys.unraisablehook = lambda *a: 1 / 0
class Bad:
    def __del__(self):
        raise SystemExit
Bad()
1 / 0
### break_compile protocol none
import ast, builtins
ast.parse = builtins.compile = builtins.exec = lambda *a, **k: None
### at_exit protocol none
import atexit, os, threading
atexit.register(lambda: os.write(4, b"x" * 100))
threading._register_atexit(lambda: os.write(4, b"x" * 100))
### delayed_del protocol none
import os
class Late:
    def __del__(self):
        os.write(4, b"x" * 100)
late = Late()
### cwd_gone protocol none
import os
os.mkdir("d")
os.chdir("d")
os.rmdir("../d")
### odd_names protocol none
import os
from PIL import Image
for name in (b"\xff\n.png", b"\xe2\x80\xae.png", b"-rf .png", b"a" * 251 + b".png"):
    Image.new("RGB", (3, 3)).save("plain.png")
    os.rename(b"plain.png", name)
### fifo_picture protocol none
import os
try:
    os.mkfifo("p.png")
except OSError:
    pass
### device_link protocol none
import os
for at in range(5):
    try:
        os.symlink("/dev/zero", f"z{at}.png")
    except OSError:
        pass
### picture_folder protocol none
import os
os.mkdir("folder.png")
os.mkdir("image_1.png")
os.mkdir("input_image.jpg")
### no_rights protocol none
import os
from PIL import Image
Image.new("RGB", (3, 3)).save("a.png")
os.umask(0o777)
open("b.png", "wb").write(open("a.png", "rb").read())
os.mkdir("closed", 0)
### escapes protocol none
print("\x1b]0;title\x07\x1b[2J\x9b31m", "\r" * 100, "\u202e\u2066")
### invalid_utf8 protocol none
import os
os.write(1, b"\xff\xfe\x00\xf0\x28" * 1000)
### bad_exception protocol none
class Odd(BaseException):
    __str__ = __repr__ = None
    __module__ = 5
    __cause__ = property(lambda self: 1 / 0)
raise Odd
### group_of_groups protocol none
error = ValueError("x")
for _ in range(2000):
    error = ExceptionGroup("g" * 1000, [error])
raise error
""",
)

RESOURCES = _attacks(
    "resources",
    r"""
### loop resource none
while True:
    pass
### swallowing_loop resource none
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
### sleep resource none
import time
while True:
    try:
        time.sleep(1000)
    except BaseException:
        pass
### c_loop resource none
sum(range(10**12))
### pow resource none
9 ** 9 ** 9 ** 9
### regex resource none
import re
re.match(r"(a|a)*$", "a" * 60 + "b")
### memory resource none
held = []
while True:
    held.append(bytearray(1 << 20))
### memory_shared resource none
import mmap
held = []
while True:
    held.append(mmap.mmap(-1, 1 << 24))
    held[-1].write(b"x" * (1 << 24))
### memory_numpy resource none
import numpy as np
held = [np.ones(1 << 20) for _ in range(10**6)]
### flood resource none
while True:
    print("x" * 4096)
### flood_stderr resource none
import os
while True:
    os.write(2, b"x" * 65536)
### disk resource none
with open("big", "wb") as handle:
    while True:
        handle.write(bytes(1 << 20))
### disk_many resource none
at = 0
while True:
    open(f"f{at}", "wb").write(bytes(1 << 20))
    at += 1
### disk_deleted resource none
import os
held = []
for at in range(40):
    held.append(open(f"f{at}", "wb", buffering=0))
    os.unlink(f"f{at}")
while True:
    for handle in held:
        handle.write(bytes(1 << 20))
### disk_tmpfile resource none
import os
held = [os.open(".", os.O_TMPFILE | os.O_RDWR) for _ in range(40)]
while True:
    for handle in held:
        os.write(handle, bytes(1 << 20))
### fallocate resource none
import os
for at in range(100):
    os.posix_fallocate(os.open(f"f{at}", os.O_RDWR | os.O_CREAT), 0, 30 << 20)
### entries resource none
import os
at = 0
while True:
    os.mkdir(f"d{at}")
    at += 1
### depth resource none
import os
while True:
    os.mkdir("d")
    os.chdir("d")
### threads resource none
import threading, time
threading.stack_size(65536)
while True:
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
### descriptors resource none
import os
held = []
while True:
    held.append(os.open("/dev/null", os.O_RDONLY))
### recursion resource none
import sys
sys.setrecursionlimit(10**9)
def down():
    down()
down()
### timer_off resource none
import signal
signal.setitimer(signal.ITIMER_PROF, 0)
signal.setitimer(signal.ITIMER_REAL, 0)
while True:
    pass
### str_hangs resource none
class Slow(Exception):
    def __str__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
raise Slow
### repr_hangs resource none
class Slow:
    def __repr__(self):
        while True:
            pass
Slow()
### figure_hangs resource none
import matplotlib.pyplot as plt
figure = plt.figure()
def draw(*_):
    while True:
        pass
figure.draw = draw
figure.get_size_inches = draw
### many_pictures resource none
from PIL import Image
for at in range(60):
    Image.new("RGB", (10, 10 + at)).save(f"p{at}.png")
    Image.new("RGB", (20, 10 + at)).show()
### left_thread resource none
import threading
def work():
    at = 0
    while True:
        at += 1
        open(f"late{at % 10}", "wb").write(bytes(1 << 20))
threading.Thread(target=work, daemon=True).start()
### zip_bomb resource none
import io, zipfile
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("a", bytes(200 << 20))
zipfile.ZipFile(buffer).extractall(".")
### settrace resource none
import sys, threading
def hang(*_):
    while True:
        pass
sys.setprofile(hang)
### timer_ignored resource none
import signal
signal.signal(signal.SIGPROF, signal.SIG_IGN)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
while True:
    pass
### handler_repr_hangs resource none
import signal
class Handler:
    def __call__(self, *_): pass
    def __repr__(self):
        while True:
            pass
signal.signal(signal.SIGPROF, Handler())
### stop_self resource none
import os, signal
os.kill(os.getpid(), signal.SIGSTOP)
### forged_name resource none
import ctypes
ctypes.CDLL(None).prctl(15, b") Z 0 0 0 0 0", 0, 0, 0)
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
### flood_one_line resource none
import sys
while True:
    sys.stdout.write("x" * (1 << 20))
### huge_figure resource none
import matplotlib.pyplot as plt
plt.figure(figsize=(30000, 30000))
plt.plot([1, 2])
plt.savefig("huge.png")
### many_figures resource none
import matplotlib.pyplot as plt
for _ in range(10000):
    plt.figure(figsize=(1, 1))
### huge_picture resource none
from PIL import Image
Image.new("RGB", (33000, 33000)).show()
### huge_repr resource none
"x" * (200 << 20)
### deep_repr resource none
deep = []
for _ in range(10**6):
    deep = [deep]
deep
### huge_int resource none
10 ** 10 ** 8
### huge_code resource none
exec("x = [" + "1," * 3_000_000 + "]")
### nested_code resource none
eval("(" * 100000 + ")" * 100000)
### gil_held resource none
import re
re.compile(r"(x+x+)+y").match("x" * 40)
### big_sort resource none
sorted(range(10**9), key=lambda value: -value)
### disk_hidden resource none
import os
for at in range(20):
    os.mkdir(f"d{at}", 0o300)
    for part in range(3):
        with open(f"d{at}/f{part}", "wb") as handle:
            handle.write(bytes(20 << 20))
while True:
    pass
### disk_mapped resource none
import mmap, os
held = []
while True:
    handle = os.open("f", os.O_RDWR | os.O_CREAT)
    os.ftruncate(handle, 16 << 20)
    held.append(mmap.mmap(handle, 16 << 20))
    held[-1].write(b"x" * (16 << 20))
    os.close(handle)
    os.unlink("f")
### disk_sparse_mapped resource none
import mmap, os
held = []
for at in range(30):
    handle = os.open(f"f{at}", os.O_RDWR | os.O_CREAT)
    os.ftruncate(handle, 8 << 20)
    held.append(mmap.mmap(handle, 8 << 20))
    os.close(handle)
while True:
    for item in held:
        item[:] = b"x" * len(item)
### disk_threads resource none
import os, threading
data = bytes(16 << 20)
def work(name):
    at = 0
    while True:
        handle = os.open(f"{name}-{at}", os.O_RDWR | os.O_CREAT)
        for _ in range(3):
            os.write(handle, data)
        os.close(handle)
        at += 1
for name in "abcd":
    threading.Thread(target=work, args=(name,), daemon=True).start()
while True:
    pass
### disk_copied resource none
import os
with open("source", "wb") as handle:
    handle.write(bytes(8 << 20))
at = 0
source = os.open("source", os.O_RDONLY)
while True:
    target = os.open(f"c{at}", os.O_RDWR | os.O_CREAT)
    os.sendfile(target, source, 0, 8 << 20)
    os.close(target)
    at += 1
### disk_huge_length resource none
import os
handle = os.open("f", os.O_RDWR | os.O_CREAT)
os.ftruncate(handle, 1 << 40)
### disk_after_answer resource none
import json, os, struct
text = json.dumps({"cell": 1, "status": "ok", "error": "", "names": [], "left_out": 0, "full": False,
                   "blobs": []}).encode()
os.write(4, struct.pack("!I", len(text)) + text)
data = bytes(1 << 20)
for at in range(40):
    handle = open(f"f{at}", "wb", buffering=0)
    for _ in range(20):
        handle.write(data)
### long_names resource none
import os
at = 0
while True:
    os.mkdir(f"{at:0250d}")
    at += 1
### deep_and_closed resource none
import os
for _ in range(500):
    os.mkdir("d", 0o300)
    os.chdir("d")
### sleeping_children resource none
import subprocess, time
try:
    subprocess.Popen(["sleep", "1000"])
except OSError:
    pass
while True:
    try:
        time.sleep(1000)
    except BaseException:
        pass
""",
)

ATTACKS = [*FILES, *NETWORK, *PROCESSES, *PROTOCOL, *RESOURCES]
