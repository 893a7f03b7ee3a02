// Clang's objects -> TextNames. Entry points: collect_macros(), collect_names(). It takes what Clang has resolved:
// scopes, overloads and types are Clang's.
#include "compiler/editing/collect_names.h"

#include <algorithm>
#include <map>
#include <memory>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"

namespace nbcc {
namespace {

Location place_of(const clang::SourceManager& manager, clang::SourceLocation where) {
  const clang::PresumedLoc presumed = manager.getPresumedLoc(manager.getExpansionLoc(where));
  return presumed.isValid() ? Location{int(presumed.getLine()), int(presumed.getColumn())} : Location{};
}

// False for the prelude, and for the macros that Clang defines itself.
bool is_in_text(const clang::SourceManager& manager, clang::SourceLocation where) {
  return where.isValid() && manager.getFileID(manager.getExpansionLoc(where)) == manager.getMainFileID();
}

// The location after the token at `where`.
Location end_of(const clang::SourceManager& manager, const clang::LangOptions& options, clang::SourceLocation where) {
  const clang::SourceLocation last = manager.getExpansionRange(where).getEnd();
  Location end = place_of(manager, last);
  end.column += int(clang::Lexer::MeasureTokenLength(last, manager, options));
  return end;
}

class MacroCollector : public clang::PPCallbacks {
 public:
  MacroCollector(const clang::Preprocessor& preprocessor, TextNames& names)
      : preprocessor_(preprocessor), names_(names) {}

  void MacroDefined(const clang::Token& name, const clang::MacroDirective* directive) override {
    const clang::SourceManager& manager = preprocessor_.getSourceManager();
    if (!is_in_text(manager, name.getLocation())) return;
    const clang::MacroInfo* info = directive->getMacroInfo();
    DeclaredName declared;
    declared.name = name.getIdentifierInfo()->getName().str();
    declared.kind = NameKind::Macro;
    declared.where = place_of(manager, name.getLocation());
    for (const clang::Token& token : info->tokens())
      declared.type += (declared.type.empty() ? "" : " ") + preprocessor_.getSpelling(token);
    declared.extent = {declared.where, end_of(manager, preprocessor_.getLangOpts(), info->getDefinitionEndLoc())};
    indices_[info] = int(names_.declared.size());
    names_.declared.push_back(std::move(declared));
  }

  void MacroExpands(const clang::Token& name, const clang::MacroDefinition& definition, clang::SourceRange,
                    const clang::MacroArgs*) override {
    const auto found = indices_.find(definition.getMacroInfo());
    if (found == indices_.end() || name.getLocation().isMacroID()) return;
    names_.uses.push_back({place_of(preprocessor_.getSourceManager(), name.getLocation()), found->second});
  }

 private:
  const clang::Preprocessor& preprocessor_;
  TextNames& names_;
  std::map<const clang::MacroInfo*, int> indices_;
};

class NameCollector : public clang::RecursiveASTVisitor<NameCollector> {
  using Base = clang::RecursiveASTVisitor<NameCollector>;

 public:
  NameCollector(clang::ASTContext& context, TextNames& names)
      : context_(context), manager_(context.getSourceManager()), names_(names) {}

  bool TraverseFunctionDecl(clang::FunctionDecl* function) {
    declare(function, NameKind::Function, type_text(function->getReturnType()));
    for (const clang::ParmVarDecl* parameter : function->parameters())
      names_.declared.back().parameters += (names_.declared.back().parameters.empty() ? "" : ", ") +
                                           type_text(parameter->getType()) + " " + parameter->getNameAsString();
    return in_scope(function->getSourceRange(), [&] { return Base::TraverseFunctionDecl(function); });
  }
  bool TraverseCompoundStmt(clang::CompoundStmt* block) {
    return in_scope(block->getSourceRange(), [&] { return Base::TraverseCompoundStmt(block); });
  }
  bool TraverseForStmt(clang::ForStmt* loop) {
    return in_scope(loop->getSourceRange(), [&] { return Base::TraverseForStmt(loop); });
  }

  bool VisitVarDecl(clang::VarDecl* variable) {
    if (variable->getName().empty()) return true;
    const auto* annotate = variable->getAttr<clang::AnnotateAttr>();
    llvm::StringRef role = annotate ? annotate->getAnnotation() : llvm::StringRef();
    const bool is_field = role.consume_front("nbcc:");
    declare(variable,
            is_field                                  ? NameKind::Field
            : llvm::isa<clang::ParmVarDecl>(variable) ? NameKind::Parameter
                                                      : NameKind::Variable,
            type_text(variable->getType()));
    if (is_field)
      names_.declared.back().role = role.consume_front("output:") ? "output(" + role.trim().str() + ")" : role.str();
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    const clang::NamedDecl* const declaration = reference->getDecl();
    if (reference->getLocation().isMacroID() || !declaration->getIdentifier()) return true;
    const Location where = place_of(manager_, reference->getLocation());
    const auto found = indices_.find(declaration->getCanonicalDecl());
    if (found != indices_.end())
      names_.uses.push_back({where, found->second});
    else if (!is_in_text(manager_, declaration->getLocation()))
      names_.built_ins.push_back({where, declaration->getName().str()});
    return true;
  }

 private:
  template <typename Action>
  bool in_scope(clang::SourceRange range, Action action) {
    scopes_.push_back(span_of(range));
    const bool result = action();
    scopes_.pop_back();
    return result;
  }

  TextSpan span_of(clang::SourceRange range) const {
    return {place_of(manager_, range.getBegin()), end_of(manager_, context_.getLangOpts(), range.getEnd())};
  }

  void declare(const clang::NamedDecl* declaration, NameKind kind, std::string type) {
    DeclaredName declared;
    declared.name = declaration->getNameAsString();
    declared.kind = kind;
    declared.type = std::move(type);
    declared.where = place_of(manager_, declaration->getLocation());
    declared.extent = span_of(declaration->getSourceRange());
    if (!scopes_.empty()) declared.scope = scopes_.back();
    // A function that is declared and then defined is one name.
    const auto [found, is_new] = indices_.emplace(declaration->getCanonicalDecl(), int(names_.declared.size()));
    if (!is_new) names_.uses.push_back({declared.where, found->second});
    names_.declared.push_back(std::move(declared));
  }

  // The type as the text declares it: an array of real numbers has the type __array<real, n> of the prelude.
  std::string type_text(clang::QualType type) const {
    const clang::QualType plain = type.getNonReferenceType().getUnqualifiedType();
    const auto* record = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(plain->getAsCXXRecordDecl());
    if (record && record->getName() == "__array") {
      const auto* written = plain->getAs<clang::TemplateSpecializationType>();
      const clang::QualType element =
          written ? written->template_arguments()[0].getAsType() : record->getTemplateArgs()[0].getAsType();
      return type_text(element) + "[" + std::to_string(record->getTemplateArgs()[1].getAsIntegral().getExtValue()) +
             "]";
    }
    if (const auto* deduced = plain->getContainedAutoType(); deduced && !deduced->getDeducedType().isNull())
      return type_text(deduced->getDeducedType());
    std::string text = plain.getAsString(context_.getPrintingPolicy());
    if (text == "float" && plain->getAs<clang::TypedefType>()) text = "real";
    if (text == "unsigned int") text = "unsigned";
    return text;
  }

  clang::ASTContext& context_;
  const clang::SourceManager& manager_;
  TextNames& names_;
  std::map<const clang::Decl*, int> indices_;
  std::vector<TextSpan> scopes_;
};

}  // namespace

void collect_macros(clang::Preprocessor& preprocessor, TextNames& names) {
  preprocessor.addPPCallbacks(std::make_unique<MacroCollector>(preprocessor, names));
}

void collect_names(clang::ASTContext& context, TextNames& names) {
  NameCollector collector(context, names);
  const clang::SourceManager& manager = context.getSourceManager();
  for (clang::Decl* declaration : context.getTranslationUnitDecl()->decls())
    if (!declaration->isImplicit() && is_in_text(manager, declaration->getLocation()))
      collector.TraverseDecl(declaration);
}

}  // namespace nbcc
