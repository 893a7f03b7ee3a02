// Sums of one set that compute each pair once: groups of tiles, the same bits for any number of threads and GPUs,
// forces that cancel, reasons and interrupts. what_goes_together_test.cpp compares them with the interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compiler/passes/derived/reactions.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/source/parse.h"
#include "runtime/cuda/group/cuda_group.h"
#include "runtime/error.h"
#include "tests/support/asked.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/folders.h"
#include "tests/support/large_groups.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/sampling.h"

namespace nbcc {
namespace {

using namespace test;

const std::string kFields =
    "input_i vec3 xi; input_i vec3 vi; input_i real hi; input_i int ti;\n"
    "input_j vec3 xj; input_j vec3 vj; input_j real mj; input_j real hj; input_j int tj;\n"
    "param real eps2 = 0.01; param real rc = 0.7; param real table[4] = {1, 2, 3, 4};\n"
    "vec3 dx = xj - xi; vec3 dv = vj - vi; real r2 = dot(dx, dx) + eps2; real r = sqrt(r2);\n";
const std::string kTexts[] = {
    kFields + "output(sum) vec3 f; f += mj / (r2 * r) * dx;",
    kFields +
        "output(sum) vec3 f; output(sum) real p; skip_if(dot(dx, dx) == 0.0);\n"
        "f += mj / (r2 * r) * (dv - 3 * dot(dx, dv) / r2 * dx); p -= mj / r;",
};

OracleInput one_set(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> any(-1, 1), size(0.3, 1.2);
  OracleInput input{.ni = n, .nj = n, .i = {}, .j = {}, .params = {0.01, 0.7, 1, 2, 3, 4}};
  const auto column = [&](auto draw) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (double& value : values) value = draw();
    return values;
  };
  for (int c = 0; c < 6; ++c) input.i.push_back(column([&] { return std::round(any(random) * 1024) / 1024; }));
  input.i.push_back(column([&] { return std::round(size(random) * 1024) / 1024; }));
  input.i.push_back(column([&] { return double(random() % 4); }));
  input.j = input.i;
  input.j.insert(input.j.begin() + 6, column([&] { return std::round(size(random) * 1024) / 1024; }));
  input.i_offset = input.j_offset = 5;
  return input;
}

// Partners have the values of i, and tables that must be symmetric are.
void make_one_set(const Pipeline& pipeline, OracleInput& input) {
  const std::optional<OneSet> both = with_reactions(pipeline);
  for (const std::string& name : both->symmetric_tables) {
    const Field& table = *pipeline.find(name);
    const auto at = [&](int row, int column, int c) -> double& {
      return input.params[std::size_t(table.first + (row * table.columns + column) * table.width + c)];
    };
    for (int row = 0; row < table.columns; ++row)
      for (int column = 0; column < row; ++column)
        for (int c = 0; c < table.width; ++c) at(row, column, c) = at(column, row, c);
  }
  for (const auto& [of_i, of_j] : both->partners)
    for (int c = 0; c < pipeline.find(of_i)->components(); ++c)
      input.j[std::size_t(pipeline.find(of_j)->first + c)] = input.i[std::size_t(pipeline.find(of_i)->first + c)];
}

KernelSource build_for_cuda(const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }

using Build = std::function<KernelSource(const Pipeline&, const Options&)>;

CpuRun::Columns run_both(const std::shared_ptr<const Kernel>& kernel, const OracleInput& input, SymmetricChoice choice,
                         const CudaGpu* arrays_on = nullptr) {
  KernelRunChoice how;
  how.arrays_on = arrays_on;
  how.one_set = true;
  how.prepare = [choice](SumState& sum) {
    sum.set_symmetric(choice);
    sum.set_pairs(PairChoice::All);
  };
  how.after = [&](SumState& sum) {
    EXPECT_EQ(sum.method(), choice == SymmetricChoice::Off ? "all pairs" : "symmetric") << sum.statistics().reason;
  };
  return run_kernel(kernel, input, how);
}

// A search that must compute each pair once, unless the reach of both ends together `may_be_unproved`.
CpuRun::Columns search_once(const std::shared_ptr<const Kernel>& kernel, const OracleInput& input,
                            bool may_be_unproved = false) {
  KernelRunChoice how;
  how.one_set = true;
  how.prepare = [](SumState& sum) {
    sum.set_symmetric(SymmetricChoice::Always);
    sum.set_pairs(PairChoice::Cutoff);
  };
  how.after = [may_be_unproved](SumState& sum) {
    if (!may_be_unproved)
      EXPECT_EQ(sum.statistics().reason.substr(0, 30), "pairs = cutoff, each pair once") << sum.statistics().reason;
  };
  return run_kernel(kernel, input, how);
}

// Odd and even numbers of groups of several tiles, also where the last group is shorter.
void expect_groups(KernelDevice& device, const std::vector<std::int64_t>& sizes, std::int64_t bytes_of_particle) {
  const Pipeline pipeline = parse({"symmetric.pipe", kTexts[1]});
  for (const std::int64_t n : sizes) {
    const auto kernel =
        device.load(with_large_groups(build_cuda_kernel(pipeline, {Precision::Double}, ""), n * bytes_of_particle));
    const OracleInput input = one_set(n, 3);
    const CpuRun::Columns all = run_both(kernel, input, SymmetricChoice::Always);
    // The oracle computes the first, the middle and the last particles, which are in groups of their own.
    const std::int64_t count = std::min<std::int64_t>(n, 300);
    for (const std::int64_t begin : {std::int64_t(0), (n - count) / 2, n - count}) {
      CpuRun::Columns some;
      for (const auto& column : all) some.emplace_back(column.begin() + begin, column.begin() + begin + count);
      const Expectation expected = random_pipeline_expectation(pipeline, input, Precision::Double, begin, count);
      EXPECT_EQ(random_pipeline_difference(pipeline, some, expected), "") << n << " particles, from " << begin;
    }
  }
}

TEST(SymmetricOnShim, GroupsTilesWhereSlotsWouldTakeTooMuchMemory) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  for (const int slots : sampled({2, 3, 4}, 3)) expect_groups(device, {1500, 2600}, slots * 4 * 8);
}

// Devices of one model as one device: the same bits for any number of GPUs, with arrays on the first of them or on the
// host, with groups of one tile and of several.
void expect_bits_of_one_gpu(const std::vector<std::shared_ptr<CudaDevice>>& gpus,
                            const std::vector<std::int64_t>& sizes) {
  const CudaGpu& first = gpus.front()->gpu();
  for (const Precision precision : sampled({Precision::Single, Precision::Double}, 2))
    for (const std::int64_t n : sizes) {
      const Pipeline pipeline = parse({"symmetric.pipe", kTexts[1]});
      const OracleInput input = one_set(n, 4);
      for (const int slots : {3, 1000}) {
        const KernelSource source = with_large_groups(build_cuda_kernel(pipeline, {precision}, ""), n * slots * 4 * 8);
        const auto alone = run_both(gpus.front()->load(source), input, SymmetricChoice::Always, &first);
        for (std::size_t count = 2; count <= gpus.size(); ++count) {
          CudaGroup group(std::vector(gpus.begin(), gpus.begin() + std::ptrdiff_t(count)), true);
          const auto kernel = group.load(source);
          EXPECT_EQ(run_both(kernel, input, SymmetricChoice::Always, &first), alone) << n << ", " << count << " GPUs";
          EXPECT_EQ(run_both(kernel, input, SymmetricChoice::Always), alone) << n << ", host, " << count << " GPUs";
        }
      }
    }
}

TEST(SymmetricOnShim, HasTheSameBitsForAnyNumberOfGpus) {
  CudaShim shim;
  shim.set_device_count(3);
  std::vector<std::shared_ptr<CudaDevice>> gpus;
  for (int k = 0; k < 3; ++k) gpus.push_back(std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), k, "", ""));
  expect_bits_of_one_gpu(gpus, {100, 2600});
}

TEST(SymmetricOnCpu, SearchesOfTheLibrarysPipelinesAgreeWithTheInterpreter) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  int tried = 0;
  for (const std::string& name : library()) {
    const Pipeline pipeline = parse(read_source(source_folder() + "/pipelines/" + name + ".pipe"));
    if (!prove_neighbourhood(pipeline).neighbourhood || !with_reactions(without_totals(pipeline))) continue;
    if (!in_sample(std::size_t(++tried), 4)) continue;
    const auto kernel = device.load(build_cpu_kernel(pipeline, {Precision::Double}, detect_isa(), ""));
    for (const std::int64_t n : {1, 50, 207}) {
      OracleInput input = random_pipeline_input(pipeline, n, n, std::uint64_t(n));
      make_one_set(without_totals(pipeline), input);
      input.i_offset = input.j_offset;
      const Expectation expected = random_pipeline_expectation(pipeline, input, Precision::Double);
      EXPECT_EQ(random_pipeline_difference(pipeline, search_once(kernel, input), expected), "")
          << pipeline.name << ", " << n << " particles";
    }
  }
  EXPECT_GE(tried, 8);
}

// Half lists: the interpreter's results, the same bits for any number of threads, and forces that cancel.
TEST(SymmetricOnCpu, SearchesHaveTheSameBitsForAnyNumberOfThreads) {
  const Pipeline pipeline =
      parse({"symmetric.pipe", kFields + "output(sum) vec3 f; output(count) int n;\n"
                                         "skip_if(i_index == j_index || dot(dx, dx) >= rc * rc);\n"
                                         "f += (1 / r2 - hi * hj) * dx; n += r2 > 0;"});
  for (const Precision precision : sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3))
    for (const std::int64_t n : {1, 2, 15, 16, 17, 129, 1003}) {
      OracleInput input = one_set(n, 7);
      input.params[1] = 0.4;
      const Expectation expected = random_pipeline_expectation(pipeline, input, precision);
      CpuRun::Columns first;
      for (const int threads : {1, 2, 3, 8}) {
        CpuDevice device(threads, detect_isa(), cpu_toolchain(), "", "");
        const auto kernel = device.load(build_cpu_kernel(pipeline, {precision}, detect_isa(), ""));
        CpuRun::Columns now = search_once(kernel, input);
        if (first.empty()) first = now;
        EXPECT_EQ(random_pipeline_difference(pipeline, now, expected), "") << n << " particles";
        for (std::size_t c = 0; c < now.size(); ++c)
          EXPECT_EQ(std::memcmp(now[c].data(), first[c].data(), now[c].size() * sizeof(double)), 0) << threads;
      }
      for (std::size_t c = 0; c < 3; ++c) {
        double net = 0, size = 0;
        for (const double f : first[c]) net += f, size += std::fabs(f);
        EXPECT_LE(std::fabs(net), size * (precision == Precision::Double ? 0x1p-52 : 0x1p-23));
      }
    }
}

// Momentum: what j adds to i and i adds to j is computed once, and added to both.
TEST(SymmetricOnCpu, ForcesOfAllPairsCancel) {
  const Pipeline pipeline = parse({"symmetric.pipe", kFields + "output(sum) vec3 f; f += hi * hj / (r2 * r) * dx;"});
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  for (const Precision precision : {Precision::Single, Precision::Double}) {
    const auto kernel = device.load(build_cpu_kernel(pipeline, {precision}, detect_isa(), ""));
    const auto force = run_both(kernel, one_set(4096, 2), SymmetricChoice::Always);
    for (const auto& component : force) {
      double net = 0, size = 0;
      for (const double f : component) net += f, size += std::fabs(f);
      EXPECT_LT(std::fabs(net), size * (precision == Precision::Single ? 0x1p-23 : 0x1p-52));
    }
  }
}

TEST(SymmetricOnCpu, IsLeftToAllPairsWhereItCannotBe) {
  const Pipeline pipeline = parse({"symmetric.pipe", kTexts[0]});
  CpuDevice device(1, detect_isa(), cpu_toolchain(), "", "");
  const auto kernel = device.load(build_cpu_kernel(pipeline, {}, detect_isa(), ""));
  const OracleInput input = one_set(300, 1);
  const auto reason = [&](KernelRunChoice how, const std::function<void(SumState&)>& prepare = {}) {
    std::string found;
    how.prepare = [&](SumState& sum) {
      if (prepare) return prepare(sum);
      sum.set_symmetric(SymmetricChoice::Always);
    };
    how.after = [&](SumState& sum) { found = sum.statistics().reason; };
    run_kernel(kernel, input, how);
    return found;
  };
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find("symmetric: " + part), std::string::npos) << text;
  };
  expect(reason({.one_set = false}), "i and j are two sets");
  expect(reason({.begin = 1, .one_set = true}), "some i are chosen");
  const auto off = [](SumState& sum) { sum.set_symmetric(SymmetricChoice::Off); };
  EXPECT_EQ(reason({.one_set = true}, off).find("symmetric"), std::string::npos);
  EXPECT_EQ(reason({.one_set = true}, [](SumState&) {}).find("symmetric"), std::string::npos);  // few particles
  expect(reason({.parts = {{0, 100}, {100, 300}}}), "the j come in parts");
  const auto chooses = device.load(build_cpu_kernel(
      parse({"near.pipe", kFields + "output(argmin) index near; near = argmin(near, r2);"}), {}, detect_isa(), ""));
  run_kernel(
      chooses, input,
      {.prepare =
           [](SumState& sum) {
             sum.set_symmetric(SymmetricChoice::Always);
             sum.set_pairs(PairChoice::All);
           },
       .after =
           [&](SumState& sum) { expect(sum.statistics().reason, "an output keeps more than a sum or an extreme"); },
       .one_set = true});
}

// Arrays for the fields of kFields and an output of `components` numbers, bound to a sum as one set.
struct BoundSet {
  BoundSet(SumState& sum, const char* output, int components, std::int64_t n)
      : x(std::size_t(3 * n), 0.5),
        v(x),
        m(std::size_t(n), 1.0),
        results(std::size_t(components * n), -7.0),
        t(std::size_t(n), 1) {
    for (const char* name : {"xi", "xj"}) sum.bind(name, view(x, 3, Element::Double));
    for (const char* name : {"vi", "vj"}) sum.bind(name, view(v, 3, Element::Double));
    for (const char* name : {"hi", "hj", "mj"}) sum.bind(name, view(m, 1, Element::Double));
    for (const char* name : {"ti", "tj"}) sum.bind(name, view(t, 1, Element::Int32));
    sum.bind(output, view(results, components, Element::Double));
    sum.set_symmetric(SymmetricChoice::Always);
  }
  template <typename T>
  static ArrayView view(std::vector<T>& values, int components, Element element) {
    const std::int64_t bytes = sizeof(T);
    return {values.data(), element, std::int64_t(values.size()) / components, bytes * components, bytes};
  }
  std::vector<double> x, v, m, results;
  std::vector<int> t;
};

// What nbcc.h says of NBCC_SYMMETRIC_AUTO, of sums over all pairs and of searches.
TEST(SymmetricOnCpu, IsAutomaticFrom4096ParticlesOn) {
  const Pipeline pipeline = parse(
      {"automatic.pipe", kFields + "output(sum) real s; skip_if(dot(dx, dx) >= rc * rc); s += hi * hj * exp(-r) / r;"});
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const auto kernel = device.load(build_cpu_kernel(pipeline, {}, detect_isa(), ""));
  for (const PairChoice pairs : {PairChoice::All, PairChoice::Cutoff})
    for (const std::int64_t n : {4095, 4096}) {
      SumState sum(kernel);
      BoundSet set(sum, "s", 1, n);
      for (std::size_t c = 0; c < set.x.size(); ++c) set.x[c] = double(c % 101 + c % 7);
      const auto is_once = [&](SymmetricChoice choice) {
        sum.set_symmetric(choice);
        sum.set_pairs(pairs);
        const RunPlan plan = sum.plan();
        EXPECT_EQ(plan.method->name == "symmetric", pairs == PairChoice::All && plan.estimate.once);
        return plan.estimate.once;
      };
      EXPECT_EQ(is_once(SymmetricChoice::Auto), n == 4096) << name(pairs);
      EXPECT_TRUE(is_once(SymmetricChoice::Always)) << name(pairs) << ", " << n;
      EXPECT_FALSE(is_once(SymmetricChoice::Off)) << name(pairs) << ", " << n;
    }
}

TEST(SymmetricOnCpu, CanBeInterruptedAtAnyTime) {
  const Pipeline pipeline = parse({"symmetric.pipe", kTexts[0]});
  for (const int threads : {1, 8}) {
    CpuDevice device(threads, detect_isa(), cpu_toolchain(), "", "");
    SumState sum(device.load(build_cpu_kernel(pipeline, {}, detect_isa(), "")));
    BoundSet set(sum, "f", 3, 4096);
    RunChoice choice;
    for (std::size_t call = 1; call < 60; ++call) {
      Asked asked(call);
      choice.progress = &asked.progress;
      EXPECT_THROW(sum.run(choice), Interrupted) << call;
      EXPECT_EQ(set.results, std::vector<double>(3 * 4096, -7.0));
    }
    Asked all;
    choice.progress = &all.progress;
    sum.run(choice);
    EXPECT_EQ(sum.method(), "symmetric");
    EXPECT_EQ(set.results[17], 0);
    EXPECT_NEAR(all.fractions.back(), 1, 0.3);
  }
}

// An index outside of a table is an error in every method.
TEST(SymmetricOnShim, AnIndexOutsideOfItsTableIsAnError) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  SumState sum(device.load(
      build_cuda_kernel(parse({"symmetric.pipe", kFields + "output(sum) real s; s += table[tj] / r2;"}), {}, "")));
  BoundSet set(sum, "s", 1, 300);
  set.t[100] = 7;
  EXPECT_THROW(
      {
        sum.run();
        sum.wait();
      },
      UsageError);
}

class SymmetricOnGpu : public OnGpu {};

TEST_F(SymmetricOnGpu, GroupsTilesWhereSlotsWouldTakeTooMuchMemory) {
  for (const int slots : {2, 3, 4}) expect_groups(*device_, {1500, 2600, 9000}, slots * 4 * 8);
}

TEST_F(SymmetricOnGpu, HasTheSameBitsForAnyNumberOfGpus) {
  std::vector<std::shared_ptr<CudaDevice>> gpus;
  try {
    for (int k = 0; k < 2; ++k) gpus.push_back(std::make_shared<CudaDevice>(cuda_driver(), make_nvrtc(), k, "", ""));
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  expect_bits_of_one_gpu(gpus, {1000, 30'000});
}

TEST_F(SymmetricOnGpu, HasTheSameBitsInEachRun) {
  const Pipeline pipeline = parse({"symmetric.pipe", kTexts[1]});
  const auto kernel = device_->load(build_cuda_kernel(pipeline, {}, ""));
  const OracleInput input = one_set(60'001, 7);
  const auto first = run_both(kernel, input, SymmetricChoice::Always, &gpu());
  for (int run = 0; run < 5; ++run) EXPECT_EQ(run_both(kernel, input, SymmetricChoice::Always, &gpu()), first);
}

}  // namespace
}  // namespace nbcc
