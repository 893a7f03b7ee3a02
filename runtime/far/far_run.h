// The steps of a sum with a far field, and what is kept from run to run: on the host, on a GPU, or on several GPUs.
//
//   particles -> trees -> lists -> weights go up -> sums over lists: near, distant -> sums go down -> finish()
//
// Several GPUs get the bits of one GPU. Each GPU reads all particles and builds the same trees. The particles, in the
// order of the tree, are divided into one range for each GPU, which sends the weights of its range up, makes the lists
// of its i and sums over them:
//
//   each GPU   particles, trees | lists, own weights go up, near | weights of others, distant, down |
//   first GPU                                                                                       | totals, finish()
//
// At a bar the threads of the host have met; at the last one all GPUs have ended, too. A failure of one GPU ends the
// run on all.
//
// far_field.cpp decides with which numbers. Tested by tests/numeric/far_field_test.cpp and cuda_far_field_test.cpp.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/far/far_backend.h"
#include "runtime/far/far_ranks.h"
#include "runtime/far/far_sample.h"
#include "runtime/far/far_table.h"

namespace nbcc {

class FarRun {
 public:
  // Numbers of i whose exact sums are computed. Exact periodic sums cost more: all j act at each near image.
  static constexpr std::int64_t kSampled = 256, kSampledWithImages = 64;
  // On the host, to tolerances whose runs take little time.
  static constexpr std::int64_t kSampledWithImagesOnHost = 32;
  static constexpr double kLargeTolerance = 1e-4;
  // Exact sums of this many pairs take little time.
  static constexpr double kFewExactPairs = 1 << 26;
  static constexpr double kFarMove = 0.02, kManyMoved = 0.05;  // of the radius of all; of the number of particles
  // Tried: some of the sampled i, for trials of settings; where no fewer are needed, the sampled i.
  enum class Of : char { All, Sampled, Tried };

  // Both must outlive this object. Throws UsageError if the pipeline has no far field.
  // `tolerance`: of the far images of a periodic sum. `orders`: of the grids that runs will probably have. `ranks`:
  // with it all functions are collective, unless they are const, and requests are those of FarRanks::move(), except of
  // move() and finish().
  FarRun(const Kernel& kernel, const Summation& summation, Precision at_least, double tolerance,
         std::span<const int> orders = {}, FarRanks* ranks = nullptr);

  // With ranks: the request for the particles of this process.
  SumRequest move(const SumRequest& request);

  // Reads the particles and builds trees whose leaves have at most `leaf` particles, unless the particles are where
  // they were in the last run. Returns why there can be no far field, or "".
  std::string prepare(const SumRequest& request, int leaf);
  // After prepare(): False if no chosen i has a finite position.
  bool has_i() const { return members_.front().backend->particles().chosen > 0; }
  // True if many particles have moved by more than some percent of the extent of all since the last draw_sample(): the
  // errors of that sample say little about them.
  bool has_moved_far();
  // True if weights or factors have changed since the last draw_sample() by more than one common factor, up to `spread`
  // in the norms of any block of particles. Factors that are inputs of the distant pairs have no common factor.
  bool have_values_changed(double spread);
  // Computes exact sums for `wanted` i drawn at random, or for all. Returns why no error can be measured, or "". Needs
  // no trees. In large periodic sums on the host the near images up to half the reach act one by one, all others
  // through another, more exact operator; of those, the sums of |terms| are estimated from drawn j.
  std::string draw_sample(const SumRequest& request, std::int64_t wanted);
  // Draws the weights and factors with which errors of interpolation are measured, and takes typical sums of |terms|
  // from the sample. Returns why no error can be measured, or "".
  std::string begin_table(const SumRequest& request);
  // Makes the next compute() walk, also with the same setting: the limits depend on the table, too.
  void forget_lists();
  // The cost of a run, in near pairs. Walks, but does not sum.
  double cost(const FarSetting& setting);
  // Computes the totals, before finish(): of all i, or at least of the sampled or tried i.
  void compute(const SumRequest& request, const FarSetting& setting, Of of);
  // Computes totals by all pairs, in the precision of kernels(): of all chosen i, or of the sampled i alone.
  void compute_all_pairs(const SumRequest& request, Of of);
  // Compares the totals of the sampled i with the exact sums: what the rms of |error| / sum of |terms| of all chosen i
  // is unlikely to exceed. `of`: that of compute(); Of::Tried: from the tried i alone.
  double error_of_sample(Of of = Of::Sampled);
  // True if trials need fewer i than the sample has.
  bool tries_some() const { return sample_.some().size() < sample_.particles().size(); }
  // True if all chosen i are in the sample.
  bool sampled_all() const { return sample_.is_complete(); }
  // Adds the totals to those of the earlier parts of the run, which become the totals. `sums`: null in the first part.
  void add_part(const SumRequest& request, std::shared_ptr<double>& sums);
  void finish(const SumRequest& request);
  // An estimate from numbers of particles; after prepare() a better one. With ranks: the most of a process.
  FarMemory memory(const SumRequest& request, const FarSetting& setting);
  // How many times each j acts, directly or not, in a sum over all pairs: once for each near image.
  double images() const { return images_ ? images_->count() : 1; }
  // The same of the exact sums of a sample.
  double images_of_sample(std::int64_t nj) const;
  // The cost of the tables of excluded pairs of the last such sums, in near pairs.
  double cost_of_exclusions() {
    return double(excluded_images_) * double(kept_.ni) * first().backend->costs().excluded;
  }
  std::int64_t least_sampled() const {
    if (!images_) return kSampled;
    const bool takes_few = tolerance_ >= kLargeTolerance && members_.front().backend->sums_sample_alone();
    return takes_few ? kSampledWithImagesOnHost : kSampledWithImages;
  }
  bool is_of_cell(std::size_t param) const { return images_ && images_->is_of_cell(param); }
  bool is_periodic() const { return images_ != nullptr; }
  const FarImages* far_images() const { return images_.get(); }  // null: the sum is not periodic
  const FarKernels& kernels() const { return members_.front().backend->kernels(); }
  // Of the last run, with the seconds of the first GPU. May wait for it.
  FarStatistics statistics();
  void reset_seconds();
  void wait();  // for the work of the last run

 private:
  // What lists were made for.
  struct Made {
    FarSetting setting;
    Of of = Of::All;
    std::int64_t exclusions = 0;  // PairRows::number; 0: none
    bool operator==(const Made&) const = default;
  };
  // A backend, and what it has made of the particles. Nothing: it has none for these trees and particles.
  struct Member {
    explicit Member(std::shared_ptr<FarBackend> of) : backend(std::move(of)) {}
    std::shared_ptr<FarBackend> backend;
    int leaf = 0;  // of the trees; 0: there are none of these particles
    std::optional<Made> lists;
    double pairs = 0;                            // of the lists
    bool lists_are_new = true;                   // the sums have other lists
    std::shared_ptr<const FarOperator> through;  // of the lists, whose shifts are those of its cell
    std::optional<int> up_order;
  };

  // What was kept when the sample was drawn.
  struct Kept {
    std::array<std::vector<double>, 2> positions;  // of some j, of some i: [k][axis]
    std::int64_t ni = 0, nj = 0;
    std::array<std::vector<FarNorms>, 2> norms;  // of weights, of factors
    bool are_here = false;                       // no particle has moved since
  };

  Member& first() { return members_.front(); }
  bool is_shared() const { return members_.size() > 1; }
  SumRequest of_member(Member& member, const SumRequest& request) const;
  void on_each(const SumRequest& request, const std::function<void(Member&, const SumRequest&)>& body);
  void wait_for_caller(const SumRequest& request);
  std::string prepare(Member& member, const SumRequest& request, int leaf);
  bool move_to_cell(Member& member, const SumRequest& request);
  void add_far_images(const FarArray& totals, Of of);
  std::vector<double> exact_sums(const SumRequest& request);
  std::vector<double> exact_sums(const SumRequest& request, const std::shared_ptr<const FarOperator>& reference);
  std::vector<double> exact_sums_of_ranks(const SumRequest& request);
  std::vector<std::int64_t> draw_j();
  static void set_leaf(Member& member, int leaf);
  std::array<std::vector<double>, 2> some_positions();
  FarLimits limits(const FarSetting& setting);
  void begin(Member& member, const SumRequest& request, const Made& made, const FarLimits& limits);
  void end(Member& member, const SumRequest& request, int order);
  void compute_all_pairs(Member& member, const SumRequest& request);
  void exclude_nearest_images(const SumRequest& request, Of of);

  bool any(bool mine) { return ranks_ ? ranks_->any(mine) : mine; }

  const KernelSource& source_;
  const Summation& summation_;
  const double tolerance_;
  FarRanks* const ranks_;  // null: one process has all particles
  std::vector<Member> members_;
  FarTable table_;
  FarSample sample_;
  std::unique_ptr<FarImages> images_;  // of a periodic sum
  std::mutex images_mutex_;
  Kept kept_;
  FarArray totals_;  // [output][i], in the memory of the first backend
  // PairRows::number whose nearest images FarSums excludes for all i, of the particles where they are now; 0: none.
  std::int64_t exclusions_of_images_ = 0;
  std::int64_t excluded_images_ = 0;  // with which some pair is excluded in sums over all pairs
  void* stream_ = nullptr;            // of the last run
  FarStatistics statistics_;
};

}  // namespace nbcc
