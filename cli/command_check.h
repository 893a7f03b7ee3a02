// nbcc check: what is wrong with pipelines, and what they are.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/kernel_options.h"

namespace nbcc {

struct CheckOptions {
  std::vector<std::string> files;
  KernelChoice kernel;
  bool json = false;
};

void declare_check(CLI::App& app, CheckOptions& options);
int run_check(const CheckOptions& options);

}  // namespace nbcc
