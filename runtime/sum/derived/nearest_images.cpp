// Entry points: NearestImages::may_run(), is_large(), bind().
#include "runtime/sum/derived/nearest_images.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "compiler/derived_kernels.h"
#include "compiler/made_inputs.h"
#include "compiler/periodic_length.h"
#include "runtime/sum/derived/symmetric.h"
#include "runtime/sum/request/formula.h"

namespace nbcc {
namespace {

// A bound of the relative error of a period and a distance in the kernel, larger than the bound of the search.
constexpr double kMargin = 1 + 0x1p-8;

// NaNs with equal bits are equal.
bool are_equal(const std::vector<double>& a, const std::vector<double>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// self_pair is i_index == j_index in the derived kernel. If i and j are two sets, a pair with equal indices may have
// its nearest image elsewhere.
bool tests_self_pairs(const KernelSource& source) { return source.uses.i_index && source.uses.j_index; }

}  // namespace

// pairs = all stays a sum over copies, with which others can be compared.
bool NearestImages::may_run(const SumRequest& request) const {
  const bool is_on_gpu = callers_.source.find(Frame::Search) != nullptr;
  const bool names_images = request.excluded_rows && !request.excluded_rows->images.empty();
  // For fewer i the derived kernel is compiled only if the caller asks for each pair once.
  const bool is_large = request.symmetric == SymmetricChoice::Always || request.i_count >= kMinParticlesForOnce;
  if (is_on_gpu || names_images || !is_large || request.pairs == PairChoice::All || request.i_count == 0 ||
      request.nj == 0 || request.j_part != JPart::Whole)
    return false;
  const DerivedKernels& row = callers_.derived(kNearestImagesRow);
  const bool may_be_one_set = request.ni == request.nj && request.i_offset == request.j_offset;
  return row.obstacle.empty() && (may_be_one_set || !tests_self_pairs(*row.find(kNearestImagesRow)->source));
}

bool NearestImages::is_large(std::span<const double> params, const std::vector<double>& unit, double reach) const {
  const CopiesLayout& layout = *callers_.source.copies();
  for (std::size_t vector = 0; vector < 3; ++vector)
    for (std::size_t axis = 0; axis < unit.size(); ++axis) {
      const double component = std::fabs(evaluate(layout.periods[vector][axis], params)) * unit[axis];
      const bool is_length = vector == axis;  // other components must be 0
      if (is_length ? !is_open(component) && !(component > 2 * kMargin * reach) : component != 0) return false;
    }
  return std::isfinite(reach);
}

// Moves the particles into the cell around the origin, so that single precision has the digits that it has for copies.
bool NearestImages::place(const Lengths& lengths, const Coordinates& at, std::vector<double>& place) const {
  constexpr std::size_t kChunk = 4096;
  const std::size_t count = at[0].size(), chunks = (count + kChunk - 1) / kChunk;
  place.resize(at.size() * count);
  std::atomic<bool> are_near = true;
  device_.on_host_threads(std::int64_t(at.size() * chunks), [&](std::int64_t item) {
    const std::size_t axis = std::size_t(item) / chunks, begin = std::size_t(item) % chunks * kChunk;
    const double length = std::fabs(lengths[axis]), inverse = is_open(length) ? 0 : 1 / length;
    const double* const x = at[axis].data();
    double* const to = place.data() + axis * count;
    bool all = true;
    for (std::size_t p = begin; p < std::min(count, begin + kChunk); ++p) {
      const double periods = std::rint(x[p] * inverse);
      all &= !(std::fabs(periods) > kMostCells) || std::isinf(x[p]);
      to[p] = inverse == 0 ? x[p] : x[p] - periods * length;
    }
    if (!all) are_near = false;
  });
  return are_near;
}

const SumRequest* NearestImages::bind(const SumRequest& request, const Coordinates& i, const Coordinates& j) {
  if (!sum_) sum_ = derived_sum(callers_, kNearestImagesRow, kNearestImagesRow);
  if (!sum_) return nullptr;
  const CopiesLayout& layout = *callers_.source.copies();
  Lengths lengths{};
  for (std::size_t axis = 0; axis < i.size(); ++axis)
    lengths[axis] = evaluate(layout.periods[axis][axis], request.params);
  const bool is_one_set = request.ni == request.nj && std::ranges::equal(i, j, are_equal);
  if (tests_self_pairs(sum_->source()) && !is_one_set) return nullptr;
  if (!place(lengths, i, place_i_) || (!is_one_set && !place(lengths, j, place_j_))) return nullptr;
  // One set has one array, which the symmetric kernel requires.
  const auto columns = [](std::vector<double>& values, std::int64_t count) {
    const auto size = std::int64_t(sizeof(double));
    return ArrayView{values.data(), Element::Double, count, size, count * size};
  };
  const MadeArray made[] = {{kPlaceOfI, columns(place_i_, request.ni)},
                            {kPlaceOfJ, columns(is_one_set ? place_i_ : place_j_, request.nj)}};
  bound_ = sum_->bind(request, made);
  bound_.pairs = request.pairs;
  bound_.symmetric = request.symmetric;
  bound_.skin = request.skin;
  bound_.exclusions = request.exclusions;
  bound_.excluded_rows = request.excluded_rows;
  return &bound_;
}

void NearestImages::add_to(SumStatistics& statistics, bool is_last) const {
  statistics.form = "over copies of the j";
  if (!sum_) return;
  const SumStatistics of_nearest = sum_->sum().statistics();
  const std::int64_t within = is_last ? of_nearest.pairs_within : statistics.pairs_within;
  statistics.add(of_nearest);
  statistics.pairs_within = within;
  if (!is_last) return;
  const bool once = sum_->sum().last_plan().estimate.once;
  statistics.form =
      "without copies: only the nearest image of a pair can be within the cutoff, because every period is longer than "
      "twice the cutoff";
  if (once) statistics.form += ", each pair once";
}

}  // namespace nbcc
