// The arrays of a compiled pipeline's typed functions: which element type each field has.
#pragma once
#include "compiler/kernel_source.h"

namespace nbcc {

// `real` is the flavour's: Float or Double, of all fields that hold no whole numbers. An index has 64 bits, be it a
// field of that type or what an argmin finds; int and bool have 32.
inline Element typed_element(const FieldLayout& field, Element real) {
  if (!field.integral) return real;
  const bool is_index = field.role == Role::Output && keeps_index(field.reduction);
  return is_index || field.type.starts_with("index") ? Element::Int64 : Element::Int32;
}

}  // namespace nbcc
