// nbcc bench: how fast a pipeline runs here.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/kernel_options.h"

namespace nbcc {

struct BenchOptions {
  std::string file;
  std::string counts = "1024..65536";
  std::string count_i;  // empty: as many as j
  int repeat = 5;
  bool resident = false;
  bool host_arrays = false;
  std::vector<std::string> params;
  KernelChoice kernel;
  bool sweep = false;
  bool json = false;
  std::string plot;
  bool force = false;
};

void declare_bench(CLI::App& app, BenchOptions& options);
int run_bench(const BenchOptions& options);

}  // namespace nbcc
