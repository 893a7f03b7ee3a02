// Hand-written kernels and bound particles -> sums. Entry points: hand_written_kernels(), HandSide, compare_by_hand(),
// fastest().
#include "bench/hand_side.h"

#include <cmath>
#include <stdexcept>

namespace nbcc::bench {
namespace {

std::int64_t padded(std::int64_t n) {
  return (n + hand_written::kPadding - 1) / hand_written::kPadding * hand_written::kPadding;
}

}  // namespace

std::vector<hand_written::Kernel> hand_written_kernels([[maybe_unused]] const std::string& isa,
                                                       const std::string& pipeline, nbcc_precision precision) {
  std::vector<hand_written::Kernel> found;
  using namespace hand_written;
  std::vector<Shapes> all;
#if defined(NBCC_BENCH_X86)
  if (isa == "avx512")
    all = {avx512::gravity(), avx512::gravity_double(), avx512::gravity_jerk(), avx512::lennard_jones(),
           avx512::sph_force()};
  if (isa == "avx2")
    all = {avx2::gravity(), avx2::gravity_double(), avx2::gravity_jerk(), avx2::lennard_jones(), avx2::sph_force()};
#elif defined(NBCC_BENCH_ARM)
  if (isa == "neon")
    all = {neon::gravity(), neon::gravity_double(), neon::gravity_jerk(), neon::lennard_jones(), neon::sph_force()};
#endif
  for (const Shapes& shapes : all)
    for (const Kernel& kernel : shapes)
      if (kernel.pipeline == pipeline && kernel.in_double == (precision == NBCC_DOUBLE)) found.push_back(kernel);
  return found;
}

HandSide::Buffer HandSide::buffer(std::int64_t doubles) {
  const std::size_t bytes = std::size_t(doubles) * 8;
  return Buffer(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
}

HandSide::HandSide(const hand_written::Kernel& kernel, const Generated& like) : kernel_(kernel) {
  const std::int64_t ni = like.ni(), nj = like.nj();
  if (nj % hand_written::kPadding != 0) throw std::runtime_error("hand-written kernels need whole vectors of j");
  const auto add_columns = [](const std::vector<double>& array, int components, std::int64_t n, auto& columns) {
    for (int c = 0; c < components; ++c) {
      std::vector<double>& column = columns.emplace_back();
      for (std::int64_t k = 0; k < n; ++k) column.push_back(array[std::size_t(k * components + c)]);
    }
  };
  for (const Field& field : like.fields()) {
    if (field.role == NBCC_INPUT_I) add_columns(like.values(field), field.components, ni, columns_i_);
    if (field.role == NBCC_INPUT_J) add_columns(like.values(field), field.components, nj, columns_j_);
    if (field.role == NBCC_PARAM) params_.insert(params_.end(), like.values(field).begin(), like.values(field).end());
    if (field.role == NBCC_OUTPUT)
      for (int c = 0; c < field.components; ++c) sums_.emplace_back(std::size_t(padded(ni)), 0.0);
  }
  for (const auto& column : columns_i_) pointers_i_.push_back(column.data());
  for (const auto& column : columns_j_) pointers_j_.push_back(column.data());
  for (auto& sum : sums_) pointers_sum_.push_back(sum.data());
  problem_ = {ni, nj, pointers_i_.data(), pointers_j_.data(), params_.data(), pointers_sum_.data()};
  packed_i_ = buffer(padded(ni) * kernel.i_numbers);
  packed_j_ = buffer(nj * kernel.j_numbers);
  kernel_.pack(problem_, packed_i_.get(), packed_j_.get());
}

double HandSide::rms_difference(const Generated& generated) const {
  return generated.rms_difference(
      [&](int column, std::int64_t k) { return sums_[std::size_t(column)][std::size_t(k)]; });
}

Comparison compare_by_hand(const std::vector<hand_written::Kernel>& kernels, const Generated& like, int rounds) {
  std::vector<HandSide> sides;
  sides.reserve(kernels.size());  // the works point into it
  std::vector<Work> works;
  for (const hand_written::Kernel& kernel : kernels) {
    HandSide& side = sides.emplace_back(kernel, like);
    works.push_back([&side] { side.run(); });
  }
  return compare(works, rounds);
}

const hand_written::Kernel& fastest(const std::vector<hand_written::Kernel>& kernels, const Generated& like) {
  const std::vector<Time> times = compare_by_hand(kernels, like, 3).times;
  std::size_t best = 0;
  for (std::size_t k = 1; k < kernels.size(); ++k)
    if (times[k].best < times[best].best) best = k;
  return kernels[best];
}

}  // namespace nbcc::bench
