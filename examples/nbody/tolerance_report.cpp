// Statistics of a sum -> lines of text. Entry point: tolerance_report(). Measures and prints nothing.
#include "examples/nbody/tolerance_report.h"

#include <cstdio>
#include <string_view>

#include "examples/support/program.h"

namespace examples {
namespace {

// What std::snprintf makes of a format that has no text of unbounded length.
template <typename... Values>
std::string line_of(const char* format, Values... values) {
  char line[256];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

std::string error_of(const nbcc_statistics& now) {
  return line_of("#   error of %lld sampled bodies when last measured: %.2e (largest %.2e, relative to the sum %.2e)\n",
                 static_cast<long long>(now.sampled), now.error, now.largest_error, now.error_of_sum);
}

}  // namespace

std::string tolerance_report(const char* name, const nbcc_statistics& now, std::int64_t bodies,
                             nbcc_precision compiled_for) {
  const std::string_view method = now.method;
  if (method.empty()) return "";
  if (method != "far field")
    return line_of("# %s: %s, in %s precision; ", name, now.method, name_of(compiled_for)) + now.reason + "\n";
  if (now.order == 0)
    return line_of("# %s: all pairs to tolerance %g, in %s precision\n", name, now.tolerance, now.precision) +
           (now.sampled > 0 ? error_of(now) : "");
  return line_of("# %s: far field to tolerance %g, in %s precision; %.0f pairs of each body, all pairs: %lld\n", name,
                 now.tolerance, now.precision, now.pairs_per_i, static_cast<long long>(bodies)) +
         error_of(now) + line_of("#   order %d, leaves of %d, separation %.2f\n", now.order, now.leaf, now.separation);
}

}  // namespace examples
