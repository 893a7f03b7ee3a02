// Binds arrays and runs the kernels of a far field. Entry points: the header.
#include "runtime/far/far_sums.h"

#include <algorithm>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

RunChoice chosen_i(const SumRequest& request) {
  RunChoice choice;
  choice.i_begin = request.i_begin;
  choice.i_count = request.i_count;
  choice.i_list = request.i_list;
  return choice;
}

}  // namespace

FarSums::FarSums(const Kernel& kernel, Precision at_least, bool waits)
    : source_(kernel.source), kernels_(kernel.source.far_kernels(at_least)), waits_(waits) {
  if (!kernels_.obstacle.empty())
    throw UsageError(fmt::format("tolerance: pipeline '{}' has no far field: {}", source_.pipeline, kernels_.obstacle));
  measured_ = kernel.load(kernels_.measured);
  sources_.emplace(kernel.load(kernels_.sources));
  targets_.emplace(kernel.load(kernels_.targets));
  if (kernels_.means) means_.emplace(kernel.load(*kernels_.means));
  distant_.emplace(kernel.load(kernels_.distant));
  near_.emplace(kernel.load(kernels_.near));
  sample_.emplace(kernel.load(kernels_.sample));
  finish_.emplace(kernel.load(kernels_.finish));
}

std::vector<std::pair<std::string, std::vector<double>>> FarSums::params(const SumRequest& request) const {
  std::vector<std::pair<std::string, std::vector<double>>> params;
  for (const FieldLayout& field : source_.fields) {
    if (field.role != Role::Param) continue;
    const auto values = request.params.subspan(std::size_t(field.first), std::size_t(field.components()));
    params.emplace_back(field.name, std::vector<double>(values.begin(), values.end()));
  }
  return params;
}

void FarSums::bind(SumState& sum, const SumRequest& request, std::optional<Role> from) const {
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const FieldLayout& field = source_.fields[f];
    if (field.role == Role::Param)
      sum.set_param(field.name, request.params.subspan(std::size_t(field.first), std::size_t(field.components())));
    else if (field.role == Role::Output)
      continue;
    else if (!from || field.role == *from)
      sum.bind(field.name, request.views[f]);
  }
}

void FarSums::run(SumState& sum, const SumRequest& request, RunChoice choice) const {
  choice.clamp = !request.check_indices;
  choice.stream = request.stream;
  choice.progress = request.progress;
  sum.run(choice);
  if (waits_) sum.wait(request.progress);
}

void FarSums::find(const SumRequest& request, SumState& sum, Role side, double* position, const FarArray& values,
                   const double* centres) {
  const std::int64_t count = side == Role::InputI ? request.ni : request.nj;
  bind(sum, request, side);
  if (kernels_.centres > 0) sum.bind("nbcc_centre", {const_cast<double*>(centres), Element::Double, count, 0, 8});
  sum.bind("nbcc_position", {position, Element::Double, count, 8 * kernels_.axes, 8});
  const bool is_of_j = side == Role::InputJ;
  if ((is_of_j ? kernels_.weights : kernels_.factors) > 0)
    sum.bind(is_of_j ? "nbcc_weights" : "nbcc_factors", values.view());
  sum.set_counts(count, 0);
  run(sum, request, is_of_j ? RunChoice{} : chosen_i(request));
}

void FarSums::find_centres(const SumRequest& request, std::span<double> centres) {
  if (!means_) return;
  bind(*means_, request, Role::InputJ);
  means_->bind("nbcc_sums", {centres.data(), Element::Double, 1, 8, 8});
  means_->set_counts(1, request.nj);
  run(*means_, request);
  means_->wait(request.progress);
  for (double& centre : centres) centre /= double(std::max<std::int64_t>(request.nj, 1));
}

void FarSums::find_sources(const SumRequest& request, double* position, const FarArray& weights,
                           const double* centres) {
  find(request, *sources_, Role::InputJ, position, weights, centres);
}

void FarSums::find_targets(const SumRequest& request, double* position, const FarArray& factors,
                           const double* centres) {
  find(request, *targets_, Role::InputI, position, factors, centres);
}

void FarSums::sum_near(const SumRequest& request, const FarArray& near, const DeviceLists* new_lists) {
  bind(*near_, request, {});
  for (const FieldLayout& field : source_.fields)
    if (field.role == Role::Output) near_->bind(field.name, near.view(field.first));
  near_->set_offsets(request.i_offset, request.j_offset);
  if (new_lists) near_->set_device_lists(*new_lists);
  run(*near_, request, near_->has_lists() ? RunChoice{} : chosen_i(request));
}

void FarSums::sum_distant(const SumRequest& request, const FarArray& i, const FarArray& j, const FarArray& sums,
                          const DeviceLists* new_lists) {
  bind(*distant_, request, Role::Param);
  distant_->bind("nbcc_position_i", i.view());
  if (!kernels_.both_sides && kernels_.factors > 0) distant_->bind("nbcc_factors_i", i.view(kernels_.axes));
  distant_->bind("nbcc_position_j", j.view());
  distant_->bind("nbcc_weights_j", j.view(kernels_.axes));
  distant_->bind("nbcc_sums", sums.view());
  if (new_lists) distant_->set_device_lists(*new_lists);
  run(*distant_, request);
}

void FarSums::sum_sample(const SumRequest& request, std::span<const std::int64_t> chosen, const FarArray& exact) {
  bind(*sample_, request, {});
  int next = source_.outputs;
  for (const FieldLayout& field : source_.fields) {
    if (field.role != Role::Output) continue;
    sample_->bind(field.name, exact.view(field.first));
    sample_->bind("nbcc_size_" + field.name, exact.view(next++));
  }
  sample_->set_offsets(request.i_offset, request.j_offset);
  RunChoice choice;
  choice.i_list = chosen.data();
  choice.i_count = std::int64_t(chosen.size());
  run(*sample_, request, choice);
}

void FarSums::finish(const SumRequest& request, const FarArray& totals) {
  bind(*finish_, request, Role::InputI);
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const FieldLayout& field = source_.fields[f];
    if (field.role != Role::Output) continue;
    if (request.views[f].data)
      finish_->bind(field.name, request.views[f]);
    else
      finish_->ignore(field.name);
  }
  finish_->bind("nbcc_total", totals.view());
  finish_->set_counts(request.ni, 0);
  RunChoice choice = chosen_i(request);
  choice.accumulate = request.accumulate;
  run(*finish_, request, choice);
}

}  // namespace nbcc
