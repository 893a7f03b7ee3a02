// Indices that lead out of a table are errors that name the index, the particle, the value and the table: over all
// pairs, behind a cutoff, over lists, batches, listed pairs, chosen i and parts; on the CPU, and on the shim from
// arrays of the host and of the GPU. Random guards and indices against every pair, one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_array.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random_source.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

using Reals = std::vector<double>;
using Indices = std::vector<std::int64_t>;

// Particles whose fields are all doubles, bound on the host or on a GPU.
struct TypedParticles {
  std::map<std::string, Reals> of;
  std::map<std::string, std::unique_ptr<DeviceArray>> there;

  void bind(SumState& sum, const CudaGpu* gpu) {
    for (const FieldLayout& field : sum.fields()) {
      if (field.role == Role::Param) continue;
      Reals& values = of[field.name];
      void* data = values.data();
      if (gpu) {
        std::unique_ptr<DeviceArray>& array = there[field.name];
        if (!array) array = std::make_unique<DeviceArray>(*gpu, values.size() * 8 + 8);
        array->put(values.data(), values.size() * 8);
        data = array->data();
      }
      sum.bind(field.name, {data, Element::Double, std::int64_t(values.size()), 8, 8});
    }
  }
};

// Nothing, or what a run and the wait behind it say.
std::string message_of(SumState& sum, const RunChoice& choice = {}) {
  try {
    sum.run(choice);
    sum.wait();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

struct Device {
  KernelDevice& device;
  std::function<KernelSource(const Pipeline&, const Options&)> build;
  const CudaGpu* gpu = nullptr;  // that arrays are on
  std::string name;
};
using Test = std::function<void(const Device&)>;

void on_every_device(const Test& test) {
  CpuDevice cpu(2, runnable_isas().back(), cpu_toolchain(), "", "");
  test({cpu, [](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, runnable_isas().back(), ""); },
        nullptr, "cpu"});
  CudaShim shim;
  shim.set_lazy(true);
  CudaDevice cuda(shim.driver(), shim.compiler(), 0, "", "");
  const auto build = [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); };
  test({cuda, build, nullptr, "shim, arrays of the host"});
  test({cuda, build, &cuda.gpu(), "shim, arrays of the GPU"});
}

constexpr const char* kTypes =
    "input_i real xi; input_i int ti; input_j real xj; input_j int tj;\n"
    "param real e[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}; param real rc = 1;\n"
    "output(sum) double s;\nreal d = xj - xi;\n";

TypedParticles some(std::int64_t n) {
  TypedParticles all;
  for (std::int64_t k = 0; k < n; ++k) {
    all.of["xi"].push_back(double(k) / 8);
    all.of["ti"].push_back(double(k % 3));
  }
  all.of["xj"] = all.of["xi"];
  all.of["tj"] = all.of["ti"];
  all.of["s"].assign(std::size_t(n), -77);
  return all;
}

const std::string kBeyond = "ti is 3 for i-particle 123, but table 'e' of pipeline 'p' (line 5) has 3 rows, 0 to 2";

void check_every_kind_of_run(const Device& on) {
  const Pipeline pipeline = parse({"p.pipe", std::string(kTypes) + "if (d * d < rc * rc) s += e[ti][tj];"});
  const auto kernel = on.device.load(on.build(pipeline, {}));
  TypedParticles all = some(300);
  all.of["ti"][123] = 3;
  const Indices zeros(300), one_group{0, 300}, one_range{0, 1}, begin{0}, end{300};
  for (const int kind : {0, 1, 2, 3, 4, 5}) {
    SumState sum(kernel);
    all.of["s"].assign(300, -77);
    all.bind(sum, on.gpu);
    RunChoice choice;
    Indices list{5, 123, 7}, first(301), j(300);
    std::iota(first.begin(), first.end(), 0);
    std::iota(j.begin(), j.end(), 0);
    if (kind == 1) sum.set_pairs(PairChoice::Cutoff);
    if (kind == 2) sum.set_batches(1, 300, zeros.data(), 300, zeros.data());
    if (kind == 3) sum.set_listed_pairs(300, first.data(), 300, j.data());
    if (kind == 4) choice.i_list = list.data(), choice.i_count = 3;
    if (kind == 5)
      sum.set_lists(ListArrays{.groups = 1,
                               .ranges = 1,
                               .i_first = one_group.data(),
                               .range_first = one_range.data(),
                               .j_begin = begin.data(),
                               .j_end = end.data(),
                               .j_count = 300});
    const std::string what = on.name + ", kind " + std::to_string(kind);
    EXPECT_TRUE(message_of(sum, choice).starts_with(kBeyond)) << what << ": " << message_of(sum, choice);
    if (!on.gpu) {
      EXPECT_EQ(all.of["s"], Reals(300, -77)) << what << ": outputs are written";
    }
    EXPECT_EQ(
        message_of(sum, {.i_begin = 0, .i_count = choice.i_count < 0 ? -1 : 3, .i_list = choice.i_list, .clamp = true}),
        "")
        << what;
    if (kind > 1) continue;
    EXPECT_EQ(message_of(sum, {.i_begin = 0, .i_count = 123}), "") << what << ": it is not chosen";
    EXPECT_NE(message_of(sum, {.i_begin = 100, .i_count = 30}), "") << what;
  }
}
TEST(TableIndices, OfEveryKindOfRunAreChecked) { on_every_device(check_every_kind_of_run); }

void check_j(const Device& on) {
  const Pipeline pipeline = parse({"p.pipe", std::string(kTypes) + "if (tj >= 0) s += e[ti][tj];"});
  SumState sum(on.device.load(on.build(pipeline, {})));
  TypedParticles all = some(100);
  all.of["tj"][40] = -1;
  all.bind(sum, on.gpu);
  EXPECT_EQ(message_of(sum), "") << on.name << ": padding";
  all.of["tj"][41] = 7;
  all.bind(sum, on.gpu);
  EXPECT_TRUE(
      message_of(sum).starts_with("tj is 7 for j-particle 41, but table 'e' of pipeline 'p' (line 5) has 3 "
                                  "columns, 0 to 2"))
      << on.name;
  // Kept j are checked when they are read.
  sum.keep_j(true);
  EXPECT_NE(message_of(sum), "") << on.name;
  EXPECT_EQ(message_of(sum, {.clamp = true}), "") << on.name;
  EXPECT_NE(message_of(sum), "") << on.name;
  for (const JPart part : {JPart::First, JPart::Last}) EXPECT_NE(message_of(sum, {.part = part}), "") << on.name;
}
TEST(TableIndices, OfJArePartsToo) { on_every_device(check_j); }

void check_sums(const Device& on) {
  const Pipeline pipeline = parse({"p.pipe",
                                   "input_i int ti; input_j int tj; param real e[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n"
                                   "output(sum) double s; s += e[ti * 3 + tj];"});
  SumState sum(on.device.load(on.build(pipeline, {})));
  TypedParticles all;
  all.of = {{"ti", {0, 2, 1}}, {"tj", {0, 1, 2, 2}}, {"s", {0, 0, 0}}};
  all.bind(sum, on.gpu);
  EXPECT_EQ(message_of(sum), "") << on.name;
  all.of["tj"][3] = 3;
  all.bind(sum, on.gpu);
  EXPECT_TRUE(message_of(sum).starts_with(
      "ti * 3 + tj is 9 for i-particle 1 (ti * 3 = 6) and j-particle 3 (tj = 3), but table 'e' of pipeline 'p' (line "
      "2) has 9 elements, 0 to 8"))
      << on.name << ": " << message_of(sum);
}
TEST(TableIndices, OfBothParticlesAreSums) { on_every_device(check_sums); }

void check_other_indices(const Device& on) {
  const Pipeline pipeline =
      parse({"p.pipe",
             "input_i real xi; input_i int ki; input_j real xj; input_pair int kind; param int n = 0;\n"
             "param real e[2] = {1, 2}; param real f[3] = {1, 2, 3};\n"
             "output(sum) double s; s += e[kind] * (xj - xi) * f[n];\nvoid finish() { s = s + f[ki]; }"});
  SumState sum(on.device.load(on.build(pipeline, {})));
  TypedParticles all;
  all.of = {{"xi", {1, 2}}, {"ki", {0, 2}}, {"xj", {3, 4}}, {"kind", {0, 1, 1}}, {"s", {0, 0}}};
  const Indices first{0, 2, 3}, j{0, 1, 1};
  sum.set_listed_pairs(2, first.data(), 3, j.data());
  all.bind(sum, on.gpu);
  EXPECT_EQ(message_of(sum), "") << on.name;
  sum.set_param("n", Reals{5});
  EXPECT_NE(message_of(sum).find("n is 5 for i-particle"), std::string::npos) << on.name;
  sum.set_param("n", Reals{2});
  all.of["kind"][2] = 2;
  all.bind(sum, on.gpu);
  EXPECT_TRUE(message_of(sum).starts_with("kind is 2 for listed pair 2, but table 'e'")) << on.name;
  all.of["kind"][2] = 0;
  all.of["ki"][1] = -4;
  all.bind(sum, on.gpu);
  EXPECT_TRUE(message_of(sum).starts_with("ki is -4 for i-particle 1, but table 'f'")) << on.name;
}
TEST(TableIndices, OfListedPairsOfParamsAndInFinish) { on_every_device(check_other_indices); }

// Particles that no list names may be of any type.
void check_listed(const Device& on) {
  const Pipeline pipeline = parse({"p.pipe", std::string(kTypes) + "s += e[ti][tj];"});
  SumState sum(on.device.load(on.build(pipeline, {})));
  TypedParticles all = some(6);
  all.of["ti"][5] = all.of["tj"][4] = 8;
  all.bind(sum, on.gpu);
  const Indices first{0, 2, 4, 4, 4, 5, 5}, j{0, 1, 2, 3, 5};
  sum.set_listed_pairs(6, first.data(), 5, j.data());
  EXPECT_EQ(message_of(sum), "") << on.name;
  const Indices i_first{0, 5, 6}, range_first{0, 2, 2}, begin{0, 5}, end{4, 6};
  ListArrays lists{.groups = 2,
                   .ranges = 2,
                   .i_first = i_first.data(),
                   .range_first = range_first.data(),
                   .j_begin = begin.data(),
                   .j_end = end.data(),
                   .j_count = 6};
  sum.set_lists(lists);
  EXPECT_EQ(message_of(sum), "") << on.name;
  const Indices farther{5, 6};
  lists.j_end = farther.data();
  sum.set_lists(lists);
  EXPECT_TRUE(message_of(sum).starts_with("tj is 8 for j-particle 4,")) << on.name;
  sum.clear_lists();
  EXPECT_TRUE(message_of(sum).starts_with("ti is 8 for i-particle 5,")) << on.name;
}
TEST(TableIndices, OfParticlesThatNoListNamesAreNotChecked) { on_every_device(check_listed); }

// Results are stored over the indices themselves, which are read before.
void check_in_place(const Device& on) {
  const Pipeline pipeline = parse({"p.pipe", std::string(kTypes) + "if (d * d < rc * rc) s += e[ti][tj];"});
  const auto kernel = on.device.load(on.build(pipeline, {}));
  const Indices zeros(300);
  for (const int kind : {0, 1, 2}) {
    TypedParticles all = some(300);
    SumState sum(kernel);
    all.bind(sum, on.gpu);
    if (kind == 1 && on.gpu) sum.set_pairs(PairChoice::Cutoff);
    if (kind == 2) sum.set_batches(1, 300, zeros.data(), 300, zeros.data());
    if (kind == 2) sum.set_pairs(PairChoice::All);
    sum.bind("s", sum.bound("ti"));
    EXPECT_EQ(message_of(sum), "") << on.name << ", kind " << kind;
    if (!on.gpu) {
      EXPECT_GT(all.of["ti"][0], 3) << on.name << ", kind " << kind;
    }
    // Now the array holds sums, which are no indices.
    EXPECT_NE(message_of(sum), "") << on.name << ", kind " << kind;
  }
}
TEST(TableIndices, AreCheckedBeforeResultsAreStoredOverThem) { on_every_device(check_in_place); }

// What each side adds may be farther from 0 than 32 bits count, and the sum of both may be small again.
void check_far_parts(const Device& on) {
  const Pipeline pipeline = parse({"p.pipe",
                                   "input_i index a; input_j index b; param real e[4] = {1, 2, 3, 4};\n"
                                   "output(sum) double s; s += e[a + b];"});
  SumState sum(on.device.load(on.build(pipeline, {})));
  TypedParticles all;
  const auto message = [&](const Reals& a, const Reals& b) {
    all.of = {{"a", a}, {"b", b}, {"s", {0, 0}}};
    all.there.clear();
    all.bind(sum, on.gpu);
    return message_of(sum);
  };
  EXPECT_EQ(message({5e9, 5e9 + 1}, {-5e9, -5e9 + 2}), "") << on.name;
  EXPECT_TRUE(message({5e9, 5e9}, {-3e9, -3e9})
                  .starts_with("a + b is 2000000000 for i-particle 0 (a = 5000000000) and "
                               "j-particle 0 (b = -3000000000), but table 'e'"))
      << on.name << ": " << message({5e9, 5e9}, {-3e9, -3e9});
  EXPECT_TRUE(message({-5e9, -5e9}, {3e9, 3e9}).starts_with("a + b is -2000000000 for")) << on.name;
  // Beyond 64 bits as well.
  EXPECT_TRUE(message({9e18, 9e18}, {9e18, 9e18}).starts_with("a + b is above 9223372036854775807 for")) << on.name;
  EXPECT_TRUE(message({-9e18, -9e18}, {-9e18, -9e18}).starts_with("a + b is below -9223372036854775808 for"))
      << on.name;
}
TEST(TableIndices, OfPartsBeyond32BitsAreAddedExactly) { on_every_device(check_far_parts); }

// The caller's, whatever the run is cut into, and with the offsets that i_index and j_index have.
void check_numbers(const Device& on) {
  const Pipeline pipeline = parse({"p.pipe", std::string(kTypes) + "if (d * d < rc * rc) s += e[ti][tj];"});
  SumState sum(on.device.load(on.build(pipeline, {})));
  TypedParticles all = some(300);
  all.of["ti"][251] = 3;
  all.bind(sum, on.gpu);
  Indices batch(300, 0);
  std::fill(batch.begin() + 100, batch.end(), 1);
  sum.set_batches(2, 300, batch.data(), 300, batch.data());
  for (const PairChoice pairs : {PairChoice::All, PairChoice::Cutoff}) {
    sum.set_pairs(pairs);
    EXPECT_TRUE(message_of(sum).starts_with("ti is 3 for i-particle 251,")) << on.name << ": " << message_of(sum);
  }
  sum.set_offsets(1000, 2000);
  EXPECT_TRUE(message_of(sum).starts_with("ti is 3 for i-particle 1251,")) << on.name << ": " << message_of(sum);
  sum.clear_lists();
  all.of["ti"][251] = 0;
  all.of["tj"][17] = -2;
  all.bind(sum, on.gpu);
  for (const PairChoice pairs : {PairChoice::All, PairChoice::Cutoff}) {
    sum.set_pairs(pairs);
    EXPECT_TRUE(message_of(sum).starts_with("tj is -2 for j-particle 2017,")) << on.name << ": " << message_of(sum);
  }
  // Chosen particles of host arrays are staged through a list.
  all.of["ti"][251] = 5;
  all.bind(sum, on.gpu);
  const Indices list{5, 251, 7};
  EXPECT_TRUE(message_of(sum, {.i_count = 3, .i_list = list.data()}).starts_with("ti is 5 for i-particle 1251,"))
      << on.name;
}
TEST(TableIndices, AreOfTheCallersParticles) { on_every_device(check_numbers); }

// Sums that compute each pair of one set once.
void check_one_set(const Device& on) {
  const Pipeline pipeline = parse({"p.pipe", std::string(kTypes) + "s += e[ti][tj] * d;"});
  TypedParticles all = some(300);
  SumState sum(on.device.load(on.build(pipeline, {})));
  sum.set_param("e", Reals{1, 2, 3, 2, 5, 6, 3, 6, 9});
  sum.set_symmetric(SymmetricChoice::Always);
  const auto message = [&] {
    all.bind(sum, on.gpu);
    for (const char* const name : {"x", "t"}) {
      const void* const data =
          on.gpu ? all.there[std::string(name) + "i"]->data() : all.of[std::string(name) + "i"].data();
      for (const char* const side : {"i", "j"})
        sum.bind(std::string(name) + side, {const_cast<void*>(data), Element::Double, 300, 8, 8});
    }
    return message_of(sum);
  };
  EXPECT_EQ(message(), "") << on.name;
  EXPECT_EQ(sum.method(), "symmetric") << on.name << ": " << sum.statistics().reason;
  all.of["ti"][123] = 3;
  all.of["s"].assign(300, -77);
  EXPECT_TRUE(message().starts_with(kBeyond)) << on.name << ": " << message();
  if (!on.gpu) {
    EXPECT_EQ(all.of["s"], Reals(300, -77)) << on.name << ": outputs are written";
  }
  all.of["ti"][123] = 2;
  EXPECT_EQ(message(), "") << on.name;
}
TEST(TableIndices, AreCheckedWhereEachPairIsComputedOnce) { on_every_device(check_one_set); }

// A captured run finds it while the graph runs; the next run that is not captured says so.
TEST(TableIndices, OfCapturedRunsAreReportedLater) {
  const Pipeline pipeline = parse({"p.pipe", std::string(kTypes) + "s += e[ti][tj];"});
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  TypedParticles all = some(100);
  SumState sum(device.load(build_cuda_kernel(pipeline, {}, "")));
  all.bind(sum, &device.gpu());
  EXPECT_EQ(message_of(sum), "");
  CudaOwnStream queue(device.gpu());
  CudaStream* stream = nullptr;
  {
    const CudaContextGuard guard(device.gpu());
    stream = queue.get();
  }
  sum.run({.stream = stream});
  shim.begin_capture(stream);
  sum.run({.stream = stream});
  shim.end_capture(stream);
  shim.replay(stream);
  EXPECT_EQ(message_of(sum), "");
  const double wrong = 9;
  all.there["ti"]->put(&wrong, 8);
  shim.replay(stream);
  EXPECT_TRUE(message_of(sum, {.clamp = true}).starts_with("ti is 9 for i-particle 0"));
  EXPECT_EQ(message_of(sum, {.clamp = true}), "") << "once";
}

// ---- random ones
// ------------------------------------------------------------------------------------------------------

// A condition or an index with what it is for a pair, and whether it depends on the pair as a whole.
struct Drawn {
  std::string text;
  std::function<int(int ti, int tj)> value;
};

Drawn number(RandomSource& random, int side) {  // 0: of i, 1: of j
  const int by = random.below(3) - 1, factor = 1 + random.below(2);
  const std::string name = side == 0 ? "ti" : "tj";
  return {"(" + name + " * " + std::to_string(factor) + " + (" + std::to_string(by) + "))",
          [=](int ti, int tj) { return (side == 0 ? ti : tj) * factor + by; }};
}
Drawn condition(RandomSource& random, int depth) {
  const int kind = depth == 0 ? random.below(3) : random.below(6);
  if (kind < 3) {
    const Drawn a = number(random, random.below(2)), b = kind == 2 ? number(random, random.below(2)) : Drawn{};
    const int limit = random.below(5) - 1;
    if (kind == 2)
      return {"(" + a.text + " < " + b.text + ")", [=](int i, int j) { return a.value(i, j) < b.value(i, j); }};
    if (kind == 1)
      return {"(" + a.text + " == " + std::to_string(limit) + ")",
              [=](int i, int j) { return a.value(i, j) == limit; }};
    return {"(" + a.text + " >= " + std::to_string(limit) + ")", [=](int i, int j) { return a.value(i, j) >= limit; }};
  }
  const Drawn a = condition(random, depth - 1), b = condition(random, depth - 1);
  if (kind == 3) return {"!" + a.text, [=](int i, int j) { return !a.value(i, j); }};
  if (kind == 4)
    return {"(" + a.text + " && " + b.text + ")", [=](int i, int j) { return a.value(i, j) && b.value(i, j); }};
  return {"(" + a.text + " || " + b.text + ")", [=](int i, int j) { return a.value(i, j) || b.value(i, j); }};
}
Drawn index(RandomSource& random) {
  const int kind = random.below(4);
  if (kind < 2) return number(random, kind);
  const Drawn a = number(random, 0), b = number(random, 1);
  if (kind == 2) return {a.text + " + " + b.text, [=](int i, int j) { return a.value(i, j) + b.value(i, j); }};
  return {a.text + " - " + b.text, [=](int i, int j) { return a.value(i, j) - b.value(i, j); }};
}

// Whoever reads beyond a table is told so, unless `nbcc check` names the index as unchecked; who has all indices
// within, whatever the guards, is told nothing.
TEST(TableIndices, OfRandomPipelinesAreNeverWrongWithoutAWord) {
  int refused = 0, passed = 0, unchecked = 0;
  on_every_device([&](const Device& on) {
    // Of those that the shim is asked for, a few: each is a text to compile.
    for (const std::uint64_t seed : sampled_range<std::uint64_t>(0, on.name == "cpu" ? 60 : 12, 4)) {
      RandomSource random(seed);
      const Drawn guard = condition(random, 2), at = index(random);
      const int size = 2 + random.below(6), form = random.below(4);
      const std::string lookup = "t[" + at.text + "]";
      const std::string use = form == 0   ? "if (" + guard.text + ") s += " + lookup + ";"
                              : form == 1 ? "s += " + guard.text + " ? " + lookup + " : 0.0;"
                              : form == 2 ? "skip_if(!" + guard.text + "); s += " + lookup + ";"
                                          : "real x = " + lookup + "; if (" + guard.text + ") { s += 2 * x; }";
      const std::string text = "input_i int ti; input_j int tj; param real t[" + std::to_string(size) +
                               "]; output(sum) double s; s += 0 * real(ti + tj); " + use;
      const std::shared_ptr<const Kernel> kernel = on.device.load(on.build(parse({"p.pipe", text}), {}));
      for (int trial = 0; trial < 4; ++trial) {
        TypedParticles all;
        for (int k = 0; k < 5; ++k) {
          all.of["ti"].push_back(random.below(trial + 2) - trial / 2);
          all.of["tj"].push_back(random.below(trial + 2) - trial / 3);
        }
        all.of["s"].assign(5, 0);
        bool is_read_beyond = false, all_within = true;
        for (const double ti : all.of["ti"])
          for (const double tj : all.of["tj"]) {
            const int found = at.value(int(ti), int(tj));
            const bool beyond = found < 0 || found >= size;
            all_within = all_within && !beyond;
            is_read_beyond = is_read_beyond || (beyond && guard.value(int(ti), int(tj)));
          }
        SumState sum(kernel);
        sum.set_param("t", Reals(std::size_t(size), 1.0));
        all.bind(sum, on.gpu);
        const std::string message = message_of(sum);
        const bool is_checked = kernel->source.index_checks.unchecked.empty();
        const std::string what =
            on.name + ", seed " + std::to_string(seed) + ", trial " + std::to_string(trial) + ": " + text;
        if (is_read_beyond && is_checked) {
          EXPECT_NE(message, "") << what;
        }
        if (all_within) {
          EXPECT_EQ(message, "") << what;
        }
        refused += !message.empty(), passed += message.empty(), unchecked += !is_checked;
      }
    }
  });
  const int all = refused + passed;
  EXPECT_GT(6 * refused, all);
  EXPECT_GT(6 * passed, all);
  EXPECT_LT(2 * unchecked, all);
}

// ---- on a GPU -------------------------------------------------------------------------------------------------------

class TableIndicesOnGpu : public OnGpu {};

TEST_F(TableIndicesOnGpu, AreCheckedAlike) {
  for (const CudaGpu* const arrays_on : {static_cast<const CudaGpu*>(nullptr), &gpu()})
    for (const auto& test : {check_every_kind_of_run, check_j, check_sums, check_other_indices, check_listed,
                             check_in_place, check_far_parts, check_numbers})
      test({*device_, [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }, arrays_on,
            "gpu"});
}

}  // namespace
}  // namespace nbcc::test
