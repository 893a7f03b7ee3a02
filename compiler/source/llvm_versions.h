// The differences between the major versions of LLVM and Clang that nbcc is built with (cmake/find_llvm.cmake lists
// them). No other file depends on the version. Entry points: make_diagnostic_options(), make_compiler().
#pragma once
#include <memory>
#include <utility>

#include "clang/Frontend/CompilerInstance.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace nbcc {

// Clang's constructors take diagnostic options by a reference-counted pointer, from version 21 on by reference; the
// caller then keeps the options for as long as they are used. argument_of() is what the constructors take.
#if LLVM_VERSION_MAJOR < 21
using DiagnosticOptions = llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions>;
inline DiagnosticOptions make_diagnostic_options() { return llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>(); }
inline clang::DiagnosticOptions* argument_of(const DiagnosticOptions& options) { return options.get(); }
#else
using DiagnosticOptions = std::unique_ptr<clang::DiagnosticOptions>;
inline DiagnosticOptions make_diagnostic_options() { return std::make_unique<clang::DiagnosticOptions>(); }
inline clang::DiagnosticOptions& argument_of(const DiagnosticOptions& options) { return *options; }
#endif

// A compiler that sees `files` alone and reports to `engine`. The invocation is an argument of its constructor from
// version 21 on; from version 22 on it has a file system besides that of its file manager.
inline std::unique_ptr<clang::CompilerInstance> make_compiler(
    std::shared_ptr<clang::CompilerInvocation> invocation,
    const llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine>& engine,
    const llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>& files) {
#if LLVM_VERSION_MAJOR < 21
  auto compiler = std::make_unique<clang::CompilerInstance>();
  compiler->setInvocation(std::move(invocation));
#else
  auto compiler = std::make_unique<clang::CompilerInstance>(std::move(invocation));
#endif
#if LLVM_VERSION_MAJOR < 22
  compiler->setDiagnostics(engine.get());
  compiler->setFileManager(new clang::FileManager(clang::FileSystemOptions(), files));
#else
  compiler->setDiagnostics(engine);
  compiler->setVirtualFileSystem(files);
  compiler->setFileManager(llvm::makeIntrusiveRefCnt<clang::FileManager>(clang::FileSystemOptions(), files));
#endif
  return compiler;
}

}  // namespace nbcc
