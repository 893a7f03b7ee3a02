// Texts that nearly have a far field, and why they have none: the line and the reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/passes/far/far_terms.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

struct FarRefusal {
  const char* name;
  const char* expected;
  const char* text;  // from line 3 on; the fields of kRefusedFields are declared
};

const std::string kRefusedFields =
    "input_i vec3 xi; input_i vec3 vi; input_i real hi; input_i real ri; input_i int ti; input_j vec3 xj; input_j vec3 "
    "vj; "
    "input_j real mj; input_j real qj; input_j real hj; input_j real rj; input_j int tj; param real rc = 2.0;\n"
    "vec3 d = xj - xi; real r2 = dot(d, d);\n";
const std::string kPot = "output(sum) real pot;\n";

const FarRefusal kFarRefusals[] = {
    {"radius of j", "line 4: 'rj' enters nonlinearly", "pot += mj / (r2 + rj);"},
    {"radius of j by a function", "line 4: 'rj' enters nonlinearly", "pot += mj * exp(-r2 * rj);"},
    {"exponent of j", "line 4: 'rj' enters nonlinearly", "pot += mj * pow(r2, rj);"},
    {"sum of radii", "line 4: 'rj' enters nonlinearly", "pot += mj / (r2 + ri + rj);"},
    {"product of radii", "line 4: 'rj' enters nonlinearly", "pot += mj * exp(-r2 / (ri * rj));"},
    {"larger softening", "line 4: 'hj' enters nonlinearly", "pot += mj / (r2 + max(hi, hj));"},
    {"divided by j in the pair", "line 4: 'mj' enters nonlinearly", "pot += r2 / (mj * r2);"},
    {"sign of a weight", "line 4: 'mj' enters nonlinearly", "pot += abs(mj * r2);"},
    {"maximum of a weight", "line 4: 'mj' enters nonlinearly", "pot += max(mj, r2);"},
    {"root of a weighted distance", "line 4: 'mj' enters nonlinearly", "pot += sqrt(mj * r2);"},
    {"rounded weight", "line 4: 'mj' enters nonlinearly", "pot += floor(mj * r2);"},
    {"power of a weighted distance", "line 4: 'mj' enters nonlinearly", "pot += pow(mj * r2, 0.5);"},
    {"weight in a whole number", "line 4: 'mj' enters nonlinearly", "pot += real(int(mj * r2));"},
    {"velocity in exp", "line 4: 'vj.x - vi.x' enters nonlinearly besides three other differences",
     "vec3 dv = vj - vi; pot += mj * exp(-dot(dv, dv) - r2);"},
    {"speed divides", "line 4: 'vj.x - vi.x' enters nonlinearly besides three other differences",
     "vec3 dv = vj - vi; pot += mj / (r2 + dot(dv, dv));"},
    {"approaching particles alone", "line 4: 'vj.x - vi.x' enters nonlinearly besides three other differences",
     "if (dot(vj - vi, d) < 0.0) pot += mj / r2;"},
    {"four differences", "line 4: 'vi.x - vj.x' enters nonlinearly besides three other differences",
     "pot += mj * exp(-r2) * exp(vi.x - vj.x);"},
    {"table of both types", "line 4: 'min(max(tj, 0), 3)' enters nonlinearly", "pot += c[ti][tj] / r2;"},
    {"table at a sum of types", "line 4: 'tj' enters nonlinearly", "pot += s[ti + tj] / r2;"},
    {"guard on types of j", "line 4: 'eq(tj, 2)' is a condition on more than the displacement",
     "if (tj == 2) pot += mj / r2;"},
    {"guard on both types", "line 4: 'not(eq(ti, tj))' is a condition on more than the displacement",
     "skip_if(ti == tj); pot += mj / r2;"},
    {"choice by a type of j", "line 4: 'eq(tj, 1)' enters nonlinearly", "pot += tj == 1 ? mj / r2 : mj * exp(-r2);"},
    {"choice by a weight", "line 4: 'qj < mj' enters nonlinearly", "pot += mj > qj ? 1.0 / r2 : exp(-r2);"},
    {"j_index as a weight", "line 4: j_index is used other than to exclude the pair of a particle with itself",
     "pot += real(j_index) / r2;"},
    {"i_index as a factor", "line 4: i_index is used other than to exclude the pair of a particle with itself",
     "pot += real(i_index) * mj / r2;"},
    {"order of indices", "line 4: 'not(j_index <= i_index)' is a condition on more than the displacement",
     "skip_if(j_index <= i_index); pot += mj / r2;"},
    {"neighbours in a chain", "line 4: 'not(eq(i_index, j_index + 1))' is a condition on more than the displacement",
     "skip_if(i_index == j_index + 1); pot += mj / r2;"},
    {"distance of indices", "line 4: i_index is used other than to exclude the pair of a particle with itself",
     "pot += mj * exp(-abs(real(j_index) - real(i_index)));"},
    {"parity of indices", "line 4: 'eq(rem(i_index + j_index, 2), 0)' is a condition on more than the displacement",
     "if ((i_index + j_index) % 2 == 0) pot += mj / r2;"},
    {"cutoff", "a cutoff: pairs are found by search", "skip_if(r2 >= rc * rc); pot += mj / r2;"},
    {"cutoff by if", "a cutoff: pairs are found by search", "if (r2 < rc * rc) pot += mj / r2;"},
    {"cutoff by a choice", "a cutoff: pairs are found by search", "pot += r2 < rc * rc ? mj / r2 : 0.0;"},
    {"reach of i", "a cutoff: pairs are found by search", "skip_if(r2 >= hi * hi); pot += mj / r2;"},
    {"reach of both", "a cutoff: pairs are found by search", "skip_if(r2 >= (hi + hj) * (hi + hj)); pot += mj / r2;"},
    {"minimum image", "line 4: nearest_image: pairs are found by search",
     "vec3 e = nearest_image(xj - xi, vec3(9.0)); pot += mj / dot(e, e);"},
    {"no difference", "no difference of a value of j and a value of i, such as xj - xi", "pot += mj * dot(xi, xj);"},
    {"no pair value", "no difference of a value of j and a value of i, such as xj - xi", "pot += mj;"},
    {"sum of positions", "no difference of a value of j and a value of i, such as xj - xi",
     "vec3 e = xj + xi; pot += mj * exp(-dot(e, e));"},
    {"ratio of positions", "no difference of a value of j and a value of i, such as xj - xi",
     "pot += mj * log(xj.x / xi.x);"},
    {"scaled position", "line 4: '2 * xj.x - xi.x' enters nonlinearly besides three other differences",
     "vec3 e = 2.0 * xj - xi; pot += mj * exp(-dot(e, e)) / r2;"},
    {"random numbers", "line 4: 'j_index' enters nonlinearly", "pot += mj / r2 * random(i_index, j_index, 7);"},
    {"choice by distance",
     "line 4: a cutoff that is not proved: one side of this bounds a distance, the other does not",
     "pot += r2 > 49.0 ? mj / r2 : qj * r2;"},
};

const FarRefusal kRefusedOutputs[] = {
    {"min", "line 3: 'near' is an output(min), which has no far field",
     "output(min) real near;\nnear = min(near, r2);"},
    {"max", "line 3: 'far' is an output(max), which has no far field", "output(max) real far;\nfar = max(far, r2);"},
    {"argmin", "line 3: 'near' is an output(argmin), which has no far field",
     "output(argmin) index near;\nnear = argmin(near, r2);"},
    {"argmax", "line 4: 'far' is an output(argmax), which has no far field",
     "output(sum) real pot;\noutput(argmax) index far;\nfar = argmax(far, r2); pot += mj / r2;"},
    {"payload", "line 3: 'near' is an output(argmin), which has no far field",
     "output(argmin) index near; output(at) real m;\nnear = argmin(near, r2); m = at(near, mj);"},
    {"count", "line 3: 'n' is an output(count), which has no far field", "output(count) int n;\nn += r2 > 1.0;"},
    {"product", "line 3: 'p' is an output(product), which has no far field",
     "output(product) real p;\np *= 1.0 + mj / r2;"},
    {"logsumexp", "line 3: 'z' is an output(logsumexp), which has no far field",
     "output(logsumexp) real z;\nz = logsumexp(z, -r2);"},
    {"softmax", "line 3: 'm' is an output(softmax), which has no far field",
     "output(softmax) real m;\nm = softmax(m, -r2, mj);"},
    {"sum of integers", "line 3: 'n' is a sum of integers", "output(sum) int n;\nn += r2 > 1.0 ? 1 : 2;"},
    {"sum of indices", "line 3: 'n' is a sum of integers", "output(sum) index n;\nn += j_index;"},
    {"listed pairs", "line 3: 'kp' is an input of listed pairs",
     "input_pair real kp;\noutput(sum) real pot;\npot += kp * mj / r2;"},
    {"two outputs, one of which is nonlinear", "line 5: 'mj' enters nonlinearly",
     "output(sum) real pot; output(sum) real more;\npot += mj / r2;\nmore += sqrt(mj + r2);"},
};

std::string far_refusal_of(const std::string& text) {
  const FarReading reading = read_far_terms(parse({"refused.pipe", text}));
  if (reading.terms) return far_text(parse({"refused.pipe", text}), *reading.terms);
  const int line = reading.obstacle.where.line;
  return (line > 0 ? fmt::format("line {}: ", line) : "") + reading.obstacle.reason;
}

TEST(FarRefusals, TermsThatAreNotLinear) {
  for (const FarRefusal& one : kFarRefusals) {
    SCOPED_TRACE(one.name);
    std::string tables;
    if (std::string(one.text).find("c[") != std::string::npos) tables += "param real c[4][4]; ";
    if (std::string(one.text).find("s[") != std::string::npos) tables += "param real s[8]; ";
    EXPECT_EQ(far_refusal_of(kRefusedFields + tables + kPot + one.text + "\n"), one.expected);
  }
}

TEST(FarRefusals, OutputsThatAreNoSums) {
  for (const FarRefusal& one : kRefusedOutputs) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(far_refusal_of(kRefusedFields + one.text + "\n"), one.expected);
  }
}

}  // namespace
}  // namespace nbcc
