// Steps and the clock -> a bar and a rate. The entry point is Progress.
#include "examples/support/progress.h"

#include <unistd.h>

#include <cstdio>

namespace examples {
namespace {

double rate_of(std::int64_t steps, double seconds) { return seconds > 0 ? double(steps) / seconds : 0; }

}  // namespace

Progress::Progress() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (is_shown_) std::fprintf(stderr, "\r%78s\r", "");
}

void Progress::show(double share, std::int64_t steps) {
  const double now = seconds();
  if (!is_terminal_ || now < next_) return;
  next_ = now + 0.1;
  is_shown_ = true;
  std::fprintf(stderr, "\r[%-40.*s] %3.0f%%  %.3g steps/s ", int(40 * share),
               "########################################", 100 * share, rate_of(steps, now));
  std::fflush(stderr);
}

std::string Progress::rate(std::int64_t steps) const {
  char text[96];
  const double now = seconds();
  std::snprintf(text, sizeof text, "%lld steps in %.3g s, %.3g steps/s", static_cast<long long>(steps), now,
                rate_of(steps, now));
  return text;
}

}  // namespace examples
