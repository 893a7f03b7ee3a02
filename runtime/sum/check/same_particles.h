// Warns of a guard that excludes pairs by i_index and j_index where i and j are two sets of particles: it then excludes
// pairs of different particles. Tested by tests/unit/runtime/sum/check/run_check_test.cpp.
#pragma once
#include <optional>
#include <string>

#include "compiler/index_guard.h"
#include "runtime/sum/run/sum.h"

namespace nbcc {

// Whether i-particle k and j-particle k are one particle, for all k of the shorter side, by the bound inputs: fields
// that differ in the side only, such as xi and xj (vectors, if there are any), hold equal numbers in at least one pair
// of fields. No value: there are no such fields, or the host cannot read them.
std::optional<bool> are_same_particles(const SumState& sum);

// The warning of a run over all pairs, without offsets of the indices; nothing if i and j are, or may be, the same
// particles.
std::optional<std::string> two_sets_warning(const SumState& sum, IndexGuard guard);

}  // namespace nbcc
