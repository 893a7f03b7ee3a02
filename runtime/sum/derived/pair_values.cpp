// Entry point: with_pair_values().
#include "runtime/sum/derived/pair_values.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compiler/made_inputs.h"
#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/derived/forwarding.h"
#include "runtime/sum/plan/chosen_lists.h"
#include "runtime/sum/run/device_copies.h"
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
  void wait(Progress* progress) override {
    ForwardingSummation::wait(progress);
    with_pair_names([&] { values_.wait(progress); });
  }

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

  // The inputs of pairs are gathered before the sums are stored, since outputs may alias inputs. With arrays in the
  // memory of a device the host does not wait.
  void run(const SumRequest& request) {
    const PairRows& rows = *request.listed_pairs;
    DeviceCopies* const copies = device().device_copies(arrays_of(callers_.fields, request.views));
    const CopiesOfRun of_run(copies, request.stream);
    list(rows, request, copies);
    copies ? gather_on_device(request, *copies) : gather(request);
    if (request.i_count < request.ni) choose(rows, request);
    if (has_sums()) {
      // A wrong index of a result is an error before a sum is stored. A device reports it when the caller waits.
      if (!copies && request.check_indices && !values_.source().index_checks.checks.empty()) run_values(request, false);
      SumRequest sums = sum_.bind(request, {});
      sums.listed_pairs = &rows;
      sum_.run(sums);
      if (!copies) sum_.wait(request.progress);
    }
    run_values(request, true);
    if (!copies) with_pair_names([&] { values_.wait(request.progress); });
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
    with_pair_names([&] { values_.run(values); });
    if (!stores) with_pair_names([&] { values_.wait(request.progress); });
  }

  // Errors name the i of a run for results, which are pairs.
  template <typename Run>
  void with_pair_names(const Run& run) {
    try {
      run();
    } catch (const UsageError& error) {
      throw UsageError(renumbered(error.what(), "i-particle ", [&](std::int64_t pair) {
        return fmt::format("pair {}, of i-particle {} and j-particle {}", pair, i_index_.at(std::size_t(pair)),
                           j_index_.at(std::size_t(pair)));
      }));
    }
  }

  // The particles of each pair, which are kept from run to run.
  void list(const PairRows& rows, const SumRequest& request, DeviceCopies* copies) {
    const Listed now{rows.number, request.i_offset, request.j_offset, copies};
    if (now == listed_) return;
    if (copies) wait(request.progress);  // for earlier runs over other lists
    listed_ = {};
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
    const std::vector<std::int64_t>* const indices[] = {&i_, &j_, &i_index_, &j_index_};
    for (std::size_t k = 0; copies && k < std::size(indices); ++k) {
      const std::size_t bytes = sizeof(std::int64_t) * indices[k]->size();
      on_device_[k] = static_cast<std::int64_t*>(copies->reserve(k, bytes));
      copies->send(on_device_[k], indices[k]->data(), bytes);
    }
    listed_ = now;
  }

  // The pairs of the chosen i.
  void choose(const PairRows& rows, const SumRequest& request) {
    chosen_.clear();
    for (const std::int64_t i : chosen_i(request, device())) {
      if (i < 0 || i >= request.ni)
        throw UsageError(fmt::format("i_list has {}, but there are {} i-particles", i, request.ni));
      for (std::int64_t p = rows.first[std::size_t(i)]; p < rows.first[std::size_t(i) + 1]; ++p) chosen_.push_back(p);
    }
  }

  // The inputs of each pair, and the indices of its particles.
  void gather(const SumRequest& request) {
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
    name_particles(i_index_.data(), j_index_.data());
  }

  // The same in the memory of a device.
  void gather_on_device(const SumRequest& request, DeviceCopies& copies) {
    made_.clear();
    for (std::size_t f = 0; f < callers_.fields.size(); ++f) {
      const FieldLayout& field = callers_.fields[f];
      if (field.role != Role::InputI && field.role != Role::InputJ && field.role != Role::InputPair) continue;
      const std::int64_t* const rows = field.role == Role::InputPair ? nullptr : on_device_[field.role == Role::InputJ];
      made_.push_back({field.name, gathered(copies, on_device_.size() + f, request.views[f], field.components(), rows,
                                            std::int64_t(j_.size()))});
    }
    name_particles(on_device_[2], on_device_[3]);
  }

  // [pair] the indices of its particles.
  void name_particles(std::int64_t* i, std::int64_t* j) {
    const auto pairs = std::int64_t(j_.size());
    for (const FieldLayout& field : values_.source().fields) {
      if (field.name == kIndexOfI) made_.push_back({field.name, {i, Element::Int64, pairs, 8, 8}});
      if (field.name == kIndexOfJ) made_.push_back({field.name, {j, Element::Int64, pairs, 8, 8}});
    }
  }

  DerivedSum values_;
  std::array<PairMethod, 1> row_;
  std::vector<std::int64_t> i_, j_, i_index_, j_index_, every_pair_;  // by pair
  // The first four in the memory of a device, and what they were made for.
  std::array<std::int64_t*, 4> on_device_{};
  struct Listed {
    std::int64_t number = 0, i_offset = 0, j_offset = 0;
    DeviceCopies* copies = nullptr;
    bool operator==(const Listed&) const = default;
  };
  Listed listed_;
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
      throw UsageError(fmt::format("pipeline '{}': this device does not compute its results of pairs (output(pair))",
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
