// Sizes -> memory that tells how it was misused. Entry point: ShimMemory. Sees no access itself: it looks at what the
// margins hold afterwards.
#include "tests/support/cuda_shim_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace nbcc::test {
namespace {

constexpr std::size_t kMargin = 256;  // also the alignment that the driver promises
constexpr int kNaN = 0xff;            // as every byte, of floats and doubles alike
constexpr std::size_t kReleasedBlocks = 256;

std::string name(ShimMemory::Kind kind) {
  constexpr const char* kNames[] = {"pinned", "device", "managed"};
  return kNames[int(kind)];
}

bool untouched(const std::byte* at) {
  return std::all_of(at, at + kMargin, [](std::byte b) { return b == std::byte(kNaN); });
}

std::string margins_of(const ShimMemory::Block& block) {
  const bool behind = !untouched(block.begin + block.bytes);
  if (!behind && untouched(block.begin - kMargin)) return "";
  return fmt::format("something was written {} of a {} block of {} bytes",
                     behind ? "behind the end" : "before the beginning", name(block.kind), block.bytes);
}

}  // namespace

void* ShimMemory::allocate(Kind kind, int device, std::size_t bytes) {
  const std::size_t whole = bytes + 3 * kMargin;
  Block block{kind, device, nullptr, bytes, std::make_unique_for_overwrite<std::byte[]>(whole)};
  std::memset(block.whole.get(), kNaN, whole);
  const auto from = reinterpret_cast<std::uintptr_t>(block.whole.get()) + kMargin;
  block.begin = block.whole.get() + kMargin + (kMargin - from % kMargin) % kMargin;
  std::byte* const begin = block.begin;
  blocks_.emplace(begin, std::move(block));
  return begin;
}

const ShimMemory::Block* ShimMemory::find(const void* at) const {
  const auto* const byte = static_cast<const std::byte*>(at);
  auto after = blocks_.upper_bound(byte);
  if (after == blocks_.begin()) return nullptr;
  const Block& block = std::prev(after)->second;
  return byte < block.begin + block.bytes ? &block : nullptr;
}

std::size_t ShimMemory::bytes_of_device(int device) const {
  std::size_t bytes = 0;
  for (const auto& [begin, block] : blocks_) {
    if (block.kind != Kind::Pinned && block.device == device) bytes += block.bytes;
  }
  return bytes;
}

std::string ShimMemory::release(Kind kind, void* at) {
  const auto found = blocks_.find(static_cast<std::byte*>(at));
  if (found == blocks_.end() || found->second.kind != kind)
    return fmt::format("{} is freed as {} memory, but no such block begins there now", at, name(kind));
  Block& block = found->second;
  std::string failure = margins_of(block);
  std::memset(block.begin, kNaN, block.bytes);
  if (released_.size() >= kReleasedBlocks) released_.erase(released_.begin());
  released_.push_back(std::move(block.whole));
  blocks_.erase(found);
  return failure;
}

std::string ShimMemory::check_inside(const void* at, std::size_t bytes, const std::string& what) const {
  const Block* const block = find(at);
  if (!block) return fmt::format("{}: {} is no memory of the shim's", what, at);
  const auto before = std::size_t(static_cast<const std::byte*>(at) - block->begin);
  if (bytes <= block->bytes - before) return "";
  return fmt::format("{}: {} bytes from byte {} on of a {} block of {} bytes", what, bytes, before, name(block->kind),
                     block->bytes);
}

std::string ShimMemory::check_margins() const {
  for (const auto& [begin, block] : blocks_) {
    if (std::string failure = margins_of(block); !failure.empty()) return failure;
  }
  return "";
}

std::string ShimMemory::leaks() const {
  if (blocks_.empty()) return "";
  std::string text = "not freed:";
  const char* separator = " ";
  for (const auto& [begin, block] : blocks_) {
    text += fmt::format("{}{} block of {} bytes", separator, name(block.kind), block.bytes);
    separator = ", ";
  }
  return text;
}

}  // namespace nbcc::test
