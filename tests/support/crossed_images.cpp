// Periodic cells for crossed texts with every_image(): texts that take one to three vectors or a box with one to three
// axes, and cells for them, some of which have open axes. Entry points: image_difference(), give_cell().
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/error.h"
#include "runtime/sum/derived/image_copies.h"
#include "tests/support/crossed_text.h"

namespace nbcc::test {

std::string image_difference(ImageForm form, const std::string& difference, const char* sign) {
  switch (form) {
    case ImageForm::Line:
      return fmt::format("vec3 wide = {};\nreal along = {}every_image(wide.x, a.x);\nvec3 d = vec3(along, 0.0, 0.0);\n",
                         difference, sign);
    case ImageForm::Plane:
      return fmt::format(
          "vec3 wide = {};\nvec2 flat = {}every_image(vec2(wide.x, wide.y), vec2(a.x, b.y));\n"
          "vec3 d = vec3(flat.x, flat.y, 0.0);\n",
          difference, sign);
    case ImageForm::Box:
      return fmt::format("vec3 d = {}every_image({}, vec3(a.x, b.y, c.z));\n", sign, difference);
    case ImageForm::TwoVectors:
      return fmt::format("vec3 d = {}every_image({}, a, b);\n", sign, difference);
    case ImageForm::ThreeVectors:
      return fmt::format("vec3 d = {}every_image({}, a, b, c);\n", sign, difference);
  }
  return "";
}

namespace {

using Vectors = std::array<std::array<double, 3>, 3>;

// Along each axis, how far particles and their moved positions are apart.
double distance_apart(const OracleInput& input, std::size_t axes) {
  double apart = 0;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const auto* side : {&input.i, &input.j})
      for (std::size_t p = 0; p < (*side)[axis].size(); ++p)
        for (const double x : {(*side)[axis][p], (*side)[axis][p] + 0.5 * (*side)[3 + axis][p]})
          low = std::min(low, x), high = std::max(high, x);
    if (low <= high) apart = std::hypot(apart, high - low);
  }
  return apart;
}

// Enough images on each side, by the heights of the cell. Throws UsageError for a flat cell.
std::array<int, 3> images_of(const OracleInput& input, ImageForm form, const Vectors& vectors, double reach) {
  const std::size_t axes = form == ImageForm::Line ? 1 : form == ImageForm::Plane ? 2 : 3;
  const std::size_t given = form == ImageForm::TwoVectors ? 2 : axes;
  const bool is_box = form != ImageForm::TwoVectors && form != ImageForm::ThreeVectors;
  std::array<std::vector<double>, 3> periods;
  for (std::size_t k = 0; k < 3; ++k) {
    periods[k].assign(vectors[k].begin(), vectors[k].begin() + std::ptrdiff_t(axes));
    for (std::size_t c = 0; is_box && c < axes; ++c)
      if (c != k) periods[k][c] = 0;
    if (k >= given) std::ranges::fill(periods[k], 0.0);
  }
  const PeriodicVectors cell("test", periods);
  const double apart = distance_apart(input, axes);
  std::array<int, 3> images{};
  for (std::size_t k = 0; k < 3; ++k) {  // of the reduced basis
    Multiples step{};
    step[k] = 1;
    const Multiples steps = cell.in_given_vectors(step);
    for (std::size_t g = 0; g < 3 && cell.is_given(k); ++g)
      images[g] += std::abs(steps[g]) * (int(cell.slope(k) * (reach + apart)) + 1);
  }
  return images;
}

}  // namespace

void give_cell(const Pipeline& pipeline, ImageForm form, OracleInput& input, RandomSource& random) {
  constexpr double kReach = 1.25, kMostImages = 2000;
  for (;;) {
    Vectors vectors{};
    // In some cells of three axes only the nearest image of a pair may be within reach (nearest_images.h).
    const bool is_large = random.chance(33);
    for (std::size_t k = 0; k < 3 && is_large; ++k)
      vectors[k][k] = (random.chance(50) ? 1 : -1) * (2 * kReach + random.between(2, 96) / 64.0);
    for (std::size_t k = 0; k < 3 && !is_large; ++k) {
      for (double& component : vectors[k]) component = random.between(-96, 96) / 64.0;
      vectors[k][k] += random.chance(50) ? 1.5 : -1.5;
      if (vectors[k][k] == 0) vectors[k][k] = 1;
    }
    if (random.chance(33)) {  // an axis that is open
      const auto k = std::size_t(random.below(3));
      if (form == ImageForm::TwoVectors || form == ImageForm::ThreeVectors)
        vectors[k] = {};
      else
        vectors[k][k] = HUGE_VAL;
    }
    try {
      input.images = images_of(input, form, vectors, kReach);
    } catch (const UsageError&) {
      continue;  // a flat cell
    }
    const auto [x, y, z] = input.images;
    if ((2.0 * x + 1) * (2.0 * y + 1) * (2.0 * z + 1) > kMostImages) continue;
    const char* const names[3] = {"a", "b", "c"};
    for (std::size_t k = 0; k < 3; ++k)
      std::ranges::copy(vectors[k], input.params.begin() + pipeline.find(names[k])->first);
    return;
  }
}

}  // namespace nbcc::test
