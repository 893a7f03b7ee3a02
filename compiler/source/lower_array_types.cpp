// The tokens of a text -> the same tokens, in which arrays of real numbers have the type __array of the prelude. C++
// has no operators on arrays; this type has them. Entry point: with_array_types() (lower.h), which parse.cpp calls.
//
//   real d[3] = x - y, r;     ->     __array<real, (3)> d = x - y; real r;
//
// Macros are expanded already. It finds declarations by their tokens: a type and a name that follow each other are in
// no expression. Inserted tokens have the locations of the tokens that they replace, so that messages point to the
// text. Arrays of other types, arrays of arrays, and an output(at), which is assigned by a statement of its own, stay
// as they are.
#include <cstddef>
#include <optional>

#include "clang/Basic/IdentifierTable.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Preprocessor.h"
#include "compiler/source/lower.h"

namespace nbcc {
namespace {

using clang::Token;

class Rewriter {
 public:
  Rewriter(const std::vector<Token>& tokens, clang::Preprocessor& preprocessor)
      : tokens_(tokens), preprocessor_(preprocessor) {}

  std::vector<Token> run() {
    while (at_ < tokens_.size()) step();
    return std::move(result_);
  }

 private:
  // The declaration whose declarators are read.
  struct Declaration {
    Token type;
    std::optional<Token> constant;  // const or constexpr
    int depth = 0;                  // of brackets
    bool is_array = false;          // the last declarator
  };

  bool is(std::size_t at, clang::tok::TokenKind kind) const { return at < tokens_.size() && tokens_[at].is(kind); }
  bool is_text(std::size_t at) const {
    const clang::SourceManager& manager = preprocessor_.getSourceManager();
    return manager.isInMainFile(manager.getExpansionLoc(tokens_[at].getLocation()));
  }
  bool is_real(std::size_t at) const {
    if (!is_text(at)) return false;
    const Token& token = tokens_[at];
    return token.isOneOf(clang::tok::kw_float, clang::tok::kw_double) ||
           (token.is(clang::tok::identifier) && token.getIdentifierInfo()->isStr("real"));
  }
  // After __attribute__((annotate("nbcc:output:" "at"))).
  bool is_payload(std::size_t type) const {
    return type > 4 && is(type - 4, clang::tok::string_literal) && is(type - 5, clang::tok::string_literal) &&
           llvm::StringRef(tokens_[type - 4].getLiteralData(), tokens_[type - 4].getLength()).trim("\" ") == "at";
  }
  // The bracket that closes the one at `open`; the end of the tokens if there is none.
  std::size_t closing(std::size_t open) const {
    int depth = 0;
    for (std::size_t at = open; at < tokens_.size(); ++at) {
      if (tokens_[at].isOneOf(clang::tok::l_square, clang::tok::l_paren, clang::tok::l_brace)) ++depth;
      if (tokens_[at].isOneOf(clang::tok::r_square, clang::tok::r_paren, clang::tok::r_brace) && --depth == 0)
        return at;
    }
    return tokens_.size();
  }
  // True if the bracket after a name gives the length of an array of numbers.
  bool is_length(std::size_t open) const {
    return is(open, clang::tok::l_square) && !is(open + 1, clang::tok::r_square) && closing(open) < tokens_.size() &&
           !is(closing(open) + 1, clang::tok::l_square);
  }

  void insert(const Token& near, clang::tok::TokenKind kind, const char* name = nullptr, int offset = 0) {
    Token token;
    token.startToken();
    token.setKind(kind);
    token.setLocation(near.getLocation().getLocWithOffset(offset));
    if (name) token.setIdentifierInfo(preprocessor_.getIdentifierInfo(name));
    result_.push_back(token);
  }
  // __array<type, (length)>, of the length in the brackets from `open` on.
  void insert_type(std::size_t open) {
    insert(declared_->type, clang::tok::identifier, "__array");
    // Clang finds the first token of a template's name by its location, which must be its own.
    insert(declared_->type, clang::tok::less, nullptr, 1);
    result_.push_back(declared_->type);
    result_.back().setLocation(declared_->type.getLocation().getLocWithOffset(2));
    const std::size_t end = closing(open);
    insert(tokens_[open], clang::tok::comma);
    insert(tokens_[open + 1], clang::tok::l_paren);
    result_.insert(result_.end(), tokens_.begin() + std::ptrdiff_t(open) + 1, tokens_.begin() + std::ptrdiff_t(end));
    insert(tokens_[end], clang::tok::r_paren);
    insert(tokens_[end], clang::tok::greater);
    declared_->is_array = true;
  }

  void step() {
    const Token& token = tokens_[at_];
    if (is_real(at_) && !is_payload(at_)) {
      declared_ = Declaration{token, {}, depth_, false};
      if (at_ > 0 && tokens_[at_ - 1].isOneOf(clang::tok::kw_const, clang::tok::kw_constexpr))
        declared_->constant = tokens_[at_ - 1];
      if (is(at_ + 1, clang::tok::identifier) && is_length(at_ + 2)) {
        insert_type(at_ + 2);
        result_.push_back(tokens_[at_ + 1]);
        at_ = closing(at_ + 2) + 1;
        return;
      }
      if (!is(at_ + 1, clang::tok::identifier)) declared_.reset();
    } else if (declared_ && depth_ == declared_->depth && token.is(clang::tok::comma)) {
      if (next_declarator()) return;
    } else if (declared_ && depth_ == declared_->depth && token.is(clang::tok::semi)) {
      declared_.reset();
    }
    if (token.isOneOf(clang::tok::l_square, clang::tok::l_paren, clang::tok::l_brace)) ++depth_;
    if (token.isOneOf(clang::tok::r_square, clang::tok::r_paren, clang::tok::r_brace)) {
      --depth_;
      if (declared_ && depth_ < declared_->depth) declared_.reset();
    }
    result_.push_back(token);
    ++at_;
  }

  // At a comma between declarators: a declaration of its own, if this or the last declarator is an array. False: the
  // comma stays.
  bool next_declarator() {
    // Otherwise the next parameter of a function: a type and a name.
    const bool is_name = is(at_ + 1, clang::tok::identifier) && at_ + 2 < tokens_.size() &&
                         tokens_[at_ + 2].isOneOf(clang::tok::equal, clang::tok::comma, clang::tok::semi,
                                                  clang::tok::l_square, clang::tok::l_brace, clang::tok::l_paren);
    const bool is_array = is_name && is_length(at_ + 2);
    if (!is_name || (!is_array && !declared_->is_array)) return false;
    const Token& comma = tokens_[at_];
    insert(comma, clang::tok::semi);
    if (declared_->constant) result_.push_back(*declared_->constant);
    if (is_array)
      insert_type(at_ + 2);
    else
      result_.push_back(declared_->type);
    declared_->is_array = is_array;
    result_.push_back(tokens_[at_ + 1]);
    at_ = is_array ? closing(at_ + 2) + 1 : at_ + 2;
    return true;
  }

  const std::vector<Token>& tokens_;
  clang::Preprocessor& preprocessor_;
  std::vector<Token> result_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::optional<Declaration> declared_;
};

}  // namespace

std::vector<Token> with_array_types(const std::vector<Token>& tokens, clang::Preprocessor& preprocessor) {
  return Rewriter(tokens, preprocessor).run();
}

}  // namespace nbcc
