// Which pipelines have a far field, and that the pipelines made for it compute what the text says: for pairs that do
// not coincide, the sum over the parts of factor * sum is the sum of the text's terms. By the interpreter. Refusals:
// far_refusals_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/derived/adjoint.h"
#include "compiler/passes/far/far_pipelines.h"
#include "compiler/passes/far/far_terms.h"
#include "compiler/source/parse.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

struct FarText {
  const char* name;
  const char* expected;  // far_text()
  const char* text;      // fields that are missing are those of kFarFields
};

const std::string kFarFields =
    "input_i vec3 xi; input_i vec3 vi; input_j vec3 xj; input_j vec3 vj; input_j vec3 fj; input_j real mj; input_j "
    "real "
    "qj; input_i real hi; param real eps2 = 0.25; output(sum) real pot; output(sum) vec3 acc;\n"
    "vec3 d = xj - xi; real r2 = dot(d, d);\n";

const FarText kFarTexts[] = {
    {"one weight", "linear in mj, both sides", "pot += mj * rsqrt(r2 + eps2);"},
    {"subtracted", "linear in mj, both sides", "pot -= mj * rsqrt(r2 + eps2);"},
    {"force", "linear in mj, both sides", "acc += mj * pow(r2 + eps2, -1.5) * d;"},
    {"i minus j", "linear in mj, both sides", "vec3 back = xi - xj; acc += mj * exp(-dot(back, back)) * back;"},
    {"both differences", "linear in mj, both sides", "vec3 back = xi - xj; acc += mj * exp(-r2) * back - mj * d / r2;"},
    {"two weights", "linear in mj, qj, both sides", "pot += mj / r2 + qj * exp(-r2);"},
    {"product of weights", "linear in mj * qj, both sides", "pot += mj * qj / r2;"},
    {"nonlinear function of j alone", "linear in exp(mj), both sides", "pot += exp(mj) / r2;"},
    {"quotient of values of j", "linear in mj / qj, both sides", "pot += mj / qj * exp(-r2);"},
    {"no weight", "linear in 1, both sides", "pot += exp(-r2);"},
    {"affine in j", "linear in qj + 3, both sides", "pot += (qj + 3.0) * exp(-r2);"},
    {"affine in j and i", "linear in 1, qj, both sides", "pot += (qj + hi) * exp(-r2);"},
    {"affine after the product", "linear in 1, qj, both sides", "pot += qj * exp(-r2) + 3.0 / r2;"},
    {"vector weight", "linear in fj, both sides", "acc += dot(fj, d) * pow(r2, -1.5) * d + fj / sqrt(r2);"},
    {"cross product", "linear in fj, both sides", "acc += cross(fj, d) * pow(r2 + eps2, -1.5);"},
    {"factor of i", "linear in mj, both sides", "pot += hi * mj / r2;"},
    {"function of i as factor", "linear in mj, both sides", "pot += exp(-hi) * mj / r2; acc += hi * hi * mj * d;"},
    {"sum of factors of i", "linear in mj, both sides", "pot += (hi + dot(vi, d)) * mj / r2;"},
    {"exponent of i", "linear in mj, the side of j alone", "pot += mj * pow(r2, -hi);"},
    {"softening of i", "linear in mj, the side of j alone", "acc += mj * pow(r2 + hi, -1.5) * d;"},
    {"velocity of i in exp", "linear in mj, the side of j alone", "pot += mj * exp(dot(vi, d) / r2);"},
    {"condition on i", "linear in mj, the side of j alone", "pot += hi > 1.0 ? mj / r2 : mj * exp(-r2);"},
    {"guard on i", "linear in mj, the side of j alone", "if (hi > 1.0) pot += mj / r2;"},
    {"exponent and factor of i", "linear in mj, qj, the side of j alone",
     "pot += (vi.x * mj + vi.y * qj) * pow(r2, -hi);"},
    {"same index", "linear in mj, both sides", "skip_if(i_index == j_index); pot += mj * rsqrt(r2);"},
    {"same index by if", "linear in mj, both sides", "if (j_index != i_index) pot += mj * rsqrt(r2);"},
    {"nonlinear where particles coincide", "linear in mj, both sides",
     "pot += r2 == 0.0 ? sqrt(qj * (r2 + 1.0)) : mj / r2;"},
    {"coincident", "linear in mj, both sides", "skip_if(r2 == 0.0); pot += mj * rsqrt(r2);"},
    {"coincident, softened", "linear in mj, both sides", "skip_if(r2 + eps2 == 0.0); pot += mj * rsqrt(r2 + eps2);"},
    {"positive distance", "linear in mj, both sides", "if (r2 > 0.0) acc += mj * pow(r2, -1.5) * d;"},
    {"choice at zero", "linear in mj, both sides", "acc += mj * (r2 > 0.0 ? pow(r2, -1.5) : 0.0) * d;"},
    {"choice at zero of the term", "linear in mj, both sides", "pot += r2 == 0.0 ? 5.0 * qj * qj : mj / r2;"},
    {"choice of a term or nothing", "linear in mj, both sides", "pot += r2 > 49.0 ? mj / r2 : 0.0;"},
    {"choice by one axis", "linear in 1, mj, both sides", "pot += d.x > 4.0 ? mj / r2 : 2.0;"},
    {"guard without a cutoff", "linear in mj, both sides", "if (d.x > 4.0) pot += mj / r2;"},
    {"velocities as a factor", "linear in vj*mj, mj, both sides", "vec3 dv = vj - vi; acc += mj * pow(r2, -1.5) * dv;"},
    {"radial velocity", "linear in mj, mj*vj, both sides", "pot += mj * dot(vj - vi, d) / (r2 * r2);"},
    {"velocities reversed", "linear in mj, mj*vj, both sides", "pot -= mj * dot(vi - vj, d) / (r2 * r2);"},
    {"square of velocities", "linear in 1, vj, vj*vj, both sides", "real s = vj.x - vi.x; pot += s * s / r2;"},
    {"cube of velocities", "linear in 1, vj, vj*vj, vj*vj*vj, both sides", "pot += pow(vj.x - vi.x, 3.0) / r2;"},
    {"moved positions", "linear in mj, both sides",
     "vec3 moved = (xj + 0.25 * vj) - (xi + 0.25 * vi); acc += mj * exp(-dot(moved, moved)) * moved;"},
    {"moved positions, and others", "linear in xj*mj, mj, both sides",
     "vec3 moved = (xj + eps2 * vj) - (xi + eps2 * vi); pot += mj * dot(moved, d) * exp(-dot(moved, moved));"},
    {"one axis", "linear in mj, both sides", "pot += mj * exp(-abs(d.x));"},
    {"two axes", "linear in mj, both sides", "pot += mj * log(d.x * d.x + d.y * d.y); acc.x += mj * d.x;"},
    {"another axis as a weight", "linear in xj*mj, mj, both sides", "pot += mj * exp(-d.x * d.x) * d.y;"},
    {"polynomial", "linear in mj, both sides", "pot += mj * r2; acc += mj * d;"},
    {"functions", "linear in mj, both sides",
     "pot += mj * (sin(d.x) + floor(d.y) + max(d.z, eps2) + atan2(d.y, d.x));"},
    {"functions of params", "linear in mj, both sides", "pot += mj * exp(-r2 / (2.0 * eps2)) / sqrt(eps2);"},
    {"several statements", "linear in mj, qj, 3 * mj, both sides",
     "pot += mj / r2; pot += qj / r2; pot -= 3.0 * mj * exp(-r2); acc.y += qj * d.y;"},
    {"vanishing terms", "linear in mj, qj - qj, both sides", "pot += mj / r2 + (qj - qj) * exp(-r2);"},
    {"loop", "linear in mj, both sides",
     "real s = 0.0; for (int k = 1; k < 4; ++k) s += pow(r2, -0.5 * k); pot += s * mj;"},
    {"derivative by the position", "linear in mj, both sides", "real u = mj * rsqrt(r2 + eps2); acc += grad(u, d);"},
    {"derivative by xi", "linear in mj, both sides",
     "vec3 e = xi - xj; real u = mj * exp(-dot(e, e)); acc -= grad(u, xi); pot += u;"},
    {"second derivative", "linear in fj, both sides",
     "real u = 1.0 / sqrt(r2); vec3 g = grad(u, d); real s = dot(fj, g); acc += grad(s, d);"},
    {"rate of change", "linear in mj, mj*vj, both sides", "real u = mj * rsqrt(r2 + eps2); pot += ddt(u, d, vj - vi);"},
    {"finish", "linear in mj, both sides",
     "pot += mj / r2; acc += mj * d;\nvoid finish() { acc = acc * hi / (1.0 + pot * pot); }"},
};

const FarText kFarOwnFields[] = {
    {"one dimension", "linear in mj, both sides",
     "input_i real xi; input_j real xj; input_j real mj; output(sum) real pot; pot += mj * exp(-abs(xj - xi));"},
    {"two dimensions", "linear in 0.5 * qj, qj, both sides",
     "input_i vec2 xi; input_j vec2 xj; input_j real qj; output(sum) real pot; output(sum) vec2 g;\n"
     "vec2 d = xi - xj; real r2 = dot(d, d); skip_if(r2 == 0.0); pot += 0.5 * qj * log(r2); g += qj / r2 * d;"},
    {"double", "linear in mj, both sides",
     "input_i double xi[3]; input_j double xj[3]; input_j real mj; output(sum) double pot;\n"
     "double s = 0.0; for (int k = 0; k < 3; ++k) s += (xj[k] - xi[k]) * (xj[k] - xi[k]); pot += mj / sqrt(s);"},
    {"double values, narrowed", "linear in mj, both sides",
     "input_i vec3 xi; input_i double qi; input_j vec3 xj; input_j double mj; output(sum) real pot;\n"
     "vec3 d = xj - xi; real r2 = dot(d, d); pot += qi * mj / r2; pot += d.x > 4.0 ? 2.0 * qi * mj : qi * mj / r2;"},
    {"float weight", "linear in mj, both sides",
     "input_i vec3 xi; input_j vec3 xj; input_j float mj; output(sum) real pot; vec3 d = xj - xi; pot += mj / dot(d, "
     "d);"},
    {"whole weight", "linear in cj, both sides",
     "input_i vec3 xi; input_j vec3 xj; input_j int cj; output(sum) real pot; vec3 d = xj - xi; pot += real(cj) / "
     "dot(d, d);"},
    {"table of types of j", "linear in an element of a param, both sides",
     "input_i vec3 xi; input_j vec3 xj; input_j int tj; param real charge[4]; output(sum) real pot;\n"
     "vec3 d = xj - xi; pot += charge[tj] / dot(d, d);"},
    {"table of types of both as a factor", "linear in qj, the side of j alone",
     "input_i vec3 xi; input_i int ti; input_j vec3 xj; input_j real qj; param real charge[4]; output(sum) real pot;\n"
     "vec3 d = xj - xi; pot += charge[ti] * qj / (dot(d, d) + charge[ti]);"},
    {"table of the distance", "linear in mj, both sides",
     "input_i vec3 xi; input_j vec3 xj; input_j real mj; param real wall[64]; output(sum) real pot;\n"
     "vec3 d = xj - xi; pot += mj * table(wall, sqrt(dot(d, d)) * 4.0) + mj * spline(wall, sqrt(dot(d, d)) * 3.0);"},
    {"array output", "linear in mj, both sides",
     "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) real s[3];\n"
     "vec3 d = xj - xi; for (int k = 0; k < 3; ++k) s[k] += mj * pow(dot(d, d), -0.5 * k);"},
    {"cunbody", "linear in INPUT_J, both sides",
     "float x = INPUT_J[0] - INPUT_I[0]; float y = INPUT_J[1] - INPUT_I[1]; float r = 1.0 / (x * x + y * y);\n"
     "OUTPUT[0] += INPUT_J[2] * x * r; OUTPUT[1] += INPUT_J[2] * y * r;"},
    {"cunbody softened by i", "linear in INPUT_J, the side of j alone",
     "float x = INPUT_J[0] - INPUT_I[0]; float r = 1.0 / (x * x + INPUT_I[1]); OUTPUT[0] += INPUT_J[1] * x * r;"},
};

// A random particle set for a pipeline. Particles of j are apart from those of i along the first axis and others.
OracleInput far_particles(const Pipeline& pipeline, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> any(0.4, 1.6);
  OracleInput input;
  input.ni = 5, input.nj = 7, input.j_offset = 1000;
  input.params.resize(std::size_t(pipeline.components(Role::Param)));
  for (const Field& field : pipeline.fields) {
    const bool is_position = field.name[0] == 'x' || pipeline.dialect == Dialect::Cunbody;
    for (int c = 0; c < field.components(); ++c) {
      const auto value = [&] { return is_floating(field.type) ? any(random) : double(random() % 3); };
      if (field.role == Role::Param) {
        input.params[std::size_t(field.first + c)] =
            field.defaults.empty() ? any(random) : field.defaults[std::size_t(c)];
      } else if (field.role == Role::InputI) {
        for (std::int64_t k = 0; k < input.ni; ++k) {
          if (k == 0) input.i.emplace_back();
          input.i.back().push_back(value());
        }
      } else if (field.role == Role::InputJ) {
        const double shift = !is_position ? 0 : c == 0 ? 4 : c == 1 ? -2.5 : 3;
        for (std::int64_t k = 0; k < input.nj; ++k) {
          if (k == 0) input.j.emplace_back();
          // Weights of both signs; one that a text divides by, or takes the logarithm of, is not 0.
          const double sign = !is_position && is_floating(field.type) && (random() & 1) != 0 ? -1 : 1;
          input.j.back().push_back(sign * value() + shift);
        }
      }
    }
  }
  return input;
}

// The columns of values of particles, which a pipeline without pairs computes from columns of one side.
std::vector<std::vector<double>> far_values(const Pipeline& pipeline, const OracleInput& from,
                                            std::vector<std::vector<double>> columns, std::int64_t count,
                                            const std::vector<double>& centres) {
  OracleInput input;
  input.ni = count;
  input.params = from.params;
  input.i = std::move(columns);
  for (const double centre : centres) input.i.emplace_back(std::size_t(count), centre);
  return interpret(pipeline, input).values;
}

void expect_near_and_far_agree(const Pipeline& pipeline, const FarTerms& terms, const FarPipelines& made,
                               const OracleInput& input) {
  std::vector<double> centres;
  if (made.means) {
    OracleInput all = input;
    all.ni = 1;
    all.i.clear();
    for (const auto& column : interpret(*made.means, all).values) centres.push_back(column[0] / double(input.nj));
  }
  ASSERT_EQ(centres.size(), terms.centred.size());
  const auto sources = far_values(made.sources, input, input.j, input.nj, centres);
  const auto targets = far_values(made.targets, input, input.i, input.ni, centres);
  const std::size_t axes = terms.axes.size();
  ASSERT_EQ(sources.size(), axes + terms.weights.size());
  ASSERT_EQ(targets.size(), axes + terms.factors.size());
  OracleInput distant;
  distant.ni = input.ni, distant.nj = input.nj, distant.params = input.params;
  distant.j = sources;
  distant.i = targets;
  if (terms.both_sides) distant.i.resize(axes);
  const OracleOutput sums = interpret(made.distant, distant), near = interpret(made.near, input);
  for (std::size_t output = 0; output < near.values.size(); ++output)
    for (std::size_t i = 0; i < std::size_t(input.ni); ++i) {
      double value = 0, size = near.magnitudes[output][i];
      for (const FarTerms::Part& part : terms.parts) {
        if (std::size_t(part.output) != output) continue;
        const double factor = part.factor >= 0 && terms.both_sides ? targets[axes + std::size_t(part.factor)][i] : 1;
        value += factor * sums.values[std::size_t(part.sum)][i];
        size += std::fabs(factor) * sums.magnitudes[std::size_t(part.sum)][i];
      }
      EXPECT_NEAR(value, near.values[output][i], 1e-12 * size)
          << component_name(pipeline.field_of(Role::Output, int(output)), int(output));
    }
}

// finish() of the totals is what the pipeline itself computes.
void expect_same_finish(const Pipeline& pipeline, const FarPipelines& made, const OracleInput& input) {
  OracleInput finish;
  finish.ni = input.ni, finish.params = input.params;
  finish.i = input.i;
  for (const auto& total : interpret(made.near, input).values) finish.i.push_back(total);
  const OracleOutput expected = interpret(pipeline, input), found = interpret(made.finish, finish);
  ASSERT_EQ(found.values.size(), expected.values.size());
  for (std::size_t output = 0; output < found.values.size(); ++output)
    for (std::size_t i = 0; i < std::size_t(input.ni); ++i)
      EXPECT_NEAR(found.values[output][i], expected.values[output][i], 1e-13 * std::fabs(expected.values[output][i]));
}

// The sizes of a sample are sums over j of the lengths of the terms, pair by pair.
void expect_sizes_of_terms(const Pipeline& pipeline, const FarPipelines& made, const OracleInput& input) {
  const OracleOutput found = interpret(made.sample, input), near = interpret(made.near, input);
  const auto outputs = std::size_t(pipeline.components(Role::Output));
  std::vector<std::vector<double>> sizes;
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Output) continue;
    std::vector<double> size(std::size_t(input.ni), 0);
    for (std::size_t i = 0; i < size.size(); ++i)
      for (std::int64_t j = 0; j < input.nj; ++j) {
        OracleInput pair = input;
        pair.nj = 1, pair.j_offset += j;
        for (auto& column : pair.j) column = {column[std::size_t(j)]};
        const std::int64_t which = std::int64_t(i);
        const OracleOutput term = interpret(made.near, pair, {&which, 1});
        double squared = 0;
        for (int c = field.first; c < field.first + field.components(); ++c)
          squared += term.values[std::size_t(c)][0] * term.values[std::size_t(c)][0];
        size[i] += std::sqrt(squared);
      }
    sizes.push_back(size);
  }
  ASSERT_EQ(found.values.size(), outputs + sizes.size());
  for (std::size_t i = 0; i < std::size_t(input.ni); ++i) {
    for (std::size_t output = 0; output < outputs; ++output) EXPECT_EQ(found.values[output][i], near.values[output][i]);
    for (std::size_t field = 0; field < sizes.size(); ++field)
      EXPECT_NEAR(found.values[outputs + field][i], sizes[field][i], 1e-13 * sizes[field][i]);
  }
}

// Returns far_text(), or the reason why there is none.
std::string expect_far_field(const Pipeline& pipeline) {
  const FarReading reading = read_far_terms(pipeline);
  if (!reading.terms) return "none: " + std::to_string(reading.obstacle.where.line) + ": " + reading.obstacle.reason;
  const FarPipelines made = far_pipelines(pipeline, *reading.terms);
  for (const Pipeline* one : {&made.sources, &made.targets, &made.distant, &made.near, &made.sample, &made.finish}) {
    verify(*one, "the test");
    EXPECT_NE(print(*one), "");
  }
  for (const unsigned seed : {1U, 2U}) {
    const OracleInput input = far_particles(pipeline, seed);
    expect_near_and_far_agree(pipeline, *reading.terms, made, input);
    expect_same_finish(pipeline, made, input);
    expect_sizes_of_terms(pipeline, made, input);
  }
  return far_text(pipeline, *reading.terms);
}

TEST(FarField, TextsThatQualify) {
  for (const FarText& one : kFarTexts) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(expect_far_field(parse({"far.pipe", kFarFields + one.text + "\n"})), one.expected);
  }
}

TEST(FarField, TextsWithOtherFieldsThatQualify) {
  for (const FarText& one : kFarOwnFields) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(expect_far_field(parse({"far.pipe", std::string(one.text) + "\n"})), one.expected);
  }
}

TEST(FarField, SmoothPipelinesOfTheLibraryQualify) {
  const std::pair<const char*, const char*> expected[] = {
      {"gravity", "linear in mj, both sides"},
      {"gravity_acc", "linear in mj, both sides"},
      {"gravity_jerk", "linear in mj, vj*mj, both sides"},
      {"gravity_snap", "linear in mj, vj*mj, vj*vj*mj, aj*mj, the side of j alone"},
      {"potential", "linear in mj, both sides"},
      {"stokeslet", "linear in fj, both sides"},
      {"biot_savart", "linear in gj, both sides"},
      {"bem_single_layer", "linear in wj * sigmaj, both sides"},
      {"bem_double_layer", "linear in wj * muj*nj, both sides"},
      {"laplace_log_2d", "linear in 0.5 * qj, qj, both sides"},
      {"gaussian_rbf", "linear in wj, both sides"},
      {"matern", "linear in wj, both sides"},
      {"cunbody_gravity", "linear in INPUT_J, the side of j alone"},
      {"cunbody_hermite", "linear in INPUT_J, INPUT_J*INPUT_J, both sides"},
  };
  for (const auto& [name, text] : expected) {
    SCOPED_TRACE(name);
    const Pipeline pipeline = parse(read_source(test::source_folder() + "/pipelines/" + name + ".pipe"));
    EXPECT_EQ(expect_far_field(pipeline), text);
  }
}

TEST(FarField, AdjointsOfPipelinesThatQualifyDoToo) {
  const std::array<const char*, 3> expected[] = {
      {"gravity", "linear in mj, the side of j alone", "linear in d_acc, d_pot, both sides"},
      {"gravity_acc", "linear in mj, both sides", "linear in d_acc, both sides"},
      {"stokeslet", "linear in fj, the side of j alone", "linear in d_u, both sides"},
      {"potential", "linear in mj, both sides", "linear in d_pot, both sides"},
      {"laplace_log_2d", "linear in qj, both sides", "linear in d_pot, d_grad, both sides"},
      {"biot_savart", "linear in gj, the side of j alone", "linear in d_u, both sides"},
  };
  for (const auto& [name, by_i, by_j] : expected) {
    SCOPED_TRACE(name);
    const Pipeline pipeline = parse(read_source(test::source_folder() + "/pipelines/" + name + ".pipe"));
    // As derived kernels are made: a run reduces the values of i by itself.
    EXPECT_EQ(expect_far_field(without_totals(adjoint_pipeline(pipeline, {}, AdjointSide::I).pipeline)), by_i);
    EXPECT_EQ(expect_far_field(adjoint_pipeline(pipeline, {}, AdjointSide::J).pipeline), by_j);
  }
}

}  // namespace
}  // namespace nbcc
