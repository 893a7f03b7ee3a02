// What a machine has -> what works, what does not, and what helps. Tested by tests/unit/doctor_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "cli/machine_facts.h"

namespace nbcc {

// Works; is not here, which only matters to those who want it; is here and does not work.
enum class Health { Works, Absent, Broken };

struct Finding {
  std::string subject;  // "cache"
  Health health = Health::Works;
  std::string finding;  // what is there, or what is wrong
  std::string remedy;   // "" where nothing is wrong
};

std::vector<Finding> diagnose(const MachineFacts& facts);

// True if any device can sum.
bool can_sum(const MachineFacts& facts);

}  // namespace nbcc
