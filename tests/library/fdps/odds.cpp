// Logsumexp and products through FDPS's functions: what several lists leave, joined, against one list of all of them,
// and against both written out.
#include <chances_fdps.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s: no\n", what);
  ++failures;
}

struct Particle {
  PS::F64vec pos;
  PS::F64 logit;
};
template <class Number>
struct Found {
  Number weight, chance;
  void clear() {
    weight = -std::numeric_limits<Number>::infinity();
    chance = 1;
  }
};
template <class Number>
using Tree = PS::TreeForForce<Particle, Particle, Particle, Found<Number>>;

constexpr PS::S32 kParticles = 120, kGroup = 10;

// Groups of 10. The first has nothing at all, the second only what has no weight, the third something of infinite
// weight; the lists of the others overlap, and those of some are of one kind only.
template <class Number>
Tree<Number> random_tree() {
  std::mt19937_64 engine(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  Tree<Number> tree;
  for (PS::S32 k = 0; k < kParticles; ++k)
    tree.epi.push_back({{uniform(engine), uniform(engine), uniform(engine)}, 900 * uniform(engine)});
  tree.epi[0].logit = -kInfinity;
  tree.epi[1].logit = kInfinity;
  tree.epj = tree.spj = tree.epi;
  for (PS::S32 first = 0, g = 0; first < kParticles; first += kGroup, ++g) {
    std::vector<PS::S32> epj, spj;
    for (PS::S32 j = 2 + g; j < kParticles; j += 1 + g % 3) (j % 5 < 2 ? spj : epj).push_back(j);
    if (g == 0) epj = spj = {};
    if (g == 1) epj = spj = {0};
    if (g == 2) epj.push_back(1);
    if (g == 3) epj.clear();
    if (g == 4) spj.clear();
    tree.groups.push_back({first, kGroup, epj, spj});
  }
  return tree;
}

// Every list so many `times`.
template <class Number>
std::vector<Found<double>> written_out(const Tree<Number>& tree, int times) {
  std::vector<Found<double>> all(tree.epi.size());
  for (const PS::Group& group : tree.groups)
    for (PS::S32 i = group.first; i < group.first + group.count; ++i) {
      std::vector<double> logits;
      double chance = 1, greatest = -kInfinity, sum = 0;
      for (const auto* list : {&group.epj, &group.spj})
        for (const PS::S32 j : *list) {
          const PS::F64vec dx = tree.epj[j].pos - tree.epi[i].pos;
          logits.push_back(tree.epj[j].logit - 1000 * (dx * dx));
          greatest = std::max(greatest, logits.back());
          chance *= 1 - 0.25 * (dx * dx);
        }
      for (const double logit : logits) sum += std::exp(logit - greatest);
      all[i].weight = std::isinf(greatest) ? greatest : greatest + std::log(times * sum);
      all[i].chance = std::pow(chance, times);
    }
  return all;
}

template <class Number>
bool is_right(const Tree<Number>& tree, const std::vector<Found<double>>& expected) {
  // A hundred factors, each of which may be off by a rounding; logits of up to 900 to three.
  const double bound = 300 * double(std::numeric_limits<Number>::epsilon());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Found<Number>& found = tree.force[i];
    const bool same = found.weight == expected[i].weight;
    if ((same || std::abs(found.weight - expected[i].weight) <= bound * 900) &&
        std::abs(found.chance / expected[i].chance - 1) <= bound) {
      continue;
    }
    std::printf("particle %d: %.17g and %.17g, where there are %.17g and %.17g\n", int(i), double(found.weight),
                double(found.chance), expected[i].weight, expected[i].chance);
    return false;
  }
  return true;
}

template <class Number>
void test(const char* what) {
  std::printf("%s\n", what);
  Tree<Number> tree = random_tree<Number>();
  const chances::odds_functor functor;
  const std::vector<Found<double>> once = written_out(tree, 1), twice = written_out(tree, 2);
  tree.calcForce(functor, functor, 3);
  expect(is_right(tree, once), "functors of two lists");
  tree.calcForce(functor, functor, 2, false);
  expect(is_right(tree, twice), "functors, onto what there is");
  for (const bool overlap : {false, true}) {
    const chances::odds_multiwalk walk(functor, "cpu", overlap);
    for (const PS::S32 walks : {1, 5, 100}) {
      tree.calcForceMultiWalk(walk.dispatch, walk.retrieve, walks, true);
      expect(is_right(tree, once), "MultiWalk of two lists");
      tree.calcForceMultiWalk(walk.dispatch, walk.retrieve, walks, true, false);
      expect(is_right(tree, twice), "MultiWalk, onto what there is");
    }
    for (PS::Group& group : tree.groups) {
      group.epj.insert(group.epj.end(), group.spj.begin(), group.spj.end());
      group.spj.clear();
    }
    tree.calcForceMultiWalk(walk.dispatch, walk.retrieve, 5, false);
    expect(is_right(tree, once), "MultiWalk of one list");
    tree.groups = random_tree<Number>().groups;
  }
}

// What is NaN stays in the sum that it came into.
void test_nan() {
  Tree<double> tree = random_tree<double>();
  tree.epi[7].logit = tree.epj[7].logit = tree.spj[7].logit = NAN;
  const chances::odds_multiwalk walk;
  tree.calcForceMultiWalk(walk.dispatch, walk.retrieve, 5, true);
  bool right = true;
  for (const PS::Group& group : tree.groups) {
    bool has_it = false;
    for (const auto* list : {&group.epj, &group.spj})
      for (const PS::S32 j : *list) has_it |= j == 7;
    for (PS::S32 i = group.first; i < group.first + group.count; ++i)
      right &= std::isnan(tree.force[i].weight) == has_it && !std::isnan(tree.force[i].chance);
  }
  expect(right, "a weight is NaN where a logit is");
}

}  // namespace

int main() {
  test<double>("double");
  test<float>("float");
  test_nan();
  return failures;
}
