"""Which system calls a cell may make, and their numbers on the two architectures that are supported.

Found by running the normal-work corpus (tests/security) under the filter: NumPy with OpenBLAS, OpenCV, matplotlib,
sqlite, zip and tar archives, temporary files, threads, ``asyncio.run``. Everything that is not named here is refused.
"""

from __future__ import annotations

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
HIGHEST_KNOWN = 461
"""Numbers above are answered with ENOSYS, so that a C library tries its older way; below with EPERM."""

NUMBERS = """
read 0 63; write 1 64; readv 19 65; writev 20 66; pread64 17 67; pwrite64 18 68; preadv 295 69; pwritev 296 70;
preadv2 327 286; pwritev2 328 287; lseek 8 62; close 3 57; close_range 436 436; dup 32 23; dup2 33 -; dup3 292
24; pipe 22 -; pipe2 293 59; poll 7 -; ppoll 271 73; select 23 -; pselect6 270 72; epoll_create 213 -;
epoll_create1 291 20; epoll_ctl 233 21; epoll_wait 232 -; epoll_pwait 281 22; epoll_pwait2 441 441; eventfd 284
-; eventfd2 290 19; timerfd_create 283 85; timerfd_settime 286 86; timerfd_gettime 287 87; signalfd4 289 74;
flock 73 32; sendfile 40 71; copy_file_range 326 285; fstat 5 80; stat 4 -; lstat 6 -; newfstatat 262 79; statx
332 291; statfs 137 43; fstatfs 138 44; access 21 -; faccessat 269 48; faccessat2 439 439; readlink 89 -;
readlinkat 267 78; getcwd 79 17; chdir 80 49; fchdir 81 50; getdents 78 -; getdents64 217 61; creat 85 -; mkdir
83 -; mkdirat 258 34; rmdir 84 -; unlink 87 -; unlinkat 263 35; rename 82 -; renameat 264 38; renameat2 316 276;
ftruncate 77 46; fallocate 285 47; fsync 74 82; fdatasync 75 83; sync_file_range 277 84; fadvise64 221 223;
umask 95 166; mmap 9 222; munmap 11 215; mprotect 10 226; mremap 25 216; madvise 28 233; brk 12 214; msync 26
227; mincore 27 232; membarrier 324 283; futex 202 98; set_robust_list 273 99; get_robust_list 274 100; rseq 334
293; sched_yield 24 124; sched_getaffinity 204 123; sched_getparam 143 121; sched_getscheduler 145 120;
sched_get_priority_max 146 125; sched_get_priority_min 147 126; getcpu 309 168; nanosleep 35 101;
clock_nanosleep 230 115; clock_gettime 228 113; clock_getres 229 114; gettimeofday 96 169; time 201 -; times 100
153; alarm 37 -; setitimer 38 103; getitimer 36 102; pause 34 -; set_tid_address 218 96; arch_prctl 158 -;
restart_syscall 219 128; getrusage 98 165; getrandom 318 278; uname 63 160; sysinfo 99 179; getpid 39 172;
gettid 186 178; getppid 110 173; getpgrp 111 -; getpgid 121 155; getsid 124 156; getuid 102 174; geteuid 107
175; getgid 104 176; getegid 108 177; getgroups 115 158; getresuid 118 148; getresgid 120 150; getpriority 140
141; getrlimit 97 163; capget 125 90; exit 60 93; exit_group 231 94; wait4 61 260; waitid 247 95; rt_sigaction
13 134; rt_sigprocmask 14 135; rt_sigreturn 15 139; rt_sigpending 127 136; rt_sigsuspend 130 133;
rt_sigtimedwait 128 137; sigaltstack 131 132; shutdown 48 210; getsockopt 55 209; getsockname 51 204;
getpeername 52 205; open 2 -; openat 257 56; ioctl 16 29; fcntl 72 25; prctl 157 167; clone 56 220; kill 62 129;
tgkill 234 131; prlimit64 302 261; socketpair 53 199; sendto 44 206; recvfrom 45 207; chmod 90 -; fchmod 91 52;
fchmodat 268 53; fchmodat2 452 452; chown 92 -; fchown 93 55; lchown 94 -; fchownat 260 54; utime 132 -; utimes
235 -; utimensat 280 88; futimesat 261 -; setxattr 188 5; lsetxattr 189 6; fsetxattr 190 7; getxattr 191 8;
lgetxattr 192 9; fgetxattr 193 10; listxattr 194 11; llistxattr 195 12; flistxattr 196 13; removexattr 197 14;
lremovexattr 198 15; fremovexattr 199 16; clone3 435 435; openat2 437 437; futex_waitv 449 449
"""
# Allowed whatever the arguments: on descriptors already held ...
READ_WRITE = (
    "read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range dup dup2 "
    "dup3 pipe pipe2 poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait "
    "epoll_pwait2 eventfd eventfd2 timerfd_create timerfd_settime timerfd_gettime signalfd4 flock sendfile "
    "copy_file_range"
)
# ... on paths, which the file wall (Landlock or private root) confines; no links, devices, FIFOs, truncate by path ...
FILES = (
    "fstat stat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat getcwd "
    "chdir fchdir getdents getdents64 creat mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 "
    "ftruncate fsync fdatasync sync_file_range fadvise64 umask"
)
# ... memory, which RLIMIT_AS bounds ...
MEMORY = "mmap munmap mprotect mremap brk msync mincore membarrier"
# ... threads, clocks and the cell's own timers ...
THREADS_AND_TIME = (
    "futex set_robust_list get_robust_list rseq sched_yield sched_getaffinity sched_getparam sched_getscheduler "
    "sched_get_priority_max sched_get_priority_min getcpu nanosleep clock_nanosleep clock_gettime clock_getres "
    "gettimeofday time times alarm setitimer getitimer pause set_tid_address arch_prctl restart_syscall"
)
# ... and the process itself.
SELF = (
    "getrusage getrandom uname sysinfo getpid gettid getppid getpgrp getpgid getsid getuid geteuid getgid "
    "getegid getgroups getresuid getresgid getpriority getrlimit capget exit exit_group wait4 waitid "
    "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack shutdown "
    "getsockopt getsockname getpeername"
)
# Allowed for some arguments only (seccomp.py).
CHECKED = "madvise open openat ioctl fcntl prctl clone kill tgkill prlimit64 socketpair sendto recvfrom"
# Answered 0 without doing anything, so that shutil.copy works: Landlock does not cover them, and they would reach
# files outside.
PRETENDED = "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat"
# Answered "not supported": attributes for the same reason; fallocate because it takes gigabytes in an instant, faster
# than a quota can look (C libraries write zeros instead).
UNSUPPORTED = (
    "setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr "
    "lremovexattr fremovexattr fallocate"
)
# Answered "no such call": their arguments lie in memory, where a filter cannot look; C libraries fall back.
MISSING = "clone3 openat2 futex_waitv"


def numbers(machine: str) -> dict[str, int]:
    """Name to number for ``x86_64`` or ``aarch64``; calls that the architecture lacks are absent.

    Raises KeyError for any other machine.
    """
    column = {"x86_64": 1, "aarch64": 2}[machine]
    entries = (entry.split() for entry in NUMBERS.replace("\n", " ").split(";"))
    return {entry[0]: int(entry[column]) for entry in entries if entry[column] != "-"}
