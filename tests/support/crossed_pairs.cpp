// A run's seed -> its lists, batches, listed pairs, exclusions, parts and chosen i.
#include "tests/support/crossed_pairs.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>

namespace nbcc::test {
namespace {

void set_pairs_of(SumState& sum, const OracleRows& rows, std::int64_t ni) {
  sum.set_listed_pairs(ni, rows.first.data(), std::int64_t(rows.j.size()), rows.j.data());
}

}  // namespace

// The pairs of the rows that are within a part, with the indices of its j; where they are in the rows.
OracleRows rows_within(const OracleRows& rows, std::int64_t begin, std::int64_t end, Numbers* where) {
  OracleRows within{{0}, {}};
  for (std::size_t i = 0; i + 1 < rows.first.size(); ++i) {
    for (std::int64_t k = rows.first[i]; k < rows.first[i + 1]; ++k) {
      const std::int64_t j = rows.j[std::size_t(k)];
      if (j < begin || j >= end) continue;
      within.j.push_back(j - begin);
      if (where) where->push_back(k);
    }
    within.first.push_back(std::int64_t(within.j.size()));
  }
  return within;
}

GivenPairs lists_of(const CrossedRun& run, bool in_parts) {
  RandomSource random = source_of(run, 1);
  struct Arrays {
    Numbers i_first, i_order, j_order, range_first{0}, begin, end;
  };
  Arrays a;
  const std::int64_t groups = 1 + random.below(6);
  a.i_first = random_cuts(random, groups, run.ni);
  if (random.chance(50)) a.i_order = random_order(random, run.ni);
  if (random.chance(50) && !in_parts) a.j_order = random_order(random, run.nj);
  std::vector<Numbers> of_i(static_cast<std::size_t>(run.ni));
  for (std::int64_t g = 0; g < groups; ++g) {
    // Apart from each other and rising, so that parts have the same order.
    const Numbers cuts = random_cuts(random, 2 * random.below(5), run.nj);
    for (std::size_t r = 0; r + 1 < cuts.size(); r += 2) {
      a.begin.push_back(cuts[r]), a.end.push_back(cuts[r + 1]);
      for (std::int64_t at = a.i_first[std::size_t(g)]; at < a.i_first[std::size_t(g) + 1]; ++at)
        for (std::int64_t j = cuts[r]; j < cuts[r + 1]; ++j)
          of_i[std::size_t(a.i_order.empty() ? at : a.i_order[std::size_t(at)])].push_back(
              a.j_order.empty() ? j : a.j_order[std::size_t(j)]);
    }
    a.range_first.push_back(std::int64_t(a.begin.size()));
  }
  return {rows_of(of_i), [a, groups](SumState& sum, std::int64_t begin, std::int64_t end) {
            Arrays part = a;
            for (Numbers* ends : {&part.begin, &part.end})
              for (std::int64_t& j : *ends) j = std::clamp(j, begin, end) - begin;
            const auto data = [](const Numbers& values) { return values.empty() ? nullptr : values.data(); };
            sum.set_lists(ListArrays{groups, std::int64_t(part.begin.size()), part.i_first.data(), data(part.i_order),
                                     part.range_first.data(), data(part.begin), data(part.end), data(part.j_order),
                                     end - begin});
          }};
}

GivenPairs batches_of(const CrossedRun& run) {
  RandomSource random = source_of(run, 2);
  const std::int64_t batches = 1 + random.below(5), step = random.chance(50) ? 1 : 1'000'000'000'000;
  std::array<Numbers, 2> ids;
  for (std::size_t side = 0; side < 2; ++side) {
    const bool is_one_set = side == 1 && run.one_set;
    const Numbers cuts = random_cuts(random, batches, side == 0 ? run.ni : run.nj);
    for (std::int64_t b = 0; b < batches; ++b)
      ids[side].insert(ids[side].end(), std::size_t(cuts[std::size_t(b) + 1] - cuts[std::size_t(b)]), b * step);
    if (is_one_set) ids[1] = ids[0];
  }
  std::vector<Numbers> of_i(static_cast<std::size_t>(run.ni));
  for (std::int64_t i = 0; i < run.ni; ++i)
    for (std::int64_t j = 0; j < run.nj; ++j)
      if (ids[0][std::size_t(i)] == ids[1][std::size_t(j)]) of_i[std::size_t(i)].push_back(j);
  return {rows_of(of_i), [ids, batches, step, ni = run.ni](SumState& sum, std::int64_t begin, std::int64_t end) {
            sum.set_batches((batches - 1) * step + 1, ni, ids[0].data(), end - begin, ids[1].data() + begin);
          }};
}

OracleRows random_pairs(const CrossedRun& run, std::uint64_t what, int most, bool sorted) {
  RandomSource random = source_of(run, what);
  std::vector<Numbers> rows = random_rows(random, run.ni, run.nj, most);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (sorted) std::ranges::sort(rows[i]);
    if (run.row == "symmetric") std::erase(rows[i], std::int64_t(i));  // cannot be listed with itself
  }
  return rows_of(rows);
}

// Every listed pair acts on both of its particles.
OracleRows both_ways(const OracleRows& rows) {
  std::vector<Numbers> of_i(rows.first.size() - 1);
  for (std::size_t i = 0; i + 1 < rows.first.size(); ++i)
    for (std::int64_t k = rows.first[i]; k < rows.first[i + 1]; ++k) {
      of_i[i].push_back(rows.j[std::size_t(k)]);
      if (rows.j[std::size_t(k)] != std::int64_t(i))
        of_i[std::size_t(rows.j[std::size_t(k)])].push_back(std::int64_t(i));
    }
  return rows_of(of_i);
}

void give_pair_inputs(const CrossedRun& run, OracleInput& input, const CrossedText& text, std::size_t pairs) {
  RandomSource random = source_of(run, 4);
  for (int c = 0; c < text.pipeline.components(Role::InputPair); ++c) {
    input.pair.emplace_back();
    for (std::size_t k = 0; k < pairs; ++k) input.pair.back().push_back(random.between(-64, 63) / 64.0);
  }
}

GivenPairs listed_pairs_of(const CrossedRun& run, OracleInput& input, const CrossedText& text, bool in_parts) {
  const OracleRows rows = random_pairs(run, 3, 12, in_parts);
  give_pair_inputs(run, input, text, rows.j.size());
  struct Held {
    std::vector<std::vector<double>> columns;  // of the inputs of pairs of a part, by field
  };
  const auto held = std::make_shared<Held>();
  return {rows,
          [rows, held, ni = run.ni, in_parts, pair = input.pair](SumState& sum, std::int64_t begin, std::int64_t end) {
            Numbers where;
            const OracleRows within = rows_within(rows, begin, end, &where);
            set_pairs_of(sum, within, ni);
            if (!in_parts) return;
            held->columns.clear();
            for (const FieldLayout& field : sum.fields()) {
              if (field.role != Role::InputPair) continue;
              std::vector<double>& values = held->columns.emplace_back();
              for (int c = 0; c < field.components(); ++c)
                for (const std::int64_t k : where) values.push_back(pair[std::size_t(field.first + c)][std::size_t(k)]);
              values.reserve(values.size() + 1);
              const auto count = std::int64_t(where.size());
              sum.bind(field.name, {values.data(), Element::Double, count, 8, 8 * count});
            }
          }};
}

// A search for the nearest needs finite inputs, and so do far fields. A tolerance of wide pairs chooses nothing without
// a finite sum.
bool may_have_nan(TextFamily family) {
  return family != TextFamily::Nearest && family != TextFamily::Far && family != TextFamily::Wide;
}

// Some values of particles that are no numbers, beside positions.
void put_nan(const CrossedText& text, OracleInput& input) {
  const Field *const of_i = text.pipeline.find("bi"), *const of_j = text.pipeline.find("bj");
  for (const auto& [field, columns] : {std::pair{of_i, &input.i}, {of_j, &input.j}}) {
    if (!field) continue;
    std::vector<double>& values = (*columns)[std::size_t(field->first)];
    for (std::size_t k = 3; k < values.size(); k += 11) values[k] = std::numeric_limits<double>::quiet_NaN();
  }
}

// Some of all j each, rising; a ring does not begin with the first j, and may have parts without j.
std::vector<std::pair<std::int64_t, std::int64_t>> random_parts(const CrossedRun& run, bool may_be_ring) {
  const std::int64_t cut = run.nj / 3, second = cut + (run.nj - cut) / 2;
  std::vector<std::pair<std::int64_t, std::int64_t>> parts{{0, cut}, {cut, second}, {second, run.nj}};
  RandomSource random = source_of(run, 8);
  if (find_capability(run.row)->kind == Capability::Kind::Method) return parts;
  if (random.chance(30)) parts.insert(parts.begin() + 1, {cut, cut});
  if (may_be_ring) std::ranges::rotate(parts, parts.begin() + random.below(3));
  return parts;
}

// The chosen i.
void choose_i(const CrossedRun& run, KernelRunChoice& choice) {
  if (!run.has(Feature::SomeI)) return;
  if (run.has(Feature::NoParticles)) {
    choice.count = 0;
    return;
  }
  RandomSource random = source_of(run, 5);
  choice.begin = random.below(int(run.ni) / 2);
  choice.count = 1 + random.below(int(run.ni - choice.begin - (choice.begin == 0 ? 1 : 0)));
  if (random.chance(50)) {
    choice.i_list = random_order(random, run.ni);
    choice.i_list.resize(std::size_t(choice.count));
    choice.begin = 0, choice.count = -1;
  }
}

Numbers chosen_i(const CrossedRun& run, const KernelRunChoice& choice) {
  if (!choice.i_list.empty()) return choice.i_list;
  Numbers chosen(std::size_t(choice.count < 0 ? run.ni - choice.begin : choice.count));
  std::iota(chosen.begin(), chosen.end(), choice.begin);
  return chosen;
}

}  // namespace nbcc::test
