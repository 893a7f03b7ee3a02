// Entry points: FarImages::make_cell(), FarImages::far_operator().
#include "runtime/far/periodic/far_images.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "compiler/periodic_length.h"
#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/request/formula.h"

namespace nbcc {
namespace {

// Of the extent of the particles: a cell of an earlier run has at least as much, and at most so many times as much.
constexpr double kMargin = 0.05, kMostRoom = 1.3;

bool is_zero(const CellVector& shift) { return shift == CellVector{}; }

}  // namespace

// A vector's components are of one group, with all weights.
FarImages::FarImages(const FarKernels& kernels, std::string pipeline, std::span<const FieldLayout> fields,
                     std::unique_ptr<DerivedSum> measured, double tolerance)
    : kernels_(kernels), pipeline_(std::move(pipeline)), measured_(std::move(measured)), tolerance_(tolerance) {
  std::vector<int> group_of_sum(std::size_t(kernels.sums), 0);
  std::map<std::pair<int, int>, int> groups;  // by output field and factor
  for (const FarPart& part : kernels.parts) {
    int number = 0;
    for (const FieldLayout& field : fields) {
      if (field.role != Role::Output) continue;
      if (part.output >= field.first && part.output < field.first + field.components())
        group_of_sum[std::size_t(part.sum)] =
            groups.try_emplace({number, part.factor}, int(groups.size())).first->second;
      ++number;
    }
  }
  for (const int group : group_of_sum) groups_.insert(groups_.end(), std::size_t(kernels.weights), group);
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

const PeriodicCell& FarImages::make_cell(std::span<const OpenExtent> extents) {
  bool is_kept = cell_ && vectors_ == vectors_of_cell_;
  for (std::size_t k = 0; k < extents.size() && is_kept; ++k) {
    const double now = extents[k].high - extents[k].low, room = extents_[k].high - extents_[k].low;
    is_kept = extents[k].low >= extents_[k].low && extents[k].high <= extents_[k].high && room <= kMostRoom * now;
  }
  if (is_kept) return *cell_;
  extents_.assign(extents.begin(), extents.end());
  for (OpenExtent& extent : extents_) {
    const double margin = kMargin * (extent.high - extent.low);
    extent.low -= margin, extent.high += margin;
  }
  cell_ = make_periodic_cell(kernels_.axes, vectors_, extents_);
  vectors_of_cell_ = vectors_;
  params_.clear();
  return *cell_;
}

std::vector<CellVector> FarImages::shifts() const {
  std::vector<CellVector> shifts;
  for (const CellImage& image : cell_->near_images()) {
    CellVector shift{};
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t axis = 0; axis < 3; ++axis) shift[axis] += image[row] * cell_->rows[row][axis];
    shifts.push_back(shift);
  }
  std::ranges::stable_partition(shifts, is_zero);
  return shifts;
}

// The kernel runs once for each weight, with weights 1 and 0.
PeriodicKernel FarImages::kernel(std::span<const double> params) {
  PeriodicKernel kernel;
  kernel.groups = groups_;
  kernel.sums = [this, params](std::int64_t ni, const double* position_i, std::int64_t nj, const double* position_j,
                               double* sums) {
    const auto columns = [](const double* data, std::int64_t count) {
      return ArrayView{const_cast<double*>(data), Element::Double, count, 8, 8 * count};
    };
    std::vector<double> of_weight(std::size_t(kernels_.sums) * std::size_t(ni));
    for (int weight = 0; weight < kernels_.weights; ++weight) {
      std::vector<double> weights(std::size_t(kernels_.weights) * std::size_t(nj), 0.0);
      std::fill_n(weights.begin() + weight * nj, nj, 1.0);
      const MadeArray made[] = {{kPlaceOfI, columns(position_i, ni)},
                                {kPlaceOfJ, columns(position_j, nj)},
                                {"nbcc_weights_j", columns(weights.data(), nj)},
                                {"nbcc_sums", columns(of_weight.data(), ni)}};
      SumRequest of_params;
      of_params.params = params;
      SumRequest request = measured_->bind(of_params, made);
      request.ni = request.i_count = ni, request.nj = nj;
      measured_->run(request);
      measured_->wait(nullptr);
      for (int sum = 0; sum < kernels_.sums; ++sum)
        std::copy_n(of_weight.begin() + sum * ni, ni, sums + (sum * kernels_.weights + weight) * ni);
    }
  };
  return kernel;
}

const std::shared_ptr<const FarOperator>& FarImages::far_operator(std::span<const double> params) {
  if (operator_ && std::ranges::equal(params, params_)) return operator_;
  const std::vector<double> kept(params.begin(), params.end());
  FarOperator made;
  made.tables = operator_ ? remake_periodic_tables(operator_->tables, *cell_, kernel(kept))
                          : make_periodic_tables(*cell_, kernel(kept), tolerance_);
  made.matrix = nbcc::far_operator(made.tables, made.tables.grid);
  operator_ = std::make_shared<const FarOperator>(std::move(made));
  params_ = kept;
  return operator_;
}

}  // namespace nbcc
