// Interface: DeviceImages. The kernels are those of templates/cuda/frames/cuda_copies.cu.in, which shows their order.
#include "runtime/sum/derived/device_images.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "runtime/round_up.h"
#include "runtime/sum/request/formula.h"

namespace nbcc {
namespace {

using namespace copy_data;

static_assert(int(Formula::Op::Element) == 14, "cuda_copies.cu.in has the same order");
static_assert(int(SearchLayout::Reach::Sum) == 5, "cuda_copies.cu.in has the same order");

// Numbers of the device's arrays.
enum Array : std::size_t {
  kSummary,
  kFormulasOfI,
  kFormulasOfJ,
  kValues,
  kColumns,  // [half][side][component]
  kMovedOfI = kColumns + 2 * 2 * kMaxFormulas,
  kMovedOfJ,
  kMovesOfI,
  kMovesOfJ,
  kMovesGivenOfI,
  kRangesOfI,
  kCounts,
  kChunks,
  kOf,
  kMoved,
  kMovedGiven,
  kPlaceOfI,
  kPlaceOfJ,
  kShiftOfJ,
  kCopied,
  kArrays
};
static_assert(kArrays <= DeviceImages::kFirstFree);

template <typename T>
T* reserve(DeviceCopies& device, std::size_t number, std::int64_t count) {
  return static_cast<T*>(device.reserve(number, std::size_t(count) * sizeof(T)));
}

Cell cell_of(const ImageLattice& lattice, const SearchLayout& search, std::span<const double> params) {
  Cell cell{};
  cell.axes = int(lattice.unit.size());
  cell.is_reduced = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    Multiples one{};
    one[k] = 1;
    cell.given[k] = lattice.periods.is_given(k) ? 1 : 0;
    cell.slope[k] = lattice.periods.slope(k);
    const Multiples given = lattice.periods.in_given_vectors(one);
    for (std::size_t g = 0; g < 3; ++g) {
      cell.steps[k][g] = given[g];
      if (given[g] != (k == g ? 1 : 0)) cell.is_reduced = 0;
    }
    for (std::size_t axis = 0; axis < lattice.unit.size(); ++axis) {
      cell.reduced[k][axis] = lattice.periods.shift(axis, one);
      cell.reciprocal[k][axis] = lattice.periods.reciprocal(k)[axis];
      cell.periods[k][axis] = lattice.in_given[k][axis];
      cell.unit[axis] = lattice.unit[axis];
    }
  }
  cell.reach_kind = int(search.reach);
  if (search.reach == SearchLayout::Reach::Uniform) cell.uniform = std::fabs(evaluate(search.reach_uniform, params));
  cell.rounding = lattice.rounding;
  return cell;
}

// Appends the bytes of values, at a multiple of 8; returns where they begin.
template <typename T>
std::size_t append(std::vector<std::byte>& bytes, std::span<const T> values) {
  static_assert(sizeof(T) % 8 == 0);
  const std::size_t begin = bytes.size();
  bytes.resize(begin + values.size_bytes());
  if (!values.empty()) std::memcpy(bytes.data() + begin, values.data(), values.size_bytes());
  return begin;
}

}  // namespace

bool DeviceImages::make(DeviceCopies& device, const SumRequest& request, const ImageLattice& lattice) {
  if (search_.reach == SearchLayout::Reach::Uniform && search_.reach_uniform.steps.empty()) return false;
  count_of_i_ = request.ni, count_of_j_ = request.nj;
  cell_ = cell_of(lattice, search_, request.params);
  cell_.skin = request.skin;
  summary_ = reserve<Summary>(device, kSummary, 1);
  second_half_ = !second_half_;
  // Until this run has its copies there are none, whatever fails.
  const DeviceCopies* const made_on = std::exchange(made_on_, nullptr);
  if (!evaluate(device, request, true) || !evaluate(device, request, false)) return false;
  if (made_on == &device && holds(device, request, lattice)) {
    second_half_ = !second_half_;  // the next positions are compared with the kept ones, too
  } else {
    if (!find_copies(device)) return false;
    then_i_ = i_, then_j_ = j_;
    made_for_ = lattice;
    skin_ = request.skin, uniform_ = cell_.uniform;
    ++made_;
  }
  made_on_ = &device;
  place(device, request.j_offset);
  return true;
}

// Positions and reaches of one side, in the current half of the arrays. False: there is no formula of a reach.
bool DeviceImages::evaluate(DeviceCopies& device, const SumRequest& request, bool of_i) {
  const CopiesLayout& layout = *callers_.copies();
  std::vector<const Formula*> formulas;
  for (const Formula& formula : of_i ? layout.of_i : layout.of_j) formulas.push_back(&formula);
  const bool has_reach = of_i ? search_.of_i() : search_.of_j();
  if (has_reach) formulas.push_back(of_i ? &search_.reach_of_i : &search_.reach_of_j);
  if (has_reach && formulas.back()->steps.empty()) return false;
  const std::int64_t count = of_i ? count_of_i_ : count_of_j_;
  Evaluate argument{};
  std::vector<Step> steps;
  std::size_t longest = 0;
  Side& side = of_i ? i_ : j_;
  side = {};
  side.count = count;
  for (std::size_t f = 0; f < formulas.size(); ++f) {
    argument.first[f] = int(steps.size());
    argument.steps_of[f] = int(formulas[f]->steps.size());
    longest = std::max(longest, formulas[f]->steps.size());
    for (const Formula::Step& step : formulas[f]->steps)
      steps.push_back({int(step.op),
                       step.component,
                       {step.args[0], step.args[1], step.args[2]},
                       step.count,
                       step.stride,
                       0,
                       step.constant});
    const std::size_t column = (2 * std::size_t(second_half_) + std::size_t(of_i)) * kMaxFormulas + f;
    argument.results[f] = reserve<double>(device, kColumns + column, count);
    if (f < layout.of_i.size())
      side.at[f] = argument.results[f];
    else
      side.reach = argument.results[f];
  }
  std::vector<Component> inputs;
  for (std::size_t f = 0; f < callers_.fields.size(); ++f) {
    const FieldLayout& field = callers_.fields[f];
    if (field.role != (of_i ? Role::InputI : Role::InputJ)) continue;
    inputs.resize(std::max(inputs.size(), std::size_t(field.first + field.components())));
    const ArrayView& view = request.views[f];
    for (int c = 0; c < field.components(); ++c)
      inputs[std::size_t(field.first + c)] = {static_cast<const char*>(view.data) + c * view.component_stride,
                                              view.stride, std::int64_t(view.element),
                                              !field.integral()           ? 0
                                              : field.type == Type::Index ? 2
                                                                          : 1};
  }
  std::vector<std::byte> bytes;
  append(bytes, std::span<const Step>(steps));
  const std::size_t at_inputs = append(bytes, std::span<const Component>(inputs));
  const std::size_t at_params = append(bytes, request.params);
  const std::size_t number = of_i ? kFormulasOfI : kFormulasOfJ;
  auto* const sent = reserve<char>(device, number, std::int64_t(bytes.size()));
  std::vector<std::byte>& before = formulas_[std::size_t(of_i)];
  if (formulas_on_ != &device) formulas_[0].clear(), formulas_[1].clear();
  formulas_on_ = &device;
  if (bytes != before) device.send(sent, bytes.data(), bytes.size());
  before = std::move(bytes);
  argument.steps = reinterpret_cast<const Step*>(sent);
  argument.inputs = reinterpret_cast<const Component*>(sent + at_inputs);
  argument.params = reinterpret_cast<const double*>(sent + at_params);
  const std::int64_t threads = kThreads * std::min<std::int64_t>(ceil_div(count, kThreads), kMaxBlocks);
  argument.values = reserve<double>(device, kValues, std::int64_t(longest) * threads);
  argument.formulas = int(formulas.size());
  argument.particles = count;
  argument.summary = of_i ? summary_ : nullptr;
  device.launch("nbcc_evaluate", count, &argument, kMaxBlocks);
  return true;
}

// True if the copies of an earlier run, made with the same skin, have all images within reach of where particles are.
bool DeviceImages::holds(DeviceCopies& device, const SumRequest& request, const ImageLattice& lattice) {
  if (!(request.skin > 0) || request.skin != skin_ || !(made_for_->periods == lattice.periods) ||
      made_for_->in_given != lattice.in_given || then_i_.count != count_of_i_ || then_j_.count != count_of_j_ ||
      cell_.uniform > uniform_)
    return false;
  for (const auto& [now, then] : {std::pair{&i_, &then_i_}, std::pair{&j_, &then_j_}}) {
    Compare compare{};
    compare.cell = cell_;
    std::ranges::copy(now->at, compare.now);
    std::ranges::copy(then->at, compare.then);
    compare.reach_now = now->reach, compare.reach_then = then->reach;
    compare.count = now->count;
    compare.most = 0.5 * skin_;
    compare.summary = summary_;
    device.launch("nbcc_compare", compare.count, &compare, kMaxBlocks);
  }
  Summary found;
  device.fetch(&found, summary_, sizeof found);
  return found.has_changed == 0;
}

bool DeviceImages::find_copies(DeviceCopies& device) {
  const std::int64_t chunks = ceil_div(count_of_j_, kCopiesOfChunk);
  auto* const ranges = reserve<Ranges>(device, kRangesOfI, kRangeBlocks);
  auto* const of_chunks = reserve<long long>(device, kChunks, chunks);
  for (const bool of_i : {true, false}) {
    Side& side = of_i ? i_ : j_;
    auto* const moved = reserve<double>(device, of_i ? kMovedOfI : kMovedOfJ, side.count * cell_.axes);
    for (int axis = 0; axis < cell_.axes; ++axis) side.moved[axis] = moved + axis * side.count;
    side.moves = reserve<Moves>(device, of_i ? kMovesOfI : kMovesOfJ, side.count);
    if (of_i) side.moves_given = moved_given_i_ = reserve<Moves>(device, kMovesGivenOfI, side.count);
    Move move{cell_, side, of_i ? ranges : nullptr, of_i ? nullptr : of_chunks, summary_};
    device.launch("nbcc_move", side.count, &move, of_i ? kRangeBlocks : kMaxBlocks);
  }
  Copies copies{};
  copies.cell = cell_;
  copies.j = j_;
  copies.ranges = ranges;
  copies.range_blocks = int(std::min<std::int64_t>(ceil_div(count_of_i_, kThreads), kRangeBlocks));
  copies.counts = reserve<long long>(device, kCounts, count_of_j_);
  copies.chunks = of_chunks;
  copies.chunk_count = chunks;
  copies.summary = summary_;
  device.launch("nbcc_join_ranges", 1, &copies, 1);
  device.launch("nbcc_count", 32 * count_of_j_, &copies, kMaxBlocks);
  device.launch("nbcc_scan", 1, &copies, 1);
  Summary found;
  device.fetch(&found, summary_, sizeof found);
  if (found.is_irregular != 0) return false;
  count_ = found.copies;
  copies.of = of_ = reserve<long long>(device, kOf, count_);
  copies.moved = moved_ = reserve<Moves>(device, kMoved, count_);
  copies.moved_given = moved_given_ = reserve<Moves>(device, kMovedGiven, count_);
  device.launch("nbcc_fill", 32 * count_of_j_, &copies, kMaxBlocks);
  if (cell_.is_reduced != 0) return true;
  device.fetch(&found, summary_, sizeof found);  // multiples of the given vectors may be too large
  return found.is_irregular == 0;
}

void DeviceImages::place(DeviceCopies& device, std::int64_t j_offset) {
  place_i_ = reserve<double>(device, kPlaceOfI, count_of_i_ * cell_.axes);
  place_j_ = reserve<double>(device, kPlaceOfJ, count_ * cell_.axes);
  shift_j_ = reserve<double>(device, kShiftOfJ, count_ * cell_.axes);
  copied_ = reserve<long long>(device, kCopied, count_);
  // Positions now, moves of when the copies were made.
  Side i = then_i_, j = then_j_;
  std::ranges::copy(i_.at, i.at);
  std::ranges::copy(j_.at, j.at);
  const Place argument{cell_, i, j, of_, moved_, count_, j_offset, place_i_, place_j_, shift_j_, copied_};
  device.launch("nbcc_place", std::max(count_of_i_, count_), &argument, kMaxBlocks);
}

}  // namespace nbcc
