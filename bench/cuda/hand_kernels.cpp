// The hand-written CUDA kernels: which there are, in which shapes, and how they want their particles. Entry points:
// hand_families(), describe(), options_of(), options_of_add_parts().
#include "bench/cuda/hand_kernels.h"

#include <fmt/core.h>

#include <cstring>
#include <numbers>

namespace nbcc::bench {
namespace {

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Rows of `width` numbers; numbers(k, row) fills in those of particle k.
template <typename T, typename Function>
std::vector<std::byte> rows(std::int64_t n, int width, Function numbers) {
  std::vector<T> values(std::size_t(n * width), T(0));
  for (std::int64_t k = 0; k < n; ++k) numbers(std::size_t(k), values.data() + k * width);
  return bytes_of(values);
}

template <typename T>
HandProblem gravity(const Particles& p) {
  const std::vector<double>&x = p.fields.at("x"), &m = p.fields.at("m");
  HandProblem problem{rows<T>(p.n, 4, [&](std::size_t k, T* row) {
    for (std::size_t c = 0; c < 3; ++c) row[c] = T(x[3 * k + c]);
    row[3] = T(m[k]);
  })};
  problem.params[0] = p.params.at("eps2")[0];
  return problem;
}

HandProblem gravity_jerk(const Particles& p) {
  const std::vector<double>&x = p.fields.at("x"), &v = p.fields.at("v"), &m = p.fields.at("m");
  HandProblem problem{rows<float>(p.n, 8, [&](std::size_t k, float* row) {
    for (std::size_t c = 0; c < 3; ++c) row[c] = float(x[3 * k + c]), row[4 + c] = float(v[3 * k + c]);
    row[3] = float(m[k]);
  })};
  problem.params[0] = p.params.at("eps2")[0];
  return problem;
}

HandProblem gravity_mixed(const Particles& p) {
  const std::vector<double>&x = p.fields.at("x"), &m = p.fields.at("m");
  HandProblem problem{rows<float>(p.n, 8, [&](std::size_t k, float* row) {
    for (std::size_t c = 0; c < 3; ++c) {
      row[c] = float(x[3 * k + c]);
      row[4 + c] = float(x[3 * k + c] - double(row[c]));
    }
    row[3] = float(m[k]);
  })};
  problem.params[0] = p.params.at("eps2")[0];
  return problem;
}

HandProblem lennard_jones(const Particles& p) {
  const std::vector<double>& x = p.fields.at("x");
  HandProblem problem{rows<float>(p.n, 4, [&](std::size_t k, float* row) {
    for (std::size_t c = 0; c < 3; ++c) row[c] = float(x[3 * k + c]);
  })};
  const std::vector<double>& box = p.params.at("box");
  problem.params = {1, 1, p.params.at("rc")[0], p.params.at("shift")[0], box[0], box[1], box[2], 0};
  return problem;
}

HandProblem sph_force(const Particles& p) {
  const auto of = [&](const char* field) { return p.fields.at(field).data(); };
  const double *x = of("x"), *v = of("v"), *m = of("m"), *h = of("h"), *rho = of("rho"), *pressure = of("pres"),
               *sound = of("c"), *omega = of("omega");
  HandProblem problem{rows<float>(p.n, 16, [&](std::size_t k, float* row) {
    for (std::size_t c = 0; c < 3; ++c) row[c] = float(x[3 * k + c]), row[4 + c] = float(v[3 * k + c]);
    row[3] = float(4 * h[k] * h[k]);
    row[7] = float(0.5 * h[k]);
    row[8] = float(1 / h[k]);
    row[9] = float(3 / (std::numbers::pi * h[k] * h[k] * h[k] * h[k]));
    row[10] = float(pressure[k] / (omega[k] * rho[k] * rho[k]));
    row[11] = float(sound[k]);
    row[12] = float(rho[k]);
    row[13] = float(m[k]);
  })};
  problem.params = {1, 2};  // alpha, beta
  return problem;
}

// Threads, i per thread, tile, unroll.
const std::vector<HandShape> kGravityShapes = {
    {64, 1, 128, 32},  {128, 1, 128, 32}, {64, 2, 128, 32},  {128, 2, 128, 16}, {128, 2, 128, 32},
    {128, 2, 128, 64}, {64, 4, 128, 32},  {128, 4, 128, 16}, {128, 4, 128, 32}, {128, 4, 256, 16},
    {256, 4, 128, 16}, {256, 4, 256, 16}, {128, 8, 128, 8},  {128, 8, 128, 16},
};
const std::vector<HandShape> kHeavyShapes = {
    {64, 1, 128, 16},       {128, 1, 128, 16},      {256, 1, 128, 16},      {64, 2, 128, 8},
    {128, 2, 128, 8},       {128, 2, 128, 16},      {128, 2, 256, 8},       {256, 2, 128, 8},
    {64, 4, 128, 4},        {128, 4, 128, 4},       {128, 4, 128, 8},       {128, 4, 256, 4},
    {128, 1, 128, 8, 1, 6}, {128, 2, 128, 4, 1, 4}, {128, 2, 128, 8, 1, 5}, {128, 4, 128, 4, 1, 3},
};
const std::vector<HandShape> kDoubleShapes = {
    {64, 1, 128, 4},        {128, 1, 128, 4},       {128, 1, 128, 8},       {256, 1, 128, 4}, {64, 2, 128, 4},
    {128, 2, 128, 2},       {128, 2, 128, 4},       {128, 2, 128, 8},       {256, 2, 128, 4}, {128, 4, 128, 4},
    {128, 1, 128, 4, 1, 6}, {128, 2, 128, 2, 1, 4}, {128, 2, 128, 4, 1, 5},
};
const std::vector<HandShape> kListShapes = {
    {64, 1, 128, 32},  {128, 1, 128, 32}, {128, 1, 256, 32},        {64, 2, 128, 32},        {128, 2, 128, 16},
    {128, 2, 128, 32}, {128, 2, 256, 32}, {256, 2, 256, 16},        {128, 4, 128, 8},        {128, 4, 128, 16},
    {128, 4, 128, 32}, {128, 4, 256, 16}, {128, 1, 128, 16, 1, 10}, {128, 2, 128, 16, 1, 7}, {128, 4, 128, 8, 1, 5},
};
const std::vector<HandShape> kBranchShapes = {
    {64, 1, 128, 8, 1},  {128, 1, 128, 8, 1}, {128, 1, 128, 4, 2},     {128, 1, 128, 2, 4},
    {128, 1, 128, 1, 8}, {128, 2, 128, 4, 1}, {128, 2, 128, 4, 2},     {128, 2, 128, 2, 4},
    {128, 4, 128, 4, 1}, {128, 4, 128, 2, 2}, {128, 1, 128, 4, 2, 10}, {128, 2, 128, 4, 1, 7},
};

std::vector<HandFamily> all_families() {
  const std::string fast = "-use_fast_math";
  std::vector<HandFamily> all;
  const auto add = [&](const char* name, const char* text, const char* pipeline, nbcc_precision precision,
                       std::vector<std::string> options, const std::vector<HandShape>& shapes,
                       HandProblem (*pack)(const Particles&)) -> HandFamily& {
    options.insert(options.begin(), fast);
    return all.emplace_back(
        HandFamily{name, text, pipeline, precision, std::move(options), shapes, true, 4, false, -1, pack});
  };
  add("one i per thread (as in GPU Gems 3)", "gravity", "gravity_acc", NBCC_SINGLE, {"-DBLOCKED=0"},
      {{128, 1, 128, 128}, {256, 1, 256, 32}, {256, 1, 256, 128}}, gravity<float>)
      .divides_j = false;
  add("plain loop, one i per thread (as KeOps)", "gravity_plain_loop", "gravity_acc", NBCC_SINGLE, {},
      {{192, 1, 192, 1}}, gravity<float>)
      .divides_j = false;
  add("plain sums", "gravity", "gravity_acc", NBCC_SINGLE, {"-DBLOCKED=0"}, kGravityShapes, gravity<float>);
  add("blocked sums", "gravity", "gravity_acc", NBCC_SINGLE, {"-DBLOCKED=1"}, kGravityShapes, gravity<float>);

  add("own term taken off", "gravity_jerk", "gravity_jerk", NBCC_SINGLE, {"-DTEST_SAME_PLACE=0"}, kHeavyShapes,
      gravity_jerk)
      .row = 8;
  add("every pair tested", "gravity_jerk", "gravity_jerk", NBCC_SINGLE, {"-DTEST_SAME_PLACE=1"}, kHeavyShapes,
      gravity_jerk)
      .row = 8;

  add("two-float differences", "gravity_mixed", "gravity_acc", NBCC_MIXED, {}, kHeavyShapes, gravity_mixed)
      .row_in_double = true;
  const char* const roots[] = {"library's rsqrt", "seed from float, one step", "seed from double's upper half"};
  for (int root = 0; root < 3; ++root)
    add(roots[root], "gravity_double", "gravity_acc", NBCC_DOUBLE, {fmt::format("-DROOT={}", root)}, kDoubleShapes,
        gravity<double>)
        .row_in_double = true;

  for (const bool list : {false, true}) {
    const std::string macro = fmt::format("-DBY_LIST={}", int(list));
    const char* const name = list ? "hits in a list" : "branch on the cutoff";
    const std::vector<HandShape>& shapes = list ? kListShapes : kBranchShapes;
    add(name, "lennard_jones", "lennard_jones", NBCC_SINGLE, {macro}, shapes, lennard_jones).row = 8;
    HandFamily& sph = add(name, "sph_force", "sph_force", NBCC_SINGLE, {macro}, shapes, sph_force);
    sph.row = 8;
    sph.maximum = 4;
  }
  add("hits in a list, all within the box", "lennard_jones", "lennard_jones", NBCC_SINGLE,
      {"-DBY_LIST=1", "-DIN_BOX=1"}, kListShapes, lennard_jones)
      .row = 8;
  return all;
}

}  // namespace

std::vector<HandFamily> hand_families(const std::string& pipeline, nbcc_precision precision) {
  std::vector<HandFamily> found;
  for (HandFamily& family : all_families())
    if (family.pipeline == pipeline && family.precision == precision) found.push_back(std::move(family));
  return found;
}

std::string describe(const HandShape& shape) {
  std::string text =
      fmt::format("{} x {}, tile {}, unroll {}", shape.threads, shape.i_per_thread, shape.tile, shape.unroll);
  if (shape.group > 1) text += fmt::format(", group {}", shape.group);
  if (shape.blocks > 1) text += fmt::format(", {} blocks", shape.blocks);
  return text;
}

std::vector<std::string> options_of(const HandFamily& family, const HandShape& shape) {
  std::vector<std::string> options = family.options;
  for (const auto& [macro, value] :
       {std::pair{"THREADS", shape.threads}, std::pair{"R", shape.i_per_thread}, std::pair{"TILE", shape.tile},
        std::pair{"UNROLL", shape.unroll}, std::pair{"GROUP", shape.group}, std::pair{"BLOCKS", shape.blocks}})
    options.push_back(fmt::format("-D{}={}", macro, value));
  return options;
}

std::vector<std::string> options_of_add_parts(const HandFamily& family) {
  return {fmt::format("-DELEMENT={}", family.row_in_double ? "double" : "float"), fmt::format("-DROW={}", family.row),
          fmt::format("-DMAXIMUM={}", family.maximum)};
}

}  // namespace nbcc::bench
