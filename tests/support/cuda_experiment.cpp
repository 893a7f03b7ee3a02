// Random particles and a set of places -> a sum with arrays bound to it. Entry points: load_experiment(),
// CudaExperiment, expected_sums(). Judges nothing.
#include "tests/support/cuda_experiment.h"

#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "jit/build_kernel.h"

namespace nbcc::test {
namespace {

constexpr const char* kText = R"(
input_i vec3 xi;
input_i real hi;
input_j vec3 xj;
input_j real mj;
param real eps2 = 0.01;
output(sum) vec3 acc;
output(sum) real pot;
output(argmin) index near;
output(max) real far;
SELF
vec3 dx = xj - xi;
real r2 = dot(dx, dx) + eps2;
real ri = rsqrt(r2);
acc += mj * ri * ri * ri * dx;
pot -= mj * ri;
near = argmin(near, r2);
far = max(far, r2);
void finish() { pot = pot * hi; }
)";

int components_of(const std::string& field) { return field == "xi" || field == "xj" || field == "acc" ? 3 : 1; }

std::int64_t bits_of(const std::string& field, double value) {
  if (field == "near") return std::int64_t(value);
  std::int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

double value_of(const std::string& field, std::int64_t bits) {
  if (field == "near") return double(bits);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

std::shared_ptr<const Kernel> load_experiment(KernelDevice& device, bool self) {
  std::string text = kText;
  text.replace(text.find("SELF"), 4, self ? "skip_if(i_index == j_index);" : "");
  return device.load(build_cuda_kernel(Source{"experiment.pipe", text}, Options{}, ""));
}

Numbers random_experiment(std::int64_t ni, std::int64_t nj, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto draw = [&](std::int64_t count, double low, double high) {
    std::uniform_real_distribution<double> distribution(low, high);
    std::vector<double> numbers(static_cast<std::size_t>(count));
    // Numbers that single precision holds: rounding of the inputs is no matter here.
    for (double& number : numbers) number = double(float(distribution(engine)));
    return numbers;
  };
  return {{"xi", draw(3 * ni, -1, 1)}, {"hi", draw(ni, 1, 2)}, {"xj", draw(3 * nj, -1, 1)}, {"mj", draw(nj, 0.5, 1)}};
}

Numbers expected_sums(const Numbers& inputs, bool self, std::int64_t i_offset, std::int64_t j_offset) {
  const std::vector<double>&xi = inputs.at("xi"), &hi = inputs.at("hi"), &xj = inputs.at("xj"), &mj = inputs.at("mj");
  Numbers sums;
  for (std::size_t i = 0; i < hi.size(); ++i) {
    double acc[3] = {}, pot = 0, far = -std::numeric_limits<double>::infinity();
    double nearest = std::numeric_limits<double>::infinity(), near = -1;
    for (std::size_t j = 0; j < mj.size(); ++j) {
      if (self && std::int64_t(i) + i_offset == std::int64_t(j) + j_offset) continue;
      double dx[3], r2 = 0.01;
      for (std::size_t d = 0; d < 3; ++d) {
        dx[d] = xj[3 * j + d] - xi[3 * i + d];
        r2 += dx[d] * dx[d];
      }
      const double ri = 1 / std::sqrt(r2);
      for (int d = 0; d < 3; ++d) acc[d] += mj[j] * ri * ri * ri * dx[d];
      pot -= mj[j] * ri;
      far = std::max(far, r2);
      if (r2 < nearest) {
        nearest = r2;
        near = double(j) + double(j_offset);
      }
    }
    for (const double a : acc) sums["acc"].push_back(a);
    sums["pot"].push_back(pot * hi[i]);
    sums["near"].push_back(near);
    sums["far"].push_back(far);
  }
  return sums;
}

CudaExperiment::CudaExperiment(const CudaGpu& gpu, const std::shared_ptr<const Kernel>& kernel, const Numbers& inputs,
                               std::set<std::string> on_host)
    : sum(kernel), ni(std::int64_t(inputs.at("hi").size())), nj(std::int64_t(inputs.at("mj").size())) {
  for (const std::string& field : kAllFields) {
    const int components = components_of(field);
    const std::int64_t count = field == "xj" || field == "mj" ? nj : ni;
    Array& array = arrays_[field];
    const auto bytes = std::size_t(count * components) * 8;
    array.host.resize(std::size_t(count * components) + 1);
    array.view = {array.host.data(), field == "near" ? Element::Int64 : Element::Double, count, 8 * components, 8};
    if (!on_host.contains(field)) {
      array.device = std::make_unique<DeviceArray>(gpu, bytes);
      array.view.data = array.device->data();
    }
    const auto given = inputs.find(field);
    put(field, given != inputs.end() ? given->second : std::vector<double>(std::size_t(count * components), -7.0));
  }
}

void* CudaExperiment::data(const std::string& field) const { return arrays_.at(field).view.data; }
ArrayView CudaExperiment::view(const std::string& field) const { return arrays_.at(field).view; }

void CudaExperiment::put(const std::string& field, const std::vector<double>& numbers) {
  Array& array = arrays_.at(field);
  for (std::size_t k = 0; k < numbers.size(); ++k) array.host[k] = bits_of(field, numbers[k]);
  if (array.device) array.device->put(array.host.data(), 8 * numbers.size());
  sum.bind(field, array.view);
}

std::vector<double> CudaExperiment::get(const std::string& field) const {
  const Array& array = arrays_.at(field);
  std::vector<std::int64_t> bits(std::size_t(array.view.count * components_of(field)) + 1);
  if (array.device) {
    array.device->get(bits.data(), 8 * bits.size() - 8);
  } else {
    bits = array.host;
  }
  std::vector<double> numbers;
  for (std::size_t k = 0; k + 1 < bits.size(); ++k) numbers.push_back(value_of(field, bits[k]));
  return numbers;
}

Numbers CudaExperiment::outputs() const {
  return {{"acc", get("acc")}, {"pot", get("pot")}, {"near", get("near")}, {"far", get("far")}};
}

}  // namespace nbcc::test
