// Fractions -> a bar that redraws itself. The doors are ProgressBar and run_in_ranges().
#include "cli/progress_bar.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace nbcc {

ProgressBar::ProgressBar() : terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()) {}

ProgressBar::~ProgressBar() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressBar::show(double fraction) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (!terminal_ || seconds < 1) return;
  constexpr int width = 40;
  const int full = int(fraction * width);
  const double left = fraction > 0 ? seconds / fraction - seconds : 0;
  fmt::print(stderr, "\r[{}{}] {:3.0f}%, {:.0f} s left \x1b[K", std::string(std::size_t(full), '#'),
             std::string(std::size_t(width - full), '.'), 100 * fraction, left);
  std::fflush(stderr);
  shown_ = true;
}

void run_in_ranges(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& run) {
  ProgressBar bar;
  std::int64_t range = std::max<std::int64_t>(1024, n / 256);
  for (std::int64_t begin = 0; begin < n;) {
    const std::int64_t count = std::min(range, n - begin);
    const ProgressBar::Clock::time_point start = ProgressBar::Clock::now();
    run(begin, count);
    begin += count;
    bar.show(double(begin) / double(n));
    if (std::chrono::duration<double>(ProgressBar::Clock::now() - start).count() < 0.1) range *= 2;
  }
}

}  // namespace nbcc
