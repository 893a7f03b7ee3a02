// Pipeline -> the statements that change its outputs. What pipeline_text.h is made of.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/contribution_terms.h"
#include "compiler/ir/node_form.h"

namespace nbcc {

struct Value {
  NodeId id = kNone;
  Level least = Level::Choice;
};

// Each '@' of the pattern stands for the next value.
struct Statement {
  std::string pattern;
  std::vector<Value> values = {};
};

// Under a guard that they have in common.
struct Block {
  Guard guard;
  std::vector<Statement> statements;
};

struct PairStatements {
  std::vector<Statement> skips;
  std::vector<Block> blocks;
};
// Throws std::runtime_error for what no statements make.
PairStatements pipeline_statements(const Pipeline& pipeline);

// "skip_if(!@)"
Statement condition_of(const Guard& guard, const std::string& before, const std::string& behind);

}  // namespace nbcc
