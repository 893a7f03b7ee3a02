// Runs with histograms on a GPU: kernels add to words in its memory (templates/cuda/frames/cuda_histograms.cuh.in),
// which are cleared before the run. Words of totals are read when it is done. Rows, and all words of a captured run,
// become values in the caller's arrays by a kernel (templates/cuda/frames/cuda_histogram_values.cu.in); where the
// arrays are not on the GPU, rows are read, too. Entry point: CudaSummation::run_with_histograms().
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fmt/format.h"
#include "runtime/cuda/run/cuda_plain_source.h"
#include "runtime/cuda/run/cuda_sum.h"
#include "runtime/error.h"
#include "runtime/sum/request/divide_i.h"
#include "runtime/sum/request/overlap.h"
#include "runtime/sum/run/histograms.h"
#include "templates/cuda/frames/cuda_histogram_data.h"

namespace nbcc {
namespace {

// More copies of the words make atomic additions to few elements faster, but take longer to read.
constexpr std::size_t kMostWords = 1 << 15, kMostCopies = 128;

static_assert(histogram_data::kMaxWords >= kDoubleWords);

std::size_t copies_of(std::size_t words) {
  std::size_t copies = 1;
  while (copies < kMostCopies && 2 * copies * words <= kMostWords) copies *= 2;
  return copies;
}

// Of memory for the words, and for the number of pairs of rows that named no element.
std::size_t bytes_of(std::size_t words) { return (words + 1) * sizeof(std::int64_t); }

// The pairs of a run; of a search, which counts its pairs, all that there are.
double known_pairs(const SumRequest& request) {
  if (request.lists) return double(request.lists->pairs);
  return request.listed_pairs ? double(request.listed_pairs->j.size()) : pairs_of(request);
}

void require_at_most(double most, double pairs) {
  if (pairs > most)
    throw DeviceError(
        fmt::format("histograms of real numbers take the terms of at most {:.3g} pairs in one run on a "
                    "GPU, this run has {:.3g}: run it for some i at a time, with accumulate",
                    most, pairs));
}

}  // namespace

// All pairs of many particles are summed for some i at a time, so that no word overflows. Searches and lists have fewer
// pairs; too many of them are an error.
void CudaSummation::run_with_histograms(const SumRequest& request, CudaMethod* method) {
  const CudaContextGuard guard(gpu_);
  if (gpu_.is_captured(static_cast<CudaStream*>(request.stream))) return capture_histograms(request, method);
  const double most = most_pairs(kernel_.source);
  const bool has_pieces = method == nullptr && request.j_part == JPart::Whole && pairs_of(request) > most;
  if (has_pieces && find_overlap(kernel_.source.fields, request.views, disjoint))
    throw UsageError("an output may not be an input of j where histograms are summed for some i at a time");
  if (has_pieces && request.progress) request.progress->begin(pairs_of(request));
  wait_for_work(request.progress);
  const std::int64_t at_a_time = has_pieces ? i_within(std::int64_t(most), request.nj) : 0;
  for_ranges_of_i(request.i_count, at_a_time, [&](std::int64_t begin, std::int64_t count) {
    SumRequest piece = with_i(request, begin, count);
    if (has_pieces) piece.share.i_of_run = request.i_of_run();  // the pieces are one run, with one progress
    run_for_histograms(piece, method);
  });
}

void CudaSummation::set_histograms(const SumRequest& request, std::size_t copies) {
  const std::size_t histograms = kernel_.source.histograms.size(), stride = std::size_t(request.histograms->count());
  for (std::size_t h = 0; h < histograms; ++h)
    launcher_.arguments().histogram(h) =
        histograms_.data() + std::uint64_t(request.histograms->first_word(h)) * sizeof(std::int64_t);
  launcher_.arguments().histogram(histograms) = stride;
  launcher_.arguments().histogram(histograms + 1) = copies - 1;
  launcher_.arguments().histogram(histograms + 2) = CudaDevicePointer(request.histograms->first_index());
  gpu_.require(gpu_.driver().memset_d32_async(histograms_.data(), 0, bytes_of(copies * stride) / 4,
                                              static_cast<CudaStream*>(request.stream)),
               "clearing histograms");
}

void CudaSummation::run_for_histograms(const SumRequest& request, CudaMethod* method) {
  auto* const stream = static_cast<CudaStream*>(request.stream);
  wait_for_work(request.progress);
  const double most = most_pairs(kernel_.source);
  const bool searches = method == &search_;
  if (!searches) require_at_most(most, known_pairs(request));
  const std::int64_t tested = searches ? search_.statistics().pairs_tested : 0;
  HistogramWords& all = *request.histograms;
  const auto stride = std::size_t(all.count());
  const std::size_t copies = copies_of(stride);
  if (!histograms_.reserve(bytes_of(copies * stride)))
    throw DeviceError("out of memory of the GPU: there is no room for histograms");
  set_histograms(request, copies);
  gpu_.synchronize(stream);
  run(request, method);
  wait_for_work(request.progress);
  if (searches) require_at_most(most, double(search_.statistics().pairs_tested - tested));
  const bool may_store = stores_rows(request);
  if (may_store || residency_.all_on_device) load_histogram_values();
  const bool stores = may_store && histogram_values_;
  const CudaDevicePointer outside = histograms_.data() + std::uint64_t(copies * stride) * sizeof(std::int64_t);
  for (std::size_t h = 0; stores && h < kernel_.source.histograms.size(); ++h)
    if (kernel_.source.histograms[h].of_i) store_histogram(request, h, copies, outside);
  const std::size_t read = stores ? std::size_t(all.count_of_totals()) : stride;
  std::vector<std::int64_t> words(copies * read + 1);
  const auto fetch = [&](std::size_t to, std::size_t from, std::size_t count) {
    gpu_.fetch(words.data() + to, histograms_.data() + std::uint64_t(from) * sizeof(std::int64_t),
               count * sizeof(std::int64_t), stream);
  };
  if (read == stride) fetch(0, 0, copies * stride);
  for (std::size_t copy = 0; read > 0 && read < stride && copy < copies; ++copy)
    fetch(copy * read, copy * stride, read);
  if (stores) fetch(copies * read, copies * stride, 1);
  gpu_.synchronize(stream);
  for (std::size_t copy = 0; copy < copies; ++copy) all.add(std::span(words).subspan(copy * read, read));
  if (stores) all.set_rows_stored(words.back());
}

// Before a capture, which can load no code.
void CudaSummation::load_histogram_values() {
  if (histogram_values_ || has_no_histogram_values_) return;
  try {
    histogram_values_ = std::static_pointer_cast<const CudaKernel>(kernel_.load(histogram_values_source()));
  } catch (const DeviceError&) {
    has_no_histogram_values_ = true;  // no compiler
  }
}

// True if this run alone makes all rows, of all chosen i, and their arrays are on the GPU. A batch of a run makes some
// of them, and an i whose batch has no j is in none.
bool CudaSummation::stores_rows(const SumRequest& request) const {
  const HistogramWords& words = *request.histograms;
  if (request.i_list || request.j_part != JPart::Whole || &words.source() != &kernel_.source) return false;
  if (request.i_count != words.rows()) return false;
  bool has_rows = false;
  for (std::size_t h = 0; h < kernel_.source.histograms.size(); ++h) {
    if (!kernel_.source.histograms[h].of_i) continue;
    has_rows = true;
    const ArrayView& view = words.arrays()[h];
    // The words of one that is not wanted are read, for the pairs that named no element of it.
    if (!view.data || residency_of(gpu_, view.data, "a histogram") != Residency::Device) return false;
  }
  return has_rows;
}

// A captured run: the words are neither read nor added to those of other runs.
void CudaSummation::capture_histograms(const SumRequest& request, CudaMethod* method) {
  const auto refuse = [](std::string_view why) {
    throw DeviceError(fmt::format("a run with histograms cannot be captured: {}", why));
  };
  const auto stride = std::size_t(request.histograms->count());
  const std::size_t copies = copies_of(stride);
  if (!histogram_values_) refuse("the code that stores them is not loaded: run once before the capture");
  if (bytes_of(copies * stride) > histograms_.bytes()) refuse("their memory must grow: run once before the capture");
  if (request.j_part != JPart::Whole) refuse("its j come in parts, whose terms the host adds");
  const double pairs = known_pairs(request);
  if (const double most = most_pairs(kernel_.source); pairs > most)
    refuse(fmt::format("real numbers take the terms of at most {:.3g} pairs at once, this run may have {:.3g}", most,
                       pairs));
  const auto is_total = [](const HistogramLayout& layout) { return !layout.of_i; };
  if (request.histograms->are_stored() && std::ranges::any_of(kernel_.source.histograms, is_total))
    refuse("it is done for some i at a time");
  histograms_.retain_for_capture();
  set_histograms(request, copies);
  run(request, method);
  for (std::size_t h = 0; h < kernel_.source.histograms.size(); ++h) store_histogram(request, h, copies);
  request.histograms->set_stored();
}

// Launches the kernel that stores a histogram: of the total, or of the chosen i, which are consecutive.
void CudaSummation::store_histogram(const SumRequest& request, std::size_t h, std::size_t copies,
                                    CudaDevicePointer outside) {
  const HistogramLayout& layout = kernel_.source.histograms[h];
  const ArrayView& view = request.histograms->arrays()[h];
  if (!view.data) return;
  if (residency_of(gpu_, view.data, "a histogram") == Residency::Host)
    throw DeviceError("a run that is captured must find its histograms on the device");
  if (layout.of_i && request.i_list)
    throw DeviceError("a run with histograms of each i cannot be captured for a list of chosen i");
  histogram_data::Rows rows{};
  const std::int64_t first = layout.of_i ? request.i_begin : 0;
  const std::int64_t first_row = layout.of_i ? first + request.i_offset - request.histograms->first_index() : 0;
  rows.words = gpu_pointer<const long long>(launcher_.arguments().histogram(h)) + first_row * layout.row_words();
  rows.copies = std::int64_t(copies);
  rows.of_copy = request.histograms->count();
  rows.rows = layout.of_i ? request.i_count : 1;
  rows.row_words = layout.row_words();
  rows.elements = layout.elements;
  rows.words_of_element = layout.words;
  rows.digit = layout.digit;
  rows.exponent = layout.element == Element::Float ? -149 : -1074;
  rows.integral = layout.element == Element::Int64 ? 1 : 0;
  rows.accumulate = request.accumulate ? 1 : 0;
  rows.to = static_cast<char*>(view.data) + first * view.stride;
  rows.stride = view.stride;
  rows.component_stride = view.component_stride;
  rows.outside = outside == 0 ? nullptr : gpu_pointer<long long>(outside);
  rows.element = std::int64_t(view.element);
  void* arguments[] = {&rows};
  launch_kernel(gpu_, histogram_values_->program().function(), "storing a histogram",
                unsigned(ceil_div(rows.rows * rows.elements, histogram_data::kThreads)), 1, histogram_data::kThreads,
                arguments, static_cast<CudaStream*>(request.stream), false);
}

}  // namespace nbcc
