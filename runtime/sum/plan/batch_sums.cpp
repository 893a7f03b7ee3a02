// Splits a run over batches into one run over lists and one run for each batch that is searched. Entry point:
// BatchSums::method().
#include "runtime/sum/plan/batch_sums.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/first_failure.h"
#include "runtime/sum/request/overlap.h"

namespace nbcc {
namespace {

// The exclusions of one batch, with i and j counted from the batch's first particles. Excluded j of other batches are
// dropped, because only j of the same batch act.
PairRows rows_of(const PairRows& all, std::int64_t i_begin, std::int64_t i_end, std::int64_t j_begin,
                 std::int64_t j_end) {
  PairRows rows;
  rows.what = all.what;
  rows.number = all.number;
  rows.first = {0};
  for (std::int64_t i = i_begin; i < i_end; ++i) {
    for (auto entry = std::size_t(all.first[std::size_t(i)]); entry < std::size_t(all.first[std::size_t(i) + 1]);
         ++entry) {
      const int j = all.j[entry];
      if (j < j_begin || j >= j_end) continue;
      rows.j.push_back(int(j - j_begin));
      if (!all.images.empty())
        rows.images.insert(rows.images.end(), all.images.begin() + std::ptrdiff_t(3 * entry),
                           all.images.begin() + std::ptrdiff_t(3 * entry + 3));
    }
    rows.first.push_back(std::int64_t(rows.j.size()));
  }
  return rows;
}

const PairMethod& row_of(std::span<const PairMethod> methods, std::string_view name) {
  return *std::ranges::find(methods, name, &PairMethod::name);
}

}  // namespace

SumRequest request_of_batch(const KernelSource& source, std::int64_t batch, const SumRequest& all) {
  const auto b = std::size_t(batch);
  const std::int64_t i_begin = all.lists->i_first[b], j_begin = all.lists->j_begin[b];
  SumRequest request = all;
  request.i_begin = 0;
  request.i_list = nullptr;
  request.ni = request.i_count = all.lists->i_first[b + 1] - i_begin;
  request.nj = all.lists->j_end[b] - j_begin;
  request.i_offset += i_begin;
  request.j_offset += j_begin;
  request.keep_j = false;
  request.reuse = JReuse::None;
  if (!all.params_of_groups.empty())
    request.params = all.params_of_groups.subspan(b * std::size_t(source.params), std::size_t(source.params));
  request.params_of_groups = {};
  request.tables_of_groups = {};
  request.may_be_captured = false;
  request.lists = nullptr;
  request.exclusions = nullptr;
  request.excluded_rows = nullptr;
  // Listed particles are numbered over all batches, so they do not apply to one batch.
  request.listed = nullptr;
  request.lists_chosen_i = false;
  return request;
}

void BatchInputs::bind(SumRequest& request, const KernelSource& source, std::int64_t batch, const SumRequest& all) {
  const auto b = std::size_t(batch);
  const std::int64_t i_begin = all.lists->i_first[b], j_begin = all.lists->j_begin[b];
  const TablesOfGroups* const own = all.tables_of_groups.empty() ? nullptr : &tables_of(all, batch);
  if (own) request.tables = own->tables.get();
  const std::span<const double> by_value = request.params.first(std::size_t(source.params));
  const std::span<const double> values = own ? std::span<const double>(own->params) : all.params;
  std::vector<double> params(values.begin(), values.end());
  std::ranges::copy(by_value, params.begin());
  params_ = std::move(params);
  request.params = params_;
  views_.assign(all.views.begin(), all.views.end());
  for (std::size_t f = 0; f < views_.size(); ++f) {
    ArrayView& view = views_[f];
    const bool of_j = source.fields[f].role == Role::InputJ;
    if (!view.data || source.fields[f].role == Role::Param) continue;
    view.data = static_cast<std::byte*>(view.data) + (of_j ? j_begin : i_begin) * view.stride;
    view.count = of_j ? request.nj : request.ni;
  }
  request.views = views_;
  if (!all.excluded_rows) return;
  if (exclusion_number_ != all.excluded_rows->number) {
    excluded_ = rows_of(*all.excluded_rows, i_begin, all.lists->i_first[b + 1], j_begin, all.lists->j_end[b]);
    exclusions_ = std::make_unique<const Exclusions>(excluded_);
    exclusion_number_ = all.excluded_rows->number;
  }
  request.exclusions = exclusions_.get();
  request.excluded_rows = &excluded_;
}

ChosenOfBatches divide_chosen(const SumRequest& all, const Summation& sum, std::span<const std::int64_t> batches) {
  const std::vector<std::int64_t>& first = all.lists->i_first;
  ChosenOfBatches chosen;
  chosen.of_batch.resize(batches.size());
  std::vector<std::vector<std::int64_t>*> of_group(first.size() - 1, nullptr);
  for (std::size_t k = 0; k < batches.size(); ++k) of_group[std::size_t(batches[k])] = &chosen.of_batch[k];
  const std::vector<std::int64_t> list = chosen_i(all, sum);
  for (std::size_t k = 0; k < list.size(); ++k) {
    const std::int64_t i = list[k];
    if (i < 0 || i >= first.back())  // a list in the memory of a GPU may have any numbers
      throw UsageError(fmt::format("i_list[{}] is {}, but there are {} i-particles", k, i, first.back()));
    const auto after = std::ranges::upper_bound(first, i);
    if (std::vector<std::int64_t>* const own = of_group[std::size_t(after - first.begin()) - 1])
      own->push_back(i - *std::prev(after));
    else
      chosen.others.push_back(i);
  }
  return chosen;
}

PairMethod BatchSums::method() {
  PairMethod row;
  row.name = "batches";
  row.searches = !kernel_.source.copies();  // else each batch has what pairs chooses
  row.estimate = [this](const SumRequest& request) { return estimate(request); };
  row.work = [this](const SumRequest& request) {
    std::vector<DeviceWork> all;
    for (const Searched& one : searched_) {
      const SumRequest of_batch = request_of_batch(kernel_.source, one.batch, request);
      for (DeviceWork& work : search().work(of_batch)) all.push_back(std::move(work));
    }
    if (!has_rest_) return all;
    for (DeviceWork& work : row_of(all_.methods(), "lists").work(request)) all.push_back(std::move(work));
    return all;
  };
  row.steps = [this](const SumRequest& request) { return steps(request); };
  row.statistics = [this] { return statistics(); };
  return row;
}

// Returns no estimate if no batch is worth a search: then the pair method "lists" does the run.
std::optional<Estimate> BatchSums::estimate(const SumRequest& request) {
  const bool has_images = kernel_.source.copies();
  if (!request.lists || !request.lists->are_batches || (kernel_.source.search.axes == 0 && !has_images)) return {};
  choose(request);
  if (searched_.empty()) return {};
  Estimate found{.cost = cost_};
  if (const auto shared = find_overlap(kernel_.source.fields, request.views, disjoint)) {
    found.obstacle = fmt::format(
        "output '{}' overlaps input '{}' in memory, and the results of a batch are stored before the next is searched",
        kernel_.source.fields[shared->output].name, kernel_.source.fields[shared->input].name);
    if (has_images) throw UsageError(found.obstacle);  // no other method can do the run
  } else if (request.j_part != JPart::Whole) {
    found = {"the j come in parts", cost_, true};
  }
  return found;
}

// The method that sums over each batch by itself.
const PairMethod& BatchSums::search() const {
  return row_of(all_.methods(), kernel_.source.copies() ? "every image" : "search");
}

// Decides which batches are searched, once for all runs over the same batches, by comparing the costs that the device's
// pair methods estimate from counts and params.
void BatchSums::choose(const SumRequest& request) {
  if (number_ == request.lists->number && choice_ == request.pairs) return;
  forget();
  for (std::int64_t batch = 0; batch < request.lists->groups(); ++batch) {
    const SumRequest one = request_of_batch(kernel_.source, batch, request);
    if (one.i_count == 0) continue;
    const std::optional<Estimate> searching = search().estimate(one);
    const double otherwise = pairs_of(one);
    const bool is_searched = kernel_.source.copies() || request.pairs == PairChoice::Cutoff ||
                             (searching->obstacle.empty() && searching->cost <= otherwise);
    cost_ += is_searched ? searching->cost : otherwise;
    if (is_searched)
      searched_.emplace_back().batch = batch;
    else
      has_rest_ = true;
  }
  number_ = request.lists->number;
  choice_ = request.pairs;
}

void BatchSums::forget() {
  searched_.clear();
  has_rest_ = false;
  number_ = 0;
  cost_ = 0;
}

// The chosen i of searched batches become those of their runs; one run over lists has all others.
std::vector<RunStep> BatchSums::steps(const SumRequest& all) {
  std::vector<std::int64_t> batches;
  for (const Searched& one : searched_) batches.push_back(one.batch);
  ChosenOfBatches chosen = divide_chosen(all, all_, batches);
  std::vector<RunStep> steps;
  if (!chosen.others.empty()) steps = rest_.steps(row_of(all_.methods(), "lists"), all, std::move(chosen.others));
  for (std::size_t k = 0; k < searched_.size(); ++k) {
    searched_[k].chosen = std::move(chosen.of_batch[k]);
    if (searched_[k].chosen.empty()) continue;
    RunPlan plan = plan_of(searched_[k], all);
    steps.push_back(std::move(plan.steps.front()));
  }
  return steps;
}

// A sum with every_image() keeps its copies for the next run if there is a skin.
Summation& BatchSums::sum_of(Searched& one, const SumRequest& all) {
  std::unique_ptr<Summation>& sum = kernel_.source.copies() && all.skin == 0 ? of_all_ : one.sum;
  if (!sum) sum = kernel_.start();
  return *sum;
}

RunPlan BatchSums::plan_of(Searched& one, const SumRequest& all) {
  SumRequest request = request_of_batch(kernel_.source, one.batch, all);
  one.inputs.bind(request, kernel_.source, one.batch, all);
  if (std::int64_t(one.chosen.size()) < request.ni) {
    request.i_list = one.chosen.data();
    request.i_count = std::int64_t(one.chosen.size());
  }
  return plan_run(sum_of(one, all).methods(), request, Measure::Now);
}

void BatchSums::wait(Progress* progress) {
  FirstFailure failure;
  if (of_all_) failure.attempt([&] { of_all_->wait(progress); });
  for (Searched& one : searched_)
    if (one.sum) failure.attempt([&] { one.sum->wait(progress); });
  failure.rethrow();
}

SumStatistics BatchSums::statistics() const {
  SumStatistics all;
  if (of_all_) all.add(of_all_->statistics());
  // Only the pairs of the last batch could be counted.
  if (of_all_ && std::ranges::count_if(searched_, [](const Searched& one) { return !one.chosen.empty(); }) > 1)
    all.pairs_within = 0;
  for (const Searched& searched : searched_) {
    if (!searched.sum) continue;
    all.add(searched.sum->statistics());
  }
  return all;
}

}  // namespace nbcc
