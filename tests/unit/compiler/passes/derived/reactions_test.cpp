// Pipelines with reactions: the symmetry that is proved of each output, and the interpreter's results of the pipeline
// with reactions.
#include "compiler/passes/derived/reactions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "tests/support/random_pipeline.h"

namespace nbcc {
namespace {

const std::string kFields =
    "input_i vec3 xi; input_i vec3 vi; input_i real mi; input_i real hi; input_i int ti;\n"
    "input_j vec3 xj; input_j vec3 vj; input_j real mj; input_j real hj; input_j int tj;\n"
    "param real eps2 = 0.01; param real rc = 0.7; param vec3 box = vec3(2, 2, 2); param real table[4] = {1, 2, 3, 4};\n"
    "param real eps[3][3] = {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}}; param vec2 sig[2][2] = {{vec2(1, 2), vec2(3, 4)}, "
    "{vec2(3, 4), vec2(5, 6)}};\n"
    "output(sum) real s; output(sum) vec3 f;\n"
    "vec3 dx = xj - xi; vec3 dv = vj - vi; real r2 = dot(dx, dx) + eps2; real r = sqrt(r2);\n";

struct Proof {
  const char* symmetry;  // of s and f
  const char* text;
};
constexpr Proof kProofs[] = {
    {"s even, f odd", "s += mj / r; f += mj / (r2 * r) * dx;"},
    {"s even, f odd", "s -= mi * mj / r; f += mi * mj * pow(r2, -1.5) * dx;"},
    {"s even, f odd", "s += 1; f += dx;"},
    {"s even, f odd", "s += exp(-r2 / rc); f += (xj - xi) / r;"},
    {"s even, f odd", "s += 2; f += (xi - xj) * mj;"},
    {"s even, f odd", "s += dot(dx, dv); f += mj * dot(dx, dv) / r2 * dx;"},
    {"s even, f odd", "s += mj * r; f += mj * (dv - 3 * dot(dx, dv) / r2 * dx);"},
    {"s even, f odd", "vec3 d = nearest_image(xj - xi, box); s += dot(d, d); f += d;"},
    {"s even, f odd", "real q = hi + hj; s += q; f += q * dx;"},
    {"s even, f odd", "real h = 0.5 * (hi + hj); s += exp(-r2 / (h * h)); f += exp(-r2 / (h * h)) * dx / h;"},
    {"s even, f odd", "real h = max(hi, hj); s += r < h ? 1.0 : 0.0; f += r < h ? dx : vec3(0, 0, 0);"},
    {"s even, f odd", "skip_if(i_index == j_index); s += 1 / r; f += dx / r;"},
    {"s even, f odd", "skip_if(r2 >= rc * rc); s += 1 / r; f += dx / r;"},
    {"s even, f odd", "skip_if(i_index == j_index || r2 > rc * rc); s += mj; f += mj * dx;"},
    {"s even, f odd", "skip_if(ti != tj); s += 1; f += dx;"},
    {"s even, f odd", "skip_if(r2 < (hi + hj) * (hi + hj)); s += 1; f += dx;"},
    {"s even, f odd", "s += abs(dx.x); f += dx * abs(dv.y);"},
    {"s even, f odd", "s += cos(dx.x); f += sin(dx.x) * sin(dx.y) * dx;"},
    {"s even, f odd", "s += mj * hi * r; f += hi * mj * mj / r2 * dx;"},
    {"s even, f odd", "real w = mj; w *= 1 / r; s += w; w *= 1 / r2; f += w * dx;"},
    {"s even, f odd", "s += table[ti] * table[tj] / r; f += table[ti] * table[tj] / r2 * dx;"},
    {"s even, f odd", "real p = mi / (hi * hi) + mj / (hj * hj); s += p; f -= mj * p * dx;"},
    {"s even, f odd", "real mu = min(dot(dx, dv), 0.0); s += mu; f += mj * mu / r2 * dx;"},
    {"s even, f odd", "s += dot(dx, vi - vj); f += cross(dx, dv) / r2 * dx.x;"},
    {"s even, f odd", "if (r2 < rc) { s += 1; f += dx; } else { s += 2; f += 2 * dx; }"},
    {"s even, f even", "s += dx.x * dx.y; f += dx * dx.x;"},
    {"s odd, f odd", "s += dx.x; f += dx * r;"},
    {"s odd, f even", "s += dx.x * dv.x * dx.y; f += cross(dx, dv);"},
    {"s even, f odd", "s += mj * mj; f += hj * dx;"},
    {"s odd, f odd", "s += mj * dx.z / r; f += hi * mj * dx;"},
    {"s even, f odd", "s += mj * exp(-r * r / rc); f += (mj * dv - mj * dot(dx, dv) * dx) / r;"},
    {"s even, f odd", "s -= mi * mj * r - 2 * (mi * mj); f -= mi * mj * (exp(-r2 * 2) + r) * dx;"},
    // Tables of two types.
    {"s even, f odd, if eps is symmetric", "s += eps[ti][tj] / r; f += eps[ti][tj] / r2 * dx;"},
    {"s even, f odd, if eps is symmetric", "s += eps[tj][ti] / r; f += eps[ti][tj] / r2 * dx;"},
    {"s even, f odd, if eps and sig are symmetric",
     "vec2 q = sig[ti][tj] / r; s += q.y; f += eps[ti][tj] * q.x * q.y * dx;"},
    {"s even, f odd, if eps is symmetric", "skip_if(r2 >= eps[ti][tj]); s += 1; f += dx;"},
    {"s even, f odd, if eps is symmetric",
     "s += eps[ti][tj] * hj + eps[ti][tj] * hi; f += eps[ti][tj] * (hi + hj) * dx;"},
    {"s even, f odd", "real e = eps[min(ti, tj)][max(ti, tj)]; s += e * r; f += e * dx;"},
    {"s even, f odd, if sig is symmetric",
     "real e = eps[max(ti, tj)][min(tj, ti)] * sig[ti][tj].x; s += e * r; f += e * dx;"},
    {"s even, f odd", "s += eps[ti][tj] + eps[tj][ti]; f += eps[ti][ti] * eps[tj][tj] * r * dx;"},
    {"s odd, f even", "s += (eps[ti][tj] - eps[tj][ti]) * r; f += (eps[ti][tj] - eps[tj][ti]) * dx;"},
    // Near misses.
    {"s neither, f odd", "s += eps[ti][tj] * dx.x + r; f += dx;"},
    {"s neither, f odd", "s += eps[ti][1] + r; f += dx;"},
    {"s neither, f odd", "s += spline(eps[ti], r) + 1; f += dx;"},
    {"s neither, f odd, if eps is symmetric", "s += sig[ti][tj].x * hi + r; f += eps[ti][tj] * dx;"},
    {"s neither, f even", "s += dot(dx, vj); f += vj;"},
    {"s even, f neither", "s += r; f += vj * r + 2 * vi * r;"},
    {"s even, f neither", "s += 1; f += dx + vi;"},
    {"s even, f neither", "s += 1; f += (dot(dx, vi) / r2) * dx;"},
    {"s even, f neither", "s += 1; f += dx + mj * dv * dv.x;"},
    {"s neither, f neither", "s += exp(-r2 / (hi * hi)); f += exp(-r2 / (hi * hi)) * dx;"},
    {"s neither, f neither", "s += r + mj; f += (r + mj) * dx;"},
    {"s neither, f neither", "skip_if(i_index < j_index); s += 1; f += dx;"},
    {"s neither, f neither", "skip_if(r2 >= hi * hi); s += 1; f += dx;"},
    {"s neither, f neither", "skip_if(ti < tj); s += 1; f += dx;"},
    {"s neither, f neither", "skip_if(r2 > hj); s += 1; f += dx;"},
    {"s neither, f odd", "s += dx.x + 1; f += dx;"},
    {"s neither, f odd", "s += sqrt(r + dx.x); f += dx;"},
    {"s neither, f odd", "s += min(dx.x, 0.5); f += dx;"},
    {"s neither, f odd", "s += dx.x > 0 ? 1.0 : 2.0; f += dx;"},
    {"s neither, f neither", "real q = hi - 2 * hj; s += q; f += q * dx;"},
    {"s neither, f neither", "s += exp(dx.x); f += exp(dx.y) * dx;"},
    {"s neither, f neither", "s += table[ti] + table[tj] * r2; f += (table[ti] + r) * dx;"},
    {"s even, f neither", "s += r; f += dx; f.x += 1;"},
    {"s even, f neither", "s += r; f += dx; f.y += dx.x * dx.x;"},
    {"s neither, f odd", "s += pow(r, hi); f += dx;"},
    {"s neither, f odd", "s += r * (mi + 2 * mj); f += dx;"},
    {"s neither, f odd", "s += floor(dx.x); f += dx;"},
    {"s neither, f odd", "s += real(i_index) * r - real(j_index); f += dx;"},
    {"s even, f neither", "s += 1; f += xj * r - xi;"},
    {"s even, f neither", "s += 1; f += 2 * xj - xi;"},
    {"s even, f neither", "s += 1; f += vec3(dx.x, dx.y, r);"},
    {"s neither, f neither", "real p = mi / (hi * hi) + mj / hj; s += p; f -= mj * p * dx;"},
    {"s even, f neither", "if (ti == 1) { s += 1; f += dx; } else { s += 2; f += 2 * dx; }"},
    {"s even, f neither", "s += 1; f += (dot(dx, dv) > 0 ? 1.0 : dx.x) * dx;"},
};

TEST(Reactions, AreProvedOrNot) {
  for (const Proof& proof : kProofs)
    EXPECT_EQ(symmetry_text(parse({"one.pipe", kFields + proof.text})), proof.symmetry) << proof.text;
}

TEST(Reactions, OfExtremesAndCounts) {
  EXPECT_EQ(symmetry_text(parse({"one.pipe",
                                 "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(min) real near;\n"
                                 "output(argmin) index who; output(count) int n; output(max) real heavy;\n"
                                 "vec3 dx = xj - xi; near = min(near, dot(dx, dx)); who = argmin(who, dot(dx, dx));\n"
                                 "n += dot(dx, dx) < 1; heavy = max(heavy, mj + dot(dx, dx));"})),
            "near even, who neither, n even, heavy neither");
}

// Both roles of one set: `input` with the arrays of i for j, wherever they are partners.
OracleInput one_set(const Pipeline& both, const std::vector<std::string>& given, const Pipeline& one,
                    const OracleInput& input) {
  OracleInput made = input;
  made.i.clear(), made.j.clear();
  for (std::size_t f = 0; f < both.fields.size(); ++f) {
    const Field& field = both.fields[f];
    if (field.role != Role::InputI && field.role != Role::InputJ) continue;
    const Field& from = *one.find(given[f]);
    for (int c = 0; c < field.components(); ++c)
      (field.role == Role::InputI ? made.i : made.j)
          .push_back((from.role == Role::InputI ? input.i : input.j)[std::size_t(from.first + c)]);
  }
  return made;
}

// The interpreter adds reactions to i, as it does with all terms: the sum over i of the reactions of j is then that
// over the pairs (i, j) of what i adds to j. So both sums over all particles must agree.
TEST(Reactions, AreWhatIAddsToJ) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> any(-1, 1), size(0.2, 1.2);
  for (const Proof& proof : kProofs) {
    const Pipeline one = parse({"one.pipe", kFields + proof.text});
    const std::optional<OneSet> both = with_reactions(one);
    ASSERT_TRUE(both) << proof.text;
    OracleInput input;
    input.ni = input.nj = 9;
    for (int c = 0; c < 9; ++c) {
      input.i.emplace_back(9);
      for (double& x : input.i.back()) x = c < 6 ? any(random) : c < 8 ? size(random) : double(random() % 4);
    }
    input.j = input.i;
    for (const Field* const param : one.fields_of(Role::Param))
      input.params.push_back(param->defaults[input.params.size() - std::size_t(param->first)]);
    const OracleOutput expected = interpret(one, input);
    const OracleInput merged = one_set(both->pipeline, both->given, one, input);
    for (const Pipeline& made : {both->pipeline, optimize(both->pipeline, {}, {})}) {
      Pipeline sums = made;
      sums.finished.clear();
      const OracleOutput got = interpret(sums, merged);
      const std::size_t half = expected.values.size();
      for (std::size_t k = 0; k < half; ++k) {
        double of_i = 0, of_j = 0, terms = 0, all = 0;
        for (std::size_t i = 0; i < 9; ++i) {
          EXPECT_NEAR(got.values[k][i], expected.values[k][i], 1e-9 * (1 + std::fabs(expected.values[k][i])))
              << proof.text;
          of_i += got.values[k][i], of_j += got.values[k + half][i];
          all += expected.values[k][i], terms += std::fabs(got.values[k][i]) + std::fabs(got.values[k + half][i]);
        }
        EXPECT_NEAR(of_j, all, 1e-9 * (1 + terms)) << proof.text << " component " << k;
      }
    }
  }
}

TEST(Reactions, ShareTheOperationsOfAPair) {
  const auto cost = [](const std::string& text) {
    const Pipeline one = parse({"one.pipe", kFields + text});
    return shared_cost(optimize(one, {}, {}), optimize(with_reactions(one)->pipeline, {}, {}));
  };
  EXPECT_LT(cost("s -= mj / r; f += mj / (r2 * r) * dx;"), 0.75);
  EXPECT_LT(cost("s += mj * r; f += mj * (dv - 3 * dot(dx, dv) / r2 * dx) / (r2 * r);"), 0.75);
  EXPECT_LT(cost("s += eps[ti][tj] / r; f += eps[ti][tj] / (r2 * r) * dx;"), 0.75);
  EXPECT_GT(cost("s += exp(-r2 / (hi * hi)) * hi; f += exp(-r2 / (hi * hi)) * vj;"), 0.75);
}

// The proof orders the indices of a symmetric table; the kernel reads the element without ordering them.
TEST(Reactions, ReadSymmetricTablesOnce) {
  const Pipeline both =
      with_reactions(parse({"one.pipe", kFields + "s += eps[ti][tj] * r; f += eps[tj][ti] * dx;"}))->pipeline;
  const std::vector<bool> needed = reachable(both.pair, both.roots());
  int lookups = 0;
  for (NodeId id = 0; id < both.pair.size(); ++id) {
    const Node& node = both.pair[id];
    if (!needed[std::size_t(id)]) continue;
    lookups += node.op == Op::Lookup ? 1 : 0;
    const bool is_extreme = node.op == Op::Min || node.op == Op::Max;
    EXPECT_FALSE(is_extreme && node.binding == Binding::Pair);
  }
  EXPECT_EQ(lookups, 1);
}

}  // namespace
}  // namespace nbcc
