// What a pass made of a text, short enough for a table: the IR from the pair graph on, without comments.
#pragma once
#include <string>

#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "compiler/source/parse.h"

namespace nbcc::test {

inline constexpr const char* kPassFields =
    "input_i real xi; input_i real hi; input_j real xj; input_j real mj; param real p = 2.0; output(sum) real s;\n";

// The statements as a pipeline of kPassFields, as the passes of --math fast find it.
inline Pipeline cleaned(const std::string& statements) {
  Pipeline pipeline = parse({"case.pipe", kPassFields + statements});
  fold(pipeline);
  cse(pipeline);
  return pipeline;
}

inline std::string dumped(Pipeline pipeline) {
  verify(pipeline, "pass");
  const std::string all = print(pipeline);
  std::string result;
  for (std::size_t at = all.find("\npair\n") + 6; at < all.size(); at = all.find('\n', at) + 1) {
    const std::string line = all.substr(at, all.find_first_of(";\n", at) - at);
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos) result += line.substr(first, line.find_last_not_of(' ') + 1 - first) + "\n";
  }
  return result;
}

}  // namespace nbcc::test
