// C and C++ text -> object code or assembly, by Clang inside this process.
// Tested by tests/unit/cpu_jit_test.cpp and tests/library.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace nbcc {

struct ClangJob {
  std::string what;                          // for messages: "the library's functions"
  std::map<std::string, std::string> files;  // by whole path: nothing else can be read or included
  std::string main;                          // one of them
  std::string arguments;  // of Clang's own front end (-cc1), separated by spaces; less the output's form and the file
};

enum class ClangForm { Object, Assembly };
// Throws InternalError with Clang's log where it refuses the text; warnings are not told.
std::string compile_in_memory(const ClangJob& job, ClangForm form = ClangForm::Object);

// Once in a process, before anything else asks LLVM for machine code; more calls do nothing.
void register_llvm_targets();

}  // namespace nbcc
