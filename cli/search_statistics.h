// What was done to sum over neighbours, as a user reads it.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/sum/device.h"

namespace nbcc {

// What was done since `then`; pairs_within is the later one's.
SumStatistics since(const SumStatistics& then, SumStatistics now);

// The method of the last run and why, in a line; in another what the searches did, per run.
std::string text_of(const SumStatistics& statistics);
nlohmann::ordered_json json_of(const SumStatistics& statistics);

}  // namespace nbcc
