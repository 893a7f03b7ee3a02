// The record of a sum in the results: pipeline and its hash, device, instruction set, precision and pair method.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/kernel_options.h"

namespace nbcc {

class ParticleSum;

// Attributes of a particle table, in the order in which lines_of_record() (particles/run_record.h) expects them.
std::vector<std::pair<std::string, std::string>> record_of(const ParticleSum& sum, const KernelChoice& choice);

// Adds the version, the hash, the instruction set and the method of the last run to an object that already has the
// pipeline, the device and the precision.
void add_provenance(nlohmann::ordered_json& object, const ParticleSum& sum);

}  // namespace nbcc
