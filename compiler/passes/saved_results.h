// A pipeline -> its forward pipeline: the same one with further outputs, the results of a run that its adjoints take as
// inputs. Part of adjoint.cpp. Tested by tests/unit/adjoint_test.cpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/passes/exchange.h"

namespace nbcc {

enum class SavedKind : std::uint8_t {
  Raw,         // an output before finish(); without finish() the output itself
  LogWeights,  // of a softmax: the logarithm of the sum of its weights
  ChosenJ      // of one component of a minimum or maximum: the j_index that it comes from
};

struct SavedResult {
  SavedKind kind = SavedKind::Raw;
  int output = 0;        // first component among the outputs of the first pipeline
  Field field;           // the input of an adjoint; no field of the first pipeline has its name
  std::string result;    // the output of the forward pipeline that holds the numbers
  bool is_added = true;  // false: that output is one of the first pipeline
};

// The results that adjoints need of the outputs `of`, which may name saved results as well; unknown names are passed
// over. The name of a saved result depends on the first pipeline alone, not on `of`.
std::vector<SavedResult> saved_results(const Pipeline& pipeline, const std::vector<std::string>& of);

Pipeline with_saved_results(const Pipeline& pipeline, const std::vector<SavedResult>& saved);

// The saved result of this kind of an output component of the forward pipeline; none: it has no such result.
struct SavedComponent {
  std::size_t result = 0;  // index into `saved`
  int component = 0;       // of that result
};
std::optional<SavedComponent> find_saved(const Pipeline& forward, const std::vector<SavedResult>& saved, SavedKind kind,
                                         int output);

}  // namespace nbcc
