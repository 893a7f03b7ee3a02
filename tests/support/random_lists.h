// Random lists of the caller for an oracle's input: groups with ranges, batches, listed pairs, exclusions; and the same
// as rows that the oracle understands.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/interpret.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/random_source.h"

namespace nbcc::test {

enum class ListKind { All, Lists, OrderedLists, Batches, Pairs };
inline constexpr std::array kListKinds = {ListKind::All, ListKind::Lists, ListKind::OrderedLists, ListKind::Batches,
                                          ListKind::Pairs};

using Numbers = std::vector<std::int64_t>;

struct ListCase {
  OracleInput input;                       // with rows
  std::function<void(SumState&)> prepare;  // the same for a sum
  std::int64_t groups = 0;                 // or batches
  Numbers group_of;                        // each i
};

// `count` cuts of 0 .. end, rising, from 0 to `end`.
inline Numbers random_cuts(RandomSource& random, std::int64_t parts, std::int64_t end) {
  Numbers cuts{0, end};
  for (std::int64_t k = 1; k < parts; ++k) cuts.push_back(random.below(int(end) + 1));
  std::ranges::sort(cuts);
  return cuts;
}

inline Numbers random_order(RandomSource& random, std::int64_t count) {
  Numbers order(std::size_t(count), 0);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[std::size_t(random.below(int(k)))]);
  return order;
}

inline OracleRows rows_of(const std::vector<Numbers>& of_i) {
  OracleRows rows{{0}, {}};
  for (const Numbers& j : of_i) {
    rows.j.insert(rows.j.end(), j.begin(), j.end());
    rows.first.push_back(std::int64_t(rows.j.size()));
  }
  return rows;
}

// Some i with many, many with none, some twice.
inline std::vector<Numbers> random_rows(RandomSource& random, std::int64_t ni, std::int64_t nj, int most) {
  std::vector<Numbers> of_i(static_cast<std::size_t>(ni));
  for (Numbers& row : of_i)
    for (int k = random.chance(30) ? 0 : random.below(most + 1); k > 0 && nj > 0; --k) {
      row.push_back(random.below(int(nj)));
      if (random.chance(10)) row.push_back(row.back());
    }
  return of_i;
}

// `id_step`: what the id of a batch is more than that of the batch before it.
inline ListCase random_list_case(const OracleInput& from, ListKind kind, bool some_exclusions, std::uint64_t seed,
                                 std::int64_t id_step = 1) {
  RandomSource random(seed);
  ListCase made{from, {}, 0, {}};
  OracleInput& input = made.input;
  const std::int64_t ni = input.ni, nj = input.nj;
  std::vector<Numbers> of_i(static_cast<std::size_t>(ni));
  std::function<void(SumState&)> prepare = [](SumState&) {};
  if (kind == ListKind::Lists || kind == ListKind::OrderedLists) {
    struct Arrays {
      Numbers i_first, i_order, range_first{0}, j_begin, j_end, j_order;
    };
    const auto a = std::make_shared<Arrays>();
    const std::int64_t groups = 1 + random.below(6);
    a->i_first = random_cuts(random, groups, ni);
    if (kind == ListKind::OrderedLists) {
      a->i_order = random_order(random, ni);
      a->j_order = random_order(random, nj);
    }
    for (std::int64_t g = 0; g < groups; ++g) {
      const int ranges = random.chance(20) ? 0 : random.below(9);
      for (int r = 0; r < ranges; ++r) {
        const Numbers ends = random_cuts(random, 3, nj);
        a->j_begin.push_back(ends[1]);
        a->j_end.push_back(ends[2]);
        for (std::int64_t at = a->i_first[std::size_t(g)]; at < a->i_first[std::size_t(g) + 1]; ++at)
          for (std::int64_t j = ends[1]; j < ends[2]; ++j)
            of_i[std::size_t(a->i_order.empty() ? at : a->i_order[std::size_t(at)])].push_back(
                a->j_order.empty() ? j : a->j_order[std::size_t(j)]);
      }
      a->range_first.push_back(std::int64_t(a->j_begin.size()));
    }
    input.pairs = rows_of(of_i);
    prepare = [a, groups, nj](SumState& sum) {
      const auto data = [](const Numbers& values) { return values.empty() ? nullptr : values.data(); };
      sum.set_lists(ListArrays{groups, std::int64_t(a->j_begin.size()), a->i_first.data(), data(a->i_order),
                               a->range_first.data(), data(a->j_begin), data(a->j_end), data(a->j_order), nj, nullptr,
                               0});
    };
  } else if (kind == ListKind::Batches) {
    const std::int64_t batches = 1 + random.below(7);
    const auto ids = std::make_shared<std::array<Numbers, 2>>();
    std::array<Numbers, 2> cuts = {random_cuts(random, batches, ni), random_cuts(random, batches, nj)};
    for (std::size_t side = 0; side < 2; ++side)
      for (std::int64_t b = 0; b < batches; ++b)
        (*ids)[side].insert((*ids)[side].end(),
                            std::size_t(cuts[side][std::size_t(b) + 1] - cuts[side][std::size_t(b)]), b * id_step);
    for (std::int64_t i = 0; i < ni; ++i)
      for (std::int64_t j = 0; j < nj; ++j)
        if ((*ids)[0][std::size_t(i)] == (*ids)[1][std::size_t(j)]) of_i[std::size_t(i)].push_back(j);
    input.pairs = rows_of(of_i);
    made.groups = batches * id_step;
    made.group_of = (*ids)[0];
    prepare = [ids, groups = made.groups, ni, nj](SumState& sum) {
      sum.set_batches(groups, ni, (*ids)[0].data(), nj, (*ids)[1].data());
    };
  } else if (kind == ListKind::Pairs) {
    input.pairs = rows_of(random_rows(random, ni, nj, 40));
    prepare = [rows = *input.pairs, ni](SumState& sum) {
      sum.set_listed_pairs(ni, rows.first.data(), std::int64_t(rows.j.size()), rows.j.data());
    };
  }
  if (some_exclusions) input.excluded = rows_of(random_rows(random, ni, nj, 12));
  made.prepare = [prepare, out = input.excluded, ni](SumState& sum) {
    prepare(sum);
    if (out) sum.set_exclusions(ni, out->first.data(), std::int64_t(out->j.size()), out->j.data());
  };
  return made;
}

// Of every third seed, a few j of each i.
inline void leave_some_out(SumState& sum, std::int64_t ni, std::int64_t nj, std::uint64_t seed) {
  if (seed % 3 != 1) return;
  RandomSource random(seed);
  const OracleRows rows = rows_of(random_rows(random, ni, nj, 12));
  sum.set_exclusions(ni, rows.first.data(), std::int64_t(rows.j.size()), rows.j.data());
}

// The oracle's columns of a pipeline of which one input of j has become one of pairs.
inline void add_pair_columns(OracleInput& input, int components, std::uint64_t seed) {
  RandomSource random(seed);
  for (int c = 0; c < components; ++c) {
    std::vector<double> column(input.pairs->j.size());
    for (double& value : column) value = random.between(-1024, 1023) / 1024.0;
    input.pair.push_back(std::move(column));
  }
}

}  // namespace nbcc::test
