// What the tests of `nbcc run --update` have in common: a pipeline whose outputs go into random particle files, and the
// rule that a refused update leaves the file as it was.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "tests/support/command.h"

namespace nbcc::test {

// Inputs: x (3 numbers). Outputs: near, a count; rho, a sum; acc, a vector.
inline constexpr const char* kUpdatePipeline =
    "input_i vec3 xi; input_j vec3 xj;\n"
    "output(count) index near; output(sum) real rho; output(sum) vec3 acc;\n"
    "vec3 dx = xj - xi;\n"
    "real r2 = dot(dx, dx);\n"
    "near += r2 < 4.0; rho += exp(-r2); acc += exp(-r2) * dx;\n";
inline constexpr int kUpdateWords = 5;  // numbers per particle of all outputs

class UpdateShell : public Shell {
 public:
  UpdateShell() { write("update.pipe", kUpdatePipeline); }

  // Whether the update was made; else it must have been refused with a message, and the file left alone.
  bool update(const std::string& file, const std::string& more = "") const {
    const std::string name = file.substr(0, file.find(".h5:") == std::string::npos ? file.size() : file.find(':'));
    const std::string before = read(name);
    const int files = count();
    const Outcome outcome = nbcc("run update.pipe --precision double --i '" + file + "' --update " + more);
    EXPECT_EQ(count(), files + (more.find("-o ") != std::string::npos && outcome.code == 0 ? 1 : 0));
    if (outcome.code == 0) return true;
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("nbcc: ")) << outcome.err;
    EXPECT_EQ(read(name), before) << outcome.err;
    return false;
  }
};

}  // namespace nbcc::test
