"""The functions of bindings/python/wheel/newer_glibc.c, compared with those of this system's glibc.

    python3 newer_glibc.py LIBRARY SCRATCH

LIBRARY is newer_glibc.c as a shared library.
"""

import ctypes
import os
import stat
import sys

ours = ctypes.CDLL(sys.argv[1], use_errno=True)
glibc = ctypes.CDLL(None, use_errno=True)
os.chdir(sys.argv[2])
with open("file", "w") as file:
    file.write("0123456789")
os.symlink("file", "link")
os.symlink("nothing", "dangling")
AT_FDCWD = -100


def facts(library, function, *arguments, flags=()):
    result = ctypes.create_string_buffer(256)  # struct stat has 144 bytes on x86-64, 128 on AArch64
    status = getattr(library, function)(*arguments, result, *flags)
    return status, ctypes.get_errno() if status else 0, result.raw


with open("file") as file:
    calls = [(name, path) for name in ("stat", "stat64", "lstat", "lstat64") for path in (b"link", b"dangling", b"none")]
    calls += [(name, number) for name in ("fstat", "fstat64") for number in (file.fileno(), 999)]
    for name, argument in calls:
        assert facts(ours, name, argument) == facts(glibc, name, argument), (name, argument)
for path in (b"link", b"none"):
    at = [facts(library, "fstatat", AT_FDCWD, path, flags=(0x100,)) for library in (ours, glibc)]  # AT_SYMLINK_NOFOLLOW
    assert at[0] == at[1], path
assert facts(ours, "stat", b"link") != facts(ours, "lstat", b"link")

assert ours.mknod(b"pipe", stat.S_IFIFO | 0o600, ctypes.c_uint64(0)) == 0
assert stat.S_ISFIFO(os.stat("pipe").st_mode)
assert ours.mknod(b"pipe", stat.S_IFIFO | 0o600, ctypes.c_uint64(0)) == -1

assert len({ours.arc4random() for _ in range(100)}) > 90  # of 2^32 numbers


class Mallinfo2(ctypes.Structure):
    _fields_ = [(f"count{k}", ctypes.c_size_t) for k in range(10)]


counts = []
for library in (ours, glibc):
    library.mallinfo2.restype = Mallinfo2
    counts.append(library.mallinfo2())
assert counts[0].count0 == counts[1].count0 > 0  # arena; calls from Python change the other counts
assert ctypes.c_char.in_dll(ours, "__libc_single_threaded").value == b"\0"
print("functions of newer glibc: as in this system's")
