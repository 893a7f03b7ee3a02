// Formats the statistics of neighbour searches and far fields for users.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/sum/plan/device.h"

namespace nbcc {

// The difference of two statistics, now - then; pairs_within, method, reason and far are those of `now`.
SumStatistics since(const SumStatistics& then, SumStatistics now);

// Lines: the method of the last run with its reason, then the work and time of the searches per run, or of the far
// field in the last run.
std::string text_of(const SumStatistics& statistics);
nlohmann::ordered_json json_of(const SumStatistics& statistics);

}  // namespace nbcc
