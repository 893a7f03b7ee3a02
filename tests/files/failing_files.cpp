// A library for LD_PRELOAD that counts a program's calls for files, and lets one of them fail. Of files below a folder
// and of standard output alone, so that neither the loader nor libraries notice.
//
//   NBCC_FILES_BELOW    the folder
//   NBCC_FILES_FAIL     which call fails, from 1 on; 0 or nothing: none
//   NBCC_FILES_ERROR    with which number of errno
//   NBCC_FILES_LOG      a descriptor that each call's name, and what it is of, is written to, a line each
//
// Calls that the C library makes within itself are not seen: fopen() is a call of its own here, what fwrite() writes of
// standard output is not (/dev/full stands for that). Used by tests/files/failing_files.py.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>

namespace {

std::mutex mutex;
int counted = 0;
std::string names[4096];  // by descriptor, of files below the folder; "": another

template <typename Function>
Function* original(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

long number(const char* name) {
  const char* const text = getenv(name);
  return text ? atol(text) : 0;
}

bool is_below(int folder, const char* path) {
  const char* const below = getenv("NBCC_FILES_BELOW");
  if (!below || !path) return false;
  if (folder >= 0 && folder < 4096 && path[0] != '/') return !names[folder].empty();
  std::string whole = path;
  if (path[0] != '/') {
    char here[4096];
    if (!getcwd(here, sizeof here)) return false;
    whole = std::string(here) + "/" + path;
  }
  return whole.compare(0, strlen(below), below) == 0;
}
bool is_inside(int file) { return file == STDOUT_FILENO || (file >= 0 && file < 4096 && !names[file].empty()); }

// Counts the call; true: it fails, with errno set.
bool fails(const char* name, const char* of) {
  const std::lock_guard lock(mutex);
  ++counted;
  if (const long log = number("NBCC_FILES_LOG"); log > 0) {
    static const auto write_to = original(&write, "write");
    const std::string line = std::string(name) + " " + of + "\n";
    if (write_to(int(log), line.data(), line.size()) < 0) abort();
  }
  if (counted != number("NBCC_FILES_FAIL")) return false;
  errno = int(number("NBCC_FILES_ERROR"));
  return true;
}
std::string name_of(int file) { return file == STDOUT_FILENO ? "stdout" : names[file]; }
std::string path_at(int folder, const char* path) {
  return path[0] == '/' || folder < 0 || folder >= 4096 ? path : names[folder] + "/" + path;
}
int opened(int file, const std::string& name) {
  if (file >= 0 && file < 4096) names[file] = name;
  return file;
}

int open_as(const char* symbol, const char* path, int flags, mode_t mode) {
  const bool ours = is_below(-1, path);
  if (ours && fails("open", path)) return -1;
  using Open = int(const char*, int, ...);
  return opened(original(static_cast<Open*>(nullptr), symbol)(path, flags, mode), ours ? path : "");
}
int openat_as(const char* symbol, int folder, const char* path, int flags, mode_t mode) {
  const bool ours = is_below(folder, path);
  if (ours && fails("openat", path_at(folder, path).c_str())) return -1;
  using Open = int(int, const char*, int, ...);
  return opened(original(static_cast<Open*>(nullptr), symbol)(folder, path, flags, mode),
                ours ? path_at(folder, path) : "");
}
FILE* fopen_as(const char* symbol, const char* path, const char* mode) {
  const bool ours = is_below(-1, path);
  if (ours && fails("fopen", path)) return nullptr;
  FILE* const file = original(&fopen, symbol)(path, mode);
  if (file) opened(fileno(file), ours ? path : "");
  return file;
}
mode_t mode_of(int flags, va_list more) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? mode_t(va_arg(more, int)) : 0;
}

}  // namespace

extern "C" {

#define OPENS(name)                            \
  int name(const char* path, int flags, ...) { \
    va_list more;                              \
    va_start(more, flags);                     \
    const mode_t mode = mode_of(flags, more);  \
    va_end(more);                              \
    return open_as(#name, path, flags, mode);  \
  }
OPENS(open)
OPENS(open64)
#define OPENS_AT(name)                                     \
  int name(int folder, const char* path, int flags, ...) { \
    va_list more;                                          \
    va_start(more, flags);                                 \
    const mode_t mode = mode_of(flags, more);              \
    va_end(more);                                          \
    return openat_as(#name, folder, path, flags, mode);    \
  }
OPENS_AT(openat)
OPENS_AT(openat64)
FILE* fopen(const char* path, const char* mode) { return fopen_as("fopen", path, mode); }
FILE* fopen64(const char* path, const char* mode) { return fopen_as("fopen64", path, mode); }

// The rest fails before it does anything, but for close(), which closes and says that data was lost.
#define OF_DESCRIPTOR(type, name, declared, given)                               \
  type name declared {                                                           \
    if (is_inside(file) && fails(#name, name_of(file).c_str())) return type(-1); \
    return original(&name, #name) given;                                         \
  }
OF_DESCRIPTOR(ssize_t, read, (int file, void* to, size_t bytes), (file, to, bytes))
OF_DESCRIPTOR(ssize_t, write, (int file, const void* from, size_t bytes), (file, from, bytes))
OF_DESCRIPTOR(ssize_t, writev, (int file, const struct iovec* parts, int count), (file, parts, count))
OF_DESCRIPTOR(ssize_t, pread, (int file, void* to, size_t bytes, off_t at), (file, to, bytes, at))
OF_DESCRIPTOR(ssize_t, pread64, (int file, void* to, size_t bytes, off64_t at), (file, to, bytes, at))
OF_DESCRIPTOR(ssize_t, pwrite, (int file, const void* from, size_t bytes, off_t at), (file, from, bytes, at))
OF_DESCRIPTOR(ssize_t, pwrite64, (int file, const void* from, size_t bytes, off64_t at), (file, from, bytes, at))
OF_DESCRIPTOR(int, fsync, (int file), (file))
OF_DESCRIPTOR(int, ftruncate, (int file, off_t bytes) noexcept, (file, bytes))
OF_DESCRIPTOR(int, ftruncate64, (int file, off64_t bytes) noexcept, (file, bytes))
OF_DESCRIPTOR(int, fchmod, (int file, mode_t mode) noexcept, (file, mode))

int close(int file) {
  const bool ours = file > STDERR_FILENO && is_inside(file);
  const bool failed = ours && fails("close", name_of(file).c_str());
  if (file >= 0 && file < 4096) names[file].clear();
  const int error = errno, result = original(&close, "close")(file);
  if (!failed) return result;
  errno = error;
  return -1;
}

#define OF_PATH(name, declared, given, path)                 \
  int name declared noexcept {                               \
    if (is_below(-1, path) && fails(#name, path)) return -1; \
    return original(&name, #name) given;                     \
  }
OF_PATH(rename, (const char* from, const char* to), (from, to), to)
OF_PATH(link, (const char* from, const char* to), (from, to), to)
OF_PATH(unlink, (const char* path), (path), path)
OF_PATH(mkdir, (const char* path, mode_t mode), (path, mode), path)
OF_PATH(truncate, (const char* path, off_t bytes), (path, bytes), path)
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  if (is_below(to_folder, to) && fails("renameat", path_at(to_folder, to).c_str())) return -1;
  return original(&renameat, "renameat")(from_folder, from, to_folder, to);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  if (is_below(folder, path) && fails("unlinkat", path_at(folder, path).c_str())) return -1;
  return original(&unlinkat, "unlinkat")(folder, path, flags);
}
#define MAPS(name, offset)                                                                                         \
  void* name(void* at, size_t bytes, int protection, int flags, int file, offset from) noexcept {                  \
    if ((flags & MAP_ANONYMOUS) == 0 && is_inside(file) && fails(#name, name_of(file).c_str())) return MAP_FAILED; \
    return original(&name, #name)(at, bytes, protection, flags, file, from);                                       \
  }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

}  // extern "C"
