// What programs for GPUs that take a word and a number of rounds have in common: their arguments, and their exit code.
#pragma once
#include <functional>
#include <string>

#include "bench/cuda/contest.h"

namespace nbcc::bench {

struct GpuProgram {
  std::string usage;  // behind the program's name
  int rounds;         // unless --rounds says otherwise
  // On the first GPU. `only`: the word, or nothing.
  std::function<void(const Gpu& gpu, const std::string& only, int rounds)> measure;
};
int run_program(const GpuProgram& program, int count, char** values);

}  // namespace nbcc::bench
