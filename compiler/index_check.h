// The run-time checks of the indices at which a pipeline reads its tables. Plain data, which compiler and runtime
// share.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nbcc {

// The sides whose inputs an index may depend on: i, j, and listed pairs.
constexpr std::size_t kIndexSides = 3;

// An index must be at least 0 and less than `count`. The index is a sum of one term per side, so its minimum and
// maximum are the sums of the terms' minima and maxima: the check costs O(N) and not O(pairs).
struct IndexCheck {
  struct Part {
    int range = -1;    // which of its side's ranges has the term; -1: the side adds no term
    std::string text;  // the term's source text: "ti * 3"
  };
  std::string index;  // source text: "ti * 3 + tj"
  std::string table;  // the param's name
  int dimension = 0;  // 1 or 2 for an index of a two-dimensional table, else 0
  std::int64_t count = 0;
  int line = 0;              // line of the pipeline's text that reads the table
  bool uses_params = false;  // the index depends on params, which may differ between batches
  std::array<Part, kIndexSides> parts;
};

// An index that cannot be checked before a run. Outside its table it is clamped to the nearest element.
struct UncheckedIndex {
  std::string index, table;
  std::string reason;        // "it depends on results"
  int line = 0, column = 0;  // in the pipeline's text
};

struct IndexChecks {
  std::array<int, kIndexSides> ranges{};                // number of ranges of each side
  std::array<std::vector<int>, kIndexSides> columns{};  // CPU: the side's columns that its terms read
  std::vector<IndexCheck> checks;
  std::vector<UncheckedIndex> unchecked;
};

}  // namespace nbcc

extern "C" {
// The minimum and maximum of one term of an index, and the positions in the columns of the particles that attain them.
// Without particles `least` is greater than `greatest`.
struct nbcc_index_range {
  std::int64_t least, greatest;
  std::int64_t at_least, at_greatest;
};
}
