// Pipelines of the library as periodic sums in random cells: slanted, 1:1:10, 10:1:1, slabs, wires, planes. A cell of
// two copies along each periodic vector has the same sums, though its near images, tables and orders are others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/source/parse.h"
#include "compiler/text/source.h"
#include "tests/support/folders.h"
#include "tests/support/periodic_trial.h"

namespace nbcc::test {
namespace {

constexpr double kTolerance = 1e-5;
constexpr std::size_t kParticles = 12;

// The text of a library pipeline with all images of its displacement.
std::string with_every_image(const std::string& name) {
  const std::string text = read_source(source_folder() + "/pipelines/" + name + ".pipe").text;
  const bool is_plane = text.find("input_i vec2") != std::string::npos;
  const std::string vectors = is_plane ? "box" : "a, b, c";
  std::string made = std::regex_replace(text, std::regex("= xj - xi;"), "= every_image(xj - xi, " + vectors + ");");
  made = std::regex_replace(made, std::regex("= xi - xj;"), "= -every_image(xj - xi, " + vectors + ");");
  return (is_plane ? "param vec2 box;\n" : "param vec3 a; param vec3 b; param vec3 c;\n") + made;
}

struct Shape {
  std::string_view name;
  std::array<Vector3, 3> cell;  // of a plane two vectors along the axes
  std::array<int, 3> reach;     // multiples of each vector in the sums of |terms|; 0: there is no period
};

// Slanted by up to 0.4 of a length.
Shape slanted(std::string_view name, const Vector3& lengths, std::array<int, 3> reach, std::mt19937_64& random) {
  std::uniform_real_distribution<double> slant(-0.4, 0.4), size(0.8, 1.2);
  Shape made{name, {}, reach};
  for (std::size_t row = 0; row < 3; ++row) {
    made.cell[row][row] = lengths[row] * size(random);
    for (std::size_t axis = 0; axis < row; ++axis)
      made.cell[row][axis] = slant(random) * std::min(lengths[row], lengths[axis]);
  }
  return made;
}

std::vector<Shape> random_shapes(std::mt19937_64& random) {
  std::vector<Shape> shapes{
      slanted("slanted", {1, 1, 1}, {2, 2, 2}, random), slanted("1:1:10", {0.5, 0.5, 5}, {8, 8, 2}, random),
      slanted("10:1:1", {5, 0.5, 0.5}, {2, 8, 8}, random), slanted("slab", {1, 1, 0.6}, {2, 2, 0}, random),
      slanted("wire", {1, 0.5, 0.5}, {2, 0, 0}, random)};
  return shapes;
}

// Places within the parallelepiped of all three vectors, also of those that are no periods.
using Places = std::vector<Vector3>;

// All copies of the particles within the cell of `copies` copies along each vector; the first are the particles.
Places copies_of(const Places& x, const std::array<Vector3, 3>& cell, const std::array<int, 3>& copies) {
  Places all;
  for (int a = 0; a < copies[0]; ++a)
    for (int b = 0; b < copies[1]; ++b)
      for (int c = 0; c < copies[2]; ++c)
        for (const Vector3& one : x) {
          Vector3 moved = one;
          for (std::size_t axis = 0; axis < 3; ++axis)
            moved[axis] += a * cell[0][axis] + b * cell[1][axis] + c * cell[2][axis];
          all.push_back(moved);
        }
  return all;
}

class Supercell {
 public:
  explicit Supercell(const std::string& name)
      : text_(with_every_image(name)),
        pipeline_(parse({name + ".pipe", text_})),
        trial_(text_, Precision::Double),
        axes_(pipeline_.find("xi")->components()) {}

  // Compares the sums of the particles in the cell and in the supercell, relative to the sums of |terms|.
  void compare(const Shape& shape, bool neutral, std::mt19937_64& random) {
    SCOPED_TRACE(fmt::format("{}, {}", shape.name, neutral ? "neutral" : "not neutral"));
    Places x = random_places(kParticles, shape.cell, random);
    std::array<int, 3> copies{1, 1, 1};
    std::array<Vector3, 3> periods{}, super{};
    for (std::size_t k = 0; k < 3; ++k) {
      if (shape.reach[k] == 0) continue;
      copies[k] = 2;
      periods[k] = shape.cell[k];
      for (std::size_t axis = 0; axis < 3; ++axis) super[k][axis] = 2 * shape.cell[k][axis];
    }
    draw_weights(neutral, random);
    const Sums one = run(periods, x, 1),
               many = run(super, copies_of(x, shape.cell, copies), copies[0] * copies[1] * copies[2]);
    // Each of both has an error up to the tolerance, of the terms of its own near images.
    std::array<int, 3> twice = shape.reach;
    for (int& reach : twice) reach *= 2;
    const Sums sizes = sizes_of_terms(shape.reach, periods, x), of_many = sizes_of_terms(twice, periods, x);
    double squares = 0;
    for (std::size_t k = 0; k < one.size(); ++k) squares += std::pow((one[k] - many[k]) / (sizes[k] + of_many[k]), 2);
    EXPECT_LE(std::sqrt(squares / double(one.size())), kTolerance);
    double largest = 0;
    for (const double value : one) largest = std::max(largest, std::fabs(value));
    EXPECT_GT(largest, 0);
  }

 private:
  using Sums = std::vector<double>;  // [output component][i], of the particles alone

  void draw_weights(bool neutral, std::mt19937_64& random) {
    std::uniform_real_distribution<double> unit(0.2, 1);
    for (const FieldLayout& field : pipeline_.fields) {
      if (field.role != Role::InputJ || field.name == "xj") continue;
      const auto width = std::size_t(field.components());
      std::vector<double>& values = weights_[field.name];
      values.assign(kParticles * width, 0);
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = unit(random) - (width > 1 ? 0.6 : 0);
      for (std::size_t c = 0; c < width && neutral; ++c) {
        double sum = 0;
        for (std::size_t k = c; k + width < values.size(); k += width) sum += values[k];
        values[values.size() - width + c] = -sum;
      }
    }
  }
  Sums run(const std::array<Vector3, 3>& periods, const Places& x, int copies) {
    if (axes_ == 2)
      trial_.sum.set_param("box", std::vector<double>{periods[0][0], periods[1][1]});
    else
      trial_.set_cell(periods);
    for (const auto& [name, values] : weights_) {
      std::vector<double>& all = trial_.arrays[name];
      all.clear();
      for (int copy = 0; copy < copies; ++copy) all.insert(all.end(), values.begin(), values.end());
    }
    set_tolerance(trial_.sum, kTolerance);
    trial_.run(x);
    Sums sums;
    for (const FieldLayout& field : pipeline_.fields) {
      if (field.role != Role::Output) continue;
      const auto width = std::size_t(field.components());
      for (std::size_t c = 0; c < width; ++c)
        for (std::size_t i = 0; i < kParticles; ++i) sums.push_back(trial_.arrays[field.name][i * width + c]);
    }
    return sums;
  }
  // [output component][i]: of the images up to `reach`; of a vector's components together.
  Sums sizes_of_terms(const std::array<int, 3>& reach, const std::array<Vector3, 3>& periods, const Places& x) {
    OracleInput input;
    input.ni = input.nj = std::int64_t(x.size());
    input.images = reach;
    for (std::size_t axis = 0; axis < std::size_t(axes_); ++axis) {
      std::vector<double> column;
      for (const Vector3& one : x) column.push_back(one[axis]);
      input.i.push_back(column);
    }
    for (const FieldLayout& field : pipeline_.fields) {
      if (field.role == Role::InputJ)
        for (int c = 0; c < field.components(); ++c) {
          std::vector<double> column;
          for (std::size_t j = 0; j < x.size(); ++j)
            column.push_back(field.name == "xj"
                                 ? x[j][std::size_t(c)]
                                 : weights_[field.name][j * std::size_t(field.components()) + std::size_t(c)]);
          input.j.push_back(column);
        }
      if (field.role != Role::Param) continue;
      const std::size_t vector = field.name == "a" ? 0 : field.name == "b" ? 1 : 2;
      for (int c = 0; c < field.components(); ++c)
        input.params.push_back(field.name == "box"      ? periods[std::size_t(c)][std::size_t(c)]
                               : field.name.size() == 1 ? periods[vector][std::size_t(c)]
                                                        : field.defaults.at(std::size_t(c)));
    }
    const std::vector<std::vector<double>> of_components = interpret(pipeline_, input).magnitudes;
    Sums sizes;
    for (const FieldLayout& field : pipeline_.fields) {
      if (field.role != Role::Output) continue;
      for (int c = 0; c < field.components(); ++c)
        for (std::size_t i = 0; i < x.size(); ++i) {
          double squares = 0;
          for (int other = 0; other < field.components(); ++other)
            squares += std::pow(of_components[std::size_t(field.first + other)][i], 2);
          sizes.push_back(std::sqrt(squares));
        }
    }
    return sizes;
  }

  const std::string text_;
  const Pipeline pipeline_;
  PeriodicTrial trial_;
  const int axes_;
  std::map<std::string, std::vector<double>> weights_;  // of the particles
};

TEST(PeriodicSupercells, OfPipelinesInSpaceHaveTheSameSums) {
  std::mt19937_64 random(41);
  std::size_t next = 0;
  for (const char* const name : {"gravity", "gravity_acc", "potential", "stokeslet", "screened_coulomb", "gaussian_rbf",
                                 "matern", "biot_savart", "bem_single_layer"}) {
    SCOPED_TRACE(name);
    Supercell pipeline(name);
    // Two of the shapes in turn; with open directions the weights must be neutral.
    for (int k = 0; k < 2; ++k, ++next) {
      const Shape shape = random_shapes(random)[next % 5];
      const bool has_open = shape.reach[1] == 0 || shape.reach[2] == 0;
      pipeline.compare(shape, has_open || next % 2 == 0, random);
    }
  }
}

TEST(PeriodicSupercells, OfAPlaneHaveTheSameSums) {
  std::mt19937_64 random(42);
  Supercell pipeline("laplace_log_2d");
  for (const bool neutral : {true, false}) {
    std::uniform_real_distribution<double> size(0.5, 1.5);
    const Shape shape{"plane", {{{size(random), 0, 0}, {0, size(random), 0}, {0, 0, 1}}}, {2, 2, 0}};
    pipeline.compare(shape, neutral, random);
  }
}

}  // namespace
}  // namespace nbcc::test
