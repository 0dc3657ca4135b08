"""The system call filter, run instruction by instruction in a small interpreter, for both architectures."""

from __future__ import annotations

import errno
import struct

import pytest

from tir_distill.sandbox import seccomp, syscalls

PID = 4321
ALLOW = seccomp.ALLOW


def verdict(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    """What the kernel would do: an own reading of classic BPF (Linux filter.h), independent of the assembler."""
    code = seccomp.program(machine, PID)
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQ6Q", number, arch or syscalls.AUDIT_ARCH[machine], 0, *padded)
    steps = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    at = accumulator = 0
    while True:
        operation, yes, no, value = steps[at]
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x15:
            at += yes if accumulator == value else no
        elif operation == 0x25:
            at += yes if accumulator > value else no
        elif operation == 0x06:
            return value
        else:
            raise AssertionError(f"unknown operation {operation:#x}")


def refused(code: int) -> int:
    return seccomp.ERRNO | code


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_programs_fit_the_kernel(machine: str) -> None:
    assert len(seccomp.program(machine, PID)) // 8 <= 4096


@pytest.mark.parametrize(
    "name", ["read", "openat", "mmap", "futex", "newfstatat", "getrandom", "exit_group", "unlinkat"]
)
def test_allowed(machine: str, name: str) -> None:
    assert verdict(machine, syscalls.numbers(machine)[name]) == ALLOW


@pytest.mark.parametrize(
    ("x86_64", "aarch64"),
    [
        (41, 198),  # socket
        (42, 203),  # connect
        (49, 200),  # bind
        (46, 211),  # sendmsg
        (59, 221),  # execve
        (322, 281),  # execveat
        (101, 117),  # ptrace
        (272, 97),  # unshare
        (165, 40),  # mount
        (308, 268),  # setns
        (310, 270),  # process_vm_readv
        (425, 425),  # io_uring_setup
        (434, 434),  # pidfd_open
        (438, 438),  # pidfd_getfd
        (319, 279),  # memfd_create
        (29, 194),  # shmget
        (266, 36),  # symlinkat
        (265, 37),  # linkat
        (259, 33),  # mknodat
        (76, 45),  # truncate
        (321, 280),  # bpf
        (250, 219),  # keyctl
        (203, 122),  # sched_setaffinity
        (141, 140),  # setpriority
        (160, 164),  # setrlimit
        (129, 138),  # rt_sigqueueinfo
        (200, 130),  # tkill
        (294, 26),  # inotify_init1
        (135, 92),  # personality
    ],
)
def test_refused_with_an_errno(x86_64: int, aarch64: int) -> None:
    assert verdict("x86_64", x86_64) == refused(errno.EPERM)
    assert verdict("aarch64", aarch64) == refused(errno.EPERM)


def test_vanished_calls_and_other_abis(machine: str) -> None:
    assert verdict(machine, 435) == refused(errno.ENOSYS)  # clone3: glibc then uses clone
    assert verdict(machine, 9999) == refused(errno.ENOSYS)
    assert verdict(machine, 0x40000000 | 39) == refused(errno.ENOSYS)  # x32
    assert verdict(machine, 1, arch=0x40000003) == refused(errno.ENOSYS)  # 32-bit


def test_threads_but_no_processes(machine: str) -> None:
    number = syscalls.numbers(machine)["clone"]
    thread = 0x3D0F00  # glibc's pthread_create
    assert verdict(machine, number, thread) == ALLOW
    assert verdict(machine, number, 17) == refused(errno.EPERM)  # fork
    assert verdict(machine, number, thread | 0x10000000) == refused(errno.EPERM)
    for name in ("fork", "vfork"):
        assert name not in syscalls.numbers(machine)


def test_signals_to_itself_only(machine: str) -> None:
    table = syscalls.numbers(machine)
    for name in ("kill", "tgkill"):
        assert verdict(machine, table[name], PID, 9) == ALLOW
        for other in (1, PID + 1, 0, 0xFFFFFFFF, 2**64 - 1):
            assert verdict(machine, table[name], other, 9) == refused(errno.EPERM)


def test_argument_rules(machine: str) -> None:
    table = syscalls.numbers(machine)
    assert verdict(machine, table["prlimit64"], 0, 7, 0) == ALLOW
    assert verdict(machine, table["prlimit64"], 0, 7, 1 << 40) == refused(errno.EPERM)
    assert verdict(machine, table["prlimit64"], PID + 1, 7, 0) == refused(errno.EPERM)
    assert verdict(machine, table["socketpair"], 1, 1 | 0o2000000, 0) == ALLOW
    assert verdict(machine, table["socketpair"], 1, 2, 0) == refused(errno.EPERM)
    assert verdict(machine, table["socketpair"], 2, 1, 0) == refused(errno.EPERM)
    assert verdict(machine, table["sendto"], 5, 1, 1, 0, 0) == ALLOW
    assert verdict(machine, table["sendto"], 5, 1, 1, 0, 1 << 32) == refused(errno.EPERM)
    assert verdict(machine, table["openat"], 0, 0, 0o1000) == refused(errno.EPERM)  # O_RDONLY | O_TRUNC
    assert verdict(machine, table["openat"], 0, 0, 0o1101) == ALLOW  # O_WRONLY | O_CREAT | O_TRUNC
    assert verdict(machine, table["ioctl"], 1, 0x5401) == ALLOW
    assert verdict(machine, table["ioctl"], 1, 0x5412) == refused(errno.ENOTTY)  # TIOCSTI
    assert verdict(machine, table["fcntl"], 1, 8) == refused(errno.EPERM)  # F_SETOWN
    assert verdict(machine, table["prctl"], 1, 0) == refused(errno.EPERM)  # PR_SET_PDEATHSIG
    assert verdict(machine, table["fchmod"], 1, 0) == seccomp.ERRNO
    assert verdict(machine, table["fsetxattr"], 1) == refused(errno.ENOTSUP)
    assert verdict(machine, table["fallocate"], 1) == refused(errno.ENOTSUP)


def test_no_name_is_in_two_groups_and_all_have_numbers() -> None:
    groups = [
        *(syscalls.READ_WRITE, syscalls.FILES, syscalls.MEMORY, syscalls.THREADS_AND_TIME, syscalls.SELF),
        *(syscalls.CHECKED, syscalls.PRETENDED, syscalls.UNSUPPORTED, syscalls.MISSING),
    ]
    names = [name for group in groups for name in group.split()]
    assert len(names) == len(set(names))
    assert set(names) == set(syscalls.numbers("x86_64")) | set(syscalls.numbers("aarch64"))
    assert set(seccomp.checked_rules(1)) == set(syscalls.CHECKED.split())
