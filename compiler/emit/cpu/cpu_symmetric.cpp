// CpuPairBody with reactions -> the functions that sum for both particles of each pair. Entry points: cpu_symmetric(),
// cpu_half_lists().
#include "compiler/emit/cpu/cpu_symmetric.h"

#include <fmt/core.h>

#include "compiler/emit/cpu/cpu_all_pairs.h"
#include "compiler/text/fill_template.h"

namespace nbcc {

namespace {

std::string filled(const char* frame, CpuPairBody& body, int lanes, int terms) {
  const IBlock block = i_block_of(body, "chunk_end");
  return fill_template(frame, {{"lanes", std::to_string(lanes)},
                               {"terms", std::to_string(terms)},
                               {"i_block", std::to_string(body.i_block())},
                               {"uniform", body.uniform()},
                               {"reactions", body.declare_reactions(terms)},
                               {"clear_reactions", body.clear_reactions()},
                               {"load_i", block.other_i + body.load_i()},
                               {"clear", body.clear()},
                               {"pair", body.pair()},
                               {"reduce", block.reduce},
                               {"add_reactions", body.add_reactions()}});
}

}  // namespace

std::string cpu_symmetric(CpuPairBody& body, int lanes, int terms) {
  return filled("cpu_symmetric.cpp", body, lanes, terms);
}
std::string cpu_half_lists(CpuPairBody& body, int lanes, int terms) {
  return filled("cpu_half_lists.cpp", body, lanes, terms);
}

}  // namespace nbcc
