// CpuPairBody with reactions -> the function that sums for both particles of each pair. Entry point: cpu_symmetric().
#include "compiler/emit/cpu/cpu_symmetric.h"

#include <fmt/core.h>

#include "compiler/emit/cpu/cpu_all_pairs.h"
#include "compiler/text/fill_template.h"

namespace nbcc {

std::string cpu_symmetric(CpuPairBody& body, int lanes, int terms) {
  const IBlock block = i_block_of(body, "chunk_end");
  return fill_template("cpu_symmetric.cpp", {{"lanes", std::to_string(lanes)},
                                             {"terms", std::to_string(terms)},
                                             {"most_j", std::to_string(terms * lanes)},
                                             {"i_block", std::to_string(body.i_block())},
                                             {"uniform", body.uniform()},
                                             {"reactions", body.declare_reactions(terms)},
                                             {"clear_reactions", body.clear_reactions(terms)},
                                             {"load_i", block.other_i + body.load_i()},
                                             {"clear", body.clear()},
                                             {"pair", body.pair()},
                                             {"reduce", block.reduce},
                                             {"add_reactions", body.add_reactions()}});
}

}  // namespace nbcc
