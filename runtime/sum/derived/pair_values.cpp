// Entry point: with_pair_values().
#include "runtime/sum/derived/pair_values.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compiler/made_inputs.h"
#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/derived/forwarding.h"
#include "runtime/sum/run/host_arrays.h"

namespace nbcc {
namespace {

KernelSource source_of(const KernelSource& source) {
  KernelSource seen = source_for_callers(source);
  // The run checks indices if either kernel has some.
  if (source.callers->values && seen.index_checks.checks.empty())
    seen.index_checks = source.callers->values->index_checks;
  return seen;
}

class PairValuesSummation final : public ForwardingSummation {
 public:
  // `values`: the kernel of the results; `kernel` itself if there are no sums.
  PairValuesSummation(const std::shared_ptr<const Kernel>& kernel, const std::shared_ptr<const Kernel>& values,
                      const KernelSource& callers)
      : ForwardingSummation(kernel, callers), values_(values, bound_by_name(values->source), callers), row_{row()} {}

  std::span<const PairMethod> methods() const override { return row_; }

 private:
  bool has_sums() const { return callers_.callers->values != nullptr; }

  PairMethod row() {
    PairMethod row;
    row.name = "listed pairs";
    row.estimate = [](const SumRequest& request) {
      return Estimate{.cost = request.listed_pairs ? double(request.listed_pairs->j.size()) : 0};
    };
    row.work = [](const SumRequest& request) {
      return std::vector<DeviceWork>{{"host", 0, 64 * std::int64_t(request.listed_pairs->j.size())}};
    };
    row.enqueue = [this](const SumRequest& request) { run(request); };
    row.statistics = [this] { return sum_.sum().statistics(); };
    return row;
  }

  // The inputs of pairs are gathered before the sums are stored, since outputs may alias inputs.
  void run(const SumRequest& request) {
    const PairRows& rows = *request.listed_pairs;
    list(rows, request);
    gather(request);
    if (request.i_count < request.ni) choose(rows, request);
    if (has_sums()) {
      // A wrong index of a result is an error before a sum is stored.
      if (request.check_indices && !values_.source().index_checks.checks.empty()) run_values(request, false);
      SumRequest sums = sum_.bind(request, {});
      sums.listed_pairs = &rows;
      sum_.run(sums);
      sum_.wait(request.progress);
    }
    run_values(request, true);
  }

  // `stores`: the results are stored; else the indices of tables are checked alone.
  void run_values(const SumRequest& request, bool stores) {
    std::vector<MadeArray> made = made_;
    for (std::size_t f = 0; f < callers_.fields.size() && !stores; ++f)
      if (callers_.fields[f].is_pair_result()) made.push_back({callers_.fields[f].name, {}});
    SumRequest values = values_.bind(request, made);
    values.ni = std::int64_t(j_.size()), values.nj = 1;
    values.i_begin = 0, values.i_count = values.ni;
    values.i_list = nullptr;
    if (request.i_count < request.ni) values.i_list = chosen_.data(), values.i_count = std::int64_t(chosen_.size());
    values.i_offset = values.j_offset = 0;
    try {
      values_.run(values);
      values_.wait(request.progress);
    } catch (const UsageError& error) {
      throw UsageError(renumbered(error.what(), "i-particle ", [&](std::int64_t pair) {
        return fmt::format("pair {}, of i-particle {} and j-particle {}", pair, i_index_.at(std::size_t(pair)),
                           j_index_.at(std::size_t(pair)));
      }));
    }
  }

  // The particles of each pair.
  void list(const PairRows& rows, const SumRequest& request) {
    i_.clear();
    for (std::int64_t i = 0; i < request.ni; ++i) i_.resize(i_.size() + rows.of(i).size(), i);
    j_.assign(rows.j.begin(), rows.j.end());
    every_pair_.resize(j_.size());
    std::iota(every_pair_.begin(), every_pair_.end(), std::int64_t(0));
    for (const auto& [particles, offset, indices] :
         {std::tuple{&i_, request.i_offset, &i_index_}, std::tuple{&j_, request.j_offset, &j_index_}}) {
      *indices = *particles;
      for (std::int64_t& index : *indices) index += offset;
    }
  }

  // The pairs of the chosen i.
  void choose(const PairRows& rows, const SumRequest& request) {
    std::vector<std::int64_t> chosen_i(static_cast<std::size_t>(request.i_count));
    for (std::int64_t k = 0; k < request.i_count; ++k) chosen_i[std::size_t(k)] = request.i_begin + k;
    if (request.i_list) device().fetch(chosen_i.data(), request.i_list, 8 * chosen_i.size());
    for (const std::int64_t i : chosen_i)
      if (i < 0 || i >= request.ni)
        throw UsageError(fmt::format("i_list has {}, but there are {} i-particles", i, request.ni));
    chosen_.clear();
    for (const std::int64_t i : chosen_i)
      for (std::int64_t p = rows.first[std::size_t(i)]; p < rows.first[std::size_t(i) + 1]; ++p) chosen_.push_back(p);
  }

  // The inputs of each pair, and the indices of its particles.
  void gather(const SumRequest& request) {
    const auto pairs = std::int64_t(j_.size());
    memory_.resize(callers_.fields.size());
    made_.clear();
    for (std::size_t f = 0; f < callers_.fields.size(); ++f) {
      const FieldLayout& field = callers_.fields[f];
      const std::vector<std::int64_t>* const rows = field.role == Role::InputI      ? &i_
                                                    : field.role == Role::InputJ    ? &j_
                                                    : field.role == Role::InputPair ? &every_pair_
                                                                                    : nullptr;
      if (rows)
        made_.push_back(
            {field.name, gathered(request.views[f], field.components(), *rows, memory_[f], device(), request.stream)});
    }
    for (const FieldLayout& field : values_.source().fields) {
      if (field.name == kIndexOfI) made_.push_back({field.name, {i_index_.data(), Element::Int64, pairs, 8, 8}});
      if (field.name == kIndexOfJ) made_.push_back({field.name, {j_index_.data(), Element::Int64, pairs, 8, 8}});
    }
  }

  DerivedSum values_;
  std::array<PairMethod, 1> row_;
  std::vector<std::int64_t> i_, j_, i_index_, j_index_, every_pair_;  // by pair
  std::vector<std::int64_t> chosen_;
  std::vector<std::vector<std::byte>> memory_;  // by field
  std::vector<MadeArray> made_;                 // what the results are computed from
};

class PairValuesKernel final : public Kernel {
 public:
  explicit PairValuesKernel(std::shared_ptr<const Kernel> kernel)
      : Kernel(source_of(kernel->source)), kernel_(std::move(kernel)) {
    values_ = source.callers->values ? kernel_->load(*source.callers->values) : kernel_;
    if (!values_)
      throw UsageError(
          fmt::format("pipeline '{}' has results of pairs (output(pair)), which compiled libraries do not "
                      "have",
                      source.pipeline));
  }
  std::unique_ptr<Summation> start() const override {
    return std::make_unique<PairValuesSummation>(kernel_, values_, source);
  }
  std::shared_ptr<const Kernel> load(const KernelSource& other) const override { return kernel_->load(other); }

 private:
  std::shared_ptr<const Kernel> kernel_, values_;
};

}  // namespace

std::shared_ptr<const Kernel> with_pair_values(std::shared_ptr<const Kernel> kernel) {
  if (!kernel || !kernel->source.callers || !kernel->source.callers->has_pair_values) return kernel;
  return std::make_shared<PairValuesKernel>(std::move(kernel));
}

}  // namespace nbcc
