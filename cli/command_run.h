// nbcc run: a pipeline's sums over particles from files.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/kernel_options.h"
#include "cli/particle_source.h"

namespace nbcc {

struct RunOptions {
  std::string file;
  ParticleSourceOptions particles;
  std::vector<std::string> params;
  KernelChoice kernel;
  std::string output;
  std::string format;
  bool force = false;
  bool single_output = false;
  std::string command_line;
};

void declare_run(CLI::App& app, RunOptions& options);
int run_run(const RunOptions& options);

}  // namespace nbcc
