// A sum after its run -> the record of the run. Entry points: record_of() for particle files, add_provenance() for
// JSON. Writes no files.
#include "cli/report/provenance.h"

#include <nlohmann/json.hpp>

#include "cli/sum/particle_sum.h"
#include "runtime/api/nbcc.h"

namespace nbcc {
namespace {

// "none" if nothing ran: there are no i-particles, or `tune` knows the sizes already.
std::string method_of(const ParticleSum& sum) {
  const std::string method = sum.method();
  return method.empty() ? "none" : method;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> record_of(const ParticleSum& sum, const KernelChoice& choice) {
  return {{"pipeline", sum.pipeline_name()}, {"pipeline sha256", sum.pipeline_sha256()},
          {"device", sum.device_name()},     {"instruction set", sum.instruction_set()},
          {"arithmetic", describe(choice)},  {"precision", std::string(name(choice.options.precision))},
          {"method", method_of(sum)}};
}

void add_provenance(nlohmann::ordered_json& object, const ParticleSum& sum) {
  object["version"] = nbcc_version();
  object["pipeline_sha256"] = sum.pipeline_sha256();
  object["instruction_set"] = sum.instruction_set();
  object["method"] = method_of(sum);
}

}  // namespace nbcc
