// nbcc tune: measures how a pipeline's sums are best cut for a GPU, and keeps it.
#pragma once
#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/kernel_options.h"
#include "cli/particle_sum.h"

namespace nbcc {

struct TuneOptions {
  TuneOptions() { kernel.device = "cuda"; }
  std::string file;
  std::string counts = "1024..262144";
  std::string count_i;  // empty: as many as j
  std::vector<std::string> params;
  KernelChoice kernel;
  double budget = 120;  // seconds
  bool dry_run = false;
  bool force = false;
  bool json = false;
};

void declare_tune(CLI::App& app, TuneOptions& options);
int run_tune(const TuneOptions& options);
// The same with a sum on a GPU that `open` opens, and the tunings of this cache folder.
int tune(const TuneOptions& options, const std::string& cache_folder,
         const std::function<std::unique_ptr<ParticleSum>()>& open);

}  // namespace nbcc
