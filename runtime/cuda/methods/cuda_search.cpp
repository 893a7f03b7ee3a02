// A run -> the launches of a search and their argument. Interface: CudaSearch.
#include "runtime/cuda/methods/cuda_search.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

#include "runtime/error.h"

namespace nbcc {
namespace {

using namespace search_data;

// Blocks per multiprocessor of kernels whose blocks loop over the particles.
constexpr std::int64_t kBlocksOfExtent = 4, kBlocksOfKeys = 8, kBlocksOfSort = 2;
// The minimum number of i for which the output buffer saves time; results of fewer i fit in the caches:
// bench/RESULTS.md, "Results in rows".
constexpr std::int64_t kMinBufferedI = 1 << 21;

constexpr const char* kKernels[] = {"nbcc_find_extent", "nbcc_make_keys", "nbcc_make_curve_keys", "nbcc_sort",
                                    "nbcc_arrange",     "nbcc_list",      "nbcc_interact",        "nbcc_unpermute"};

constexpr std::int64_t kAlignment = 256;  // bytes; alignment of arrays

// The range of a work share's i in sorted order: full blocks of nbcc_list.
std::pair<std::int64_t, std::int64_t> sorted_range(const SumRequest::Share& share, std::int64_t ni) {
  const std::int64_t blocks = ceil_div(ni, kBlock), end = std::min<std::int64_t>(share.end(blocks) * kBlock, ni);
  return {std::min<std::int64_t>(share.begin(blocks) * kBlock, end), end};
}

// The array that holds a component of an input.
const ArrayView* view_of(const KernelSource& source, const SumRequest& request, Role role, int component,
                         std::int64_t* offset) {
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    const FieldLayout& field = source.fields[f];
    if (field.role != role || component < field.first || component >= field.first + field.components()) continue;
    *offset = (component - field.first) * request.views[f].component_stride;
    return &request.views[f];
  }
  return nullptr;
}

}  // namespace

CudaSearch::CudaSearch(const CudaKernel& kernel, CudaArguments& arguments, const CudaExclusions& exclusions)
    : kernel_(kernel), arguments_(arguments), exclusions_(exclusions), memory_(kernel.gpu()), report_(kernel.gpu()) {}

CudaSearch::Layout CudaSearch::layout(const SumRequest& request, CudaDevicePointer at) const {
  const std::int64_t ni = request.i_count, nj = request.nj;
  Layout made;
  Search& a = made.argument;
  // Reserves an array of `count` elements of type T.
  const auto take = [&]<typename T>(T*& array, std::int64_t count) {
    array = reinterpret_cast<T*>(at + made.bytes);
    made.bytes += std::size_t(round_up(count * std::int64_t(sizeof(T)), kAlignment));
  };
  take(a.domain, 1);  // first: its address is the same in all runs
  for (SearchSet* set : {&a.side[0], &a.side[1]}) {
    const std::int64_t n = set->count = set == &a.side[0] ? nj : ni;
    take(set->positions_at_rebuild, n);
    take(set->sorted, n + kBlock + kCluster);
    take(set->low, n);
    take(set->high, n);
    take(set->keys, 2 * n);
    take(set->order, 2 * n);
    take(set->groups, ceil_div(n, kGroup));
  }
  take(a.lists, ceil_div(ni, kGroup) * kListStride);
  take(a.list_sizes, ceil_div(ni, kGroup));
  take(a.needed, ceil_div(nj, kBlock));
  take(a.inverse_order, ni);
  take(a.output_buffer, ni * 8 * kernel_.source.outputs);
  take(a.packed, (nj + kBlock + kCluster) * (std::max(kernel_.source.find(Frame::Search)->packed_bytes, 1) +
                                             (request.exclusions ? kExclusionBytes : 0)));
  std::int64_t boxes = 0, level = 0;
  for (std::int64_t n = ceil_div(nj, kCluster);; n = ceil_div(n, kChildren)) {
    a.first_box[level++] = boxes;
    boxes += n;
    if (level > 1 && n <= kChildren) break;
  }
  a.first_box[level] = boxes;
  a.top = level - 1;
  take(a.boxes, boxes);
  a.wide_blocks = nj < kMinWideJ || !kernel_.source.search.of_i() ? 0 : kWideBlocks;
  if (a.wide_blocks > 0)
    take(a.wide_sums, kWideGroups * kWideSlices * std::int64_t(std::max(accumulators_of(kernel_.source), 1)) * kGroup);
  take(a.extents, kBlocksOfExtent * kernel_.gpu().multiprocessors() * 6);
  a.report = reinterpret_cast<SearchReport*>(report_.data());
  const std::int64_t tiles = ceil_div(nj, kSortTile) + ceil_div(ni, kSortTile);
  const std::int64_t box_arrivals = a.top < 2 ? 0 : boxes - a.first_box[2];
  made.counter_count = std::size_t(kFewCounters + box_arrivals + tiles * kPasses * kDigits);
  take(a.counters, std::int64_t(made.counter_count));
  return made;
}

bool CudaSearch::has_room(const SumRequest& request) const {
  return !functions_.empty() && program_has_exclusions_ == (request.exclusions != nullptr) &&
         layout(request, 0).bytes <= memory_.bytes();
}

bool CudaSearch::reserve(const SumRequest& request) {
  const bool exclusions = request.exclusions != nullptr;
  if (functions_.empty() || program_has_exclusions_ != exclusions) {
    // Find all functions before a member changes: a failure here leaves the sum as it was.
    const KernelVariant& variant = *kernel_.source.find(Frame::Search);
    const CudaProgram* const program = kernel_.program_of({variant.frame, variant.launches.front(), exclusions});
    std::map<std::string_view, CudaFunction*> functions;
    for (const char* name : kKernels) functions[name] = program->find(name);
    // The packed j in memory belong to another program.
    clear_domain_ = true;
    program_ = program;
    program_has_exclusions_ = exclusions;
    functions_ = std::move(functions);
  }
  const std::size_t bytes = layout(request, 0).bytes;
  clear_report_ = clear_report_ || report_.bytes() == 0;
  clear_domain_ = clear_domain_ || memory_.bytes() < bytes;
  return report_.reserve(sizeof(SearchReport)) && memory_.reserve(bytes);
}

// True if positions and reaches of i and j are computed by the same formulas from the same arrays, and all i are chosen
// in order.
bool CudaSearch::i_are_j(const SumRequest& request, const CudaPiece& piece) const {
  const SearchLayout& search = kernel_.source.search;
  // Reused j may be older than their array.
  if (request.reuse != JReuse::None) return false;
  if (search.mirrored.empty() || piece.i_list != 0 || request.i_list || request.i_begin != 0 || piece.ni != request.nj)
    return false;
  return std::ranges::all_of(search.mirrored, [&](const auto& pair) {
    std::int64_t i_offset = 0, j_offset = 0;
    const ArrayView* const i = view_of(kernel_.source, request, Role::InputI, pair.first, &i_offset);
    const ArrayView* const j = view_of(kernel_.source, request, Role::InputJ, pair.second, &j_offset);
    return i && j && i->data == j->data && i_offset == j_offset && i->stride == j->stride && i->element == j->element;
  });
}

void CudaSearch::launch(const char* name, unsigned blocks, unsigned sides, unsigned threads,
                        std::vector<void*> arguments, CudaStream* stream, bool overlaps) const {
  launch_kernel(kernel_.gpu(), functions_.at(name), name, blocks, sides, threads, arguments.data(), stream,
                overlaps && program_->waits());
}

void CudaSearch::run(const CudaRunContext& context, const CudaPiece& piece) {
  const SumRequest& request = context.request;
  CudaStream* const stream = context.stream;
  const std::int64_t ni = piece.ni, nj = request.nj;
  Layout now = layout(request, memory_.data());
  Search& search = now.argument;
  search.i_are_j = i_are_j(request, piece) ? 1 : 0;
  search.skin = request.skin;
  search.exclusions = reinterpret_cast<const void*>(exclusions_.table().of);
  search.far_exclusions = reinterpret_cast<const int*>(exclusions_.table().far);
  const bool is_shared = request.share.i_of_run > 0;
  const auto [first, end] = sorted_range(request.share, ni);
  search.first_group = first / kGroup;
  search.end_group = ceil_div(end, kGroup);
  if (!is_shared) search.needed = nullptr;
  if (!is_shared && ni < kMinBufferedI) search.inverse_order = nullptr;
  search.uses_output_buffer = search.inverse_order && !request.accumulate && piece.last ? 1 : 0;
  CudaPiece all = piece;
  all.j_begin = 0;
  all.nj = nj;
  arguments_.set_piece(all);
  void* const particles = arguments_.data();
  const CudaGpu& gpu = kernel_.gpu();
  const auto clear = [&](const void* array, std::size_t words) {
    gpu.require(gpu.driver().memset_d32_async(reinterpret_cast<CudaDevicePointer>(array), 0, words, stream),
                "clearing memory of the GPU");
  };
  if (clear_report_) clear(search.report, sizeof(SearchReport) / 4);
  clear_report_ = false;
  if (std::exchange(epoch_, request.share.epoch) != request.share.epoch) clear_domain_ = true;
  if (clear_domain_) clear(search.domain, sizeof(Domain) / 4);
  // Positions at the last rebuild and lists do not match if a launch fails between them.
  clear_domain_ = true;
  clear(search.counters, now.counter_count);
  const auto blocks = [](std::int64_t n, std::int64_t of) { return unsigned(ceil_div(n, of)); };
  const std::int64_t most = search.i_are_j ? nj : std::max(ni, nj);
  const unsigned sides = search.i_are_j ? 1 : 2;
  const auto at_most = [&](unsigned count, std::int64_t of_multiprocessor) {
    return std::min(count, unsigned(of_multiprocessor * gpu.multiprocessors()));
  };
  const bool overlaps = !context.capturing;
  launch("nbcc_find_extent", at_most(blocks(ni + nj, kBlock), kBlocksOfExtent), 1, kBlock, {particles, &search}, stream,
         false);
  for (const char* keys : {"nbcc_make_keys", "nbcc_make_curve_keys"})
    launch(keys, at_most(blocks(most, kBlock), kBlocksOfKeys), sides, kBlock, {particles, &search}, stream, overlaps);
  launch("nbcc_sort", at_most(blocks(most, kSortTile), kBlocksOfSort), sides, kBlock, {&search}, stream, overlaps);
  launch("nbcc_arrange", blocks(most, kBlock), sides, kBlock, {particles, &search}, stream, overlaps);
  // A copy: later runs and nbcc_unpermute read the caller's outputs in arguments_, even if a launch fails here.
  std::optional<CudaArguments> buffered;
  if (search.uses_output_buffer != 0) buffered.emplace(into_output_buffer(search));
  if (end > first) {
    launch("nbcc_list", blocks(end - first, kBlock), 1, kBlock, {&search}, stream, overlaps);
    launch("nbcc_interact", blocks(end - first, kGroup * kWarps) + unsigned(search.wide_blocks), 1, kGroup * kWarps,
           {buffered ? buffered->data() : particles, &search}, stream, overlaps);
  }
  last_ = search;
  last_ni_ = ni;
  if (search.uses_output_buffer != 0 && !is_shared) unpermute(stream);
  clear_domain_ = false;
  ++runs_;
}

// The requested outputs of an i are adjacent in the buffer. Each takes as many bytes as the largest element type.
CudaArguments CudaSearch::into_output_buffer(Search& search) const {
  CudaArguments buffered = arguments_;
  for (int c = 0; c < kernel_.source.outputs; ++c) {
    const CudaOutput& output = buffered.output(c);
    if (output.data) search.output_bytes = std::max<long long>(search.output_bytes, size_of(Element(output.element)));
  }
  for (int c = 0; c < kernel_.source.outputs; ++c) {
    CudaOutput& output = buffered.output(c);
    if (!output.data) continue;
    output.data = search.output_buffer + search.output_stride;
    search.output_stride += search.output_bytes;
  }
  for (int c = 0; c < kernel_.source.outputs; ++c) buffered.output(c).stride = search.output_stride;
  return buffered;
}

CudaSearch::BufferRange CudaSearch::buffer_range(const SumRequest::Share& share) const {
  if (last_.uses_output_buffer == 0) return {};
  const auto [first, end] = sorted_range(share, last_ni_);
  return {reinterpret_cast<CudaDevicePointer>(last_.output_buffer + first * last_.output_stride),
          std::size_t((end - first) * last_.output_stride)};
}

void CudaSearch::unpermute(CudaStream* stream) {
  launch("nbcc_unpermute", unsigned(ceil_div(last_ni_, kBlock)), 1, kBlock, {arguments_.data(), &last_}, stream, false);
}

SumStatistics CudaSearch::statistics() const {
  if (report_.bytes() == 0 || clear_report_) return {};
  SearchReport report;
  const CudaGpu& gpu = kernel_.gpu();
  gpu.fetch(&report, report_.data(), sizeof(report), nullptr);
  gpu.synchronize(nullptr);
  const auto sum = [](const auto& shares) {
    return std::accumulate(std::begin(shares), std::end(shares), std::int64_t(0));
  };
  const auto seconds = [&](std::size_t step) { return double(std::int64_t(report.steps[step])) * 1e-9; };
  SumStatistics statistics;
  statistics.pairs_tested = sum(report.tested);
  statistics.pairs_within = sum(report.within);
  statistics.runs = runs_;
  statistics.searches = report.searches;
  // The time of the last run's sums is added to steps[3] when the next run begins.
  const double last = report.ended != 0 ? double(std::int64_t(report.ended - report.begun[3])) * 1e-9 : 0;
  statistics.seconds = {seconds(0), seconds(1), seconds(2), seconds(3) + last};
  return statistics;
}

}  // namespace nbcc
