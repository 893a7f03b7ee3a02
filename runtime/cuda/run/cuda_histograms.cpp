// Runs with histograms on a GPU: kernels add to words in its memory (templates/cuda/frames/cuda_histograms.cuh.in),
// which are cleared before the run and read when it is done. Entry point: CudaSummation::run_with_histograms().
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fmt/format.h"
#include "runtime/cuda/run/cuda_sum.h"
#include "runtime/error.h"
#include "runtime/sum/request/divide_i.h"
#include "runtime/sum/request/overlap.h"
#include "runtime/sum/run/histograms.h"

namespace nbcc {
namespace {

// More copies of the words make atomic additions to few elements faster, but take longer to read.
constexpr std::size_t kMostWords = 1 << 15, kMostCopies = 128;

std::size_t copies_of(std::size_t words) {
  std::size_t copies = 1;
  while (copies < kMostCopies && 2 * copies * words <= kMostWords) copies *= 2;
  return copies;
}

}  // namespace

// All pairs of many particles are summed for some i at a time, so that no word overflows. Searches and lists have fewer
// pairs; too many of them are an error.
void CudaSummation::run_with_histograms(const SumRequest& request, CudaMethod* method) {
  const CudaContextGuard guard(gpu_);
  if (gpu_.is_captured(static_cast<CudaStream*>(request.stream)))
    throw DeviceError("a run with histograms waits for them, which cannot be done while a stream is captured");
  const double most = most_pairs(kernel_.source);
  const bool has_pieces = method == nullptr && request.j_part == JPart::Whole && pairs_of(request) > most;
  if (has_pieces && find_overlap(kernel_.source.fields, request.views, disjoint))
    throw UsageError("an output may not be an input of j where histograms are summed for some i at a time");
  if (has_pieces && request.progress) request.progress->begin(pairs_of(request));
  const auto tested_so_far = [&] { return method == &search_ ? search_.statistics().pairs_tested : 0; };
  wait_for_work(request.progress);
  const std::int64_t at_a_time = has_pieces ? i_within(std::int64_t(most), request.nj) : 0;
  for_ranges_of_i(request.i_count, at_a_time, [&](std::int64_t begin, std::int64_t count) {
    SumRequest piece = with_i(request, begin, count);
    if (has_pieces) piece.share.i_of_run = request.i_of_run();  // the pieces are one run, with one progress
    const std::int64_t tested = tested_so_far();
    run_for_histograms(piece, method);
    const double pairs = method == &search_     ? double(tested_so_far() - tested)
                         : request.lists        ? double(request.lists->pairs)
                         : request.listed_pairs ? double(request.listed_pairs->j.size())
                                                : pairs_of(piece);
    if (pairs > most)
      throw DeviceError(
          fmt::format("histograms of real numbers take the terms of at most {:.3g} pairs in one run on a "
                      "GPU, this run has {:.3g}: run it for some i at a time, with accumulate",
                      most, pairs));
  });
}

void CudaSummation::run_for_histograms(const SumRequest& request, CudaMethod* method) {
  auto* const stream = static_cast<CudaStream*>(request.stream);
  wait_for_work(request.progress);
  const std::size_t stride = request.histograms->words().size(), copies = copies_of(stride);
  std::vector<std::int64_t> words(copies * stride);
  const std::size_t bytes = words.size() * sizeof(std::int64_t);
  if (!histograms_.reserve(bytes)) throw DeviceError("out of memory of the GPU: there is no room for histograms");
  const std::span<std::int64_t* const> pointers = request.histograms->pointers();
  const std::size_t histograms = pointers.size();
  for (std::size_t h = 0; h < histograms; ++h)
    launcher_.arguments().histogram(h) =
        histograms_.data() + std::uint64_t(pointers[h] - request.histograms->words().data()) * sizeof(std::int64_t);
  launcher_.arguments().histogram(histograms) = stride;
  launcher_.arguments().histogram(histograms + 1) = copies - 1;
  launcher_.arguments().histogram(histograms + 2) = CudaDevicePointer(request.histograms->first_index());
  gpu_.require(gpu_.driver().memset_d32_async(histograms_.data(), 0, bytes / 4, stream), "clearing histograms");
  gpu_.synchronize(stream);
  run(request, method);
  wait_for_work(request.progress);
  gpu_.fetch(words.data(), histograms_.data(), bytes, stream);
  gpu_.synchronize(stream);
  for (std::size_t copy = 0; copy < copies; ++copy)
    request.histograms->add(std::span(words).subspan(copy * stride, stride));
}

}  // namespace nbcc
