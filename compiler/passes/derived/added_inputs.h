// The inputs that an adjoint pipeline has and the first pipeline does not have. Part of adjoint.cpp.
#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/passes/derived/exchange.h"
#include "compiler/passes/derived/saved_results.h"

namespace nbcc {

// The inputs of i that an adjoint has in addition to the inputs of the first pipeline: derivatives d_NAME, and saved
// results.
class AddedInputs {
 public:
  AddedInputs(const Pipeline& forward, const std::vector<Field>& outputs, std::vector<SavedResult> saved)
      : forward_(forward), saved_(std::move(saved)) {
    const auto is_taken = [&](const std::string& name) {
      const auto has_name = [&](const SavedResult& result) { return result.field.name == name; };
      return forward.find(name) != nullptr || std::ranges::any_of(saved_, has_name);
    };
    for (const Field& output : outputs) {
      Field field;
      field.name = free_name("d_" + output.name, is_taken);
      field.type = output.type, field.length = output.length, field.width = output.width;
      field.comment = fmt::format("dL/d{}", output.name);
      for (int c = 0; c < field.components(); ++c) given_[output.first + c] = next_ + c;
      add(field, AdjointMeaning::Given, output.name);
    }
    for (const SavedResult& result : saved_) {
      first_of_saved_.push_back(next_);
      add(result.field, AdjointMeaning::Saved, result.result);
    }
  }

  const std::vector<AdjointField>& fields() const { return fields_; }
  // Component among the added inputs: of dL/d(output component); of a saved result, if there is one.
  int given(int output) const { return given_.at(output); }
  std::optional<int> saved(SavedKind kind, int output) const {
    const std::optional<SavedComponent> found = find_saved(forward_, saved_, kind, output);
    return found ? std::optional(first_of_saved_[found->result] + found->component) : std::nullopt;
  }

 private:
  void add(Field field, AdjointMeaning meaning, const std::string& of) {
    field.first = next_;
    next_ += field.components();
    fields_.push_back({field, meaning, of, ""});
  }

  const Pipeline& forward_;
  std::vector<SavedResult> saved_;
  std::vector<AdjointField> fields_;
  std::map<int, int> given_;
  std::vector<int> first_of_saved_;
  int next_ = 0;
};

}  // namespace nbcc
