// The shared numeric cases through a compiled library's C++ functions, for arrays of double and of float; and what they
// and the handles say to arguments that are wrong.
//
//   from_cpp CASES single|mixed|double      the precision of the library
#include <array>
#include <cases.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/library/cases/read_cases.hpp"

namespace {

template <typename T>
void run_gravity(Cases& c) {
  const auto xi = c.numbers<T>("xi"), xj = c.numbers<T>("xj"), mj = c.numbers<T>("mj");
  std::vector<T> acc(3 * c.ni), pot(c.ni);
  cases::gravity(xi, xj, mj, c.param("eps2"), acc, pot);
  c.compare("acc", acc);
  c.compare("pot", pot);
}

template <typename T>
void run_lennard_jones(Cases& c) {
  const auto xi = c.numbers<T>("xi"), xj = c.numbers<T>("xj");
  const double sigma = c.param("sigma"), eps = c.param("eps"), rc = c.param("rc"), shift = c.param("shift");
  const std::vector<double> lengths = c.numbers<double>("box");
  const std::array<double, 3> box{lengths.at(0), lengths.at(1), lengths.at(2)};
  std::vector<T> force(3 * c.ni), energy(c.ni), virial(c.ni);
  cases::lennard_jones(xi, xj, sigma, eps, rc, shift, box, force, energy, virial);
  c.compare("force", force);
  c.compare("energy", energy);
  c.compare("virial", virial);
}

template <typename T>
void run_nearest_neighbour(Cases& c) {
  const auto xi = c.numbers<T>("xi"), xj = c.numbers<T>("xj");
  const auto self = std::int32_t(c.param("self"));
  std::vector<std::int64_t> near(c.ni);
  std::vector<T> dist(c.ni);
  cases::nearest_neighbour(xi, xj, self, near, dist);
  c.compare("near", near);
  c.compare("dist", dist);
}

template <typename T>
void run_sph_force(Cases& c) {
  const auto xi = c.numbers<T>("xi"), vi = c.numbers<T>("vi"), hi = c.numbers<T>("hi"), rhoi = c.numbers<T>("rhoi"),
             presi = c.numbers<T>("presi"), ci = c.numbers<T>("ci"), omegai = c.numbers<T>("omegai");
  const auto xj = c.numbers<T>("xj"), vj = c.numbers<T>("vj"), mj = c.numbers<T>("mj"), hj = c.numbers<T>("hj"),
             rhoj = c.numbers<T>("rhoj"), presj = c.numbers<T>("presj"), cj = c.numbers<T>("cj"),
             omegaj = c.numbers<T>("omegaj");
  const double alpha = c.param("alpha"), beta = c.param("beta");
  std::vector<T> acc(3 * c.ni), dudt(c.ni), vsig(c.ni);
  cases::sph_force(xi, vi, hi, rhoi, presi, ci, omegai, xj, vj, mj, hj, rhoj, presj, cj, omegaj, alpha, beta, acc, dudt,
                   vsig);
  c.compare("acc", acc);
  c.compare("dudt", dudt);
  c.compare("vsig", vsig);
}

template <typename T>
void run_ks_statistic(Cases& c) {
  const auto xi = c.numbers<T>("xi"), xj = c.numbers<T>("xj"), wj = c.numbers<T>("wj");
  std::vector<T> d(c.ni);
  cases::ks_statistic(xi, xj, wj, d);
  c.compare("d", d);
}

template <typename T>
int run_all(const std::string& path, const std::string& precision) {
  const std::map<std::string, void (*)(Cases&)> known{{"gravity", run_gravity<T>},
                                                      {"lennard_jones", run_lennard_jones<T>},
                                                      {"nearest_neighbour", run_nearest_neighbour<T>},
                                                      {"sph_force", run_sph_force<T>},
                                                      {"ks_statistic", run_ks_statistic<T>}};
  Cases c(path, precision);
  int done = 0;
  for (; c.next(); ++done) known.at(c.pipeline)(c);
  return done;
}

void expect_refused(const std::string& what, const std::string& word, const std::function<void()>& call) {
  try {
    call();
  } catch (const nbcc::Error& error) {
    expect(error.status() == NBCC_ERROR_USAGE, what + ": the status");
    expect(std::string(error.what()).find(word) != std::string::npos, what + ": " + error.what());
    return;
  }
  expect(false, what + " is not refused");
}

void wrong_arguments() {
  const std::vector<double> x{0, 0, 0, 1, 1, 1}, m{1, 1}, shorter{1}, ragged{1, 2, 3, 4};
  std::vector<double> acc(6, 7), pot(2, 7), short_acc(3);
  const std::span<const double> nowhere(static_cast<const double*>(nullptr), 6);
  expect_refused("a mass too few", "mj", [&] { cases::gravity(x, x, shorter, 0, acc, pot); });
  expect_refused("a row too few", "acc", [&] { cases::gravity(x, x, m, 0, short_acc, pot); });
  expect_refused("a part of a row", "row", [&] { cases::gravity(ragged, x, m, 0, acc, pot); });
  expect_refused("null pointers", "xi", [&] { cases::gravity(nowhere, x, m, 0, acc, pot); });
  expect_refused("null pointers of j", "xj", [&] { cases::gravity(x, nowhere, m, 0, acc, pot); });

  const nbcc::Device device("cpu");
  nbcc::Sum sum(cases::gravity_open(device));
  expect_refused("a run without arrays", "xi", [&] { sum.run(); });
  expect_refused("a negative number", "-1", [&] { sum.bind("mj", nbcc::view(m.data(), -1)); });
  expect_refused("a view of nothing", "mj", [&] { sum.bind("mj", nbcc::view(nowhere.data(), 2)); });
  expect_refused("a field that does not exist", "mass", [&] { sum.bind("mass", m); });
  expect_refused("an output that may not be written", "pot", [&] { sum.bind("pot", m); });
  expect_refused("two lengths of one side", "j", [&] {
    sum.bind("xi", nbcc::rows(x, 3)).bind("acc", nbcc::rows(acc, 3)).bind("pot", pot);
    sum.bind("xj", nbcc::rows(x, 3)).bind("mj", shorter).run();
  });
  expect(acc == std::vector<double>(6, 7) && pot == std::vector<double>(2, 7), "outputs after mistakes");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int done = 0;
  try {
    done = run_all<double>(argv[1], argv[2]) + run_all<float>(argv[1], argv[2]);
    wrong_arguments();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 2;
  }
  std::printf("C++, %s: %d cases, %d failures\n", argv[2], done, failures);
  return done == 0 || failures != 0;
}
