// Splits a run over batches into one run over lists and one run with a far field for each large batch. Entry point:
// FarBatches::method().
#include "runtime/far/far_batches.h"

#include <algorithm>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/request/overlap.h"

namespace nbcc {

PairMethod FarBatches::method(const std::shared_ptr<FarBatches>& batches) {
  PairMethod row;
  row.name = "far batches";
  row.estimate = [batches](const SumRequest& request) { return batches->estimate(request); };
  row.measure = [batches](const SumRequest& request) { return batches->measure(request); };
  row.expected = [batches](const SumRequest& request) { return batches->expected(request); };
  row.work = [batches](const SumRequest& request) {
    std::vector<DeviceWork> all;
    for (const auto& batch : batches->candidates_) {
      const FarMemory memory = batch->field->memory(batches->request_of(*batch, request));
      all.push_back({memory.device, 0, memory.needed});
    }
    return all;
  };
  row.steps = [batches](const SumRequest& request) { return batches->steps(request); };
  row.statistics = [batches] { return batches->statistics(); };
  row.wait = [batches](Progress*) {
    for (const auto& batch : batches->candidates_) batch->field->wait();
  };
  return row;
}

// No estimate if no batch may be worth a far field: then the pair method "lists" does the run. Periodic sums have no
// other method.
std::optional<Estimate> FarBatches::estimate(const SumRequest& request) {
  const bool is_periodic = single_->is_periodic();
  if (request.pairs != PairChoice::Auto && !is_periodic) return {};
  find_candidates(request);
  const bool has_rest = !is_periodic && std::int64_t(candidates_.size()) < request.lists->groups();
  if (has_rest) single_->require_precision("some batches are too small for a far field");
  if (candidates_.empty()) return {};
  Estimate found;
  if (const auto shared = find_overlap(kernel_.source.fields, request.views, disjoint)) {
    found.obstacle = fmt::format(
        "output '{}' overlaps input '{}' in memory, and the results of a batch are stored before the next is summed",
        kernel_.source.fields[shared->output].name, kernel_.source.fields[shared->input].name);
    found.falls_back = true;
    if (is_periodic) throw UsageError(found.obstacle);
  }
  if (found.obstacle.empty()) return found;
  single_->require_precision(found.obstacle);
  found.cost = request.lists->pair_count();
  for (const auto& batch : candidates_) {
    const SumRequest own = request_of_batch(kernel_.source, batch->number, request);
    found.cost += single_->least_cost(own) - pairs_of(own);
  }
  return found;
}

// Batches of the same particles keep what was chosen for them.
void FarBatches::find_candidates(const SumRequest& request) {
  const Lists& lists = *request.lists;
  if (number_ == lists.number) return;
  number_ = 0;
  std::vector<std::unique_ptr<Batch>> before = std::exchange(candidates_, {});
  for (std::int64_t number = 0; number < lists.groups(); ++number) {
    const SumRequest own = request_of_batch(kernel_.source, number, request);
    if (single_->is_periodic() ? own.ni == 0 : !single_->may_be_far(own)) continue;
    const auto b = std::size_t(number);
    const Particles particles{lists.i_first[b], lists.i_first[b + 1], lists.j_begin[b], lists.j_end[b]};
    const auto same = std::ranges::find_if(before, [&](const auto& old) { return old && old->particles == particles; });
    candidates_.push_back(same == before.end() ? make_batch(particles) : std::move(*same));
    candidates_.back()->number = number;
  }
  number_ = lists.number;
}

std::unique_ptr<FarBatches::Batch> FarBatches::make_batch(const Particles& particles) const {
  auto made = std::make_unique<Batch>();
  made->particles = particles;
  made->field = std::make_unique<FarField>(kernel_, all_, tolerance_, choice_);
  made->row.name = "far field";
  made->row.enqueue = [field = made->field.get()](const SumRequest& request) { field->run(request); };
  return made;
}

SumRequest FarBatches::request_of(Batch& batch, const SumRequest& all) const {
  SumRequest request = request_of_batch(kernel_.source, batch.number, all);
  batch.inputs.bind(request, kernel_.source, batch.number, all);
  request.peers = nullptr;  // processes have different batches
  if (std::int64_t(batch.chosen.size()) < request.ni) {
    request.i_list = batch.chosen.data();
    request.i_count = std::int64_t(batch.chosen.size());
  }
  return request;
}

template <typename Takes>
std::vector<std::int64_t> FarBatches::divide_i(const SumRequest& request, const Takes& takes) {
  std::vector<std::int64_t> batches;
  for (const auto& batch : candidates_)
    if (takes(*batch)) batches.push_back(batch->number);
  ChosenOfBatches chosen = divide_chosen(request, all_, batches);
  std::size_t k = 0;
  for (const auto& batch : candidates_)
    if (takes(*batch)) batch->chosen = std::move(chosen.of_batch[k++]);
  return std::move(chosen.others);
}

// What the batches cost together, once `ask` has said which of them have a far field, and what these cost.
template <typename Ask>
double FarBatches::cost_of(const SumRequest& request, const Ask& ask) {
  divide_i(request, [](const Batch&) { return true; });
  const double all_i = std::max(1.0, double(request.ni));
  double cost = request.lists->pair_count() * double(request.i_count) / all_i;
  for (const auto& batch : candidates_) {
    batch->is_far = false;
    if (batch->chosen.empty()) continue;
    const SumRequest own = request_of(*batch, request);
    const Estimate found = ask(*batch->field, own);
    batch->is_far = found.obstacle.empty();
    batch->cost = found.cost;
    if (batch->is_far) cost += found.cost - pairs_of(own);
  }
  return cost;
}

Estimate FarBatches::measure(const SumRequest& request) {
  Estimate all = *estimate(request);
  if (!all.obstacle.empty()) return all;
  all.cost = cost_of(request, [](FarField& field, const SumRequest& own) { return field.measure(own); });
  if (single_->is_periodic() || std::ranges::any_of(candidates_, [](const auto& batch) { return batch->is_far; }))
    return all;
  return {"all pairs of each batch cost less than a far field", request.lists->pair_count(), true};
}

std::pair<Estimate, double> FarBatches::expected(const SumRequest& request) {
  std::pair<Estimate, double> all{*estimate(request), 0};
  if (!all.first.obstacle.empty()) return all;
  all.first.cost = cost_of(request, [&](FarField& field, const SumRequest& own) {
    const auto [found, cost] = field.expected(own);
    all.second += cost;
    return found;
  });
  return all;
}

std::vector<RunStep> FarBatches::steps(const SumRequest& request) {
  std::vector<std::int64_t> others = divide_i(request, [](const Batch& batch) { return batch.is_far; });
  std::vector<RunStep> steps;
  if (!others.empty())
    steps = rest_.steps(*std::ranges::find(all_.methods(), "lists", &PairMethod::name), request, std::move(others));
  for (const auto& batch : candidates_)
    if (batch->is_far) steps.push_back({&batch->row, request_of(*batch, request), "", batch->cost});
  return steps;
}

// Errors are the largest of all batches, numbers those of the last batch, seconds and samples are sums.
SumStatistics FarBatches::statistics() const {
  SumStatistics all;
  for (const auto& batch : candidates_) {
    if (!batch->is_far) continue;
    FarStatistics one = batch->field->statistics().far;
    const FarStatistics& before = all.far;
    one.error = std::max(one.error, before.error);
    one.largest = std::max(one.largest, before.largest);
    one.error_of_sum = std::max(one.error_of_sum, before.error_of_sum);
    one.sampled += before.sampled;
    one.runs_since_error = std::max(one.runs_since_error, before.runs_since_error);
    one.pairs_per_i = std::max(one.pairs_per_i, before.pairs_per_i);
    one.seconds.add(before.seconds);
    all.far = one;
  }
  return all;
}

}  // namespace nbcc
