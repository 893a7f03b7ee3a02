// Times of several pieces of work that are to be compared: taken in turns in one process, so that whatever slows the
// machine slows all of them.
#pragma once
#include <functional>
#include <vector>

namespace nbcc::bench {

using Work = std::function<void()>;

double now();  // seconds

// One run's seconds.
struct Time {
  double median = 0, best = 0, worst = 0;
};

struct Comparison {
  std::vector<Time> times;     // as the works were given
  std::vector<double> ratios;  // median over the rounds of (time of the first) / (time of this)
  double gigahertz = 0;        // of the core that ran them, median over the rounds
};

// Of samples[work][round], seconds of one run; no gigahertz.
Comparison comparison_of(const std::vector<std::vector<double>>& samples);

// A round runs each work in turn, the next round in the opposite order; short works are repeated until a sample takes
// a hundredth of a second. The works run on the calling thread first, to warm up.
Comparison compare(const std::vector<Work>& works, int rounds);

// By additions that depend on one another: one a cycle.
double clock_gigahertz();

double median(std::vector<double> values);

}  // namespace nbcc::bench
