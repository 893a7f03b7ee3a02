// What a pipeline is, in numbers and words, for `check` and `bench`. Plain data, without the compiler's graph.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/options.h"
#include "compiler/target.h"
#include "compiler/text/diagnostic.h"
#include "compiler/text/source.h"

namespace nbcc {

struct FieldSummary {
  std::string name;
  std::string role;       // "input_i", "input_j", "param", "output"
  std::string reduction;  // of an output
  std::string type;       // as declared
  int components = 1;
  std::vector<double> defaults;  // of a param
  std::string comment;
};

// How often the operations that remain after optimization are done.
struct OperationCounts {
  int uniform = 0;  // once a run
  int per_i = 0;    // once for each i
  int per_j = 0;
  int per_pair = 0;
  int finish = 0;  // once for each i, after its sum
};

struct PipelineSummary {
  std::string name;
  std::string dialect;  // "named fields" or "CUNBODY-1"
  std::vector<FieldSummary> fields;
  int raw_operations = 0;  // per interaction, as written
  std::optional<int> stated_operations;
  OperationCounts operations;
  std::vector<Diagnostic> warnings;
};

// Throws CompileError.
PipelineSummary summarize(const Source& source, const Options& options, const Target& target);

}  // namespace nbcc
