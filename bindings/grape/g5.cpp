// Implements GRAPE-5's C functions (names in nbcc_g5.h without an underscore) by calls of Board. Keeps the open boards
// by number, and handles environment variables and failures.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/grape/board.h"
#include "bindings/grape/common.h"
#include "bindings/grape/nbcc_g5.h"

namespace nbcc::g5 {
namespace {

using namespace grape;

constexpr int kDefaultPipes = 4096, kDefaultCapacity = 1 << 20;

int capacity() { return count_of("NBCC_G5_JMEMSIZE", kDefaultCapacity); }

// g5.pipe on one device; boards on one device share it.
struct Gravity {
  explicit Gravity(const std::string& name, nbcc_precision precision)
      : device(name), pipeline(pipeline_of(device, "g5", precision)) {}
  Device device;
  Pipeline pipeline;
};

// The interface has no handles, so the boards are global.
struct Machine {
  std::mutex mutex;
  bool is_open = false, wants_cutoff = false;
  std::string why_closed;  // why g5_open failed, for messages
  nbcc_precision precision = NBCC_MIXED;
  int capacity = kDefaultCapacity;
  double eps2 = 0;
  std::array<double, 3> range{};
  std::map<std::string, std::unique_ptr<Gravity>> gravities;
  std::map<int, std::unique_ptr<Board>> boards;
};

// Never destroyed, because a program may end without g5_close, and then the GPU driver may already be unloaded.
Machine& machine() {
  static Machine* const one = new Machine;
  return *one;
}

// Returns board `id`; makes it if it does not exist. The caller holds the machine's lock.
Board& found_or_made(Machine& m, int id) {
  if (!m.is_open) throw usage("GRAPE-5 is not open: call g5_open first" + m.why_closed);
  if (m.wants_cutoff) throw usage("there are no cutoff tables: write the force as a pipeline");
  if (id < 0) throw usage("board " + std::to_string(id) + ": boards are numbered from 0");
  if (const auto found = m.boards.find(id); found != m.boards.end()) return *found->second;
  const std::string name = device_of(id);
  auto gravity = m.gravities.find(name);
  if (gravity == m.gravities.end()) {
    gravity = m.gravities.emplace(name, std::make_unique<Gravity>(name, m.precision)).first;
  }
  auto made = std::make_unique<Board>(gravity->second->pipeline, m.capacity);
  made->set_softening(m.eps2);
  return *m.boards.emplace(id, std::move(made)).first->second;
}

Board& board(int id) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  return found_or_made(m, id);
}

template <typename Function>
void on_board(int id, Function function) noexcept {
  succeeds([&] { function(board(id)); });
}

void open_machine() {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  if (m.is_open) return;
  last_error.clear();
  try {
    m.precision = grape::precision();
    m.capacity = capacity();
    m.is_open = true;
    found_or_made(m, 0);
    m.why_closed.clear();
  } catch (const std::exception& error) {
    m.is_open = false;
    m.why_closed = std::string(" (when it was called, it failed: ") + error.what() + ")";
    throw;
  }
}

void close_machine() {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  m.boards.clear();
  m.gravities.clear();
  m.is_open = m.wants_cutoff = false;
  m.eps2 = 0;
}

std::vector<double> squares(int count, const double* numbers) {
  std::vector<double> result(numbers, numbers + std::max(count, 0));
  for (double& number : result) number *= number;
  return result;
}

}  // namespace
}  // namespace nbcc::g5

using namespace nbcc::g5;
using namespace nbcc::grape;

extern "C" {

const char* nbcc_g5_last_error(void) { return last_error.c_str(); }

void g5_open(void) { succeeds(open_machine); }
void g5_close(void) { succeeds(close_machine); }

int g5_get_number_of_pipelines(void) { return count_of("NBCC_G5_PIPES", kDefaultPipes); }
int g5_get_number_of_pipelines_per_board(void) { return g5_get_number_of_pipelines(); }
int g5_get_number_of_real_pipelines(void) { return g5_get_number_of_pipelines(); }
int g5_get_number_of_boards(void) { return 1; }
int g5_get_firstcluster(void) { return 0; }
double g5_get_pcibus_freq(void) { return 1; }

int g5_get_jmemsize(void) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  return m.is_open ? m.capacity : capacity();
}

void g5_set_range(double xmin, double xmax, double mmin) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  m.range = {xmin, xmax, mmin};
}

void g5_get_range(double* xmin, double* xmax, double* mmin) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  if (xmin) *xmin = m.range[0];
  if (xmax) *xmax = m.range[1];
  if (mmin) *mmin = m.range[2];
}

void g5_set_eta(double) {}

void g5_set_cutoff_table(double (*)(double), double, double, double (*)(double), double, double) {
  succeeds([] {
    Machine& m = machine();
    const std::lock_guard lock(m.mutex);
    found_or_made(m, 0);
    m.wants_cutoff = true;
    found_or_made(m, 0);
  });
}

void g5_set_xjMC(int devid, int adr, int nj, const double xj[][3]) {
  on_board(devid, [&](Board& one) { one.set_positions(adr, nj, xj); });
}

void g5_set_mjMC(int devid, int adr, int nj, const double mj[]) {
  on_board(devid, [&](Board& one) { one.set_masses(adr, nj, mj); });
}

void g5_set_xmjMC(int devid, int adr, int nj, const double xj[][3], const double mj[]) {
  g5_set_xjMC(devid, adr, nj, xj);
  g5_set_mjMC(devid, adr, nj, mj);
}

void g5_set_jpMC(int devid, int adr, int nj, const double mj[], const double xj[][3]) {
  g5_set_xmjMC(devid, adr, nj, xj, mj);
}

void g5_set_nMC(int devid, int n) {
  on_board(devid, [&](Board& one) { one.set_count(n); });
}

void g5_set_eps2_to_allMC(int devid, double eps2) {
  on_board(devid, [&](Board& one) { one.set_softening(eps2); });
}

void g5_set_eps_to_allMC(int devid, double eps) { g5_set_eps2_to_allMC(devid, eps * eps); }

void g5_set_eps2MC(int devid, int ni, const double eps2[]) {
  on_board(devid, [&](Board& one) { one.set_softenings(ni, eps2); });
}

void g5_set_epsMC(int devid, int ni, const double eps[]) {
  on_board(devid, [&](Board& one) { one.set_softenings(ni, eps ? squares(ni, eps).data() : nullptr); });
}

void g5_set_xiMC(int devid, int ni, const double xi[][3]) {
  on_board(devid, [&](Board& one) { one.set_i(ni, xi); });
}

void g5_runMC(int devid) {
  on_board(devid, [&](Board& one) { one.start(); });
}

void g5_get_forceMC(int devid, int ni, double a[][3], double p[]) {
  const bool is_given = succeeds([&] {
    check_given("a", a, ni);
    check_given("p", p, ni);
    const std::span<const Force> forces = board(devid).forces(ni);
    for (std::size_t k = 0; k < forces.size(); ++k) {
      std::ranges::copy(forces[k].acc, a[k]);
      p[k] = forces[k].pot;
    }
  });
  if (is_given) return;
  for (int k = 0; k < ni; ++k) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (a) std::fill_n(a[k], 3, nan);
    if (p) p[k] = nan;
  }
}

void g5_calculate_force_on_xMC(int devid, const double x[][3], double a[][3], double p[], int ni) {
  g5_set_xiMC(devid, ni, x);
  g5_runMC(devid);
  g5_get_forceMC(devid, ni, a, p);
}

void g5_set_xmj(int adr, int nj, const double xj[][3], const double mj[]) { g5_set_xmjMC(0, adr, nj, xj, mj); }
void g5_set_jp(int adr, int nj, const double mj[], const double xj[][3]) { g5_set_jpMC(0, adr, nj, mj, xj); }
void g5_set_xj(int adr, int nj, const double xj[][3]) { g5_set_xjMC(0, adr, nj, xj); }
void g5_set_mj(int adr, int nj, const double mj[]) { g5_set_mjMC(0, adr, nj, mj); }
void g5_set_n(int n) { g5_set_nMC(0, n); }
void g5_set_eps_to_all(double eps) { g5_set_eps2_to_all(eps * eps); }

void g5_set_eps2_to_all(double eps2) {
  succeeds([&] {
    Machine& m = machine();
    const std::lock_guard lock(m.mutex);
    m.eps2 = eps2;
    for (const auto& [id, one] : m.boards) one->set_softening(eps2);
  });
}

void g5_set_eps(int ni, const double eps[]) { g5_set_epsMC(0, ni, eps); }
void g5_set_eps2(int ni, const double eps2[]) { g5_set_eps2MC(0, ni, eps2); }
void g5_set_xi(int ni, const double xi[][3]) { g5_set_xiMC(0, ni, xi); }
void g5_run(void) { g5_runMC(0); }
void g5_get_force(int ni, double a[][3], double p[]) { g5_get_forceMC(0, ni, a, p); }

void g5_calculate_force_on_x(const double x[][3], double a[][3], double p[], int ni) {
  g5_calculate_force_on_xMC(0, x, a, p, ni);
}
}
