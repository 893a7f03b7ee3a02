// nbcc info: what this nbcc is and what it finds on this machine.
#pragma once
#include <CLI/App.hpp>

namespace nbcc {

struct InfoOptions {
  bool json = false;
};

void declare_info(CLI::App& app, InfoOptions& options);
int run_info(const InfoOptions& options);

}  // namespace nbcc
