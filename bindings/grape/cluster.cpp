// Computes forces and neighbours from j-particles, a time and i-particles; the sums run in a background thread. Entry
// point: Cluster. The names of GRAPE's interface and the cluster numbers are in g6.cpp.
//
// The device computes the prediction, the sums and the nearest neighbours; the host makes the neighbour lists.
#include "bindings/grape/cluster.h"

#include <algorithm>
#include <utility>

namespace nbcc::g6 {

using grape::usage;

Cluster::Cluster(Device device, nbcc_precision precision)
    : device_(std::move(device)),
      j_(device_),
      pipeline_(grape::pipeline_of(device_, "g6", precision)),
      sum_(pipeline_) {
  // A block step with more i-particles than pipes needs several sums at the same time, which share the packed j.
  sum_.keep_j();
}

void Cluster::forget() {
  work_.forget();
  is_calculated_ = false;
}

void Cluster::set_j(int address, const JParticle& particle) {
  work_.settle();
  if (address < 0) throw usage("address " + std::to_string(address) + " of a j-particle: addresses begin at 0");
  j_.set(std::size_t(address), particle);
}

void Cluster::set_time(double time) {
  work_.settle();
  time_ = time;
}

void Cluster::bind_i() {
  const std::int64_t ni = std::int64_t(i_.size());
  constexpr std::int64_t in = sizeof(IParticle), out = sizeof(Result);
  results_.resize(i_.size());
  sum_.bind("xi", view(i_[0].x.data(), ni, in)).bind("vi", view(i_[0].v.data(), ni, in));
  sum_.bind("idi", view(&i_[0].index, ni, in));
  sum_.bind("acc", view(results_[0].acc.data(), ni, out)).bind("jerk", view(results_[0].jerk.data(), ni, out));
  sum_.bind("pot", view(&results_[0].pot, ni, out)).bind("near", view(&results_[0].near, ni, out));
}

void Cluster::start(int nj, double eps2, std::vector<IParticle> i) noexcept {
  try {
    forget();
    i_ = std::move(i);
    results_.clear();
    has_lists_ = false;
    if (nj < 0) throw usage("nj is " + std::to_string(nj));
    if (const std::size_t set = j_.leading(); set < std::size_t(nj)) {
      throw usage("nj is " + std::to_string(nj) + ", but no j-particle was set at address " + std::to_string(set));
    }
    sum_.set("eps2", eps2);
    work_.start([this, nj] {
      // Bind again after a prediction: the addresses are unchanged, but the contents have changed.
      if (j_.predict(time_, std::size_t(nj))) j_.bind_to(sum_);
      if (i_.empty()) return;
      bind_i();
      sum_.run();
    });
    is_calculated_ = true;
  } catch (...) {
    work_.fail(std::current_exception());
  }
}

void Cluster::fail(std::exception_ptr why) {
  forget();
  work_.fail(std::move(why));
}

// Waits for the sums; afterwards results_ has the results of the last start(). Throws if there was no start() or it
// failed.
void Cluster::check_calculated() {
  work_.check();
  if (!is_calculated_) throw usage("there is no calculation: call g6calc_firsthalf first");
}

std::vector<Force> Cluster::forces() {
  check_calculated();
  std::vector<Force> forces;
  forces.reserve(results_.size());
  for (const Result& r : results_) {
    forces.push_back({r.acc, r.jerk, r.pot, r.near < 0 ? -1 : j_.index(std::size_t(r.near))});
  }
  return forces;
}

const std::vector<std::vector<int>>& Cluster::neighbours() {
  check_calculated();
  if (has_lists_) return lists_;
  lists_.assign(i_.size(), {});
  const std::vector<Predicted> predicted = j_.predicted();
  for (std::size_t i = 0; i < i_.size(); ++i) {
    const IParticle& one = i_[i];
    for (std::size_t j = 0; j < predicted.size(); ++j) {
      const Vec3& x = predicted[j].x;
      const double dx = x[0] - one.x[0], dy = x[1] - one.x[1], dz = x[2] - one.x[2];
      const int index = j_.index(j);
      if (dx * dx + dy * dy + dz * dz <= one.h2 && index != one.index) lists_[i].push_back(index);
    }
    std::ranges::sort(lists_[i]);
  }
  has_lists_ = true;
  return lists_;
}

}  // namespace nbcc::g6
