// Compiles C and C++ source to object code or assembly. Entry point: compile_in_memory(). Reads and writes no file; the
// caller chooses all options.
#include "jit/clang_compile.h"

#include <fmt/format.h>

#include <mutex>

#include "clang/Basic/TargetInfo.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "compiler/source/llvm_versions.h"
#include "compiler/text/diagnostic.h"
#include "compiler/text/own_stack.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace nbcc {
namespace {

template <typename CodeGenAction>
std::string run_clang(const ClangJob& job, const char* form) {
  register_llvm_targets();
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  if (files->setCurrentWorkingDirectory("/")) throw InternalError("files in memory have no root");
  for (const auto& [path, text] : job.files)
    files->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(text, path, /*RequiresNullTerminator=*/true));

  std::string log;
  llvm::raw_string_ostream log_stream(log);
  const auto refused = [&] {
    return InternalError(fmt::format("the compiler refused {}:\n{}", job.what, log_stream.str()));
  };
  const DiagnosticOptions options = make_diagnostic_options();
  options->IgnoreWarnings = true;
  clang::TextDiagnosticPrinter printer(log_stream, argument_of(options));
  auto engine = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(),
                                                                    argument_of(options), &printer, false);
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(job.arguments, words);
  const std::vector<std::string> copies(words.begin(), words.end());
  std::vector<const char*> arguments{form};
  for (const std::string& copy : copies) arguments.push_back(copy.c_str());
  arguments.push_back(job.main.c_str());
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *engine)) throw refused();

  invocation->getDiagnosticOpts().ShowCarets = false;  // else Clang prints the number of diagnostics to stderr
  llvm::SmallVector<char, 0> bytes;
  {
    const auto compiler = make_compiler(std::move(invocation), engine, files);
    compiler->setOutputStream(std::make_unique<llvm::raw_svector_ostream>(bytes));
    CodeGenAction action;
    if (!compiler->ExecuteAction(action)) throw refused();
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string compile_in_memory(const ClangJob& job, ClangForm form) {
  std::string bytes;
  // Clang evaluates initialisers of constants recursively; a long chain of constants needs a deep stack.
  run_on_own_stack(kDeepStack, [&] {
    bytes = form == ClangForm::Object ? run_clang<clang::EmitObjAction>(job, "-emit-obj")
                                      : run_clang<clang::EmitAssemblyAction>(job, "-S");
  });
  return bytes;
}

void register_llvm_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

}  // namespace nbcc
