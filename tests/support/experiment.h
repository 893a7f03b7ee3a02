// A pipeline of the library run on particles that a test makes, through the C interface, as a user would.
// Its entry point is Summation. Does not know what the right answer is: that is oracle.h's or the test's own.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/nbcc.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/device_array.h"
#include "tests/support/folders.h"

namespace nbcc::test {

// Field name -> components of particle 0, of particle 1, ... (an array of structures, flattened).
using Values = std::map<std::string, std::vector<double>>;

struct Particles {
  std::int64_t ni = 0, nj = 0;
  Values fields{};                          // inputs of both sides
  Values params{};                          // those that differ from their defaults
  std::int64_t i_offset = 0, j_offset = 0;  // added to i_index and j_index
};

// The instruction sets that the CPU device must offer here.
inline std::vector<std::string> instruction_sets() {
#if defined(__x86_64__)
  std::vector<std::string> sets{"sse2"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back("avx2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw")) {
    sets.push_back("avx512");
  }
  return sets;
#else
  return {"neon"};
#endif
}

struct Choice {
  nbcc_precision precision = NBCC_DOUBLE;
  nbcc_math math = NBCC_FAST;
  std::string isa{};  // empty: the best
  int threads = 2;
  std::string device = "cpu";
  bool arrays_on_device = false;  // of a GPU: copies in its memory are bound
};

// A bare name is one of the library's.
inline std::string pipeline_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  return source_folder() + "/pipelines/" + name + ".pipe";
}

inline void require(nbcc_status status, nbcc_error* error) {
  if (status == NBCC_OK) return;
  const std::string message = nbcc_error_message(error);
  nbcc_error_free(error);
  throw std::runtime_error(message);
}

class Summation {
 public:
  explicit Summation(const std::string& pipeline, const Choice& choice = {}) {
    // A cache of the tests' own: they neither profit from the user's nor fill it.
    static const std::string cache = build_folder() + "/test-cache";
    nbcc_device_options device_options{};
    device_options.size = sizeof device_options;
    device_options.threads = choice.threads;
    device_options.isa = choice.isa.empty() ? nullptr : choice.isa.c_str();
    device_options.cache_dir = cache.c_str();
    nbcc_pipeline_options options{};
    options.size = sizeof options;
    options.precision = choice.precision;
    options.math = choice.math;
    nbcc_error* error = nullptr;
    nbcc_device* device = nullptr;
    require(nbcc_device_open(choice.device.c_str(), &device_options, &device, &error), error);
    const nbcc_status opened =
        nbcc_pipeline_from_file(device, pipeline_path(pipeline).c_str(), &options, &pipeline_, &error);
    nbcc_device_close(device);
    require(opened, error);
    require(nbcc_sum_create(pipeline_, &sum_, &error), error);
    if (choice.arrays_on_device) gpu_ = std::make_unique<CudaGpu>(cuda_driver(), cuda_ordinal(choice.device).value());
  }
  Summation(const Summation&) = delete;
  Summation& operator=(const Summation&) = delete;
  ~Summation() {
    nbcc_sum_destroy(sum_);
    nbcc_pipeline_close(pipeline_);
  }

  // All outputs for all i. Throws std::runtime_error with the runtime's message.
  Values operator()(const Particles& particles) {
    outputs_.clear();
    indices_.clear();
    copies_.clear();
    nbcc_error* error = nullptr;
    require(nbcc_sum_set_counts(sum_, particles.ni, particles.nj, &error), error);
    require(nbcc_sum_set_offsets(sum_, particles.i_offset, particles.j_offset, &error), error);
    nbcc_field field;
    for (int k = 0; nbcc_pipeline_field(pipeline_, k, &field) == 0; ++k) {
      const std::string name = field.name;
      if (field.role == NBCC_PARAM) {
        const auto given = particles.params.find(name);
        if (given == particles.params.end()) continue;
        const int count = int(given->second.size());
        require(nbcc_sum_set_param(sum_, field.name, given->second.data(), count, &error), error);
      } else if (field.role == NBCC_OUTPUT) {
        const std::int64_t rows = field.total ? 1 : particles.ni;
        const auto size = std::size_t(rows * field.components);
        if (field.integral) {
          bind(field, indices_[name] = std::vector<std::int64_t>(size), rows, NBCC_INT64);
        } else {
          bind(field, outputs_[name] = std::vector<double>(size), rows, NBCC_DOUBLE_ELEMENT);
        }
      } else {
        bind_input(field, particles);
      }
    }
    return again();
  }

  // The same particles once more, in the arrays that they stand in. What the last run stored is overwritten before.
  Values again() {
    for (auto& [name, values] : outputs_) std::fill(values.begin(), values.end(), -1e300);
    for (auto& [name, values] : indices_) std::fill(values.begin(), values.end(), -2);
    for (const Copy& copy : copies_)
      if (copy.is_output) copy.there->put(copy.here, copy.bytes);
    nbcc_error* error = nullptr;
    require(nbcc_sum_run(sum_, nullptr, &error), error);
    require(nbcc_sum_wait(sum_, &error), error);
    for (const Copy& copy : copies_)
      if (copy.is_output) copy.there->get(copy.here, copy.bytes);
    Values all = outputs_;
    for (const auto& [name, values] : indices_) all[name].assign(values.begin(), values.end());
    return all;
  }

 private:
  template <typename T>
  void bind(const nbcc_field& field, std::vector<T>& values, std::int64_t count, nbcc_element element) {
    static T nothing{};  // a set may be empty, a view's pointer may not be null
    const auto stride = std::int64_t(sizeof(T)) * field.components;
    nbcc_view view{values.empty() ? &nothing : values.data(), element, count, stride, std::int64_t(sizeof(T))};
    if (gpu_) {
      const std::size_t bytes = sizeof(T) * values.size();
      copies_.push_back({std::make_unique<DeviceArray>(*gpu_, bytes), view.data, bytes, field.role == NBCC_OUTPUT});
      copies_.back().there->put(view.data, bytes);
      view.data = copies_.back().there->data();
    }
    nbcc_error* error = nullptr;
    require(nbcc_sum_bind(sum_, field.name, &view, &error), error);
  }

  void bind_input(const nbcc_field& field, const Particles& particles) {
    const std::int64_t count = field.role == NBCC_INPUT_I ? particles.ni : particles.nj;
    const auto given = particles.fields.find(field.name);
    if (given == particles.fields.end()) throw std::logic_error(std::string("the test gives no ") + field.name);
    if (std::int64_t(given->second.size()) != count * field.components) {
      throw std::logic_error(std::string("the test gives a wrong number of ") + field.name);
    }
    // The interface takes inputs and outputs by the same struct; inputs are only read.
    bind(field, const_cast<std::vector<double>&>(given->second), count, NBCC_DOUBLE_ELEMENT);
  }

  // An array of the test's, and the one that is bound in its place.
  struct Copy {
    std::unique_ptr<DeviceArray> there;
    void* here;
    std::size_t bytes;
    bool is_output;
  };

  nbcc_pipeline* pipeline_ = nullptr;
  nbcc_sum* sum_ = nullptr;
  std::unique_ptr<CudaGpu> gpu_;
  std::vector<Copy> copies_;
  Values outputs_;                                            // as they are bound
  std::map<std::string, std::vector<std::int64_t>> indices_;  // of integral outputs
};

// One run; for several of one pipeline keep the Summation.
inline Values sum(const std::string& pipeline, const Particles& particles, const Choice& choice = {}) {
  return Summation(pipeline, choice)(particles);
}

}  // namespace nbcc::test
