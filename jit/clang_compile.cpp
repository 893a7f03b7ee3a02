// C and C++ text -> object code or assembly. Door: compile_in_memory(). Reads and writes no file and chooses no option:
// what the text is for is the caller's business.
#include "jit/clang_compile.h"

#include <mutex>

#include "clang/Basic/TargetInfo.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "compiler/text/diagnostic.h"
#include "compiler/text/own_stack.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace nbcc {
namespace {

template <typename CodeGenAction>
ClangResult run_clang(const ClangJob& job, const char* form) {
  register_llvm_targets();
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  if (files->setCurrentWorkingDirectory("/")) throw InternalError("files in memory have no root");
  for (const auto& [path, text] : job.files)
    files->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(text, path, /*RequiresNullTerminator=*/true));

  ClangResult result;
  llvm::raw_string_ostream log_stream(result.log);
  auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  options->IgnoreWarnings = true;
  clang::TextDiagnosticPrinter printer(log_stream, options.get());
  auto engine = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(),
                                                                    options, &printer, false);
  std::vector<const char*> arguments{form};
  for (const std::string& argument : job.arguments) arguments.push_back(argument.c_str());
  arguments.push_back(job.main.c_str());
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  result.ok = clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *engine);
  if (!result.ok) return result;

  invocation->getDiagnosticOpts().ShowCarets = false;  // else Clang counts its diagnostics on the process's stderr
  llvm::SmallVector<char, 0> bytes;
  {
    clang::CompilerInstance compiler;
    compiler.setInvocation(std::move(invocation));
    compiler.setDiagnostics(engine.get());
    compiler.setFileManager(new clang::FileManager(clang::FileSystemOptions(), files));
    compiler.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(bytes));
    CodeGenAction action;
    result.ok = compiler.ExecuteAction(action);
  }
  if (result.ok) result.bytes.assign(bytes.begin(), bytes.end());
  return result;
}

}  // namespace

ClangResult compile_in_memory(const ClangJob& job, ClangForm form) {
  ClangResult result;
  // Clang follows what a constant is initialised with, which may be the one before, and so on.
  run_on_own_stack(kDeepStack, [&] {
    result = form == ClangForm::Object ? run_clang<clang::EmitObjAction>(job, "-emit-obj")
                                       : run_clang<clang::EmitAssemblyAction>(job, "-S");
  });
  return result;
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
