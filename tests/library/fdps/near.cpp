// Minima, maxima, whole numbers, params that are rows or have no default, and members of members, through FDPS's
// functions.
#include <cmath>
#include <cstdio>
#include <lists_fdps.hpp>
#include <random>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s: no\n", what);
  ++failures;
}

struct State {
  PS::F64vec vel, pos;
};
struct Particle {
  PS::S32 id;
  State state;
  float h[2];
};
struct Found {
  PS::S64 count;
  struct {
    PS::F32 range[2];
  } of;
  void clear() {
    count = 100;
    of.range[0] = 1e30f;
    of.range[1] = 0;
  }
};
using Tree = PS::TreeForForce<Particle, Particle, Particle, Found>;

Tree random_tree() {
  std::mt19937_64 engine(9);
  std::uniform_real_distribution<double> uniform(0, 1);
  Tree tree;
  tree.epi.resize(90);
  for (Particle& one : tree.epi) {
    one = {1, {PS::F64vec(9.0), {uniform(engine), uniform(engine), uniform(engine)}}, {0.25f, 0.25f}};
  }
  tree.epj = tree.epi;
  for (PS::S32 first = 0; first < 90; first += 15) {
    std::vector<PS::S32> list;
    for (PS::S32 j = first / 15; j < 90; j += 1 + first / 30) list.push_back(j);
    tree.groups.push_back({first, 15, first == 30 ? std::vector<PS::S32>() : list, {}});
  }
  return tree;
}

bool is_right(const Tree& tree) {
  for (const PS::Group& group : tree.groups) {
    for (PS::S32 i = group.first; i < group.first + group.count; ++i) {
      PS::S64 count = 100;
      double least = 1e30, most = 0;
      for (const PS::S32 j : group.epj) {
        const PS::F64vec dx = tree.epj[j].state.pos - tree.epi[i].state.pos - PS::F64vec(0, 0, -0.5);
        const double r2 = 2 * (dx * dx);
        count += r2 < 0.25 * 0.25;
        least = std::min(least, r2);
        most = std::max(most, r2);
      }
      const Found& found = tree.force[i];
      if (found.count != count || std::abs(found.of.range[0] / least - 1) > 1e-5 ||
          std::abs(found.of.range[1] - most) > 1e-5 * most) {
        std::printf("particle %d: %d, %g to %g, where there are %d, %g to %g\n", i, int(found.count), found.of.range[0],
                    found.of.range[1], int(count), least, most);
        return false;
      }
    }
  }
  return true;
}

}  // namespace

int main() {
  Tree tree = random_tree();
  tree.force.resize(tree.epi.size());
  mine::lists::near_functor near;
  expect(near.shift == std::array<double, 3>{0, 0, 0.5}, "a param of three numbers begins with its default");
  std::string said;
  try {
    near(tree.epi.data(), 1, tree.epj.data(), 1, tree.force.data());
  } catch (const std::exception& error) {
    said = error.what();
  }
  expect(said == "near: param 'scale' has no default and was not set", "a param without default has to be set");
  // What fails while retrieve() waits is told by it.
  said.clear();
  const mine::lists::near_multiwalk late(near, "cpu", true);
  const Particle* const particle = tree.epi.data();
  Found* const found = tree.force.data();
  const PS::S32 one = 1;
  late.dispatch(0, 1, &particle, &one, &particle, &one);
  try {
    late.retrieve(0, 1, &one, &found);
  } catch (const std::exception& error) {
    said = error.what();
  }
  expect(said == "near: param 'scale' has no default and was not set", "nor does one in a walk");
  near.scale = 2;
  tree.calcForce(near, 3);
  expect(is_right(tree), "functors");
  for (const bool overlap : {false, true}) {
    const mine::lists::near_multiwalk walk(near, "cpu", overlap);
    tree.calcForceMultiWalk(walk.dispatch, walk.retrieve, 2, false);
    expect(is_right(tree), "MultiWalk");
  }
  // A pipeline of the same library, for the same classes.
  mine::lists::far_functor far;
  tree.calcForce(far, 2);
  expect(std::abs(tree.force[0].of.range[1]) > 0 && tree.force[0].count == 100, "two pipelines");
  return failures;
}
