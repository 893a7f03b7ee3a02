// Guards that compare distances of several sites of two particles: what is proved of them, and that no pair beyond the
// reach contributes.
#include "compiler/passes/prove/sites.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/source/parse.h"
#include "tests/support/expect_neighbours.h"

namespace nbcc {
namespace {

// Particles of two sites, x and v.
Pipeline with_sites(const std::string& statements) {
  return parse({"sites.pipe", R"(
input_i vec3 xi; input_i vec3 vi; input_i real hi; input_i int gi;
input_j vec3 xj; input_j vec3 vj; input_j real hj; input_j int gj; input_j real mj;
param real rc = 1; param vec3 box = vec3(3, 3, 3);
param vec3 la = vec3(3, 0, 0); param vec3 lb = vec3(1, 3, 0); param vec3 lc = vec3(1, -1, 3);
output(sum) real o;
vec3 dx = xj - xi; real r2 = dot(dx, dx); real r = sqrt(r2);
)" + statements});
}

struct SitesCase {
  const char *statements, *told;
};

constexpr SitesCase kSites[] = {
    {"vec3 d = vj - xi; if (r2 < rc * rc) o += mj; if (dot(d, d) < 1) o += mj;",
     "|xj - xi| < max(rc, 1) between any of their sites"},
    {"vec3 d = xj - vi; if (r2 < rc * rc || dot(d, d) < rc * rc) o += mj;",
     "|xj - xi| < rc between any of their sites"},
    {"vec3 d = vj - xi; vec3 e = xj - vi; vec3 f = vj - vi; if (r2 < 1 || dot(d, d) < 1 || dot(e, e) < 1 || dot(f, f) "
     "< 1) o += mj;",
     "|xj - xi| < 1 between any of their sites"},
    {"vec3 d = nearest_image(xj - xi, box); vec3 e = nearest_image(vj - xi, box); if (dot(d, d) < hi * hi || dot(e, e) "
     "< hj * hj) o += mj;",
     "|xj - xi| < max(hi, hj) between any of their sites in the periodic box `box`"},
    {"vec3 d = nearest_image(xj - xi, la, lb, lc); vec3 e = nearest_image(vj - xi, la, lb, lc); if (dot(d, d) < 1 || "
     "dot(e, e) < 1) o += mj;",
     "|xj - xi| < 1 between any of their sites in the periodic cell `la`, `lb`, `lc`"},
    {"for (int p = 0; p < 2; ++p) for (int q = 0; q < 3; ++q) { vec3 d = xj + real(q) * vj - (xi + real(p) * vi); if "
     "(length(d) < rc) o += mj; }",
     "|xj + vj * 0 - (xi + vi * 0)| < rc between any of their sites"},
    {"vec3 d = xj - vi; if (min(r2, dot(d, d)) < rc * rc) o += mj;", "|xj - xi| < rc between any of their sites"},
    {"vec3 d = vj - xi; if (min(r, length(d)) < hi && gi != gj) o += mj;", "|xj - xi| < hi between any of their sites"},
    {"vec3 d = vj - xi; if (r2 < 1 || dot(d, d) < 1) { if (r2 < 4) o += mj; }",
     "|xj - xi| < 1 between any of their sites"},
};

TEST(Sites, AreFoundByOneSearch) {
  for (const SitesCase& c : kSites) {
    SCOPED_TRACE(c.statements);
    const Pipeline pipeline = with_sites(c.statements);
    const NeighbourhoodProof proof = prove_neighbourhood(pipeline);
    ASSERT_TRUE(proof.neighbourhood) << (proof.obstacle ? proof.obstacle->reason : "no guard");
    EXPECT_EQ(neighbourhood_text(pipeline, *proof.neighbourhood), c.told);
    const test::PairCounts pairs = test::expect_neighbours(pipeline, 16);
    EXPECT_GT(pairs.contributing, 0);
    EXPECT_GT(pairs.others, 0);
  }
}

// They may be positions and velocities, of which a search for positions would find all pairs.
TEST(Sites, AreNotWhatHasNoSiteInCommon) {
  for (const char* statements :
       {"if (r2 < 1 || length(vj - vi) < 1) o += mj;", "if (min(r, length(vj - vi)) < 1) o += mj;",
        "if (abs(dx.x) < 1 || abs(hj - hi) < 1) o += mj;"}) {
    const NeighbourhoodProof proof = prove_neighbourhood(with_sites(statements));
    ASSERT_TRUE(proof.obstacle) << statements;
    EXPECT_EQ(proof.obstacle->reason, "this bounds two distances without a common axis") << statements;
  }
}

// The minimum of n distances, between one site of i and sites along a line of j.
std::string least_of(int n) {
  return "real s = r2; for (int k = 1; k < " + std::to_string(n) +
         "; ++k) { vec3 d = xj + real(k) * vj - xi; s = min(s, dot(d, d)); } if (s < rc * rc) o += mj;";
}

TEST(Sites, OfOneMinimumAreAtMost64) {
  EXPECT_TRUE(prove_neighbourhood(with_sites(least_of(64))).neighbourhood);
  const NeighbourhoodProof proof = prove_neighbourhood(with_sites(least_of(65)));
  ASSERT_TRUE(proof.obstacle);
  EXPECT_EQ(proof.obstacle->reason, "this is the minimum of more than 64 distances");
  EXPECT_TRUE(proof.obstacle->is_limit);
}

// A search that computes each pair once needs formulas of i and j that are alike.
TEST(Sites, OfOneMoleculeHaveTheSameFormulaOnBothSides) {
  const Pipeline pipeline = with_sites(
      "vec3 d = vj - xi; vec3 e = xj - vi; vec3 f = vj - vi; if (r2 < 1 || dot(d, d) < 1 || dot(e, e) < 1 || dot(f, f) "
      "< "
      "1) o += mj;");
  const NeighbourhoodProof proof = prove_neighbourhood(pipeline);
  ASSERT_TRUE(proof.neighbourhood);
  const Neighbourhood& n = *proof.neighbourhood;
  EXPECT_EQ(n.reach.kind, Reach::Kind::Sum);
  for (const NodeId id : {n.reach.of_i, n.reach.of_j}) {
    const Node& sum = n.graph[id];  // half of the reach, and the distance of the two sites
    EXPECT_EQ(sum.op, Op::Add);
    EXPECT_TRUE(n.graph.is_constant(sum.args[0], 0.5));
    EXPECT_EQ(n.graph[sum.args[1]].op, Op::Sqrt);
  }
}

}  // namespace
}  // namespace nbcc
