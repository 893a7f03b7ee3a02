// Formats SumStatistics as text or as JSON. Measures and prints nothing.
#include "cli/report/search_statistics.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace nbcc {
namespace {

std::string text_of(const FarStatistics& far) {
  const FarStatistics::Seconds& s = far.seconds;
  std::string error = "error not measured";
  if (far.sampled > 0)
    error = fmt::format("error of {} sampled i {:.3g} (largest {:.3g}, relative to the sum {:.3g}){}", far.sampled,
                        far.error, far.largest, far.error_of_sum,
                        far.runs_since_error > 0 ? fmt::format(", {} runs ago", far.runs_since_error) : "");
  std::string periodic;
  if (far.images > 0)
    periodic = fmt::format("periodic: {} near images, all others through {} points, mismatch {:.2g}; {}\n", far.images,
                           far.image_points, far.mismatch, far.convention);
  if (far.order == 0)
    return periodic +
           fmt::format("all pairs: tolerance {:.3g}, {}; {} precision\n", far.tolerance, error, far.precision);
  return periodic + fmt::format(
                        "far field: tolerance {:.3g}, {}; order {}, leaves of {}, separation {:.3g}, {} precision; "
                        "{:.4g} pairs of each "
                        "i\nms of the last run: {:.4g} particles, {:.4g} tree, {:.4g} walk, {:.4g} up, {:.4g} near, "
                        "{:.4g} distant, "
                        "{:.4g} down{}\n",
                        far.tolerance, error, far.order, far.leaf, far.separation, far.precision, far.pairs_per_i,
                        1e3 * s.particles, 1e3 * s.tree, 1e3 * s.walk, 1e3 * s.up, 1e3 * s.near, 1e3 * s.distant,
                        1e3 * s.down, s.first > 0 ? fmt::format(", {:.4g} choosing these numbers", 1e3 * s.first) : "");
}

nlohmann::ordered_json json_of(const FarStatistics& far) {
  nlohmann::ordered_json object = {{"tolerance", far.tolerance},
                                   {"error", far.error},
                                   {"largest_error", far.largest},
                                   {"error_of_sum", far.error_of_sum},
                                   {"sampled", far.sampled},
                                   {"runs_since_error", far.runs_since_error},
                                   {"pairs_per_i", far.pairs_per_i},
                                   {"order", far.order},
                                   {"leaf", far.leaf},
                                   {"separation", far.separation},
                                   {"precision", far.precision},
                                   {"seconds_particles", far.seconds.particles},
                                   {"seconds_tree", far.seconds.tree},
                                   {"seconds_walk", far.seconds.walk},
                                   {"seconds_up", far.seconds.up},
                                   {"seconds_near", far.seconds.near},
                                   {"seconds_distant", far.seconds.distant},
                                   {"seconds_down", far.seconds.down},
                                   {"seconds_first", far.seconds.first}};
  if (far.images == 0) return object;
  object["images"] = far.images;
  object["image_points"] = far.image_points;
  object["mismatch"] = far.mismatch;
  object["convention"] = far.convention;
  return object;
}

}  // namespace

SumStatistics since(const SumStatistics& then, SumStatistics now) {
  now.pairs_tested -= then.pairs_tested;
  now.searches -= then.searches;
  now.runs -= then.runs;
  now.seconds.locate -= then.seconds.locate;
  now.seconds.sort -= then.seconds.sort;
  now.seconds.lists -= then.seconds.lists;
  now.seconds.sums -= then.seconds.sums;
  return now;
}

std::string text_of(const SumStatistics& all) {
  std::string method = all.method.empty() ? "" : fmt::format("method: {} ({})\n", all.method, all.reason);
  if (all.terms_outside > 0)
    method += fmt::format("histograms: {} terms named no element and were not counted\n", all.terms_outside);
  if (all.far.tolerance > 0) return method + text_of(all.far);
  if (all.runs == 0) return method + "neighbours: no search\n";
  const double tested = double(all.pairs_tested) / double(all.runs);
  const double per_run = 1e3 / double(all.runs);
  return method + fmt::format(
                      "neighbours: {} in {}; pairs a run: {:.4g} tested, {:.4g} within reach ({:.0f}%); "
                      "ms a run: {:.4g} locate, {:.4g} sort, {:.4g} lists, {:.4g} sums\n",
                      all.searches == 1 ? "1 search" : fmt::format("{} searches", all.searches),
                      all.runs == 1 ? "1 run" : fmt::format("{} runs", all.runs), tested, double(all.pairs_within),
                      tested > 0 ? 100 * double(all.pairs_within) / tested : 0, per_run * all.seconds.locate,
                      per_run * all.seconds.sort, per_run * all.seconds.lists, per_run * all.seconds.sums);
}

nlohmann::ordered_json json_of(const SumStatistics& all) {
  nlohmann::ordered_json object = {{"runs", all.runs},
                                   {"searches", all.searches},
                                   {"pairs_tested", all.pairs_tested},
                                   {"pairs_within", all.pairs_within},
                                   {"seconds_locate", all.seconds.locate},
                                   {"seconds_sort", all.seconds.sort},
                                   {"seconds_lists", all.seconds.lists},
                                   {"seconds_sums", all.seconds.sums},
                                   {"method", all.method},
                                   {"reason", all.reason}};
  if (all.terms_outside > 0) object["terms_outside"] = all.terms_outside;
  if (all.far.tolerance > 0) object["far_field"] = json_of(all.far);
  return object;
}

}  // namespace nbcc
