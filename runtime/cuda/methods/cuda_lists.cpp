// Lists -> arrays on the GPU and launches. Interface: CudaLists. The contents of lists were checked before
// (runtime/sum/request/lists.h).
#include "runtime/cuda/methods/cuda_lists.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

#include "fmt/format.h"
#include "runtime/cuda/program/cuda_residency.h"
#include "runtime/error.h"
#include "runtime/sum/request/overlap.h"

namespace nbcc {
namespace {

constexpr std::int64_t kPackThreads = 256;  // threads per block of nbcc_pack_j
// If more j than this act on an i in the mean, all warps of a block sum one group.
constexpr std::int64_t kMinJForWholeBlock = 512;
// The maximum of pairs that a lane of cuda_pairs.cu.in loads ahead of its sums.
constexpr std::size_t kPrefetchedPairs = 8;
// The kernel counts the j of 32 ranges plus one tile in 31 bits.
constexpr std::int64_t kMaxJPerRange = (std::int64_t(1) << 26) - 64;

// Statements of pair formulas that a multiprocessor executes per clock cycle in sums over lists: a third of its peak.
constexpr double kListedStatementsPerCycle = 40;

// Checks that no output overlaps the input_pair field, because results are stored while other i still read it, and that
// its address and strides are aligned, because kernels load naturally aligned elements.
void check_pair_input(const KernelSource& source, const SumRequest& request, std::size_t input) {
  const FieldLayout& field = source.fields[input];
  const ArrayView& view = request.views[input];
  const auto is_aligned = [&](std::int64_t bytes) { return bytes % size_of(view.element) == 0; };
  if (!is_aligned(std::int64_t(reinterpret_cast<std::uintptr_t>(view.data))) || !is_aligned(view.stride) ||
      (field.components() > 1 && !is_aligned(view.component_stride)))
    throw UsageError(
        fmt::format("input_pair '{}': on a GPU its address and strides must be multiples of an element, {}", field.name,
                    size_of(view.element)));
  const auto is_input = [input](std::size_t in, std::size_t) { return in == input; };
  if (const auto found = find_overlap(source.fields, request.views, disjoint, is_input))
    throw UsageError(fmt::format("output '{}' may not be in the memory of input_pair '{}' on a GPU",
                                 source.fields[found->output].name, field.name));
}

std::vector<int> narrowed(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

}  // namespace

// Collects the arrays in one host buffer, then allocates GPU memory of that size and sends them.
class CudaLists::Upload {
 public:
  // send() sets `at` to the GPU address of `values`.
  template <typename T, typename Pointer>
  void add(const std::vector<T>& values, Pointer& at) {
    static_assert(sizeof(T) == sizeof(*at));
    const std::size_t begin = (bytes_.size() + 255) / 256 * 256;
    bytes_.resize(begin + values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes_.data() + begin, values.data(), values.size() * sizeof(T));
    addresses_.emplace_back(
        [&at](CudaDevicePointer address) { at = gpu_pointer<std::remove_pointer_t<Pointer>>(address); }, begin);
  }
  [[nodiscard]] bool send(const CudaGpu& gpu, CudaBuffer& to) const {
    if (!to.reallocate(bytes_.size() + 1)) return false;
    gpu.send(to.data(), bytes_.data(), bytes_.size(), nullptr);
    gpu.synchronize(nullptr);
    for (const auto& [set, begin] : addresses_) set(to.data() + begin);
    return true;
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::pair<std::function<void(CudaDevicePointer)>, std::size_t>> addresses_;
};

CudaLists::CudaLists(const CudaKernel& kernel, CudaArguments& arguments, const CudaExclusions& exclusions,
                     CudaPace& pace)
    : kernel_(kernel),
      arguments_(arguments),
      exclusions_(exclusions),
      pace_(pace),
      listed_(kernel.gpu()),
      packed_(kernel.gpu()),
      pairs_(kernel.gpu()),
      group_params_(kernel.gpu()),
      pinned_pairs_(kernel.gpu()),
      pinned_params_(kernel.gpu()),
      pairs_sent_(kernel.gpu()),
      params_sent_(kernel.gpu()) {}

bool CudaLists::reads_in_place(const SumRequest& request) const {
  if (!request.params_of_groups.empty()) return true;
  const Lists* const lists = request.lists;
  if (kernel_.source.on_gpu.shifts_packed) return false;
  return lists && (lists->on_device ? lists->on_device->shifts != 0 : !lists->shifts.empty());
}

const KernelVariant& CudaLists::frame(const SumRequest& request) const {
  return *kernel_.source.find(request.lists ? Frame::Lists : Frame::ListedPairs);
}

// If many j act on each i, all warps of a block sum one group. That configuration is not compiled for j that kernels
// read from the caller's arrays: such groups are small systems or cells of a grid.
CudaVariant CudaLists::variant(const SumRequest& request) const {
  const std::vector<LaunchConfig>& launches = frame(request).launches;
  if (!request.lists) return {Frame::ListedPairs, launches.front()};
  if (request.lists->on_device)
    return {Frame::Lists, launches.front(), request.exclusions != nullptr, reads_in_place(request)};
  const bool many_j = request.lists->pairs > kMinJForWholeBlock * std::max<std::int64_t>(request.lists->i_count(), 1);
  const bool in_place = reads_in_place(request);
  return {Frame::Lists, many_j && !in_place ? launches.back() : launches.front(), request.exclusions != nullptr,
          in_place};
}

std::size_t CudaLists::packed_bytes(const SumRequest& request) const {
  return std::size_t(request.nj * frame(request).packed_bytes);
}

std::size_t CudaLists::pair_bytes(const SumRequest& request) const {
  std::int64_t bytes = 0;
  for (const Column& column : kernel_.source.columns.of_pair)
    if (request.listed_pairs)
      bytes += round_up(std::int64_t(request.listed_pairs->j.size()) * size_of(column.element), 256);
  return std::size_t(bytes);
}

bool CudaLists::is_sent(const SumRequest& request) const {
  return sent_ == (request.lists ? request.lists->number : request.listed_pairs->number);
}

std::size_t CudaLists::bytes_for(const SumRequest& request) const {
  return packed_bytes(request) + pair_bytes(request) + request.params_of_groups.size() * sizeof(double);
}

std::size_t CudaLists::bytes() const {
  return listed_.bytes() + packed_.bytes() + pairs_.bytes() + group_params_.bytes();
}

void CudaLists::retain_for_capture() {
  for (CudaBuffer* buffer : {&listed_, &packed_, &pairs_, &group_params_}) buffer->retain_for_capture();
}

void CudaLists::release() {
  for (CudaBuffer* buffer : {&listed_, &packed_, &pairs_, &group_params_}) buffer->release();
  sent_ = 0;
}

bool CudaLists::has_room(const SumRequest& request) const {
  return program_ && program_variant_ == variant(request) && is_sent(request) &&
         packed_bytes(request) <= packed_.bytes() && pair_bytes(request) <= pairs_.bytes() &&
         request.params_of_groups.size() * sizeof(double) <= group_params_.bytes();
}

bool CudaLists::reserve(const SumRequest& request) {
  const CudaVariant wanted = variant(request);
  const CudaProgram* const program = kernel_.program_of(wanted);
  pack_ = program->find("nbcc_pack_j");
  program_ = program;
  program_variant_ = wanted;
  return (is_sent(request) || (request.lists ? send_lists(*request.lists) : send_rows(*request.listed_pairs))) &&
         packed_.reserve(packed_bytes(request) + 1) &&
         (!request.listed_pairs || pairs_.reserve(pair_bytes(request) + 1)) &&
         group_params_.reserve(request.params_of_groups.size() * sizeof(double));
}

bool CudaLists::send_lists(const Lists& lists) {
  sent_ = 0;
  if (const std::optional<DeviceLists>& made = lists.on_device) {
    argument_ = {};
    argument_.groups = made->item_count;
    argument_.items = gpu_pointer<const list_data::Item>(made->items);
    argument_.ranges = gpu_pointer<const list_data::Range>(made->ranges);
    argument_.shifts = made->shifts == 0 ? nullptr : gpu_pointer<const double>(made->shifts);
    argument_.j_order = gpu_pointer<const list_data::index>(made->j_order);
    i_order_ = gpu_pointer<const list_data::index>(made->i_order);
    sent_ = lists.number;
    return true;
  }
  std::vector<int> range_first{0};
  std::vector<list_data::Range> ranges;
  std::vector<double> shifts;
  for (std::int64_t group = 0; group < lists.groups(); ++group) {
    for (auto r = std::size_t(lists.range_first[std::size_t(group)]);
         r < std::size_t(lists.range_first[std::size_t(group) + 1]); ++r) {
      const std::int64_t end = lists.j_end[r];
      for (std::int64_t begin = lists.j_begin[r]; begin < end; begin += kMaxJPerRange) {
        ranges.push_back({int(begin), int(std::min(kMaxJPerRange, end - begin))});
        const auto shift = std::ptrdiff_t(r) * lists.axes;
        shifts.insert(shifts.end(), lists.shifts.begin() + (lists.shifts.empty() ? 0 : shift),
                      lists.shifts.begin() + (lists.shifts.empty() ? 0 : shift + lists.axes));
      }
    }
    range_first.push_back(int(ranges.size()));
  }
  argument_.groups = lists.groups();
  argument_.items = nullptr;
  Upload upload;
  upload.add(narrowed(lists.i_first), argument_.i_first);
  upload.add(range_first, argument_.range_first);
  upload.add(ranges, argument_.ranges);
  upload.add(shifts, argument_.shifts);
  upload.add(lists.j_order, argument_.j_order);
  upload.add(lists.i_order, i_order_);
  if (!upload.send(kernel_.gpu(), listed_)) return false;
  if (lists.j_order.empty()) argument_.j_order = nullptr;
  if (lists.shifts.empty()) argument_.shifts = nullptr;
  if (lists.i_order.empty()) i_order_ = nullptr;
  sent_ = lists.number;
  return true;
}

// Transposes the rows in slabs of 32: [slab][k][row % 32] is the j of the row's k-th pair, so that the lanes of a warp
// read adjacent indices. Shorter rows are padded with index 0.
bool CudaLists::send_rows(const PairRows& rows) {
  sent_ = 0;
  const std::int64_t ni = std::int64_t(rows.first.size()) - 1;
  std::vector<std::int64_t> slab_first;
  std::vector<int> numbers;
  for (std::int64_t slab = 0; slab < ceil_div(ni, 32); ++slab) {
    const std::size_t begin = numbers.size();
    slab_first.push_back(std::int64_t(begin));
    for (std::int64_t lane = 0; lane < std::min<std::int64_t>(32, ni - slab * 32); ++lane) {
      const std::span<const int> row = rows.of(slab * 32 + lane);
      numbers.resize(std::max(numbers.size(), begin + 32 * row.size()), 0);
      for (std::size_t k = 0; k < row.size(); ++k) numbers[begin + 32 * k + std::size_t(lane)] = row[k];
    }
  }
  numbers.resize(numbers.size() + 2 * kPrefetchedPairs * 32, 0);
  Upload upload;
  upload.add(rows.first, row_argument_.first);
  upload.add(slab_first, row_argument_.slab_first);
  upload.add(numbers, row_argument_.numbers);
  if (!upload.send(kernel_.gpu(), listed_)) return false;
  sent_ = rows.number;
  return true;
}

// Sets the kernel argument for the input_pair fields: their addresses if they are on the GPU, else packed columns that
// are sent to the GPU.
void CudaLists::send_pairs(const CudaRunContext& context) {
  const SumRequest& request = context.request;
  const KernelSource& source = kernel_.source;
  const CudaGpu& gpu = kernel_.gpu();
  const auto count = std::int64_t(request.listed_pairs->j.size());
  std::int64_t at = 0;
  bool waited = false;
  for (const Column& column : source.columns.of_pair) {
    for (std::size_t f = 0; f < source.fields.size(); ++f) {
      const FieldLayout& field = source.fields[f];
      const int component = column.component - field.first;
      if (field.role != Role::InputPair || component < 0 || component >= field.components()) continue;
      const ArrayView& view = request.views[f];
      if (count == 0) continue;
      if (residency_of(gpu, view.data, field.name.c_str()) == Residency::Device) {
        check_pair_input(source, request, f);
        arguments_.pair(column.component) = {static_cast<const char*>(view.data) + component * view.component_stride,
                                             view.stride, std::int64_t(view.element)};
        continue;
      }
      if (context.capturing) throw DeviceError("a run that is captured must find the inputs of pairs on the device");
      const std::size_t bytes = std::size_t(count * size_of(column.element));
      if (!waited) pairs_sent_.wait();
      waited = true;
      pinned_pairs_.reserve(pair_bytes(request));
      pack(view, component, {0, nullptr, count}, {component, column.element, Column::Part::Whole},
           pinned_pairs_.data() + at);
      gpu.send(pairs_.data() + std::uint64_t(at), pinned_pairs_.data() + at, bytes, context.stream);
      arguments_.pair(column.component) = {gpu_pointer<const char>(pairs_.data() + std::uint64_t(at)),
                                           size_of(column.element), std::int64_t(column.element)};
      at += round_up(std::int64_t(bytes), 256);
    }
  }
  if (waited) pairs_sent_.record(context.stream);
}

// The number of blocks among which the i of each group are divided: enough for the largest group, but at most about
// four times what the mean group needs.
unsigned CudaLists::blocks_per_group(const Lists& lists) const {
  const std::int64_t of_share = 32 * std::int64_t(program_->config().i_per_thread);
  const std::int64_t mean = ceil_div(4 * lists.i_count(), of_share * std::max<std::int64_t>(lists.groups(), 1)) + 1;
  return unsigned(std::clamp<std::int64_t>(std::min(ceil_div(lists.max_i_per_group, of_share), mean), 1, 65535));
}

void CudaLists::send(const CudaRunContext& context) {
  const std::span<const double> params = context.request.params_of_groups;
  if (!params.empty()) {
    if (context.capturing) throw DeviceError("params of batches are sent by every run, which cannot be captured");
    params_sent_.wait();
    pinned_params_.reserve(params.size_bytes());
    std::memcpy(pinned_params_.data(), params.data(), params.size_bytes());
    kernel_.gpu().send(group_params_.data(), pinned_params_.data(), params.size_bytes(), context.stream);
    params_sent_.record(context.stream);
  }
  if (context.request.listed_pairs) send_pairs(context);
}

double CudaLists::units(const SumRequest& request) const {
  return request.lists ? request.lists->pair_count() : double(request.listed_pairs->j.size());
}

// Predicted seconds of a run's sums.
double CudaLists::seconds(const SumRequest& request) const {
  const double pairs = units(request) * (request.share.to - request.share.from);
  const CudaGpu& gpu = kernel_.gpu();
  return pairs * slots_per_pair(kernel_.source, gpu.rates()) / (kListedStatementsPerCycle * gpu.cycles_per_second());
}

void CudaLists::run(const CudaRunContext& context, const CudaPiece& piece) {
  const SumRequest& request = context.request;
  const Lists* const lists = request.lists;
  CudaPiece all = piece;
  all.nj = request.nj;
  all.j_begin = 0;
  if (lists) all.i_list = reinterpret_cast<CudaDevicePointer>(i_order_), all.i_begin = 0;
  arguments_.set_piece(all);
  void* const particles = arguments_.data();
  const CudaGpu& gpu = kernel_.gpu();
  const bool overlaps = !context.capturing && program_->waits(), in_place = reads_in_place(request);
  argument_.packed = row_argument_.packed = gpu_pointer<const list_data::JParticle>(packed_.data());
  argument_.exclusions = exclusions_.table();
  argument_.params = gpu_pointer<const double>(request.params_of_groups.empty() ? 0 : group_params_.data());
  void* const last = lists ? static_cast<void*>(&argument_) : &row_argument_;
  const auto launch = [&](CudaFunction* function, const char* name, std::int64_t x, unsigned y, std::int64_t threads,
                          bool may_overlap) {
    void* arguments[] = {particles, last};
    if (x > 0)
      launch_kernel(gpu, function, name, unsigned(x), y, unsigned(threads), arguments, context.stream, may_overlap);
  };
  if (!in_place) launch(pack_, "nbcc_pack_j", ceil_div(request.nj, kPackThreads), 1, kPackThreads, false);
  const LaunchConfig config = program_->config();
  const std::int64_t of_block = config.j_slices > 1 ? 1 : config.threads / 32;
  const std::int64_t blocks = lists ? ceil_div(argument_.groups, of_block) : ceil_div(piece.ni, config.threads);
  const std::int64_t first = request.share.begin(blocks), count = request.share.end(blocks) - first;
  // A block adds first_group (first_i) to its own group (row), so that the grid can be cut into several launches.
  const double whole = seconds(request);
  const auto slices = std::int64_t(pace_.is_active() ? std::ceil(whole / CudaPace::kMaxLaunchSeconds) : 1);
  const std::int64_t step = std::max<std::int64_t>(1, ceil_div(count, std::max<std::int64_t>(slices, 1)));
  for (std::int64_t begin = 0; begin < count; begin += step) {
    const std::int64_t blocks_now = std::min(step, count - begin);
    const double part = double(blocks_now) / double(count);
    pace_.before_launch(whole * part, units(request) * part, context.stream);
    argument_.first_group = (first + begin) * of_block;
    row_argument_.first_i = (first + begin) * config.threads;
    launch(program_->function(), "nbcc_interact", blocks_now, lists && !lists->on_device ? blocks_per_group(*lists) : 1,
           config.threads, overlaps && !(lists && in_place));
  }
}

}  // namespace nbcc
