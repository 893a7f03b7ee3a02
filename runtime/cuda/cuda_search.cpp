// A run -> the launches of a search. One door: CudaSearch. Finds and sums nothing itself.
#include "runtime/cuda/cuda_search.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "runtime/error.h"

namespace nbcc {
namespace {

// As templates/cuda_search.cu.in has them.
constexpr std::int64_t kBlock = 256, kCluster = 8, kChildren = 32, kSortTile = 4096, kPasses = 8, kRows = 12,
                       kDigits = 256, kListStride = 256 + 32, kWarps = 4, kNumberBytes = 16;
constexpr std::int64_t kFewCounters = 2048 + 2 * kRows * kDigits + 2 * (kPasses + 1) + 4;
constexpr std::int64_t kSiteBytes = 16, kBoxBytes = 32, kSpaceBytes = 704;
constexpr std::int64_t kMostBlocksOfExtent = 528, kMostBlocksOfKeys = 1056, kMostBlocksOfSort = 264;
constexpr std::int64_t kManyRows = 1 << 21;  // of i, beyond what caches hold: bench/RESULTS.md, "Results in rows"

struct Told {
  std::array<std::int64_t, kBlock> tested, within;
  std::int64_t searches;
  std::array<std::int64_t, 4> steps, begun;
  std::int64_t ended;
};
static_assert(sizeof(Told) == 4176, "as the text has it");

constexpr const char* kKernels[] = {"nbcc_find_extent", "nbcc_make_keys", "nbcc_make_curve_keys", "nbcc_sort",
                                    "nbcc_arrange",     "nbcc_list",      "nbcc_interact",        "nbcc_collect"};

constexpr std::int64_t kGrain = 256;  // bytes; arrays begin at multiples

// Of a share's i the positions in the order of the groups: whole blocks of nbcc_list.
std::pair<std::int64_t, std::int64_t> positions_of(const SumRequest::Share& share, std::int64_t ni) {
  const std::int64_t blocks = ceil_div(ni, kBlock), end = std::min(share.end(blocks) * kBlock, ni);
  return {std::min(share.begin(blocks) * kBlock, end), end};
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

CudaSearch::CudaSearch(const CudaKernel& kernel, CudaArguments& arguments, const CudaLeftOut& left_out)
    : kernel_(kernel), arguments_(arguments), left_out_(left_out), memory_(kernel.gpu()), told_(kernel.gpu()) {}

CudaSearch::Layout CudaSearch::layout(const SumRequest& request, CudaDevicePointer at) const {
  const std::int64_t ni = request.i_count, nj = request.nj;
  Layout made;
  CudaSearchArgument& a = made.argument;
  const auto take = [&](std::int64_t bytes) {
    const CudaDevicePointer here = at + made.bytes;
    made.bytes += std::size_t(round_up(bytes, kGrain));
    return here;
  };
  // Where it is from run to run, whatever they are.
  a.space = take(kSpaceBytes);
  for (CudaSearchSet* set : {&a.j, &a.i}) {
    const std::int64_t n = set->count = set == &a.j ? nj : ni;
    set->anchors = take(n * kSiteBytes);
    set->sorted = take((n + kBlock + kCluster) * kSiteBytes);
    set->low = take(n * 4);
    set->high = take(n * 4);
    set->keys = take(2 * n * 4);
    set->order = take(2 * n * 4);
    set->groups = take(ceil_div(n, 32) * kBoxBytes);
  }
  a.lists = take(ceil_div(ni, 32) * kListStride * 4);
  a.list_sizes = take(ceil_div(ni, 32) * 4);
  a.needed = take(ceil_div(nj, kBlock) * 4);
  a.rank = take(ni * 4);
  a.rows = take(ni * 8 * kernel_.source.outputs);
  a.packed = take((nj + kBlock + kCluster) * (std::max(kernel_.source.find(Frame::Search)->packed_bytes, 1) +
                                              (request.left_out ? kNumberBytes : 0)));
  std::int64_t boxes = 0, level = 0;
  for (std::int64_t n = ceil_div(nj, kCluster);; n = ceil_div(n, kChildren)) {
    a.first_box[level++] = boxes;
    boxes += n;
    if (level > 1 && n <= kChildren) break;
  }
  a.first_box[level] = boxes;
  a.top = level - 1;
  a.boxes = take(boxes * kBoxBytes);
  a.extents = take(kMostBlocksOfExtent * 6 * 8);
  a.told = told_.data();
  const std::int64_t tiles = ceil_div(nj, kSortTile) + ceil_div(ni, kSortTile);
  const std::int64_t box_arrivals = a.top < 2 ? 0 : boxes - a.first_box[2];
  made.counter_count = std::size_t(kFewCounters + box_arrivals + tiles * kPasses * kDigits);
  a.counters = take(std::int64_t(made.counter_count) * 4);
  return made;
}

bool CudaSearch::has_room(const SumRequest& request) const {
  return !functions_.empty() && program_leaves_out_ == (request.left_out != nullptr) &&
         layout(request, 0).bytes <= memory_.bytes();
}

bool CudaSearch::reserve(const SumRequest& request) {
  const bool exclusions = request.left_out != nullptr;
  if (functions_.empty() || program_leaves_out_ != exclusions) {
    // All of them or none: a run that fails here leaves the sum as it was.
    const KernelVariant& variant = *kernel_.source.find(Frame::Search);
    const CudaProgram* const program = kernel_.program_of({variant.frame, variant.launches.front(), exclusions});
    std::map<std::string_view, CudaFunction*> functions;
    for (const char* name : kKernels) functions[name] = program->find(name);
    // What is kept was packed for another program.
    clear_space_ = true;
    program_ = program;
    program_leaves_out_ = exclusions;
    functions_ = std::move(functions);
  }
  const std::size_t bytes = layout(request, 0).bytes;
  clear_told_ = clear_told_ || told_.bytes() == 0;
  clear_space_ = clear_space_ || memory_.bytes() < bytes;
  return told_.reserve(sizeof(Told)) && memory_.reserve(bytes);
}

// The places and reaches of i and j are computed alike from the same arrays, and all i are chosen in their order.
bool CudaSearch::i_are_j(const SumRequest& request, const CudaPiece& piece) const {
  const SearchLayout& search = kernel_.source.search;
  // j that are kept may be older than their array.
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
                        std::vector<void*> arguments, CudaStream* stream, bool early) const {
  launch_kernel(kernel_.gpu(), functions_.at(name), name, blocks, sides, threads, arguments.data(), stream,
                early && program_->waits());
}

void CudaSearch::run(const CudaRunContext& context, const CudaPiece& piece) {
  const SumRequest& request = context.request;
  CudaStream* const stream = context.stream;
  const std::int64_t ni = piece.ni, nj = request.nj;
  Layout now = layout(request, memory_.data());
  CudaSearchArgument& search = now.argument;
  search.i_are_j = i_are_j(request, piece) ? 1 : 0;
  search.skin = request.skin;
  search.left_out = left_out_.table();
  // Of the groups, all or a share.
  const bool is_shared = request.share.i_of_run > 0;
  const auto [first, end] = positions_of(request.share, ni);
  search.first_group = first / 32;
  search.end_group = ceil_div(end, 32);
  if (!is_shared) search.needed = 0;
  if (!is_shared && ni < kManyRows) search.rank = 0;
  search.in_rows = search.rank != 0 && !request.accumulate && piece.last ? 1 : 0;
  CudaPiece all = piece;
  all.j_begin = 0;
  all.nj = nj;
  arguments_.set_piece(all);
  void* const particles = arguments_.data();
  const CudaGpu& gpu = kernel_.gpu();
  const auto clear = [&](CudaDevicePointer at, std::size_t words) {
    gpu.require(gpu.driver().memset_d32_async(at, 0, words, stream), "clearing memory of the GPU");
  };
  if (clear_told_) clear(search.told, sizeof(Told) / 4);
  clear_told_ = false;
  if (std::exchange(epoch_, request.share.epoch) != request.share.epoch) clear_space_ = true;
  if (clear_space_) clear(search.space, kSpaceBytes / 4);
  // Positions at the last rebuild and lists do not match if a launch fails between them.
  clear_space_ = true;
  clear(search.counters, now.counter_count);
  const auto blocks = [](std::int64_t n, std::int64_t of) { return unsigned(ceil_div(n, of)); };
  const std::int64_t most = search.i_are_j ? nj : std::max(ni, nj);
  const unsigned sides = search.i_are_j ? 1 : 2;
  const auto of_extent = unsigned(std::min(ceil_div(ni + nj, kBlock), kMostBlocksOfExtent));
  const bool early = !context.capturing;
  launch("nbcc_find_extent", of_extent, 1, kBlock, {particles, &search}, stream, false);
  for (const char* keys : {"nbcc_make_keys", "nbcc_make_curve_keys"})
    launch(keys, std::min(blocks(most, kBlock), unsigned(kMostBlocksOfKeys)), sides, kBlock, {particles, &search},
           stream, early);
  launch("nbcc_sort", std::min(blocks(most, kSortTile), unsigned(kMostBlocksOfSort)), sides, kBlock, {&search}, stream,
         early);
  launch("nbcc_arrange", blocks(most, kBlock), sides, kBlock, {particles, &search}, stream, early);
  // The arguments that later runs and nbcc_collect take keep the caller's outputs, whatever fails here.
  std::optional<CudaArguments> rows;
  if (search.in_rows != 0) rows.emplace(into_rows(search));
  if (end > first) {
    launch("nbcc_list", blocks(end - first, kBlock), 1, kBlock, {&search}, stream, early);
    launch("nbcc_interact", blocks(end - first, 32 * kWarps), 1, 32 * kWarps,
           {rows ? rows->data() : particles, &search}, stream, early);
  }
  last_ = search;
  last_ni_ = ni;
  if (search.in_rows != 0 && !is_shared) collect(stream);
  clear_space_ = false;
  ++runs_;
}

// The wanted numbers of a row one behind the other, each of as many bytes as the largest.
CudaArguments CudaSearch::into_rows(CudaSearchArgument& search) const {
  CudaArguments rows = arguments_;
  for (int c = 0; c < kernel_.source.outputs; ++c) {
    const CudaOutput& output = rows.output(c);
    if (output.data != 0)
      search.row_element = std::max<std::int64_t>(search.row_element, size_of(Element(output.element)));
  }
  for (int c = 0; c < kernel_.source.outputs; ++c) {
    CudaOutput& output = rows.output(c);
    if (output.data == 0) continue;
    output.data = search.rows + std::uint64_t(search.row_bytes);
    search.row_bytes += search.row_element;
  }
  for (int c = 0; c < kernel_.source.outputs; ++c) rows.output(c).stride = search.row_bytes;
  return rows;
}

CudaSearch::Rows CudaSearch::rows_of(const SumRequest::Share& share) const {
  if (last_.in_rows == 0) return {};
  const auto [first, end] = positions_of(share, last_ni_);
  return {last_.rows + std::uint64_t(first * last_.row_bytes), std::size_t((end - first) * last_.row_bytes)};
}

void CudaSearch::collect(CudaStream* stream) {
  launch("nbcc_collect", unsigned(ceil_div(last_ni_, kBlock)), 1, kBlock, {arguments_.data(), &last_}, stream, false);
}

SumStatistics CudaSearch::statistics() const {
  if (told_.bytes() == 0 || clear_told_) return {};
  Told told;
  const CudaGpu& gpu = kernel_.gpu();
  gpu.fetch(&told, told_.data(), sizeof(told), nullptr);
  gpu.synchronize(nullptr);
  const auto sum = [](const auto& shares) { return std::accumulate(shares.begin(), shares.end(), std::int64_t(0)); };
  const auto seconds = [&](std::size_t step) { return double(told.steps[step]) * 1e-9; };
  SumStatistics statistics;
  statistics.pairs_tested = sum(told.tested);
  statistics.pairs_within = sum(told.within);
  statistics.runs = runs_;
  statistics.searches = told.searches;
  // The sums of the last run are added when the next one begins.
  const double last = told.ended != 0 ? double(told.ended - told.begun[3]) * 1e-9 : 0;
  statistics.seconds = {seconds(0), seconds(1), seconds(2), seconds(3) + last};
  return statistics;
}

}  // namespace nbcc
