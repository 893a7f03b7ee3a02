// Entry point: FarImages::far_operator().
#include "runtime/far/far_images.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <utility>

#include "compiler/periodic_length.h"
#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/request/formula.h"

namespace nbcc {
namespace {

constexpr std::int64_t kProbes = 64;  // displacements at which terms are looked at
constexpr double kMaxOperatorBytes = 4e9;
// Of the extent of the particles: a cell of an earlier run has at least as much, and at most so many times as much.
constexpr double kMargin = 0.05, kMaxExtentRatio = 1.3;

constexpr double kReferenceTolerance = 0.1;  // of the tolerance
constexpr int kMaxReferencePoints = 3000;

int reference_reach(int reach) { return (reach + 1) / 2; }

// The near images of a cell, in the order of FarImages::shifts().
std::vector<CellImage> images_of(const PeriodicCell& cell) {
  std::vector<CellImage> images = cell.near_images();
  std::ranges::stable_partition(images, [](const CellImage& image) { return image == CellImage{}; });
  return images;
}

}  // namespace

FarImages::FarImages(const FarKernels& kernels, std::string pipeline, std::span<const FieldLayout> fields,
                     std::unique_ptr<DerivedSum> measured, double tolerance)
    : kernels_(kernels),
      pipeline_(std::move(pipeline)),
      output_of_sum_(std::size_t(kernels.sums)),
      group_of_sum_(std::size_t(kernels.sums), 0),
      measured_(std::move(measured)),
      tolerance_(tolerance) {
  for (const std::vector<Formula>& vector : *kernels.periods)
    for (const Formula& component : vector)
      for (const Formula::Step& step : component.steps)
        if (step.op == Formula::Op::Param) params_of_cell_.insert(step.component);
  std::map<std::pair<int, int>, int> groups;  // by output field and factor
  for (const FarPart& part : kernels.parts) {
    int number = 0;
    for (const FieldLayout& field : fields) {
      if (field.role != Role::Output) continue;
      if (part.output >= field.first && part.output < field.first + field.components()) {
        output_of_sum_[std::size_t(part.sum)] = field.name;
        group_of_sum_[std::size_t(part.sum)] =
            groups.try_emplace({number, part.factor}, int(groups.size())).first->second;
      }
      ++number;
    }
  }
}

const std::vector<CellVector>& FarImages::read_vectors(std::span<const double> params) {
  vectors_.clear();
  for (std::size_t k = 0; k < 3; ++k) {
    CellVector vector{};
    double squared = 0;
    for (std::size_t axis = 0; axis < std::size_t(kernels_.axes); ++axis) {
      vector[axis] = evaluate((*kernels_.periods)[k][axis], params);
      squared += vector[axis] * vector[axis];
    }
    if (std::isnan(squared))
      throw UsageError(fmt::format("every_image() of pipeline '{}': periodic vector {} is ({})", pipeline_, k,
                                   fmt::join(vector, ", ")));
    if (!is_open(std::sqrt(squared))) vectors_.push_back(vector);
  }
  if (vectors_.empty())
    throw UsageError(
        fmt::format("every_image() of pipeline '{}': all periodic vectors are 0 or infinite; expected at "
                    "least one period",
                    pipeline_));
  open_ = open_directions(kernels_.axes, vectors_);
  return open_;
}

PeriodicCell FarImages::cell_without_extents(std::span<const double> params) {
  const std::vector<OpenExtent> extents(read_vectors(params).size());
  return make_periodic_cell(kernels_.axes, vectors_, extents);
}

// Keeps the cell of the last run where it will do.
void FarImages::make_cell(std::span<const OpenExtent> extents) {
  bool is_kept = cell_ && vectors_ == vectors_of_cell_;
  for (std::size_t k = 0; k < extents.size() && is_kept; ++k) {
    const double now = extents[k].high - extents[k].low, room = extents_[k].high - extents_[k].low;
    is_kept = extents[k].low >= extents_[k].low && extents[k].high <= extents_[k].high && room <= kMaxExtentRatio * now;
  }
  if (is_kept) return;
  extents_.assign(extents.begin(), extents.end());
  for (OpenExtent& extent : extents_) {
    const double margin = kMargin * (extent.high - extent.low);
    extent.low -= margin, extent.high += margin;
  }
  cell_ = make_periodic_cell(kernels_.axes, vectors_, extents_);
  vectors_of_cell_ = vectors_;
  is_current_ = false;
}

std::vector<CellVector> FarImages::shifts(const PeriodicCell& cell) {
  std::vector<CellVector> shifts;
  for (const CellImage& image : images_of(cell)) {
    CellVector shift{};
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t axis = 0; axis < 3; ++axis) shift[axis] += image[row] * cell.rows[row][axis];
    shifts.push_back(shift);
  }
  return shifts;
}

std::vector<char> FarImages::are_near(const PeriodicCell& cell, const PeriodicCell& inner) {
  std::vector<char> are;
  for (const CellImage& image : images_of(cell)) {
    bool is_near = true;
    for (std::size_t row = 0; row < 3; ++row) is_near = is_near && std::abs(image[row]) <= inner.near_reach[row];
    are.push_back(is_near);
  }
  return are;
}

void FarImages::sum_with_weight(int weight, std::span<const double> params, std::int64_t ni, const double* position_i,
                                std::int64_t nj, const double* position_j, double* sums) {
  const auto columns = [](const double* data, std::int64_t count) {
    return ArrayView{const_cast<double*>(data), Element::Double, count, 8, 8 * count};
  };
  std::vector<double> weights(std::size_t(kernels_.weights) * std::size_t(nj), 0.0);
  std::fill_n(weights.begin() + weight * nj, nj, 1.0);
  const MadeArray made[] = {{kPlaceOfI, columns(position_i, ni)},
                            {kPlaceOfJ, columns(position_j, nj)},
                            {"nbcc_weights_j", columns(weights.data(), nj)},
                            {"nbcc_sums", columns(sums, ni)}};
  SumRequest of_params;
  of_params.params = params;
  SumRequest request = measured_->bind(of_params, made);
  request.ni = request.i_count = ni, request.nj = nj;
  measured_->run(request);
  measured_->wait(nullptr);
}

// The components that are not 0 at some displacements, drawn within two cells.
std::vector<FarOperator::Component> FarImages::find_components(std::span<const double> params) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-2, 2);
  std::vector<double> places(std::size_t(kProbes) * std::size_t(kernels_.axes));
  for (std::int64_t k = 0; k < kProbes; ++k) {
    const CellVector place = cell_->vector({unit(random), unit(random), unit(random)});
    for (int axis = 0; axis < kernels_.axes; ++axis) places[std::size_t(axis * kProbes + k)] = place[std::size_t(axis)];
  }
  const std::array<double, 3> centre = cell_->origin;
  std::vector<FarOperator::Component> found;
  std::vector<double> sums(std::size_t(kernels_.sums * kProbes));
  for (int weight = 0; weight < kernels_.weights; ++weight) {
    sum_with_weight(weight, params, kProbes, places.data(), 1, centre.data(), sums.data());
    for (int sum = 0; sum < kernels_.sums; ++sum)
      if (std::any_of(sums.begin() + sum * kProbes, sums.begin() + (sum + 1) * kProbes,
                      [](double x) { return x != 0; }))
        found.push_back({sum, weight});
  }
  std::ranges::sort(found, {}, [](const FarOperator::Component& c) { return std::pair(c.sum, c.weight); });
  return found;
}

PeriodicKernel FarImages::kernel(std::span<const double> params, std::span<const FarOperator::Component> components) {
  PeriodicKernel kernel;
  for (const FarOperator::Component& one : components) {
    kernel.groups.push_back(group_of_sum_[std::size_t(one.sum)]);
    kernel.names.push_back(output_of_sum_[std::size_t(one.sum)]);
  }
  kernel.sums = [this, params, components](std::int64_t ni, const double* position_i, std::int64_t nj,
                                           const double* position_j, double* sums) {
    std::vector<double> of_weight(std::size_t(kernels_.sums) * std::size_t(ni));
    for (int weight = 0; weight < kernels_.weights; ++weight) {
      if (std::ranges::find(components, weight, &FarOperator::Component::weight) == components.end()) continue;
      sum_with_weight(weight, params, ni, position_i, nj, position_j, of_weight.data());
      for (std::size_t c = 0; c < components.size(); ++c)
        if (components[c].weight == weight)
          std::copy_n(of_weight.begin() + components[c].sum * ni, ni, sums + std::int64_t(c) * ni);
    }
  };
  return kernel;
}

const std::shared_ptr<const FarOperator>& FarImages::far_operator(std::span<const double> params,
                                                                  std::span<const OpenExtent> extents) {
  make_cell(extents);
  if (is_current_ && std::ranges::equal(params, params_)) return operator_;
  const std::vector<double> kept(params.begin(), params.end());
  FarOperator made{
      .sums = kernels_.sums, .components = find_components(kept), .convention = "", .tables = {}, .matrix = {}};
  if (made.components.empty())
    throw UsageError(fmt::format(
        "the terms of pipeline '{}' are 0 at all of {} displacements drawn within two cells: a formula of so short a "
        "range has no far images; expected a cutoff in the text",
        pipeline_, kProbes));
  const PeriodicKernel kernel = this->kernel(kept, made.components);
  const bool is_known = operator_ && operator_->components == made.components;
  made.tables = is_known ? remake_periodic_tables(operator_->tables, *cell_, kernel)
                         : make_periodic_tables(*cell_, kernel, tolerance_);
  const double points = made.tables.grid.points(), bytes = 8 * points * points * double(made.components.size());
  if (bytes > kMaxOperatorBytes)
    throw DeviceError(fmt::format(
        "tolerance: the far images of pipeline '{}' take {:.2g} GB at {:.2g}, for {} terms between {} points of the "
        "cell; at most {:.2g} GB: a larger tolerance takes fewer points",
        pipeline_, 1e-9 * bytes, tolerance_, made.components.size(), points, 1e-9 * kMaxOperatorBytes));
  made.matrix = nbcc::far_operator(made.tables, made.tables.grid);
  made.convention = fmt::format("{}", fmt::join(describe(kernel.names, made.tables.components), "; "));
  operator_ = std::make_shared<FarOperator>(std::move(made));
  params_ = kept;
  is_current_ = true;
  return operator_;
}

double FarImages::reference_count() const {
  if (!operator_) return 27;
  if (reference_of_ == operator_ && !reference_) return count();
  double images = 1;
  for (const int reach : operator_->tables.cell.near_reach) images *= 2 * reference_reach(reach) + 1;
  return images;
}

const std::shared_ptr<const FarOperator>& FarImages::reference_operator() {
  if (reference_of_ == operator_) return reference_;
  reference_of_ = operator_;
  reference_.reset();
  PeriodicCell cell = operator_->tables.cell;
  for (int& reach : cell.near_reach) reach = reference_reach(reach);
  FarOperator made{
      .sums = operator_->sums, .components = operator_->components, .convention = "", .tables = {}, .matrix = {}};
  try {
    made.tables = make_periodic_tables(cell, kernel(params_, made.components), kReferenceTolerance * tolerance_);
  } catch (const UsageError&) {  // no order is so exact
    return reference_;
  }
  if (made.tables.grid.points() > kMaxReferencePoints) return reference_;
  made.matrix = nbcc::far_operator(made.tables, made.tables.grid);
  reference_ = std::make_shared<const FarOperator>(std::move(made));
  return reference_;
}

}  // namespace nbcc
