// nbcc emit: every stage of a pipeline's way to machine code, as text.
#pragma once
#include <CLI/App.hpp>
#include <string>

#include "cli/kernel_options.h"

namespace nbcc {

struct EmitOptions {
  std::string file;
  std::string stage;
  std::string output = "-";
  bool force = false;
  KernelChoice kernel;
};

void declare_emit(CLI::App& app, EmitOptions& options);
int run_emit(const EmitOptions& options);

}  // namespace nbcc
