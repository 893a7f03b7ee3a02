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

// The inputs that an adjoint has in addition to the inputs of the first pipeline: derivatives d_NAME by outputs, or
// rates t_NAME of inputs and params, and saved results. Their roles are those of the first pipeline.
class AddedInputs {
 public:
  // `given`: the outputs by which derivatives are given, or the inputs and params whose rates are given.
  AddedInputs(const Pipeline& forward, const std::vector<Field>& given, std::vector<SavedResult> saved)
      : forward_(forward), saved_(std::move(saved)) {
    const auto is_taken = [&](const std::string& name) {
      const auto has_name = [&](const SavedResult& result) { return result.field.name == name; };
      return forward.find(name) != nullptr || std::ranges::any_of(saved_, has_name);
    };
    for (const Field& of : given) {
      Field field;
      const bool is_output = of.role == Role::Output;
      field.name = free_name((is_output ? "d_" : "t_") + of.name, is_taken);
      field.type = of.type, field.length = of.length, field.width = of.width;
      if (!is_output) field.columns = of.columns;
      field.comment = fmt::format(fmt::runtime(is_output ? "dL/d{}" : "rate of {}"), of.name);
      field.role = of.role;
      if (is_output)
        field.role = of.is_of_pair() ? Role::InputPair : of.kind == FieldKind::Histogram ? Role::Param : Role::InputI;
      field.kind = of.is_table() || of.kind == FieldKind::Histogram ? FieldKind::Table : kind_of(field.role);
      for (int c = 0; c < of.components(); ++c) given_[{of.role, of.first + c}] = next_ + (of.is_histogram() ? 0 : c);
      add(field, AdjointMeaning::Given, of.name);
    }
    for (const SavedResult& result : saved_) {
      first_of_saved_.push_back(next_);
      if (result.kind != SavedKind::ValueOfI) add(result.field, AdjointMeaning::Saved, result.result);
    }
  }

  const std::vector<AdjointField>& fields() const { return fields_; }
  // Component among the added inputs: of dL/d(output component), the first of a histogram's elements; of the rate of a
  // component; of a saved result, if there is one.
  int given(int output) const { return given_.at({Role::Output, output}); }
  int rate(Role role, int component) const { return given_.at({role, component}); }
  std::optional<int> saved(SavedKind kind, int output, int axis = 0) const {
    const std::optional<SavedComponent> found = find_saved(forward_, saved_, kind, output);
    return found ? std::optional(first_of_saved_[found->result + std::size_t(axis)] + found->component) : std::nullopt;
  }
  // The output component of the forward pipeline that has image_index(axis) of the pair from which output component
  // `output` comes; empty: none is saved.
  std::optional<int> image_of(int output, int axis) const {
    const std::optional<SavedComponent> found = find_saved(forward_, saved_, SavedKind::ChosenImage, output);
    if (!found) return std::nullopt;
    return forward_.find(saved_[found->result + std::size_t(axis)].result)->first + found->component;
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
  std::map<std::pair<Role, int>, int> given_;
  std::vector<int> first_of_saved_;
  int next_ = 0;
};

}  // namespace nbcc
