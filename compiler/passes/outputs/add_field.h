// Adds a field to a pipeline that a pass makes.
#pragma once
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// `like`: the rest of its description. Returns the field's first component.
inline int add_field(Pipeline& pipeline, const std::string& name, Role role, Type type, Field like = {}) {
  like.name = name;
  like.role = role;
  like.kind = kind_of(role);
  like.type = type;
  like.first = pipeline.components(role);
  pipeline.fields.push_back(like);
  return like.first;
}

inline Field of_length(int length) {
  Field field;
  field.length = length;
  return field;
}

}  // namespace nbcc
