// Pair methods: the ways to choose the pairs of a run and to sum over them. A method is a row of a table; a device has
// the rows that it can do, SumState adds those that are made of other sums. From the rows alone a run is planned:
//
//   SumRequest --plan_run()--> RunPlan { method, estimates, request } --method.enqueue--> accumulators --finish-->
//   outputs
//
// A new method is new files and one row (CONTRIBUTING.md). Tested by tests/unit/run_plan_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sum/sum_request.h"

namespace nbcc {

// What a method would take for a run.
struct Estimate {
  std::string obstacle = {};  // why it cannot do the run; empty: it can
  double cost = 0;            // pairs that a sum over all pairs evaluates in the same time
  // Where pairs = cutoff meets the obstacle, another method takes the run, since results are the same; else it is an
  // error.
  bool falls_back = false;
};

// What one device does for a run. The CPU launches nothing.
struct DeviceWork {
  std::string device;         // "cpu", "cuda:0"
  std::int64_t launches = 0;  // of kernels, at most
  std::int64_t bytes = 0;     // working memory, arrays of the caller aside
};

// What was done in the runs of a sum that were over neighbours, since the sum was made. The seconds are the clock's;
// where several threads work on lists and sums at once, these share the time as they share the work.
struct SumStatistics {
  std::int64_t pairs_tested = 0;  // by kernels
  std::int64_t searches = 0;      // runs that searched: the lists of an earlier run did not hold
  std::int64_t runs = 0;          // runs over neighbours, with kept lists or new ones
  std::int64_t pairs_within = 0;  // the proved reach, in the last run; 0 if that was over all pairs
  struct Seconds {
    double locate = 0;  // pack particles and compute their positions
    double sort = 0;    // sort positions into trees, and packed particles into the trees' order
    double lists = 0;   // list the j of each group of i, and copy their particles side by side
    double sums = 0;    // sum over these lists, and store the results
  } seconds;
  std::string method, reason;  // of the last run: PairMethod::name, and why it was chosen; "" before the first run
};

struct PairMethod {
  std::string_view name;
  bool searches = false;  // behind a cutoff: what pairs = cutoff asks for, and pairs = all excludes
  bool keeps_j = false;   // with request.keep_j, the j-particles that it packs hold for the next run
  // An estimate by counts, params and the proved neighbourhood; it reads no particle. Nothing: the run does not ask for
  // the method, as a run without lists does not ask for sums over lists.
  std::function<std::optional<Estimate>(const SumRequest&)> estimate;
  // The same by the particles, asked only of the method that costs least so far. It may pack the j-particles and say so
  // in request.reuse. Null: the method reads none.
  std::function<Estimate(SumRequest&)> survey;
  std::function<std::vector<DeviceWork>(const SumRequest&)> work;
  // Adds the terms of the method's pairs to the accumulators and, in the last part of a sum, finishes them. Writes the
  // outputs only when nothing can fail any more, or nothing but the device itself where it stores them. Outputs may
  // alias inputs. A device that computes by itself may return before the work is done where all arrays are in its
  // memory.
  std::function<void(const SumRequest&)> enqueue;
  // What was done to sum over neighbours since the sum was made. Null: Summation::statistics() has it.
  std::function<SumStatistics()> statistics;
};

struct RunPlan {
  const PairMethod* method = nullptr;
  std::vector<std::optional<Estimate>> estimates;  // parallel to the rows; nothing: not asked for
  PairChoice choice = PairChoice::Auto;
  std::string given;   // "lists", "batches", "listed pairs" of the caller; "": none
  SumRequest request;  // the caller's, with the `reuse` that a survey has set; valid as long as the caller's arrays
};

// The method that pairs = cutoff or the lists of the request ask for, else the one that costs least; of equal costs the
// first row's. Reads particles where a row's survey does. Throws UsageError for pairs = cutoff where no row that
// searches can do the run.
RunPlan plan_run(std::span<const PairMethod> methods, const SumRequest& request);

// Why the plan has its method, in a sentence without a full stop. `methods` as for plan_run().
std::string reason_of(const RunPlan& plan, std::span<const PairMethod> methods);

// Sums over all pairs of fewer particles than this take less time than sorting them.
constexpr double least_cost_of_search(std::int64_t ni, std::int64_t nj) {
  constexpr double kFewI = 500, kFewJ = 1500;
  return kFewJ * double(ni) > kFewI * double(nj) ? kFewJ * double(ni) : kFewI * double(nj);
}
inline double pairs_of(const SumRequest& request) { return double(request.i_count) * double(request.nj); }

}  // namespace nbcc
