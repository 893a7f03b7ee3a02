// Follows the element types of the columns that real fields are bound to. Entry points: inputs_of(),
// follow_particles(), note_of_slow_double(). Compiles nothing.
#include "cli/sum/precision_of_particles.h"

#include <fmt/core.h>

#include "cli/sum/particle_sum.h"
#include "compiler/emit/describe.h"
#include "compiler/ir/ir.h"

namespace nbcc {

std::vector<InputField> inputs_of(const Pipeline& pipeline) {
  std::vector<InputField> inputs;
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::InputI && field.role != Role::InputJ) continue;
    inputs.push_back({field.name, type_name(field), field.role == Role::InputJ, field.integral(), field.components()});
  }
  return inputs;
}

void follow_particles(KernelChoice& choice, const std::vector<InputField>& fields,
                      const std::vector<BoundField>& bound) {
  if (choice.precision_is_chosen) return;
  bool has_float = false, has_double = false;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    for (const ColumnComponent& from : bound[k].from) {
      const ElementType type = from.column->type();
      has_float = has_float || (!fields[k].integral && type == ElementType::Float);
      has_double = has_double || (!fields[k].integral && type == ElementType::Double);
    }
  }
  choice.options.precision = has_float && !has_double ? Precision::Single : Precision::Double;
  choice.precision_origin = "of the particles";
}

std::string note_of_slow_double(const ParticleSum& sum, const KernelChoice& choice) {
  if (choice.precision_is_chosen || choice.options.precision != Precision::Double || !sum.is_slow_in_double())
    return "";
  return fmt::format(
      "the particles are float64 and summed in double precision, in which {} has less than a quarter of its rate in "
      "single precision: --precision mixed keeps the differences of float64 positions at about the rate of single",
      sum.device_name());
}

}  // namespace nbcc
