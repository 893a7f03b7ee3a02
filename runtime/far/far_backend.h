// The memory and the device of a sum with a far field: HostFarBackend (host_far_backend.h) is the host, CudaFarBackend
// (runtime/cuda/far/cuda_far_backend.h) is one GPU. FarRun (far_run.h) decides what is made and when, and measures the
// time; a backend makes it. On a GPU work is launched in the stream of the run.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/far/far_images.h"
#include "runtime/far/far_norms.h"
#include "runtime/far/far_sums.h"
#include "runtime/far/far_walk.h"

namespace nbcc {

// Bytes of working memory: without the caller's arrays, with copies of those that are sent to a GPU.
struct FarMemory {
  std::string device;  // "host", "cuda:0"
  std::int64_t needed = 0, available = 0;
};

// The particles of a run; arrays in the memory of the backend.
struct FarParticles {
  std::int64_t ni = 0, nj = 0;
  double *position_of_i = nullptr, *position_of_j = nullptr;  // [particle][axis]; an i that is not chosen has NaN
  FarArray weights, factors;                                  // of j, of i
  std::int64_t chosen = 0;   // number of chosen i; after check_particles() of those with a finite position
  bool are_all = false;      // all i are chosen and have finite positions
  bool are_one_set = false;  // the chosen i are the j of the same numbers
  std::int64_t j_of_i = 0;   // the i-particle k and the j-particle k + j_of_i have the same index
  // No chosen i and j of one index are at different positions. Only if the text compares indices.
  bool indices_agree = false;
};

// One of `count` nearly equal ranges of positions in a tree: the work of one of several GPUs.
struct FarShare {
  std::int64_t index = 0, count = 1;
  std::int64_t begin(std::int64_t all) const { return all * index / count; }
  std::int64_t end(std::int64_t all) const { return all * (index + 1) / count; }
};

// The pairs of a walk.
struct FarCounts {
  double pairs = 0;              // of both kinds
  double near = 0, distant = 0;  // with the lanes of a GPU that have no particle
  double settled = 0;            // pairs of cells
  double points = 0;             // for FarCosts::point
};

// Times of a backend, as multiples of the time of a near pair.
struct FarCosts {
  double product = 0;   // a product with the value of a grid's polynomial
  double point = 0;     // the other work for a point of a grid
  double settled = 0;   // to find a pair of cells and list it
  double launches = 0;  // of a run
  double excluded = 0;  // for an i of a table of the pairs that a sum over all pairs excludes with one image
};

class FarBackend {
 public:
  using Seconds = FarStatistics::Seconds;

  // The kernel must outlive this object. Throws UsageError if the pipeline has no far field.
  FarBackend(const Kernel& kernel, Precision at_least, bool waits, bool may_be_relative = false)
      : source_(kernel.source), sums_(kernel, at_least, waits, may_be_relative) {}
  FarBackend(const FarBackend&) = delete;
  FarBackend& operator=(const FarBackend&) = delete;
  virtual ~FarBackend() = default;

  FarSums& sums() { return sums_; }
  const FarKernels& kernels() const { return sums_.kernels(); }
  // Of several backends, which have built the same trees, this one makes the lists and sums of these positions of i,
  // and goes up from these positions of j.
  const FarShare& share() const { return share_; }
  // The stream in which this backend works if it is one of several.
  virtual void* own_stream() { return nullptr; }

  // All later work is launched in this stream.
  virtual void set_stream(void* /*stream*/) {}

  // ---- particles: all other functions are about those of the last reserve_particles() ----
  // Makes room for the particles. A GPU also gets the caller's inputs.
  virtual void reserve_particles(const SumRequest& request) = 0;
  // The request with its inputs in the memory of the backend.
  virtual SumRequest with_inputs(const SumRequest& request) const { return request; }
  virtual const double* send_centres(std::span<const double> centres) { return centres.data(); }
  // Periodic sums call these two when the particles' arrays are filled. extents() finds the least and the largest
  // component of all finite positions along each direction; move_to_cell() moves all particles into the cell. `shifts`:
  // of the near images.
  virtual std::vector<OpenExtent> extents(std::span<const CellVector> directions) = 0;
  virtual void move_to_cell(const PeriodicCell& cell, const std::vector<CellVector>& shifts) = 0;
  // Call when the particles' arrays are filled. Returns why there can be no far field, or "".
  virtual std::string check_particles() = 0;
  static constexpr std::string_view kNoFiniteI = "no i has a finite position";
  const FarParticles& particles() const { return particles_; }
  virtual std::vector<std::int64_t> chosen_i() const = 0;  // empty: all i
  // [particle][component], on the host.
  virtual std::vector<double> rows(const FarArray& columns, int components,
                                   std::span<const std::int64_t> particles) = 0;

  // ---- trees ----
  virtual bool are_in_trees() = 0;  // true if the trees were built of the particles where they are now
  // one_tree: the tree of j is that of i, too. False: a j has a position that is not finite.
  virtual bool build_trees(bool one_tree, int leaf) = 0;
  virtual void split_trees(int leaf) = 0;  // again, into cells with at most `leaf` particles
  bool one_tree() const { return one_tree_; }
  virtual std::vector<int> cell_sizes(bool of_i) const = 0;  // FarCell::size of some cell, ascending
  // Keeps the order of the particles in the trees, and returns the norms of weights and of factors in kept orders.
  virtual void keep_orders() = 0;
  virtual std::array<std::vector<FarNorms>, 2> norms() = 0;

  // ---- lists ----
  virtual FarCosts costs() const = 0;
  virtual FarCounts count_pairs(int order, const FarLimits& limits) = 0;  // infinite: lists would be too long
  // `sampled`: the i that need sums; empty: all. A backend for which sums_sample_alone() is false ignores them.
  virtual FarCounts make_lists(int order, const FarLimits& limits, std::span<const std::int64_t> sampled) = 0;
  // Excluded pairs do not act in near lists, with any image. Finds the pairs of i of the lists that are therefore to be
  // corrected: those that act as parts of distant pairs are to be taken out; of a periodic sum, which excludes the
  // nearest image of each pair, others are to be added again. Null: nothing is excluded.
  virtual void find_corrections(const PairRows* excluded) = 0;
  virtual bool sums_sample_alone() const = 0;
  // About `wanted` of the sampled i, in cells all over the tree: their sums need fewer grids than those of as many i
  // drawn at random. Empty: there are no fewer.
  virtual std::vector<std::int64_t> some_of(std::span<const std::int64_t> /*sampled*/, std::int64_t /*wanted*/) {
    return {};
  }

  // ---- sums ----
  enum class Sums : bool { OfSample, Totals };
  // Makes room for `components` columns of all i. Totals of an i without a finite position are NaN after go_down().
  virtual FarArray reserve_sums(Sums which, int components) = 0;
  // Each of several backends goes up to the grids on which only its share of j acts. finish_up() does the rest when all
  // have called go_up().
  virtual void go_up(int order) = 0;
  virtual void finish_up() {}
  virtual void sum_near(const SumRequest& request, const FarArray& totals, bool lists_are_new) = 0;
  virtual void sum_distant(const SumRequest& request, bool lists_are_new) = 0;
  // Sums of near and distant pairs -> totals. Each of several backends keeps its own until take_totals().
  virtual void go_down(int order, const FarArray& totals) = 0;
  // Adds the terms that find_corrections() has found.
  virtual void add_corrections(const SumRequest& request, const FarArray& totals) = 0;
  // On the first of several backends, when all have ended their work: puts the totals of all into its memory. The
  // others may write theirs again when the host has waited for this backend.
  virtual void take_totals(const FarArray& /*totals*/) {}

  // The far images of a periodic sum act through the points of the cell. collect_far_images() computes the sums at
  // these points from the weights of all j, once for these particles; add_far_images() adds to totals[output][i] what
  // they give for the sampled i, or for all chosen i.
  virtual void collect_far_images(std::shared_ptr<const FarOperator> through) = 0;
  virtual void add_far_images(const FarArray& totals, std::span<const std::int64_t> sampled) = 0;

  // The sums of a run in parts: memory of `count` doubles that are 0, and an addition in the order of the stream.
  virtual std::shared_ptr<double> zeros(std::int64_t count) = 0;  // waits
  virtual void add(double* to, const double* from, std::int64_t count) = 0;

  // An estimate from numbers of particles; after build_trees() a better one.
  virtual FarMemory memory(const SumRequest& request, const FarSetting& setting) = 0;
  virtual bool holds(const ArrayView&) const { return false; }  // in the memory of this GPU alone
  virtual void wait(void* /*stream*/) {}

  // Adds the time from the begin to the end of `body` on the device. Call only one at a time.
  template <typename Body>
  void timed(double Seconds::* stage, const Body& body) {
    mark(2 * stages_.size());
    body();
    mark(2 * stages_.size() + 1);
    stages_.push_back(stage);
  }
  // Call after wait().
  Seconds seconds() {
    Seconds all;
    for (std::size_t k = 0; k < stages_.size(); ++k) all.*stages_[k] += seconds_between(2 * k, 2 * k + 1);
    return all;
  }
  bool has_seconds() const { return !stages_.empty(); }
  void reset_seconds() { stages_.clear(); }

 protected:
  // positions[particle][axis] as the places of a periodic sum.
  ArrayView places(double* positions, std::int64_t count) const {
    return {positions, Element::Double, count, 8 * std::int64_t(kernels().axes), 8};
  }
  // The k-th mark is the time at which the device has done all work so far.
  virtual void mark(std::size_t k) = 0;
  virtual double seconds_between(std::size_t first, std::size_t second) = 0;

  const KernelSource& source_;
  FarSums sums_;
  FarParticles particles_;
  bool one_tree_ = false;
  FarShare share_;

 private:
  std::vector<double Seconds::*> stages_;
};

}  // namespace nbcc
