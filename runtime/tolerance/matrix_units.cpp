// Chooses the precision of matrix instructions by a sample. Entry point: MatrixSums::method().
//
// A choice holds as long as params, numbers of particles and the arrays of vectors stay the same. Its error is measured
// in the run that chooses, in the second, fourth, eighth ... run after it, and whenever that takes less than some 3% of
// the time of the runs since: the values in the arrays may have changed. Products in place of differences are also
// measured again before a run whose vectors are farther from the centre than those that were measured.
#include "runtime/tolerance/matrix_units.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/plan/capabilities.h"
#include "runtime/sum/run/device_copies.h"

namespace nbcc {
namespace {

constexpr std::string_view kRow = "matrix units";
constexpr std::int64_t kSampled = 256;   // i, two blocks of 128 of a kernel
constexpr double kSafetyOfSample = 0.7;  // of the tolerance, unless the sample has all i
// The time of a pair of an exact sum in double precision, in pairs in single precision.
constexpr double kDoublePair = 4;
constexpr double kMostBytesOfSample = 4e9;
constexpr double kShareOfMeasuring = 1.0 / 30;  // of the time of runs
constexpr std::size_t kFarthest = 16;           // i of each centre, which are always in the sample
constexpr int kFewElements = 32;                // loops over so many elements are written out

}  // namespace

// Costs measured at 64 and at 784 elements, on an H200; of products, on a CPU (bench/RESULTS.md).
const MatrixSums::Candidate MatrixSums::kCandidates[] = {
    {"half", "half sums", "half", "products of half", 0.12},
    {"two halves", "two halves sums", "two halves", "products of two halves", 0.2},
    {"products", "products sums", "products", "products in place of differences", 0.6},
};

MatrixSums::MatrixSums(const Kernel& kernel, const Summation& summation, double tolerance)
    : kernel_(kernel),
      summation_(summation),
      tolerance_(tolerance),
      sample_(*kernel.derived(kRow).find("sums")->source) {
  refusal_ = facts().obstacle;
  if (refusal_.empty() && !kernel_.load_derived(kRow, first_candidate()->kernel))
    refusal_ = facts().centres.empty()
                   ? "this GPU has no matrix instructions for half precision with sums in single precision (compute "
                     "capability 8.0)"
                   : "this CPU has no kernel of products in place of differences";
  is_usable_ = refusal_.empty();
}

// The first of those that the row has; null: none.
const MatrixSums::Candidate* MatrixSums::first_candidate() const {
  const auto* const found = std::ranges::find_if(
      kCandidates, [&](const Candidate& one) { return kernel_.derived(kRow).find(one.kernel) != nullptr; });
  return found == std::end(kCandidates) ? nullptr : found;
}

const MatrixFacts& MatrixSums::facts() const { return kernel_.derived(kRow).as<MatrixFacts>(); }

PairMethod MatrixSums::method(std::shared_ptr<MatrixSums> sums) {
  PairMethod method;
  method.name = kRow;
  method.estimate = [sums](const SumRequest& request) { return sums->estimate(request); };
  method.measure = [sums](const SumRequest& request) { return sums->measure(request); };
  method.expected = [sums](const SumRequest& request) { return sums->expected(request); };
  method.enqueue = [sums](const SumRequest& request) { sums->run(request); };
  method.statistics = [sums] { return sums->statistics(); };
  // The error of all pairs is measured before they run.
  method.add_survey = [sums](SumStatistics& found) { found.far = sums->statistics().far; };
  method.wait = [sums](Progress* progress) {
    if (sums->chosen_) sums->sum(sums->chosen_->kernel).wait(progress);
  };
  return method;
}

DerivedSum& MatrixSums::sum(std::string_view kernel) {
  const auto found = std::ranges::find(sums_, kernel, &decltype(sums_)::value_type::first);
  if (found != sums_.end()) return *found->second;
  return *sums_.emplace_back(kernel, derived_sum(kernel_, kRow, kernel)).second;
}

DeviceCopies* MatrixSums::copies_of(DerivedSum& sum, const SumRequest& request) const {
  return sum.sum().summation().device_copies(arrays_of(kernel_.source.fields, request.views));
}

SumStatistics MatrixSums::statistics() const {
  SumStatistics all;
  all.far = statistics_;
  all.far.tolerance = tolerance_;
  all.far.runs_since_error = runs_since_error_;
  if (case_) all.far.set_all_pairs(case_->nj, chosen_ ? chosen_->name : facts().precision);
  return all;
}

// The largest number of pairs that are excluded of one i.
std::int64_t MatrixSums::longest_exclusions(const SumRequest& request) const {
  if (!request.excluded_rows) return 0;
  const PairRows& rows = *request.excluded_rows;
  if (rows.number != exclusions_) {
    exclusions_ = rows.number;
    longest_ = 0;
    for (std::size_t i = 1; i < rows.first.size(); ++i)
      longest_ = std::max(longest_, rows.first[i] - rows.first[i - 1]);
  }
  return longest_;
}

std::optional<Estimate> MatrixSums::estimate(const SumRequest& request) const {
  if (request.pairs != PairChoice::Auto) return {};
  Estimate found{.cost = pairs_of(request)};
  found.obstacle = obstacle_of(kRow, request);
  if (facts().two_passes && longest_exclusions(request) >= request.nj)
    found.obstacle = "so many pairs are excluded that an i may have none, and so no softmax";
  return found;
}

Estimate MatrixSums::answer(const SumRequest& request) const {
  if (!chosen_) return {.obstacle = refusal_, .cost = pairs_of(request)};
  return {.cost = chosen_->cost * pairs_of(request)};
}

std::pair<Estimate, double> MatrixSums::expected(const SumRequest& request) const {
  const Estimate found = *estimate(request);
  if (!found.obstacle.empty() || request.nj == 0 || request.i_count == 0) return {found, 0};
  if (case_ && case_->ni == request.ni && case_->nj == request.nj) return {answer(request), 0};
  const Candidate* const first = first_candidate();
  return {{.cost = (first ? first->cost : 1) * pairs_of(request)},
          kDoublePair * double(std::min(kSampled, request.i_count)) * double(request.nj)};
}

// The arrays of vectors, whose elements decide how large rounding errors are.
std::vector<ArrayView> MatrixSums::vectors_of(const SumRequest& request) const {
  std::vector<ArrayView> found;
  for (std::size_t f = 0; f < kernel_.source.fields.size(); ++f) {
    const FieldLayout& field = kernel_.source.fields[f];
    const bool is_input = field.role == Role::InputI || field.role == Role::InputJ;
    if (is_input && field.components() > kFewElements) found.push_back(request.views[f]);
  }
  return found;
}

bool MatrixSums::is_due(const SumRequest& request) const {
  const double cost = kDoublePair * double(std::min(kSampled, request.i_count)) * double(request.nj);
  const double work = pairs_since_error_ * (chosen_ ? chosen_->cost : 1);
  return std::has_single_bit(std::uint64_t(runs_)) || kShareOfMeasuring * work > cost ||
         vectors_of(request) != vectors_;
}

Estimate MatrixSums::measure(const SumRequest& request) {
  const Estimate found = *estimate(request);
  if (!found.obstacle.empty() || request.nj == 0 || request.i_count == 0) return found;
  const Case now{request.ni,
                 request.nj,
                 request.i_begin,
                 request.i_count,
                 request.excluded_rows ? request.excluded_rows->number : 0,
                 {request.params.begin(), request.params.end()}};
  const bool is_known = case_ == now, is_captured = summation_.is_captured(request.stream);
  if (is_captured && !is_known)
    throw DeviceError(
        "the precision of matrix instructions is chosen by a measurement, which cannot be captured: run once before "
        "the "
        "capture");
  ++runs_, ++runs_since_error_;
  pairs_since_error_ += pairs_of(request);
  if (is_known && (is_captured || (!is_due(request) && !has_grown(request)))) return answer(request);
  case_.reset();  // a measurement that an interrupt ends is made again
  if (!is_known) runs_ = 1;
  choose(request);
  case_ = now;
  return answer(request);
}

// Draws some of the chosen i and computes their exact sums. False: no i has finite terms.
bool MatrixSums::draw(const SumRequest& request) {
  std::vector<std::int64_t> chosen;
  if (request.i_list) {
    chosen.resize(std::size_t(request.i_count));
    summation_.fetch(chosen.data(), request.i_list, chosen.size() * sizeof(std::int64_t));
  } else if (request.i_begin > 0 || request.i_count < request.ni) {
    for (std::int64_t k = 0; k < request.i_count; ++k) chosen.push_back(request.i_begin + k);
  }
  sample_.draw(request.i_count, kSampled, chosen);
  sample_.add(norms_.farthest);  // which have the largest rounding errors, if a j is near
  exact_ = rows(request, "sample");
  return sample_.set_exact(exact_.values);
}

MatrixSums::Rows MatrixSums::rows(const SumRequest& request, const char* kernel) {
  DerivedSum& sum = this->sum(kernel);
  const std::vector<FieldLayout>& fields = sum.source().fields;
  std::int64_t columns = 0;
  for (const FieldLayout& field : fields) columns += FarSample::is_compared(field) ? field.components() : 0;
  const std::int64_t all_columns = columns + (facts().two_passes ? 1 : 0);
  const std::size_t bytes = std::size_t(all_columns * request.ni) * sizeof(double);
  DeviceCopies* const device = copies_of(sum, request);
  const CopiesOfRun copies(device, request.stream);
  std::vector<double> on_host;
  double* table = nullptr;  // [component][i]
  if (device) {
    table = static_cast<double*>(device->reserve(0, bytes));
  } else {
    on_host.resize(std::size_t(all_columns * request.ni));
    table = on_host.data();
  }
  const std::int64_t column_bytes = request.ni * std::int64_t(sizeof(double));
  std::vector<MadeArray> made;
  for (double* of_field = table; const FieldLayout& field : fields) {
    if (!FarSample::is_compared(field)) continue;
    made.push_back({field.name, {of_field, Element::Double, request.ni, sizeof(double), column_bytes}});
    of_field += field.components() * request.ni;
  }
  SumRequest of_sample = sample_.chosen_of(request);
  of_sample.accumulate = false;
  if (facts().two_passes) made.push_back(first_pass(of_sample, request, kernel, table + columns * request.ni, device));
  run(sum, of_sample, request, made);
  sum.wait(request.progress);
  const std::span<const std::int64_t> sampled = sample_.particles();
  const auto count = std::int64_t(sampled.size());
  std::vector<double> of_device;  // [sampled i][component]
  if (device) {
    of_device.resize(std::size_t(count * all_columns));
    auto* const list = static_cast<std::int64_t*>(device->reserve(1, sampled.size_bytes()));
    device->send(list, sampled.data(), sampled.size_bytes());
    const ArrayView all{table, Element::Double, request.ni, sizeof(double), column_bytes};
    const ArrayView gathered = nbcc::gathered(*device, 2, all, int(all_columns), list, count);
    device->fetch(of_device.data(), gathered.data, of_device.size() * sizeof(double));
  }
  Rows found;
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t c = 0; c < all_columns; ++c)
      (c < columns ? found.values : found.logarithms)
          .push_back(device ? of_device[std::size_t(k * all_columns + c)]
                            : table[c * request.ni + sampled[std::size_t(k)]]);
  return found;
}

// What the error of all i is unlikely to exceed. Infinite where an exact sum is not finite and the sum is.
double MatrixSums::error_of(const SumRequest& request, const char* kernel) {
  const auto& [found, logarithms] = rows(request, kernel);
  const std::size_t sampled = sample_.particles().size(), columns = found.size() / sampled,
                    exact_columns = exact_.values.size() / sampled;
  double squares = 0;
  for (std::size_t k = 0; k < logarithms.size(); ++k) {
    const double exact = exact_.logarithms[k];
    if (logarithms[k] == exact || (std::isnan(logarithms[k]) && std::isnan(exact))) continue;
    squares += std::pow(logarithms[k] - exact, 2);
  }
  if (std::isnan(squares)) return std::numeric_limits<double>::infinity();
  const double of_logarithms = std::sqrt(squares / double(sampled));
  const double error = std::max(sample_.error(found, statistics_), of_logarithms);
  statistics_.error = std::max(statistics_.error, of_logarithms);
  for (std::size_t k = 0; k < sampled; ++k)
    for (std::size_t c = 0; c < columns; ++c)
      if (std::isfinite(found[k * columns + c]) && !std::isfinite(exact_.values[k * exact_columns + c]))
        return std::numeric_limits<double>::infinity();
  return error / (sample_.is_complete() ? 1 : kSafetyOfSample);
}

void MatrixSums::choose(const SumRequest& request) {
  chosen_ = nullptr;
  statistics_ = {};
  runs_since_error_ = 0;
  pairs_since_error_ = 0;
  vectors_ = vectors_of(request);
  norms_ = norms_of(request);
  // The sums of the sample are in arrays of all i.
  if (double(kernel_.source.outputs) * double(request.ni) * sizeof(double) > kMostBytesOfSample) {
    refusal_ = "the sums of a sample would take too much memory";
    return;
  }
  if (!draw(request)) {
    refusal_ = "the terms of no sampled i are finite";
    return;
  }
  if (is_usable_ &&
      !norms_.are_finite(facts().precision == name(Precision::Single) ? double(std::numeric_limits<float>::max())
                                                                      : std::numeric_limits<double>::max())) {
    refusal_ = "the squared distance of a vector from the mean of vectors is not a finite number";
  } else if (is_usable_) {
    for (const Candidate& candidate : kCandidates) {
      if (!kernel_.derived(kRow).find(candidate.kernel)) continue;
      const double error = error_of(request, candidate.sums);
      if (error <= tolerance_) {
        chosen_ = &candidate;
        return;
      }
      refusal_ = fmt::format("{} have an error of up to {:.2g}, above the tolerance {:.2g}", candidate.products, error,
                             tolerance_);
    }
  }
  error_of(request, "sums");
  if (statistics_.error > tolerance_)
    throw UsageError(
        fmt::format("tolerance: {} is below the rounding errors of pipeline '{}' in {} precision, which are {:.2g} of "
                    "the terms: compile "
                    "it in a higher precision",
                    tolerance_, kernel_.source.pipeline, facts().precision, statistics_.error));
}

std::vector<MadeParam> MatrixSums::centres_of(const DerivedSum& sum, const SumRequest& request) const {
  std::vector<MadeParam> made;
  for (const Centre& centre : facts().centres)
    if (std::ranges::find(sum.source().fields, centre.param, &FieldLayout::name) != sum.source().fields.end())
      made.emplace_back(centre.param, centre_of(centre, kernel_.source, request));
  return made;
}

VectorNorms MatrixSums::norms_of(const SumRequest& request) const {
  return vector_norms(facts().centres, kernel_.source, request, summation_, kFarthest);
}

// Whether the chosen products may have larger errors than when they were measured, because of other values.
bool MatrixSums::has_grown(const SumRequest& request) const {
  return chosen_ && !facts().centres.empty() && norms_of(request).exceed(norms_);
}

// Runs over the chosen i of `chosen`, without the pairs that the caller's request excludes.
void MatrixSums::run(DerivedSum& sum, const SumRequest& chosen, const SumRequest& request,
                     std::span<const MadeArray> made) {
  SumRequest bound = sum.bind(chosen, made, centres_of(sum, request));
  bound.exclusions = request.exclusions, bound.excluded_rows = request.excluded_rows;
  sum.run(bound);
}

// Runs the first pass of a kernel of softmax, whose results go to `to`: [i].
MadeArray MatrixSums::first_pass(const SumRequest& chosen, const SumRequest& request, std::string_view kernel,
                                 double* to, const DeviceCopies* device) {
  DerivedSum& first = sum(std::string(kernel) + ", first");
  const MadeArray made{"nbcc_logsumexp", {to, Element::Double, request.ni, sizeof(double), sizeof(double)}};
  run(first, chosen, request, std::span(&made, 1));
  if (!device) first.wait(request.progress);
  return made;
}

void MatrixSums::run(const SumRequest& request) {
  DerivedSum& second = sum(chosen_->kernel);
  if (!facts().two_passes) return run(second, request, request, {});
  DeviceCopies* const device = copies_of(second, request);
  const CopiesOfRun copies(device, request.stream);
  const std::size_t bytes = std::size_t(request.ni) * sizeof(double);
  logarithms_.resize(device ? 0 : std::size_t(request.ni));
  double* const to = device ? static_cast<double*>(device->reserve(0, bytes)) : logarithms_.data();
  const MadeArray made = first_pass(request, request, chosen_->kernel, to, device);
  run(second, request, request, std::span(&made, 1));
}

}  // namespace nbcc
