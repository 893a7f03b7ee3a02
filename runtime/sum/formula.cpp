// Entry point: evaluate(). A formula has a few steps and is evaluated once per run or once per particle.
#include "runtime/sum/formula.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace nbcc {

double evaluate(const Formula& formula, std::span<const double> params, std::span<const double> inputs) {
  std::vector<double> values;
  values.reserve(formula.steps.size());
  for (const Formula::Step& step : formula.steps) {
    const auto arg = [&](std::size_t k) { return values[std::size_t(step.args[k])]; };
    switch (step.op) {
      case Formula::Op::Constant:
        values.push_back(step.constant);
        break;
      case Formula::Op::Param:
        values.push_back(params[std::size_t(step.component)]);
        break;
      case Formula::Op::Input:
        values.push_back(inputs[std::size_t(step.component)]);
        break;
      case Formula::Op::Neg:
        values.push_back(-arg(0));
        break;
      case Formula::Op::Abs:
        values.push_back(std::fabs(arg(0)));
        break;
      case Formula::Op::Sqrt:
        values.push_back(std::sqrt(arg(0)));
        break;
      case Formula::Op::Add:
        values.push_back(arg(0) + arg(1));
        break;
      case Formula::Op::Sub:
        values.push_back(arg(0) - arg(1));
        break;
      case Formula::Op::Mul:
        values.push_back(arg(0) * arg(1));
        break;
      case Formula::Op::Div:
        values.push_back(arg(0) / arg(1));
        break;
      case Formula::Op::Fma:
        values.push_back(std::fma(arg(0), arg(1), arg(2)));
        break;
      case Formula::Op::Min:
        values.push_back(std::isnan(arg(0)) ? arg(0) : std::min(arg(1), arg(0)));
        break;
      case Formula::Op::Max:
        values.push_back(std::isnan(arg(0)) ? arg(0) : std::max(arg(1), arg(0)));
        break;
      case Formula::Op::Pow:
        values.push_back(std::pow(arg(0), arg(1)));
        break;
    }
  }
  return values.back();
}

}  // namespace nbcc
