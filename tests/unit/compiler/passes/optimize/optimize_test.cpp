#include "compiler/passes/optimize/optimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/ir/interpret.h"
#include "compiler/ir/print.h"
#include "compiler/source/parse.h"
#include "tests/support/folders.h"
#include "tests/support/random_particles.h"
#include "tests/support/random_pipeline.h"

namespace nbcc {
namespace {

constexpr Precision kPrecisions[] = {Precision::Single, Precision::Mixed, Precision::Double};

// ---- equivalent spellings ----

// What a node computes, whatever its number: the order of commutative arguments does not show.
class Structure {
 public:
  explicit Structure(const Graph& graph) {
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Node& n = graph[id];
      std::vector<std::string> args;
      for (int k = 0; k < arity(n.op); ++k) args.push_back(std::to_string(hash_[std::size_t(n.args[std::size_t(k)])]));
      if (n.op == Op::Add || n.op == Op::Mul || n.op == Op::Fma) std::sort(args.begin(), args.begin() + 2);
      std::string text(name(n.op));
      for (const std::string& part : args) text += " " + part;
      hash_.push_back(std::hash<std::string>()(text + " " + std::to_string(n.payload)));
    }
  }
  std::size_t of(NodeId id) const { return id == kNone ? 0 : hash_[std::size_t(id)]; }

 private:
  std::vector<std::size_t> hash_;
};

std::vector<std::size_t> structure(const Pipeline& pipeline) {
  const Structure nodes(pipeline.pair);
  std::vector<std::size_t> result;
  for (const Contribution& c : pipeline.contributions) {
    for (const NodeId root : {c.value, c.guard, c.scale}) result.push_back(nodes.of(root));
  }
  return result;
}

// s = mj * r2^(-3/2)
const char* const kSpellings[] = {
    "s = mj * pow(r2, -1.5);",
    "s = mj / pow(r2, 1.5);",
    "s = 1.0 / pow(r2, 1.5) * mj;",
    "s = mj * pow(1.0 / r2, 1.5);",
    "s = mj * pow(sqrt(r2), -3.0);",
    "real r = sqrt(r2); s = mj / (r * r * r);",
    "real r = sqrt(r2); s = mj * (1.0 / (r * r * r));",
    "real r = sqrt(r2); real r3 = r * r2; s = mj / r3;",
    "real r = sqrt(r2); real ri = 1.0 / r; s = mj * ri * ri * ri;",
    "s = mj / (sqrt(r2) * sqrt(r2) * sqrt(r2));",
    "s = mj * (1.0 / sqrt(r2) / r2);",
    "s = mj / sqrt(r2) / r2;",
    "s = mj / (r2 * sqrt(r2));",
    "s = 1.0 / (sqrt(r2) * r2) * mj;",
    "s = mj * (rsqrt(r2) * rsqrt(r2) * rsqrt(r2));",
    "real ri = rsqrt(r2); real mri = mj * ri; s = mri * ri * ri;",
    "real ri = rsqrt(r2); real mri = mj * ri; s = mri * (ri * ri);",
    "real ri = rsqrt(r2); real ri2 = ri * ri; s = mj * ri * ri2;",
    "s = mj * (1.0 / sqrt(r2 * r2 * r2));",
    "s = mj * rsqrt(r2 * r2 * r2);",
    "real r4 = r2 * r2; s = mj / sqrt(r4 * r2);",
    "s = mj * ((1.0 / r2) * (1.0 / sqrt(r2)));",
    "real ri2 = 1.0 / r2; s = mj * ri2 * sqrt(ri2);",
    "s = mj * pow(r2, 0.5) / (r2 * r2);",
};

Pipeline gravity_with(const std::string& spelling, const char* sum) {
  return parse({"gravity.pipe",
                "input_i vec3 xi; input_j vec3 xj; input_j real mj; param real eps2 = 0.01; output(sum) vec3 acc;\n"
                "vec3 dx = xj - xi; real r2 = dot(dx, dx) + eps2; real s;\n" +
                    spelling + "\n" + sum});
}

// So that no user pays for the way in which he wrote it.
TEST(optimize, equivalent_spellings_are_one_kernel) {
  for (const char* sum : {"acc += s * dx;", "acc.x += dx.x * s; acc.y += dx.y * s; acc.z += s * dx.z;"}) {
    const Pipeline first = gravity_with(kSpellings[0], sum);
    for (const char* spelling : kSpellings) {
      const Pipeline other = gravity_with(spelling, sum);
      for (const IsaFacts& isa : kIsas) {
        for (const Precision precision : kPrecisions) {
          const Options options{.precision = precision};
          const Pipeline a = optimize(other, options, isa.target), b = optimize(first, options, isa.target);
          EXPECT_EQ(structure(a), structure(b)) << spelling << "\n" << print(a) << print(b);
        }
      }
    }
  }
}

TEST(optimize, gravity_is_as_cheap_as_by_hand) {
  const Pipeline p = optimize(gravity_with(kSpellings[0], "acc += s * dx;"), {}, facts(Isa::Avx512).target);
  int arithmetic = 0;
  for (NodeId id = 0; id < p.pair.size(); ++id) arithmetic += arity(p.pair[id].op) > 0 && p.pair[id].op != Op::Neg;
  // 3 differences, 3 for r2, the estimate, its square, the correction, 3 products, 3 into the sums.
  EXPECT_EQ(arithmetic, 15) << print(p);
}

TEST(optimize, precise_keeps_roots_and_order) {
  const std::string ir = print(optimize(gravity_with("real r = sqrt(r2); s = mj / (r * r * r);", "acc += s * dx;"),
                                        {.math = Math::Precise}, facts(Isa::Avx2).target));
  EXPECT_NE(ir.find("sqrt.real"), std::string::npos);
  EXPECT_NE(ir.find("div.real"), std::string::npos);
  for (const char* fast : {"fma", "estimate", "after the sum"}) EXPECT_EQ(ir.find(fast), std::string::npos) << ir;
}

TEST(optimize, no_fused_operation_in_sums_without_hardware_for_it) {
  const Pipeline p =
      optimize(parse({"a.pipe", "input_i real xi; input_j real xj; output(sum) real s;\ns += xi * xj + xi;"}), {},
               facts(Isa::Sse2).target);
  EXPECT_EQ(print(p).find("fma"), std::string::npos);
}

// ---- meaning ----

std::vector<std::vector<double>> columns(const Pipeline& pipeline, Role role, const test::Particles& particles) {
  std::vector<std::vector<double>> result;
  for (const Field& field : pipeline.fields) {
    if (field.role != role) continue;
    const std::vector<double>& values = particles.fields.at(field.name);
    const auto width = std::size_t(field.components());
    for (std::size_t c = 0; c < width; ++c) {
      auto& column = result.emplace_back();
      for (std::size_t k = c; k < values.size(); k += width) column.push_back(values[k]);
    }
  }
  return result;
}

OracleInput library_input(const Pipeline& pipeline) {
  const test::Particles particles = test::random_particles(pipeline, 7, 40, /*seed=*/3);
  OracleInput input;
  input.ni = particles.ni;
  input.nj = particles.nj;
  input.i = columns(pipeline, Role::InputI, particles);
  input.j = columns(pipeline, Role::InputJ, particles);
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Param) continue;
    const auto given = particles.params.find(field.name);
    const std::vector<double>& values = given == particles.params.end() ? field.defaults : given->second;
    input.params.insert(input.params.end(), values.begin(), values.end());
  }
  return input;
}

void expect_same_meaning(const Pipeline& before, const OracleInput& input, const Options& options, Isa isa,
                         double relative, const std::string& what) {
  const OracleOutput expected = interpret(before, input);
  const OracleOutput got = interpret(optimize(before, options, facts(isa).target), input);
  for (std::size_t c = 0; c < expected.values.size(); ++c) {
    for (std::size_t i = 0; i < expected.values[c].size(); ++i) {
      const double want = expected.values[c][i], is = got.values[c][i];
      const double size = std::isfinite(expected.magnitudes[c][i]) ? expected.magnitudes[c][i] : 0;
      EXPECT_TRUE(is == want || std::fabs(is - want) <= relative * (size + std::fabs(want)) ||
                  (std::isnan(is) && std::isnan(want)))
          << what << ", " << name(isa) << ", " << name(options.precision) << ", " << name(options.math) << ", "
          << name(options.root) << ", output " << c << " of i " << i << ": " << is << ", not " << want;
    }
  }
}

template <class Check>
void for_all_choices(const Check& check) {
  for (const Precision precision : kPrecisions) {
    check(Options{precision, Math::Precise}, Isa::Avx2);
    for (const RootMode root : {RootMode::Refined, RootMode::Exact}) {
      for (const IsaFacts& isa : kIsas) check(Options{precision, Math::Fast, root}, isa.isa);
    }
  }
}

TEST(optimize, keeps_the_meaning_of_the_library) {
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/pipelines")) {
    if (entry.path().extension() != ".pipe") continue;
    const Pipeline pipeline = parse(read_source(entry.path()));
    const OracleInput input = library_input(pipeline);
    for_all_choices([&](const Options& options, Isa isa) {
      expect_same_meaning(pipeline, input, options, isa, 1e-12, entry.path().stem());
    });
  }
}

// Within the limit as it is written; each root becomes an estimate and its correction.
TEST(optimize, refuses_what_grows_beyond_the_limit) {
  const Pipeline pipeline = parse(
      {"p.pipe",
       "input_j real y;\noutput(max) real o;\n"
       "for (int k = 0; k < 2; ++k) for (int l = 0; l < 8000; ++l) o = max(o, 1 / sqrt(y * (k * 10000 + l) + 1));"});
  EXPECT_NO_THROW(optimize(pipeline, {Precision::Single, Math::Precise}, facts(Isa::Avx2).target));
  EXPECT_THROW(optimize(pipeline, {Precision::Single, Math::Fast}, facts(Isa::Avx2).target), CompileError);
}

TEST(optimize, keeps_the_meaning_of_random_pipelines) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Pipeline pipeline = parse({"random.pipe", test::random_pipeline_text(seed)});
    const OracleInput input = test::random_pipeline_input(pipeline, 3, 9, seed);
    for_all_choices([&](const Options& options, Isa isa) {
      expect_same_meaning(pipeline, input, options, isa, 1e-12, "seed " + std::to_string(seed));
    });
  }
}

}  // namespace
}  // namespace nbcc
