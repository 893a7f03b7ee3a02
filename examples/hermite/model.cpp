// Blocks that were measured -> a formula of what they take. Its entry points are fit_model() and fit_power_law().
#include "examples/hermite/model.h"

#include <cmath>
#include <functional>
#include <utility>

namespace examples {
namespace {

using Terms = std::array<double, 4>;  // of Cost, in its order
using Used = std::array<bool, 4>;

struct Sample {
  Terms terms;
  double seconds, weight;
};

// The minimum of sum weight (terms . result - seconds)^2 over the used terms, by elimination of the normal equations.
Terms least_squares(const std::vector<Sample>& samples, const Used& used) {
  std::array<std::array<double, 5>, 4> rows{};
  for (const Sample& sample : samples) {
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t c = 0; c < 4; ++c) rows[r][c] += sample.weight * sample.terms[r] * sample.terms[c];
      rows[r][4] += sample.weight * sample.terms[r] * sample.seconds;
    }
  }
  Terms result{};
  for (std::size_t p = 0; p < 4; ++p) {
    // Symmetric and positive: the diagonal serves as pivots. One that has vanished says that its term is made of
    // others.
    if (!used[p] || rows[p][p] <= 0) continue;
    for (std::size_t r = 0; r < 4; ++r) {
      if (r == p) continue;
      const double factor = rows[r][p] / rows[p][p];
      for (std::size_t c = 0; c < 5; ++c) rows[r][c] -= factor * rows[p][c];
    }
  }
  for (std::size_t p = 0; p < 4; ++p) {
    if (used[p] && rows[p][p] > 0) result[p] = rows[p][4] / rows[p][p];
  }
  return result;
}

// A cost is not negative: the most negative term goes, until there is none.
Cost fit(const std::vector<Sample>& samples, Used used) {
  for (;;) {
    const Terms found = least_squares(samples, used);
    std::size_t lowest = 0;
    for (std::size_t p = 1; p < 4; ++p) {
      if (found[p] * samples.front().terms[p] < found[lowest] * samples.front().terms[lowest]) lowest = p;
    }
    if (found[lowest] >= 0) return {found[0], found[1], found[2], found[3]};
    used[lowest] = false;
  }
}

std::vector<Sample> samples_of(const std::vector<Statistics>& runs, const std::function<double(const Seconds&)>& part) {
  std::vector<Sample> samples;
  for (const Statistics& run : runs) {
    const auto all = double(run.count());
    for (const BlockBin& bin : run.bins()) {
      const double seconds = bin.blocks > 0 ? part(bin.seconds) / double(bin.blocks) : 0;
      if (seconds <= 0) continue;
      const double n = double(bin.particles) / double(bin.blocks);
      samples.push_back({{1, n, all, n * all}, seconds, double(bin.blocks) / (seconds * seconds)});
    }
  }
  return samples;
}

}  // namespace

double Cost::of(const Statistics& run) const {
  const double blocks = double(run.blocks()), steps = double(run.steps()), all = double(run.count());
  return blocks * (each + per_j * all) + steps * (per_i + per_pair * all);
}

// The formula of the communication gives the time of the lists and the steps together, that of the calculation the time
// of its three parts.
Seconds Model::of(const Statistics& run) const {
  return {.host = host.of(run), .force = calculation.of(run), .list = communication.of(run)};
}

Model fit_model(const std::vector<Statistics>& runs) {
  const auto part = [&](double (*of)(const Seconds&), const Used& used) { return fit(samples_of(runs, of), used); };
  return {part([](const Seconds& seconds) { return seconds.host; }, {true, true, false, false}),
          part([](const Seconds& seconds) { return seconds.communication(); }, {true, true, true, false}),
          part([](const Seconds& seconds) { return seconds.calculation(); }, {true, false, true, true})};
}

PowerLaw fit_power_law(const std::vector<Point>& points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const Point& point : points) {
    x += std::log(point.x) / double(points.size());
    y += std::log(point.y) / double(points.size());
  }
  for (const Point& point : points) {
    const double apart = std::log(point.x) - x;
    xx += apart * apart;
    xy += apart * (std::log(point.y) - y);
  }
  PowerLaw law;
  law.exponent = xy / xx;
  law.factor = std::exp(y - law.exponent * x);
  for (const Point& point : points)
    law.farthest = std::fmax(law.farthest, std::fabs(point.y / (law.factor * std::pow(point.x, law.exponent)) - 1));
  return law;
}

}  // namespace examples
