// What a run checks of the indices at which a pipeline reads its tables. Plain data, which compiler and runtime share.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nbcc {

// The sides that have particles of their own: i, j, and listed pairs.
constexpr std::size_t kIndexSides = 3;

// An index must be at least 0 and less than `count`. It is the sum of one number of each side, so that its extremes are
// the sums of the extremes of these numbers, which O(N) particles give.
struct IndexCheck {
  struct Part {
    int range = -1;    // the number among its side's; -1: the side adds nothing
    std::string text;  // the number as the pipeline says it: "ti * 3"
  };
  std::string index;  // as the pipeline says it: "ti * 3 + tj"
  std::string table;  // the param's name
  int dimension = 0;  // of a table of two dimensions, 1 or 2
  std::int64_t count = 0;
  int line = 0;              // of the pipeline's text, where the table is read
  bool uses_params = false;  // params that batches may have of their own
  std::array<Part, kIndexSides> parts;
};

// An index that no run checks: where it leads out of its table, the nearest end is read.
struct UncheckedIndex {
  std::string index, table;
  std::string reason;        // "it depends on results"
  int line = 0, column = 0;  // of the pipeline's text
};

struct IndexChecks {
  std::array<int, kIndexSides> ranges{};                // how many numbers of each side there are
  std::array<std::vector<int>, kIndexSides> columns{};  // CPU: which of a side's columns these are made of
  std::vector<IndexCheck> checks;
  std::vector<UncheckedIndex> unchecked;
};

}  // namespace nbcc

extern "C" {
// The least and the greatest value of an index's part, and the particles that have them: their positions in the
// columns. Without any particle `least` is greater than `greatest`.
struct nbcc_index_range {
  std::int64_t least, greatest;
  std::int64_t at_least, at_greatest;
};
}
