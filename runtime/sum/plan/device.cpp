// The default implementations of Summation's functions.
#include "runtime/sum/plan/device.h"

#include <cstring>

#include "runtime/error.h"

namespace nbcc {

void Summation::fetch(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }
void Summation::put(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }

FoundPairs Summation::find_pairs(const SumRequest&) {
  throw UsageError("neighbours: this device does not return them; the CPU does");
}

}  // namespace nbcc
