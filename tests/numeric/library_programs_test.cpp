// Compiled libraries on the CUDA shim: the programs that runs load are those that `nbcc compile --arch` puts into a
// library, so that no run needs NVRTC; and what a library says without them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "jit/build_kernel.h"
#include "runtime/error.h"
#include "runtime/sum/derived/for_callers.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/far_trial.h"
#include "tests/support/library_device.h"
#include "tests/support/periodic_trial.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class LibraryProgramsOnShim : public testing::Test {
 protected:
  explicit LibraryProgramsOnShim(Precision precision = Precision::Single) : precision(precision) {
    shim.allow_minus_one();
  }
  ~LibraryProgramsOnShim() override {
    EXPECT_GT(device->compiled(), 0);
    EXPECT_THAT(device->unknown(), IsEmpty());
  }
  std::shared_ptr<const Kernel> load(const Source& source) {
    return for_callers(device->load(build_cuda_kernel(source, {precision}, "")));
  }

  Precision precision;
  CudaShim shim;
  std::shared_ptr<CudaDevice> gpu = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
  std::shared_ptr<LibraryDevice> device = std::make_shared<LibraryDevice>(gpu, shim.compiler(), precision);
};

class DoubleLibraryProgramsOnShim : public LibraryProgramsOnShim {
 protected:
  DoubleLibraryProgramsOnShim() : LibraryProgramsOnShim(Precision::Double) {}
};

using ArraysByField = std::map<std::string, std::vector<double>>;

// Binds the arrays of all fields, on the host. Outputs have `count` rows.
void bind_named(SumState& sum, ArraysByField& columns, std::int64_t count) {
  for (const FieldLayout& field : sum.fields()) {
    if (field.role == Role::Param) continue;
    std::vector<double>& values = columns[field.name];
    if (field.role == Role::Output) values.assign(std::size_t(count * field.numbers()), -1);
    sum.bind(field.name,
             {values.data(), Element::Double, std::int64_t(values.size()) / field.numbers(), field.numbers() * 8, 8});
  }
}

void run_and_wait(SumState& sum) {
  sum.run();
  sum.wait();
}

std::vector<double> uniform_numbers(std::size_t count) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<double> values(count);
  for (double& value : values) value = unit(random);
  return values;
}

// A choice of numbers with its tables and samples, excluded pairs, some i, batches.
TEST_F(LibraryProgramsOnShim, OfAFarField) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Single, device);
  trial.fill("plummer", 2000, 2000, true, 5);
  // A free choice tries some numbers; so few particles have a far field only with given ones.
  for (const FarChoice& choice : {FarChoice{}, FarChoice{.order = 4, .leaf = 16, .separation = 0.4}}) {
    set_tolerance(trial.sum, 1e-2, choice);
    trial.run();
    EXPECT_LE(trial.error(), 1e-2);
  }
  ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  trial.sum.run({.i_begin = 100, .i_count = 1000});
  std::vector<std::vector<std::int64_t>> excluded(2000);
  for (std::int64_t i = 0; i < 2000; ++i) excluded[std::size_t(i)] = {(i + 1) % 2000, (7 * i + 5) % 2000};
  trial.exclude(excluded);
  trial.run();
  EXPECT_LE(trial.error(), 1e-2);
  trial.exclude({});
  std::vector<std::int64_t> batch(2000);
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i] = std::int64_t(i) / 1000;
  trial.set_batches(2, batch, batch);
  trial.run();
  EXPECT_LE(trial.error(), 1e-2);
}

TEST_F(LibraryProgramsOnShim, OfGridsOfJAlone) {
  FarTrial trial(FarTrial::library("cunbody_gravity"), Precision::Single, device);
  trial.fill("plummer", 1500, 900, false, 5);
  set_tolerance(trial.sum, 1e-3, {.order = 4, .leaf = 16, .separation = 0.4});
  trial.run();
  ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  EXPECT_LE(trial.error(), 1e-3);
}

TEST_F(LibraryProgramsOnShim, OfAPeriodicSum) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Vector3> x(300);
  PeriodicTrial trial(kCharges, Precision::Single, device);
  for (Vector3& one : x) one = {unit(random), unit(random), unit(random)};
  for (std::size_t k = 0; k < x.size(); ++k) trial.arrays["qj"].push_back(k % 2 == 0 ? 1 : -1);
  trial.set_cell(kCube);
  set_tolerance(trial.sum, 1e-3, {.order = 4, .leaf = 32});
  trial.run(x);
  EXPECT_EQ(trial.sum.statistics().method, "far field") << trial.sum.statistics().reason;
}

TEST_F(LibraryProgramsOnShim, OfMatrixUnits) {
  const std::string text =
      "input_i real xi[40];\ninput_j real xj[40];\ninput_j real wj;\noutput(sum) real s;\nreal r2 = 0;\n"
      "for (int k = 0; k < 40; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);\ns += wj * exp(-r2 / 40);\n";
  FarTrial trial({"wide.pipe", text}, Precision::Single, device, "matrix units");
  std::set<std::string> seen;
  for (const double tolerance : {2e-2, 2e-7}) {
    trial.fill("uniform", 130, 129, false, 7);
    set_tolerance(trial.sum, tolerance);
    trial.run();
    EXPECT_EQ(trial.sum.statistics().method, "matrix units") << trial.sum.statistics().reason;
    seen.insert(std::string(trial.sum.statistics().far.precision));
    EXPECT_LE(trial.error(), tolerance);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"half", "two halves"}));
}

// A pipeline without products of wide vectors is refused with the same reason as by a process that compiles.
TEST_F(LibraryProgramsOnShim, ARefusalOfMatrixUnitsHasItsReason) {
  const auto kernel = load({"wide.pipe",
                            "input_i real xi[64];\ninput_j real xj[64];\noutput(sum) real s;\nreal d = dot(xi, xj);\n"
                            "if (d < 0.5) s += 1.0;\n"});
  SumState sum(kernel);
  try {
    set_tolerance(sum, 1e-2);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no products of wide vectors: a value of a pair is compared"));
  }
}

TEST_F(LibraryProgramsOnShim, OfNearestNeighboursAndOfEachPairOnce) {
  constexpr std::int64_t kCount = 600;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<double> x(3 * kCount), m(kCount, 1), acc(3 * kCount), pot(kCount);
  for (double& value : x) value = unit(random);
  SumState sum(load(FarTrial::library("gravity")));
  const auto bind = [](SumState& to, const char* field, std::vector<double>& values) {
    const std::int64_t bytes = std::int64_t(values.size()) / kCount * 8;
    to.bind(field, {values.data(), Element::Double, kCount, bytes, 8});
  };
  bind(sum, "xi", x), bind(sum, "xj", x), bind(sum, "mj", m), bind(sum, "acc", acc), bind(sum, "pot", pot);
  sum.set_symmetric(SymmetricChoice::Always);
  sum.run();
  sum.wait();
  EXPECT_EQ(sum.method(), "symmetric") << sum.statistics().reason;

  SumState nearest(load(FarTrial::library("nearest_neighbour")));
  std::vector<std::int64_t> index(kCount);
  std::vector<double> distance(kCount);
  for (const FieldLayout& field : nearest.fields()) {
    if (field.role == Role::InputI || field.role == Role::InputJ) bind(nearest, field.name.c_str(), x);
    if (field.role == Role::Output && field.integral())
      nearest.bind(field.name, {index.data(), Element::Int64, kCount, 8, 8});
    if (field.role == Role::Output && !field.integral()) bind(nearest, field.name.c_str(), distance);
  }
  nearest.set_pairs(PairChoice::Cutoff);
  nearest.run();
  nearest.wait();
  EXPECT_EQ(nearest.method(), "nearest") << nearest.statistics().reason;
}

// Results of pairs and a sum, of arrays on the host and on the GPU.
TEST_F(LibraryProgramsOnShim, OfResultsOfPairs) {
  const auto kernel =
      load({"contacts.pipe",
            "input_i real xi; input_j real xj; input_pair real old; output(pair) real now; output(sum) real s;\n"
            "now = old + xj - xi; s += old;\n"});
  const std::vector<double> x{0, 1, 3}, old{10, 20, 30, 40}, expected{11, 23, 32, 37};
  const std::vector<std::int64_t> first{0, 2, 3, 4}, j{1, 2, 2, 0};
  for (const bool on_gpu : {false, true}) {
    SumState sum(kernel);
    sum.set_listed_pairs(3, first.data(), 4, j.data());
    double *arrays[4], now[4], s[3];
    for (double*& array : arrays)
      array = static_cast<double*>(on_gpu ? device->allocate(4 * sizeof(double)) : device->allocate_shared(32));
    device->write(arrays[0], x.data(), 24);
    device->write(arrays[1], old.data(), 32);
    sum.bind("xi", {arrays[0], Element::Double, 3, 8, 8});
    sum.bind("xj", {arrays[0], Element::Double, 3, 8, 8});
    sum.bind("old", {arrays[1], Element::Double, 4, 8, 8});
    sum.bind("now", {arrays[2], Element::Double, 4, 8, 8});
    sum.bind("s", {arrays[3], Element::Double, 3, 8, 8});
    sum.run();
    sum.wait();
    device->read(now, arrays[2], 32);
    device->read(s, arrays[3], 24);
    EXPECT_EQ(std::vector<double>(now, now + 4), expected);
    EXPECT_EQ(std::vector<double>(s, s + 3), (std::vector<double>{30, 30, 40}));
    for (double* const array : arrays) device->release(array);
  }
}

TEST_F(DoubleLibraryProgramsOnShim, OfAFarField) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Double, device);
  trial.fill("plummer", 1200, 1200, true, 5);
  for (const FarChoice& choice : {FarChoice{}, FarChoice{.order = 6, .leaf = 16, .separation = 0.4}}) {
    set_tolerance(trial.sum, 1e-4, choice);
    trial.run();
    EXPECT_LE(trial.error(), 1e-4);
  }
  EXPECT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
}

TEST_F(DoubleLibraryProgramsOnShim, OfEachPairOnceAndOfNearestNeighbours) {
  constexpr std::int64_t kCount = 300;
  const std::vector<double> x = uniform_numbers(3 * kCount);
  ArraysByField columns{{"xi", x}, {"xj", x}, {"mj", std::vector<double>(kCount, 1)}};
  SumState sum(load(FarTrial::library("gravity")));
  bind_named(sum, columns, kCount);
  // Partner fields are bound to one array.
  sum.bind("xj", {columns["xi"].data(), Element::Double, kCount, 24, 8});
  sum.set_symmetric(SymmetricChoice::Off);
  run_and_wait(sum);
  const std::vector<double> twice = columns["pot"];
  sum.set_symmetric(SymmetricChoice::Always);
  run_and_wait(sum);
  EXPECT_EQ(sum.method(), "symmetric") << sum.statistics().reason;
  for (std::size_t i = 0; i < twice.size(); ++i) EXPECT_NEAR(columns["pot"][i], twice[i], 1e-10 * std::abs(twice[i]));

  SumState nearest(load({"nearest.pipe",
                         "input_i vec3 xi; input_j vec3 xj; output(min) real least;\nvec3 d = xj - xi;\n"
                         "skip_if(i_index == j_index);\nleast = min(least, dot(d, d));\n"}));
  bind_named(nearest, columns, kCount);
  nearest.set_pairs(PairChoice::All);
  run_and_wait(nearest);
  const std::vector<double> by_all = columns["least"];
  nearest.set_pairs(PairChoice::Cutoff);
  run_and_wait(nearest);
  EXPECT_EQ(nearest.method(), "nearest") << nearest.statistics().reason;
  EXPECT_EQ(columns["least"], by_all);
}

// All images within a cutoff: the copies of j are made by a program without a pipeline.
TEST_F(LibraryProgramsOnShim, OfEveryImageWithinACutoff) {
  SumState sum(load({"images.pipe",
                     "input_i real xi; input_j real xj; param real side; output(sum) real s; output(count) int n;\n"
                     "real d = every_image(xj - xi, side);\nskip_if(self_pair || d * d > 9.0);\n"
                     "s += d; n += d * d >= 0.0;\n"}));
  // i = 0: its own images at -2 and 2; those of the other at -2.75, -0.75 and 1.25.
  ArraysByField columns{{"xi", {0.25, 5.5}}, {"xj", {0.25, 5.5}}};
  bind_named(sum, columns, 2);
  const double side = 2;
  sum.set_param("side", {&side, 1});
  for (const PairChoice pairs : {PairChoice::All, PairChoice::Cutoff}) {
    sum.set_pairs(pairs);
    run_and_wait(sum);
    EXPECT_EQ(columns["n"], (std::vector<double>{5, 5}));
    EXPECT_EQ(columns["s"], (std::vector<double>{-2.25, 2.25}));
  }
}

TEST_F(LibraryProgramsOnShim, OfHistogramsOfEachI) {
  SumState sum(load({"profiles.pipe",
                     "input_i real xi; input_j real xj; param real rc = 1e9; output(sum) real profile[4];\n"
                     "output(count) int near[2]; real d = xj - xi;\nskip_if(d * d >= rc * rc);\n"
                     "profile[int(abs(d))] += xj; near[int(abs(d)) / 2] += d > 0.0;\n"}));
  ArraysByField columns{{"xi", {0, 1, 3}}, {"xj", {0, 1, 3}}};
  bind_named(sum, columns, 3);
  const std::vector<double> profile{0, 1, 0, 3, 1, 0, 3, 0, 3, 0, 1, 0}, near{1, 1, 0, 1, 0, 0};
  for (const PairChoice pairs : {PairChoice::All, PairChoice::Cutoff}) {
    sum.set_pairs(pairs);
    run_and_wait(sum);
    EXPECT_EQ(columns["profile"], profile);
    EXPECT_EQ(columns["near"], near);
  }
}

// Indices of tables are checked by programs of their own.
TEST_F(LibraryProgramsOnShim, OfCheckedIndicesOfTables) {
  SumState sum(load({"types.pipe",
                     "input_i int ti; input_j int tj; input_j real m;\nparam real e[2][2] = {{1, 2}, {3, 4}};\n"
                     "output(sum) real s;\ns += e[ti][tj] * m;\n"}));
  ArraysByField columns{{"ti", {0, 1, 0}}, {"tj", {1, 0}}, {"m", {10, 100}}};
  bind_named(sum, columns, 3);
  run_and_wait(sum);
  EXPECT_EQ(columns["s"], (std::vector<double>{120, 340, 120}));
  columns["tj"][1] = 2;
  try {
    run_and_wait(sum);
    ADD_FAILURE() << "the index 2 was not found";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("tj is 2 for j-particle 1, but table 'e' of pipeline 'types' (line 4) has 2 columns"));
  }
}

// GPUs compute listed pairs for their i only, so a library needs no programs for both particles of listed pairs.
TEST_F(LibraryProgramsOnShim, ListedPairsForBothParticlesAreRefused) {
  SumState sum(load({"pull.pipe", "input_i real xi; input_j real xj; output(sum) real s;\ns += xj - xi;\n"}));
  ArraysByField columns{{"xi", {0, 1, 3}}};
  bind_named(sum, columns, 3);
  sum.bind("xj", {columns["xi"].data(), Element::Double, 3, 8, 8});
  const std::vector<std::int64_t> first{0, 2, 3, 3}, j{1, 2, 2};
  sum.set_listed_pairs(3, first.data(), 3, j.data());
  run_and_wait(sum);
  EXPECT_EQ(columns["s"], (std::vector<double>{4, 2, 0}));
  sum.set_symmetric(SymmetricChoice::Listed);
  try {
    run_and_wait(sum);
    ADD_FAILURE() << "a GPU ran symmetric = listed";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("this device computes listed pairs for their i only"));
  }
}

// A library holds the code of a row, or all of it but one program.
TEST(LibraryRowsOnShim, NeedNoCompilerForCodeThatIsHeld) {
  const CudaShim shim;
  CudaDevice gpu(shim.driver(), shim.compiler(), 0, "", "");
  PipelineImage image;
  image.cuda = build_cuda_kernel(FarTrial::library("gravity"), {}, "");
  const std::string choices[] = {"symmetric"};
  image.rows = store_rows(image.cuda, choices, Precision::Single);
  ASSERT_EQ(image.rows.size(), 1U);
  keep_launches_of_programs(image.rows[0]);
  std::vector<CudaProgramSource> programs = programs_of_row(image.rows[0]);
  ASSERT_GT(programs.size(), 1U);
  programs.push_back({std::make_shared<const KernelSource>(image.cuda),
                      {Frame::AllPairs, image.cuda.first().launches.front(), false, false}});
  for (const CudaProgramSource& one : programs) {
    const std::string source = source_of(*one.kernel, one.variant);
    image.cuda_images.push_back({"sm_90", one.variant.config, false, source_hash(source), 12000,
                                 shim.compiler()->compile(source, "sm_90", one.variant.config).image});
  }
  const OpenCompiler none = []() -> std::shared_ptr<const CudaCompiler> { throw DeviceError("none is allowed here"); };
  std::vector<double> x{0, 0, 0, 1, 0, 0, 0, 2, 0}, m{1, 2, 4}, acc(9), pot(3);
  SumState sum(load_image(gpu, image, none));
  const auto bind = [&](const char* field, std::vector<double>& values) {
    const std::int64_t bytes = std::int64_t(values.size()) / 3 * 8;
    sum.bind(field, {values.data(), Element::Double, 3, bytes, 8});
  };
  bind("xi", x), bind("xj", x), bind("mj", m), bind("acc", acc), bind("pot", pot);
  sum.set_symmetric(SymmetricChoice::Always);
  sum.run();
  sum.wait();
  EXPECT_EQ(sum.method(), "symmetric") << sum.statistics().reason;
  EXPECT_NEAR(acc[0], 2, 1e-3);

  image.cuda_images.erase(image.cuda_images.begin());
  EXPECT_EQ(load_image(gpu, image, none)->derived("symmetric").obstacle,
            "the library holds no code of its kernels for sm_90, and these need NVRTC");
  EXPECT_EQ(load_image(gpu, image, [&] { return shim.compiler(); })->derived("symmetric").obstacle, "");
}

}  // namespace
}  // namespace nbcc::test
