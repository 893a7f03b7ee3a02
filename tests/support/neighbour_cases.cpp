#include "tests/support/neighbour_cases.h"

#include <cmath>
#include <random>

namespace nbcc::test {

namespace {

std::string text(const Metric& metric, const ReachOf& reach, const Guard* guard, const char* outputs,
                 const char* statements) {
  return std::string(R"(
input_i vec3 xi; input_i vec3 vi; input_i real hi; input_i int ki;
input_j vec3 xj; input_j vec3 vj; input_j real hj; input_j int kj;
param real rc = 1.0; param vec3 box = vec3(1e30);
param vec3 la = vec3(1e30, 0, 0); param vec3 lb = vec3(0, 1e30, 0); param vec3 lc = vec3(0, 0, 1e30);
output(sum) real count; output(sum) real weight; output(min) real least;
output(max) int most; output(sum) real gaps;
)") + outputs +
         "vec3 dx = " + metric.difference + ";\nreal r2 = dot(dx, dx);\n" +
         (metric.of_other_sites ? std::string("vec3 ex = ") + metric.of_other_sites + ";\nr2 = min(r2, dot(ex, ex));\n"
                                : "") +
         "real reach = " + reach.bound + ";\n" +
         (guard ? std::string("skip_if(i_index == j_index);\n") + guard->before
                : "skip_if(i_index == j_index || r2 >= reach * reach);") +
         R"(
count += 1.0; weight += real(kj); least = min(least, r2); most = max(most, kj + ki);
gaps += real(j_index % 7 - i_index % 5);
)" + statements +
         (guard ? guard->after : "");
}

}  // namespace

std::string text_of(const Metric& metric, const ReachOf& reach, const Guard* guard) {
  return text(metric, reach, guard, "output(argmin) index nearest; output(argmax) index heaviest;\n",
              "nearest = argmin(nearest, r2); heaviest = argmax(heaviest, real(kj));\n");
}

std::string text_without_indices_of(const Metric& metric, const ReachOf& reach, const Guard* guard) {
  return text(metric, reach, guard, "", "");
}

std::string short_text_of(const Metric& metric, const ReachOf& reach) {
  return std::string(R"(
input_i vec3 xi; input_i real hi; input_j vec3 xj; input_j real hj;
param real rc = 1.0; param vec3 box = vec3(1e30);
output(sum) real count; output(min) real least; output(sum) real gaps;
vec3 dx = )") +
         metric.difference + ";\nreal r2 = dot(dx, dx);\nreal reach = " + reach.bound + R"(;
skip_if(r2 == 0.0 || r2 >= reach * reach);
count += 1.0; least = min(least, r2); gaps += real(j_index - i_index);
)";
}

namespace {

// Three lattice vectors: those of the box, skewed a little or by so much that they hide how short others are, small
// beside any reach, so narrow along two directions that a reach spans hundreds of images, or open along one direction.
// Of numbers that floats hold, and so are the skewed ones.
std::array<std::array<double, 3>, 3> random_cell(std::uint64_t seed, double side) {
  std::mt19937_64 random(seed ^ 0xce11);
  const auto number = [&](double low, double high) {
    return std::round(std::uniform_real_distribution<double>(low, high)(random) * 64) / 64;
  };
  const std::uint64_t kind = random() % 6;
  const double size = kind == 3 ? 0.15 * side : side;
  std::array<std::array<double, 3>, 3> cell{};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t c = 0; c < 3; ++c) cell[k][c] = kind == 0 || kind == 4 ? 0 : number(-0.4, 0.4) * size;
    cell[k][k] = number(0.6, 1.4) * size;
  }
  if (kind == 4) cell[2] = {0, 0, 1e30};
  if (kind == 4)
    cell[0] = {number(0.6, 1.4) * size, 0, 0}, cell[1] = {number(-1, 1) * size, number(0.6, 1.4) * size, 0};
  for (std::size_t k = 0; kind == 5 && k < 2; ++k)
    for (double& component : cell[k]) component /= 512;
  for (int step = 0; kind == 2 && step < 4; ++step) {
    const std::size_t one = random() % 3, other = (one + 1 + random() % 2) % 3;
    const double times = double(random() % 9) - 4;
    for (std::size_t c = 0; c < 3; ++c) cell[one][c] += times * cell[other][c];
  }
  if (random() % 2) std::swap(cell[0], cell[1]);  // of the other hand
  return cell;
}

// Moves an i and a j along an axis; both sets if they are one.
void put(NeighbourCase& c, std::uint64_t i, std::uint64_t j, std::uint64_t axis, double of_i, double of_j) {
  c.xj[3 * (j % std::uint64_t(c.nj)) + axis] = of_j;
  if (c.ni == c.nj)
    c.xi = c.xj;
  else if (c.ni > 0)
    c.xi[3 * (i % std::uint64_t(c.ni)) + axis] = of_i;
}

// Some particles, i and j alike, are so far away that the coordinates of all others are small beside theirs; or they
// are neighbours by an image many periods away, or by one over a period that is much longer than the range of most, or
// at coordinates that are nothing beside a period.
void send_away(std::uint64_t seed, NeighbourCase& c) {
  std::mt19937_64 random(seed ^ 0xfa2);
  if (c.nj == 0 || random() % 2 == 0) return;
  constexpr double kLong = 320;
  const std::uint64_t axis = random() % 3, kind = random() % 3;
  if (kind == 1) c.box[axis] = kLong, c.cell[2] = {random() % 2 ? 0 : 0.375 * kLong, 0, kLong};
  for (std::uint64_t few = 1 + random() % 3; few > 0; --few) {
    const std::uint64_t i = random(), j = random(), other = random() % std::uint64_t(c.nj);
    const double sign = random() % 2 ? 1 : -1, beside = 0.125 * double(random() % 8);
    if (kind == 0) {
      const double far = std::pow(10.0, double(1 + random() % 17)) * sign;
      put(c, i, j, axis, far * (random() % 2 ? 1 : 1.0625), far);
    } else if (kind == 1) {
      const std::uint64_t along = random() % 2 ? axis : 2;
      put(c, i, j, along, sign * (kLong / 2 - beside), -sign * (kLong / 2 - beside));
      put(c, i, other, along, -sign * kLong / 2, sign * (kLong / 2 - beside));
    } else {
      const double there = c.xj[3 * other + axis], period = c.box[axis] < 1e29 ? c.box[axis] : c.cell[axis][axis];
      const double periods = sign * std::round(std::pow(10.0, double(random() % 5)));
      put(c, i, j, axis, there + periods * period + beside, there - periods * period - beside);
    }
  }
}

}  // namespace

NeighbourCase random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  NeighbourCase c;
  c.ni = std::int64_t(uniform(0, 1) * uniform(0, 1) * 900);
  c.nj = random() % 3 == 0 ? c.ni : std::int64_t(uniform(0, 1) * 900);
  const double side = 8;
  for (double& length : c.box) length = random() % 4 == 0 ? 1e30 : uniform(0.6, 1.4) * side;
  c.cell = random_cell(seed, side);
  c.rc = std::array{0.5, 1.0, 2.0, 5.0}[random() % 4];
  const std::uint64_t kind = random() % 3;
  const std::uint64_t crowd = std::array{0, 0, 100, 3}[random() % 4];  // among so many coordinates one is nowhere
  const auto place = [&] {
    std::array<double, 3> x{};
    const double size = std::pow(10.0, -double(random() % 4));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      x[axis] = kind == 0   ? uniform(0, side)
                : kind == 1 ? std::floor(uniform(0, 2 * side)) / 2
                            : 3 + uniform(-1, 1) * size;
      if (crowd > 0 && random() % crowd == 0) x[axis] = random() % 2 ? HUGE_VAL : std::nan("");
      if (c.box[axis] < 1e29 && random() % 3 == 0) x[axis] += c.box[axis] * double(std::int64_t(random() % 7) - 3);
    }
    return x;
  };
  const auto fill = [&](std::int64_t n, auto& x, auto& v, auto& h, auto& k) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (const double one : place()) x.push_back(one);
      for (int axis = 0; axis < 3; ++axis) v.push_back(kind == 1 ? double(random() % 3) / 2 : uniform(-1, 1));
      h.push_back(c.rc * std::pow(10.0, uniform(-2, 0.3)));
      k.push_back(double(random() % 50));
    }
  };
  fill(c.nj, c.xj, c.vj, c.hj, c.kj);
  if (c.ni == c.nj) {
    c.xi = c.xj, c.vi = c.vj, c.hi = c.hj, c.ki = c.kj;
  } else {
    fill(c.ni, c.xi, c.vi, c.hi, c.ki);
    c.i_offset = std::int64_t(random() % 100) - 50;
    c.j_offset = std::int64_t(random() % 100);
  }
  send_away(seed, c);
  // One that reaches everybody.
  if (c.nj > 0 && random() % 3 == 0) c.hj[random() % c.hj.size()] = 1e20;
  if (c.ni > 0 && c.ni != c.nj && random() % 3 == 0) c.hi[random() % c.hi.size()] = 1e20;
  if (random() % 3 == 0)
    for (std::int64_t i = 0; i < c.ni; ++i)
      if (random() % 2) c.list.push_back(i);
  // An open axis, in each way to say so.
  const double open = std::array{1e30, 0.0, HUGE_VAL}[seed % 3];
  for (double& length : c.box)
    if (length == 1e30) length = open;
  if (c.cell[2][2] == 1e30) c.cell[2][2] = open;
  return c;
}

NeighbourCase lattice_case(std::uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x1a771ce);
  const auto one_of = [&](auto choices) { return choices[random() % choices.size()]; };
  const double step = one_of(std::array{1.0, 0.25, 0.1, 0.7, 1.0 / 3, 1.1});
  const auto reach = [&] { return one_of(std::array{1.0, 2.0, 3.0, std::sqrt(2.0), std::sqrt(3.0), 2.5}) * step; };
  NeighbourCase c;
  c.ni = 1 + std::int64_t(random() % 250);
  c.nj = random() % 3 == 0 ? c.ni : std::int64_t(random() % 300);
  for (double& length : c.box) length = random() % 4 == 0 ? 1e30 : double(3 + random() % 7) * step;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t axis = 0; axis < k; ++axis) c.cell[k][axis] = double(std::int64_t(random() % 7) - 3) * step;
    c.cell[k][k] = double(3 + random() % 7) * step;
  }
  c.rc = reach();
  const double away = random() % 3 == 0 ? 1000 * step : 0;
  const auto fill = [&](std::int64_t n, auto& x, auto& v, auto& h, auto& k) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        x.push_back(random() % 500 == 0 ? std::nan("") : double(random() % 8) * step + away);
        v.push_back(double(random() % 3) * step);
      }
      h.push_back(random() % 100 == 0 ? std::nan("") : reach());
      k.push_back(double(random() % 50));
    }
  };
  fill(c.nj, c.xj, c.vj, c.hj, c.kj);
  if (c.ni == c.nj)
    c.xi = c.xj, c.vi = c.vj, c.hi = c.hj, c.ki = c.kj;
  else
    fill(c.ni, c.xi, c.vi, c.hi, c.ki);
  c.i_offset = 100000;
  return c;
}

void make_comparable(std::vector<double>& results) {
  for (double& x : results)
    if (std::isnan(x)) x = 1e99;
}

}  // namespace nbcc::test
