// nbcc verify: a device's sums against the double-precision oracle.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/kernel_options.h"
#include "cli/particle_source.h"

namespace nbcc {

struct VerifyOptions {
  std::string file;
  ParticleSourceOptions particles;
  std::string random;
  std::vector<std::string> params;
  KernelChoice kernel;
  bool json = false;
};

void declare_verify(CLI::App& app, VerifyOptions& options);
int run_verify(const VerifyOptions& options);

}  // namespace nbcc
