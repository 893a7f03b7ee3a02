// Histograms of each i that are summed for some i at a time, with the results of all at once; the arrays that they are
// stored in; on the CPU, on the shim and on a GPU. what_goes_together_test.cpp compares them with the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/sum/run/histograms.h"
#include "tests/support/asked.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/histogram_trial.h"
#include "tests/support/on_gpu.h"

namespace nbcc {
namespace {

const std::string kProfiles = R"(
input_i vec3 xi; input_i real mi; input_i int ki;
input_j vec3 xj; input_j real mj; input_j int kj;
param real rc = 1e9;
output(sum) vec3 force;
output(sum) real profile[24];
output(count) index near[3];
output(sum) int kinds[1500];
output(sum) double wide[7];
output(total) real g[9];
output(total) real energy;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
force += mj * dx;
int bin = int(floor(dx.x * 16.0)) + 10;
profile[bin] += mi * mj;
if (kj > 2) { profile[23] -= mi; near[2] += mj > 0.25; }
near[ki % 4] += mj > 0.5;
kinds[ki * 40 + kj] += 3;
wide[kj % 8] += double(mj);
g[bin] += mj;
energy += mi * mj;
void finish() { force *= 2; }
)";

const Pipeline& profiles() {
  static const Pipeline parsed = parse({"profiles.pipe", kProfiles});
  return parsed;
}

// Enough particles for a search of neighbours, and few for the oracle.
constexpr std::int64_t kSearched = 700;

// Few i at a time have the same histograms as all i, by a search, by listed pairs and by batches.
void expect_same_in_pieces(const std::function<std::shared_ptr<const Kernel>(std::int64_t most_words)>& load,
                           const CudaGpu* gpu) {
  OracleInput input = test::weighted_particles(profiles(), 700, 1300);
  input.params = {0.375};
  const auto whole = load(std::int64_t(1) << 26), limited = load(500'000);
  ASSERT_LT(most_rows(limited->source), 300);
  const auto by_search = [](SumState& sum) { sum.set_pairs(PairChoice::Cutoff); };
  const auto by_cost = [](SumState&) {};
  const auto listed = [](SumState& sum) {
    std::vector<std::int64_t> first(701), j;
    for (std::int64_t i = 0; i < 700; ++i) {
      for (std::int64_t k = 0; k < i % 17; ++k) j.push_back((i * 31 + k * 7) % 1300);
      first[std::size_t(i) + 1] = std::int64_t(j.size());
    }
    sum.set_listed_pairs(700, first.data(), std::int64_t(j.size()), j.data());
  };
  const auto batches = [](SumState& sum) {
    std::vector<std::int64_t> i_ids(700, 0), j_ids(1300, 0);
    std::fill(i_ids.begin() + 300, i_ids.end(), 1);
    std::fill(j_ids.begin() + 400, j_ids.end(), 1);
    sum.set_pairs(PairChoice::All);
    sum.set_batches(2, 700, i_ids.data(), 1300, j_ids.data());
  };
  using Prepare = std::function<void(SumState&)>;
  for (const Prepare& prepare : {Prepare(by_search), Prepare(by_cost), Prepare(listed), Prepare(batches)})
    for (const std::int64_t begin : {0, 13}) {
      const test::KernelRunChoice choice{.begin = begin, .count = 700 - begin, .arrays_on = gpu, .prepare = prepare};
      const test::Columns all = test::run_kernel(whole, input, choice), some = test::run_kernel(limited, input, choice);
      for (std::size_t c = 0; c < all.size(); ++c)
        if (profiles().field_of(Role::Output, int(c)).is_histogram()) EXPECT_EQ(all[c], some[c]) << c << ' ' << begin;
    }
}

// Values of a particle that name its element, its row's neighbours or nothing.
constexpr char kSmallRows[] =
    "input_i real x; input_j real y; input_j real w; output(sum) index n[3]; output(sum) real g[3];\n"
    "output(total) index all[3];\n"
    "int bin = int(x + y); n[bin] += 1; g[bin] += w; all[bin] += 1;";

struct SmallRows {
  explicit SmallRows(const std::shared_ptr<const Kernel>& kernel) : sum(kernel) {
    std::iota(x.begin(), x.end(), -3);
    sum.bind("x", {x.data(), Element::Double, kRows, 8, 8});
    sum.bind("y", {y.data(), Element::Double, std::int64_t(y.size()), 8, 8});
    sum.bind("w", {w.data(), Element::Double, std::int64_t(w.size()), 8, 8});
    sum.bind("n", {n.data(), Element::Int64, kRows, 24, 8});
    sum.bind("g", {g.data(), Element::Double, kRows, 56, 16});
    sum.bind("all", {all, Element::Int64, 1, 0, 8});
  }
  static constexpr std::int64_t kRows = 9;
  // How often the elements of row i are named.
  std::vector<std::int64_t> counts_of(std::int64_t i) const {
    std::vector<std::int64_t> counts(3);
    for (const double at : y) {
      const double bin = std::trunc(x[std::size_t(i)] + at);
      if (bin >= 0 && bin < 3) ++counts[std::size_t(bin)];
    }
    return counts;
  }
  std::vector<std::int64_t> row(std::int64_t i) const { return {n.begin() + 3 * i, n.begin() + 3 * i + 3}; }
  std::vector<double> x = std::vector<double>(kRows), y{0, 1, 1.5, 2.25, -0.75, 1e30, std::nan("")},
                      w{1, 2, 4, 8, 0x1p-100, 32, 64};
  std::vector<std::int64_t> n = std::vector<std::int64_t>(3 * kRows, -1);
  std::vector<double> g = std::vector<double>(7 * kRows, 7);
  std::int64_t all[3] = {-1, -1, -1};
  SumState sum;
};

// The kernel of kSmallRows, as if a run could have so many words of rows.
template <typename Device>
std::shared_ptr<const Kernel> rows_kernel(Device& device, KernelSource source, std::int64_t most_words) {
  for (HistogramLayout& layout : source.histograms) layout.most_words = most_words;
  return device.load(source);
}

void expect_rows(const SmallRows& small, const std::vector<std::int64_t>& chosen, std::int64_t times) {
  std::vector<std::int64_t> all(3);
  for (std::int64_t i = 0; i < SmallRows::kRows; ++i) {
    if (!std::ranges::count(chosen, i)) {
      EXPECT_EQ(small.row(i), (std::vector<std::int64_t>(3, -1))) << i;
      continue;
    }
    std::vector<std::int64_t> counts = small.counts_of(i);
    for (std::size_t e = 0; e < 3; ++e) all[e] += counts[e], counts[e] *= times;
    EXPECT_EQ(small.row(i), counts) << i;
    // Numbers between the elements are not touched.
    for (const std::size_t at : {1, 3, 5, 6}) EXPECT_EQ(small.g[std::size_t(7 * i) + at], 7) << i;
  }
  for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(small.all[e], all[e] * times) << e;
}

// All i at a time, then few.
void expect_few_rows(const std::function<std::shared_ptr<const Kernel>(std::int64_t most_words)>& load) {
  const std::int64_t of_row = 4 * (1 + kFloatWords);
  for (const std::int64_t most_words : {std::int64_t(1) << 20, 4 * of_row, std::int64_t(1)}) {
    const auto kernel = load(most_words);
    EXPECT_EQ(most_rows(kernel->source), std::max<std::int64_t>(most_words / of_row, 1));
    SmallRows small(kernel);
    test::Asked asked;
    small.sum.run({.progress = &asked.progress});
    expect_rows(small, test::from_to(0, SmallRows::kRows), 1);
    EXPECT_TRUE(std::ranges::is_sorted(asked.fractions));
    std::int64_t inside = 0;
    for (const std::int64_t count : small.n) inside += count;
    EXPECT_EQ(small.sum.statistics().terms_outside, 3 * (SmallRows::kRows * 7 - inside));
    EXPECT_EQ(small.g[7 * 3], 1 + 0x1p-100);
    small.sum.run({.accumulate = true});
    expect_rows(small, test::from_to(0, SmallRows::kRows), 2);
    EXPECT_EQ(small.g[7 * 3], 2);  // each run's sum is rounded

    SmallRows some(kernel);
    const std::vector<std::int64_t> list{8, 0, 3, 4, 7};
    some.sum.run({.i_count = 5, .i_list = list.data()});
    expect_rows(some, list, 1);
    SmallRows range(kernel);
    range.sum.set_offsets(1000, 0);
    range.sum.run({.i_begin = 2, .i_count = 6});
    expect_rows(range, test::from_to(2, 8), 1);
    range.sum.run({.i_begin = 4, .i_count = 0});
    EXPECT_THAT(range.all, testing::ElementsAre(0, 0, 0));
  }
}

TEST(HistogramOfI, SomeAtATimeOnCpu) {
  CpuDevice device(2, detect_isa(), test::cpu_toolchain(), "", "");
  const KernelSource source =
      build_cpu_kernel(parse({"small.pipe", kSmallRows}), {.precision = Precision::Single}, detect_isa(), "");
  expect_few_rows([&](std::int64_t most_words) { return rows_kernel(device, source, most_words); });
  const KernelSource all = build_cpu_kernel(profiles(), {.precision = Precision::Double}, detect_isa(), "");
  expect_same_in_pieces([&](std::int64_t most_words) { return rows_kernel(device, all, most_words); }, nullptr);
}

// Where results of some i are stored before others are summed, an output cannot be an input.
TEST(HistogramOfI, OutputsThatAreInputsAreRefusedInPieces) {
  CpuDevice device(2, detect_isa(), test::cpu_toolchain(), "", "");
  const KernelSource source =
      build_cpu_kernel(parse({"small.pipe", kSmallRows}), {.precision = Precision::Single}, detect_isa(), "");
  std::vector<double> both(27);
  for (const std::int64_t most_words : {std::int64_t(1) << 20, std::int64_t(1)}) {
    SmallRows small(rows_kernel(device, source, most_words));
    small.sum.bind("y", {both.data(), Element::Double, 9, 8, 8});
    small.sum.bind("w", {both.data(), Element::Double, 9, 8, 8});
    small.sum.bind("g", {both.data(), Element::Double, 9, 24, 8});
    if (most_words > 1)
      EXPECT_NO_THROW(small.sum.run());
    else
      EXPECT_THAT([&] { small.sum.run(); },
                  testing::ThrowsMessage<UsageError>("an output may not be an input where histograms are summed for "
                                                     "some i at a time"));
  }
}

// ---- GPUs

// A GPU stores rows in its memory with the numbers that the host makes of their words. Where a histogram is ignored the
// host stores the others'. `shim` counts launches, of which each histogram that a GPU stores needs one; null: a GPU.
void expect_rows_of_the_host(const std::shared_ptr<const Kernel>& kernel, const CudaGpu& gpu, test::CudaShim* shim) {
  OracleInput input = test::weighted_particles(profiles(), 300, 500);
  input.params = {0.375};
  const auto stored = std::ranges::count_if(kernel->source.histograms, &HistogramLayout::of_i);
  const auto pieces = int((200 + most_rows(kernel->source) - 1) / most_rows(kernel->source));
  for (const bool accumulates : {false, true}) {
    std::vector<std::int64_t> launches;  // by what is ignored, then by where the arrays are
    for (const std::string& ignored : {"", "near"}) {
      test::Columns rows[2];
      std::int64_t outside[2]{};
      for (const std::size_t there : {0, 1}) {
        if (shim) shim->forget_calls();
        rows[there] =
            test::run_kernel(kernel, input,
                             {.begin = 13,
                              .count = 200,
                              .arrays_on = there == 1 ? &gpu : nullptr,
                              .after = [&](SumState& sum) { outside[there] = sum.statistics().terms_outside; },
                              .accumulate = accumulates,
                              .before = 3,
                              .ignores = [&](const FieldLayout& field) { return field.name == ignored; }});
        if (shim) launches.push_back(shim->calls("launch_kernel") + shim->calls("launch_kernel_ex"));
      }
      for (std::size_t c = 0; c < rows[0].size(); ++c)
        if (profiles().field_of(Role::Output, int(c)).is_histogram()) EXPECT_EQ(rows[0][c], rows[1][c]) << c << ignored;
      EXPECT_EQ(outside[0], outside[1]) << ignored;
      EXPECT_GT(outside[0], 0);
    }
    if (shim) EXPECT_EQ(launches[1] - launches[0] - (launches[3] - launches[2]), stored * pieces);
  }
}

// A run of more pairs than the words of totals can take stores no row.
void expect_no_rows_of_too_many_pairs(const std::shared_ptr<const Kernel>& limited, const CudaGpu& gpu) {
  OracleInput input = test::weighted_particles(profiles(), 300, 500);
  input.params = {0.375};
  const auto refused = testing::ThrowsMessage<DeviceError>(testing::HasSubstr("take the terms of at most"));
  const std::vector<std::int64_t> j(300);
  std::vector<std::int64_t> first(301);
  std::iota(first.begin(), first.end(), 0);
  using Prepare = std::function<void(SumState&)>;
  for (const Prepare& prepare :
       {Prepare([](SumState& sum) { sum.set_pairs(PairChoice::Cutoff); }),
        Prepare([&](SumState& sum) { sum.set_listed_pairs(300, first.data(), 300, j.data()); })}) {
    const test::Columns rows = test::run_kernel(
        limited, input,
        {.arrays_on = &gpu,
         .prepare = prepare,
         .execute = [&](SumState& sum, const RunChoice& run) { EXPECT_THAT([&] { sum.run(run); }, refused); },
         .accumulate = true,
         .before = 3});
    for (std::size_t c = 0; c < rows.size(); ++c)
      if (profiles().field_of(Role::Output, int(c)).is_histogram())
        EXPECT_EQ(rows[c], (test::Columns::value_type(rows[c].size(), 3))) << c;
  }
}

void expect_rows_on_cuda(CudaDevice& device, test::CudaShim* shim) {
  const KernelSource source =
      build_cuda_kernel(parse({"small.pipe", kSmallRows}), {.precision = Precision::Single}, "");
  expect_few_rows([&](std::int64_t most_words) { return rows_kernel(device, source, most_words); });
  const KernelSource all = build_cuda_kernel(profiles(), {.precision = Precision::Double}, "");
  for (const CudaGpu* gpu : {static_cast<const CudaGpu*>(nullptr), &device.gpu()})
    expect_same_in_pieces([&](std::int64_t most_words) { return rows_kernel(device, all, most_words); }, gpu);
  for (const std::int64_t most_words : {std::int64_t(1) << 26, std::int64_t(500'000)})
    expect_rows_of_the_host(rows_kernel(device, all, most_words), device.gpu(), shim);
  KernelSource limited = all;
  for (HistogramLayout& layout : limited.histograms) layout.most_terms = 100;
  expect_no_rows_of_too_many_pairs(device.load(limited), device.gpu());
}

TEST(HistogramOfI, SomeAtATimeOnShim) {
  test::CudaShim shim;
  shim.set_block_order({test::ShimOrder::Kind::Shuffled, 3});
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_rows_on_cuda(device, &shim);
}

class HistogramOfIOnGpu : public test::OnGpu {};

TEST_F(HistogramOfIOnGpu, FewRowsAtATime) { expect_rows_on_cuda(*device_, nullptr); }

}  // namespace
}  // namespace nbcc
