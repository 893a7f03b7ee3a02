// Implements the functions of nbcc_statistics.h: tolerances and statistics of sums.
#include <algorithm>
#include <cstring>
#include <utility>

#include "fmt/format.h"
#include "runtime/api/handles.h"
#include "runtime/tolerance/tolerance.h"

namespace nbcc {
namespace {

FarChoice checked_choice(const nbcc_far_choice* experiment) {
  const nbcc_far_choice given = read_options(experiment, nbcc_far_choice{sizeof(nbcc_far_choice), 0, 0, 0});
  if (given.order != 0 && !(given.order >= 2 && given.order <= 13))
    throw UsageError(fmt::format("far field: order must be from 2 to 13, or 0 for no choice; got {}", given.order));
  if (given.leaf < 0)
    throw UsageError(fmt::format("far field: leaf must be 1 or more, or 0 for no choice; got {}", given.leaf));
  if (!(given.separation >= 0 && given.separation < 1))
    throw UsageError(
        fmt::format("far field: separation must be between 0 and 1, or 0 for no choice; got {}", given.separation));
  return {given.order, given.leaf, given.separation};
}

}  // namespace
}  // namespace nbcc

using nbcc::guarded;

extern "C" {

nbcc_status nbcc_sum_set_tolerance(nbcc_sum* sum, double tolerance, const nbcc_far_choice* experiment,
                                   nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::set_tolerance(nbcc::checked(sum, "sum").state, tolerance, nbcc::checked_choice(experiment));
    sum->tolerance = tolerance;
  });
}

nbcc_status nbcc_sum_get_statistics(const nbcc_sum* sum, nbcc_statistics* statistics, nbcc_error** error) {
  return guarded(error, [&] {
    const std::size_t size = nbcc::checked(statistics, "statistics").size;
    if (size < sizeof(size_t)) throw nbcc::UsageError("statistics: `size` must be the size of the struct");
    nbcc::SumStatistics now = nbcc::checked(sum, "sum").state.statistics();
    sum->method = std::move(now.method);
    sum->reason = std::move(now.reason);
    sum->precision = now.far.precision;
    nbcc_statistics found{};
    found.size = size;
    found.pairs_tested = now.pairs_tested;
    found.searches = now.searches;
    found.runs = now.runs;
    found.pairs_within = now.pairs_within;
    found.seconds_locate = now.seconds.locate;
    found.seconds_sort = now.seconds.sort;
    found.seconds_lists = now.seconds.lists;
    found.seconds_sums = now.seconds.sums;
    found.method = sum->method.c_str();
    found.reason = sum->reason.c_str();
    found.tolerance = now.far.tolerance;
    found.error = now.far.error;
    found.largest_error = now.far.largest;
    found.error_of_sum = now.far.error_of_sum;
    found.sampled = now.far.sampled;
    found.pairs_per_i = now.far.pairs_per_i;
    found.order = now.far.order;
    found.leaf = now.far.leaf;
    found.separation = now.far.separation;
    found.precision = sum->precision.c_str();
    found.seconds_particles = now.far.seconds.particles;
    found.seconds_tree = now.far.seconds.tree;
    found.seconds_walk = now.far.seconds.walk;
    found.seconds_up = now.far.seconds.up;
    found.seconds_near = now.far.seconds.near;
    found.seconds_distant = now.far.seconds.distant;
    found.seconds_down = now.far.seconds.down;
    found.seconds_first = now.far.seconds.first;
    found.terms_outside = now.terms_outside;
    found.runs_since_error = now.far.runs_since_error;
    sum->convention = now.far.convention;
    found.images = now.far.images;
    found.image_points = now.far.image_points;
    found.mismatch = now.far.mismatch;
    found.convention = sum->convention.c_str();
    std::memcpy(statistics, &found, std::min(size, sizeof found));
  });
}

const char* nbcc_sum_method(const nbcc_sum* sum) { return sum ? sum->state.method().data() : ""; }

}  // extern "C"
