// Functions and one variable that glibc got after version 2.28 and that nbcc, LLVM and libstdc++ use, for the wheel,
// which is linked with stubs of glibc 2.28 (glibc_stubs.sh). If another one is needed, the linker names it as
// undefined.
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The version of the stubs, for `nbcc --version --json`.
const char wheel_glibc[] = WHEEL_GLIBC;

// glibc 2.33: before, these were inline functions of its headers. The system calls fill the same struct on processors
// of 64 bits.
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "struct stat is not the kernel's");
int fstatat(int folder, const char* path, struct stat* facts, int flags) {
  return syscall(SYS_newfstatat, folder, path, facts, flags);
}
int fstat(int file, struct stat* facts) { return syscall(SYS_fstat, file, facts); }
int stat(const char* path, struct stat* facts) { return fstatat(AT_FDCWD, path, facts, 0); }
int lstat(const char* path, struct stat* facts) { return fstatat(AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW); }
int fstat64(int file, struct stat64* facts) { return fstat(file, (struct stat*)facts); }
int stat64(const char* path, struct stat64* facts) { return stat(path, (struct stat*)facts); }
int lstat64(const char* path, struct stat64* facts) { return lstat(path, (struct stat*)facts); }
int mknod(const char* path, mode_t mode, dev_t device) {
  return syscall(SYS_mknodat, AT_FDCWD, path, mode, (unsigned)device);
}

// glibc 2.32: a hint to libstdc++, which uses atomic operations if it is 0.
char __libc_single_threaded = 0;

// glibc 2.36.
uint32_t arc4random(void) {
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();  // a kernel older than 3.17
  return number;
}

// glibc 2.33: mallinfo() with counts of 64 bits. LLVM prints it among its statistics.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct mallinfo2 mallinfo2(void) {
  const struct mallinfo counts = mallinfo();
  return (struct mallinfo2){
      .arena = (unsigned)counts.arena,
      .ordblks = (unsigned)counts.ordblks,
      .smblks = (unsigned)counts.smblks,
      .hblks = (unsigned)counts.hblks,
      .hblkhd = (unsigned)counts.hblkhd,
      .usmblks = (unsigned)counts.usmblks,
      .fsmblks = (unsigned)counts.fsmblks,
      .uordblks = (unsigned)counts.uordblks,
      .fordblks = (unsigned)counts.fordblks,
      .keepcost = (unsigned)counts.keepcost,
  };
}
