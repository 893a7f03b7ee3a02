// What a run prints: a table for people, or JSON.
#pragma once
#include <string>

#include "examples/hermite/hermite.h"

namespace examples {

class Report {
 public:
  // Begins with what is run. is_long: blocks and steps are told at the end; JSON tells all. is_silent: all that is done
  // is to look at energies.
  Report(const std::string& device, std::int64_t count, const HermiteSettings& settings, bool is_json, bool is_long,
         bool is_silent = false);

  // Throws std::runtime_error if the energy is no number.
  void add(double time, const Energies& energies);
  // distance: of the body that is farthest from where it began; not told if it is negative.
  void end(const Statistics& statistics, double distance);

 private:
  void end_json(const Statistics& statistics, double distance) const;

  bool is_json_, is_long_, is_silent_, is_first_ = true;
  Energies start_;
};

}  // namespace examples
