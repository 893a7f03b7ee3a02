// nbcc emit: every stage of a pipeline's way to machine code.
#pragma once
#include <CLI/App.hpp>
#include <string>

#include "cli/kernel_options.h"
#include "runtime/cuda/cuda_compiler.h"

namespace nbcc {

struct EmitOptions {
  std::string file;
  std::string stage;
  std::string output = "-";
  bool force = false;
  KernelChoice kernel;
  std::string architecture;  // empty: the first GPU's
  CudaShape shape;
};

void declare_emit(CLI::App& app, EmitOptions& options);
int run_emit(const EmitOptions& options);

}  // namespace nbcc
