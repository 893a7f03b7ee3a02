// A pipeline's name and particles -> a sum that can be run. Entry points: pipeline_text(), open_device(), Generated.
#include "bench/generated.h"

#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "bench/embedded_texts.h"

namespace nbcc::bench {

std::string pipeline_text(const std::string& folder, const std::string& name) {
  if (folder.empty()) {
    const std::string_view text = embedded_pipeline(name);
    if (text.empty()) throw std::runtime_error(fmt::format("no pipeline is named '{}'", name));
    return std::string(text);
  }
  const std::string path = fmt::format("{}/{}.pipe", folder, name);
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error(fmt::format("cannot read '{}'", path));
  return text.str();
}

Device open_device(const Setup& setup, int threads, const std::string& cache) {
  DeviceOptions options;
  options.threads = threads;
  options.isa = setup.isa;
  options.cache_dir = cache;
  return Device("cpu", options);
}

Generated::Generated(const Device& device, const std::string& text, const std::string& name,
                     const PipelineOptions& options, Particles particles)
    : particles_(std::move(particles)),
      pipeline_(Pipeline::from_text(device, text, name, options)),
      fields_(pipeline_.fields()),
      sum_(pipeline_) {
  for (const Field& field : fields_) {
    const auto given = particles_.params.find(field.name);
    if (field.role == NBCC_PARAM && given != particles_.params.end()) sum_.set(field.name, given->second);
  }
  sum_.keep_j();
  bind(particles_.n, particles_.n);
}

const std::vector<double>& Generated::values(const Field& field) const {
  if (field.role == NBCC_PARAM) {
    const auto given = particles_.params.find(field.name);
    return given == particles_.params.end() ? field.defaults : given->second;
  }
  const auto own = particles_.fields.find(field.name);
  return own != particles_.fields.end() ? own->second
                                        : particles_.fields.at(field.name.substr(0, field.name.size() - 1));
}

double Generated::rms_difference(const std::function<double(int, std::int64_t)>& others) const {
  double largest = 0;
  int column = 0;
  for (const Field& field : fields_) {
    if (field.role != NBCC_OUTPUT) continue;
    const std::vector<double>& own = outputs_.at(field.name);
    double difference = 0, size = 0;
    for (int c = 0; c < field.components; ++c, ++column) {
      for (std::int64_t k = 0; k < ni_; ++k) {
        const double other = others(column, k), d = own[std::size_t(k * field.components + c)] - other;
        difference += d * d;
        size += other * other;
      }
    }
    const double rms = std::sqrt(difference / size);
    if (!(rms <= largest)) largest = rms;  // NaN stays
  }
  return largest;
}

double Generated::rms_difference(const Generated& others) const {
  std::vector<std::pair<const double*, int>> columns;  // first number, distance
  for (const Field& field : others.fields_)
    for (int c = 0; field.role == NBCC_OUTPUT && c < field.components; ++c)
      columns.emplace_back(others.outputs_.at(field.name).data() + c, field.components);
  return rms_difference([&](int column, std::int64_t k) {
    const auto& [first, distance] = columns[std::size_t(column)];
    return first[k * distance];
  });
}

void Generated::bind(std::int64_t ni, std::int64_t nj) {
  ni_ = ni;
  nj_ = nj;
  for (const Field& field : fields_) {
    if (field.role == NBCC_PARAM) continue;
    const std::int64_t row = 8 * field.components;
    if (field.role == NBCC_OUTPUT) {
      std::vector<double>& array = outputs_[field.name];
      array.assign(std::size_t(ni * field.components), 0.0);
      sum_.bind(field.name, view(array.data(), ni, row, 8));
    } else {
      sum_.bind(field.name, view(values(field).data(), field.role == NBCC_INPUT_I ? ni : nj, row, 8));
    }
  }
}

}  // namespace nbcc::bench
