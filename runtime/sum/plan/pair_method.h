// A pair method is a way to choose the pairs of a run and to sum over them: all pairs, a search, the caller's lists,
// ... A device has a table of pair methods; KernelSum adds methods that run derived kernels. A run is planned from
// this table alone:
//
//   SumRequest --plan_run()--> RunPlan { steps, method, estimates } --each step's enqueue--> outputs
//
// A new method consists of new files and one row of a table (CONTRIBUTING.md). Tested by
// tests/unit/runtime/sum/plan/run_plan_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sum/request/sum_request.h"

namespace nbcc {

// The estimated cost of a run with one method.
struct Estimate {
  std::string obstacle = {};  // why the method cannot do the run; empty: it can
  double cost = 0;            // in pairs that a sum over all pairs evaluates in the same time
  // If pairs = cutoff meets the obstacle: true: another method does the run, with the same results; false: an error.
  bool falls_back = false;
  bool once = false;       // each pair is computed once, for both of its particles
  std::string twice = {};  // why it is not, although other runs of the method do so; empty: none does, or it is
  bool of_size = false;    // the obstacle is that there are too many particles, or too little memory
};

// Launches and memory of one device for a run. The CPU has no launches.
struct DeviceWork {
  std::string device;         // "cpu", "cuda:0"
  std::int64_t launches = 0;  // kernel launches, upper bound
  std::int64_t bytes = 0;     // working memory, without the caller's arrays
};

// A run with a far field (runtime/far/far_field.h). Seconds are wall-clock seconds of the last run.
struct FarStatistics {
  double tolerance = 0;               // as the caller set it; 0: none
  double error = 0;                   // rms over the sampled i of |error| / sum of |terms|; largest of all outputs
  double largest = 0;                 // the largest |error| / sum of |terms| of a sampled i
  double error_of_sum = 0;            // rms of |error| / |sum|: for information, not bounded by the tolerance
  std::int64_t sampled = 0;           // number of these i; 0: no error was measured
  std::int64_t runs_since_error = 0;  // runs since the one whose error was measured; 0: it is the error of the last run
  double pairs_per_i = 0;             // pairs that kernels evaluated for each chosen i, by particles or grids
  int order = 0, leaf = 0;
  double separation = 0;  // the largest ratio of a cell's radius to its distance at which its grid may serve
  // A run over all pairs in a raised precision has these numbers 0.
  void set_all_pairs(std::int64_t nj, std::string_view of_sums) {
    pairs_per_i = double(nj);
    order = leaf = 0;
    separation = 0;
    precision = of_sums;
  }
  std::string_view precision;  // of the sums: raised above that of the pipeline if the tolerance requires it
  // A periodic sum has so many near images of each j, and points of the cell through which all other images act.
  // `mismatch`: how far the table of these is from periodic (rms, relative to the terms of the near images).
  // `convention`: decays and conventions by output, for users.
  int images = 0, image_points = 0;
  double mismatch = 0;
  std::string convention;
  std::string ranks;  // on several processes, for users: which j this one has; "": there is one process
  struct Seconds {
    double particles = 0;  // positions, weights and factors
    double tree = 0;
    double walk = 0;
    double up = 0;       // weights to grids
    double near = 0;     // pairs of particles
    double distant = 0;  // pairs with grids
    double down = 0;     // grids to particles, finish()
    double first =
        0;  // of the run that chose: measuring interpolation, choosing the order, the exact sums of the sample
    void add(const Seconds& one) {
      particles += one.particles;
      tree += one.tree;
      walk += one.walk;
      up += one.up;
      near += one.near;
      distant += one.distant;
      down += one.down;
      first += one.first;
    }
  } seconds;
};

// Counts and times of all runs of a sum over neighbours since the sum was made. Times are wall-clock seconds; where
// threads work on `lists` and `sums` at the same time, the wall-clock time is divided in proportion to their work.
struct SumStatistics {
  std::int64_t pairs_tested = 0;   // pairs that kernels tested
  std::int64_t searches = 0;       // runs that searched, because the lists of an earlier run were not valid
  std::int64_t runs = 0;           // runs over neighbours, with kept or new lists
  std::int64_t pairs_within = 0;   // pairs within the proved reach in the last run; 0 if that run was over all pairs
  std::int64_t terms_outside = 0;  // terms of histograms of the last run that named no element
  struct Seconds {
    double locate = 0;  // pack particles and compute their positions
    double sort = 0;    // sort positions into trees, and packed particles into the trees' order
    double lists = 0;   // list the j of each group of i, and copy these particles to contiguous memory
    double sums = 0;    // sum over these lists, and store the results
  } seconds;
  FarStatistics far;
  std::string method, reason;  // PairMethod::name of the last run, and why it was chosen; "" before the first run
  std::string form;            // how the method did the last run, which `reason` then says; "": it has one form

  // Adds the counts and times of another sum over neighbours.
  void add(const SumStatistics& one) {
    pairs_tested += one.pairs_tested;
    searches += one.searches;
    runs += one.runs;
    pairs_within += one.pairs_within;
    seconds.locate += one.seconds.locate;
    seconds.sort += one.seconds.sort;
    seconds.lists += one.seconds.lists;
    seconds.sums += one.seconds.sums;
  }
};

struct PairMethod;

// A part of a run: a pair method, of the caller's kernel or of a derived one, adds the terms of its pairs. The last
// step for an i applies finish() and stores (ends(request.j_part)).
struct RunStep {
  const PairMethod* method = nullptr;
  SumRequest request;
  std::string_view kernel = {};  // "": the caller's; else the row of derived kernels
  double cost = 0;               // in pairs that a sum over all pairs evaluates in the same time
};

struct PairMethod {
  std::string_view name;
  bool searches = false;    // finds neighbours within a cutoff; pairs = cutoff requires that, pairs = all excludes it
  bool keeps_sums = false;  // of a sum in parts, so that all its parts are of this method
  bool keeps_j = false;     // with request.keep_j, the packed j-particles remain valid for the next run
  // Estimates the cost from counts, params and the proved neighbourhood; reads no particle. No value: the method does
  // not apply, for example sums over lists to a run without lists.
  std::function<std::optional<Estimate>(const SumRequest&)> estimate;
  // A better estimate that reads particles; called only for the method with the least cost so far. It may pack the
  // j-particles and then sets request.reuse. Null: the method has none.
  std::function<Estimate(SumRequest&)> survey;
  // Measures what the choice of this method needs, by runs of kernels, before the run of the request; what it has found
  // holds for later runs and plans. `expected`: the estimate without measuring, and the cost of measuring. Null: there
  // is nothing to measure.
  std::function<Estimate(const SumRequest&)> measure;
  std::function<std::pair<Estimate, double>(const SumRequest&)> expected;
  std::function<std::vector<DeviceWork>(const SumRequest&)> work;
  // The steps of a run, if they are not this method alone. They refer to memory of the method, until its next plan.
  std::function<std::vector<RunStep>(const SumRequest&)> steps;
  // Adds the terms of the method's pairs to the accumulators and, if the request ends the sum (ends(j_part)), applies
  // finish() and writes the outputs. Adds the terms of histograms to request.histograms, which is host memory, before
  // it returns. Outputs are written only when nothing can fail any more, except a device that stores the outputs
  // itself. Outputs may alias inputs. A GPU may return before the work is done if all arrays are in its memory.
  std::function<void(const SumRequest&)> enqueue;
  // Statistics of sums over neighbours since the sum was made. Null: Summation::statistics() returns them.
  std::function<SumStatistics()> statistics;
  // Adds what a survey has measured of the run, if another method that does not search has done it. Null: nothing.
  std::function<void(SumStatistics&)> add_survey;
  // Waits for the method's runs, if they are others than those of the device. Null: they are not.
  std::function<void(Progress*)> wait;
};

struct RunPlan {
  const PairMethod* method = nullptr;
  Estimate estimate = {};                          // of the method
  std::vector<std::optional<Estimate>> estimates;  // parallel to the methods; no value: the method does not apply
  std::vector<bool> surveyed;                      // parallel to the methods: true if the estimate is made by survey()
  PairChoice choice = PairChoice::Auto;
  bool asks_for_once = false;  // symmetric = always
  std::string given;           // the caller's "lists", "batches" or "listed pairs"; "": none
  SumRequest request;  // the caller's, with `reuse` as a survey has set it; valid as long as the caller's arrays
  std::vector<RunStep> steps;  // in the order of the run
  // What the run measures before it takes its method, which then may be another one: methods and costs in pairs.
  std::vector<std::pair<std::string_view, double>> measurements;
};

// Whether methods may measure what their estimates need.
enum class Measure : bool { Later, Now };

// Chooses the method that pairs = cutoff or the lists of the request require, else the one with the least cost; of
// equal costs the first. Surveys may read particles; kernels run only if methods may measure now. Throws UsageError for
// pairs = cutoff if no method that searches can do the run, unless all of these fall back.
RunPlan plan_run(std::span<const PairMethod> methods, const SumRequest& request, Measure when);

// The reason for the plan's method, as a sentence without a full stop. `methods` as for plan_run().
std::string reason_of(const RunPlan& plan, std::span<const PairMethod> methods);

// A sentence without its end if another method would have cost less than a quarter, but for an obstacle other than
// size, or if it would have computed each pair once as the caller has asked; "": there is none. Without numbers, so
// that runs of one kind have the same text.
std::string detour_of(const RunPlan& plan, std::span<const PairMethod> methods);

// A lower bound of a search's cost, in pairs: a sum over all pairs is faster unless ni > kMinI and nj > kMinJ, because
// particles must be sorted for a search.
constexpr double least_cost_of_search(std::int64_t ni, std::int64_t nj) {
  constexpr double kMinI = 500, kMinJ = 1500;
  return kMinJ * double(ni) > kMinI * double(nj) ? kMinJ * double(ni) : kMinI * double(nj);
}
inline double pairs_of(const SumRequest& request) { return double(request.i_count) * double(request.nj); }

}  // namespace nbcc
