// nbcc cache: what is kept on disk, compiled kernels and tunings.
#pragma once
#include <CLI/App.hpp>
#include <string>

namespace nbcc {

struct CacheOptions {
  std::string action;  // "list" or "clear"
  std::string only;    // "kernels", "tunings"; empty: both
  bool json = false;
};

void declare_cache(CLI::App& app, CacheOptions& options);
int run_cache(const CacheOptions& options);

}  // namespace nbcc
