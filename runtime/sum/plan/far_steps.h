// The steps of a sum with a far field, which each device does in its own memory: FarRun (runtime/far/far_run.h) on the
// host, CudaFarRun (runtime/cuda/far/cuda_far_run.h) on a GPU. runtime/far/far_field.cpp decides with which numbers.
//
//   particles -> trees -> lists -> weights go up -> sums over lists: near, distant -> sums go down -> finish()
#pragma once
#include <cstdint>
#include <string>

#include "compiler/far_kernels.h"
#include "runtime/sum/plan/pair_method.h"

namespace nbcc {

// The numbers that are chosen for a run.
struct FarSetting {
  int order = 0;          // points along each axis of a grid
  int leaf = 0;           // particles of a leaf, at most
  double limit = 0;       // of the relative error of interpolating a term, by which cells are judged to be distant
  double separation = 0;  // in place of the limit: the largest ratio of a cell's radius to its distance; 0: none
  bool operator==(const FarSetting&) const = default;
};

// Bytes of working memory: without the caller's arrays, with copies of those that are sent to a GPU.
struct FarMemory {
  std::string device;  // "host", "cuda:0"
  std::int64_t needed = 0, available = 0;
};

class FarSteps {
 public:
  static constexpr std::int64_t kSampled = 256;                // i whose exact sums are computed
  static constexpr double kFarMove = 0.02, kManyMoved = 0.05;  // of the radius of all; of the number of particles
  enum class Of : bool { All, Sampled };

  FarSteps() = default;
  FarSteps(const FarSteps&) = delete;
  FarSteps& operator=(const FarSteps&) = delete;
  virtual ~FarSteps() = default;

  // Reads the particles and builds trees whose leaves have at most `leaf` particles, unless the particles are where
  // they were in the last run. Returns why there can be no far field, or "".
  virtual std::string prepare(const SumRequest& request, int leaf) = 0;
  // True if many particles have moved by more than some percent of the extent of all since the last draw_sample(): the
  // errors of that sample say little about them.
  virtual bool has_moved_far() = 0;
  // True if weights or factors have changed since the last draw_sample() by more than one common factor, up to `spread`
  // in the norms of any block of particles. Factors that are inputs of the distant pairs have no common factor.
  virtual bool have_values_changed(double spread) = 0;
  // Computes exact sums for `wanted` i drawn at random, or for all. Returns why no error can be measured, or "". Needs
  // no trees.
  virtual std::string draw_sample(const SumRequest& request, std::int64_t wanted) = 0;
  // Draws the weights and factors with which errors of interpolation are measured, and takes typical sums of |terms|
  // from the sample. Returns why no error can be measured, or "".
  virtual std::string begin_table(const SumRequest& request) = 0;
  // Makes the next compute() walk, also with the same setting: the limits depend on the table, too.
  virtual void forget_lists() = 0;
  // The cost of a run, in near pairs. Walks, but does not sum.
  virtual double cost(const FarSetting& setting) = 0;
  // Computes the totals, before finish(): of all i, or at least of the sampled i.
  virtual void compute(const SumRequest& request, const FarSetting& setting, Of of) = 0;
  // Computes totals by all pairs, in the precision of kernels(): of all chosen i, or of the sampled i alone.
  virtual void compute_all_pairs(const SumRequest& request, Of of) = 0;
  // Compares the totals of the sampled i with the exact sums: what the rms of |error| / sum of |terms| of all chosen i
  // is unlikely to exceed.
  virtual double error_of_sample() = 0;
  // True if all chosen i are in the sample.
  virtual bool sampled_all() const = 0;
  virtual void finish(const SumRequest& request) = 0;
  // An estimate from numbers of particles; after prepare() a better one.
  virtual FarMemory memory(const SumRequest& request, const FarSetting& setting) = 0;
  virtual const FarKernels& kernels() const = 0;
  // Of the last run. May wait for it.
  virtual FarStatistics statistics() = 0;
  virtual void reset_seconds() = 0;
  virtual void wait() {}  // for the work of the last run
};

}  // namespace nbcc
