// Formats SumStatistics as text or as JSON. Measures and prints nothing.
#include "cli/search_statistics.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace nbcc {

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
  const std::string method = all.method.empty() ? "" : fmt::format("method: {} ({})\n", all.method, all.reason);
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
  return {{"runs", all.runs},
          {"searches", all.searches},
          {"pairs_tested", all.pairs_tested},
          {"pairs_within", all.pairs_within},
          {"seconds_locate", all.seconds.locate},
          {"seconds_sort", all.seconds.sort},
          {"seconds_lists", all.seconds.lists},
          {"seconds_sums", all.seconds.sums},
          {"method", all.method},
          {"reason", all.reason}};
}

}  // namespace nbcc
