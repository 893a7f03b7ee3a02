// Implements GRAPE-6's C functions (names in nbcc_g6.h without an underscore) by calls of Cluster. Keeps the open
// clusters by number, and handles environment variables, arrays and return values.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/grape/cluster.h"
#include "bindings/grape/common.h"
#include "bindings/grape/nbcc_g6.h"

namespace nbcc::g6 {
namespace {

using namespace grape;

constexpr int kDefaultPipes = 48;

// The interface has no handles, so the clusters are global.
struct Clusters {
  std::mutex mutex;
  std::map<int, std::unique_ptr<Cluster>> open;
};

// Never destroyed, because a program may end without g6_close, and then the GPU driver may already be unloaded.
Clusters& clusters() {
  static Clusters* const all = new Clusters;
  return *all;
}

// Calls the function and returns 0, or -1 if it throws: the return value of most functions of the interface.
template <typename Function>
int guarded(Function function) noexcept {
  return succeeds(function) ? 0 : -1;
}

Error not_open(int id) { return usage("cluster " + std::to_string(id) + " is not open"); }

Cluster& cluster(int id) {
  const std::lock_guard lock(clusters().mutex);
  const auto found = clusters().open.find(id);
  if (found == clusters().open.end()) throw not_open(id);
  return *found->second;
}

void open_cluster(int id) {
  if (id < 0) throw usage("cluster " + std::to_string(id) + ": clusters are numbered from 0");
  const std::lock_guard lock(clusters().mutex);
  if (clusters().open.contains(id)) return;
  clusters().open[id] = std::make_unique<Cluster>(Device(device_of(id)), precision());
}

void close_cluster(int id) {
  std::map<int, std::unique_ptr<Cluster>>::node_type
      closed;  // destroyed after the lock is released, because that may take long
  const std::lock_guard lock(clusters().mutex);
  closed = clusters().open.extract(id);
  if (closed.empty()) throw not_open(id);
}

Vec3 vec3(const double from[3]) { return {from[0], from[1], from[2]}; }

std::vector<IParticle> i_particles(int ni, const int index[], const double xi[][3], const double vi[][3],
                                   const double h2[]) {
  check_count("ni", ni);
  check_given("index", index, ni);
  check_given("xi", xi, ni);
  check_given("vi", vi, ni);
  check_given("h2", h2, ni);
  std::vector<IParticle> particles;
  particles.reserve(std::size_t(ni));
  for (int i = 0; i < ni; ++i) particles.push_back({index[i], h2[i], vec3(xi[i]), vec3(vi[i])});
  return particles;
}

// Copies the results to the caller's arrays. nearest may be null.
int results(int id, int ni, double acc[][3], double jerk[][3], double pot[], int nearest[]) {
  const int status = guarded([&] {
    check_count("ni", ni);
    check_given("acc", acc, ni);
    check_given("jerk", jerk, ni);
    check_given("pot", pot, ni);
    const std::vector<Force> forces = cluster(id).forces();
    if (forces.size() != std::size_t(ni)) {
      throw usage("ni is " + std::to_string(ni) + ", but g6calc_firsthalf was given " + std::to_string(forces.size()));
    }
    for (int i = 0; i < ni; ++i) {
      const Force& force = forces[std::size_t(i)];
      std::ranges::copy(force.acc, acc[i]);
      std::ranges::copy(force.jerk, jerk[i]);
      pot[i] = force.pot;
      if (nearest) nearest[i] = force.nearest;
    }
  });
  if (status == 0) return 0;
  // NaN, because many programs ignore the return value.
  for (int i = 0; i < ni; ++i) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (acc) std::fill_n(acc[i], 3, nan);
    if (jerk) std::fill_n(jerk[i], 3, nan);
    if (pot) pot[i] = nan;
    if (nearest) nearest[i] = -1;
  }
  return status;
}

}  // namespace
}  // namespace nbcc::g6

using namespace nbcc::g6;
using namespace nbcc::grape;

extern "C" {

const char* nbcc_g6_last_error(void) { return last_error.c_str(); }

int g6_open(int clusterid) {
  return guarded([&] { open_cluster(clusterid); });
}

int g6_close(int clusterid) {
  return guarded([&] { close_cluster(clusterid); });
}

int g6_reset(int clusterid) {
  return guarded([&] { cluster(clusterid).forget(); });
}

int g6_reset_fofpga(int clusterid) { return g6_reset(clusterid); }

int g6_npipes(void) { return count_of("NBCC_G6_PIPES", kDefaultPipes); }

int g6_set_tunit(int) { return 0; }
int g6_set_xunit(int) { return 0; }
int g6_set_neighbour_list_sort_mode(int) { return 0; }
int g6_initialize_jp_buffer(int, int) { return 0; }
int g6_flush_jp_buffer(int) { return 0; }
int g6_setup_njdata(int, int) { return 0; }

int g6_set_j_particle(int clusterid, int address, int index, double tj, double, double mass, const double k18[3],
                      const double j6[3], const double a2[3], const double v[3], const double x[3]) {
  return guarded([&] {
    for (const double* const vector : {k18, j6, a2, v, x}) {
      check_given("a vector of the j-particle", vector);
    }
    cluster(clusterid).set_j(address, {true, index, tj, mass, vec3(k18), vec3(j6), vec3(a2), vec3(v), vec3(x)});
  });
}

int g6_set_ti(int clusterid, double ti) {
  return guarded([&] { cluster(clusterid).set_time(ti); });
}

void g6calc_firsthalf(int clusterid, int nj, int ni, const int index[], const double xi[][3], const double vi[][3],
                      const double[][3], const double[][3], const double[], double eps2, const double h2[]) {
  guarded([&] {
    Cluster& calculating = cluster(clusterid);
    // Discard earlier results first, so that they are not returned if a later step fails.
    calculating.forget();
    try {
      calculating.start(nj, eps2, i_particles(ni, index, xi, vi, h2));
    } catch (...) {
      calculating.fail(std::current_exception());
      throw;
    }
  });
}

int g6calc_lasthalf(int clusterid, int, int ni, const int[], const double[][3], const double[][3], double,
                    const double[], double acc[][3], double jerk[][3], double pot[]) {
  return results(clusterid, ni, acc, jerk, pot, nullptr);
}

int g6calc_lasthalf2(int clusterid, int, int ni, const int[], const double[][3], const double[][3], double,
                     const double[], double acc[][3], double jerk[][3], double pot[], int nnbindex[]) {
  return results(clusterid, ni, acc, jerk, pot, nnbindex);
}

int g6_read_neighbour_list(int clusterid) {
  return guarded([&] { cluster(clusterid).neighbours(); });
}

int g6_get_neighbour_list(int clusterid, int ipipe, int maxlength, int* nblen, int nbl[]) {
  bool is_cut = false;
  const int status = guarded([&] {
    check_given("nblen", nblen);
    check_given("nbl", nbl, maxlength);
    const std::vector<std::vector<int>>& lists = cluster(clusterid).neighbours();
    if (ipipe < 0 || std::size_t(ipipe) >= lists.size()) {
      throw usage("ipipe is " + std::to_string(ipipe) + ", but g6calc_firsthalf was given " +
                  std::to_string(lists.size()) + " particles");
    }
    const std::vector<int>& list = lists[std::size_t(ipipe)];
    const std::size_t capacity = std::size_t(std::max(maxlength, 0));
    std::copy_n(list.begin(), std::min(capacity, list.size()), nbl);
    *nblen = int(list.size());
    is_cut = list.size() > capacity;
  });
  return is_cut ? 1 : status;
}
}
