// Fast math keeps the range of the text: where every operation as written gives 0 or a magnitude within 2^-100 .. 2^100
// (in double 2^-1000 .. 2^1000), the kernel's results are finite and within the bound. Held against changes of units of
// the library's pipelines and of random products, and against texts that were once wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/ir/print.h"
#include "compiler/source/parse.h"
#include "compiler/table.h"
#include "particles/error_bounds/error_bound.h"
#include "particles/error_bounds/running_error.h"
#include "tests/support/cpu_run.h"
#include "tests/support/every_pipeline.h"
#include "tests/support/random_source.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

constexpr Options kExact{.precision = Precision::Double, .math = Math::Precise};

double limit(Precision precision) { return precision == Precision::Double ? 1000 : 100; }

// Whether every operation of every pair is within the range for which fast math promises to be right.
bool stays_in_range(const Pipeline& pipeline, const OracleInput& input, double limit) {
  const std::vector<std::vector<double>> tables = tables_of(pipeline.tables, input.params);
  RunningError pair(pipeline.pair, pipeline.roots(), kExact, {}, tables, int(input.nj));
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  for (std::int64_t i = 0; i < input.ni; ++i) {
    pair.compute(int(input.nj), [&](const Node& leaf, int j) -> RunningError::Number {
      const auto component = std::size_t(leaf.payload);
      if (leaf.op == Op::Param) return {input.params[component], 0};
      if (leaf.op == Op::InputI) return {input.i[component][std::size_t(i)], 0};
      if (leaf.op == Op::InputJ) return {input.j[component][std::size_t(j)], 0};
      return {double(leaf.op == Op::IIndex ? i : j), 0};
    });
    for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
      const Node& node =
          pipeline.pair[id];  // constants are no results: nearest_image() compares with limits of lengths
      if (!needed[std::size_t(id)] || node.type < Type::Float || node.op == Op::Const) continue;
      for (int j = 0; j < input.nj; ++j) {
        const double value = std::fabs(pair.at(id, j).value);
        if (value != 0 && !(value >= std::exp2(-limit) && value <= std::exp2(limit))) return false;
      }
    }
  }
  return true;
}

// Empty, or the first result that is wrong.
std::string wrong_result(const Pipeline& pipeline, const OracleInput& input, const CpuRun& run,
                         const Options& options) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < input.ni; ++i) all.push_back(i);
  const Expectation expected = expect(pipeline, input, all, options, facts(detect_isa()).target);
  const CpuRun::Columns got = run(input);
  for (std::size_t c = 0; c < got.size(); ++c)
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double error = std::fabs(got[c][k] - expected.values[c][k]);
      if (got[c][k] == expected.values[c][k] || error <= expected.bound[c][k]) continue;
      return "component " + std::to_string(c) + " of i = " + std::to_string(k) + " is " + std::to_string(got[c][k]) +
             ", expected " + std::to_string(expected.values[c][k]) + ", wrong by " +
             std::to_string(error / expected.bound[c][k]) + " bounds";
    }
  return "";
}

// ---- the library, in other units ----

struct Units {
  int length, velocity, mass;  // powers of two
};
struct Dimension {
  double length = 0, velocity = 0, mass = 0;
};

// Of the library's fields, by name; any other field has a unit of its own.
const std::map<std::string, Dimension> kDimensions{{"xi", {1}},
                                                   {"xj", {1}},
                                                   {"hi", {1}},
                                                   {"hj", {1}},
                                                   {"sigma", {1}},
                                                   {"rc", {1}},
                                                   {"rs", {1}},
                                                   {"dr", {1}},
                                                   {"box", {1}},
                                                   {"lambda", {1}},
                                                   {"z0", {1}},
                                                   {"eps2", {2}},
                                                   {"vi", {0, 1}},
                                                   {"vj", {0, 1}},
                                                   {"ai", {-1, 2}},
                                                   {"aj", {-1, 2}},
                                                   {"ci", {0, 1}},
                                                   {"cj", {0, 1}},
                                                   {"rhoi", {-3, 0, 1}},
                                                   {"rhoj", {-3, 0, 1}},
                                                   {"presi", {-3, 2, 1}},
                                                   {"presj", {-3, 2, 1}},
                                                   {"mj", {0, 0, 1}},
                                                   {"eps", {0, 2, 1}},
                                                   {"ke", {1, 2, 1}},
                                                   {"alpha", {}},
                                                   {"beta", {}},
                                                   {"shift", {}},
                                                   {"eps_rf", {}},
                                                   {"omegai", {}},
                                                   {"omegaj", {}},
                                                   {"nj", {}},
                                                   {"ell", {1}},
                                                   {"sigma0", {1}},
                                                   {"epsilon0", {0, 2, 1}},
                                                   {"ui", {}},
                                                   {"uj", {}},
                                                   {"kappa", {}},
                                                   {"kappa_prime", {}},
                                                   {"radiusi", {1}},
                                                   {"radiusj", {1}},
                                                   {"offset", {1}},
                                                   {"scalei", {}},
                                                   {"scalej", {}},
                                                   {"born_slopei", {2}},
                                                   {"born_slopej", {2}},
                                                   {"borni", {1}},
                                                   {"bornj", {1}},
                                                   {"eps_in", {}},
                                                   {"eps_out", {}}};

// Of fields whose name means something else elsewhere.
const std::map<std::string, Dimension> kOwnDimensions{{"ewald_real alpha", {-1}},
                                                      {"buckingham rho", {1}},
                                                      {"buckingham a", {0, 2, 1}},
                                                      {"buckingham c", {6, 2, 1}},
                                                      {"gay_berne mu", {}},
                                                      {"gay_berne nu", {}},
                                                      {"born_radii gamma", {}},
                                                      {"dpd a", {-1, 2, 1}},
                                                      {"dpd gamma", {-1, 1, 1}},
                                                      {"dpd kt", {0, 2, 1}},
                                                      {"dpd dt", {1, -1}},
                                                      {"dpd step", {}},
                                                      {"helmholtz k", {-1}},
                                                      {"yukawa kappa", {-1}},
                                                      {"lennard_jones_soft_core lambda", {}},
                                                      {"born_mayer a", {0, 2, 1}},
                                                      {"born_mayer rho", {1}},
                                                      {"born_mayer c", {6, 2, 1}},
                                                      {"born_mayer d", {8, 2, 1}},
                                                      {"screened_coulomb kappa", {-1}}};

double scale_of(const Pipeline& pipeline, const Field& field, const Units& units, RandomSource& own) {
  auto known = kOwnDimensions.find(pipeline.name + " " + field.name);
  if (known == kOwnDimensions.end()) {
    known = kDimensions.find(field.name);
    if (known == kDimensions.end()) return std::exp2(own.between(-50, 50));
  }
  const Dimension& d = known->second;
  return std::exp2(d.length * units.length + d.velocity * units.velocity + d.mass * units.mass);
}

OracleInput oracle_input(const Pipeline& pipeline, const Particles& particles) {
  OracleInput input;
  input.ni = particles.ni;
  input.nj = particles.nj;
  for (const Field& field : pipeline.fields) {
    if (field.role == Role::Output) continue;
    if (field.role == Role::Param) {
      const std::vector<double>& values = particles.params.at(field.name);
      input.params.insert(input.params.end(), values.begin(), values.end());
      continue;
    }
    const std::vector<double>& values = particles.fields.at(field.name);
    for (int c = 0; c < field.components(); ++c) {
      std::vector<double>& column = (field.role == Role::InputI ? input.i : input.j).emplace_back();
      for (std::size_t k = std::size_t(c); k < values.size(); k += std::size_t(field.components()))
        column.push_back(values[k]);
    }
  }
  return input;
}

class InOtherUnits : public testing::TestWithParam<std::string> {};

TEST_P(InOtherUnits, TheLibraryKeepsItsRange) {
  const Pipeline pipeline = parse(read_source(source_folder() + "/pipelines/" + GetParam() + ".pipe"));
  for (const Precision precision : {Precision::Single, Precision::Mixed}) {
    const Options options{.precision = precision};
    const CpuRun run(pipeline, options, detect_isa());
    RandomSource random(std::hash<std::string>()("units"));
    int tried = 0;
    for (int trial = 0; trial < 200; ++trial) {
      Particles particles = random_particles(pipeline, 3, 41, std::uint64_t(trial));
      // Every second change of units is one of a single dimension.
      Units units{random.between(-50, 50), random.between(-50, 50), random.between(-50, 50)};
      if (trial % 2 == 0) (trial % 4 == 0 ? units.velocity : units.length) = 0, units.mass = 0;
      for (const Field& field : pipeline.fields) {
        if (field.role == Role::Output || field.type < Type::Float) continue;  // a number of things has no unit
        const double scale = scale_of(pipeline, field, units, random);
        const bool param = field.role == Role::Param;
        for (double& value : param ? particles.params[field.name] : particles.fields[field.name]) value *= scale;
      }
      const OracleInput input = oracle_input(pipeline, particles);
      if (!stays_in_range(pipeline, input, limit(precision))) continue;
      ++tried;
      const std::string wrong = wrong_result(pipeline, input, run, options);
      ASSERT_EQ(wrong, "") << GetParam() << ", " << describe(options, detect_isa()) << ", lengths in 2^" << units.length
                           << ", velocities in 2^" << units.velocity << ", masses in 2^" << units.mass;
    }
    EXPECT_GE(tried, 5) << "too few changes of units stay in the range to tell";
  }
}

INSTANTIATE_TEST_SUITE_P(Pipelines, InOtherUnits, testing::ValuesIn(sampled(library(), 4)));

// ---- texts that were once wrong ----

struct Text {
  const char* statements;
  double size;  // of positions
  double s, k;  // params
};

// Regrouped, each of these left single precision: (s/r)^12 as s^12 r^-12, a factor that is a product of params, a
// condition and the choice of a minimum by a fourth power.
const Text kTexts[] = {
    {"real q = s * s / (d * d); real q6 = q * q * q; o += 4.0 * k * q6 * (q6 - 1.0);", 3e-10, 3.4e-10, 1.65e-21},
    {"real q = d / s; real q2 = q * q; real q6 = q2 * q2 * q2; o += q6 / (1.0 + q6);", 1e-9, 1e-9, 1},
    {"real q = d / s; if (q * q * q * q < 1.0) o += 1.0;", 1e-12, 1e-12, 1},
    {"real q = d / s; n = argmin(n, q * q * q * q);", 1e-12, 1e-12, 1},
    {"o += pow(s / d, 6.5);", 1e-9, 1e-9, 1},
    {"o += k * mj * d;", 1e-20, 1, 1e25},
    {"o += (k * d) * (mj * d);", 1e15, 1, 1e-25},
    {"o += k * (d / s) * (d / s);", 1e-25, 1e-25, 1e-3},
};

TEST(Range, TextsKeepIt) {
  for (const Text& text : kTexts) {
    std::string all =
        "input_i real xi; input_j real xj; input_j real mj; param real s = 1.0; param real k = 1.0;\n"
        "output(sum) real o; output(argmin) index n;\nreal d = fabs(xj - xi);\n";
    all += text.statements;
    for (const char* other : {"o += mj;", "n = argmin(n, mj);"})
      if (std::string(text.statements).find(std::string(other, 4)) == std::string::npos) all += other;
    const Pipeline pipeline = parse({"text.pipe", all});
    OracleInput input{.ni = 3, .nj = 29, .i = {{}}, .j = {{}, {}}, .params = {text.s, text.k}};
    for (int i = 0; i < input.ni; ++i) input.i[0].push_back(double(float(text.size * i)));
    for (int j = 0; j < input.nj; ++j) {
      input.j[0].push_back(double(float(text.size * (0.3 + 0.11 * j))));
      input.j[1].push_back(1 + j % 5);
    }
    ASSERT_TRUE(stays_in_range(pipeline, input, limit(Precision::Single))) << text.statements;
    for (const Math math : {Math::Precise, Math::Fast}) {
      const Options options{.math = math};
      EXPECT_EQ(wrong_result(pipeline, input, CpuRun(pipeline, options, detect_isa()), options), "") << text.statements;
    }
  }
}

// ---- random products ----

// Products, quotients, roots and powers of positive fields, in variables that several outputs share.
class ProductAuthor {
 public:
  explicit ProductAuthor(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    text_ =
        "input_i real xi; input_i real hi; input_j real xj; input_j real mj; input_j real qj;\n"
        "param real p = 1.0; param real k = 1.0;\n"
        "output(sum) real s; output(sum) real t; output(max) real u; output(argmin) index w;\n"
        "real d = fabs(xj - xi);\n";
    for (int n = random_.between(2, 6); n > 0; --n) {
      const std::string name = "v" + std::to_string(n);
      text_ += "real " + name + " = " + product(2) + ";\n";
      leaves_.push_back(name);
    }
    text_ += "s += " + product(3) + ";\n";
    text_ += "if (" + product(1) + " < " + product(1) + ") t -= " + product(3) + ";\n";
    text_ += "u = max(u, " + product(2) + ");\nw = argmin(w, " + product(2) + ");\n";
    return text_;
  }

 private:
  std::string product(int depth) {
    if (depth == 0) return random_.pick(leaves_);
    const std::string a = product(random_.below(depth)), b = product(depth - 1);
    switch (random_.below(12)) {
      case 0:
        return "sqrt(" + a + ")";
      case 1:
        return "rsqrt(" + a + ") * " + b;
      case 2:
        return "pow(" + a + ", " + std::to_string(random_.between(-5, 5) / 2.0 + 0.25 * random_.below(2)) + ")";
      case 3:
        return "(1.0 + " + a + ") * " + b;
      case 4:
      case 5:
      case 6:
        return a + " / (" + b + ")";
      case 7:
        return std::to_string(random_.between(1, 30)) + ".0 * (" + a + ")";
      default:
        return "(" + a + ") * (" + b + ")";
    }
  }

  RandomSource random_;
  std::vector<std::string> leaves_{"d", "d", "d * d", "p", "k", "mj", "qj", "hi", "(xj + xi)"};
  std::string text_;
};

class RandomProducts : public testing::TestWithParam<int> {};

TEST_P(RandomProducts, KeepTheRangeOfTheText) {
  constexpr int kTexts = 8, kScales = 40;
  int tried = 0;
  for (int n = 0; n < kTexts; ++n) {
    const auto seed = std::uint64_t(GetParam() * kTexts + n);
    const std::string text = ProductAuthor(seed).write();
    const Pipeline pipeline = parse({"products.pipe", text});
    const Options options{.precision = n % 4 == 3 ? Precision::Double : Precision::Single};
    const CpuRun run(pipeline, options, detect_isa());
    RandomSource random(seed);
    for (int trial = 0; trial < kScales; ++trial) {
      const int widest = (options.precision == Precision::Double ? 8 : 1) * (trial % 3 == 0 ? 20 : 60);
      const auto value = [&](double scale) { return scale * (1 + random.below(1024) / 1024.0); };
      const auto scale = [&] { return std::exp2(random.between(-widest, widest)); };
      const double length = scale();
      OracleInput input{
          .ni = 2, .nj = 21, .i = {{}, {}}, .j = {{}, {}, {}}, .params = {value(scale()), value(scale())}};
      const double h = scale(), m = scale(), q = scale();
      // Positions on a grid: differences are exact, and no two are at the same place.
      for (int i = 0; i < input.ni; ++i) input.i[0].push_back(length * (i + 0.5)), input.i[1].push_back(value(h));
      for (int j = 0; j < input.nj; ++j) {
        input.j[0].push_back(length * random.below(16));
        input.j[1].push_back(value(m));
        input.j[2].push_back(value(q));
      }
      if (!stays_in_range(pipeline, input, limit(options.precision))) continue;
      ++tried;
      const std::string wrong = wrong_result(pipeline, input, run, options);
      ASSERT_EQ(wrong, "") << "seed " << seed << ", " << describe(options, detect_isa()) << ", trial " << trial << "\n"
                           << text << print(pipeline);
    }
  }
  EXPECT_GE(tried, 20) << "too few changes of units stay in the range to tell";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProducts, testing::ValuesIn(test::sampled_range(0, 12, 3)),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace nbcc::test
