// Global operator new and delete, and std::aligned_alloc, on top of the system's. Entry points: those of the header.
#include "tests/memory/failing_allocations.h"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting = false;
std::atomic<int> counted = 0, failing = 0;
std::atomic<long> held = 0;

bool fails() {
  if (!counting.load(std::memory_order_relaxed)) return false;
  return ++counted == failing.load(std::memory_order_relaxed);
}

using AlignedAlloc = void* (*)(std::size_t, std::size_t);
void* system_aligned(std::size_t alignment, std::size_t bytes) {
  static const auto original = reinterpret_cast<AlignedAlloc>(dlsym(RTLD_NEXT, "aligned_alloc"));
  return original(alignment, bytes);
}

void* allocate(std::size_t bytes) {
  void* const made = fails() ? nullptr : std::malloc(bytes ? bytes : 1);
  if (made) ++held;
  return made;
}
void* allocate(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = std::size_t(alignment);
  void* const made = fails() ? nullptr : system_aligned(unit, (bytes / unit + 1) * unit);
  if (made) ++held;
  return made;
}
void* or_throw(void* made) {
  if (!made) throw std::bad_alloc();
  return made;
}
void give_back(void* memory) {
  if (!memory) return;
  --held;
  std::free(memory);
}

}  // namespace

namespace nbcc::test {

void fail_allocation(int k) {
  counted = 0;
  failing = k;
  counting = true;
}
int count_allocations() {
  counting = false;
  return counted;
}
long blocks_held() { return held; }

}  // namespace nbcc::test

// The memory of AlignedBuffer, which frees it by free(): it is not among the blocks held.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return fails() ? nullptr : system_aligned(alignment, bytes);
}

void* operator new(std::size_t bytes) { return or_throw(allocate(bytes)); }
void* operator new[](std::size_t bytes) { return or_throw(allocate(bytes)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t unit) { return or_throw(allocate(bytes, unit)); }
void* operator new[](std::size_t bytes, std::align_val_t unit) { return or_throw(allocate(bytes, unit)); }
void* operator new(std::size_t bytes, std::align_val_t unit, const std::nothrow_t&) noexcept {
  return allocate(bytes, unit);
}
void* operator new[](std::size_t bytes, std::align_val_t unit, const std::nothrow_t&) noexcept {
  return allocate(bytes, unit);
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { give_back(memory); }
