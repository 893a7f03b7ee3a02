// CpuPairBody -> the function that loops over all pairs of two ranges. Entry point: cpu_all_pairs().
#include "compiler/emit/cpu/cpu_all_pairs.h"

#include <fmt/core.h>

#include "compiler/text/fill_template.h"

namespace nbcc {

std::string cpu_all_pairs(CpuPairBody& body, int lanes, int tile) {
  std::string other_i, reduce = body.reduce(0);
  for (int r = 1; r < body.i_block(); ++r) {
    other_i += fmt::format("const index {0} = i + {1} < i_end ? i + {1} : i_end - 1;\n", body.i_name(r), r);
    reduce += fmt::format("if (i + {} < i_end) {{\n{}}}\n", r, body.reduce(r));
  }
  return fill_template("cpu_all_pairs.cpp", {{"lanes", std::to_string(lanes)},
                                             {"tile", std::to_string(tile)},
                                             {"i_block", std::to_string(body.i_block())},
                                             {"uniform", body.uniform()},
                                             {"load_i", other_i + body.load_i()},
                                             {"clear", body.clear()},
                                             {"pair", body.pair()},
                                             {"reduce", reduce}});
}

}  // namespace nbcc
