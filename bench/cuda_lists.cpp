// Sums over lists of the caller on a GPU beside sums over all pairs: lists as of a tree code, batches, listed pairs,
// pairs that are left out. One table on standard output; it asserts no time.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/cuda/gpu_program.h"
#include "bench/cuda/one_set_sum.h"

namespace nbcc::bench {
namespace {

using Numbers = std::vector<std::int64_t>;

// Equal masses in the unit cube.
Particles cloud(std::int64_t n) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<float> place(0, 1);
  Particles p;
  p.n = n;
  for (std::int64_t k = 0; k < 3 * n; ++k) p.fields["x"].push_back(place(random));
  p.fields["m"].assign(std::size_t(n), 1.0f / float(n));
  p.params["eps2"] = {1e-4};
  return p;
}

// In the order of columns of cells as wide as the reach, so that neighbours stand near each other.
Particles sorted(Particles p, double reach) {
  const double side = p.params.at("box")[0];
  const auto cells = std::int64_t(side / reach);
  const std::vector<double> x(p.fields["x"].begin(), p.fields["x"].end());
  Numbers order(std::size_t(p.n), 0);
  std::iota(order.begin(), order.end(), 0);
  const auto cell = [&](std::int64_t k, int d) {
    return std::clamp<std::int64_t>(std::int64_t(x[std::size_t(3 * k + d)] / side * double(cells)), 0, cells - 1);
  };
  std::ranges::sort(order, {},
                    [&](std::int64_t k) { return std::tuple(cell(k, 0), cell(k, 1), x[std::size_t(3 * k + 2)]); });
  Particles made = p;
  for (std::int64_t k = 0; k < p.n; ++k)
    for (int d = 0; d < 3; ++d)
      made.fields["x"][std::size_t(3 * k + d)] = p.fields["x"][std::size_t(3 * order[std::size_t(k)] + d)];
  return made;
}

struct Rows {
  Numbers first{0}, j;
};

// All within the reach, of a periodic box, by a grid of cells.
Rows near_pairs(const Particles& p, double reach) {
  const double side = p.params.at("box")[0];
  const auto cells = std::int64_t(side / reach);
  const auto& x = p.fields.at("x");
  std::vector<Numbers> members(std::size_t(cells * cells * cells));
  const auto at = [&](std::int64_t k, int d) {
    return std::clamp<std::int64_t>(std::int64_t(double(x[std::size_t(3 * k + d)]) / side * double(cells)), 0,
                                    cells - 1);
  };
  for (std::int64_t k = 0; k < p.n; ++k)
    members[std::size_t((at(k, 0) * cells + at(k, 1)) * cells + at(k, 2))].push_back(k);
  Rows rows;
  for (std::int64_t i = 0; i < p.n; ++i) {
    for (std::int64_t c = 0; c < 27; ++c) {
      std::int64_t cell = 0;
      const std::int64_t step[3] = {c / 9 - 1, c / 3 % 3 - 1, c % 3 - 1};
      for (int d = 0; d < 3; ++d) cell = cell * cells + (at(i, d) + step[d] + cells) % cells;
      for (const std::int64_t j : members[std::size_t(cell)]) {
        double r2 = 0;
        for (int d = 0; d < 3; ++d) {
          double dx = double(x[std::size_t(3 * j + d)]) - double(x[std::size_t(3 * i + d)]);
          dx -= side * std::nearbyint(dx / side);
          r2 += dx * dx;
        }
        if (j != i && r2 < reach * reach) rows.j.push_back(j);
      }
    }
    rows.first.push_back(std::int64_t(rows.j.size()));
  }
  return rows;
}

// Five before and five behind in the order of the particles, as in a chain.
Rows chain(std::int64_t n) {
  Rows rows;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t d = -5; d <= 5; ++d)
      if (d != 0 && i + d >= 0 && i + d < n) rows.j.push_back(i + d);
    rows.first.push_back(std::int64_t(rows.j.size()));
  }
  return rows;
}

class Table {
 public:
  Table(const Gpu& gpu, int rounds) : gpu_(gpu), rounds_(rounds) {
    fmt::print("{:<44} {:>8} {:>10} {:>12} {:>7}\n", "case", "N", "us", "G pairs/s", "ratio");
  }
  // `ratio`: to a rate, or to a time.
  double print(const std::string& name, OneSetSum& sum, double pairs, double rate_beside = 0, double time_beside = 0) {
    const auto run = [&] { sum.sum().run(); };
    run();
    const double seconds = gpu_.timer.compare({run}, rounds_).times[0].median, rate = pairs / seconds * 1e-9;
    fmt::print("{:<44} {:>8} {:>10.1f} {:>12.1f} {:>7.3f}\n", name, sum.count(), seconds * 1e6, rate,
               rate_beside > 0   ? rate / rate_beside
               : time_beside > 0 ? seconds / time_beside
                                 : 0.0);
    std::fflush(stdout);
    return rate_beside > 0 || pairs == 0 || time_beside > 0 ? seconds : rate;
  }

 private:
  const Gpu& gpu_;
  int rounds_;
};

void trees(const Gpu& gpu, Table& table) {
  constexpr std::int64_t n = 1048576, kRanges = 30, kLongest = 133;
  OneSetSum sum(gpu, "gravity", cloud(n));
  const double rate = table.print("gravity, all pairs", sum, double(n) * double(n));
  for (const std::int64_t size : {64, 128, 256, 0}) {
    std::mt19937_64 random(5);
    Numbers i_first{0}, range_first{0}, j_begin, j_end;
    double pairs = 0;
    while (i_first.back() < n) {
      const std::int64_t here = size > 0 ? size : 64 + std::int64_t(random() % 193);
      i_first.push_back(std::min(n, i_first.back() + here));
      for (std::int64_t r = 0; r < kRanges; ++r) {
        const std::int64_t length = 1 + std::int64_t(random() % kLongest);
        j_begin.push_back(std::int64_t(random() % std::uint64_t(n - length)));
        j_end.push_back(j_begin.back() + length);
        pairs += double(length) * double(i_first.back() - *(i_first.end() - 2));
      }
      range_first.push_back(std::int64_t(j_begin.size()));
    }
    nbcc_lists lists{};
    lists.groups = std::int64_t(i_first.size()) - 1;
    lists.ranges = std::int64_t(j_begin.size());
    lists.i_first = i_first.data();
    lists.range_first = range_first.data();
    lists.j_begin = j_begin.data();
    lists.j_end = j_end.data();
    sum.sum().lists(lists);
    table.print(fmt::format("gravity, groups of {}", size > 0 ? std::to_string(size) : "64 to 256"), sum, pairs, rate);
  }
  for (const std::int64_t size : {20, 64, 256, 1000}) {
    Numbers batch;
    double pairs = 0;
    for (std::int64_t k = 0; k < n; ++k) batch.push_back(k / size);
    for (std::int64_t k = 0; k < n; k += size) pairs += std::pow(double(std::min(size, n - k)), 2);
    sum.sum().batches(batch.back() + 1, batch, batch);
    table.print(fmt::format("gravity, batches of {}", size), sum, pairs, rate);
  }
}

void listed(const Gpu& gpu, Table& table) {
  constexpr std::int64_t n = 1048576;
  for (const double reach : {2.5, 3.5}) {
    const Particles atoms = sorted(liquid_atoms(n, reach), reach);
    const Rows rows = near_pairs(atoms, reach + 0.3);
    OneSetSum sum(gpu, "liquid", atoms);
    sum.sum().pairs(NBCC_PAIRS_CUTOFF).run().wait();
    const std::vector<std::vector<float>> searched = sum.results();
    sum.sum().pairs(NBCC_PAIRS_AUTO).listed_pairs(rows.first, rows.j).run().wait();
    const std::vector<std::vector<float>> found = sum.results();
    const std::vector<double> is(found[0].begin(), found[0].end()), expected(searched[0].begin(), searched[0].end());
    table.print(fmt::format("liquid, listed pairs to {} + 0.3, {:.0e} off", reach, largest_difference(is, expected)),
                sum, double(rows.j.size()));
  }
}

void exclusions(const Gpu& gpu, Table& table) {
  for (const std::int64_t n : {131072, 1048576}) {
    const Particles atoms = sorted(liquid_atoms(n, 2.5), 2.5);
    const Rows rows = chain(n);
    OneSetSum sum(gpu, "liquid", atoms);
    const bool search = n > 131072;
    sum.sum().pairs(search ? NBCC_PAIRS_CUTOFF : NBCC_PAIRS_ALL);
    const std::string how = search ? "searched" : "all pairs";
    const double before = table.print("liquid, " + how, sum, 0);
    sum.sum().exclusions(rows.first, rows.j);
    table.print("liquid, " + how + ", 10 left out of each i", sum, 0, 0, before);
  }
  OneSetSum sum(gpu, "gravity", cloud(131072));
  const Rows rows = chain(131072);
  const double before = table.print("gravity, all pairs", sum, 0);
  sum.sum().exclusions(rows.first, rows.j);
  table.print("gravity, 10 left out of each i", sum, 0, 0, before);
}

void measure(const Gpu& gpu, const std::string& only, int rounds) {
  Table table(gpu, rounds);
  if (only.empty() || only == "trees") trees(gpu, table);
  if (only.empty() || only == "listed") listed(gpu, table);
  if (only.empty() || only == "exclusions") exclusions(gpu, table);
}

}  // namespace
}  // namespace nbcc::bench

int main(int count, char** values) {
  return nbcc::bench::run_program({"cuda_lists [trees|listed|exclusions] [--rounds N]", 5, nbcc::bench::measure}, count,
                                  values);
}
