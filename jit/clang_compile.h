// Compiles C and C++ source to object code or assembly, by Clang in this process.
// Tested by tests/unit/jit/cpu_jit_test.cpp and tests/library.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace nbcc {

struct ClangJob {
  std::string what;                          // for messages: "the library's functions"
  std::map<std::string, std::string> files;  // absolute path -> contents: all files that can be read or included
  std::string main;                          // path of the file to compile
  std::string arguments;  // of Clang's front end (-cc1), separated by spaces; without the output form and the file
};

enum class ClangForm { Object, Assembly };
// Throws InternalError with Clang's log if Clang rejects the source; warnings are not reported.
std::string compile_in_memory(const ClangJob& job, ClangForm form = ClangForm::Object);

// Must be called before LLVM generates machine code; only the first call in a process has an effect.
void register_llvm_targets();

}  // namespace nbcc
