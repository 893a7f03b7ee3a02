// A pipeline -> the same sums for particles of one set, with each pair computed once: what j adds to i and what i adds
// to j, its *reaction*, are computed together. Where these are equal, or opposite, up to factors of one particle such
// as masses, they have nearly all nodes in common. Tested by tests/unit/compiler/passes/derived/reactions_test.cpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// The effect of exchanging i and j on the terms of an output. Factors that depend on one particle are ignored.
enum class Symmetry : std::uint8_t {
  None,
  Even,  // equal terms: a potential, a count
  Odd,   // opposite terms: a force
};

struct Symmetries {
  std::vector<Symmetry> of_outputs;  // [output component]
  // Names of params of two indices that must be symmetric, T[a][b] = T[b][a], for these symmetries to hold. A condition
  // is made only if an output gains a symmetry by it.
  std::vector<std::string> symmetric_tables;
};
// The symmetries of a parsed pipeline.
Symmetries symmetries(const Pipeline& pipeline);
// "acc odd, pot even, heat neither", "force odd, if epsilon is symmetric"
std::string symmetry_text(const Pipeline& pipeline);

struct OneSet {
  // Output component first_reaction + k is the reaction of component k. finish() computes the given pipeline's results
  // from the sums of outputs and reactions; the results of reactions are not used. Both sides have the same fields.
  Pipeline pipeline;
  // [field] the field of the given pipeline that has the same array or values; "": none, a reaction.
  std::vector<std::string> given;
  // Fields of the given pipeline that must be one array: xi and xj.
  std::vector<std::pair<std::string, std::string>> partners;
  // Params whose values must be symmetric (Symmetries).
  std::vector<std::string> symmetric_tables;
};

// Empty: some output is of a kind that reactions cannot be added to, such as an argmin, or pairs are listed.
std::optional<OneSet> with_reactions(const Pipeline& pipeline);

// The number of operations of a pair in `both`, divided by the number of operations of two pairs in `one`. Both
// pipelines are optimized.
double shared_cost(const Pipeline& one, const Pipeline& both);

}  // namespace nbcc
