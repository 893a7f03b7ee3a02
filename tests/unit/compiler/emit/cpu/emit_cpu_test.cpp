#include "compiler/emit/cpu/emit_cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"

namespace nbcc {
namespace {

using test::CpuRun;

struct EmitCpuCase {
  const char* name;
  const char* text;
};

// What the pipelines of the library do not happen to contain. x: 1/8 steps in (-4, 4), k: small ints, f: 0 or 1.
#define FIELDS                                                                                               \
  "input_i real xi; input_i int ki; input_i bool fi; input_i index ni; input_i float ei; input_i double di;" \
  "input_j real xj; input_j int kj; input_j bool fj; input_j index nj; input_j float ej; input_j double dj;" \
  "param real p = 1.5; param int q = 3; param bool pf = true;\n"

const EmitCpuCase kEmitCpuCases[] = {
    {"bool_select", FIELDS "output(sum) real s;\nbool b = xi < xj ? fi : kj < 2; s += b ? xj : 2.0;"},
    {"bool_select_of_constants",
     FIELDS "output(sum) real s;\nbool b = xi < xj ? true : fj; bool c = fi ? b : false; s += c ? xj : 2.0;"},
    {"bool_equal", FIELDS "output(sum) real s;\nif (fi == fj) s += xj; if (fi != (xj < xi)) s += 1.0;"},
    {"not", FIELDS "output(sum) real s;\nif (!(xi < xj)) s += xj; if (!fj) s += 1.0; if (!fi && !pf) s += 4.0;"},
    {"bool_of_i_and_j",
     FIELDS "output(sum) real s;\nbool a = xi < 0.5; bool b = xj < 0.25 && a; if (a || fj) s += xj; if (b) s -= xi;"},
    {"casts_from_bool", FIELDS "output(sum) real s;\ns += real(fi) + real(xi < xj) + 2.0 * real(fj) + real(double(fj)) "
                               "+ real(float(fi)) + real(int(fj)) + real(index(fi));"},
    {"casts_from_int", FIELDS
     "output(sum) real s;\ns += real(ki) + real(kj * ki) + real(float(kj)) + real(double(ki)) + real(index(kj) * 2);"},
    {"casts_from_index", FIELDS
     "output(sum) real s;\ns += real(ni) + real(nj * ni) + real(float(nj)) + real(double(nj)) + real(int(nj) + kj);"},
    {"casts_to_whole", FIELDS "output(sum) real s;\ns += real(int(xj * 2.5)) + real(index(xi * -2.5)) + real(int(dj)) "
                              "+ real(index(ej)) + real(int(xj - xi));"},
    {"casts_to_bool",
     FIELDS "output(sum) real s;\nif (bool(kj)) s += 1.0; if (bool(xj)) s += 2.0; if (bool(nj)) s += 4.0;"},
    {"float_nodes", FIELDS "output(sum) float s; output(max) float m;\nfloat d = ej - ei; s += d * d; m = max(m, d);"},
    {"float_functions", FIELDS "output(sum) float s;\nfloat d = ej - ei; s += exp(-d * d) + rsqrt(d * d + float(1)) + "
                               "pow(fabs(d) + float(1), float(1.25)) + round(d);"},
    {"double_nodes",
     FIELDS "output(sum) double s; output(min) double m;\ndouble d = dj - di; s += d * d; m = min(m, d);"},
    {"double_functions", FIELDS "output(sum) double s;\ndouble d = dj - di; s += exp(-d * d) + 1.0 / sqrt(d * d + "
                                "double(1)) + atan2(d, double(2)) + floor(d) + sinpi(d);"},
    {"double_and_real",
     FIELDS "output(sum) real s; output(sum) double t;\nreal d = xj - xi; s += d * real(dj); t += double(d) * dj;"},
    {"int_sum", FIELDS "output(sum) int s;\ns += kj - 2 * ki; if (xj < xi) s += 1;"},
    {"index_sum", FIELDS "output(sum) index s;\ns += nj * ni;"},
    {"int_min_max", FIELDS "output(min) int a; output(max) index b;\na = min(a, kj * ki); b = max(b, nj - ni);"},
    {"int_division_by_zero",
     FIELDS "output(sum) real s;\ns += real(ki / kj) + real(ki % kj) + real(nj / ni) + real(nj % index(ki));"},
    {"argmin_of_int", FIELDS
     "output(argmin) index a; output(argmax) index b;\na = argmin(a, (kj - ki) * (kj - ki)); b = argmax(b, kj);"},
    {"argmin_of_double", FIELDS "output(argmin) index a;\na = argmin(a, (dj - di) * (dj - di));"},
    {"argmin_guarded",
     FIELDS "output(argmin) index a;\nskip_if(i_index == j_index); if (fj) a = argmin(a, fabs(xj - xi));"},
    {"j_index_as_value",
     FIELDS "output(sum) real s; output(max) index m;\ns += real(j_index) * 0.25; m = max(m, j_index - i_index);"},
    {"j_index_min", FIELDS "output(min) index m;\nif (xi < xj) m = min(m, j_index);"},
    {"i_index_alone", FIELDS "output(sum) real s;\ns += real(i_index);"},
    {"index_arithmetic", FIELDS "output(sum) real s;\ns += real((i_index * 7 + j_index) % 5) + real((j_index - "
                                "i_index) / 3); if (i_index < j_index) s += 1.0;"},
    {"index_self_both",
     FIELDS "output(sum) real s;\nif (i_index != j_index) s += xj; if (i_index <= j_index) s += 1.0;"},
    {"count", FIELDS "output(sum) real s; output(sum) int n;\ns += 1.0; n += 1;"},
    {"count_of_some", FIELDS "output(sum) real s;\nif (xj < xi) s += 1.0;"},
    {"constant_extremes", FIELDS "output(min) real a; output(max) real b;\na = min(a, 2.0); b = max(b, 3.0);"},
    {"of_param", FIELDS "output(sum) real s; output(max) real m;\ns += p; m = max(m, p * real(q));"},
    {"of_i", FIELDS "output(sum) real s; output(max) real m; output(argmin) index a;\ns += xi * xi; m = max(m, sqrt(xi "
                    "* xi + 1.0)); a = argmin(a, xi);"},
    {"of_i_root", FIELDS "output(sum) real s;\ns += rsqrt(xi * xi + 2.0) * xj;"},
    {"of_i_powers",
     FIELDS "output(sum) real s;\nreal h = fabs(xi) + 1.0; s += xj / (h * h * sqrt(h)) * (fi ? h : 2.0);"},
    {"of_i_functions", FIELDS "output(sum) real s;\ns += exp(xi) * cospi(xi) * min(xi, 0.5) * round(xi + 0.25) * "
                              "pow(fabs(xi), 1.25) * xj * real(ki / 2 + ki % 3);"},
    {"of_j", FIELDS "output(sum) real s; output(argmax) index a;\ns += xj * xj; a = argmax(a, xj);"},
    {"of_j_root", FIELDS "output(sum) real s;\ns += rsqrt(xj * xj + 2.0) * exp(-xj) * fabs(xi - xj);"},
    {"guard_of_param", FIELDS "output(sum) real s;\nif (pf) s += xj; if (q < 2) s += 1.0;"},
    {"guard_of_i", FIELDS "output(sum) real s;\nif (xi < 0.5) s += xj;"},
    {"guard_of_j", FIELDS "output(sum) real s; output(min) real m;\nif (fj) s += xj; if (kj < 0) m = min(m, xj);"},
    {"guard_never", FIELDS "output(sum) real s;\nif (false) s += xj; s += 1.0;"},
    {"cutoff_and_self",
     FIELDS "output(sum) real s; output(sum) real t;\nskip_if(i_index == j_index); real d = xj - xi; real r2 = d * d; "
            "if (r2 < 1.0) { s += exp(-r2) * sqrt(r2 + 0.5) / (r2 + 0.25); t += 1.0 / (r2 + 0.5); }"},
    {"whole_array", FIELDS "input_j real c[4]; input_i vec2 v[2]; output(sum) real s[2]; output(sum) vec2 w;\nfor (int "
                           "n = 0; n < 4; ++n) s[n / 2] += c[n] * xi; w += c[1] * v[0] - v[1];"},
    {"differences_and_alone",
     FIELDS "output(sum) real s;\nreal d = xj - xi; s += d * xj + d * d * xi + (xi - xj) * xi;"},
    {"finish_of_everything",
     FIELDS "output(sum) real s; output(sum) int k; output(argmin) index a;\ns += xj; k += kj; a = argmin(a, xj);"
            "void finish() { bool b = s < xi || fi; s = b ? s * p + real(ki) : sqrt(fabs(s)) + real(i_index); k = k / "
            "2 + ki % 3; if (a < 3) a = ni; }"},
    {"finish_input_beside_derived_columns",
     FIELDS "output(max) real m;\nm = max(m, exp(xi) + xj);\nvoid finish() { m = m * di + real(ki); }"},
    {"finish_of_floats", FIELDS "output(sum) float s; output(sum) float t;\ns += float(xj); t += ej;"
                                "void finish() { s = float(min(real(s), xi) + round(s) + cospi(s)) + clamp(s, "
                                "float(-1), float(1)); t = t * ei + float(s) + max(t, ei); }"},
    {"rounding", FIELDS "output(sum) real s;\nreal x = xj * 4.0; s += round(x) + 10.0 * floor(x) + 100.0 * ceil(x) + "
                        "1000.0 * trunc(x) + copysign(xi, xj);"},
};

// With each of these instruction sets a case meets elements of four bytes, in single or in mixed precision, and of
// eight; and one policy there, the other one here. Compiling all combinations would take three times as long. `turn`
// chooses, and differs from case to case.
struct Choice {
  Options options;
  Isa isa;
};
std::vector<Choice> choices(const std::vector<Isa>& isas, std::size_t turn) {
  std::vector<Choice> all;
  for (const Isa isa : isas) {
    const Math one = turn % 2 == 0 ? Math::Fast : Math::Precise, other = turn % 2 == 0 ? Math::Precise : Math::Fast;
    all.push_back({{turn / 2 % 2 == 0 ? Precision::Single : Precision::Mixed, one, RootMode::Refined}, isa});
    all.push_back({{Precision::Double, other, RootMode::Refined}, isa});
    ++turn;
  }
  return all;
}

OracleInput input_for(const Pipeline& pipeline, std::int64_t ni, std::int64_t nj) {
  OracleInput input;
  input.ni = ni;
  input.nj = nj;
  int salt = 0;
  for (const Field& field : pipeline.fields) {
    if (field.role == Role::Param)
      input.params.insert(input.params.end(), field.defaults.begin(), field.defaults.end());
    if (field.role != Role::InputI && field.role != Role::InputJ) continue;
    for (int c = 0; c < field.components(); ++c) {
      std::vector<double> column;
      ++salt;
      for (std::int64_t k = 0; k < (field.role == Role::InputI ? ni : nj); ++k) {
        const auto n = double((k * 37 + salt * 11) % 63);  // 0..62
        column.push_back(field.type == Type::Bool                               ? std::fmod(n, 2)
                         : field.type == Type::Int || field.type == Type::Index ? std::floor(n / 9) - 3
                                                                                : (n - 31) / 8);
      }
      (field.role == Role::InputI ? input.i : input.j).push_back(std::move(column));
    }
  }
  return input;
}

// Of a case's number.
class EmitCpu : public testing::TestWithParam<std::size_t> {
 protected:
  static Pipeline pipeline() { return parse({"case.pipe", kEmitCpuCases[GetParam()].text}); }
};

TEST_P(EmitCpu, HasTheInterpretersValues) {
  const Pipeline pipeline = EmitCpu::pipeline();
  for (const auto& [options, isa] : choices(test::runnable_isas(), GetParam())) {
    // Operations are good to a few ulp, and values to ten times that of an output's terms' sum; NaN is no excuse.
    const bool wide = options.precision == Precision::Double &&
                      std::string(kEmitCpuCases[GetParam()].text).find("float s;") == std::string::npos;
    const double relative = 64 * (wide ? 0x1p-52 : 0x1p-23);
    const CpuRun run(pipeline, options, isa);
    for (const auto& [ni, nj] : {std::pair<int, int>{5, 37}, {4, 0}}) {
      const OracleInput input = input_for(pipeline, ni, nj);
      const OracleOutput expected = interpret(pipeline, input);
      const CpuRun::Columns got = run(input);
      for (std::size_t c = 0; c < got.size(); ++c) {
        for (std::size_t i = 0; i < got[c].size(); ++i) {
          const double want = expected.values[c][i], is = got[c][i];
          const double size = std::isfinite(expected.magnitudes[c][i]) ? expected.magnitudes[c][i] : 0;
          EXPECT_TRUE(is == want || std::fabs(is - want) <= relative * (size + std::fabs(want)))
              << kEmitCpuCases[GetParam()].text << "\n"
              << test::describe(options, isa) << ", nj = " << nj << ", output " << c << " of i " << i << ": " << is
              << ", not " << want;
        }
      }
    }
  }
}

// Also for the instruction sets that this machine does not have.
TEST_P(EmitCpu, IsAcceptedByTheToolchain) {
  const Pipeline pipeline = EmitCpu::pipeline();
  std::vector<Isa> foreign;
  for (const IsaFacts& isa : kIsas) {
    if (!isa.is_here()) foreign.push_back(isa.isa);
  }
  for (const auto& [options, isa] : choices(foreign, GetParam())) {
    const KernelSource kernel = build_cpu_kernel(pipeline, options, isa, "");
    EXPECT_NO_THROW(make_cpu_toolchain()->compile(kernel, kernel.first())) << kEmitCpuCases[GetParam()].text << "\n"
                                                                           << test::describe(options, isa);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EmitCpu, testing::Range(std::size_t(0), std::size(kEmitCpuCases)),
                         [](const auto& info) { return std::string(kEmitCpuCases[info.param].name); });

KernelSource emitted(const char* text, const Options& options, Isa isa) {
  return emit_cpu(optimize(parse({"case.pipe", text}), options, facts(isa).target), options, isa);
}

const char* const kGravity =
    "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) vec3 acc;\nvec3 dx = xj - xi; real r2 = dot(dx, "
    "dx) + 0.01; acc += mj / (r2 * sqrt(r2)) * dx;";

// The factor 1/hi leaves the sum; no pair passes.
TEST(emit_cpu, an_empty_sum_times_an_infinite_factor_is_zero) {
  const Pipeline pipeline =
      parse({"t.pipe", "input_i real hi; input_j real xj; output(sum) real s; if (xj > 2.0) s += (1.0 / hi) * xj;"});
  const CpuRun run(pipeline, {}, detect_isa());
  EXPECT_EQ(run({1, 1, {{0}}, {{1}}, {}})[0][0], 0);
  EXPECT_EQ(run({1, 1, {{0}}, {{3}}, {}})[0][0], HUGE_VAL);
}

TEST(emit_cpu, lanes_fill_a_register) {
  const int single[] = {4, 8, 16, 4}, wide[] = {2, 4, 8, 2};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(emitted(kGravity, {Precision::Single}, Isa(k)).lanes, single[k]);
    EXPECT_EQ(emitted(kGravity, {Precision::Mixed}, Isa(k)).lanes, single[k]);
    EXPECT_EQ(emitted(kGravity, {Precision::Double}, Isa(k)).lanes, wide[k]);
  }
}

TEST(emit_cpu, target_names_the_instruction_set) {
  for (const IsaFacts& isa : kIsas) EXPECT_EQ(emitted(kGravity, {}, isa.isa).target, "cpu-" + std::string(isa.name));
}

TEST(emit_cpu, mixed_precision_packs_positions_as_two_floats) {
  const KernelSource source = emitted(kGravity, {Precision::Mixed}, Isa::Avx2);
  ASSERT_EQ(source.columns.i.size(), 6u);
  EXPECT_EQ(source.columns.i[0].part, Column::Part::High);
  EXPECT_EQ(source.columns.i[1].part, Column::Part::Low);
  ASSERT_EQ(source.columns.j.size(), 7u);
  EXPECT_EQ(source.columns.j[6].part, Column::Part::Whole);  // the mass
}

TEST(emit_cpu, operations_are_the_stated_ones) {
  EXPECT_EQ(
      emitted("#pragma flops 38\ninput_i real xi; input_j real xj; output(sum) real s;\ns += xj * xi;", {}, Isa::Avx2)
          .operations,
      38);
}

// Where the particle stands in a vector must be known before the cutoff is tested, if the cutoff asks for it.
TEST(emit_cpu, a_cutoff_may_tell_the_particle_from_itself) {
  const std::string text =
      emitted(
          "input_i vec3 xi; input_j vec3 xj; param real rc = 1; output(sum) vec3 f;\nvec3 d = xj - xi;\n"
          "real r2 = i_index == j_index ? 1e30 : dot(d, d);\nskip_if(r2 >= rc * rc);\nf += d / (r2 * r2 * sqrt(r2));",
          {}, Isa::Avx2)
          .first()
          .source;
  EXPECT_LT(text.find(": lane_of("), text.find("if (!any("));
}

TEST(emit_cpu, precise_text_has_no_estimate) {
  EXPECT_EQ(emitted(kGravity, {.math = Math::Precise}, Isa::Avx2).first().source.find("= rsqrt_estimate("),
            std::string::npos);
  EXPECT_NE(emitted(kGravity, {}, Isa::Avx2).first().source.find("= rsqrt_estimate("), std::string::npos);
}

}  // namespace
}  // namespace nbcc
