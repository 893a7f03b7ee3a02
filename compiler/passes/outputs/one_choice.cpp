// Entry points: one_choice(), choice_and_values().
#include "compiler/passes/outputs/one_choice.h"

#include <cstddef>
#include <vector>

#include "compiler/field.h"
#include "compiler/passes/outputs/add_field.h"

namespace nbcc {

std::optional<OneChoice> one_choice(const Pipeline& pipeline) {
  OneChoice found;
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Output || field.reduction == Reduction::At) continue;
    if (!keeps_index(field.reduction) && field.reduction != Reduction::Min && field.reduction != Reduction::Max)
      return {};
    if (found.value != kNone && found.is_minimum != is_minimum(field.reduction)) return {};
    found.is_minimum = is_minimum(field.reduction);
    for (int c = field.first; c < field.first + field.components(); ++c) {
      const Contribution& one = pipeline.contributions[std::size_t(c)];
      if (found.value == kNone) found.value = one.value, found.guard = one.guard;
      if (one.value != found.value || one.guard != found.guard || one.scale != kNone) return {};
    }
    if (keeps_index(field.reduction) && field.components() > found.indices)
      found.first = field.first, found.indices = field.components();
  }
  if (found.value == kNone || !is_floating(pipeline.pair[found.value].type)) return {};
  return found;
}

Pipeline choice_and_values(const Pipeline& pipeline, const OneChoice& choice) {
  Pipeline made = pipeline;
  made.name += "_choice";
  made.finish = {};
  made.finished.clear();
  made.contributions.clear();
  std::erase_if(made.fields, [](const Field& field) { return field.role == Role::Output; });
  const Contribution one{.value = choice.value, .guard = choice.guard};
  Field index, values;
  index.reduction = choice.is_minimum ? Reduction::ArgMin : Reduction::ArgMax;
  if (choice.indices > 1) index.length = choice.indices;
  values = index;
  values.reduction = Reduction::At;
  values.follows = add_field(made, "nbcc_chosen", Role::Output, Type::Index, index);
  add_field(made, "nbcc_value", Role::Output, pipeline.pair[choice.value].type, values);
  made.contributions.assign(2 * std::size_t(choice.indices), one);
  return made;
}

}  // namespace nbcc
