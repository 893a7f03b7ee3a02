// In Debian's archives Clang and LLD register the passes of Polly, which run only on request and whose archive is five
// times the size of nbcc. This replacement registers no passes.
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "no Polly", "", [](llvm::PassBuilder&) {}};
}
