// nbcc inspect: what a library made by `nbcc compile` holds.
#pragma once
#include <CLI/App.hpp>
#include <string>

namespace nbcc {

struct InspectOptions {
  std::string file;
  bool json = false;
};

void declare_inspect(CLI::App& app, InspectOptions& options);
int run_inspect(const InspectOptions& options);

}  // namespace nbcc
