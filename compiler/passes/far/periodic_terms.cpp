// Entry point: read_periodic_terms().
#include "compiler/passes/far/periodic_terms.h"

#include <utility>

#include "compiler/ir/rewrite.h"

namespace nbcc {

PeriodicReading read_periodic_terms(const Pipeline& pipeline) {
  PeriodicReading made{copies_pipeline(pipeline, ImageShifts::OfRanges), {}};
  const Pipeline& placed = made.copies.pipeline;
  const auto refuse = [&](const Location& where, std::string reason) {
    made.reading = {{}, {where, std::move(reason)}};
    return made;
  };
  const std::vector<bool> needed = reachable(placed.pair, placed.roots());
  for (NodeId id = 0; id < placed.pair.size(); ++id)
    if (needed[std::size_t(id)] && placed.pair[id].op == Op::ImageIndex)
      return refuse(placed.pair[id].where, "image_index() differs from image to image");
  made.reading = read_far_terms(placed);
  if (made.reading.terms && !made.reading.terms->both_sides)
    return refuse({}, "a value of i enters a term other than as a factor");
  return made;
}

}  // namespace nbcc
