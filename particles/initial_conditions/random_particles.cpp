// Generates random particles for a list of fields. Entry point: random_particles().
#include "particles/initial_conditions/random_particles.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>

#include "particles/initial_conditions/random_numbers.h"

namespace nbcc {
namespace {

constexpr double kGridSpacing = 1.0 / 64;

template <std::size_t count>
bool is_one_of(std::string_view word, const std::array<std::string_view, count>& words) {
  return std::ranges::find(words, word) != words.end();
}

double on_grid(RandomNumbers& random, double low, double high) {
  const auto steps = std::uint64_t((high - low) / kGridSpacing);
  return low + kGridSpacing * double(random.next() % (steps + 1));
}

class Maker {
 public:
  Maker(std::int64_t n, std::uint64_t seed) : n_(n), random_(seed) {}

  ParticleColumn column(const InputField& field) {
    const std::string stem = field.stem();
    const auto size = std::size_t(n_ * field.components);
    if (field.integral) {
      std::vector<std::int64_t> values(size);
      for (std::int64_t& value : values) value = std::int64_t(random_.next() % 4);
      return {field.name, field.components, std::move(values)};
    }
    constexpr std::array<std::string_view, 5> position{"x", "r", "p", "pos", "position"};
    constexpr std::array<std::string_view, 9> positive{"m", "mass", "rho", "pres", "c", "omega", "u", "w", "t"};
    if (is_one_of(stem, position)) return {field.name, field.components, positions(field)};
    // The numbered fields of CUNBODY's dialect have names without a meaning.
    if (field.name.starts_with("INPUT_")) return {field.name, field.components, range(size, kGridSpacing, 4)};
    if (stem == "h") return {field.name, field.components, range(size, 1, 1.5)};
    if (is_one_of(stem, positive)) return {field.name, field.components, range(size, 0.5, 1.5)};
    return {field.name, field.components, range(size, -1, 1)};
  }

 private:
  std::vector<double> range(std::size_t size, double low, double high) {
    std::vector<double> values(size);
    for (double& value : values) value = on_grid(random_, low, high);
    return values;
  }

  std::vector<double> positions(const InputField& field) {
    const int dimensions = field.components;
    std::int64_t edge = 1;
    while (volume(edge, dimensions) < n_) ++edge;
    std::vector<std::int64_t> lattice_points(static_cast<std::size_t>(n_));
    std::iota(lattice_points.begin(), lattice_points.end(), std::int64_t(0));
    for (std::size_t k = lattice_points.size(); k > 1; --k)
      std::swap(lattice_points[k - 1], lattice_points[random_.next() % k]);
    std::vector<double> values;
    values.reserve(lattice_points.size() * std::size_t(dimensions));
    for (std::int64_t point : lattice_points) {
      for (int c = 0; c < dimensions; ++c, point /= edge) {
        values.push_back(double(point % edge) + (field.acts ? 0.0 : 0.5) + on_grid(random_, -0.125, 0.125));
      }
    }
    return values;
  }

  // edge^dimensions; stops multiplying once the product is at least n_.
  std::int64_t volume(std::int64_t edge, int dimensions) const {
    std::int64_t product = 1;
    for (int c = 0; c < dimensions && product < n_; ++c) product *= edge;
    return product;
  }

  std::int64_t n_;
  RandomNumbers random_;
};

}  // namespace

RandomSides random_particles(const std::vector<InputField>& fields, std::int64_t n, std::uint64_t seed) {
  RandomSides sides;
  sides.i.rows = sides.j.rows = n;
  Maker maker(n, seed);
  for (const InputField& field : fields) (field.acts ? sides.j : sides.i).columns.push_back(maker.column(field));
  return sides;
}

}  // namespace nbcc
