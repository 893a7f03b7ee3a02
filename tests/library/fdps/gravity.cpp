// Gravity through FDPS's functions, with particles of several classes, against sums written out in double precision.
//
//   gravity BOUND [DEVICE]     how far off a result may be, in units of the sum of its terms' lengths; where MultiWalk
//                              sums
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <forces_fdps.hpp>
#include <random>

namespace {

constexpr double kEps2 = 1e-3;
int failures = 0;
double bound = 0;
std::string device = "cpu";

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s: no\n", what);
  ++failures;
}

// As the classes of FDPS's users: doubles between things that are of no concern here.
struct Epi {
  PS::S64 id;
  PS::F64vec pos;
  PS::F64vec getPos() const { return pos; }
};
struct Epj {
  PS::F64vec pos;
  PS::S32 id;
  PS::F64 mass;
  PS::F64vec getPos() const { return pos; }
  PS::F64 getCharge() const { return mass; }
};
struct Force {
  PS::F64vec acc;
  PS::S32 n_neighbours;
  PS::F64 pot;
  void clear() {
    acc = PS::F64vec(0.0);
    pot = 0;
    n_neighbours = 7;
  }
};

// In float, with other names and other vectors.
struct LightEpi {
  char kind;
  float pos[3];
  PS::F64vec getPos() const { return {pos[0], pos[1], pos[2]}; }
};
struct LightEpj {
  PS::F32 m;
  PS::F32vec x;
  PS::F64vec getPos() const { return {x.x, x.y, x.z}; }
  PS::F64 getCharge() const { return m; }
};
struct LightForce {
  PS::F32 pot;
  std::array<PS::F32, 3> acc;
  void clear() {
    acc = {};
    pot = 0;
  }
};

// One class for everything, as small programs have it.
struct Full {
  PS::F64 mass;
  PS::F64vec pos, vel, acc;
  PS::F64 pot;
  PS::F64vec getPos() const { return pos; }
  PS::F64 getCharge() const { return mass; }
  void clear() {
    acc = PS::F64vec(0.0);
    pot = 0;
  }
};

void place(PS::F64vec& to, const PS::F64vec& at) { to = at; }
void place(PS::F32vec& to, const PS::F64vec& at) { to = PS::F32vec(float(at.x), float(at.y), float(at.z)); }
void place(float (&to)[3], const PS::F64vec& at) {
  for (int d = 0; d < 3; ++d) to[d] = float(at[d]);
}

template <class I, class J, class F>
PS::TreeForForce<I, J, PS::SPJMonopole, F> random_tree() {
  std::mt19937_64 engine(20071);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto point = [&] { return PS::F64vec(uniform(engine), uniform(engine), uniform(engine)); };
  PS::TreeForForce<I, J, PS::SPJMonopole, F> tree;
  tree.epi.resize(500);
  tree.epj.resize(700);
  tree.spj.resize(60);
  for (I& one : tree.epi) place(one.pos, point());
  for (J& one : tree.epj) {
    if constexpr (std::is_same_v<J, LightEpj>) {
      place(one.x, point());
      one.m = float(uniform(engine));
    } else {
      place(one.pos, point());
      one.mass = uniform(engine);
    }
  }
  for (PS::SPJMonopole& one : tree.spj) {
    one.pos = point();
    one.mass = 10 * uniform(engine);
  }
  const auto some = [&](std::size_t most, std::size_t of) {
    std::vector<PS::S32> list(std::size_t(uniform(engine) * double(most)));
    for (PS::S32& k : list) k = PS::S32(uniform(engine) * double(of));
    return list;
  };
  for (PS::S32 first = 0, k = 0; first < 500; ++k) {
    const PS::S32 count = std::min(500 - first, k % 7 == 3 ? 0 : 1 + PS::S32(uniform(engine) * 40));
    std::vector<PS::S32> epj = some(300, 700), spj = some(40, 60);
    if (k % 5 == 1) epj.clear();
    if (k % 3 == 1) spj.clear();
    tree.groups.push_back({first, count, epj, spj});
    first += count;
  }
  return tree;
}

template <class I, class J, class F>
struct Oracle {
  std::vector<PS::F64vec> acc;
  std::vector<double> pot, size;  // size: of the terms of acc

  Oracle(const PS::TreeForForce<I, J, PS::SPJMonopole, F>& tree, bool with_spj)
      : acc(tree.epi.size()), pot(tree.epi.size()), size(tree.epi.size()) {
    for (const PS::Group& group : tree.groups) {
      for (PS::S32 i = group.first; i < group.first + group.count; ++i) {
        for (const PS::S32 j : group.epj) add(i, tree.epi[i].getPos(), tree.epj[j]);
        for (const PS::S32 j : group.spj) {
          if (with_spj) add(i, tree.epi[i].getPos(), tree.spj[j]);
        }
      }
    }
  }
  template <class Acting>
  void add(PS::S32 i, const PS::F64vec& xi, const Acting& acting) {
    const PS::F64vec dx = acting.getPos() - xi;
    const double r2 = dx * dx + kEps2, mass = acting.getCharge();
    for (int d = 0; d < 3; ++d) acc[i][d] += mass * dx[d] / (r2 * std::sqrt(r2));
    pot[i] -= mass / std::sqrt(r2);
    size[i] += mass / r2;
  }
  // The results are `times` what they should be.
  double error(const std::vector<F>& force, double times = 1) const {
    double worst = 0;
    for (std::size_t i = 0; i < force.size(); ++i) {
      if (size[i] == 0) {
        if (force[i].acc[0] != 0 || force[i].pot != 0) return HUGE_VAL;
        continue;
      }
      for (int d = 0; d < 3; ++d) worst = std::max(worst, std::abs(force[i].acc[d] - times * acc[i][d]) / size[i]);
      worst = std::max(worst, std::abs(force[i].pot / (times * pot[i]) - 1));
    }
    return worst / times;
  }
};

template <class I, class J, class F>
void test_classes(const char* what, double error_bound) {
  auto tree = random_tree<I, J, F>();
  const Oracle<I, J, F> whole(tree, true), near(tree, false);
  const forces::gravity_functor gravity{kEps2};
  const auto hold = [&](const char* how, double error) {
    std::printf("%s, %s: %.2e\n", what, how, error);
    expect(error <= error_bound, how);
  };
  tree.calcForce(gravity, gravity, 4);
  hold("functors from four threads", whole.error(tree.force));
  tree.calcForce(gravity, gravity, 3, false);
  hold("onto what there is", whole.error(tree.force, 2));
  tree.calcForce(gravity, 1);
  hold("without superparticles", near.error(tree.force));
  const std::vector<F> by_one = tree.force;
  tree.calcForce(gravity, 4);
  bool same = true;
  for (std::size_t i = 0; i < by_one.size(); ++i) same &= by_one[i].pot == tree.force[i].pot;
  expect(same, "any number of threads gives the same bits");

  for (const bool overlap : {false, true}) {
    const forces::gravity_multiwalk walk(gravity, device, overlap);
    const char* const how = overlap ? "MultiWalk, overlapping" : "MultiWalk";
    expect(tree.calcForceMultiWalk(walk.dispatch, walk.retrieve, 7, true) == 0, "MultiWalk returns 0");
    hold(how, whole.error(tree.force));
    tree.calcForceMultiWalk(walk.dispatch, walk.retrieve, 1000, false);
    hold(how, near.error(tree.force));
    tree.calcForceMultiWalk(walk.dispatch, walk.retrieve, 1, false, false);
    hold(how, near.error(tree.force, 2));
  }
}

template <class Function>
std::string thrown(Function function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

void test_edges() {
  const forces::gravity_functor gravity;
  expect(gravity.eps2 == 1e-4, "a param begins with its default");
  Epi i{};
  Epj j{};
  j.pos.x = 2;
  j.mass = 8;
  Force force;
  force.clear();
  gravity(&i, 0, &j, 1, static_cast<Force*>(nullptr));
  gravity(static_cast<Epi*>(nullptr), 0, static_cast<Epj*>(nullptr), 0, static_cast<Force*>(nullptr));
  gravity(&i, 1, static_cast<const Epj*>(nullptr), 0, &force);
  expect(force.acc.x == 0 && force.pot == 0, "nothing adds nothing");
  gravity(&i, 1, &j, 1, &force);
  expect(std::abs(force.acc.x - 2) < 1e-3 && force.n_neighbours == 7, "one pair, and its neighbours in memory");
}

void test_wrong_arguments() {
  const forces::gravity_functor gravity;
  Epi i{};
  Epj j{};
  Force force;
  force.clear();
  Epi* const no_i = nullptr;
  Epj* const no_j = nullptr;
  expect(thrown([&] { gravity(&i, 1, &j, -1, &force); }).find("nj = -1") != std::string::npos,
         "a negative count throws");
  expect(thrown([&] { gravity(&i, -1, &j, 1, &force); }).find("ni = -1") != std::string::npos,
         "so does one of i-particles");
  expect(thrown([&] { gravity(no_i, 1, &j, 1, &force); }) == "a null pointer in place of i-particles",
         "no i-particles");
  expect(thrown([&] { gravity(&i, 1, no_j, 1, &force); }) == "a null pointer in place of j-particles",
         "no j-particles");
  expect(thrown([&] { gravity(&i, 1, &j, 1, static_cast<Force*>(nullptr)); }) == "a null pointer in place of results",
         "no results");
  expect(force.acc.x == 0 && force.pot == 0, "mistakes add nothing");
}

// What is NaN passes through, and nothing else is disturbed.
void test_nan() {
  const forces::gravity_functor gravity{kEps2};
  auto tree = random_tree<Epi, Epj, Force>();
  tree.calcForce(gravity, gravity, 2);
  const std::vector<Force> before = tree.force;
  const PS::S32 lost = tree.groups[0].first;
  tree.epi[lost].pos.y = NAN;
  tree.calcForce(gravity, gravity, 2);
  bool same = true;
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (PS::S32(k) != lost) same &= tree.force[k].acc.x == before[k].acc.x && tree.force[k].pot == before[k].pot;
  }
  expect(same, "other particles than one that is NaN have the same forces");
  expect(std::isnan(tree.force[lost].acc.x) && std::isnan(tree.force[lost].pot), "what is NaN has forces that are NaN");
}

void test_tags() {
  const forces::gravity_multiwalk walk;
  Epi i{};
  Epj j{};
  j.pos.x = 2;
  j.mass = 8;
  const Epi* epi = &i;
  const Epj* epj = &j;
  Force force;
  force.clear();
  Force* out = &force;
  const PS::S32 one = 1, none = 0;
  expect(!thrown([&] { walk.retrieve(0, 1, &one, &out); }).empty(), "what was not dispatched cannot be retrieved");
  walk.dispatch(0, 1, &epi, &one, &epj, &one);
  walk.dispatch(1, 1, &epi, &one, &epj, &none);
  expect(!thrown([&] { walk.dispatch(0, 1, &epi, &one, &epj, &one); }).empty(), "nor a tag dispatched twice");
  walk.retrieve(1, 1, &one, &out);
  expect(force.acc.x == 0, "a walk without j adds nothing");
  walk.retrieve(0, 1, &one, &out);
  expect(std::abs(force.acc.x - 2) < 1e-3, "two tags at once");
  walk.dispatch(0, 0, &epi, &one, &epj, &one);
  walk.retrieve(0, 0, &one, &out);
  walk.dispatch(0, 1, &epi, &one, &epj, &one);
  expect(!thrown([&] { walk.retrieve(0, 1, &none, &out); }).empty(), "other walks cannot be retrieved");

  const PS::S32 negative = -1;
  Epi* const no_epi = nullptr;
  Force* no_out = nullptr;
  for (const bool overlap : {false, true}) {
    const forces::gravity_multiwalk wrong({}, "cpu", overlap);
    const auto said = [&](const Epi* const* i, const PS::S32* ni, const PS::S32* nj) {
      return thrown([&] { wrong.dispatch(0, 1, i, ni, &epj, nj); });
    };
    expect(said(&epi, &one, &negative) == "MultiWalk: a walk of -1 j-particles", "a negative count in a walk throws");
    expect(said(&epi, &negative, &one) == "MultiWalk: a walk of -1 i-particles", "so does one of i-particles");
    expect(said(&no_epi, &one, &one) == "a null pointer in place of i-particles", "so does a null pointer");
    expect(!thrown([&] { wrong.dispatch(0, negative, &epi, &one, &epj, &one); }).empty(), "so do -1 walks");
    wrong.dispatch(0, 1, &epi, &one, &epj, &one);
    expect(thrown([&] { wrong.retrieve(0, 1, &one, &no_out); }) == "a null pointer in place of results",
           "so do results that are nowhere");
    wrong.dispatch(0, 1, &epi, &one, &epj, &one);
    force.clear();
    wrong.retrieve(0, 1, &one, &out);
    expect(std::abs(force.acc.x - 2) < 1e-3, "a walk after mistakes");
  }
  expect(!thrown([] { forces::gravity_multiwalk({}, "cuda:99"); }).empty(), "a device that is not there throws");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  bound = std::atof(argv[1]);
  if (argc > 2) device = argv[2];
  test_classes<Epi, Epj, Force>("double", bound);
  test_classes<Full, Full, Full>("one class", bound);
  test_classes<LightEpi, LightEpj, LightForce>("float", std::max(bound, 2e-6));
  test_edges();
  test_wrong_arguments();
  test_nan();
  test_tags();
  return failures;
}
