// libFuzzer's target for parse(): any text is a pipeline or a CompileError, within the limits of time and memory that
// are given to the fuzzer. Whatever else is thrown ends the run.
#include <cstddef>
#include <cstdint>

#include "compiler/source/parse.h"

// Clang's library is not instrumented, so that AddressSanitizer mistakes what it does with shared containers.
extern "C" const char* __asan_default_options() { return "detect_container_overflow=0"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const nbcc::Source source{"fuzz.pipe", std::string(data, data + size)};
  try {
    std::vector<nbcc::Diagnostic> warnings;
    nbcc::parse(source, &warnings);
  } catch (const nbcc::CompileError&) {
  }
  return 0;
}
