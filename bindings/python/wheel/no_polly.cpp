// In Debian's archives Clang and LLD register the passes of Polly, which nobody runs unless told to, and whose own
// archive is five times the size of nbcc. Here are none to register.
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "no Polly", "", [](llvm::PassBuilder&) {}};
}
