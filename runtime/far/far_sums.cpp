// Binds arrays and runs the kernels of a far field. Entry points: the header.
#include "runtime/far/far_sums.h"

#include <algorithm>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

const FarKernels& kernels_of(const Kernel& kernel, Precision at_least) {
  const DerivedKernels& row = kernel.derived("far", at_least);
  if (!row.obstacle.empty())
    throw UsageError(
        fmt::format("tolerance: pipeline '{}' has no far field: {}", kernel.source.pipeline, row.obstacle));
  return row.as<FarKernels>();
}

}  // namespace

FarSums::FarSums(const Kernel& kernel, Precision at_least, bool waits)
    : kernel_(kernel), at_least_(at_least), kernels_(kernels_of(kernel, at_least)), waits_(waits) {
  const auto sum = [&](std::string_view name) { return derived_sum(kernel, "far", name, at_least); };
  sources_ = sum("sources");
  targets_ = sum("targets");
  if (kernels_.means) means_ = sum("means");
  distant_ = sum("distant");
  near_ = sum("near");
  sample_ = sum("sample");
  finish_ = sum("finish");
}

void FarSums::run(DerivedSum& sum, const SumRequest& request, std::span<const MadeArray> made, std::int64_t ni,
                  std::int64_t nj, I which, bool accumulates) {
  SumRequest bound = sum.bind(request, made);
  bound.ni = ni, bound.nj = nj;
  if (which == I::All) bound.i_begin = 0, bound.i_count = ni, bound.i_list = nullptr;
  // Only the kernels of the pipeline's own pairs know indices and exclusions.
  if (sums_callers_pairs(sum))
    bound.exclusions = request.exclusions, bound.excluded_rows = request.excluded_rows;
  else
    bound.i_offset = bound.j_offset = 0;
  bound.accumulate = accumulates;
  sum.run(bound);
  if (waits_) sum.wait(request.progress);
}

void FarSums::find(const SumRequest& request, DerivedSum& sum, Role side, double* position, const FarArray& values,
                   const double* centres) {
  const std::int64_t count = side == Role::InputI ? request.ni : request.nj;
  std::vector<MadeArray> made{{"nbcc_position", {position, Element::Double, count, 8 * kernels_.axes, 8}}};
  if (kernels_.centres > 0)
    made.push_back({"nbcc_centre", {const_cast<double*>(centres), Element::Double, count, 0, 8}});
  const bool is_of_j = side == Role::InputJ;
  if ((is_of_j ? kernels_.weights : kernels_.factors) > 0)
    made.push_back({is_of_j ? "nbcc_weights" : "nbcc_factors", values.view()});
  run(sum, request, made, count, 0, is_of_j ? I::All : I::Chosen);
}

void FarSums::find_centres(const SumRequest& request, std::span<double> centres) {
  if (!means_) return;
  const MadeArray sums[] = {{"nbcc_sums", {centres.data(), Element::Double, 1, 8, 8}}};
  run(*means_, request, sums, 1, request.nj, I::All);
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

void FarSums::run_with_images(DerivedSum& sum, const SumRequest& request, std::vector<MadeArray> made, std::int64_t ni,
                              std::int64_t nj, I which) {
  if (!images_) return run(sum, request, made, ni, nj, which);
  bool is_first = true;
  for (const CellVector& shift : images_->shifts) {
    made.insert(made.end(), {{kPlaceOfI, images_->place_of_i(shift)}, {kPlaceOfJ, images_->place_of_j}});
    run(sum, request, made, ni, nj, which, !is_first);
    made.resize(made.size() - 2);
    is_first = false;
  }
}

std::vector<MadeArray> FarSums::outputs_at(const FarArray& columns) const {
  std::vector<MadeArray> made;
  for (const FieldLayout& field : kernel_.source.fields)
    if (field.role == Role::Output) made.push_back({field.name, columns.view(field.first)});
  return made;
}

void FarSums::sum_near(const SumRequest& request, const FarArray& near, const DeviceLists* new_lists) {
  std::vector<MadeArray> made = outputs_at(near);
  if (new_lists) near_->set_device_lists(*new_lists, near.count);
  if (!near_->has_lists()) return run_with_images(*near_, request, std::move(made), near.count, request.nj, I::Chosen);
  if (images_) made.insert(made.end(), {{kPlaceOfI, images_->place_of_i({})}, {kPlaceOfJ, images_->place_of_j}});
  run(*near_, request, made, near.count, request.nj, I::All);
}

void FarSums::subtract(const SumRequest& request, const PairRows& pairs, std::span<const std::int64_t> i,
                       const FarArray& totals) {
  if (!excluded_) excluded_ = derived_sum(kernel_, "far", "excluded", at_least_);
  SumRequest bound = excluded_->bind(request, outputs_at(totals));
  bound.i_begin = 0;
  bound.i_list = i.data();
  bound.i_count = std::int64_t(i.size());
  bound.listed_pairs = &pairs;
  bound.accumulate = true;
  excluded_->run(bound);
  if (waits_) excluded_->wait(request.progress);
}

void FarSums::sum_distant(const SumRequest& request, const FarArray& i, const FarArray& j, const FarArray& sums,
                          const DeviceLists* new_lists) {
  std::vector<MadeArray> made{{kernels_.position_of_i(), i.view()},
                              {kernels_.position_of_j(), j.view()},
                              {"nbcc_weights_j", j.view(kernels_.axes)},
                              {"nbcc_sums", sums.view()}};
  if (!kernels_.both_sides && kernels_.factors > 0) made.push_back({"nbcc_factors_i", i.view(kernels_.axes)});
  if (new_lists) distant_->set_device_lists(*new_lists, i.count);
  run(*distant_, request, made, i.count, j.count, I::All);
}

void FarSums::sum_sample(const SumRequest& request, std::span<const std::int64_t> chosen, const FarArray& exact) {
  std::vector<std::string> sizes;
  for (const FieldLayout& field : kernel_.source.fields)
    if (field.role == Role::Output) sizes.push_back("nbcc_size_" + field.name);
  std::vector<MadeArray> made;
  for (const FieldLayout& field : kernel_.source.fields) {
    if (field.role != Role::Output) continue;
    const int number = int(made.size()) / 2;
    made.push_back({field.name, exact.view(field.first)});
    made.push_back({sizes[std::size_t(number)], exact.view(kernel_.source.outputs + number)});
  }
  SumRequest of_sample = request;
  of_sample.i_begin = 0;
  of_sample.i_list = chosen.data();
  of_sample.i_count = std::int64_t(chosen.size());
  run_with_images(*sample_, of_sample, std::move(made), request.ni, request.nj, I::Chosen);
}

void FarSums::finish(const SumRequest& request, const FarArray& totals) {
  const MadeArray made[] = {{"nbcc_total", totals.view()}};
  run(*finish_, request, made, request.ni, 0, I::Chosen, request.accumulate);
}

}  // namespace nbcc
