// Random pipelines that are smooth in all their real inputs and params: for adjoints, which are compared with
// differences. They draw sums, extremes, logsumexp, softmax, products and payloads, exclusions, tables in pairs and in
// finish() at constant and run-time indices, periodic boxes and cells, grad and ddt.
#pragma once
#include <cstdint>
#include <string>

namespace nbcc::test {

// The text. The inputs are xi, vi, ki of i and xj, vj, kj of j; whole numbers are from 0 to 2, real numbers positive.
std::string random_smooth_text(std::uint64_t seed);

}  // namespace nbcc::test
