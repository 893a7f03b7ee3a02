// Evaluates MachineFacts: which parts of nbcc work on this machine, which do not, and how to mend them. Tested by
// tests/unit/cli/machine/doctor_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "cli/machine/machine_facts.h"

namespace nbcc {

// Works; not installed (optional); installed, but does not work.
enum class Health { Works, Absent, Broken };

struct Finding {
  std::string subject;  // "cache"
  Health health = Health::Works;
  std::string finding;  // the version or path that was found, or the problem
  std::string remedy;   // "" if there is no problem
};

std::vector<Finding> diagnose(const MachineFacts& facts);

// True if the test sum succeeded on at least one device.
bool can_sum(const MachineFacts& facts);

}  // namespace nbcc
