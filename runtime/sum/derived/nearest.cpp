// Nearest neighbours by runs with decreasing bounds. Entry point: NearestSum::method().
#include "runtime/sum/derived/nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace nbcc {
namespace {

constexpr std::int64_t kMaxSearchedParticles = (std::int64_t(1) << 30) - 256;
constexpr std::int64_t kMaxSampleSize = 512;  // number of j in the first run, at most
constexpr std::int64_t kStrideFactor = 8;     // each run has this many times the j of the run before
// Bounds are enlarged by this fraction, because a kernel for another launch configuration may round differently.
constexpr double kBoundMargin = 0x1p-12;

bool is_finite(const ArrayView& view, int components) {
  if (view.element != Element::Float && view.element != Element::Double) return true;
  constexpr std::int64_t kChunk = 256;
  std::array<double, kChunk> values;
  double zero = 0;  // x - x is NaN if x is NaN or infinite
  for (std::int64_t first = 0; first < view.count; first += kChunk) {
    const std::int64_t count = std::min(kChunk, view.count - first);
    for (int c = 0; c < components; ++c) {
      pack(view, c, {first, nullptr, count}, {c, Element::Double, Column::Part::Whole}, values.data());
      for (std::int64_t k = 0; k < count; ++k) zero += values[std::size_t(k)] - values[std::size_t(k)];
    }
  }
  return zero == 0;
}

}  // namespace

PairMethod NearestSum::method() {
  PairMethod row;
  row.name = "nearest";
  row.searches = true;
  row.estimate = [this](const SumRequest& request) { return estimate(request); };
  row.survey = [this](SumRequest& request) { return survey(request); };
  row.work = [this](const SumRequest& request) {
    const std::int64_t bytes = 2 * request.ni * std::int64_t(sizeof(double));
    return std::vector<DeviceWork>{{"host", 0, bytes}};
  };
  row.enqueue = [this](const SumRequest& request) { run(request); };
  row.statistics = [this] { return sum_ ? sum_->statistics() : SumStatistics{}; };
  return row;
}

std::int64_t NearestSum::kept() const {
  const std::vector<FieldLayout>& fields = kernel_.source.nearest->fields;
  return std::ranges::find(fields, "nbcc_least", &FieldLayout::name)->components();
}

std::optional<Estimate> NearestSum::estimate(const SumRequest& request) const {
  // A sum over all pairs is faster than searches if there are fewer particles. Each further neighbour takes more pairs.
  constexpr double kMinI = 500, kMinJ = 20'000, kOfOneKept = 500;
  if (!kernel_.source.nearest || request.lists || request.listed_pairs) return {};
  const double of_i = kMinJ + kOfOneKept * double(kept() - 1);
  Estimate found{.cost = std::max(of_i * double(request.i_count), kMinI * double(request.nj)), .falls_back = true};
  if (request.j_part != JPart::Whole) found.obstacle = "the j come in parts";
  if (request.exclusions) found.obstacle = "pairs are excluded";
  if (request.nj == 0) found.obstacle = "there are no j";
  // Not every device's search can index more particles.
  if (request.pairs == PairChoice::Auto && std::max(request.i_count, request.nj) > kMaxSearchedParticles)
    found.obstacle = "there are too many particles for a search";
  return found;
}

std::shared_ptr<const Kernel> NearestSum::nearest() {
  if (!nearest_) nearest_ = kernel_.load(*kernel_.source.nearest);
  return nearest_;
}

// Inputs that are not finite make the bounds meaningless, so such runs are left to the sum over all pairs. Arrays that
// the host cannot read are searched only with pairs = cutoff.
Estimate NearestSum::survey(const SumRequest& request) {
  Estimate found = *estimate(request);
  if (!nearest()) found.obstacle = "the library has no kernel for it";
  if (!std::ranges::all_of(request.params, [](double value) { return std::isfinite(value); }))
    found.obstacle = "a param is not finite";
  for (std::size_t f = 0; f < kernel_.source.fields.size() && found.obstacle.empty(); ++f) {
    const FieldLayout& field = kernel_.source.fields[f];
    const ArrayView& view = request.views[f];
    if (field.role == Role::Param || !view.data) continue;
    if (!summation_.can_read(static_cast<const std::int64_t*>(view.data))) {
      if (request.pairs == PairChoice::Auto) found.obstacle = "the host cannot check that all inputs are finite";
      continue;
    }
    if (field.role != Role::Output && !is_finite(view, field.components())) found.obstacle = "an input is not finite";
  }
  return found;
}

// Binds the arrays for a run over every stride-th j.
void NearestSum::bind(const SumRequest& request, std::int64_t stride) {
  const std::vector<FieldLayout>& fields = kernel_.source.fields;
  const std::int64_t nj = (request.nj + stride - 1) / stride;
  const bool last = stride == 1;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const FieldLayout& field = fields[f];
    ArrayView view = request.views[f];
    if (field.role == Role::Param) {
      sum_->set_param(field.name, request.params.subspan(std::size_t(field.first), std::size_t(field.components())));
    } else if (field.role == Role::Output && (!last || !view.data)) {
      sum_->ignore(field.name);
    } else {
      if (field.role == Role::InputJ) view.count = nj, view.stride *= stride;
      sum_->bind(field.name, view);
    }
  }
  for (const FieldLayout& field : sum_->fields()) {
    const auto doubles = [](std::vector<double>& values) {
      return ArrayView{values.data(), Element::Double, std::int64_t(values.size()), 8, 8};
    };
    if (field.name == "nbcc_bound") sum_->bind(field.name, doubles(bounds_));
    const bool is_worst = field.name == (kept() > 1 ? "nbcc_last" : "nbcc_least");
    if (is_worst && !last) sum_->bind(field.name, doubles(worst_));
    if (field.name == "nbcc_least" || field.name == "nbcc_last")
      if (last || !is_worst) sum_->ignore(field.name);
    if (field.name != "nbcc_j") continue;
    j_numbers_.resize(std::size_t(request.nj));
    std::iota(j_numbers_.begin(), j_numbers_.end(), request.j_offset);
    sum_->bind(field.name, {j_numbers_.data(), Element::Int64, nj, 8 * stride, 8});
  }
  sum_->set_symmetric(SymmetricChoice::Off);
  sum_->set_counts(std::int64_t(bounds_.size()), nj);
  sum_->set_offsets(request.i_offset, request.j_offset);
  // A first run of several has no bounds yet: it sums over all pairs of the sample.
  sum_->set_pairs(nj <= kMaxSampleSize ? PairChoice::All : PairChoice::Cutoff);
}

// Only the last run stores the outputs of the chosen i.
void NearestSum::run(const SumRequest& request) {
  if (!sum_) sum_.emplace(nearest());
  bounds_.assign(std::size_t(request.ni), std::numeric_limits<double>::infinity());
  const bool has_stages = !sum_->summation().finds_bounds();
  worst_.assign(has_stages ? std::size_t(request.ni) : 0, std::numeric_limits<double>::infinity());
  std::int64_t stride = 1;
  double stages = 1;
  if (has_stages)
    for (; ceil_div(request.nj, stride) > kMaxSampleSize; stages += 1) stride *= kStrideFactor;
  for (double stage = 0;; stride /= kStrideFactor, stage += 1) {
    bind(request, stride);
    // Each run evaluates about as many pairs.
    if (request.progress) request.progress->set_stage(stage / stages, (stage + 1) / stages);
    RunChoice now;
    now.i_begin = request.i_begin;
    now.i_count = request.i_count;
    now.i_list = request.i_list;
    now.accumulate = request.accumulate && stride == 1;
    // Only the last run, over all j, checks the indices of tables.
    now.clamp = !request.check_indices || stride > 1;
    now.stream = request.stream;
    now.progress = request.progress;
    sum_->run(now);
    sum_->wait(request.progress);
    if (stride == 1) return;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      const double last = worst_[i];  // NaN: there are fewer pairs
      bounds_[i] = std::isnan(last) ? std::numeric_limits<double>::infinity() : last + kBoundMargin * std::fabs(last);
    }
  }
}

}  // namespace nbcc
