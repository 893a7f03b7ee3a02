// Reads environment variables: a device's name, a precision, a count; and compiles embedded pipelines. Entry points:
// the functions of the header.
#include "bindings/grape/common.h"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace nbcc::grape {

std::string_view pipeline_text(std::string_view name);

namespace {

std::string value_of(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value && *value ? value : otherwise;
}

}  // namespace

Pipeline pipeline_of(const Device& device, const std::string& name, nbcc_precision precision) {
  return Pipeline::from_text(device, std::string(pipeline_text(name)), name + ".pipe", {.precision = precision});
}

std::string device_of(int id) {
  const std::string all = value_of("NBCC_DEVICE", "cpu");
  std::vector<std::string> names(1);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool parts = all[k] == ',' && !(k + 1 < all.size() && all[k + 1] >= '0' && all[k + 1] <= '9');
    if (parts)
      names.emplace_back();
    else
      names.back() += all[k];
  }
  return names[id < 0 ? 0 : std::size_t(id) % names.size()];
}

nbcc_precision precision() {
  const std::string name = value_of("NBCC_PRECISION", "mixed");
  if (name == "single") return NBCC_SINGLE;
  if (name == "mixed") return NBCC_MIXED;
  if (name == "double") return NBCC_DOUBLE;
  throw usage("NBCC_PRECISION is '" + name + "'; it may be single, mixed or double");
}

int count_of(const char* variable, int otherwise) {
  const std::string text = value_of(variable, "");
  int count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  return failure == std::errc() && end == text.data() + text.size() && count > 0 ? count : otherwise;
}

}  // namespace nbcc::grape
