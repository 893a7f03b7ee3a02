// Lists and batches of the caller with params and shifts of their own, batches that are searched, and lists of
// compiled libraries. what_goes_together_test.cpp has lists, batches, listed pairs and exclusions against the
// interpreter.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "compiler/source/parse.h"
#include "jit/build_library.h"
#include "jit/read_library.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/image/image_kernel.h"
#include "tests/support/baseline_isa.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/random_lists.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/sampling.h"

namespace nbcc {
namespace {

using namespace test;

// A device, and how its kernels are made. Where arrays may lie on it, they do for every other case.
struct Device {
  KernelDevice& device;
  std::function<KernelSource(const Pipeline&, const Options&)> build;
  const CudaGpu* gpu = nullptr;
};

KernelSource build_for_gpu(const Pipeline& pipeline, const Options& options) {
  return build_cuda_kernel(pipeline, options, "");
}

// ---- params of batches, shifts of ranges
// -----------------------------------------------------------------------------

const Source kNearSums{"sums.pipe", R"(
input_i vec3 xi; input_j vec3 xj; input_j real mj; param real rc = 0.6; param real k = 1;
output(sum) real near; output(min) real least; output(argmin) index nearest;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
near += k * mj * (r2 + dot(xj, xj));
least = min(least, r2);
nearest = argmin(nearest, r2);
)"};

void expect_params_of_batches(const Device& on) {
  const Pipeline pipeline = parse(kNearSums);
  for (const Precision precision : sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3)) {
    const auto kernel = on.device.load(on.build(pipeline, {.precision = precision}));
    const ListCase one = random_list_case(random_pipeline_input(pipeline, 90, 400, 4), ListKind::Batches,
                                          precision == Precision::Double, std::uint64_t(precision) + 1, 3);
    ASSERT_GT(one.groups, 1);
    std::vector<double> rc, k;
    for (std::int64_t b = 0; b < one.groups; ++b) rc.push_back(0.25 * double(2 + b)), k.push_back(double(1 - b));
    for (const PairChoice pairs : {PairChoice::Auto, PairChoice::Cutoff}) {
      const auto prepare = [&](SumState& sum) {
        one.prepare(sum);
        sum.set_pairs(pairs);
        sum.set_param_of_groups("rc", rc);
        sum.set_param_of_groups("k", k);
      };
      // So small batches are searched where they must be, each by itself.
      const auto after = [&](SumState& sum) { EXPECT_EQ(sum.statistics().searches > 1, pairs == PairChoice::Cutoff); };
      const test::Columns got =
          run_kernel(kernel, one.input, {.arrays_on = on.gpu, .prepare = prepare, .after = after});
      for (std::int64_t b = 0; b < one.groups; ++b) {
        if (std::ranges::find(one.group_of, b) == one.group_of.end()) continue;
        OracleInput input = one.input;
        input.params = {rc[std::size_t(b)], k[std::size_t(b)]};
        const Expectation expected = random_pipeline_expectation(pipeline, input, precision);
        for (std::size_t c = 0; c < got.size(); ++c)
          for (std::size_t i = 0; i < got[c].size(); ++i) {
            if (one.group_of[i] != b) continue;
            EXPECT_NEAR(got[c][i] == expected.values[c][i] ? 0 : got[c][i] - expected.values[c][i], 0,
                        expected.bound[c][i])
                << "output " << c << " of i " << i << " in batch " << b;
          }
      }
    }
  }
}

// All pairs behind a cutoff, which are tested for it first, and the same by a search.
void expect_exclusions_behind_a_cutoff(const Device& on) {
  const Pipeline pipeline = parse(kNearSums);
  for (const Precision precision : {Precision::Single, Precision::Double}) {
    const auto kernel = on.device.load(on.build(pipeline, {.precision = precision}));
    for (const PairChoice pairs : {PairChoice::All, PairChoice::Cutoff}) {
      ListCase one =
          random_list_case(random_pipeline_input(pipeline, 90, 400, 4), ListKind::All, true, std::uint64_t(precision));
      one.input.params = {0.75, 2};
      const auto prepare = [&](SumState& sum) {
        one.prepare(sum);
        sum.set_pairs(pairs);
      };
      const Expectation expected = random_pipeline_expectation(pipeline, one.input, precision);
      OracleInput with_all = one.input;
      with_all.excluded.reset();
      EXPECT_NE(random_pipeline_expectation(pipeline, with_all, precision).values, expected.values);
      EXPECT_EQ(random_pipeline_difference(
                    pipeline, run_kernel(kernel, one.input, {.arrays_on = on.gpu, .prepare = prepare}), expected),
                "");
    }
  }
}

// Batches of some thousand are searched unasked; the same sums come of all pairs. Outputs in the memory of inputs keep
// to lists.
TEST(ListsOnCpu, SearchLargeBatches) {
  CpuDevice device(2, runnable_isas().back(), cpu_toolchain(), "", "");
  const Pipeline pipeline = parse(kNearSums);
  const auto kernel = device.load(build_cpu_kernel(pipeline, {}, runnable_isas().back(), ""));
  constexpr std::int64_t kSmall = 30, kLarge = 6000, kAll = kSmall + kLarge;
  OracleInput input = random_pipeline_input(pipeline, kAll, kAll, 4);
  for (auto* columns : {&input.i, &input.j})
    for (std::size_t c = 0; c < 3; ++c)
      for (double& x : (*columns)[c]) x *= 10;
  const Numbers batch = [] {
    Numbers ids(kSmall, 0);
    ids.resize(kAll, 1);
    return ids;
  }();
  const auto run = [&](PairChoice pairs, bool searches) {
    return run_kernel(kernel, input,
                      {.prepare =
                           [&](SumState& sum) {
                             sum.set_batches(2, kAll, batch.data(), kAll, batch.data());
                             sum.set_pairs(pairs);
                             sum.set_offsets(5, 7);
                           },
                       .after = [&](SumState& sum) { EXPECT_EQ(sum.statistics().searches > 0, searches); }});
  };
  const test::Columns searched = run(PairChoice::Auto, true), all = run(PairChoice::All, false);
  for (std::size_t i = 0; i < std::size_t(kAll); ++i) {
    EXPECT_NEAR(searched[0][i], all[0][i], 1e-4 * (1 + std::abs(all[0][i])));
    EXPECT_EQ(searched[1][i], all[1][i]);
    EXPECT_EQ(searched[2][i], all[2][i]);
  }
  EXPECT_GE(searched[2][kSmall], 7 + kSmall);  // in the caller's numbers, of this batch
  SumState sum(kernel);
  std::vector<double> x(3 * kAll, 0.5), m(kAll, 1);
  const ArrayView places{x.data(), Element::Double, kAll, 24, 8}, masses{m.data(), Element::Double, kAll, 8, 8};
  sum.bind("xi", places);
  sum.bind("xj", places);
  sum.bind("mj", masses);
  sum.bind("near", masses);
  sum.ignore("least");
  sum.ignore("nearest");
  sum.set_batches(2, kAll, batch.data(), kAll, batch.data());
  sum.set_pairs(PairChoice::Cutoff);
  EXPECT_THROW(sum.run(), UsageError);
  EXPECT_EQ(m[0], 1);
  sum.set_pairs(PairChoice::Auto);
  sum.run();
  EXPECT_EQ(sum.statistics().searches, 0);
  EXPECT_GT(m[0], 1);
}

// One sum, run after run: what changes in between counts, and small batches beside large ones keep their results.
TEST(ListsOnCpu, SearchedBatchesFollowTheSum) {
  CpuDevice device(2, runnable_isas().back(), cpu_toolchain(), "", "");
  const Pipeline pipeline = parse({"count.pipe", R"(
input_i vec3 xi; input_j vec3 xj; param real rc = 1; output(sum) index count;
vec3 dx = xj - xi;
if (dot(dx, dx) < rc * rc) count += 1;
)"});
  const auto kernel = device.load(build_cpu_kernel(pipeline, {}, runnable_isas().back(), ""));
  constexpr std::int64_t kSmall = 3, kLarge = 4000, kAll = kSmall + kLarge + kSmall;
  // On a line at distances of 0.75, each batch from 0 on.
  std::vector<double> x(3 * kAll, 0.0);
  Numbers batch, first{0}, out, count(kAll, -1);
  for (std::int64_t k = 0; k < kAll; ++k) {
    batch.push_back(k < kSmall ? 0 : k < kSmall + kLarge ? 1 : 2);
    x[std::size_t(3 * k)] = 0.75 * double(k < kSmall ? k : k < kSmall + kLarge ? k - kSmall : k - kSmall - kLarge);
    out.push_back(k);  // itself
    first.push_back(k + 1);
  }
  SumState sum(kernel);
  const ArrayView places{x.data(), Element::Double, kAll, 24, 8}, counts{count.data(), Element::Int64, kAll, 8, 8};
  sum.bind("xi", places);
  sum.bind("xj", places);
  sum.bind("count", counts);
  sum.set_batches(3, kAll, batch.data(), kAll, batch.data());
  // Of the first of each batch, and of the second.
  const auto expect = [&](std::int64_t of_first, std::int64_t of_second, std::int64_t searches) {
    for (const std::int64_t begin : {std::int64_t(0), kSmall, kSmall + kLarge}) {
      EXPECT_EQ(count[std::size_t(begin)], of_first) << "from " << begin;
      EXPECT_EQ(count[std::size_t(begin + 1)], of_second) << "from " << begin;
    }
    EXPECT_EQ(sum.statistics().searches, searches);
  };
  sum.run();
  expect(2, 3, 1);
  sum.run({.accumulate = true});
  expect(4, 6, 2);
  sum.set_exclusions(kAll, first.data(), kAll, out.data());
  sum.run();
  expect(1, 2, 3);
  sum.set_param("rc", std::vector<double>{0.5});
  sum.run();
  expect(0, 0, 4);
  sum.set_exclusions(0, nullptr, 0, nullptr);
  sum.set_param_of_groups("rc", std::vector<double>{1, 0.5, 1});
  sum.run();
  EXPECT_EQ(count[1], 3);
  EXPECT_EQ(count[std::size_t(kSmall + 1)], 1);
  // Other arrays.
  std::vector<double> nearer(x);
  for (double& place : nearer) place /= 4;
  sum.bind("xi", {nearer.data(), Element::Double, kAll, 24, 8});
  sum.bind("xj", {nearer.data(), Element::Double, kAll, 24, 8});
  sum.run();
  EXPECT_EQ(count[1], 3);
  EXPECT_EQ(count[std::size_t(kSmall + 1)], 4);
  // Other batches: all are one.
  const Numbers one(kAll, 0);
  sum.set_batches(1, kAll, one.data(), kAll, one.data());
  sum.bind("xi", places);
  sum.bind("xj", places);
  sum.run();
  EXPECT_EQ(count[1], 3);  // rc is 0.5 again: himself, and those of the other two who stand at his place
}

// A run over some i of a searched batch and of one that is not stores these i alone, and applies finish() once to each.
void expect_some_of_batches(const Device& on) {
  const auto kernel = on.device.load(on.build(parse({"some.pipe", R"(
input_i vec3 xi; input_j vec3 xj; param real rc = 0.75; output(sum) real near; output(min) real least;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
near += 1.0;
least = min(least, r2);
void finish() { near += 3.0; }
)"}),
                                              {Precision::Double}));
  constexpr std::int64_t kSmall = 30, kLarge = 3000, kAll = kSmall + kLarge;
  RandomSource random(5);
  std::vector<double> x(3 * kAll);
  for (double& at : x) at = double(random.below(64)) / 8;
  Numbers batch(kSmall, 0), some;
  batch.resize(kAll, 1);
  for (std::int64_t i = kAll - 1; i > 0; i -= 7) some.push_back(i);
  const auto run = [&](PairChoice pairs, std::string_view method) {
    std::vector<double> near(kAll, 100), least(kAll, 0.015625);
    SumState sum(kernel);
    for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, kAll, 24, 8});
    sum.bind("near", {near.data(), Element::Double, kAll, 8, 8});
    sum.bind("least", {least.data(), Element::Double, kAll, 8, 8});
    sum.set_batches(2, kAll, batch.data(), kAll, batch.data());
    sum.set_pairs(pairs);
    sum.run({.i_count = std::int64_t(some.size()), .i_list = some.data(), .accumulate = true});
    sum.run({.i_begin = kSmall - 2, .i_count = 9});
    EXPECT_EQ(sum.method(), method);
    const double of_last = near[kSmall + 6];
    sum.run({.i_begin = kSmall - 2, .i_count = 9, .part = JPart::First});
    sum.run({.i_begin = kSmall - 2, .i_count = 9, .part = JPart::Last});  // the same j again
    EXPECT_EQ(near[kSmall + 6], 2 * of_last - 3);
    near.insert(near.end(), least.begin(), least.end());
    return near;
  };
  const std::vector<double> all = run(PairChoice::All, "lists");
  EXPECT_EQ(all[kAll - 2], 100);  // not chosen
  EXPECT_GE(all[kAll - 1], 104);
  EXPECT_EQ(run(on.gpu ? PairChoice::Cutoff : PairChoice::Auto, "batches"), all);
}

TEST(ListsOnCpu, SearchSomeIOfBatches) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(2, isa, cpu_toolchain(), "", "");
  expect_some_of_batches(
      {device, [isa](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, isa, ""); }});
}

TEST(ListsOnShim, SearchSomeIOfBatches) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_some_of_batches({device, build_for_gpu, &device.gpu()});
}

// Every range's j once more, at their other places, are the oracle's.
void expect_shifts(const Device& on) {
  const Pipeline pipeline = parse(kNearSums);
  const Numbers i_first{0, 3, 3, 40}, range_first{0, 2, 3, 6}, begin{5, 0, 1, 100, 7, 7}, end{130, 0, 9, 200, 8, 200};
  std::vector<double> shifts(18);
  for (std::size_t k = 0; k < shifts.size(); ++k) shifts[k] = 0.25 * double(int(k * 7 % 5) - 2);
  for (const Precision precision : sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3)) {
    const auto kernel = on.device.load(on.build(pipeline, {.precision = precision}));
    OracleInput input = random_pipeline_input(pipeline, 40, 200, 4), moved = input;
    moved.params = input.params = {0.75, 2};
    moved.pairs = OracleRows{{0}, {}};
    moved.nj = 0;
    moved.j.assign(input.j.size(), {});
    for (std::size_t r = 0; r < begin.size(); ++r)
      for (std::int64_t j = begin[r]; j < end[r]; ++j, ++moved.nj)
        for (std::size_t c = 0; c < input.j.size(); ++c)
          moved.j[c].push_back(input.j[c][std::size_t(j)] + (c < 3 ? shifts[3 * r + c] : 0));
    const std::int64_t of_group[] = {0, 125, 133, moved.nj};
    for (std::int64_t i = 0; i < 40; ++i) {
      const std::size_t group = i < 3 ? 0 : 2;
      for (std::int64_t j = of_group[group]; j < of_group[group + 1]; ++j) moved.pairs->j.push_back(j);
      moved.pairs->first.push_back(std::int64_t(moved.pairs->j.size()));
    }
    const test::Columns got =
        run_kernel(kernel, input, {.arrays_on = on.gpu, .prepare = [&](SumState& sum) {
                                     sum.set_lists(ListArrays{3, 6, i_first.data(), nullptr, range_first.data(),
                                                              begin.data(), end.data(), nullptr, 0, shifts.data(), 3});
                                   }});
    const Expectation expected = random_pipeline_expectation(pipeline, moved, precision);
    for (std::size_t c = 0; c < 2; ++c)  // an index is the caller's
      for (std::size_t i = 0; i < got[c].size(); ++i)
        EXPECT_NEAR(got[c][i] == expected.values[c][i] ? 0 : got[c][i] - expected.values[c][i], 0, expected.bound[c][i])
            << "output " << c << " of i " << i;
  }
}

TEST(ListsOnCpu, HaveParamsAndShiftsOfTheirOwn) {
  for (const Isa isa : runnable_isas()) {
    CpuDevice device(2, isa, cpu_toolchain(), "", "");
    const Device on{device, [isa](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, isa, ""); }};
    expect_params_of_batches(on);
    expect_shifts(on);
    expect_exclusions_behind_a_cutoff(on);
  }
}

TEST(ListsOnShim, HaveParamsAndShiftsOfTheirOwn) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  for (const CudaGpu* gpu : {static_cast<const CudaGpu*>(nullptr), &device.gpu()}) {
    expect_params_of_batches({device, build_for_gpu, gpu});
    expect_shifts({device, build_for_gpu, gpu});
    expect_exclusions_behind_a_cutoff({device, build_for_gpu, gpu});
  }
}

TEST(ListsOnGpu, HaveParamsAndShiftsOfTheirOwn) {
  std::optional<CudaDevice> device;
  try {
    device.emplace(cuda_driver(), make_nvrtc(), 0, "", "");
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  expect_params_of_batches({*device, build_for_gpu, &device->gpu()});
  expect_shifts({*device, build_for_gpu, nullptr});
  expect_exclusions_behind_a_cutoff({*device, build_for_gpu, &device->gpu()});
}

// What a library holds for GPUs is what a device asks for: nothing needs to be compiled where it is used.
TEST(ListsOfALibrary, NeedNoCompilerWhereTheyRun) {
  const std::shared_ptr<const CudaCompiler> compiler = make_shim_compiler();
  LibraryRequest request;
  request.sources = {kNearSums};
  request.isas = {baseline_isa()};
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  request.architectures = {device.gpu().architecture()};
  request.cuda_compiler = compiler;
  const PipelineImage image =
      read_image(sections_of_library(build_library(request).library, kImageSectionPrefix).at(0));
  const auto kernel = load_image(
      device, image, []() -> std::shared_ptr<const CudaCompiler> { throw DeviceError("none is allowed here"); });
  const Pipeline pipeline = parse(kNearSums);
  for (const ListKind kind : kListKinds)
    for (const bool exclusions : {false, true}) {
      if (kind == ListKind::Pairs && exclusions) continue;
      SCOPED_TRACE(int(kind));
      OracleInput input = random_pipeline_input(pipeline, 70, 300, 3);
      ListCase one = random_list_case(input, kind, exclusions, 5);
      // By a search, where no list says otherwise.
      const auto prepare = [&](SumState& sum) {
        one.prepare(sum);
        if (kind == ListKind::All) sum.set_pairs(PairChoice::Cutoff);
        if (kind == ListKind::Batches)
          sum.set_param_of_groups("rc", std::vector<double>(std::size_t(one.groups), one.input.params[0]));
      };
      const Expectation expected = random_pipeline_expectation(pipeline, one.input, Precision::Single);
      EXPECT_EQ(random_pipeline_difference(pipeline, run_kernel(kernel, one.input, {.prepare = prepare}), expected),
                "");
    }
}

// ... nor have those with inputs of pairs.
TEST(ListsOnShim, CompiledLibrariesHaveInputsOfPairs) {
  const Source source{"bonds.pipe", R"(
input_i vec3 xi; input_j vec3 xj; input_pair real k; param real r0 = 0.5; output(sum) vec3 force; output(max) real most;
vec3 dx = xj - xi;
real r = sqrt(dot(dx, dx) + 0.01);
force += k * (r - r0) / r * dx;
most = max(most, k * r);
)"};
  const std::shared_ptr<const CudaCompiler> compiler = make_shim_compiler();
  LibraryRequest request;
  request.sources = {source};
  request.isas = {baseline_isa()};
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  request.architectures = {device.gpu().architecture()};
  request.cuda_compiler = compiler;
  const LibraryFiles library = build_library(request);
  const PipelineImage image = read_image(sections_of_library(library.library, kImageSectionPrefix).at(0));
  const auto kernel = load_image(
      device, image, []() -> std::shared_ptr<const CudaCompiler> { throw DeviceError("none is allowed here"); });
  const Pipeline pipeline = parse(source);
  ListCase one = random_list_case(random_pipeline_input(pipeline, 70, 300, 3), ListKind::Pairs, false, 5);
  add_pair_columns(one.input, 1, 5);
  const Expectation expected = random_pipeline_expectation(pipeline, one.input, Precision::Single);
  EXPECT_EQ(random_pipeline_difference(pipeline, run_kernel(kernel, one.input, {.prepare = one.prepare}), expected),
            "");
}

}  // namespace
}  // namespace nbcc
