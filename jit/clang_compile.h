// C and C++ text -> object code or assembly, by Clang inside this process.
// Tested by tests/unit/cpu_jit_test.cpp and tests/library.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace nbcc {

struct ClangJob {
  std::map<std::string, std::string> files;  // by whole path: nothing else can be read or included
  std::string main;                          // one of them
  std::vector<std::string> arguments;        // of Clang's own front end (-cc1), less the output's form and the file
};

struct ClangResult {
  bool ok = false;
  std::string bytes;  // object code, or assembly as text
  std::string log;    // what is wrong with the text; warnings are not told
};

enum class ClangForm { Object, Assembly };
ClangResult compile_in_memory(const ClangJob& job, ClangForm form);

// Once in a process, before anything else asks LLVM for machine code; more calls do nothing.
void register_llvm_targets();

}  // namespace nbcc
