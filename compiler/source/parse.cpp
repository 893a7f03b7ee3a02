// Text -> Pipeline: the prescan, then Clang's parser, then lowering. One door: parse(). This file owns the set-up of
// Clang and the way its diagnostics become ours; what the tree means is in lower*.cpp.
#include "compiler/source/parse.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <vector>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/TargetInfo.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Parse/Parser.h"
#include "clang/Sema/Sema.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/neighbourhood.h"
#include "compiler/passes/nowhere.h"
#include "compiler/source/lower.h"
#include "compiler/source/prescan.h"
#include "compiler/source/reword.h"
#include "compiler/source/vocabulary.h"
#include "compiler/source/warn_singular.h"
#include "compiler/text/fill_template.h"
#include "compiler/text/own_stack.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "templates/embedded.h"

namespace nbcc {
namespace {

constexpr const char* kUserFile = "/pipeline.pipe";
constexpr const char* kPrelude = "/prelude.h";

// Keeps what Clang says about the user's text, in the language's own words. A note that points into the prelude would
// show a file that the user has never seen, so it is dropped.
class Collector : public clang::DiagnosticConsumer {
 public:
  // C++ assigns no arrays, but here those that keep several places of a choice are. Which of `array_assignments` are
  // such, lowering knows.
  Collector(const Source& source, const Prescanned& prescanned, std::vector<Diagnostic>& diagnostics,
            std::vector<Diagnostic>& array_assignments)
      : source_(source), prescanned_(prescanned), diagnostics_(diagnostics), array_assignments_(array_assignments) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    // Clang's warnings are about C++; ours are about pipelines.
    if (level < clang::DiagnosticsEngine::Error && level != clang::DiagnosticsEngine::Note) return;
    llvm::SmallString<128> message;
    info.FormatDiagnostic(message);
    Location where;
    bool ours = false;
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::SourceManager& manager = info.getSourceManager();
      const clang::PresumedLoc presumed = manager.getPresumedLoc(manager.getExpansionLoc(info.getLocation()));
      ours = presumed.isValid() && std::string_view(presumed.getFilename()) == kUserFile;
      if (ours) where = {int(presumed.getLine()), int(presumed.getColumn())};
    }
    if (level == clang::DiagnosticsEngine::Note) return note(where, ours, message.str().str());
    if (ours && message.str().starts_with("array type") && is_assignment(where)) {
      array_assignments_.push_back({Severity::Error, where, reworded(message.str().str(), where)});
      dropped_ = true;
      return;
    }
    error(where, message.str().str());
  }

 private:
  bool is_assignment(Location where) const {
    const std::string_view rest = source_.line(where.line).substr(std::size_t(where.column - 1));
    return rest.starts_with('=');
  }

  void note(Location where, bool ours, std::string message) {
    if (dropped_ || diagnostics_.empty()) return;
    Diagnostic& subject = diagnostics_.back();
    if (!ours && subject.message.starts_with("redefinition of '")) {
      const std::string name = subject.message.substr(17, subject.message.find('\'', 17) - 17);
      subject.message = fmt::format("'{}' is built in; choose another name", name);
      built_in_redefined_ = true;
    }
    // Flags of Clang's are of no use to those who do not run it.
    if (ours && !message.starts_with("use -f"))
      diagnostics_.push_back({Severity::Note, where, reworded(std::move(message), where)});
  }

  void error(Location where, std::string message) {
    // A parser that has lost its way goes on complaining for the rest of the line.
    const bool lost = message.starts_with("expected ") && last_line_ == where.line;
    // A name that could not be declared is still the built-in one further down, and an unknown one stays unknown.
    const bool echo = (built_in_redefined_ && message.starts_with("reference to overloaded function")) ||
                      (message.starts_with("use of undeclared") && !unknown_.insert(message).second);
    dropped_ = lost || echo;
    if (dropped_) return;
    last_line_ = where.line;
    diagnostics_.push_back({Severity::Error, where, reworded(std::move(message), where)});
  }

  std::string reworded(std::string message, Location where) const {
    return reword(std::move(message), source_.line(where.line), where.column, prescanned_.own_names);
  }

  const Source& source_;
  const Prescanned& prescanned_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Diagnostic>& array_assignments_;
  bool dropped_ = false;  // the last error was, and its notes will be
  bool built_in_redefined_ = false;
  std::set<std::string> unknown_;
  int last_line_ = -1;
};

// Parses the text and hands the tree to `use`.
class Action : public clang::ASTFrontendAction {
 public:
  explicit Action(std::function<void(clang::ASTContext&)> use) : use_(std::move(use)) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<clang::ASTConsumer>();
  }

 private:
  // What clang::ParseAST does, with these differences: a top-level statement that is wrong leaves Clang inside its
  // scope, and a function that is defined twice further down makes it follow a null pointer, so it is led out each
  // time; and nothing is parsed any more once Clang has said that it saw too many mistakes.
  void ExecuteAction() override {
    clang::CompilerInstance& compiler = getCompilerInstance();
    compiler.createSema(getTranslationUnitKind(), nullptr);
    clang::Sema& sema = compiler.getSema();
    clang::Parser parser(compiler.getPreprocessor(), sema, false);
    compiler.getPreprocessor().EnterMainSourceFile();
    end_in_end_of_file(compiler.getPreprocessor());
    parser.Initialize();
    clang::Parser::DeclGroupPtrTy group;
    clang::Sema::ModuleImportState imports = clang::Sema::ModuleImportState::FirstDecl;
    bool end = parser.ParseFirstTopLevelDecl(group, imports);
    while (!end && !compiler.getDiagnostics().hasFatalErrorOccurred()) {
      sema.CurContext = compiler.getASTContext().getTranslationUnitDecl();
      end = parser.ParseTopLevelDecl(group, imports);
    }
    use_(compiler.getASTContext());
  }

  // In its incremental mode, which statements at the top level need, Clang has a token of its own for the end of the
  // text, and inside a block or parentheses its parser does not know that it is the last: where what it passes over
  // after a mistake holds their end, it complains of that token for ever. So it gets the tokens with the end of file
  // behind them, at which everything in it stops.
  static void end_in_end_of_file(clang::Preprocessor& preprocessor) {
    std::vector<clang::Token> tokens;
    clang::Token token;
    for (preprocessor.Lex(token); !token.isOneOf(clang::tok::eof, clang::tok::annot_repl_input_end);
         preprocessor.Lex(token))
      tokens.push_back(token);
    clang::Token end;
    end.startToken();
    end.setKind(clang::tok::eof);
    end.setLocation(token.getLocation());
    // Looking ahead, the parser may take the end for one token, and then for another.
    tokens.insert(tokens.end(), kEnds, end);
    auto stream = std::make_unique<clang::Token[]>(tokens.size());
    std::copy(tokens.begin(), tokens.end(), stream.get());
    preprocessor.EnterTokenStream(std::move(stream), unsigned(tokens.size()), /*DisableMacroExpansion=*/true,
                                  /*IsReinject=*/false);
  }

  static constexpr int kEnds = 64;
  std::function<void(clang::ASTContext&)> use_;
};

// Declarations of the functions that came later, but for those whose names the text has for something else.
std::string later_functions_but(const std::set<std::string, std::less<>>& own_names) {
  std::string text;
  for (const auto& [name, declaration] : later_functions()) {
    if (own_names.contains(name)) continue;
    for (const char c : declaration) text += c == '@' ? std::string(name) : std::string(1, c);
    text += '\n';
  }
  return text;
}

// Clang over in-memory files: nothing of the user's disk is read, whatever the text says.
void run_clang(const Source& source, const Prescanned& prescanned, std::vector<Diagnostic>& diagnostics,
               std::vector<Diagnostic>& array_assignments, std::function<void(clang::ASTContext&)> use) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  if (files->setCurrentWorkingDirectory("/")) throw InternalError("files in memory have no root");
  const std::string prelude =
      fill_template("prelude.h", {{"later", later_functions_but(prescanned.own_names)}}) +
      std::string(embedded_template(prescanned.dialect == Dialect::Named ? "prelude_named.h" : "prelude_cunbody.h"));
  files->addFile(kPrelude, 0, llvm::MemoryBuffer::getMemBufferCopy(prelude, kPrelude));
  files->addFile(kUserFile, 0, llvm::MemoryBuffer::getMemBufferCopy(source.text, kUserFile));

  Collector collector(source, prescanned, diagnostics, array_assignments);
  auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  auto engine = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(),
                                                                    options, &collector, false);
  const std::vector<const char*> arguments{
      "-fsyntax-only", "-x", "c++", "-std=c++20", "-nostdsysteminc", "-nobuiltininc", "-fno-builtin",
      "-fincremental-extensions", "-ferror-limit", "20",
      // What Clang evaluates and instantiates by itself: the lengths of arrays, and calls of the prelude's functions.
      "-fconstexpr-steps=2000", "-ftemplate-depth=64", "-w", "-Wno-c++11-narrowing", "-include", kPrelude, kUserFile};
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *engine))
    throw InternalError("clang refused its own arguments");
  invocation->getDiagnosticOpts().ShowCarets = false;  // else Clang counts its diagnostics on the process's stderr
  // `0.1` is a real, not a double that drags the sum into double precision.
  invocation->getLangOpts().SinglePrecisionConstants = true;

  clang::CompilerInstance compiler;
  compiler.setInvocation(std::move(invocation));
  compiler.setDiagnostics(engine.get());
  compiler.setFileManager(new clang::FileManager(clang::FileSystemOptions(), files));
  Action action(std::move(use));
  compiler.ExecuteAction(action);
}

// What stands behind the sign at this place is a call that chooses.
bool chooses(const Source& source, Location sign) {
  const std::string_view text = source.text;
  const std::string_view line = source.line(sign.line);
  std::string_view right = text.substr(std::size_t(line.data() - text.data() + sign.column));
  right.remove_prefix(std::min(right.find_first_not_of(" \t\r\n("), right.size()));
  const std::string_view word = right.substr(0, right.find_first_of(" \t\r\n()"));
  return word == "argmin" || word == "argmax" || word == "at";
}

// In the order of their places, notes behind what they are of.
void merge(std::vector<Diagnostic>& diagnostics, const std::vector<Diagnostic>& array_assignments) {
  const auto place = [](const Diagnostic& d) { return std::pair(d.where.line, d.where.column); };
  for (const Diagnostic& refused : array_assignments)
    diagnostics.insert(std::ranges::find_if(diagnostics,
                                            [&](const Diagnostic& d) {
                                              return d.severity != Severity::Note && place(d) > place(refused);
                                            }),
                       refused);
}

}  // namespace

Pipeline parse(const Source& source, std::vector<Diagnostic>* warnings) {
  const Prescanned prescanned = prescan(source);
  if (!prescanned.errors.empty()) throw CompileError(source, prescanned.errors);

  std::vector<Diagnostic> diagnostics, array_assignments;
  Pipeline pipeline;
  bool lowered = false;
  std::exception_ptr failure;
  // Deep expressions recurse in Clang and in lowering; the prescan bounds their depth.
  run_on_own_stack(kDeepStack, [&] {
    run_clang(source, prescanned, diagnostics, array_assignments, [&](clang::ASTContext& context) {
      // Lowering a tree that Clang found wrong would only repeat its complaints in other words.
      if (has_errors(diagnostics)) return;
      lowered = true;
      // Caught here, since Clang's own frames are built without exceptions.
      try {
        pipeline = lower(context, prescanned, source, diagnostics, array_assignments);
      } catch (...) {
        failure = std::current_exception();
      }
    });
  });
  if (failure) std::rethrow_exception(failure);
  if (!lowered) std::erase_if(array_assignments, [&](const Diagnostic& d) { return chooses(source, d.where); });
  merge(diagnostics, array_assignments);
  if (has_errors(diagnostics)) throw CompileError(source, diagnostics);
  // From here on the pipeline is meant to be right: whatever verify finds is our own mistake.
  verify(pipeline, "parse");
  pipeline.raw_operations = count_operations(pipeline);
  if (const NeighbourhoodProof proof = prove_neighbourhood(pipeline); proof.neighbourhood) {
    leave_out_nowhere(pipeline, *proof.neighbourhood);
    verify(pipeline, "leave_out_nowhere");
  }
  if (warnings) {
    *warnings = std::move(diagnostics);
    if (auto singular = warn_singular(pipeline)) warnings->push_back(std::move(*singular));
  }
  return pipeline;
}

}  // namespace nbcc
