// Computes forces from j- and i-particles in a background thread. Entry point: Board. The names of GRAPE's interface
// and the board numbers are in g5.cpp.
#include "bindings/grape/board.h"

#include <algorithm>
#include <limits>

namespace nbcc::g5 {
namespace {

using grape::check_count, grape::check_given, grape::usage;

// Grows an array. Callers pass NaN as `unset`, so that forces from j-particles that were never written are NaN.
template <typename T>
void grow_to(std::vector<T>& array, std::size_t size, const T& unset) {
  if (array.size() < size) array.resize(size, unset);
}

}  // namespace

Board::Board(const Pipeline& gravity, int capacity) : sum_(gravity), capacity_(capacity) { sum_.keep_j(); }

void Board::setting(Setting which, const std::function<void()>& set) {
  work_.settle();
  try {
    set();
    errors_[which].clear();
  } catch (const std::exception& error) {
    errors_[which] = error.what();
    throw;
  }
}

void Board::check_addresses(int address, int count) const {
  check_count("nj", count);
  if (address < 0) throw usage("address " + std::to_string(address) + ": addresses of j-particles begin at 0");
  if (count > capacity_ - std::min(address, capacity_)) {
    throw usage(std::to_string(count) + " j-particles from address " + std::to_string(address) +
                " on: there is room for " + std::to_string(capacity_));
  }
}

void Board::set_positions(int address, int count, const double x[][3]) {
  setting(Positions, [&] {
    check_addresses(address, count);
    check_given("xj", x, count);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const std::size_t first = std::size_t(address);
    grow_to(x_, first + std::size_t(count), {nan, nan, nan});
    for (std::size_t k = 0; k < std::size_t(count); ++k) x_[first + k] = {x[k][0], x[k][1], x[k][2]};
    is_j_bound_ = false;
  });
}

void Board::set_masses(int address, int count, const double mass[]) {
  setting(Masses, [&] {
    check_addresses(address, count);
    check_given("mj", mass, count);
    const std::size_t first = std::size_t(address);
    grow_to(mass_, first + std::size_t(count), std::numeric_limits<double>::quiet_NaN());
    std::copy_n(mass, count, mass_.begin() + std::ptrdiff_t(first));
    is_j_bound_ = false;
  });
}

void Board::set_count(int nj) {
  setting(Count, [&] {
    check_addresses(0, nj);
    if (nj != nj_) is_j_bound_ = false;
    nj_ = nj;
  });
}

void Board::set_softening(double eps2) {
  setting(Softening, [&] {
    eps2_ = eps2;
    eps2s_.clear();
  });
}

void Board::set_softenings(int ni, const double eps2[]) {
  setting(Softening, [&] {
    check_count("ni", ni);
    check_given("the array of softenings", eps2, ni);
    eps2s_.assign(eps2, eps2 + ni);
  });
}

void Board::set_i(int ni, const double x[][3]) {
  setting(Targets, [&] {
    is_started_ = false;
    check_count("ni", ni);
    check_given("xi", x, ni);
    i_.resize(std::size_t(ni));
    for (std::size_t k = 0; k < i_.size(); ++k) i_[k].x = {x[k][0], x[k][1], x[k][2]};
  });
}

// Checks the settings, and fills i_ and forces_ for the sum.
void Board::prepare() {
  for (const std::string& message : errors_) {
    if (!message.empty()) throw usage(message);
  }
  if (nj_ < 0) throw usage("the number of j-particles is not known: call g5_set_n first");
  const std::size_t nj = std::size_t(nj_), set = std::min(x_.size(), mass_.size());
  if (nj > set) {
    throw usage("n is " + std::to_string(nj) + ", but positions and masses were set of " + std::to_string(set) +
                " j-particles");
  }
  if (!eps2s_.empty() && eps2s_.size() < i_.size()) {
    throw usage("softenings were set of " + std::to_string(eps2s_.size()) + " i-particles, but there are " +
                std::to_string(i_.size()));
  }
  for (std::size_t k = 0; k < i_.size(); ++k) i_[k].eps2 = eps2s_.empty() ? eps2_ : eps2s_[k];
  forces_.assign(i_.size(), {});
}

void Board::start() noexcept {
  try {
    work_.forget();
    is_started_ = false;
    prepare();
    is_started_ = true;
    if (i_.empty()) return;
    work_.start([this] {
      if (!is_j_bound_) {
        // A bound array must have an address, even if it is empty.
        static constexpr double none = 0;
        sum_.bind("xj", view(nj_ > 0 ? x_.front().data() : &none, nj_, sizeof(Vec3)));
        sum_.bind("mj", view(nj_ > 0 ? mass_.data() : &none, nj_));
        is_j_bound_ = true;
      }
      const std::int64_t ni = std::int64_t(i_.size());
      sum_.bind("xi", view(i_[0].x.data(), ni, sizeof(IParticle)));
      sum_.bind("epsi2", view(&i_[0].eps2, ni, sizeof(IParticle)));
      sum_.bind("acc", view(forces_[0].acc.data(), ni, sizeof(Force)));
      sum_.bind("pot", view(&forces_[0].pot, ni, sizeof(Force)));
      sum_.run();
    });
  } catch (...) {
    work_.fail(std::current_exception());
  }
}

std::span<const Force> Board::forces(int ni) {
  work_.check();
  if (!is_started_) throw usage("there are no forces of these i-particles: call g5_run first");
  check_count("ni", ni);
  if (std::size_t(ni) > forces_.size()) {
    throw usage("ni is " + std::to_string(ni) + ", but g5_set_xi was given " + std::to_string(forces_.size()));
  }
  return std::span(forces_).first(std::size_t(ni));
}

}  // namespace nbcc::g5
