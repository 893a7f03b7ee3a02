// Nearest neighbours by runs with decreasing bounds. Entry point: NearestSum::method().
#include "runtime/sum/derived/nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/nearest_facts.h"

namespace nbcc {
namespace {

constexpr std::int64_t kMaxSearchedParticles = (std::int64_t(1) << 30) - 256;
constexpr std::int64_t kMaxSampleSize = 512;  // number of j in the first run, at most
constexpr std::int64_t kStrideFactor = 8;     // each run has this many times the j of the run before
// Bounds are enlarged by this fraction, because a kernel for another launch configuration may round differently.
constexpr double kBoundMargin = 0x1p-12;

bool is_finite(const ArrayView& view, int components) {
  if (!is_real(view.element)) return true;
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
  row.work = [](const SumRequest& request) {
    const std::int64_t bytes = 2 * request.ni * std::int64_t(sizeof(double));
    return std::vector<DeviceWork>{{"host", 0, bytes}};
  };
  row.enqueue = [this](const SumRequest& request) { run(request); };
  row.statistics = [this] { return sum_ ? sum_->sum().statistics() : SumStatistics{}; };
  return row;
}

const DerivedKernels& NearestSum::row() {
  if (!row_) row_ = &kernel_.derived("nearest");
  return *row_;
}

DerivedSum* NearestSum::sum() {
  if (!sum_) sum_ = derived_sum(kernel_, "nearest", "nearest");
  return sum_.get();
}

std::int64_t NearestSum::kept() {
  const std::vector<FieldLayout>& fields = row().find("nearest")->source->fields;
  return std::ranges::find(fields, "nbcc_least", &FieldLayout::name)->components();
}

// The number of j below which a sum over all pairs is faster than searches, measured on one CPU core and on an H200
// (bench/RESULTS.md). The more j are kept, the more time a pair takes in a sum over all pairs.
double NearestSum::pairs_of_one_i() {
  const auto kept = double(this->kept());
  if (row().find("nearest")->source->find(Frame::Search)) return 65'000 / std::pow(kept, 0.8);
  // With 4 lanes; a search does not become faster with the lanes as a sum over all pairs does.
  return (2000 + 5000 / std::sqrt(kept)) * std::sqrt(kernel_.source.lanes / 4.0);
}

// The j that a search finds for one i, relative to those of three axes. Of a distance along D > 3 axes it bounds three:
// of nj evenly distributed j the k nearest fill k / nj of the volume, and (k / nj)^(3 / D) of that along three axes.
double NearestSum::growth(double nj) {
  const auto* const facts = dynamic_cast<const NearestFacts*>(row().facts.get());
  if (!facts || facts->axes <= 3) return 1;
  return std::pow(std::max(nj / double(kept()), 1.0), 1 - 3.0 / facts->axes);
}

std::optional<Estimate> NearestSum::estimate(const SumRequest& request) {
  if (const std::string& obstacle = row().obstacle; !obstacle.empty()) {
    if (kernel_.source.search.bound != kNearestBound) return {};
    // Compiled libraries may lack the kernels of a pipeline that looks for nearest neighbours.
    constexpr double kPairsOfOneI = 7000;
    return Estimate{.obstacle = obstacle, .cost = kPairsOfOneI * double(request.i_count), .falls_back = true};
  }
  const double of_i = pairs_of_one_i() * growth(double(request.nj));
  constexpr double kMinI = 500;
  Estimate found{.cost = std::max(of_i * double(request.i_count), kMinI * double(request.nj)), .falls_back = true};
  // Not every device's search can index more particles.
  if (request.pairs == PairChoice::Auto && std::max(request.i_count, request.nj) > kMaxSearchedParticles)
    found.obstacle = "there are too many particles for a search", found.of_size = true;
  return found;
}

// True if the values of all floating-point inputs of a side are finite. Reads arrays on the host there, others by a run
// of the kernel that sums x - x.
bool NearestSum::are_finite(const SumRequest& request, Role side) {
  bool on_host = true;
  for (std::size_t f = 0; f < kernel_.source.fields.size(); ++f) {
    const FieldLayout& field = kernel_.source.fields[f];
    const ArrayView& view = request.views[f];
    if (field.role != side || !view.data) continue;
    if (!summation_.can_read(static_cast<const std::int64_t*>(view.data)))
      on_host = false;
    else if (!is_finite(view, field.components()))
      return false;
  }
  const bool of_i = side == Role::InputI;
  std::unique_ptr<DerivedSum>& sum = finite_[of_i ? 0 : 1];
  if (!on_host && !sum) sum = derived_sum(kernel_, "nearest", of_i ? "finite i" : "finite j");
  if (on_host || !sum) return true;  // without a kernel: all of the side's inputs are integers
  double zero = 0;
  const MadeArray made{"nbcc_zero", {&zero, Element::Double, 1, 8, 8}};
  SumRequest all = sum->bind(request, {&made, 1});
  all.nj = of_i ? request.ni : request.nj;
  all.ni = all.i_count = 1;
  all.i_begin = 0;
  all.i_list = nullptr;
  all.accumulate = false;
  all.pairs = PairChoice::All;
  all.symmetric = SymmetricChoice::Off;
  all.progress = nullptr;
  sum->run(all);
  sum->wait(nullptr);
  return zero == 0;
}

// Inputs that are not finite make the bounds meaningless, so such runs are left to the sum over all pairs.
Estimate NearestSum::survey(const SumRequest& request) {
  Estimate found = *estimate(request);
  if (!sum()) found.obstacle = "the library has no kernel for it";
  if (!std::ranges::all_of(request.params, [](double value) { return std::isfinite(value); }))
    found.obstacle = "a param is not finite";
  if (summation_.is_captured(request.stream)) found.obstacle = "a search for the nearest j cannot be captured";
  if (found.obstacle.empty() && !(are_finite(request, Role::InputI) && are_finite(request, Role::InputJ)))
    found.obstacle = "an input is not finite";
  return found;
}

// The request for a run over every stride-th j. Only the last run, over all j, stores the outputs and checks the
// indices of tables.
SumRequest NearestSum::bind(const SumRequest& request, std::int64_t stride) {
  const std::int64_t nj = ceil_div(request.nj, stride);
  const bool last = stride == 1;
  std::vector<MadeArray> made;
  for (std::size_t f = 0; f < kernel_.source.fields.size(); ++f) {
    const FieldLayout& field = kernel_.source.fields[f];
    ArrayView view = request.views[f];
    if (field.role == Role::InputJ) view.count = nj, view.stride *= stride;
    if (field.role == Role::Output && !last) view = {};
    if (field.role != Role::Param) made.push_back({field.name, view});
  }
  const auto doubles = [](std::vector<double>& values) {
    return ArrayView{values.data(), Element::Double, std::int64_t(values.size()), 8, 8};
  };
  made.push_back({"nbcc_bound", doubles(bounds_)});
  if (!last) made.push_back({kept() > 1 ? "nbcc_last" : "nbcc_least", doubles(worst_)});
  const std::vector<FieldLayout>& fields = sum_->source().fields;
  if (std::ranges::find(fields, "nbcc_j", &FieldLayout::name) != fields.end()) {
    j_numbers_.resize(std::size_t(request.nj));
    std::iota(j_numbers_.begin(), j_numbers_.end(), request.j_offset);
    made.push_back({"nbcc_j", {j_numbers_.data(), Element::Int64, nj, 8 * stride, 8}});
  }
  SumRequest bound = sum_->bind(request, made);
  bound.nj = nj;
  bound.accumulate = request.accumulate && last;
  bound.check_indices = bound.check_indices && last;
  bound.symmetric = SymmetricChoice::Off;
  // A first run of several has no bounds yet: it sums over all pairs of the sample.
  bound.pairs = nj <= kMaxSampleSize ? PairChoice::All : PairChoice::Cutoff;
  return bound;
}

void NearestSum::run(const SumRequest& request) {
  bounds_.assign(std::size_t(request.ni), std::numeric_limits<double>::infinity());
  const bool has_stages = !sum()->sum().summation().finds_bounds();
  worst_.assign(has_stages ? std::size_t(request.ni) : 0, std::numeric_limits<double>::infinity());
  std::int64_t stride = 1;
  double stages = 1;
  if (has_stages)
    for (; ceil_div(request.nj, stride) > kMaxSampleSize; stages += 1) stride *= kStrideFactor;
  for (double stage = 0;; stride /= kStrideFactor, stage += 1) {
    // Each run evaluates about as many pairs.
    if (request.progress) request.progress->set_stage(stage / stages, (stage + 1) / stages);
    sum_->run(bind(request, stride));
    sum_->wait(request.progress);
    if (stride == 1) return;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      const double last = worst_[i];  // NaN: there are fewer pairs
      bounds_[i] = std::isnan(last) ? std::numeric_limits<double>::infinity() : last + kBoundMargin * std::fabs(last);
    }
  }
}

}  // namespace nbcc
