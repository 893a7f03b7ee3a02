// A pipeline -> its forward pipeline: the same one with additional outputs, the saved results (residuals) that its
// adjoints take as inputs. Part of adjoint.cpp. Tested by tests/unit/compiler/passes/derived/adjoint_test.cpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/passes/derived/exchange.h"

namespace nbcc {

enum class SavedKind : std::uint8_t {
  Raw,         // an output before finish(); without finish() the output itself
  LogWeights,  // for a softmax: the logarithm of the sum of its weights
  ChosenJ,  // for one component of a minimum or maximum, or of each slot of a payload: the j_index of the chosen pair
  ChosenImage,   // with every_image(), after a ChosenJ: image_index(axis) of the chosen pair; one for each axis
  ValueOfI,      // for a total that is no sum: the values of each i that the total reduces; no input of adjoints
  Zeros,         // for a product: the number of its factors that are 0
  OthersProduct  // for a product: the product of its other factors
};

struct SavedResult {
  SavedKind kind = SavedKind::Raw;
  int output = 0;        // first component, among the outputs of the first pipeline
  int axis = 0;          // of a ChosenImage
  int width = 1;         // so many components of that output have one component of the result
  Field field;           // the input of an adjoint; its name differs from all names of the first pipeline
  std::string result;    // the output of the forward pipeline that holds the values
  bool is_added = true;  // false: that output is an output of the first pipeline
};

// True for a total that reduces the values of i otherwise than by adding them. An adjoint takes derivatives by these
// values, a saved result; the derivative of the total by them is that of a function of one array.
bool has_values_of_i(const Pipeline& pipeline, const Field& field);

// The results that adjoints need for the outputs `of`, which may also name saved results; unknown names are ignored.
// The name of a saved result depends on the first pipeline alone, not on `of`.
std::vector<SavedResult> saved_results(const Pipeline& pipeline, const std::vector<std::string>& of);

Pipeline with_saved_results(const Pipeline& pipeline, const std::vector<SavedResult>& saved);

// The saved result of this kind for an output component of the forward pipeline; empty if there is none.
struct SavedComponent {
  std::size_t result = 0;  // index into `saved`
  int component = 0;       // within that result
};
std::optional<SavedComponent> find_saved(const Pipeline& forward, const std::vector<SavedResult>& saved, SavedKind kind,
                                         int output);

}  // namespace nbcc
