// The nbcc command as a user's shell runs it, in a folder of the test's own.
#pragma once
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "tests/support/baseline_isa.h"
#include "tests/support/folders.h"
#include "tests/support/scratch_folder.h"

namespace nbcc::test {

struct Outcome {
  int code = -1;
  std::string out, err;
};

// In the lines $nbcc is the command, $pipelines the library's folder and $isa the instruction set of every machine of
// this kind. The kernel cache is the tests' own.
class Shell : public ScratchFolder {
 public:
  Outcome line(const std::string& words) const {
    const std::string whole = "cd '" + path("") + "' && export NBCC_CACHE_DIR='" + build_folder() +
                              "/test-cache' nbcc='" + nbcc_command() + "' pipelines='" + source_folder() +
                              "/pipelines' isa='" + std::string(name(baseline_isa())) + "'\n" + words;
    const std::string streams = " >'" + streams_.path("out") + "' 2>'" + streams_.path("err") + "'";
    const int status = std::system(("( " + whole + "\n)" + streams).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), streams_.read("out"),
            streams_.read("err")};
  }
  Outcome nbcc(const std::string& words) const { return line("\"$nbcc\" " + words); }

 private:
  ScratchFolder streams_;
};

}  // namespace nbcc::test
