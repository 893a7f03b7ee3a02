// nbcc cache: the compiled kernels on disk.
#pragma once
#include <CLI/App.hpp>
#include <string>

namespace nbcc {

struct CacheOptions {
  std::string action;  // "list" or "clear"
  bool json = false;
};

void declare_cache(CLI::App& app, CacheOptions& options);
int run_cache(const CacheOptions& options);

}  // namespace nbcc
