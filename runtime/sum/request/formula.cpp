// Entry points: evaluate(). Particles are evaluated in blocks, step by step.
#include "runtime/sum/request/formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace nbcc {
namespace {

constexpr std::int64_t kBlock = 256;
using Block = std::array<double, kBlock>;

// `read`: the values of a component of the inputs, for the first particle of the block.
template <typename Read>
void evaluate_block(const Formula& formula, std::span<const double> params, const Read& read, std::int64_t count,
                    std::vector<Block>& values) {
  for (std::size_t s = 0; s < formula.steps.size(); ++s) {
    const Formula::Step& step = formula.steps[s];
    const auto arg = [&](std::size_t k) { return values[std::size_t(step.args[k])].data(); };
    double* const out = values[s].data();
    const auto each = [&](auto&& rule) {
      for (std::int64_t k = 0; k < count; ++k) out[k] = rule(k);
    };
    const auto unary = [&](auto&& rule) { each([&, a = arg(0)](std::int64_t k) { return rule(a[k]); }); };
    const auto binary = [&](auto&& rule) {
      each([&, a = arg(0), b = arg(1)](std::int64_t k) { return rule(a[k], b[k]); });
    };
    switch (step.op) {
      case Formula::Op::Constant:
        each([&](std::int64_t) { return step.constant; });
        break;
      case Formula::Op::Param:
        each([&](std::int64_t) { return params[std::size_t(step.component)]; });
        break;
      case Formula::Op::Input:
        std::copy_n(read(std::size_t(step.component)), count, out);
        break;
      case Formula::Op::Neg:
        unary([](double a) { return -a; });
        break;
      case Formula::Op::Abs:
        unary([](double a) { return std::fabs(a); });
        break;
      case Formula::Op::Sqrt:
        unary([](double a) { return std::sqrt(a); });
        break;
      case Formula::Op::Add:
        binary([](double a, double b) { return a + b; });
        break;
      case Formula::Op::Sub:
        binary([](double a, double b) { return a - b; });
        break;
      case Formula::Op::Mul:
        binary([](double a, double b) { return a * b; });
        break;
      case Formula::Op::Div:
        binary([](double a, double b) { return a / b; });
        break;
      case Formula::Op::Fma:
        each([a = arg(0), b = arg(1), c = arg(2)](std::int64_t k) { return std::fma(a[k], b[k], c[k]); });
        break;
      case Formula::Op::Min:
        binary([](double a, double b) { return std::isnan(a) ? a : std::min(b, a); });
        break;
      case Formula::Op::Max:
        binary([](double a, double b) { return std::isnan(a) ? a : std::max(b, a); });
        break;
      case Formula::Op::Element:
        binary([&](double row, double column) {
          const double at = row + column;  // NaN of an array of doubles counts as 0, as in a kernel
          const double index = at >= 0 ? std::min(at, double(step.count - 1)) : 0;
          return params[std::size_t(step.component) + std::size_t(index) * std::size_t(step.stride)];
        });
        break;
      case Formula::Op::Pow:
        binary([](double a, double b) { return std::pow(a, b); });
        break;
    }
  }
}

}  // namespace

double evaluate(const Formula& formula, std::span<const double> params, std::span<const double> inputs) {
  std::vector<Block> values(formula.steps.size());
  evaluate_block(formula, params, [&](std::size_t component) { return &inputs[component]; }, 1, values);
  return values.back()[0];
}

void evaluate(const Formula& formula, std::span<const double> params, std::span<const double* const> columns,
              std::int64_t count, double* results) {
  std::vector<Block> values(formula.steps.size());
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t rows = std::min(kBlock, count - begin);
    evaluate_block(formula, params, [&](std::size_t component) { return columns[component] + begin; }, rows, values);
    std::copy_n(values.back().data(), rows, results + begin);
  }
}

}  // namespace nbcc
