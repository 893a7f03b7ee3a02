// Decides whether a run is one over a single set, and forwards it to a sum of the symmetric kernel. Entry point:
// SymmetricSum::method().
#include "runtime/sum/derived/symmetric.h"

#include <algorithm>
#include <bit>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// The least number of particles for which each pair is computed once. It does not depend on the machine or its number
// of threads, so that results do not either.
constexpr std::int64_t kLeastParticles = 4096;
// Adding to the sums of j costs a tenth of the operations of a pair. With few particles, blocks are short, and threads
// wait for each other: at 4096 particles this costs 0.45 of the operations, more than light pairs save
// (bench/RESULTS.md).
double cost_of_reactions(std::int64_t particles) { return 1.1 * (1 + 1850.0 / double(particles)); }
// The cost of a pair beyond which a search from both ends costs less: half lists test half of the pairs, but
// each reaction is added twice, first within a piece.
constexpr double kMostCostOfSearch = 0.85;

// On the CPU the run for the caller's kernel has checked the indices of tables.
RunChoice choice_of(const SumRequest& request, const KernelSource& source) {
  RunChoice choice;
  choice.accumulate = request.accumulate;
  choice.clamp = !request.check_indices || !source.find(Frame::IndexChecks);
  choice.stream = request.stream;
  choice.progress = request.progress;
  return choice;
}

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
    bind(request);
    sum()->set_pairs(PairChoice::All);
    const RunPlan plan = sum()->plan();
    const PairMethod* const method = request.listed_pairs ? find_listed(sum()->summation().methods()) : plan.method;
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
  row.enqueue = [this](const SumRequest& request) {
    search_.method ? search_.method->enqueue(search_.request) : both_ends_.enqueue(request);
  };
  return row;
}

SumStatistics SymmetricSum::statistics(const RunPlan& last) const {
  SumStatistics all = summation_.statistics();
  if (!sum_) return all;
  const SumStatistics of_once = sum_->summation().statistics();
  const std::int64_t within = last.estimate.once ? of_once.pairs_within : all.pairs_within;
  all.add(of_once);
  all.pairs_within = within;
  return all;
}

bool SymmetricSum::may_search_once(const SumRequest& request) {
  if (kernel_.source.find(Frame::Search)) return false;  // GPUs search from both ends
  const bool is_auto = request.symmetric == SymmetricChoice::Auto;
  if (request.symmetric == SymmetricChoice::Off || request.keep_j) return false;
  if (is_auto && (request.ni != request.nj || request.ni < kLeastParticles)) return false;
  if (!obstacle_of(request).empty() || made_->source->search.axes == 0) return false;
  return !is_auto || made_->cost < kMostCostOfSearch;
}

Estimate SymmetricSum::survey_search(SumRequest& request) {
  search_ = {};
  if (may_search_once(request) && sum()) {
    bind(request);
    sum_->set_pairs(request.pairs);
    sum_->set_skin(request.skin);
    search_ = sum_->plan(choice_of(request, *made_->source));
    if (search_.method->searches) return {.cost = search_.estimate.cost, .once = true};
    search_ = {};
  }
  return both_ends_.survey ? both_ends_.survey(request) : *both_ends_.estimate(request);
}

const ArrayView& SymmetricSum::view(const SumRequest& request, std::string_view field) const {
  const auto found = std::ranges::find(kernel_.source.fields, field, &FieldLayout::name);
  return request.views[std::size_t(found - kernel_.source.fields.begin())];
}

bool SymmetricSum::are_one_set(const SumRequest& request) const {
  bool have_partners = false;  // besides symmetric tables, which are their own partners
  for (const auto& [first, second] : made_->partners) {
    if (first == second) continue;
    have_partners = true;
    if (!is_same_array(view(request, first), view(request, second))) return false;
  }
  return have_partners && request.ni == request.nj;
}

// Questions that need no kernel come first.
std::string SymmetricSum::obstacle_of(const SumRequest& request) {
  if (request.ni == 0) return "there are no particles";
  if (request.exclusions) return "pairs are excluded";
  if (request.i_list || request.i_count != request.ni) return "some i are chosen";
  if (request.j_part != JPart::Whole) return "the j come in parts";
  if (request.ni != request.nj || request.i_offset != request.j_offset) return "i and j are two sets";
  if (!kernel_.source.symmetric) return "the library has no kernel for it";
  if (!made_) made_ = kernel_.source.symmetric();
  if (!made_->obstacle.empty()) return made_->obstacle;
  if (request.check_indices && kernel_.source.find(Frame::IndexChecks) && !made_->source->find(Frame::IndexChecks))
    return "this device checks table indices in the kernel of both ends";
  if (!are_one_set(request)) return "i and j are two sets";
  for (const auto& [first, second] : made_->partners) {
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
    return Estimate{.cost = double(request.listed_pairs->j.size()) * made_->cost, .once = true};
  }
  if (request.lists || request.listed_pairs || request.symmetric == SymmetricChoice::Off) return {};
  const bool is_auto = request.symmetric == SymmetricChoice::Auto;
  if (is_auto && (request.ni != request.nj || request.ni < kLeastParticles)) return {};
  Estimate found{.obstacle = obstacle_of(request), .once = true};
  found.cost = pairs_of(request);
  if (found.obstacle.empty()) found.cost *= made_->cost * cost_of_reactions(request.ni);
  // Cheaper than all pairs, but not than a search.
  if (!is_auto) found.cost = std::min(found.cost, 0.999 * pairs_of(request));
  return found;
}

SumState* SymmetricSum::sum() {
  if (sum_) return &*sum_;
  const std::shared_ptr<const Kernel> loaded = kernel_.load(*made_->source);
  return loaded ? &sum_.emplace(loaded) : nullptr;
}

// Asks the device, which must load the kernel to answer.
Estimate SymmetricSum::survey(const SumRequest& request) {
  Estimate found = *estimate(request);
  if (request.listed_pairs) {
    if (!sum() || !find_listed(sum()->summation().methods()))
      throw UsageError("symmetric = listed: this device computes listed pairs for their i only");
    return found;
  }
  if (!sum()) {
    found.obstacle = "the device has no kernel for it";
    return found;
  }
  for (const PairMethod& method : sum_->summation().methods())
    if (const std::optional<Estimate> of_device = method.estimate(request)) found.obstacle = of_device->obstacle;
  return found;
}

void SymmetricSum::bind(const SumRequest& request) {
  SumState& both = *sum();
  for (std::size_t f = 0; f < both.fields().size(); ++f) {
    const FieldLayout& field = both.fields()[f];
    const std::string& given = made_->given[f];
    if (given.empty()) {
      both.ignore(field.name);
    } else if (field.role == Role::Param) {
      both.set_param(field.name, request.params.subspan(std::size_t(field.first), std::size_t(field.components())));
    } else if (const ArrayView& array = view(request, given); array.data) {
      both.bind(field.name, array);
    } else {
      both.ignore(field.name);
    }
  }
  both.set_symmetric(request.listed_pairs ? SymmetricChoice::Always : request.symmetric);
  both.set_counts(request.ni, request.nj);
  both.set_offsets(request.i_offset, request.j_offset);
}

void SymmetricSum::run(const SumRequest& request) {
  bind(request);
  sum_->set_pairs(PairChoice::All);
  if (!request.listed_pairs) return sum_->run(choice_of(request, *made_->source));
  RunPlan plan = sum_->plan(choice_of(request, *made_->source));
  plan.request.listed_pairs = request.listed_pairs;
  find_listed(sum_->summation().methods())->enqueue(plan.request);
}

}  // namespace nbcc
