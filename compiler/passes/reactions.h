// A pipeline -> the same sums for particles of one set, with each pair computed once: what j adds to i and what i adds
// to j, its *reaction*, are computed together. Where these are equal, or opposite, up to factors of one particle such
// as masses, they have nearly all nodes in common. Tested by tests/unit/reactions_test.cpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// How the terms of an output change if i and j exchange their roles, apart from factors that depend on one of them.
enum class Symmetry : std::uint8_t {
  None,
  Even,  // the same: a potential, a count
  Odd,   // the opposite: a force
};

// Of each output component, as the pipeline was parsed.
std::vector<Symmetry> symmetries(const Pipeline& pipeline);
// "acc odd, pot even, heat neither"
std::string symmetry_text(const Pipeline& pipeline);

struct OneSet {
  // Output component first_reaction + k is the reaction of component k. Each result of finish() is that of the given
  // pipeline, of both together; the results of reactions mean nothing. Both sides have the same fields.
  Pipeline pipeline;
  // [field] the field of the given pipeline that has the same array or values; "": none, a reaction.
  std::vector<std::string> given;
  // Fields of the given pipeline that must be one array: xi and xj.
  std::vector<std::pair<std::string, std::string>> partners;
};

// Empty: some output is of a kind that reactions cannot be added to, such as an argmin, or pairs are listed.
std::optional<OneSet> with_reactions(const Pipeline& pipeline);

// The number of operations of a pair in `both`, as a fraction of those of computing the pair twice by `one`. Both are
// optimized.
double shared_cost(const Pipeline& one, const Pipeline& both);

}  // namespace nbcc
