// Sizes -> the launch configurations that `nbcc tune` has measured to be the fastest, on disk beside the kernels: one
// small text file for each kernel source (and so for each precision and math mode) and model of GPU. As in all caches
// of nbcc, any defect of a file is a miss and no error, and several processes may read and write at once.
//
// Sizes are grouped into classes: the integer parts of log2(ni) and log2(nj). For a class without a measurement, the
// nearest class that differs by at most one in ni and in nj gives its configuration, but not its j-splits, which depend
// on the number of blocks. More distant classes are not used, and the model decides: on an H200 gravity is fastest with
// one i per thread at 2048 particles and with four at 16384. Tested by
// tests/unit/runtime/cuda/program/cuda_tunings_test.cpp.
#pragma once
#include <compare>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// The kernel and GPU that tunings belong to.
struct CudaTuningSubject {
  std::string pipeline;  // its name
  std::string text;      // the kernel source; the file stores its fingerprint and its first line
  std::string model;     // "NVIDIA H200"
  int multiprocessors = 0;
};

struct CudaSizeClass {
  int i = 0, j = 0;
  auto operator<=>(const CudaSizeClass&) const = default;
};
// The class of ni, nj >= 1.
CudaSizeClass size_class(std::int64_t ni, std::int64_t nj);

struct CudaTuned {
  LaunchConfig config;              // all zeros: no configuration was faster than the model's choice
  double rate = 0, model_rate = 0;  // measured interactions/s with `config`, and with the model's choice
  double gain() const { return model_rate > 0 ? rate / model_rate : 1; }
};

class CudaTuningTable {
 public:
  std::optional<LaunchConfig> find(std::int64_t ni, std::int64_t nj) const;
  // The measurement for exactly this class, or null.
  const CudaTuned* measured(CudaSizeClass size) const;
  void set(CudaSizeClass size, const CudaTuned& tuned) { choices_[size] = tuned; }
  const std::map<CudaSizeClass, CudaTuned>& all() const { return choices_; }

 private:
  std::map<CudaSizeClass, CudaTuned> choices_;
};

class CudaTunings {
 public:
  // The files are in the folder `tunings` of the kernel cache's folder. "" stores nothing.
  explicit CudaTunings(const std::string& cache_folder = "");

  CudaTuningTable read(const CudaTuningSubject& subject) const;
  // Replaces the stored tuning of this class. False: writing failed.
  bool store(const CudaTuningSubject& subject, CudaSizeClass size, const CudaTuned& tuned) const;

  struct Entry {
    std::string name;  // of the file
    std::string pipeline, gpu, kernel;
    std::time_t modified = 0;
    CudaTuningTable table;
  };
  std::vector<Entry> list() const;  // newest first
  int clear() const;                // the number of files removed
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// "128 threads, 4 i, tile 128, unroll 16, j_slices 1, j_splits 8"; numbers that are 0 are omitted.
std::string describe(const LaunchConfig& config);

}  // namespace nbcc
