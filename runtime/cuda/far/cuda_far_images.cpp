// Launches the kernels of templates/cuda/far/cuda_far_images.cu.in. Entry points: the header.
#include "runtime/cuda/far/cuda_far_images.h"

#include <algorithm>
#include <utility>

#include "runtime/error.h"
#include "runtime/far/periodic/image_sums.h"
#include "runtime/round_up.h"

namespace nbcc {
namespace {

using namespace far_data;

constexpr std::int64_t kParticlesOfBlock = 32;  // that kernels read at a time
constexpr std::int64_t kExtentBlocks = 256;

ImageCell image_cell(const PeriodicCell& cell) {
  ImageCell made{};
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      made.rows[row][axis] = cell.rows[row][axis];
      made.inverse[axis][row] = cell.inverse[axis][row];
    }
  std::ranges::copy(cell.origin, made.origin);
  made.axes = cell.axes;
  made.periodic = cell.periodic;
  return made;
}

double* doubles(const CudaBuffer& buffer) { return reinterpret_cast<double*>(buffer.data()); }

}  // namespace

CudaFarImages::CudaFarImages(const CudaKernel& any)
    : program_(any, far_images_source()),
      extents_(any.gpu()),
      too_far_(any.gpu()),
      shifted_(any.gpu()),
      coefficients_(any.gpu()),
      matrix_(any.gpu()),
      components_(any.gpu()),
      parts_(any.gpu()),
      all_(any.gpu()),
      at_points_(any.gpu()),
      output_parts_(any.gpu()) {}

std::int64_t CudaFarImages::blocks_for(std::int64_t particles) const {
  return std::min(ceil_div(particles, kParticlesOfBlock), 4 * std::int64_t(gpu().multiprocessors()));
}

void CudaFarImages::widen(std::span<OpenExtent> extents, std::span<const CellVector> directions,
                          const double* positions, std::int64_t count, int axes, CudaStream* stream) {
  reserve_elements(extents_, kExtentBlocks, 2 * sizeof(double), "extents");
  std::vector<double> of_blocks(std::size_t(2 * kExtentBlocks));
  for (std::size_t k = 0; k < directions.size(); ++k) {
    FarExtentArgument argument{positions, count, axes, {}, doubles(extents_)};
    std::ranges::copy(directions[k], argument.direction);
    program_.launch("nbcc_far_extent_of", kExtentBlocks, kImageThreads, {&argument}, stream);
    gpu().fetch(of_blocks.data(), extents_.data(), of_blocks.size() * sizeof(double), stream);
    gpu().synchronize(stream);
    for (std::size_t block = 0; block < of_blocks.size(); block += 2) {
      extents[k].low = std::min(extents[k].low, of_blocks[block]);
      extents[k].high = std::max(extents[k].high, of_blocks[block + 1]);
    }
  }
}

void CudaFarImages::move_to_cell(const PeriodicCell& cell, double* positions, std::int64_t count, CudaStream* stream) {
  axes_ = cell.axes;
  if (moved_.empty()) {
    reserve_elements(too_far_, 1, sizeof(unsigned), "flags");
    gpu().require(gpu().driver().memset_d32_async(too_far_.data(), 0, 1, stream), "clearing flags");
  }
  moved_.emplace_back(positions, count);
  const FarPlaceArgument argument{image_cell(cell), positions, count, reinterpret_cast<unsigned*>(too_far_.data())};
  program_.launch("nbcc_far_place", blocks_for(count), kImageThreads, {&argument}, stream);
}

// Throws for the first particle that nbcc_far_place did not move.
void CudaFarImages::report_too_far(const PeriodicCell& cell, CudaStream* stream) {
  for (const auto& [positions, count] : std::exchange(moved_, {})) {
    std::vector<double> here(std::size_t(count) * std::size_t(cell.axes));
    gpu().fetch(here.data(), reinterpret_cast<CudaDevicePointer>(positions), here.size() * sizeof(double), stream);
    gpu().synchronize(stream);
    for (std::size_t first = 0; first < here.size(); first += std::size_t(cell.axes)) cell.move_in(&here[first]);
  }
}

double* CudaFarImages::shifted(const double* positions, std::int64_t count, const CellVector& shift,
                               CudaStream* stream) {
  reserve_elements(shifted_, count * axes_, sizeof(double), "positions of images");
  FarShiftArgument argument{positions, doubles(shifted_), count, axes_, {}};
  std::ranges::copy(shift, argument.shift);
  program_.launch("nbcc_far_shift", blocks_for(count), kImageThreads, {&argument}, stream);
  return doubles(shifted_);
}

void CudaFarImages::send(const FarOperator& through, CudaStream* stream) {
  const CellGrid& of = through.tables.grid;
  std::vector<double> coefficients;
  for (int row = 0; row < 3; ++row) {
    grid_.first[row] = int(coefficients.size());
    grid_.orders[row] = of.orders()[std::size_t(row)];
    for (int m = 0; m < grid_.orders[row]; ++m)
      for (int k = 0; k < grid_.orders[row]; ++k) coefficients.push_back(of.coefficient(row, m, k));
  }
  grid_.cell = image_cell(through.tables.cell);
  grid_.points = of.points();
  const auto to_gpu = [&](CudaBuffer& buffer, const std::vector<double>& values, const char* what) {
    reserve_elements(buffer, std::int64_t(values.size()), sizeof(double), what);
    gpu().send(buffer.data(), values.data(), values.size() * sizeof(double), stream);
  };
  gpu().synchronize(stream);
  to_gpu(coefficients_, coefficients, "polynomials");
  to_gpu(matrix_, through.matrix, "far images");
  std::vector<int> components(std::size_t(through.sums + 1), 0);
  for (const FarOperator::Component& one : through.components) ++components[std::size_t(one.sum + 1)];
  for (int sum = 0; sum < through.sums; ++sum) components[std::size_t(sum + 1)] += components[std::size_t(sum)];
  for (const FarOperator::Component& one : through.components) components.push_back(one.weight);
  reserve_elements(components_, std::int64_t(components.size()), sizeof(int), "far images");
  gpu().send(components_.data(), components.data(), components.size() * sizeof(int), stream);
  gpu().synchronize(stream);
  grid_.coefficients = doubles(coefficients_);
}

void CudaFarImages::collect(std::shared_ptr<const FarOperator> through, const double* positions, std::int64_t count,
                            const FarArray& weights, std::span<const std::string> weight_names, CudaStream* stream) {
  if (through != through_) send(*through, stream);
  through_ = std::move(through);
  const int of_j = int(weight_names.size()), size = of_j * (grid_.points + 2);
  const int sums = through_->sums;
  const auto* const components = reinterpret_cast<const int*>(components_.data());
  const std::int64_t blocks = blocks_for(count);
  reserve_elements(parts_, blocks * size, sizeof(double), "weights of far images");
  reserve_elements(all_, size, sizeof(double), "weights of far images");
  reserve_elements(at_points_, std::int64_t(sums) * grid_.points, sizeof(double), "sums of far images");
  const FarGatherArgument gather{
      grid_, positions, {weights.data, weights.stride}, count, of_j, int(blocks), doubles(parts_), doubles(all_)};
  program_.launch("nbcc_far_gather", blocks, kImageThreads, {&gather}, stream);
  program_.launch("nbcc_far_gathered", ceil_div(size, kImageThreads), kImageThreads, {&gather}, stream);
  const FarOperateArgument operate{doubles(matrix_), doubles(all_),      components, components + sums + 1, sums,
                                   grid_.points,     doubles(at_points_)};
  program_.launch("nbcc_far_operate", ceil_div(std::int64_t(sums) * grid_.points, kImageThreads / 32), kImageThreads,
                  {&operate}, stream);
  std::vector<double> all(std::size_t(size), 0.0);
  unsigned too_far = 0;
  gpu().fetch(all.data(), all_.data(), all.size() * sizeof(double), stream);
  gpu().fetch(&too_far, too_far_.data(), sizeof too_far, stream);
  gpu().synchronize(stream);
  if (too_far != 0) report_too_far(through_->tables.cell, stream);
  moved_.clear();
  constant_ = constants_of(*through_, all, weight_names);
}

void CudaFarImages::add(const Totals& of, std::span<const FarPart> parts, CudaStream* stream) {
  if (output_parts_.bytes() == 0) {
    std::vector<ImagePart> all;
    for (const FarPart& part : parts) all.push_back({part.output, part.factor, part.sum});
    reserve_elements(output_parts_, std::int64_t(all.size()), sizeof(ImagePart), "parts of outputs");
    gpu().send(output_parts_.data(), all.data(), all.size() * sizeof(ImagePart), stream);
    gpu().synchronize(stream);
  }
  FarSpreadArgument argument{};
  argument.grid = grid_;
  argument.positions = of.positions;
  argument.chosen = of.chosen;
  argument.count = of.count;
  argument.at_points = doubles(at_points_);
  std::ranges::copy(constant_, argument.constant);
  argument.factors = {of.factors.data, of.factors.stride};
  argument.totals = {of.totals.data, of.totals.stride};
  argument.parts = reinterpret_cast<const ImagePart*>(output_parts_.data());
  argument.sums = int(constant_.size());
  argument.part_count = int(parts.size());
  program_.launch("nbcc_far_spread", ceil_div(of.count, kImageThreads), kImageThreads, {&argument}, stream);
}

std::int64_t CudaFarImages::bytes() const {
  std::size_t bytes = 0;
  for (const CudaBuffer* buffer : {&extents_, &shifted_, &coefficients_, &matrix_, &parts_, &all_, &at_points_})
    bytes += buffer->bytes();
  return std::int64_t(bytes);
}

}  // namespace nbcc
