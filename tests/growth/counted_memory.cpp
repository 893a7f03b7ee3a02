// Global operator new and delete on top of malloc(), counting.
#include "tests/growth/counted_memory.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> asked = 0;

void* allocate(std::size_t bytes) {
  asked.fetch_add(bytes, std::memory_order_relaxed);
  if (void* const made = std::malloc(bytes ? bytes : 1)) return made;
  throw std::bad_alloc();
}

void* allocate(std::size_t bytes, std::align_val_t alignment) {
  asked.fetch_add(bytes, std::memory_order_relaxed);
  const auto unit = std::size_t(alignment);
  if (void* const made = std::aligned_alloc(unit, (bytes / unit + 1) * unit)) return made;
  throw std::bad_alloc();
}

}  // namespace

std::uint64_t nbcc::test::bytes_asked_for() { return asked.load(); }

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return allocate(bytes, alignment); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return allocate(bytes, alignment); }
void operator delete(void* made) noexcept { std::free(made); }
void operator delete[](void* made) noexcept { std::free(made); }
void operator delete(void* made, std::size_t) noexcept { std::free(made); }
void operator delete[](void* made, std::size_t) noexcept { std::free(made); }
void operator delete(void* made, std::align_val_t) noexcept { std::free(made); }
void operator delete[](void* made, std::align_val_t) noexcept { std::free(made); }
void operator delete(void* made, std::size_t, std::align_val_t) noexcept { std::free(made); }
void operator delete[](void* made, std::size_t, std::align_val_t) noexcept { std::free(made); }
