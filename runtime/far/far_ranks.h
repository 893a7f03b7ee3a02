// Several processes that share a far field, each with its own j alone. The particles of all are divided by their
// positions; each process sums for the i of its domain, over its j and what it receives of the others. Each function is
// collective, except where it is said. Made by
// make_ranks() (ranks/make_ranks.h).
#pragma once
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/far/far_backend.h"
#include "runtime/sum/request/far_peers.h"

namespace nbcc {

// A hash that a double holds, so that processes can compare whether they have the same numbers.
inline double hash_of(std::span<const double> numbers) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const double number : numbers) hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 0x100000001b3 ^ hash >> 29;
  return double(hash >> 12);
}

class FarRanks {
 public:
  virtual ~FarRanks() = default;
  // Not collective. A backend of the domain of this process; this object must outlive it.
  virtual std::shared_ptr<FarBackend> make_backend(const Kernel& kernel, const Summation& summation,
                                                   Precision at_least) = 0;
  // Not collective. `peers` must outlive the run.
  virtual void begin_run(FarPeers& peers) = 0;
  // [process][number]. Throws Interrupted if the run of another process has ended.
  virtual std::vector<std::vector<double>> exchange(const std::vector<double>& mine) = 0;
  // The numbers of process 0, then of process 1, ...; any number of each.
  virtual std::vector<double> gather(std::span<const double> mine) = 0;

  // Sends the chosen i and the j to the processes in whose domains they are. Returns a request for those of this one;
  // it is valid until the next call. `cell`: of a periodic sum, whose particles are divided by their positions in it;
  // null: the sum is not periodic.
  virtual SumRequest move(const SumRequest& request, FarSums& sums, const PeriodicCell* cell) = 0;
  // totals[output][i of the domain] -> [output][i of the caller].
  virtual FarArray totals_of_caller(const FarArray& totals, int outputs) = 0;
  // exact[column][i]: the sums of the chosen i over all j of the request.
  using ExactSums =
      std::function<void(const SumRequest& request, std::span<const std::int64_t> chosen, const FarArray& exact)>;
  // For the sampled i of all processes, process after process: sums over the j of all, as FarSample::set_exact() takes
  // them; of a periodic sum over their near images. `request`: of move(); `sums`: over the j of this process, is called
  // for its own i and for those of others.
  virtual std::vector<double> exact_sums(const SumRequest& request, std::span<const std::int64_t> sampled, int columns,
                                         FarBackend& backend, const ExactSums& sums) = 0;

  // Of the caller's particles: keeps some positions and the norms of weights and factors; whether they have changed
  // since, as FarRun::has_moved_far() and have_values_changed(). The latter is collective, and the same for all; the
  // former two are not.
  virtual void keep() = 0;
  virtual bool has_moved_far(double share_of_radius, double share_of_particles) const = 0;
  virtual bool have_values_changed(double spread, bool keeps_scale) = 0;
  // Not collective. For users: what this process has of the j of the others.
  virtual std::string text() const = 0;

  // Over all processes.
  double sum(double mine) {
    double all = 0;
    for (const std::vector<double>& one : exchange({mine})) all += one[0];
    return all;
  }
  double largest(double mine) {
    double all = mine;
    for (const std::vector<double>& one : exchange({mine})) all = one[0] > all ? one[0] : all;
    return all;
  }
  bool any(bool mine) { return sum(mine ? 1 : 0) > 0; }
};

}  // namespace nbcc
