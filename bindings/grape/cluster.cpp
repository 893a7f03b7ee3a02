// Turns j-particles, a time and i-particles into forces and neighbours, the sums in a thread of their own. Its one door
// is Cluster. It knows no names of GRAPE's interface and no cluster numbers, which are g6.cpp's.
//
// Prediction and neighbour lists are made by the host; sums, with the nearest neighbour, by the device.
#include "bindings/grape/cluster.h"

#include <algorithm>
#include <utility>

namespace nbcc::g6 {
namespace {

Error usage(const std::string& message) { return Error(NBCC_ERROR_USAGE, message); }

}  // namespace

Cluster::Cluster(const std::string& device, nbcc_precision precision)
    : device_(device),
      pipeline_(Pipeline::from_text(device_, kPipelineText, "g6.pipe", {.precision = precision})),
      sum_(pipeline_) {
  // A block of time steps larger than the pipes takes several sums at one time.
  sum_.keep_j();
}

Cluster::~Cluster() { settle(); }

// From here on nothing is under way. A failure is kept for whoever asks for the forces.
void Cluster::settle() {
  if (!work_.valid()) return;
  try {
    work_.get();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void Cluster::forget() {
  settle();
  failure_ = nullptr;
  is_calculated_ = false;
}

void Cluster::set_j(int address, const JParticle& particle) {
  settle();
  if (address < 0) throw usage("address " + std::to_string(address) + " of a j-particle: addresses begin at 0");
  if (std::size_t(address) >= j_.size()) j_.resize(std::size_t(address) + 1);
  j_[std::size_t(address)] = particle;
  is_predicted_ = false;
}

void Cluster::set_time(double time) {
  settle();
  if (time != time_) is_predicted_ = false;
  time_ = time;
}

void Cluster::predict(int nj) {
  if (is_predicted_ && predicted_.size() == std::size_t(nj)) return;
  predicted_.resize(std::size_t(nj));
  for (std::size_t j = 0; j < predicted_.size(); ++j) {
    const JParticle& from = j_[j];
    const double dt = time_ - from.time;
    Predicted& to = predicted_[j];
    to.index = from.index;
    to.mass = from.mass;
    for (std::size_t c = 0; c < 3; ++c) {
      to.x[c] = from.x[c] + dt * (from.v[c] + dt * (from.a2[c] + dt * (from.j6[c] + 0.75 * dt * from.k18[c])));
      to.v[c] = from.v[c] + dt * (2 * from.a2[c] + 3 * dt * (from.j6[c] + dt * from.k18[c]));
    }
  }
  // A bound range has an address, also when it is empty.
  static constexpr Predicted none{};
  const Predicted* const first = predicted_.empty() ? &none : predicted_.data();
  constexpr std::int64_t stride = sizeof(Predicted);
  sum_.bind("xj", view(first->x.data(), nj, stride)).bind("vj", view(first->v.data(), nj, stride));
  sum_.bind("mj", view(&first->mass, nj, stride)).bind("idj", view(&first->index, nj, stride));
  is_predicted_ = true;
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
    for (int j = 0; j < nj; ++j) {
      if (std::size_t(j) >= j_.size() || !j_[std::size_t(j)].is_set) {
        throw usage("nj is " + std::to_string(nj) + ", but no j-particle was set at address " + std::to_string(j));
      }
    }
    sum_.set("eps2", eps2);
    work_ = std::async(std::launch::async, [this, nj] {
      predict(nj);
      if (i_.empty()) return;
      bind_i();
      sum_.run();
    });
    is_calculated_ = true;
  } catch (...) {
    failure_ = std::current_exception();
  }
}

// From here on results_ are those of the last start().
void Cluster::check_calculated() {
  settle();
  if (failure_) std::rethrow_exception(failure_);
  if (!is_calculated_) throw usage("there is no calculation: call g6calc_firsthalf first");
}

std::vector<Force> Cluster::forces() {
  check_calculated();
  std::vector<Force> forces;
  forces.reserve(results_.size());
  for (const Result& r : results_) {
    forces.push_back({r.acc, r.jerk, r.pot, r.near < 0 ? -1 : predicted_[std::size_t(r.near)].index});
  }
  return forces;
}

const std::vector<std::vector<int>>& Cluster::neighbours() {
  check_calculated();
  if (has_lists_) return lists_;
  lists_.assign(i_.size(), {});
  for (std::size_t i = 0; i < i_.size(); ++i) {
    const IParticle& one = i_[i];
    for (const Predicted& other : predicted_) {
      const double dx = other.x[0] - one.x[0], dy = other.x[1] - one.x[1], dz = other.x[2] - one.x[2];
      if (dx * dx + dy * dy + dz * dz <= one.h2 && other.index != one.index) lists_[i].push_back(other.index);
    }
    std::ranges::sort(lists_[i]);
  }
  has_lists_ = true;
  return lists_;
}

}  // namespace nbcc::g6
