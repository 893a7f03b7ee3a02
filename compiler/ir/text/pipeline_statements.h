// Pipeline -> the statements that change its outputs. A step of pipeline_text.h.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/text/contribution_terms.h"
#include "compiler/ir/text/node_form.h"

namespace nbcc {

struct Value {
  NodeId id = kNone;
  Precedence least = Precedence::Choice;
};

// Each '@' of the pattern is replaced by the next value.
struct Statement {
  std::string pattern;
  std::vector<Value> values = {};
};

// Statements under a common guard.
struct StatementBlock {
  Guard guard;
  std::vector<Statement> statements;
};

struct PairStatements {
  std::vector<Statement> skips;
  std::vector<StatementBlock> blocks;
};
// Throws std::runtime_error if no statements make these contributions.
PairStatements pipeline_statements(const Pipeline& pipeline);

// A guard with text around it, such as "skip_if(!@)".
Statement condition_of(const Guard& guard, const std::string& before, const std::string& behind);

}  // namespace nbcc
