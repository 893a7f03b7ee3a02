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
  if (source.pair_values->values && seen.index_checks.checks.empty())
    seen.index_checks = source.pair_values->values->index_checks;
  return seen;
}

class PairValuesSummation final : public ForwardingSummation {
 public:
  // `callers` must outlive this object. `values`: the kernel of the results; `kernel` itself if there are no sums.
  PairValuesSummation(const std::shared_ptr<const Kernel>& kernel, std::shared_ptr<const Kernel> values,
                      const KernelSource& callers)
      : ForwardingSummation(kernel), callers_(callers), values_(std::move(values)), row_{row()} {}

  std::span<const PairMethod> methods() const override { return row_; }

 private:
  bool has_sums() const { return callers_.pair_values->values != nullptr; }

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
    row.statistics = [this] { return sum_.statistics(); };
    return row;
  }

  // The inputs of pairs are gathered before the sums are stored, since outputs may alias inputs.
  void run(const SumRequest& request) {
    const PairRows& rows = *request.listed_pairs;
    list(rows, request);
    bind_values(request);
    RunChoice choice = choice_of(request);
    choice.i_begin = 0;
    choice.i_count = -1;
    choice.i_list = nullptr;
    if (request.i_count < request.ni) {
      choose(rows, request);
      choice.i_list = chosen_.data();
      choice.i_count = std::int64_t(chosen_.size());
    }
    if (!has_sums()) return run_values(choice, request);
    // A wrong index of a result is an error before a sum is stored.
    if (request.check_indices && !values_.kernel().source.index_checks.checks.empty()) {
      for (const FieldLayout& field : callers_.fields)
        if (field.is_pair_result()) values_.ignore(field.name);
      run_values(choice, request);
      for (std::size_t f = 0; f < callers_.fields.size(); ++f)
        if (callers_.fields[f].is_pair_result()) forward(values_, callers_.fields[f], request, request.views[f]);
    }
    bind_sums(request, rows);
    sum_.run(choice_of(request));
    sum_.wait(request.progress);
    run_values(choice, request);
  }

  void run_values(const RunChoice& choice, const SumRequest& request) {
    try {
      values_.run(choice);
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
    if (request.i_list) sum_.summation().fetch(chosen_i.data(), request.i_list, 8 * chosen_i.size());
    for (const std::int64_t i : chosen_i)
      if (i < 0 || i >= request.ni)
        throw UsageError(fmt::format("i_list has {}, but there are {} i-particles", i, request.ni));
    chosen_.clear();
    for (const std::int64_t i : chosen_i)
      for (std::int64_t p = rows.first[std::size_t(i)]; p < rows.first[std::size_t(i) + 1]; ++p) chosen_.push_back(p);
  }

  void bind_values(const SumRequest& request) {
    const auto pairs = std::int64_t(j_.size());
    values_.set_counts(pairs, 1);
    memory_.resize(callers_.fields.size());
    for (std::size_t f = 0; f < callers_.fields.size(); ++f) {
      const FieldLayout& field = callers_.fields[f];
      const ArrayView& view = request.views[f];
      const std::vector<std::int64_t>* const rows = field.role == Role::InputI      ? &i_
                                                    : field.role == Role::InputJ    ? &j_
                                                    : field.role == Role::InputPair ? &every_pair_
                                                                                    : nullptr;
      if (rows)
        values_.bind(field.name,
                     gathered(view, field.components(), *rows, memory_[f], sum_.summation(), request.stream));
      else if (field.role == Role::Param || field.is_pair_result())
        forward(values_, field, request, view);
    }
    for (const FieldLayout& field : values_.fields()) {
      if (field.name == kIndexOfI) values_.bind(field.name, {i_index_.data(), Element::Int64, pairs, 8, 8});
      if (field.name == kIndexOfJ) values_.bind(field.name, {j_index_.data(), Element::Int64, pairs, 8, 8});
    }
  }

  void bind_sums(const SumRequest& request, const PairRows& rows) {
    sum_.set_counts(request.ni, request.nj);
    for (std::size_t f = 0; f < callers_.fields.size(); ++f) {
      const FieldLayout& field = callers_.fields[f];
      if (!field.is_pair_result()) forward(sum_, field, request, request.views[f]);
    }
    sum_.set_offsets(request.i_offset, request.j_offset);
    if (listed_ == rows.number) return;
    const std::vector<std::int64_t> j(rows.j.begin(), rows.j.end());
    sum_.set_listed_pairs(request.ni, rows.first.data(), std::int64_t(j.size()), j.data());
    listed_ = rows.number;
  }

  const KernelSource& callers_;
  SumState values_;
  std::array<PairMethod, 1> row_;
  std::int64_t listed_ = -1;  // PairRows::number of the pairs that the sums have
  std::vector<std::int64_t> i_, j_, i_index_, j_index_, every_pair_;  // by pair
  std::vector<std::int64_t> chosen_;
  std::vector<std::vector<std::byte>> memory_;  // by field
};

class PairValuesKernel final : public Kernel {
 public:
  explicit PairValuesKernel(std::shared_ptr<const Kernel> kernel)
      : Kernel(source_of(kernel->source)), kernel_(std::move(kernel)) {
    values_ = source.pair_values->values ? kernel_->load(*source.pair_values->values) : kernel_;
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
  if (!kernel || !kernel->source.pair_values) return kernel;
  return std::make_shared<PairValuesKernel>(std::move(kernel));
}

}  // namespace nbcc
