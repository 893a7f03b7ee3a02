// CpuPairBody -> the function that loops over all pairs of two ranges. Entry point: cpu_all_pairs().
#include "compiler/emit/cpu/cpu_all_pairs.h"

#include <fmt/core.h>

#include "compiler/text/fill_template.h"

namespace nbcc {

IBlock i_block_of(const CpuPairBody& body, const std::string& end) {
  IBlock block{"", body.reduce(0)};
  for (int r = 1; r < body.i_block(); ++r) {
    block.other_i += fmt::format("const index {0} = i + {1} < {2} ? i + {1} : {2} - 1;\n", body.i_name(r), r, end);
    block.reduce += fmt::format("if (i + {} < {}) {{\n{}}}\n", r, end, body.reduce(r));
  }
  return block;
}

std::string cpu_all_pairs(CpuPairBody& body, int lanes, int tile) {
  const IBlock block = i_block_of(body, "i_end");
  return fill_template("cpu_all_pairs.cpp", {{"lanes", std::to_string(lanes)},
                                             {"tile", std::to_string(tile)},
                                             {"i_block", std::to_string(body.i_block())},
                                             {"uniform", body.uniform()},
                                             {"load_i", block.other_i + body.load_i()},
                                             {"clear", body.clear()},
                                             {"pair", body.pair()},
                                             {"reduce", block.reduce}});
}

}  // namespace nbcc
