// Views of arrays -> copies of the byte ranges that hold them. Interface: CudaCopies::copy(), copied_bytes().
#include "runtime/cuda/run/cuda_copies.h"

#include <algorithm>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/request/overlap.h"

namespace nbcc {
namespace {

constexpr std::uint64_t kCopyAlignment = 256;  // bytes; a copy's address equals the original's modulo this

struct Block {
  std::uint64_t begin = 0, end = 0;  // addresses of the original
  std::uint64_t copy = 0;            // byte offset of the copy in memory_
};

bool is_input(const FieldLayout& field, const ArrayView& view) {
  return field.role != Role::Output && field.role != Role::Param && view.data && view.count > 0;
}

// The disjoint byte ranges of all inputs, in ascending order of address. Overlapping ranges are merged; adjacent ranges
// are not, because they may be separate allocations, and one copy may not cross from one allocation to the next.
std::vector<Block> blocks_of(const KernelSource& source, std::span<const ArrayView> views) {
  std::vector<Block> found, merged;
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    if (!is_input(source.fields[f], views[f])) continue;
    const ByteRange range = bytes_of(views[f], source.fields[f].components());
    found.push_back({std::uint64_t(range.low), std::uint64_t(range.high)});
  }
  std::ranges::sort(found, {}, &Block::begin);
  for (const Block& block : found) {
    if (merged.empty() || block.begin >= merged.back().end)
      merged.push_back(block);
    else
      merged.back().end = std::max(merged.back().end, block.end);
  }
  return merged;
}

}  // namespace

std::uint64_t copied_bytes(const KernelSource& source, std::span<const ArrayView> views) {
  std::uint64_t bytes = 0;
  for (const Block& block : blocks_of(source, views)) bytes += block.end - block.begin;
  return bytes;
}

std::vector<ArrayView> CudaCopies::copy(const KernelSource& source, std::span<const ArrayView> views,
                                        CudaStream* stream, bool captured) {
  std::vector<Block> blocks = blocks_of(source, views);
  std::uint64_t bytes = 0;
  for (Block& block : blocks) {
    block.copy = bytes + block.begin % kCopyAlignment;
    bytes = (block.copy + (block.end - block.begin) + kCopyAlignment - 1) / kCopyAlignment * kCopyAlignment;
  }
  if (captured) memory_.retain_for_capture();
  if (bytes > memory_.bytes()) {
    if (captured)
      throw DeviceError(
          fmt::format("the memory of cuda:{} for copies of particles must grow, which cannot be done while a stream is "
                      "captured: run once before the capture",
                      gpu_.ordinal()));
    gpu_.synchronize(stream);  // an earlier run may still read the old copies
    if (!memory_.reserve(bytes))
      throw DeviceError(
          fmt::format("out of memory of cuda:{}: there is no room for {} bytes of particles", gpu_.ordinal(), bytes));
  }
  for (const Block& block : blocks)
    gpu_.require(gpu_.driver().memcpy_async(memory_.data() + block.copy, block.begin, block.end - block.begin, stream),
                 "copying from one GPU to another");
  std::vector<ArrayView> copies(views.begin(), views.end());
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    if (!is_input(source.fields[f], views[f])) continue;
    const auto data = reinterpret_cast<std::uintptr_t>(views[f].data);
    // The last block that begins at or before `data` contains it. `data` may lie inside the block: strides may be
    // negative.
    const auto next = std::ranges::upper_bound(blocks, data, {}, &Block::begin);
    const Block& block = *std::prev(next);
    copies[f].data = reinterpret_cast<void*>(memory_.data() + block.copy + (data - block.begin));
  }
  return copies;
}

}  // namespace nbcc
