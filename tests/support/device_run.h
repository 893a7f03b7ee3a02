// Sums of a case of neighbours on a GPU, or on the shim: over all pairs, or over those that a search finds.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/device_array.h"
#include "tests/support/neighbour_cases.h"

namespace nbcc::test {

using Columns = std::map<std::string, std::vector<double>>;

// The sums of one case, with arrays of the host or of the device.
class DeviceRun {
 public:
  DeviceRun(const CudaDevice& device, std::shared_ptr<const Kernel> kernel, NeighbourCase& c, bool on_device,
            bool one_set)
      : device_(device), kernel_(std::move(kernel)), sum_(kernel_), case_(c), on_device_(on_device) {
    bind("xi", c.xi, 3);
    bind("vi", c.vi, 3);
    bind("hi", c.hi, 1);
    bind("ki", c.ki, 1);
    bind(one_set ? "xi" : "xj", "xj", c.xj, 3);
    bind(one_set ? "vi" : "vj", "vj", c.vj, 3);
    bind(one_set ? "hi" : "hj", "hj", c.hj, 1);
    bind(one_set ? "ki" : "kj", "kj", c.kj, 1);
    sum_.set_param("rc", {&c.rc, 1});
    sum_.set_param("box", c.box);
    const char* const vectors[3] = {"la", "lb", "lc"};
    for (const FieldLayout& field : sum_.fields())
      for (std::size_t k = 0; k < 3; ++k)
        if (field.name == vectors[k]) sum_.set_param(field.name, c.cell[k]);
    sum_.set_offsets(c.i_offset, c.j_offset);
    for (const FieldLayout& field : sum_.fields()) {
      if (field.role != Role::Output) continue;
      results_[field.name].assign(std::size_t(c.ni), -77);
      bind(field.name, results_[field.name], 1);
    }
  }

  Columns operator()(PairChoice pairs, RunChoice choice = {}) {
    sum_.set_pairs(pairs);
    if (!case_.list.empty()) {
      choice.i_list = case_.list.data();
      choice.i_count = std::int64_t(case_.list.size());
    }
    sum_.run(choice);
    sum_.wait();
    return results();
  }
  Columns results() {
    for (auto& [name, values] : results_)
      if (on_device_) arrays_.at(name)->get(values.data(), values.size() * sizeof(double));
    Columns comparable = results_;
    for (auto& [name, values] : comparable) make_comparable(values);
    return comparable;
  }
  void put(const std::string& array, const std::vector<double>& values) {
    arrays_.at(array)->put(values.data(), values.size() * sizeof(double));
  }
  SumState& sum() { return sum_; }

 private:
  void bind(const std::string& name, std::vector<double>& values, int width) { bind(name, name, values, width); }
  // An array that is there already under the name `array` is bound again.
  void bind(const std::string& array, const std::string& field, std::vector<double>& values, int width) {
    if (std::ranges::none_of(sum_.fields(), [&](const FieldLayout& known) { return known.name == field; })) return;
    void* data = values.data();
    if (on_device_) {
      auto& here = arrays_[array];
      if (!here) {
        here = std::make_unique<DeviceArray>(device_.gpu(), values.size() * sizeof(double));
        here->put(values.data(), values.size() * sizeof(double));
      }
      data = here->data();
    } else {
      data = hosts_.emplace(array, data).first->second;
    }
    sum_.bind(field, {data, Element::Double, std::int64_t(values.size()) / width, 8 * width, 8});
  }

  const CudaDevice& device_;
  std::shared_ptr<const Kernel> kernel_;
  SumState sum_;
  NeighbourCase& case_;
  bool on_device_;
  std::map<std::string, std::unique_ptr<DeviceArray>> arrays_;
  std::map<std::string, void*> hosts_;
  Columns results_;
};

}  // namespace nbcc::test
