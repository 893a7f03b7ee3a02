// Whole numbers -> text, and the outputs that hold them. Doors: those of the header. Knows no backend.
#include "compiler/emit/whole_number.h"

#include <fmt/core.h>

#include <cstdint>
#include <limits>

namespace nbcc {

bool is_whole_extreme(const Pipeline& pipeline, std::size_t output) {
  return pipeline.field_of(Role::Output, int(output)).reduction != Reduction::Sum &&
         pipeline.pair[pipeline.contributions[output].value].type == Type::Index;
}

bool is_untouched(const Pipeline& pipeline, std::size_t output) {
  if (pipeline.finished.empty()) return true;
  const Node& result = pipeline.finish[pipeline.finished[output]];
  return result.op == Op::Output && result.payload == std::int64_t(output);
}

std::string whole_literal(double value) {
  if (value >= 0x1p63) return fmt::format("{}LL", std::numeric_limits<std::int64_t>::max());
  // The minus is an operator, and what stands behind it must be a number by itself.
  if (value <= -0x1p63) return fmt::format("({}LL - 1)", -std::numeric_limits<std::int64_t>::max());
  return fmt::format("{}", std::int64_t(value));
}

std::string no_candidate(Reduction reduction) {
  return whole_literal(reduction == Reduction::Min || reduction == Reduction::ArgMin ? 0x1p63 : -0x1p63);
}

}  // namespace nbcc
