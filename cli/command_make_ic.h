// nbcc make-ic: particle sets to begin with.
#pragma once
#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "particles/initial_conditions.h"

namespace nbcc {

struct MakeIcOptions {
  std::string kind;
  std::string count = "0";
  std::uint64_t seed = 1;
  InitialConditionOptions sampling;
  std::string output;
  std::string format;
  bool force = false;
  std::string command_line;
};

void declare_make_ic(CLI::App& app, MakeIcOptions& options);
int run_make_ic(const MakeIcOptions& options);

}  // namespace nbcc
