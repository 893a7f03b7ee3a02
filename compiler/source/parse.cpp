// Text -> Pipeline: the prescan, then Clang's parser, then lowering. Entry point: parse(). This file sets up Clang and
// converts its diagnostics; lower*.cpp interprets the AST.
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
#include "compiler/editing/collect_names.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/far/periodic_terms.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/passes/prove/non_finite.h"
#include "compiler/source/llvm_versions.h"
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

// Collects Clang's messages about the user's text, reworded in terms of the language. Notes that point into the prelude
// are dropped, because the user has never seen that file.
class Collector : public clang::DiagnosticConsumer {
 public:
  // C++ does not assign arrays, but the language does for an argmin or argmax of several indices and its payloads.
  // Clang's errors about array assignments are kept apart in `array_assignments`; lowering removes the allowed ones.
  Collector(const Source& source, const Prescanned& prescanned, std::vector<Diagnostic>& diagnostics,
            std::vector<Diagnostic>& array_assignments)
      : source_(source), prescanned_(prescanned), diagnostics_(diagnostics), array_assignments_(array_assignments) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    // Clang's warnings are about C++ and are ignored; lowering makes warnings about pipelines.
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
    // Hints to Clang's command line options are useless to the user.
    if (ours && !message.starts_with("use -f"))
      diagnostics_.push_back({Severity::Note, where, reworded(std::move(message), where)});
  }

  void error(Location where, std::string message) {
    // After a syntax error the parser may report more of them in the same line.
    const bool lost = message.starts_with("expected ") && last_line_ == where.line;
    // Consequences of an earlier error: uses of a name whose declaration was refused, and repeated unknown names. Clang
    // may go on with the name that it proposes for an unknown name, whose type and arguments may not fit.
    const bool echo = (built_in_redefined_ && message.starts_with("reference to overloaded function")) ||
                      (guessed_.line == where.line && message.starts_with("invalid operands")) || guessed_ == where ||
                      (message.starts_with("use of undeclared") && !unknown_.insert(message).second);
    dropped_ = lost || echo;
    if (dropped_) return;
    last_line_ = where.line;
    if (message.starts_with("use of undeclared") && message.find("did you mean") != std::string::npos) guessed_ = where;
    diagnostics_.push_back({Severity::Error, where, reworded(std::move(message), where)});
  }

  std::string reworded(std::string message, Location where) const {
    return reword(std::move(message), source_.line(where.line), where.column, prescanned_.own_names);
  }

  const Source& source_;
  const Prescanned& prescanned_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Diagnostic>& array_assignments_;
  bool dropped_ = false;  // the last error was dropped, so its notes are dropped too
  bool built_in_redefined_ = false;
  std::set<std::string> unknown_;
  int last_line_ = -1;
  Location guessed_{-1, -1};  // of the last unknown name for which Clang proposed another
};

// Parses the text and calls `use` with the AST.
class Action : public clang::ASTFrontendAction {
 public:
  Action(std::function<void(clang::ASTContext&)> use, TextNames* names) : use_(std::move(use)), names_(names) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<clang::ASTConsumer>();
  }

 private:
  // As clang::ParseAST, with two differences. A wrong top-level statement leaves Clang inside its scope, and a later
  // duplicate function definition then dereferences a null pointer, so the scope is reset for each declaration. And
  // parsing stops when Clang has reported too many errors.
  void ExecuteAction() override {
    clang::CompilerInstance& compiler = getCompilerInstance();
    compiler.createSema(getTranslationUnitKind(), nullptr);
    clang::Sema& sema = compiler.getSema();
    clang::Parser parser(compiler.getPreprocessor(), sema, false);
    if (names_) collect_macros(compiler.getPreprocessor(), *names_);
    compiler.getPreprocessor().EnterMainSourceFile();
    // The parser's handler of comments reports one such as `//< text` in the context of a declaration, also while
    // nothing is parsed yet.
    sema.CurContext = compiler.getASTContext().getTranslationUnitDecl();
    end_in_end_of_file(compiler.getPreprocessor());
    sema.CurContext = nullptr;
    parser.Initialize();
    clang::Parser::DeclGroupPtrTy group;
    clang::Sema::ModuleImportState imports = clang::Sema::ModuleImportState::FirstDecl;
    bool end = parser.ParseFirstTopLevelDecl(group, imports);
    while (!end && !compiler.getDiagnostics().hasFatalErrorOccurred()) {
      sema.CurContext = compiler.getASTContext().getTranslationUnitDecl();
      end = parser.ParseTopLevelDecl(group, imports);
    }
    if (names_) collect_names(compiler.getASTContext(), *names_);
    use_(compiler.getASTContext());
  }

  // Replaces the token stream by the same tokens with the types of arrays, and an end-of-file token. Statements at the
  // top level need Clang's incremental mode, which has a special token for the end of the text. Inside a block or
  // parentheses the parser does not take that token for the end: if it has skipped the closing bracket after an error,
  // it reports the token forever. Every part of the parser stops at end of file.
  static void end_in_end_of_file(clang::Preprocessor& preprocessor) {
    std::vector<clang::Token> tokens;
    clang::Token token;
    for (preprocessor.Lex(token); !token.isOneOf(clang::tok::eof, clang::tok::annot_repl_input_end);
         preprocessor.Lex(token))
      tokens.push_back(token);
    tokens = with_array_types(tokens, preprocessor);
    clang::Token end;
    end.startToken();
    end.setKind(clang::tok::eof);
    end.setLocation(token.getLocation());
    // Several end tokens, because the parser may consume some of them while it looks ahead.
    tokens.insert(tokens.end(), kEndTokens, end);
    auto stream = std::make_unique<clang::Token[]>(tokens.size());
    std::copy(tokens.begin(), tokens.end(), stream.get());
    preprocessor.EnterTokenStream(std::move(stream), unsigned(tokens.size()), /*DisableMacroExpansion=*/true,
                                  /*IsReinject=*/false);
  }

  static constexpr int kEndTokens = 64;
  std::function<void(clang::ASTContext&)> use_;
  TextNames* const names_;
};

// Declarations of later_functions(), except those whose names the text declares itself.
std::string later_functions_except(const std::set<std::string, std::less<>>& own_names) {
  std::string text;
  for (const auto& [name, declaration] : later_functions()) {
    if (own_names.contains(name)) continue;
    for (const char c : declaration) text += c == '@' ? std::string(name) : std::string(1, c);
    text += '\n';
  }
  return text;
}

// Runs Clang on in-memory files, so that no text can make it read files of the user's disk.
void run_clang(const Source& source, const Prescanned& prescanned, std::vector<Diagnostic>& diagnostics,
               std::vector<Diagnostic>& array_assignments, TextNames* names,
               std::function<void(clang::ASTContext&)> use) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  if (files->setCurrentWorkingDirectory("/")) throw InternalError("files in memory have no root");
  const std::string prelude =
      fill_template("prelude.h", {{"later", later_functions_except(prescanned.own_names)}}) +
      std::string(embedded_template(prescanned.dialect == Dialect::Named ? "prelude_named.h" : "prelude_cunbody.h"));
  files->addFile(kPrelude, 0, llvm::MemoryBuffer::getMemBufferCopy(prelude, kPrelude));
  files->addFile(kUserFile, 0, llvm::MemoryBuffer::getMemBufferCopy(source.text, kUserFile));

  Collector collector(source, prescanned, diagnostics, array_assignments);
  const DiagnosticOptions options = make_diagnostic_options();
  auto engine = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(),
                                                                    argument_of(options), &collector, false);
  const std::vector<const char*> arguments{
      "-fsyntax-only", "-x", "c++", "-std=c++20", "-nostdsysteminc", "-nobuiltininc", "-fno-builtin",
      "-fincremental-extensions", "-ferror-limit", "20",
      // Limits on what Clang evaluates and instantiates: the lengths of arrays, and calls of the prelude's functions.
      "-fconstexpr-steps=2000", "-ftemplate-depth=64", "-w", "-Wno-c++11-narrowing", "-include", kPrelude, kUserFile};
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *engine))
    throw InternalError("clang refused its own arguments");
  engine->setElideType(false);  // else the types of two arrays are shown as their difference
  // From LLVM 21 on a < b < c is an error by default. Lowering has its own message.
  engine->setSeverityForGroup(clang::diag::Flavor::WarningOrError, "parentheses", clang::diag::Severity::Ignored);
  invocation->getDiagnosticOpts().ShowCarets = false;  // else Clang counts its diagnostics on the process's stderr
  // `0.1` is a real, not a double that drags the sum into double precision.
  invocation->getLangOpts().SinglePrecisionConstants = true;

  const auto compiler = make_compiler(std::move(invocation), engine, files);
  Action action(std::move(use), names);
  compiler->ExecuteAction(action);
}

// True if the right side of the assignment whose sign is at `sign` is a call of argmin, argmax or at.
bool chooses(const Source& source, Location sign) {
  const std::string_view text = source.text;
  const std::string_view line = source.line(sign.line);
  std::string_view right = text.substr(std::size_t(line.data() - text.data() + sign.column));
  right.remove_prefix(std::min(right.find_first_not_of(" \t\r\n("), right.size()));
  const std::string_view word = right.substr(0, right.find_first_of(" \t\r\n()"));
  return word == "argmin" || word == "argmax" || word == "at";
}

// Inserts the errors in the order of their locations, but not between a diagnostic and its notes.
void merge(std::vector<Diagnostic>& diagnostics, const std::vector<Diagnostic>& array_assignments) {
  const auto location = [](const Diagnostic& d) { return std::pair(d.where.line, d.where.column); };
  for (const Diagnostic& refused : array_assignments)
    diagnostics.insert(std::ranges::find_if(diagnostics,
                                            [&](const Diagnostic& d) {
                                              return d.severity != Severity::Note && location(d) > location(refused);
                                            }),
                       refused);
}

// Throws unless images have a cutoff, or the text is a periodic sum, which runs to a tolerance.
void require_cutoff_or_periodic_sum(const Source& source, const Pipeline& pipeline) {
  const CopiesPipeline copies = copies_pipeline(pipeline);
  std::optional<Diagnostic> guard = guard_without_cutoff(copies);
  if (copies.proof.neighbourhood && !guard) return;
  const PeriodicReading periodic = read_periodic_terms(pipeline);
  if (periodic.reading.terms) return;
  if (guard) throw CompileError(source, {std::move(*guard)});
  const auto& [where, reason] = periodic.reading.obstacle;
  throw CompileError(
      source,
      {{Severity::Error, where.line > 0 ? where : copies.given.pair[copies.image].where,
        fmt::format(
            "every_image() without a cutoff is a periodic sum by tolerance, whose terms are a factor of i times "
            "a weight of j times a function of the displacement: {}; a cutoff is a guard such as skip_if(dot(d, "
            "d) >= rc * rc), where d is the result of every_image()",
            reason)}});
}

void add_bindings(TextNames& names, const VariableBindings& bindings) {
  for (DeclaredName& name : names.declared)
    if (const auto found = bindings.find({name.where.line, name.where.column}); found != bindings.end())
      name.binding = found->second;
}

Pipeline parse_text(const Source& source, std::vector<Diagnostic>* warnings, TextNames* names) {
  const Prescanned prescanned = prescan(source);
  if (!prescanned.errors.empty()) throw CompileError(source, prescanned.errors);

  std::vector<Diagnostic> diagnostics, array_assignments;
  Pipeline pipeline;
  bool lowered = false;
  std::exception_ptr failure;
  VariableBindings bindings;
  // Deep expressions recurse in Clang and in lowering; the prescan bounds their depth.
  run_on_own_stack(kDeepStack, [&] {
    run_clang(source, prescanned, diagnostics, array_assignments, names, [&](clang::ASTContext& context) {
      // Lowering an AST with errors would only repeat Clang's messages.
      if (has_errors(diagnostics)) return;
      lowered = true;
      // Caught here, because Clang's functions are compiled without exceptions.
      try {
        pipeline = lower(context, prescanned, source, diagnostics, array_assignments, names ? &bindings : nullptr);
      } catch (...) {
        failure = std::current_exception();
      }
    });
  });
  if (failure) std::rethrow_exception(failure);
  if (names) add_bindings(*names, bindings);
  if (!lowered) std::erase_if(array_assignments, [&](const Diagnostic& d) { return chooses(source, d.where); });
  merge(diagnostics, array_assignments);
  if (has_errors(diagnostics)) throw CompileError(source, diagnostics);
  // From here on the pipeline must be valid: an error found by verify() is a bug in nbcc.
  verify(pipeline, "parse");
  pipeline.raw_operations = count_operations(pipeline);
  std::optional<Diagnostic> limit;
  if (has_images(pipeline)) {
    if (auto period = period_without_positions(pipeline)) throw CompileError(source, {std::move(*period)});
    require_cutoff_or_periodic_sum(source, pipeline);
  } else if (const NeighbourhoodProof proof = prove_neighbourhood(pipeline); proof.neighbourhood) {
    exclude_non_finite(pipeline, *proof.neighbourhood);
    verify(pipeline, "exclude_non_finite");
  } else if (proof.obstacle && proof.obstacle->is_limit) {
    limit = {Severity::Warning, proof.obstacle->where, "no neighbours are proved: " + proof.obstacle->reason};
  }
  if (warnings) {
    *warnings = std::move(diagnostics);
    if (limit) warnings->push_back(std::move(*limit));
    if (auto singular = warn_singular(pipeline)) warnings->push_back(std::move(*singular));
  }
  return pipeline;
}

}  // namespace

Pipeline parse(const Source& source, std::vector<Diagnostic>* warnings) {
  return parse_text(source, warnings, nullptr);
}

Pipeline parse(const Source& source, std::vector<Diagnostic>* warnings, TextNames& names) {
  names = {};
  return parse_text(source, warnings, &names);
}

}  // namespace nbcc
