// Texts about the components of a periodic sum.
#include "runtime/far/periodic/periodic_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace nbcc {

std::string_view describe(PeriodicConvention convention) {
  switch (convention) {
    case PeriodicConvention::Converges:
      return "converges absolutely";
    case PeriodicConvention::MeanZero:
      return "mean zero (tinfoil); weights need not be neutral (uniform background)";
    case PeriodicConvention::GrowingSpheres:
      return "growing spheres (vacuum outside)";
    case PeriodicConvention::NeutralOnly:
      return "weights must be neutral";
    case PeriodicConvention::UpToConstant:
      return "without a constant, which matters only if weights are not neutral";
    case PeriodicConvention::OppositePairs:
      return "opposite images added in pairs";
  }
  return "";
}

std::string describe(const PeriodicComponent& component) {
  std::string text =
      std::isinf(component.decay) ? "decay faster than any power" : fmt::format("decay {:.2g}", component.decay);
  if (component.degree > 0) text += fmt::format(", degree {} fitted", component.degree);
  return fmt::format("{}, {}", text, describe(component.convention));
}

std::vector<std::string> describe(std::span<const std::string> outputs, std::span<const PeriodicComponent> components) {
  std::vector<std::string> all;
  for (std::size_t c = 0; c < components.size(); ++c) {
    std::string text = fmt::format("{}: {}", outputs[c], describe(components[c]));
    if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
  }
  return all;
}

std::string require_neutral(const PeriodicComponent& component, std::string_view weight, double sum, double magnitude) {
  if (component.convention != PeriodicConvention::NeutralOnly || std::fabs(sum) <= 1e-12 * magnitude) return "";
  return fmt::format(
      "the sum of {} is {:.3g}, of magnitudes {:.3g}: terms that fall like r^{:.3g} have a periodic sum only if it is "
      "0",
      weight, sum, magnitude, -component.decay);
}

}  // namespace nbcc
