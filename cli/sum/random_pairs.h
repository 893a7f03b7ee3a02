// Which pairs of random particles act, for `verify` and `bench`: lists, exclusions and batches of given sizes.
#pragma once
#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nbcc {

struct PairsChoice {
  std::int64_t listed = 0;    // j of each i; 0: pairs are not listed
  std::int64_t excluded = 0;  // j of each i
  std::int64_t batches = 0;   // 0: none
};

// --listed, --excluded, --batches
void declare_random_pairs(CLI::App& app, PairsChoice& choice);

// Lists 16 j of each i if the pipeline sums over listed pairs only and no number is chosen.
void list_pairs_if_needed(PairsChoice& choice, bool sums_listed_pairs_only);

// In CSR form: the j of i are j[first[i]], ..., j[first[i + 1] - 1].
struct ChosenPairs {
  std::vector<std::int64_t> first, j;
};

struct RandomPairs {
  std::optional<ChosenPairs> listed, excluded;
  std::int64_t batches = 0;
  std::vector<std::int64_t> i_batch, j_batch;
  std::int64_t pairs() const { return listed ? std::int64_t(listed->j.size()) : 0; }
  // The pairs that act, for an oracle: those listed, or for the i in `which` those of its batch; none: all pairs.
  std::optional<ChosenPairs> acting(std::span<const std::int64_t> which) const;
};

// The same choice gives the same pairs on every machine. A j may be listed more than once.
RandomPairs random_pairs(const PairsChoice& choice, std::int64_t ni, std::int64_t nj);

}  // namespace nbcc
