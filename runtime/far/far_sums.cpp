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

FarSums::FarSums(const Kernel& kernel, Precision at_least, bool waits, bool may_be_relative)
    : kernel_(kernel),
      at_least_(at_least),
      kernels_(kernels_of(kernel, at_least)),
      waits_(waits),
      distant_is_relative_(may_be_relative && kernels_.raised && kernels_.precision == name(Precision::Mixed) &&
                           kernels_.both_sides && !kernels_.periods) {
  const auto sum = [&](std::string_view name) { return derived_sum(kernel, "far", name, at_least); };
  sources_ = sum("sources");
  targets_ = sum("targets");
  if (kernels_.means) means_ = sum("means");
  distant_ = distant_is_relative_ ? derived_sum(kernel, "far", "distant", Precision::Single) : sum("distant");
  near_ = sum("near");
  sample_ = sum("sample");
  finish_ = sum("finish");
  for (const FieldLayout& field : kernel.source.fields)
    if (field.role == Role::Output) sizes_.push_back("nbcc_size_" + field.name);
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
                              std::int64_t nj, I which, std::span<const char> takes) {
  if (!images_) return run(sum, request, made, ni, nj, which);
  SumRequest own = request;
  for (std::size_t image = 0; image < images_->shifts.size(); ++image) {
    if (!takes.empty() && takes[image] == 0) continue;
    own.exclusions = nullptr, own.excluded_rows = nullptr;
    if (excluded_of_images_)
      if (const auto of = excluded_of_images_->find(int(image)); of != excluded_of_images_->end())
        own.exclusions = of->second.exclusions.get(), own.excluded_rows = &of->second.rows;
    made.insert(made.end(),
                {{kPlaceOfI, images_->place_of_i(images_->shifts[image])}, {kPlaceOfJ, images_->place_of_j}});
    run(sum, own, made, ni, nj, which, image > 0);
    made.resize(made.size() - 2);
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

void FarSums::sum_corrections(const SumRequest& request, const FarArray& rows, const DeviceLists* new_lists) {
  if (!corrections_) corrections_ = derived_sum(kernel_, "far", "near", at_least_);
  if (new_lists) corrections_->set_device_lists(*new_lists, rows.count);
  std::vector<MadeArray> made = outputs_at(rows);
  if (images_) made.insert(made.end(), {{kPlaceOfI, images_->place_of_i({})}, {kPlaceOfJ, images_->place_of_j}});
  SumRequest bound = corrections_->bind(request, made);
  bound.ni = rows.count, bound.nj = request.nj;
  bound.i_begin = 0, bound.i_count = rows.count, bound.i_list = nullptr;
  bound.accumulate = false;
  corrections_->run(bound);
  if (waits_) corrections_->wait(request.progress);
}

void FarSums::add_pairs(Sign sign, const SumRequest& request, const PairRows& pairs, std::span<const std::int64_t> i,
                        const FarArray& totals, const CellVector& shift) {
  std::unique_ptr<DerivedSum>& sum = listed_[std::size_t(sign)];
  if (!sum) sum = derived_sum(kernel_, "far", sign == Sign::Plus ? "near" : "excluded", at_least_);
  std::vector<MadeArray> made = outputs_at(totals);
  if (images_) made.insert(made.end(), {{kPlaceOfI, images_->place_of_i(shift)}, {kPlaceOfJ, images_->place_of_j}});
  SumRequest bound = sum->bind(request, made);
  bound.i_begin = 0;
  bound.i_list = i.data();
  bound.i_count = std::int64_t(i.size());
  bound.listed_pairs = &pairs;
  bound.accumulate = true;
  sum->run(bound);
  if (waits_) sum->wait(request.progress);
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

std::vector<MadeArray> FarSums::outputs_and_sizes_at(const FarArray& exact) {
  std::vector<MadeArray> made;
  for (const FieldLayout& field : kernel_.source.fields) {
    if (field.role != Role::Output) continue;
    const int number = int(made.size()) / 2;
    made.push_back({field.name, exact.view(field.first)});
    made.push_back({sizes_[std::size_t(number)], exact.view(kernel_.source.outputs + number)});
  }
  return made;
}

void FarSums::sum_sample(const SumRequest& request, std::span<const std::int64_t> chosen, const FarArray& exact,
                         std::span<const char> takes) {
  SumRequest of_sample = request;
  of_sample.i_begin = 0;
  of_sample.i_list = chosen.data();
  of_sample.i_count = std::int64_t(chosen.size());
  run_with_images(*sample_, of_sample, outputs_and_sizes_at(exact), request.ni, request.nj, I::Chosen, takes);
}

// Groups of lists: the chosen i, and all others without j.
void FarSums::sum_sample_of_some(const SumRequest& request, std::span<const std::int64_t> chosen,
                                 std::span<const std::int64_t> of_j, const FarArray& exact,
                                 std::span<const char> takes) {
  if (!sample_of_some_) sample_of_some_ = derived_sum(kernel_, "far", "sample", at_least_);
  const auto axes = std::size_t(kernels_.axes);
  std::vector<double> shifts;
  for (std::size_t image = 0; image < images_->shifts.size(); ++image)
    if (takes[image] != 0)
      shifts.insert(shifts.end(), images_->shifts[image].begin(),
                    images_->shifts[image].begin() + std::ptrdiff_t(axes));
  const auto ranges = std::int64_t(shifts.size() / axes), count = std::int64_t(chosen.size());
  const auto first = [](std::span<const std::int64_t> some, std::int64_t all) {
    std::vector<std::int64_t> order(some.begin(), some.end());
    for (std::int64_t k = 0; k < all; ++k)
      if (!std::ranges::binary_search(some, k)) order.push_back(k);
    return order;
  };
  const std::vector<std::int64_t> i_order = first(chosen, request.ni), j_order = first(of_j, request.nj);
  const std::vector<std::int64_t> i_first{0, count, request.ni}, range_first{0, ranges, ranges},
      j_begin(std::size_t(ranges), 0), j_end(std::size_t(ranges), std::int64_t(of_j.size()));
  ListArrays lists;
  lists.groups = 2;
  lists.ranges = ranges;
  lists.i_first = i_first.data();
  lists.i_order = i_order.data();
  lists.range_first = range_first.data();
  lists.j_begin = j_begin.data();
  lists.j_end = j_end.data();
  lists.j_order = j_order.data();
  lists.j_count = request.nj;
  lists.shifts = shifts.data();
  lists.axes = int(axes);
  sample_of_some_->set_lists(lists);
  std::vector<MadeArray> made = outputs_and_sizes_at(exact);
  made.insert(made.end(), {{kPlaceOfI, images_->place_of_i({})}, {kPlaceOfJ, images_->place_of_j}});
  run(*sample_of_some_, request, made, request.ni, request.nj, I::All);
}

void FarSums::finish(const SumRequest& request, const FarArray& totals) {
  const MadeArray made[] = {{"nbcc_total", totals.view()}};
  run(*finish_, request, made, request.ni, 0, I::Chosen, request.accumulate);
}

}  // namespace nbcc
