// The record of a run in the files that it writes: version, command, pipeline and its hash, device, instruction set,
// arithmetic, precision, method, params and totals, one line each.
#pragma once
#include <string_view>
#include <vector>

#include "particles/particle_table.h"

namespace nbcc {

struct LineRange {
  std::size_t first = 0, last = 0;  // lines first to last - 1
};

// True for a key that a record holds only if it holds the hash, "pipeline sha256", too: earlier versions of nbcc wrote
// none of these keys.
bool is_key_beside_hash(std::string_view key);

// The lines ("key: value") that an earlier run of the same pipeline wrote and that the attributes of `results` replace.
// The empty range {0, 0} if there are none. The range never contains lines that no run wrote.
LineRange lines_of_record(const std::vector<std::string_view>& lines, const ParticleTable& results);

}  // namespace nbcc
