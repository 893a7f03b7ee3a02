// Entry point: cuda_pair_search().
#include "runtime/cuda/pairs/cuda_pair_search.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "fmt/format.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/cuda/run/cuda_plain_source.h"
#include "runtime/error.h"
#include "runtime/round_up.h"

namespace nbcc {

KernelSource pair_search_source(const char* real) {
  KernelSource source = cuda_plain_source("pair_search", pair_search::kThreads,
                                          {"cuda_blocks.cuh", "cuda_pair_search_data.h", "cuda_pair_search.cu"});
  source.variants.front().source.insert(0, fmt::format("typedef {} Real;\n", real));
  return source;
}

namespace {

using namespace pair_search;

constexpr std::int64_t kAlignment = 256;      // bytes; of arrays
constexpr std::int64_t kMaxPadBlocks = 1024;  // of nbcc_pairs_pad, whose threads loop

std::int64_t blocks_of(std::int64_t items, std::int64_t of_block = kThreads) {
  return std::max<std::int64_t>(1, ceil_div(items, of_block));
}

class CudaPairSearch final : public PairSearch {
 public:
  explicit CudaPairSearch(std::shared_ptr<const CudaKernel> kernel_of_floats)
      : programs_{std::move(kernel_of_floats)}, gpu_(programs_[0].kernel->gpu()), memory_(gpu_) {}
  ~CudaPairSearch() override {
    try {
      const CudaContextGuard guard(gpu_);
      if (searched_) used_.wait();
    } catch (...) {
      // A GPU that has failed no longer uses memory.
    }
  }

  std::int64_t search(const Search& query, bool is_double, void* stream, bool waits,
                      const std::function<void()>& poll) override;
  void store(const PairOutput& output) override;

 private:
  std::size_t layout(CudaDevicePointer at);
  void reserve();
  void scan(const unsigned* numbers, Index count, unsigned* as_unsigned, Index* as_index);
  void launch(const std::string& name, std::int64_t blocks, std::initializer_list<const void*> arguments,
              unsigned sides = 1);

  struct Program {
    std::shared_ptr<const CudaKernel> kernel;
    std::map<std::string, CudaFunction*> functions = {};
  };
  std::array<Program, 2> programs_;  // of floats; of doubles, compiled for the first search that has them
  const CudaGpu& gpu_;
  CudaBuffer memory_;
  CudaEventOwner used_{gpu_};  // after the last work that uses memory_
  Search s_ = {};
  Index* sums_ = nullptr;  // of the blocks of a scan
  CudaStream* stream_ = nullptr;
  bool is_double_ = false, captured_ = false, searched_ = false;
};

// Sets the arrays of s_, and sums_; returns their bytes. The first arrays, up to slot_count, are cleared.
std::size_t CudaPairSearch::layout(CudaDevicePointer at) {
  Search& s = s_;
  std::int64_t bytes = 0;
  const auto take = [&]<typename T>(T*& array, std::int64_t size) {
    array = reinterpret_cast<T*>(at + std::size_t(bytes));
    bytes += round_up(size, kAlignment);
  };
  const Index nj = s.side[0].count, ni = s.side[1].count;
  const std::int64_t record = is_double_ ? sizeof(Record<double>) : sizeof(Record<float>);
  s.slots = nj + s.systems;
  take(s.report, sizeof(Report));
  take(s.slot_count, 4 * s.slots);
  take(s.slot_first, 4 * (s.slots + 1));
  take(s.system, s.systems * std::int64_t(sizeof(System)));
  for (Side* side : {&s.side[0], &s.side[1]}) {
    if (side == &s.side[1] && s.one_set) {
      side->records = s.side[0].records;
      side->wraps = s.side[0].wraps;
      break;
    }
    take(side->records, side->count * record);
    take(side->wraps, side->count * std::int64_t(sizeof(Wraps)));
  }
  take(s.sorted, nj * record);
  take(s.slot_of, 4 * nj);
  take(s.rank_of, 4 * nj);
  take(s.counts, 4 * ni);
  take(s.first, 8 * (ni + 1));
  take(sums_, 8 * blocks_of(std::max(s.slots, ni) + 1, kScanItems));
  return std::size_t(bytes);
}

void CudaPairSearch::reserve() {
  if (captured_ && is_double_ && !programs_[1].kernel)
    throw DeviceError(
        "neighbours: the first search of doubles compiles its kernels, which cannot be done while a stream is "
        "captured: "
        "search once before the capture");
  const std::size_t bytes = layout(0);
  if (bytes > memory_.bytes()) {
    if (captured_)
      throw DeviceError(
          "neighbours: the memory of the search must grow, which cannot be done while a stream is captured: search "
          "once before the capture, for as many particles");
    used_.wait();
    if (!memory_.reserve(bytes))
      throw DeviceError(fmt::format("out of memory of the GPU: a search for pairs needs {} MB", bytes >> 20));
  }
  if (captured_) memory_.retain_for_capture();
  layout(memory_.data());
}

void CudaPairSearch::launch(const std::string& name, std::int64_t blocks, std::initializer_list<const void*> arguments,
                            unsigned sides) {
  Program& program = programs_[is_double_ ? 1 : 0];
  if (!program.kernel)
    program.kernel =
        std::static_pointer_cast<const CudaKernel>(programs_[0].kernel->load(pair_search_source("double")));
  CudaFunction*& function = program.functions[name];
  if (!function) function = program.kernel->program().find(name.c_str());
  std::array<void*, 5> addresses{};
  std::ranges::transform(arguments, addresses.begin(), [](const void* at) { return const_cast<void*>(at); });
  launch_kernel(gpu_, function, name.c_str(), unsigned(blocks), sides, kThreads, addresses.data(), stream_, false);
}

void CudaPairSearch::scan(const unsigned* numbers, Index count, unsigned* as_unsigned, Index* as_index) {
  const Index blocks = blocks_of(count + 1, kScanItems);
  launch("nbcc_pairs_scan_sums", blocks, {&numbers, &count, &sums_});
  launch("nbcc_pairs_scan_top", 1, {&sums_, &blocks});
  launch("nbcc_pairs_scan_store", blocks, {&numbers, &count, &sums_, &as_unsigned, &as_index});
}

std::int64_t CudaPairSearch::search(const Search& query, bool is_double, void* stream, bool waits,
                                    const std::function<void()>&) {
  const CudaContextGuard guard(gpu_);
  searched_ = false;
  s_ = query;
  is_double_ = is_double;
  s_.least_cutoff = least_cutoff(is_double);
  stream_ = static_cast<CudaStream*>(stream);
  captured_ = gpu_.is_captured(stream_);
  if (captured_ && waits)
    throw DeviceError("neighbours: the number of pairs cannot be read while a stream is captured: give a capacity");
  check_query(s_, is_double_);
  reserve();
  if (!captured_) used_.make_wait(stream_);
  const Index nj = s_.side[0].count, ni = s_.side[1].count;
  const std::size_t cleared =
      std::size_t(reinterpret_cast<char*>(s_.slot_first) - reinterpret_cast<char*>(s_.report)) / 4;
  gpu_.require(gpu_.driver().memset_d32_async(memory_.data(), 0, cleared, stream_), "clearing memory of the GPU");
  launch("nbcc_pairs_systems", blocks_of(std::max(s_.systems, s_.types * s_.types)), {&s_});
  launch("nbcc_pairs_wrap", blocks_of(s_.one_set ? nj : std::max(ni, nj)), {&s_}, s_.one_set ? 1 : 2);
  launch("nbcc_pairs_bins", 1, {&s_});
  launch("nbcc_pairs_bin", blocks_of(nj), {&s_});
  scan(s_.slot_count, s_.slots, s_.slot_first, nullptr);
  launch("nbcc_pairs_sort", blocks_of(nj), {&s_});
  launch("nbcc_pairs_count", blocks_of(ni * kRowLanes), {&s_});
  scan(s_.counts, ni, nullptr, s_.first);
  searched_ = true;
  if (!captured_) used_.record(stream_);
  if (!waits) return -1;
  Report report;
  Index total = 0;
  gpu_.fetch(&report, reinterpret_cast<CudaDevicePointer>(s_.report), sizeof report, stream_);
  gpu_.fetch(&total, reinterpret_cast<CudaDevicePointer>(s_.first + ni), sizeof total, stream_);
  gpu_.synchronize(stream_);
  searched_ = false;
  check_report(report, s_, is_double_, [this](void* to, const void* from, std::size_t bytes) {
    gpu_.fetch(to, reinterpret_cast<CudaDevicePointer>(from), bytes, stream_);
    gpu_.synchronize(stream_);
  });
  searched_ = true;
  return total;
}

void CudaPairSearch::store(const PairOutput& output) {
  if (!searched_) throw UsageError("neighbours: there is no search whose pairs could be stored");
  const CudaContextGuard guard(gpu_);
  launch("nbcc_pairs_fill", blocks_of(s_.side[1].count * kRowLanes), {&s_, &output});
  const std::int64_t items = std::max(output.capacity, s_.side[1].count + 1);
  launch("nbcc_pairs_pad", std::min(blocks_of(items), kMaxPadBlocks), {&s_, &output});
  if (!captured_) used_.record(stream_);
}

}  // namespace

std::unique_ptr<PairSearch> cuda_pair_search(KernelDevice& device) {
  std::shared_ptr<const Kernel> made;
  static_cast<CudaGpus&>(device).load_each([&](CudaDevice& gpu) {
    auto kernel = gpu.load(pair_search_source("float"));
    if (!made) made = kernel;
    return kernel;
  });
  return std::make_unique<CudaPairSearch>(std::static_pointer_cast<const CudaKernel>(made));
}

}  // namespace nbcc
