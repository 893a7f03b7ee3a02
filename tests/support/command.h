// The nbcc command as a user's shell runs it, in a folder of the test's own.
#pragma once
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/scratch_folder.h"

namespace nbcc::test {

struct Outcome {
  int code = -1;
  std::string out, err;
};

inline std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// $nbcc in the command line is the command, $pipelines the folder of pipelines; the cache is the folder's own.
class CommandFolder {
 public:
  Outcome shell(const std::string& line) const {
    const std::string folder = this->folder();
    const std::string whole = "cd '" + folder + "' && export NBCC_CACHE_DIR='" + folder + "/cache' nbcc='" NBCC_COMMAND
                              "' pipelines='" NBCC_SOURCE_DIR "/pipelines' && { " + line + "\n} >.out 2>.err";
    const int status = std::system(whole.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(folder + "/.out"),
            content_of(folder + "/.err")};
  }
  Outcome operator()(const std::string& words) const { return shell("$nbcc " + words); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }
  std::string file(const std::string& name) const { return folder() + "/" + name; }
  std::string folder() const;

 private:
  ScratchFolder scratch_;
};

}  // namespace nbcc::test
