// The CUDA text: what must and must not stand in it, and that NVRTC takes the whole language. Every pipeline of the
// library goes through NVRTC in cuda_registers_test.cpp; what the text computes is the business of the tests that run
// it.
#include "compiler/emit/cuda/emit_cuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "compiler/text/source.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/cuda/program/cuda_variants.h"
#include "tests/support/cuda_source.h"
#include "tests/support/folders.h"
#include "tests/support/installed_nvrtc.h"
#include "tests/support/sampling.h"

namespace nbcc {
namespace {

using testing::HasSubstr;
using testing::Not;

// Without the code for exclusions, which holds each pair body once more.
KernelSource emit(const Pipeline& pipeline, const Options& options) {
  KernelSource kernel = emit_cuda(optimize(pipeline, options, cuda_target()), options);
  kernel.first().source = test::without_exclusions(kernel.first().source);
  return kernel;
}

Pipeline parse_text(const std::string& text) { return parse(Source{"test.pipe", text}); }

Pipeline from_library(const std::string& name) {
  return parse(read_source(test::source_folder() + "/pipelines/" + name + ".pipe"));
}

// The kernel of that name, up to the next.
std::string kernel(const KernelSource& source, const std::string& name) {
  const std::size_t at = source.first().source.find(name + "(const __grid_constant__ Arguments a");
  EXPECT_NE(at, std::string::npos) << name;
  return source.first().source.substr(at, source.first().source.find("extern \"C\"", at) - at);
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

constexpr Precision kPrecisions[] = {Precision::Single, Precision::Mixed, Precision::Double};

TEST(emit_cuda, exports_one_kernel_and_needs_no_header) {
  const KernelSource source = emit(from_library("gravity"), {});
  EXPECT_EQ(count(source.first().source, "extern \"C\" __global__"), 1);
  kernel(source, "nbcc_interact");
  EXPECT_THAT(source.first().source, Not(HasSubstr("#include")));
  EXPECT_EQ(source.target, "cuda");
}

// One load for both, at what i and j contribute in bytes; the rows of eight are nine pairs of floats apart.
TEST(emit_cuda, tables_that_pairs_read_at_one_place_stand_side_by_side_in_shared_memory) {
  const std::string text =
      "input_i int ti; input_j int tj; param real e[8][8]; param real s[8][8]; output(sum) real u;\n"
      "u += e[ti][tj] * s[ti][tj];";
  const KernelSource source = emit(parse_text(text), {});
  EXPECT_THAT(source.first().source, HasSubstr("__shared__ __align__(16) char tables[576];"));
  EXPECT_EQ(count(source.first().source, "*(const float2*)(tables + 0 + ("), 1);
  EXPECT_EQ(count(source.first().source, "__ldg("), 1);
  ASSERT_EQ(source.tables.size(), 6u);
  const PlacedTable &first = source.tables[4], &second = source.tables[5];
  EXPECT_EQ(first.offset % 16, 0);
  EXPECT_EQ(second.offset, first.offset + 4);
  for (const PlacedTable& table : {first, second}) {
    EXPECT_EQ(table.step, 8);
    EXPECT_EQ(table.row_step, 72);
  }
  // Lists of the caller read them where they are.
  EXPECT_THAT(source.find(Frame::Lists)->source, Not(HasSubstr("char tables[")));
  EXPECT_THAT(source.find(Frame::Lists)->source, HasSubstr("__ldg((const float2*)((const char*)a.tables + "));
}

TEST(emit_cuda, tables_that_are_too_large_for_shared_memory_are_read_where_they_are) {
  const auto of = [](const std::string& elements) {
    const std::string text =
        "input_i real x; input_j real y; param real t[" + elements + "]; output(sum) real u;\nu += spline(t, x - y);";
    return emit(parse_text(text), {}).first().source;
  };
  EXPECT_THAT(of("1024"), HasSubstr("__shared__ __align__(16) char tables[16384];"));
  const std::string larger = of("1025");
  EXPECT_THAT(larger, Not(HasSubstr("char tables[")));
  EXPECT_EQ(count(larger, "__ldg((const float4*)((const char*)a.tables + "), 1);
}

TEST(emit_cuda, every_macro_of_the_shape_may_be_set_from_outside) {
  const KernelSource source = emit(from_library("gravity"), {});
  for (const char* macro : {"NBCC_THREADS", "NBCC_I_PER_THREAD", "NBCC_J_TILE", "NBCC_UNROLL"})
    EXPECT_THAT(source.first().source, HasSubstr(std::string("#ifndef ") + macro + "\n#define " + macro + " "));
}

TEST(emit_cuda, the_tile_is_read_between_two_barriers) {
  const std::string text = kernel(emit(from_library("gravity"), {}), "nbcc_interact");
  const std::size_t stored = text.find("staged[k] = other;"), read = text.find("= staged[k];");
  const std::size_t added = text.find("add(sum[r].s0,");
  ASSERT_LT(stored, read);
  ASSERT_LT(read, added);
  EXPECT_LT(text.find("__syncthreads();", stored), read);
  EXPECT_LT(text.find("__syncthreads();", read), added);
}

// Three differences, three terms of r2, one root, three products and three terms of the sums: nothing refines what is
// within 2 ulp.
TEST(emit_cuda, single_gravity_is_thirteen_operations) {
  const std::string text = kernel(emit(from_library("gravity_acc"), {}), "nbcc_interact");
  EXPECT_EQ(count(text, "rsqrt_estimate("), 1);
  EXPECT_EQ(count(text, "= fmaf("), 6);
  EXPECT_EQ(count(text, "const float t"), 4 + 3 + 3 + 3 + 1 + 3 + 1);  // j, i, differences, r2, root, products; eps2
}

TEST(emit_cuda, double_refines_its_seed) {
  const std::string text = kernel(emit(from_library("gravity_acc"), {Precision::Double}), "nbcc_interact");
  EXPECT_EQ(count(text, "rsqrt_estimate("), 1);
  EXPECT_EQ(count(text, "= fma("), 6 + 3);  // 1 - x y^2, and two of its powers
  EXPECT_THAT(text, Not(HasSubstr("float")));
}

TEST(emit_cuda, roots_are_exact_where_asked) {
  for (const Options& options : {Options{Precision::Single, Math::Precise}, Options{.root = RootMode::Exact}}) {
    const std::string text = kernel(emit(from_library("gravity_acc"), options), "nbcc_interact");
    EXPECT_THAT(text, Not(HasSubstr("rsqrt_estimate")));
    EXPECT_THAT(text, HasSubstr("sqrtf("));
    EXPECT_THAT(text, Not(HasSubstr("square_root(")));
  }
}

TEST(emit_cuda, mixed_subtracts_upper_and_lower_parts) {
  const KernelSource source = emit(from_library("gravity_acc"), {Precision::Mixed});
  EXPECT_EQ(count(kernel(source, "nbcc_interact"), ") + (t"), 3);  // (t0 - t1) + (t0l - t1l)
  EXPECT_EQ(count(kernel(source, "nbcc_interact"), "lower_part("), 6);
  // Both parts are made of one double, which is what the caller's values are sent as.
  ASSERT_EQ(source.columns.i.size(), 3u);
  EXPECT_EQ(source.columns.i[0].part, Column::Part::Whole);
  EXPECT_EQ(source.columns.i[0].element, Element::Double);
  ASSERT_EQ(source.columns.j.size(), 4u);
  EXPECT_EQ(source.columns.j[3].element, Element::Float);  // the mass
}

TEST(emit_cuda, tiles_of_floats_are_summed_in_two_floats) {
  EXPECT_THAT(emit(from_library("gravity_acc"), {}).first().source, HasSubstr("TwoFloat s0 = {};"));
  EXPECT_THAT(emit(from_library("gravity_acc"), {Precision::Double}).first().source, HasSubstr("double s0 = {};"));
}

TEST(emit_cuda, a_cutoff_has_a_prepass_and_a_self_test_has_none) {
  const std::string cutoff = kernel(emit(from_library("lennard_jones"), {}), "nbcc_interact");
  EXPECT_EQ(count(cutoff, "reject_mask[r] = __funnelshift_l(sign(fmaf("), 1);
  // What stands behind it is computed for hits only.
  const std::size_t prepass = cutoff.find("reject_mask[r] = 0"), hits = cutoff.find("while (hits != 0");
  EXPECT_EQ(count(cutoff.substr(prepass, hits - prepass), "reciprocal("), 0);
  EXPECT_EQ(count(cutoff.substr(hits), "reciprocal("), 1);
  const std::string text = kernel(emit(from_library("nearest_neighbour"), {}), "nbcc_interact");
  EXPECT_THAT(text, HasSubstr("k == self[r]"));
  EXPECT_THAT(text, Not(HasSubstr("reject_mask[")));
}

TEST(emit_cuda, what_sets_a_pair_apart_is_a_predicate) {
  const std::string text = kernel(emit(from_library("gravity_jerk"), {}), "nbcc_interact");
  EXPECT_EQ(count(text, "= all_zero("), 1);
  EXPECT_EQ(count(text, "add_product_if("), 7);
  EXPECT_EQ(count(text, "c0 += 0;"), 1);  // xj, which xi is subtracted from
  EXPECT_EQ(count(text, "other.c0 += 0;"), 1);
  EXPECT_EQ(count(text, "c3 += 0;"), 0);
  const std::string precise = kernel(emit(from_library("gravity_jerk"), {.math = Math::Precise}), "nbcc_interact");
  EXPECT_EQ(count(precise, "all_zero("), 0);
  EXPECT_EQ(count(precise, "add_if("), 7);
}

TEST(emit_cuda, room_for_threads_depends_on_whether_a_pair_may_be_excluded) {
  EXPECT_THAT(emit(from_library("gravity_jerk"), {}).first().source, HasSubstr("NBCC_I_PER_THREAD > 1 ? 640"));
  EXPECT_THAT(emit(from_library("cunbody_hermite"), {}).first().source, HasSubstr("NBCC_I_PER_THREAD > 1 ? 768"));
}

TEST(emit_cuda, behind_a_cutoff_only_hits_read_cold_data) {
  const KernelSource source = emit(from_library("sph_force"), {});
  const std::string text = kernel(source, "nbcc_interact");
  EXPECT_THAT(source.first().source, HasSubstr("struct __align__(16) ICold {"));
  const std::size_t prepass = text.find("reject_mask[r] = 0"), hits = text.find("while (hits != 0");
  EXPECT_EQ(count(text.substr(prepass, hits - prepass), "mine."), 0);
  EXPECT_GT(count(text.substr(hits), "= mine."), 5);
  EXPECT_EQ(count(text.substr(hits), "= own[r]."), 4);  // place and reach
  // What the prepass reads is the first 16 bytes.
  const std::size_t members = source.first().source.find("JParticle {");
  EXPECT_LT(source.first().source.find("// t", members), source.first().source.find("// vj.x", members));
}

TEST(emit_cuda, the_nearest_image_is_rounded_by_additions) {
  const std::string fast = kernel(emit(from_library("lennard_jones"), {}), "nbcc_interact");
  EXPECT_THAT(fast, HasSubstr("nearest_integer_product("));
  EXPECT_THAT(fast, Not(HasSubstr("rint")));
  EXPECT_THAT(kernel(emit(from_library("lennard_jones"), {.math = Math::Precise}), "nbcc_interact"), HasSubstr("rint"));
}

TEST(emit_cuda, whole_sets_of_indices_are_64_bits) {
  const KernelSource source = emit(parse_text("output(sum) real s;\n"
                                              "s += i_index < j_index ? 1.0 : 2.0;\n"),
                                   {});
  EXPECT_THAT(source.first().source, HasSubstr("own[r].i = i + a.i_offset;"));
  EXPECT_THAT(source.first().source, HasSubstr(" = first_j + k + a.j_offset;"));
  EXPECT_TRUE(source.uses.i_index && source.uses.j_index);
}

const char* const kAllReductions = R"(
input_i real xi;
input_j real xj;
output(sum) real s;
output(min) real low;
output(max) real high;
output(argmin) index nearest;
output(argmax) index farthest;
real d = fabs(xj - xi);
s += d;
low = min(low, d);
high = max(high, d);
nearest = argmin(nearest, d);
farthest = argmax(farthest, d);
void finish() { s = s / (1.0 + high); }
)";

TEST(emit_cuda, every_reduction_combines_its_partials) {
  const std::string text = emit(parse_text(kAllReductions), {}).first().source;
  EXPECT_THAT(text, HasSubstr("all.acc0 += part.acc0;"));
  EXPECT_THAT(text, HasSubstr("all.acc1 = minimum(all.acc1, part.acc1);"));
  EXPECT_THAT(text, HasSubstr("all.acc2 = maximum(all.acc2, part.acc2);"));
  EXPECT_THAT(text, HasSubstr("keep_best(all.acc3, all.arg3, part.acc3, part.arg3, true);"));
  EXPECT_THAT(text, HasSubstr("keep_best(all.acc4, all.arg4, part.acc4, part.arg4, false);"));
}

TEST(emit_cuda, a_partial_is_loaded_as_it_was_stored) {
  const std::string text = emit(parse_text(kAllReductions), {}).first().source;
  const char* const numbers[] = {"acc0", "acc1", "acc2", "acc3", "arg3", "acc4", "arg4"};
  for (int slot = 0; slot < 7; ++slot) {
    const std::string at = "at[" + std::to_string(slot) + " * stride]", number = std::string("all.") + numbers[slot];
    EXPECT_THAT(text, HasSubstr(at + " = double_of_bits(" + number + ");"));
    EXPECT_THAT(text, HasSubstr("set_bits(" + number + ", " + at + ");"));
  }
  EXPECT_THAT(text, HasSubstr("constexpr int kPartialSize = 7;"));
}

TEST(emit_cuda, finish_is_double_and_runs_after_the_last_split_only) {
  const KernelSource source = emit(parse_text(kAllReductions), {});
  EXPECT_TRUE(source.has_finish);
  const std::size_t at = source.first().source.find("NBCC_DEVICE void finish(");
  const std::string text = source.first().source.substr(at, source.first().source.find("last_to_arrive(", at) - at);
  EXPECT_THAT(text, Not(HasSubstr("quotient(")));
  EXPECT_THAT(text, HasSubstr("all.acc0 = f7;"));
  EXPECT_THAT(text, HasSubstr("store(a.out[0], row, all.acc0, kSum);"));
  EXPECT_THAT(text, HasSubstr("store(a.out[3], row, all.arg3, kMinimum);"));
  EXPECT_THAT(source.first().source,
              HasSubstr("if (!carry(a, at, all)) continue;\n"
                        "    const index i = i_particle(a, at);\n    finish(a, i, i, all, nan_if_non_finite(a, i));"));
}

TEST(emit_cuda, derived_values_are_made_where_a_particle_is_loaded) {
  const KernelSource source = emit(parse_text("input_i real xi;\ninput_j real xj;\noutput(sum) real s;\n"
                                              "s += exp(xj) * fabs(xi - xj);\n"),
                                   {});
  const std::string text = kernel(source, "nbcc_interact");
  EXPECT_LT(text.find("exp2_estimate("), text.find("staged[k] = other;"));
  ASSERT_EQ(source.columns.j.size(), 1u);  // what is derived is not sent
  EXPECT_EQ(source.columns.j[0].component, 0);
}

// ---- NVRTC, where it is installed
// ------------------------------------------------------------------------------------

using test::installed_nvrtc;

struct Job {
  std::string name, text, architecture;
  LaunchConfig config;
};

// A kernel that spills registers fails, and so does a warning.
void expect_compiles(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    CudaCode code;
    ASSERT_NO_THROW(code = installed_nvrtc()->compile(job.text, job.architecture, job.config)) << job.name;
    EXPECT_THAT(code.log, Not(HasSubstr("warning"))) << job.name;
    EXPECT_GT(code.registers, 0) << job.name << "\n" << code.log;
    EXPECT_EQ(code.spilled_bytes, 0) << job.name << "\n" << code.log;
  }
}

// What the library does not use: every function, every type, every reduction, whole numbers, conditions as inputs.
const char* const kEverything = R"(
input_i real a;
input_i bool flag;
input_i double da;
input_j real b;
input_j int n;
input_j index m;
input_j float f;
param real p[2] = {1, 2};
output(sum) real s;
output(sum) real t;
output(sum) real whole;
output(min) real low;
output(argmax) index far;
real x = fabs(b - a) + p[0];
s += sqrt(x) + rsqrt(x) + cbrt(x) + exp(x) + exp2(x) + log(x) + log2(x) + sin(x) + cos(x) + sinpi(x) + cospi(x) + tan(x);
s += asin(x) + acos(x) + atan(x) + sinh(x) + cosh(x) + tanh(x) + erf(x) + erfc(x) + floor(x) + ceil(x) + round(x) + trunc(x);
s += expm1(x) + log1p(x) + log10(x) + asinh(x) + acosh(x) + atanh(x) + lgamma(x) + tgamma(x) + sign(x);
t += hypot(x, b) + fmod(x, b);
s += bessel_j0(x) + bessel_j1(x) + bessel_k0(x) + bessel_k1(x) + bessel_i0(x) + bessel_i1(x);
t += pow(x, b) + atan2(x, b) + copysign(x, b) + min(x, b) + max(x, b) + fma(x, b, a) + x / b;
t += sqrt(da) + real(f) * 2 + (flag && n > 3 ? 1.0 : 0.0);
int k = n / 3 + n % 5 - n * n;
index q = m / 7 + m % 9 + abs(m) - index(n) + index(x);
whole += real(k) + real(q) + (i_index < j_index ? 1.0 : 0.0);
low = min(low, x);
if (n > 0) far = argmax(far, x);
void finish() { t = t * a + pow(fabs(s), 0.25); }
)";

TEST(emit_cuda, nvrtc_takes_the_whole_language) {
  NBCC_NEEDS_NVRTC();
  std::vector<Job> jobs;
  const Pipeline everything = parse_text(kEverything), reductions = parse_text(kAllReductions);
  const Pipeline nothing = parse_text("output(sum) real s;\ns += 1.0;\n");
  std::size_t number = 0;
  for (const Math math : {Math::Fast, Math::Precise}) {
    for (const Pipeline* pipeline : {&everything, &reductions, &nothing}) {
      for (const Precision precision :
           test::sampled(std::vector(std::begin(kPrecisions), std::end(kPrecisions)), 3, number++)) {
        const std::string name = std::string(nbcc::name(precision)) + ", " + std::string(nbcc::name(math));
        jobs.push_back({pipeline->name + ", " + name,
                        emit(*pipeline, {precision, math}).first().source,
                        "sm_75",
                        {.i_per_thread = 1, .unroll = 1}});
      }
    }
  }
  expect_compiles(jobs);
}

// Expects that the search of a pipeline compiles without warnings and, to PTX, without a trap, which is where the text
// is undefined. The assembler takes most of the time of a binary for one GPU, so that only some are made.
void expect_search_compiles(const Pipeline& pipeline, Precision precision, const char* architecture, bool assembled) {
  SCOPED_TRACE(pipeline.name);
  const KernelSource kernel = build_cuda_kernel(pipeline, {precision}, "");
  const KernelVariant& search = *kernel.find(Frame::Search);
  const LaunchConfig& config = search.launches.front();
  CudaCode portable, code;
  ASSERT_NO_THROW(portable = installed_nvrtc()->compile(search.source, "sm_90", config, CudaCompiler::Form::Ptx));
  EXPECT_THAT(portable.log, Not(HasSubstr("warning")));
  EXPECT_THAT(portable.image, HasSubstr("griddepcontrol.wait;"));
  EXPECT_THAT(portable.image, Not(HasSubstr("trap;")));
  if (!assembled) return;
  ASSERT_NO_THROW(code = installed_nvrtc()->compile(search.source, architecture, config));
  EXPECT_THAT(code.log, Not(HasSubstr("warning")));
}

// Of the pipelines of the library with neighbours, a quarter in a run, and in a cell. Those of the first six that are
// taken are assembled too, for two GPUs in each precision.
TEST(emit_cuda, nvrtc_takes_searches) {
  NBCC_NEEDS_NVRTC();
  int searches = 0;
  for (const std::string& name : test::library()) {
    const Pipeline pipeline = parse(read_source(test::source_folder() + "/pipelines/" + name + ".pipe"));
    if (!build_cuda_kernel(pipeline, {}, "").find(Frame::Search)) continue;
    if (test::in_sample(std::size_t(searches), 4))
      expect_search_compiles(pipeline, kPrecisions[searches % 3], searches % 2 ? "sm_75" : "sm_90", searches < 6);
    ++searches;
  }
  EXPECT_GE(searches, 8);
  const Pipeline in_cell = parse_text(
      "input_i vec3 xi; input_j vec3 xj; param real rc; param vec3 a; param vec3 b; param vec3 c; output(sum) real n;\n"
      "vec3 dx = nearest_image(xj - xi, a, b, c); skip_if(dot(dx, dx) >= rc * rc); n += 1.0;\n");
  for (const Precision precision : test::sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3))
    expect_search_compiles(in_cell, precision, "sm_90", precision == Precision::Mixed);
}

// All that sums over lists, up to particles so large that tiles must be small, and partial sums of so many outputs that
// no warps share a group.
TEST(emit_cuda, nvrtc_takes_lists) {
  NBCC_NEEDS_NVRTC();
  const Pipeline large = parse_text(
      "input_i vec3 xi; input_j vec3 xj; input_j vec4 aj; input_j vec4 bj; input_j vec4 cj; input_j vec4 dj;\n"
      "output(sum) real s; output(sum) vec4 t; output(sum) vec4 u[14]; vec3 dx = xj - xi;\n"
      "s += dot(dx, dx) + dot(aj, bj) * dot(dx, xi) + dot(cj, dj) * i_index; t += dot(dx, dx) * aj;\n"
      "for (int k = 0; k < 14; ++k) u[k] += dot(dx, dx) * bj * k;\n");
  const Pipeline springs = parse_text(
      "input_i vec3 xi; input_j vec3 xj; input_pair real k; output(sum) vec3 f; output(argmin) index near;\n"
      "f += k * (xj - xi); near = argmin(near, k);\n");
  // Values of the largest do not stay in registers, nor do those of double precision beside what is left out.
  const std::shared_ptr<const CudaCompiler> compiler = make_nvrtc();
  const auto expect_lists = [&](const Pipeline& pipeline, Precision precision) {
    const KernelSource kernel = build_cuda_kernel(pipeline, {.precision = precision}, "");
    for (const CudaVariant& variant : test::sampled(all_variants(kernel), 3, std::size_t(precision))) {
      const bool is_of_all_pairs = variant.frame == Frame::AllPairs && !variant.exclusions;
      if (is_of_all_pairs || variant.frame == Frame::Search || is_choice_by_size(kernel, variant)) continue;
      EXPECT_FALSE(compiler->compile(source_of(kernel, variant), "sm_90", variant.config).image.empty());
    }
  };
  const KernelSource gravity = build_cuda_kernel(from_library("gravity"), {}, "");
  for (const Frame frame : {Frame::Lists, Frame::ListedPairs}) {
    const KernelVariant& variant = *gravity.find(frame);
    EXPECT_EQ(variant.launches.size(), frame == Frame::Lists ? 2U : 1U);
    for (const LaunchConfig& config : variant.launches) expect_compiles({{"lists", variant.source, "sm_90", config}});
  }
  expect_lists(from_library("gravity"), Precision::Single);
  expect_lists(from_library("lennard_jones"), Precision::Mixed);
  expect_lists(large, Precision::Double);
  expect_lists(springs, Precision::Double);
}

TEST(emit_cuda, nvrtc_takes_other_shapes) {
  NBCC_NEEDS_NVRTC();
  const std::string text = emit(from_library("sph_force"), {}).first().source;
  expect_compiles({{"small", text, "sm_90", {.threads = 32, .i_per_thread = 1, .j_tile = 7, .unroll = 4}},
                   {"large", text, "sm_90", {.threads = 256, .i_per_thread = 2, .j_tile = 256, .unroll = 4}}});
}

}  // namespace
}  // namespace nbcc
