// Sums whose j are on several ranks, and the same sums in one process: particles, arrays and comparisons of the tests
// of runs that need all j at once.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "mpi/nbcc_mpi.hpp"
#include "tests/mpi/mpi_ranks.h"
#include "tests/support/folders.h"
#include "tests/support/tolerance.h"

namespace nbcc::test::ranks {

using Indices = std::vector<std::int64_t>;
using Reals = std::vector<double>;

inline nbcc::Device& device() {
  const char* const asked = std::getenv("NBCC_MPI_DEVICE");
  static nbcc::Device one(asked ? asked : "cpu",
                          {.threads = 1, .cache_dir = nbcc::test::build_folder() + "/test-cache"});
  return one;
}
inline nbcc::Pipeline compiled(const std::string& text, nbcc_precision precision = NBCC_DOUBLE) {
  return nbcc::Pipeline::from_text(device(), text, "gathered", {.precision = precision});
}

struct Particles {
  Reals x, m;
  std::int64_t count() const { return std::int64_t(m.size()); }
  Particles part(std::int64_t begin, std::int64_t end) const {
    return {{x.begin() + 3 * begin, x.begin() + 3 * end}, {m.begin() + begin, m.begin() + end}};
  }
};

inline Particles random_particles(std::int64_t count, unsigned seed, double spacing = 0.25, unsigned cells = 8) {
  std::mt19937 random(seed);
  Particles made;
  for (std::int64_t n = 0; n < 3 * count; ++n)
    made.x.push_back(spacing == 0 ? double(random()) / 4294967296.0 : spacing * double(random() % cells));
  for (std::int64_t n = 0; n < count; ++n) made.m.push_back(double(random() % 64 + 1) / 16);
  return made;
}

// The first particle of a rank. `style`: evenly, rising numbers, none on all but the last.
inline constexpr int kStyles = 3;
inline std::int64_t first_of(std::int64_t count, int rank, int style) {
  const std::int64_t ranks = rank_count();
  if (style == 0) return count * rank / ranks;
  if (style == 1) return count * rank * rank / (ranks * ranks);
  return rank == ranks ? count : 0;
}

// A sum with its arrays. The arrays of j are single precision on odd ranks.
class Bound {
 public:
  Bound(const nbcc::Pipeline& pipeline, Particles i, Particles j, bool is_single = false)
      : sum(pipeline), i_(std::move(i)), j_(std::move(j)), narrow_(j_.x.begin(), j_.x.end()) {
    sum.bind("xi", i_.x);
    if (is_single)
      sum.bind("xj", narrow_);
    else
      sum.bind("xj", j_.x);
    sum.bind("mj", j_.m);
    for (const nbcc::Field& field : pipeline.fields()) {
      if (field.role != NBCC_OUTPUT) continue;
      Reals& column = columns[field.name];
      const std::int64_t rows = field.total ? 1 : i_.count();
      column.assign(std::size_t(rows * field.components), -7.0);
      if (field.total)
        sum.bind(field.name, nbcc::view(column.data(), 1));
      else
        sum.bind(field.name, column);
    }
  }
  Bound(const Bound&) = delete;
  nbcc::Sum sum;
  std::map<std::string, Reals> columns;

 private:
  Particles i_, j_;
  std::vector<float> narrow_;
};

struct Rows {
  Indices first{0}, j;
  Rows part(std::int64_t begin, std::int64_t end) const {
    Rows own;
    own.j.assign(j.begin() + first[std::size_t(begin)], j.begin() + first[std::size_t(end)]);
    for (std::int64_t i = begin; i < end; ++i)
      own.first.push_back(first[std::size_t(i + 1)] - first[std::size_t(begin)]);
    return own;
  }
};

inline Rows random_rows(std::int64_t ni, std::int64_t nj, unsigned most, unsigned seed) {
  std::mt19937 random(seed);
  Rows rows;
  for (std::int64_t i = 0; i < ni; ++i) {
    for (unsigned k = random() % (most + 1); k > 0; --k) rows.j.push_back(std::int64_t(random()) % nj);
    rows.first.push_back(std::int64_t(rows.j.size()));
  }
  return rows;
}

class GatheredTest : public testing::Test {
 protected:
  nbcc::MpiRing ring{MPI_COMM_WORLD, device()};
  const int rank = own_rank();

  // The rows of this rank's i in a column of one process.
  static Reals rows_of(const Reals& column, std::int64_t ni, std::int64_t begin, std::int64_t end) {
    const std::int64_t width = std::int64_t(column.size()) / std::max<std::int64_t>(ni, 1);
    return {column.begin() + begin * width, column.begin() + end * width};
  }
  static void expect_part(const Bound& mine, const Bound& whole, std::int64_t ni, std::int64_t begin, std::int64_t end,
                          const std::string& what) {
    for (const auto& [name, column] : whole.columns) {
      const bool is_total = name == "all" || name == "energy";
      const Reals expected = is_total ? column : rows_of(column, ni, begin, end);
      const bool rounded = name == "pot" || name == "shells" || name == "energy";
      Reals bounds;
      for (const double value : expected)
        bounds.push_back(rounded ? nbcc::test::kRoundings * nbcc::test::epsilon(NBCC_DOUBLE) * std::fabs(value) : 0);
      nbcc::test::expect_within(mine.columns.at(name), expected, bounds, what + ", " + name);
    }
  }
  // Sums with what `give` gives: give(sum, first i of the sum, one past its last).
  template <typename Give>
  void expect_those_of_one_process(const std::string& text, std::int64_t ni, std::int64_t nj, const Give& give,
                                   bool one_set = false) {
    const nbcc::Pipeline pipeline = compiled(text);
    const Particles all_i = random_particles(ni, 1), all_j = one_set ? all_i : random_particles(nj, 2);
    Bound whole(pipeline, all_i, all_j);
    give(whole.sum, 0, ni);
    whole.sum.run();
    for (int style = 0; style < kStyles; ++style) {
      const std::int64_t begin = first_of(ni, rank, style), end = first_of(ni, rank + 1, style);
      const int style_of_j = one_set ? style : (style + 1) % kStyles;
      Bound mine(pipeline, all_i.part(begin, end),
                 all_j.part(first_of(nj, rank, style_of_j), first_of(nj, rank + 1, style_of_j)), rank % 2 == 1);
      give(mine.sum, begin, end);
      for (int times = 0; times < 2; ++times) {
        ring.run(mine.sum);
        expect_part(mine, whole, ni, begin, end, "style " + std::to_string(style));
        EXPECT_EQ(ring.i_offset(rank), begin);
        EXPECT_EQ(ring.j_offset(rank), first_of(nj, rank, style_of_j));
      }
    }
  }
};

}  // namespace nbcc::test::ranks
