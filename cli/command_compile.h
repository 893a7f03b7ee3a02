// nbcc compile: pipelines into a library that needs no compiler any more.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/kernel_options.h"

namespace nbcc {

struct CompileOptions {
  std::vector<std::string> files;
  std::string output;
  bool force = false;
  KernelChoice kernel;
  std::vector<std::string> isas;
  std::vector<std::string> architectures;
  bool is_static = false, fortran = false;
  std::string api;
  std::vector<std::string> class_map;
  std::string cxx_namespace;
  std::vector<std::string> rpath{"$ORIGIN"};
};

void declare_compile(CLI::App& app, CompileOptions& options);
int run_compile(const CompileOptions& options);

}  // namespace nbcc
