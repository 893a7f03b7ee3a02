// The record that a run leaves in the files that it writes: who made them by which command, the pipeline, the device,
// the arithmetic, the params and the totals; a line for each.
#pragma once
#include <string_view>
#include <vector>

#include "particles/particle_table.h"

namespace nbcc {

struct LineRange {
  std::size_t first = 0, last = 0;  // the line behind it
};

// Where the lines ("key: value") of an earlier run of the same pipeline are, which the results' attributes replace; the
// empty range before the first line where there are none. Lines that no run wrote are never in it.
LineRange lines_of_record(const std::vector<std::string_view>& lines, const ParticleTable& results);

}  // namespace nbcc
