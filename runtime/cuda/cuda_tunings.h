// Sizes -> the launch configurations that `nbcc tune` has measured to be the fastest, on disk beside the kernels: one
// small text file for each kernel text (and with it precision and math) and kind of GPU. Like all caches: whatever is
// wrong with it is a miss and no error, and processes may read and write at once.
//
// A size is known by its class, the whole part of the logarithm of base 2 of ni and of nj. Where a class has not been
// measured, the nearest that differs by at most one in ni and in nj lends its configuration, but not its j-splits,
// which follow the number of blocks. Farther classes lend nothing, and the model decides: on an H200 gravity is fastest
// with one i per thread at 2048 particles and with four at 16384. Tested by tests/unit/cuda_tunings_test.cpp.
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

// What choices are for.
struct CudaTuningSubject {
  std::string pipeline;  // its name
  std::string text;      // of the kernel; a fingerprint of it is kept, and its first line
  std::string model;     // "NVIDIA H200"
  int multiprocessors = 0;
};

struct CudaSizeClass {
  int i = 0, j = 0;
  auto operator<=>(const CudaSizeClass&) const = default;
};
// Of numbers of particles from 1 on.
CudaSizeClass size_class(std::int64_t ni, std::int64_t nj);

struct CudaTuned {
  LaunchConfig config;              // all zeros: nothing was better than the model's choice
  double rate = 0, model_rate = 0;  // interactions/s with it, and with the model's choice, when they were measured
  double gain() const { return model_rate > 0 ? rate / model_rate : 1; }
};

class CudaTuningTable {
 public:
  std::optional<LaunchConfig> find(std::int64_t ni, std::int64_t nj) const;
  // Only what was measured for this class itself.
  const CudaTuned* measured(CudaSizeClass size) const;
  void set(CudaSizeClass size, const CudaTuned& tuned) { choices_[size] = tuned; }
  const std::map<CudaSizeClass, CudaTuned>& all() const { return choices_; }

 private:
  std::map<CudaSizeClass, CudaTuned> choices_;
};

class CudaTunings {
 public:
  // The files are in the folder `tunings` of the kernel cache's. "" keeps nothing.
  explicit CudaTunings(const std::string& cache_folder = "");

  CudaTuningTable read(const CudaTuningSubject& subject) const;
  // In place of what was kept for this class. False: it cannot be kept.
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

// "128 threads, 4 i, tile 128, unroll 16, j_slices 1, j_splits 8"; what is 0 is left out.
std::string describe(const LaunchConfig& config);

}  // namespace nbcc
