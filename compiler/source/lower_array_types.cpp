// The tokens of a text -> the same tokens, in which arrays of real numbers have the type __array of the prelude. C++
// has no operators on arrays; this type has them. Entry point: with_array_types() (lower.h), which parse.cpp calls.
//
//   real d[3] = x - y, r;     ->     __array<real, (3)> d = x - y; real r;
//
// A `param int D = 64;` that is in the length of an array becomes a `const int`: a caller who wants another length
// compiles the text with another number.
//
// Macros are expanded already. It finds declarations by their tokens: a type and a name that follow each other are in
// no expression. Inserted tokens have the locations of the tokens that they replace, so that messages point to the
// text. Arrays of other types, arrays of arrays, and an output(at), which is assigned by a statement of its own, stay
// as they are.
#include <cstddef>
#include <optional>
#include <set>

#include "clang/Basic/IdentifierTable.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Preprocessor.h"
#include "compiler/source/lower.h"

namespace nbcc {
namespace {

using clang::Token;
namespace tok = clang::tok;

class Rewriter {
 public:
  Rewriter(const std::vector<Token>& tokens, clang::Preprocessor& preprocessor)
      : tokens_(tokens), preprocessor_(preprocessor) {}

  std::vector<Token> run() {
    find_sizes();
    while (at_ < tokens_.size()) step();
    return std::move(result_);
  }

 private:
  // The declaration whose declarators are read.
  struct Declaration {
    Token type;
    std::vector<Token> specifiers;  // const or constexpr, and the attribute of a field
    int depth = 0;                  // of brackets
    bool is_array = false;          // the last declarator
  };

  bool is(std::size_t at, tok::TokenKind kind) const { return at < tokens_.size() && tokens_[at].is(kind); }
  bool is_text(std::size_t at) const {
    const clang::SourceManager& manager = preprocessor_.getSourceManager();
    return manager.isInMainFile(manager.getExpansionLoc(tokens_[at].getLocation()));
  }
  bool is_real(std::size_t at) const {
    if (!is_text(at)) return false;
    const Token& token = tokens_[at];
    return token.isOneOf(tok::kw_float, tok::kw_double) ||
           (token.is(tok::identifier) && token.getIdentifierInfo()->isStr("real"));
  }
  // After __attribute__((annotate("nbcc:output:" "at"))).
  bool is_payload(std::size_t type) const {
    return type > 4 && is(type - 4, tok::string_literal) && is(type - 5, tok::string_literal) &&
           llvm::StringRef(tokens_[type - 4].getLiteralData(), tokens_[type - 4].getLength()).trim("\" ") == "at";
  }
  // The tokens of a declaration before its type, which begins at `type`.
  std::vector<Token> specifiers_before(std::size_t type) const {
    std::size_t first = type;
    while (first > 0 && tokens_[first - 1].isOneOf(tok::kw_const, tok::kw_constexpr)) --first;
    std::size_t attribute = first;
    while (attribute > 0 && tokens_[attribute - 1].isOneOf(tok::kw___attribute, tok::l_paren, tok::r_paren,
                                                           tok::identifier, tok::string_literal, tok::comma))
      --attribute;
    if (is(attribute, tok::kw___attribute)) first = attribute;
    return {tokens_.begin() + std::ptrdiff_t(first), tokens_.begin() + std::ptrdiff_t(type)};
  }
  // The bracket that closes the one at `open`; the end of the tokens if there is none.
  std::size_t closing(std::size_t open) const {
    int depth = 0;
    for (std::size_t at = open; at < tokens_.size(); ++at) {
      if (tokens_[at].isOneOf(tok::l_square, tok::l_paren, tok::l_brace)) ++depth;
      if (tokens_[at].isOneOf(tok::r_square, tok::r_paren, tok::r_brace) && --depth == 0) return at;
    }
    return tokens_.size();
  }
  // True if the bracket after a name gives the length of an array of numbers.
  bool is_length(std::size_t open) const {
    return is(open, tok::l_square) && !is(open + 1, tok::r_square) && closing(open) < tokens_.size() &&
           !is(closing(open) + 1, tok::l_square);
  }

  // The names in the brackets of declarations of arrays, which follow a type and a name.
  void find_sizes() {
    for (std::size_t open = 2; open < tokens_.size(); ++open) {
      if (!is(open, tok::l_square) || !is(open - 1, tok::identifier) || !is_text(open) ||
          !tokens_[open - 2].isOneOf(tok::identifier, tok::kw_float, tok::kw_double, tok::kw_int, tok::kw_unsigned,
                                     tok::kw_bool))
        continue;
      for (std::size_t end = closing(open); is(open, tok::l_square) && end < tokens_.size(); end = closing(open)) {
        for (; open < end; ++open)
          if (is(open, tok::identifier)) sizes_.insert(tokens_[open].getIdentifierInfo());
        ++open;
      }
    }
  }
  // True at __attribute__((annotate("nbcc:param"))) int NAME, where NAME is in the length of an array.
  bool is_size(std::size_t at) const {
    return is(at, tok::kw___attribute) && is(at + 9, tok::kw_int) && is(at + 10, tok::identifier) &&
           is(at + 5, tok::string_literal) && sizes_.contains(tokens_[at + 10].getIdentifierInfo()) &&
           llvm::StringRef(tokens_[at + 5].getLiteralData(), tokens_[at + 5].getLength()) == "\"nbcc:param\"";
  }

  void insert(const Token& near, tok::TokenKind kind, const char* name = nullptr, int offset = 0) {
    Token token;
    token.startToken();
    token.setKind(kind);
    token.setLocation(near.getLocation().getLocWithOffset(offset));
    if (name) token.setIdentifierInfo(preprocessor_.getIdentifierInfo(name));
    result_.push_back(token);
  }
  // __array<type, (length)>, of the length in the brackets from `open` on.
  void insert_type(std::size_t open) {
    insert(declared_->type, tok::identifier, "__array");
    // Clang finds the first token of a template's name by its location, which must be its own.
    insert(declared_->type, tok::less, nullptr, 1);
    result_.push_back(declared_->type);
    result_.back().setLocation(declared_->type.getLocation().getLocWithOffset(2));
    const std::size_t end = closing(open);
    insert(tokens_[open], tok::comma);
    insert(tokens_[open + 1], tok::l_paren);
    result_.insert(result_.end(), tokens_.begin() + std::ptrdiff_t(open) + 1, tokens_.begin() + std::ptrdiff_t(end));
    insert(tokens_[end], tok::r_paren);
    insert(tokens_[end], tok::greater);
    declared_->is_array = true;
  }

  void step() {
    const Token& token = tokens_[at_];
    if (is_size(at_)) {
      insert(token, tok::kw_const);
      at_ += 9;
      return;
    }
    if (is_real(at_) && !is_payload(at_)) {
      declared_ = Declaration{token, specifiers_before(at_), depth_, false};
      if (is(at_ + 1, tok::identifier) && is_length(at_ + 2)) {
        insert_type(at_ + 2);
        result_.push_back(tokens_[at_ + 1]);
        at_ = closing(at_ + 2) + 1;
        return;
      }
      if (!is(at_ + 1, tok::identifier)) declared_.reset();
    } else if (declared_ && depth_ == declared_->depth && token.is(tok::comma)) {
      if (next_declarator()) return;
    } else if (declared_ && depth_ == declared_->depth && token.is(tok::semi)) {
      declared_.reset();
    }
    if (token.isOneOf(tok::l_square, tok::l_paren, tok::l_brace)) ++depth_;
    if (token.isOneOf(tok::r_square, tok::r_paren, tok::r_brace)) {
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
    const bool is_name =
        is(at_ + 1, tok::identifier) && at_ + 2 < tokens_.size() &&
        tokens_[at_ + 2].isOneOf(tok::equal, tok::comma, tok::semi, tok::l_square, tok::l_brace, tok::l_paren);
    const bool is_array = is_name && is_length(at_ + 2);
    if (!is_name || (!is_array && !declared_->is_array)) return false;
    const Token& comma = tokens_[at_];
    insert(comma, tok::semi);
    result_.insert(result_.end(), declared_->specifiers.begin(), declared_->specifiers.end());
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
  std::set<const clang::IdentifierInfo*> sizes_;
};

}  // namespace

std::vector<Token> with_array_types(const std::vector<Token>& tokens, clang::Preprocessor& preprocessor) {
  return Rewriter(tokens, preprocessor).run();
}

}  // namespace nbcc
