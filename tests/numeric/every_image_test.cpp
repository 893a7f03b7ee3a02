// Sums over every periodic image, on the CPU and in the CUDA text, against the interpreter, which tries images one by
// one: random texts, cells of one to three vectors and boxes with open axes, of one particle to a dozen, with reaches
// of several cells. All coordinates are multiples of 1/64, so that every precision finds the same pairs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include "compiler/source/parse.h"
#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/sum/derived/image_copies.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

class GridRandom {
 public:
  explicit GridRandom(std::uint64_t seed) : random_(seed) {}
  double on_grid(double low, double high) {
    return std::round(std::uniform_real_distribution<double>(low, high)(random_) * 64) / 64;
  }
  int below(int n) { return int(random_() % std::uint64_t(n)); }
  bool one_in(int n) { return below(n) == 0; }
  template <std::size_t n>
  const char* one_of(const char* const (&texts)[n]) {
    return texts[below(int(n))];
  }

 private:
  std::mt19937_64 random_;
};

struct RandomText {
  std::string text;
  int axes = 3, vectors = 3;
  bool is_box = false;
};

// How the displacement, the cutoff and the results are written.
RandomText random_text(GridRandom& random) {
  RandomText made;
  const int form = random.below(6);
  made.axes = form == 4 ? 2 : form == 5 ? 1 : 3;
  made.is_box = form == 0 || form >= 4;
  made.vectors = form == 1 ? 2 : made.is_box ? made.axes : 3;
  const bool moves = random.one_in(3), turns = random.one_in(3);
  const std::string j = moves ? "(xj + 0.5 * vj)" : "xj", i = moves ? "(xi + 0.5 * vi)" : "xi";
  const std::string difference = turns ? i + " - " + j : j + " - " + i;
  const char* const sign = turns ? "-" : "";
  std::string& text = made.text;
  text =
      "input_i vec3 xi; input_i vec3 vi; input_i real hi; input_i int ti;\n"
      "input_j vec3 xj; input_j vec3 vj; input_j real hj; input_j int tj;\n"
      "param vec3 a; param vec3 b; param vec3 c; param real rc; param real sizes[2] = {0.5, 1.0};\n"
      "output(sum) vec3 force; output(count) int n; output(min) real least; output(sum) int moved;\n"
      "output(total) real energy; output(sum) real box_force;\n";
  if (made.axes == 3) {
    text += fmt::format("vec3 d = {}every_image({}, {});\n", sign, difference,
                        form == 0   ? "vec3(a.x, b.y, c.z)"
                        : form == 1 ? "a, b"
                                    : "a, b, c");
  } else if (made.axes == 2) {
    text += fmt::format(
        "vec3 wide = {};\nvec2 flat = {}every_image(vec2(wide.x, wide.y), vec2(a.x, b.y));\n"
        "vec3 d = vec3(flat.x, flat.y, 0.0);\n",
        difference, sign);
  } else {
    text += fmt::format("vec3 wide = {};\nreal along = {}every_image(wide.x, a.x);\nvec3 d = vec3(along, 0.0, 0.0);\n",
                        difference, sign);
  }
  text += "real r2 = dot(d, d);\n";
  const std::string reach = random.one_of({"rc", "rc * hi", "rc * hj", "rc * max(hi, hj)", "rc * min(hi, hj)",
                                           "0.5 * rc * (hi + hj)", "rc * sizes[tj]", "rc * sizes[ti]"});
  switch (random.below(4)) {
    case 0:
      text += fmt::format("skip_if(r2 >= ({0}) * ({0}));\n", reach);
      break;
    case 1:
      text += fmt::format("skip_if(4.0 * r2 > 4.0 * ({0}) * ({0}) || self_pair);\n", reach);
      break;
    case 2:
      text += fmt::format("vec3 scaled = 0.5 * d;\nskip_if(!(dot(scaled, scaled) <= 0.25 * ({0}) * ({0})));\n", reach);
      break;
    default:
      text += fmt::format("skip_if(self_pair || sqrt(r2) > {});\n", reach);
  }
  text +=
      "real w = hj * exp(-r2);\nforce += w * d;\nn += r2 >= 0.0;\nleast = min(least, r2);\nenergy += w;\n"
      "moved += image_index(0) + 3 * image_index(1) - 5 * image_index(2) + int(self_pair) + int(j_index);\n"
      "box_force += grad(w, a.x);\n";
  if (random.one_in(2))
    text +=
        "output(argmin) index near[2]; output(at) vec3 way[2]; output(at) int cells[2];\n"
        "near = argmin(near, r2 + 0.001 * d.x + 0.01 * image_index(0));\n"
        "way = at(near, d);\ncells = at(near, image_index(0));\n";
  if (random.one_in(3)) text += "output(sum) real counts[4];\ncounts[int(r2) % 4] += 1.0;\n";
  if (random.one_in(3)) text += "void finish() { force *= 2.0; }\n";
  return made;
}

struct ImagesCase {
  OracleInput input;
  std::array<std::array<double, 3>, 3> vectors{};  // a, b, c; as the text takes them
};

// Enough images on each side: by the heights of the cell, how far particles are apart, and the largest reach.
void give_images(ImagesCase& one, const RandomText& text, double reach) {
  std::array<std::vector<double>, 3> periods;
  for (std::size_t k = 0; k < 3; ++k) {
    periods[k].assign(one.vectors[k].begin(), one.vectors[k].begin() + text.axes);
    if (text.is_box)
      for (std::size_t c = 0; c < periods[k].size(); ++c)
        if (c != k) periods[k][c] = 0;
    if (int(k) >= text.vectors) std::ranges::fill(periods[k], 0.0);
  }
  const PeriodicVectors cell("test", periods);
  double apart = 0;
  for (std::size_t axis = 0; axis < std::size_t(text.axes); ++axis) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const auto* side : {&one.input.i, &one.input.j})
      for (std::size_t p = 0; p < (*side)[axis].size(); ++p) {
        const double x = (*side)[axis][p], moved = x + 0.5 * (*side)[3 + axis][p];
        low = std::min({low, x, moved}), high = std::max({high, x, moved});
      }
    apart = std::hypot(apart, high - low);
  }
  for (std::size_t k = 0; k < 3; ++k) one.input.images[k] = 0;
  for (std::size_t k = 0; k < 3; ++k) {  // of the reduced basis
    Multiples step{};
    step[k] = 1;
    const Multiples given = cell.in_given_vectors(step);
    for (std::size_t g = 0; g < 3 && cell.is_given(k); ++g)
      one.input.images[g] += std::abs(given[g]) * (int(cell.slope(k) * (reach + apart)) + 1);
  }
}

ImagesCase random_case_of(const RandomText& text, GridRandom& random) {
  constexpr double kMostReach = 4, kMostImages = 4000;
  for (;;) {
    ImagesCase one;
    OracleInput& input = one.input;
    input.ni = 1 + random.below(5);
    input.nj = 1 + random.below(5);
    const double spread = random.one_in(3) ? 6 : 1.5;
    for (auto& [columns, count] : {std::pair{&input.i, input.ni}, {&input.j, input.nj}})
      for (int c = 0; c < 8; ++c) {
        columns->emplace_back();
        for (std::int64_t p = 0; p < count; ++p)
          columns->back().push_back(c < 3    ? random.on_grid(-spread, spread)
                                    : c < 6  ? random.on_grid(-1, 1)
                                    : c == 6 ? random.on_grid(0.25, 1)
                                             : double(random.below(2)));
      }
    const bool one_set = random.one_in(2);
    if (one_set) input.j = input.i, input.nj = input.ni;
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t c = 0; c < 3; ++c) one.vectors[k][c] = random.on_grid(-1.5, 1.5);
      one.vectors[k][k] += random.one_in(2) ? 1.5 : -1.5;
      if (text.is_box && one.vectors[k][k] == 0) one.vectors[k][k] = 1;
    }
    // An axis that is open.
    if (random.one_in(3)) {
      const auto k = std::size_t(random.below(3));
      if (text.is_box)
        one.vectors[k][k] = HUGE_VAL;
      else
        one.vectors[k] = {};
    }
    const double rc = random.on_grid(0.25, kMostReach);
    for (const auto& vector : one.vectors) input.params.insert(input.params.end(), vector.begin(), vector.end());
    input.params.insert(input.params.end(), {rc, 0.5, 1.0});
    try {
      give_images(one, text, rc);
    } catch (const UsageError&) {
      continue;  // a flat cell
    }
    const auto [x, y, z] = input.images;
    if ((2.0 * x + 1) * (2.0 * y + 1) * (2.0 * z + 1) <= kMostImages) return one;
  }
}

bool is_index(const Field& field) { return keeps_index(field.reduction) || field.type < Type::Float; }

void expect_oracle(const Pipeline& pipeline, const Columns& got, const OracleOutput& expected, Precision precision) {
  const double epsilon = precision == Precision::Double ? 0x1p-52 : 0x1p-23;
  for (std::size_t c = 0; c < got.size(); ++c) {
    const Field& field = pipeline.field_of(Role::Output, int(c));
    ASSERT_EQ(got[c].size(), expected.values[c].size());
    for (std::size_t i = 0; i < got[c].size(); ++i) {
      const double value = expected.values[c][i];
      if (std::isnan(value) && std::isnan(got[c][i])) continue;
      // The derivative by the box and the forces lose what r^2 loses: it is below 32.
      const double most = is_index(field) ? 0 : 400 * epsilon * (expected.magnitudes[c][i] + 1e-6);
      if (value == got[c][i]) continue;
      ASSERT_NEAR(got[c][i], value, most) << field.name << ", component " << int(c) - field.first << ", i " << i;
    }
  }
}

// The message of the run's UsageError, or "" if it succeeds.
std::string refusal(SumState& sum) {
  try {
    sum.run();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

using BuildImages = std::function<KernelSource(const Pipeline&, const Options&)>;

void expect_every_image(KernelDevice& device, const BuildImages& build, const CudaGpu* gpu,
                        const std::vector<std::uint64_t>& seeds) {
  for (const std::uint64_t seed : seeds) {
    GridRandom random(seed);
    const RandomText text = random_text(random);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text.text));
    const Pipeline pipeline = parse({"images.pipe", text.text});
    const auto precision = Precision(random.below(3));
    const auto kernel = for_callers(device.load(build(pipeline, {precision})));
    for (int trial = 0; trial < 4; ++trial) {
      ImagesCase one = random_case_of(text, random);
      OracleInput& input = one.input;
      // Excluded pairs are excluded with all their images.
      if (random.one_in(3)) {
        input.excluded.emplace();
        for (std::int64_t i = 0; i <= input.ni; ++i) {
          input.excluded->first.push_back(std::int64_t(input.excluded->j.size()));
          if (i < input.ni && random.one_in(2)) input.excluded->j.push_back(random.below(int(input.nj)));
        }
      }
      const auto pairs = PairChoice(random.below(3));
      const auto prepare = [&](SumState& sum) {
        sum.set_pairs(pairs);
        if (const auto& rows = input.excluded)
          sum.set_exclusions(input.ni, rows->first.data(), std::int64_t(rows->j.size()), rows->j.data());
      };
      const bool on_gpu = gpu && random.one_in(2);
      const Columns got = run_kernel(kernel, input, {.arrays_on = on_gpu ? gpu : nullptr, .prepare = prepare});
      expect_oracle(pipeline, got, interpret(pipeline, input), precision);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(EveryImageOnCpu, AgreesWithTheInterpreter) {
  CpuDevice device(2, runnable_isas().back(), cpu_toolchain(), "", "");
  const Isa isa = runnable_isas().back();
  expect_every_image(
      device, [isa](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, isa, ""); }, nullptr,
      sampled_range<std::uint64_t>(0, 60, 5));
}

TEST(EveryImageOnShim, AgreesWithTheInterpreter) {
  CudaShim shim;
  shim.allow_minus_one();
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_every_image(
      device, [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }, &device.gpu(),
      sampled_range<std::uint64_t>(100, 112, 4));
}

TEST(EveryImageOnGpu, AgreesWithTheInterpreter) {
  std::unique_ptr<CudaDevice> device;
  try {
    device = std::make_unique<CudaDevice>(cuda_driver(), make_nvrtc(), 0, "", "");
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  expect_every_image(
      *device, [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }, &device->gpu(),
      sampled_range<std::uint64_t>(0, 20, 1));
}

// Kept lists: particles that move a little, jump by periods, and cells that change.
TEST(EveryImageOnCpu, KeepsCopiesWithinTheSkin) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(2, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline = parse({"kept.pipe",
                                   "input_i vec3 xi; input_j vec3 xj; input_i real hi; input_j real hj;\n"
                                   "param vec3 a; param vec3 b; param vec3 c;\n"
                                   "output(count) int n; output(sum) real s;\n"
                                   "vec3 d = every_image(xj - xi, a, b, c);\nreal r2 = dot(d, d);\n"
                                   "skip_if(self_pair || sqrt(r2) > hi + hj); n += r2 >= 0.0; s += r2;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  constexpr std::int64_t kCount = 40;
  constexpr double kSkin = 0.5;
  std::vector<double> x(3 * kCount), h(kCount, 0.75), n(kCount), s(kCount);
  std::array<std::array<double, 3>, 3> cell{{{3, 0, 0}, {1, 2.5, 0}, {-0.5, 0.25, 2}}};
  GridRandom random(5);
  for (double& one : x) one = random.on_grid(0, 3);
  SumState kept(kernel);
  const auto bind = [&](SumState& sum) {
    sum.bind("xi", {x.data(), Element::Double, kCount, 24, 8});
    sum.bind("xj", {x.data(), Element::Double, kCount, 24, 8});
    sum.bind("hi", {h.data(), Element::Double, kCount, 8, 8});
    sum.bind("hj", {h.data(), Element::Double, kCount, 8, 8});
    sum.bind("n", {n.data(), Element::Double, kCount, 8, 8});
    sum.bind("s", {s.data(), Element::Double, kCount, 8, 8});
    for (std::size_t k = 0; k < 3; ++k) sum.set_param(std::string(1, "abc"[k]), cell[k]);
    sum.set_pairs(PairChoice::Cutoff);
  };
  bind(kept);
  kept.set_skin(kSkin);
  std::int64_t searches = 0;
  const auto expect_searches = [&](std::int64_t more, int line = __builtin_LINE()) {
    for (std::size_t k = 0; k < 3; ++k) kept.set_param(std::string(1, "abc"[k]), cell[k]);
    kept.run();
    const std::vector<double> n_kept = n, s_kept = s;
    SumState fresh(kernel);
    bind(fresh);
    fresh.run();
    EXPECT_EQ(n_kept, n);
    for (std::size_t k = 0; k < kCount; ++k) EXPECT_NEAR(s_kept[k], s[k], 1e-12 * (1 + s[k]));
    EXPECT_EQ(kept.statistics().searches, searches += more) << "line " << line;
    EXPECT_GT(std::accumulate(n.begin(), n.end(), 0.0), kCount);
  };
  expect_searches(1);
  const std::vector<double> start = x;
  for (int step = 0; step < 5; ++step) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = start[k] + random.on_grid(-0.1, 0.1);
    expect_searches(0);
  }
  x[3] += 0.5 * kSkin + 0.2;
  expect_searches(1);
  expect_searches(0);
  h[7] -= 0.1;
  expect_searches(0);
  h[7] += 1;
  expect_searches(1);
  cell[0][0] = 2.75;
  expect_searches(1);
  for (std::size_t k = 0; k < 3; ++k) x[30 + k] += 2 * cell[1][k];
  expect_searches(0);
}

// Few particles: an image that comes within reach only by the moves since the search has a copy, too.
TEST(EveryImageOnCpu, KeepsCopiesForTheSkin) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"skin.pipe",
             "input_i real xi; input_j real xj; output(count) int n;\n"
             "real d = every_image(xj - xi, 4.0);\nskip_if(self_pair || d * d > 1.0); n += d * d >= 0.0;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  std::vector<double> x{0.125, 3.0}, n(2);  // 1.125 apart, across the end of the cell
  SumState sum(kernel);
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 2, 8, 8});
  sum.bind("n", {n.data(), Element::Double, 2, 8, 8});
  sum.set_pairs(PairChoice::Cutoff);
  sum.set_skin(0.5);
  sum.run();
  EXPECT_EQ(n, (std::vector<double>{0, 0}));
  x = {0.0, 3.125};
  sum.run();
  EXPECT_EQ(n, (std::vector<double>{1, 1}));
  EXPECT_EQ(sum.statistics().searches, 1);
}

// The same image is excluded as by its image_index(); others stay.
TEST(EveryImageOnCpu, ExcludesTheImagesThatAreNamed) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"excluded.pipe",
             "input_i real xi; input_j real xj; param real side; output(sum) real s; output(count) int n;\n"
             "real d = every_image(xj - xi, side);\nskip_if(self_pair || d * d > 9.0); s += d; n += d * d >= 0.0;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  std::vector<double> x{0.25, 5.5}, s(2), n(2);  // the second is two cells away
  SumState sum(kernel);
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 2, 8, 8});
  sum.bind("s", {s.data(), Element::Double, 2, 8, 8});
  sum.bind("n", {n.data(), Element::Double, 2, 8, 8});
  const double side = 2;
  sum.set_param("side", {&side, 1});
  sum.run();
  // i = 0: its own images at +-2; the other at 5.25 - 2k: -2.75, -0.75, 1.25.
  EXPECT_EQ(n, (std::vector<double>{5, 5}));
  EXPECT_DOUBLE_EQ(s[0], -2.25);
  const std::vector<std::int64_t> first{0, 2, 2}, j{1, 0}, images{-2, 0, 0, 1, 0, 0};
  sum.set_exclusions(2, first.data(), 2, j.data(), images.data());
  sum.run();
  EXPECT_EQ(n, (std::vector<double>{3, 5}));
  EXPECT_DOUBLE_EQ(s[0], -2.25 - 1.25 - 2);
  const FoundPairs found = sum.find_pairs();
  EXPECT_EQ(found.first, (std::vector<std::int64_t>{0, 4, 10}));  // the pair of each with itself is found, too
  for (std::int64_t i = 0; i < 2; ++i)
    for (auto p = std::size_t(found.first[std::size_t(i)]); p < std::size_t(found.first[std::size_t(i) + 1]); ++p)
      EXPECT_LE(std::fabs(x[std::size_t(found.j[p])] + found.shifts[p] - x[std::size_t(i)]), 3);
}

// Whole numbers divide and wrap as in kernels: where the host would compute positions otherwise, there is no run.
TEST(EveryImageOnCpu, RefusesArithmeticOfWholeNumbers) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const auto message = [&](const std::string& side, const std::string& reach) -> std::string {
    const Pipeline pipeline =
        parse({"whole.pipe",
               "input_i real xi; input_i int ti; input_j real xj; param int m; output(count) int n;\n"
               "real d = every_image(xj - xi, " +
                   side + ");\nskip_if(d * d > " + reach + " * " + reach + "); n += d * d >= 0.0;\n"});
    const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {}, isa, "")));
    std::vector<double> x{0}, t{3}, n(1);
    SumState sum(kernel);
    const ArrayView view{x.data(), Element::Double, 1, 8, 8};
    sum.bind("xi", view);
    sum.bind("xj", view);
    sum.bind("ti", {t.data(), Element::Double, 1, 8, 8});
    sum.bind("n", {n.data(), Element::Double, 1, 8, 8});
    const double m = 3;
    sum.set_param("m", {&m, 1});
    const std::string message = refusal(sum);
    return message.empty() ? fmt::format("{}", n[0]) : message;
  };
  EXPECT_EQ(message("1.0", "2.5"), "5");
  EXPECT_EQ(message("real(m)", "3.5"), "3");
  EXPECT_NE(message("real(m / 2)", "2.5").find("of real numbers"), std::string::npos);
  EXPECT_NE(message("1.0", "real(m / 2)").find("of real numbers"), std::string::npos);
  EXPECT_NE(message("1.0", "real(ti / 2)").find("of real numbers"), std::string::npos);
}

// A run that fails does not change what later runs of the same sum give.
TEST(EveryImageOnCpu, GivesTheSameAfterAFailedRun) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"failed.pipe",
             "input_i real xi; input_j real xj; param real rc; output(count) int n;\n"
             "real d = every_image(xj - xi, 1.0);\nskip_if(d * d > rc * rc); n += d * d >= 0.0;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  std::vector<double> x{0.25, 0.75, 5.5}, n(3);
  SumState sum(kernel);
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 3, 8, 8});
  sum.bind("n", {n.data(), Element::Double, 3, 8, 8});
  sum.set_skin(0.1);
  const auto run = [&](double rc) {
    sum.set_param("rc", {&rc, 1});
    sum.run();
  };
  run(1.5);
  const std::vector<double> before = n;
  EXPECT_GT(before[0], 3);
  const std::vector<double> start = x;
  for (double& one : x) one += 5;
  EXPECT_THROW(run(1e12), UsageError);
  x = start;
  run(1.5);
  EXPECT_EQ(n, before);
}

TEST(EveryImageOnCpu, RefusesWhatItCannotSum) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"refused.pipe",
             "input_i vec2 xi; input_j vec2 xj; param vec2 box; param real rc; output(sum) real s;\n"
             "vec2 d = every_image(xj - xi, box);\nskip_if(dot(d, d) > rc * rc); s += 1.0;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {}, isa, "")));
  std::vector<double> x{0, 0, 1, 1}, s(2);
  SumState sum(kernel);
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 2, 16, 8});
  sum.bind("s", {s.data(), Element::Double, 2, 8, 8});
  const auto message = [&](std::array<double, 2> box, double rc) -> std::string {
    sum.set_param("box", box);
    sum.set_param("rc", {&rc, 1});
    const std::string message = refusal(sum);
    return message.empty() ? fmt::format("{} {}", s[0], s[1]) : message;
  };
  EXPECT_EQ(message({2, HUGE_VAL}, 1.5), "3 3");
  EXPECT_EQ(message({2, 0}, 1.5), "3 3");
  EXPECT_EQ(message({-2, HUGE_VAL}, 1.5), "3 3");
  EXPECT_THROW(message({2, NAN}, 1.5), UsageError);
  EXPECT_NE(message({1e-6, 1e-6}, 1e3).find("images of j-particle 0 alone may be within the reach 1000"),
            std::string::npos);
  EXPECT_NE(message({2, 2}, HUGE_VAL).find("may be within the reach inf"), std::string::npos);
  const std::vector<std::int64_t> first{0, 1, 1}, j{1};
  sum.set_listed_pairs(2, first.data(), 1, j.data());
  EXPECT_NE(message({2, 2}, 1).find("do not say which images act"), std::string::npos);
}

}  // namespace
}  // namespace nbcc::test
