// Decides whether a run is one over a single set, and forwards it to a sum of the symmetric kernel. Entry point:
// SymmetricSum::method().
#include "runtime/sum/derived/symmetric.h"

#include <algorithm>
#include <bit>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/plan/capabilities.h"

namespace nbcc {
namespace {

// Adding to the sums of j costs a tenth of the operations of a pair. With few particles, blocks are short, and threads
// wait for each other: at 4096 particles this costs 0.45 of the operations, more than light pairs save
// (bench/RESULTS.md).
constexpr double kCostOfReactions = 1.1;
double cost_of_reactions(std::int64_t particles) { return kCostOfReactions * (1 + 1850.0 / double(particles)); }
// The cost of a pair beyond which a search from both ends costs less: half lists test half of the pairs, but
// each reaction is added twice, first within a piece.
constexpr double kMostCostOfSearch = 0.85;

// The method of a device that sums over listed pairs, of a kernel with reactions; null: there is none.
const PairMethod* find_listed(std::span<const PairMethod> methods) {
  const auto found = std::ranges::find(methods, "listed pairs", &PairMethod::name);
  return found == methods.end() ? nullptr : &*found;
}

// "" or where a table of two indices is not symmetric. Equal are numbers with equal bits.
std::string unsymmetric_element(const FieldLayout& table, std::span<const double> params) {
  const auto at = [&](int row, int column, int c) {
    return params[std::size_t(table.first + (row * table.columns + column) * table.width + c)];
  };
  for (int row = 0; row < table.columns; ++row)
    for (int column = 0; column < row; ++column)
      for (int c = 0; c < table.width; ++c) {
        const double below = at(row, column, c), above = at(column, row, c);
        if (std::bit_cast<std::uint64_t>(below) == std::bit_cast<std::uint64_t>(above)) continue;
        return fmt::format("param '{0}' is not symmetric: [{1}][{2}] is {3}, [{2}][{1}] is {4}", table.name, column,
                           row, above, below);
      }
  return "";
}

bool is_same_array(const ArrayView& a, const ArrayView& b) {
  return a.data == b.data && a.element == b.element && a.count == b.count && a.stride == b.stride &&
         a.component_stride == b.component_stride;
}

}  // namespace

PairMethod SymmetricSum::method() {
  PairMethod row;
  row.name = "symmetric";
  row.estimate = [this](const SumRequest& request) { return estimate(request); };
  row.survey = [this](const SumRequest& request) { return survey(request); };
  row.work = [this](const SumRequest& request) {
    const RunPlan plan = sum()->plan(bind(request));
    const PairMethod* const method =
        request.listed_pairs ? find_listed(sum_->sum().summation().methods()) : plan.method;
    return method->work(plan.request);
  };
  row.enqueue = [this](const SumRequest& request) { run(request); };
  row.wait = [this](Progress* progress) {
    if (sum_) sum_->wait(progress);
  };
  return row;
}

PairMethod SymmetricSum::search(PairMethod both_ends) {
  both_ends_ = std::move(both_ends);
  PairMethod row = both_ends_;
  row.survey = [this](SumRequest& request) { return survey_search(request); };
  row.work = [this](const SumRequest& request) {
    return search_.method ? search_.method->work(search_.request) : both_ends_.work(request);
  };
  row.steps = [this](const SumRequest& request) {
    if (!search_.method) return std::vector{RunStep{&both_ends_, request, "", both_ends_.estimate(request)->cost}};
    return std::vector{RunStep{search_.method, search_.request, "symmetric", search_.estimate.cost}};
  };
  return row;
}

SumStatistics SymmetricSum::statistics(const RunPlan& last) const {
  SumStatistics all = summation_.statistics();
  if (!sum_) return all;
  const SumStatistics of_once = sum_->sum().summation().statistics();
  const std::int64_t within = last.estimate.once ? of_once.pairs_within : all.pairs_within;
  all.add(of_once);
  all.pairs_within = within;
  return all;
}

bool SymmetricSum::may_search_once(const SumRequest& request) {
  if (kernel_.source.find(Frame::Search)) return false;  // GPUs search from both ends
  const bool is_auto = request.symmetric == SymmetricChoice::Auto;
  if (request.symmetric == SymmetricChoice::Off || request.keep_j || request.exclusions) return false;
  if (is_auto && (request.ni != request.nj || request.ni < kMinParticlesForOnce)) return false;
  if (!obstacle_of(request).empty() || row().find("symmetric")->source->search.axes == 0) return false;
  return !is_auto || facts().cost < kMostCostOfSearch;
}

Estimate SymmetricSum::survey_search(SumRequest& request) {
  search_ = {};
  if (may_search_once(request) && sum()) {
    SumRequest once = bind(request);
    once.pairs = request.pairs;
    once.skin = request.skin;
    search_ = sum_->plan(once);
    if (search_.method->searches) return {.cost = search_.estimate.cost, .once = true};
    search_ = {};
  }
  Estimate found = both_ends_.survey ? both_ends_.survey(request) : *both_ends_.estimate(request);
  if (request.exclusions && row().obstacle.empty() && are_one_set(request))
    found.twice = "the search has excluded pairs";
  return found;
}

const ArrayView& SymmetricSum::view(const SumRequest& request, std::string_view field) const {
  const auto found = std::ranges::find(kernel_.source.fields, field, &FieldLayout::name);
  return request.views[std::size_t(found - kernel_.source.fields.begin())];
}

bool SymmetricSum::are_one_set(const SumRequest& request) {
  bool have_partners = false;  // besides symmetric tables, which are their own partners
  for (const auto& [first, second] : facts().partners) {
    if (first == second) continue;
    have_partners = true;
    if (!is_same_array(view(request, first), view(request, second))) return false;
  }
  return have_partners && request.ni == request.nj;
}

// Questions that need no kernel come first.
std::string SymmetricSum::obstacle_of(const SumRequest& request) {
  if (const std::string_view obstacle = nbcc::obstacle_of("symmetric", request); !obstacle.empty())
    return std::string(obstacle);
  if (!row().obstacle.empty()) return row().obstacle;
  const KernelSource& once = *row().find("symmetric")->source;
  if (request.check_indices && kernel_.source.find(Frame::IndexChecks) && !once.find(Frame::IndexChecks))
    return "this device checks table indices in the kernel of both ends";
  if (!are_one_set(request)) return "i and j are two sets";
  for (const auto& [first, second] : facts().partners) {
    if (first != second) continue;
    const std::string fault =
        unsymmetric_element(*std::ranges::find(kernel_.source.fields, first, &FieldLayout::name), request.params);
    if (!fault.empty()) return fault;
  }
  return "";
}

std::optional<Estimate> SymmetricSum::estimate(const SumRequest& request) {
  if (request.symmetric == SymmetricChoice::Listed) {
    const std::string obstacle = request.listed_pairs ? obstacle_of(request) : "no pairs are listed";
    if (!obstacle.empty()) throw UsageError(fmt::format("symmetric = listed: {}", obstacle));
    return Estimate{.cost = double(request.listed_pairs->j.size()) * facts().cost, .once = true};
  }
  if (request.listed_pairs || request.symmetric == SymmetricChoice::Off) return {};
  const bool is_auto = request.symmetric == SymmetricChoice::Auto;
  if (is_auto && (request.ni != request.nj || request.ni < kMinParticlesForOnce)) return {};
  if (is_auto && kernel_.source.copies()) return {};  // a sum of every_image() decides by itself (nearest_images.h)
  Estimate found{.obstacle = obstacle_of(request), .once = true};
  found.cost = pairs_of(request);
  if (found.obstacle.empty()) found.cost *= facts().cost * cost_of_reactions(request.ni);
  // Cheaper than all pairs, but not than a search.
  if (!is_auto) found.cost = std::min(found.cost, 0.999 * pairs_of(request));
  return found;
}

const DerivedKernels& SymmetricSum::row() {
  if (!row_) row_ = &kernel_.derived("symmetric");
  return *row_;
}

DerivedSum* SymmetricSum::sum() {
  if (!sum_) sum_ = derived_sum(kernel_, "symmetric", "symmetric");
  return sum_.get();
}

// Asks the device, which must load the kernel to answer.
Estimate SymmetricSum::survey(const SumRequest& request) {
  Estimate found = *estimate(request);
  if (request.listed_pairs) {
    if (!sum() || !find_listed(sum()->sum().summation().methods()))
      throw UsageError("symmetric = listed: this device computes listed pairs for their i only");
    return found;
  }
  if (!sum()) {
    found.obstacle = "the device has no kernel for it";
    return found;
  }
  const std::span<const PairMethod> methods = sum_->sum().summation().methods();
  const auto of_device = std::ranges::find(methods, "symmetric", &PairMethod::name);
  if (of_device == methods.end()) return found;
  const Estimate once = *of_device->estimate(request);  // its cost is of half of the pairs
  found.obstacle = once.obstacle;
  if (request.symmetric == SymmetricChoice::Auto)
    found.cost = std::max(found.cost, 2 * kCostOfReactions * facts().cost * once.cost);
  return found;
}

// On the CPU the run for the caller's kernel has checked the indices of tables.
SumRequest SymmetricSum::bind(const SumRequest& request) {
  SumRequest once = sum()->bind(request, {});
  once.check_indices = once.check_indices && sum_->source().find(Frame::IndexChecks);
  once.symmetric = request.listed_pairs ? SymmetricChoice::Always : request.symmetric;
  once.pairs = PairChoice::All;
  once.exclusions = request.exclusions;
  once.excluded_rows = request.excluded_rows;
  return once;
}

void SymmetricSum::run(const SumRequest& request) {
  const SumRequest once = bind(request);
  if (!request.listed_pairs) return sum_->run(once);
  RunPlan plan = sum_->plan(once);
  plan.request.listed_pairs = request.listed_pairs;
  find_listed(sum_->sum().summation().methods())->enqueue(plan.request);
}

}  // namespace nbcc
