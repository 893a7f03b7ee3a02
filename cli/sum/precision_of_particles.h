// Columns of particles -> the working precision of a sum, by the rule that the Python package has for arrays.
#pragma once
#include <string>
#include <vector>

#include "cli/options/kernel_options.h"
#include "particles/bind_particles.h"

namespace nbcc {

class ParticleSum;
struct Pipeline;

// The input fields of a pipeline that is not compiled yet, like ParticleSum::inputs() of a compiled one.
std::vector<InputField> inputs_of(const Pipeline& pipeline);

// Unless --precision or NBCC_PRECISION chooses the precision, it becomes single if columns of real fields are float32
// and none is float64, else double. Columns of integers do not count.
void follow_particles(KernelChoice& choice, const std::vector<InputField>& fields,
                      const std::vector<BoundField>& bound);

// For the line that names a run: what --precision mixed would do on a GPU whose rate in double precision is below a
// quarter of that in single; "" on other devices, and if the precision was chosen or is not double.
std::string note_of_slow_double(const ParticleSum& sum, const KernelChoice& choice);

}  // namespace nbcc
