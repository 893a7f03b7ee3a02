// Numbers -> pairs. Entry points: declare_random_pairs(), random_pairs().
#include "cli/sum/random_pairs.h"

#include <algorithm>
#include <limits>
#include <random>

namespace nbcc {
namespace {

ChosenPairs random_rows(std::int64_t per_i, std::int64_t ni, std::int64_t nj, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ChosenPairs rows;
  for (std::int64_t i = 0; i <= ni; ++i) {
    rows.first.push_back(std::int64_t(rows.j.size()));
    for (std::int64_t k = 0; i < ni && nj > 0 && k < per_i; ++k)
      rows.j.push_back(std::int64_t(random() % std::uint64_t(nj)));
  }
  return rows;
}

std::vector<std::int64_t> batch_ids(std::int64_t batches, std::int64_t count) {
  std::vector<std::int64_t> ids;
  for (std::int64_t k = 0; k < count; ++k) ids.push_back(k * batches / count);
  return ids;
}

}  // namespace

void declare_random_pairs(CLI::App& app, PairsChoice& choice) {
  const auto add = [&](const char* option, std::int64_t& number, const char* text) {
    return app.add_option(option, number, text)
        ->type_name("N")
        ->check(CLI::Range(std::int64_t(1), std::numeric_limits<std::int64_t>::max()).description(""));
  };
  CLI::Option* const listed =
      add("--listed", choice.listed,
          "Sum over listed pairs: N random j of each i (default for pipelines with input_pair or output(pair): 16)");
  add("--excluded", choice.excluded, "Exclude N random j of each i")->excludes(listed);
  add("--batches", choice.batches, "Divide the particles, in their order, into N batches that do not act on each other")
      ->excludes(listed);
}

void list_pairs_if_needed(PairsChoice& choice, bool sums_listed_pairs_only) {
  constexpr std::int64_t kDefault = 16;
  if (choice.listed == 0 && sums_listed_pairs_only) choice.listed = kDefault;
}

std::optional<ChosenPairs> RandomPairs::acting(std::span<const std::int64_t> which) const {
  if (batches == 0) return listed;
  std::vector<bool> is_asked(i_batch.size());
  for (const std::int64_t i : which) is_asked[std::size_t(i)] = true;
  ChosenPairs rows;
  for (std::size_t i = 0; i <= i_batch.size(); ++i) {
    rows.first.push_back(std::int64_t(rows.j.size()));
    if (i == i_batch.size() || !is_asked[i]) continue;
    const auto [begin, end] = std::ranges::equal_range(j_batch, i_batch[i]);
    for (auto j = begin; j != end; ++j) rows.j.push_back(j - j_batch.begin());
  }
  return rows;
}

RandomPairs random_pairs(const PairsChoice& choice, std::int64_t ni, std::int64_t nj) {
  RandomPairs made;
  if (choice.listed > 0) made.listed = random_rows(choice.listed, ni, nj, 11);
  if (choice.excluded > 0) made.excluded = random_rows(choice.excluded, ni, nj, 12);
  made.batches = std::min(choice.batches, std::max(ni, nj));  // others would be empty
  if (made.batches > 0) made.i_batch = batch_ids(made.batches, ni), made.j_batch = batch_ids(made.batches, nj);
  return made;
}

}  // namespace nbcc
