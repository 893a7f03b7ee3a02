// nbcc completion: scripts with which shells complete nbcc's words.
#pragma once
#include <CLI/App.hpp>
#include <string>

namespace nbcc {

struct CompletionOptions {
  std::string shell;
  const CLI::App* application = nullptr;  // whose words are completed
};

void declare_completion(CLI::App& app, CompletionOptions& options);
int run_completion(const CompletionOptions& options);

}  // namespace nbcc
