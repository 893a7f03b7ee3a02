// Draws a progress bar. Entry point: ProgressBar.
#include "cli/report/progress_bar.h"

#include <fmt/core.h>
#include <unistd.h>

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

}  // namespace nbcc
