// Text -> Prescanned. Entry point: prescan(). Checks look at a token and the few before it in its statement; Clang and
// lowering check what needs types or scopes.
#include "compiler/source/prescan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "compiler/source/prescan_directive.h"
#include "compiler/source/vocabulary.h"

namespace nbcc {
namespace {

// Limits: larger than any hand-written text needs, small enough that every pass stays fast.
constexpr std::size_t kMaxBytes = 1 << 18;
constexpr int kMaxTokens = 200'000;
constexpr int kMaxNesting = 200;                // Clang's own limit for brackets is 256
constexpr int kMaxTokensPerStatement = 20'000;  // bounds the recursion of parsing one expression
constexpr int kMaxElse = 1'000;                 // the same for a chain of `else if`
constexpr std::size_t kMaxErrors = 20;
constexpr std::size_t kKeptTokens = 5;  // number of tokens kept from the beginning of a statement

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

class Prescanner {
 public:
  explicit Prescanner(const Source& source) : text_(source.text) {}

  Prescanned run() {
    if (refuse_text()) return std::move(result_);
    // Skip the byte order mark with which some editors begin a UTF-8 file; Clang skips it too.
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size() && !stopped_) step();
    if (!stopped_) finish();
    return std::move(result_);
  }

 private:
  struct Open {
    char bracket;
    Location where;
    std::string_view before;      // the token before the bracket
    bool function = false;        // the body of a function
    int else_count = 0;           // number of else branches of the current `if` at this depth
    int choices = 0;              // number of '?' at this depth that still lack their ':'
    bool ends_statement = false;  // there is a ';' at this depth, as in the head of a `for`
  };
  struct Token {
    std::string_view text;
    Location where;
  };
  void error(Location where, std::string message) {
    result_.errors.push_back({Severity::Error, where, std::move(message)});
    if (result_.errors.size() >= kMaxErrors) stopped_ = true;
  }
  // An error after which the rest of the text cannot be scanned.
  void fatal(Location where, std::string message) {
    error(where, std::move(message));
    stopped_ = true;
  }

  Location here() const { return {line_, int(at_ - line_start_) + 1}; }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void advance() {
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
      at_line_start_ = true;
    }
    ++at_;
  }

  Location location_of(std::size_t byte) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + std::ptrdiff_t(byte), '\n');
    const auto start = text_.substr(0, byte).rfind('\n');
    return {int(line), int(byte - (start == std::string_view::npos ? 0 : start + 1)) + 1};
  }

  bool refuse_text() {
    if (text_.size() > kMaxBytes) {
      fatal(location_of(kMaxBytes),
            fmt::format("the file has {} bytes; a pipeline may have {} at most", text_.size(), kMaxBytes));
      return true;
    }
    for (std::size_t k = 0; k < text_.size(); ++k) {
      const auto c = static_cast<unsigned char>(text_[k]);
      // Clang ends a line at a lone carriage return and this scanner does not: code could hide in a comment.
      const bool lone_return = c == '\r' && (k + 1 == text_.size() || text_[k + 1] != '\n');
      if ((c >= 32 && c != 127 && !lone_return) || c == '\n' || c == '\t' || c == '\f' || (c == '\r' && !lone_return))
        continue;
      fatal(location_of(k), lone_return ? "a carriage return without a line feed; end lines as Unix or Windows does"
                                        : fmt::format("this is no text: byte 0x{:02x} is a control character", c));
      return true;
    }
    return false;
  }

  void step() {
    const char c = peek();
    if (is_space(c)) return advance();
    if (c == '/' && peek(1) == '/') return line_comment();
    if (c == '/' && peek(1) == '*') return block_comment();
    if (c == '#' && at_line_start_) return directive();
    const bool first_in_line = at_line_start_;
    at_line_start_ = false;
    const Location where = here();
    const std::size_t begin = at_;
    if (is_word_start(c)) {
      while (is_word(peek())) advance();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      pass_number();
    } else {
      advance();
    }
    const Token token{text_.substr(begin, at_ - begin), where};
    judge_head(token);
    if (stopped_) return;
    const int count = directives_.expansion(token.text);
    tokens_ += count;
    statement_tokens_ += count;
    if (tokens_ > kMaxTokens) return fatal(where, fmt::format("the pipeline has more than {} tokens", kMaxTokens));
    if (statement_tokens_ > kMaxTokensPerStatement)
      return fatal(where, fmt::format("this statement has more than {} tokens; break it up with variables",
                                      kMaxTokensPerStatement));
    if (is_word_start(c))
      word(token, first_in_line);
    else if (token.text.size() > 1)
      number(token);
    else if (is_digit(c))
      remember(token);
    else
      punctuation(token);
    previous_end_ = here();
    previous_ = token.text;
  }

  void line_comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view comment = text_.substr(at_ + 2, end - at_ - 2);
    while (!comment.empty() && (comment.front() == ' ' || comment.front() == '/' || comment.front() == '<'))
      comment.remove_prefix(1);
    while (!comment.empty() && is_space(comment.back())) comment.remove_suffix(1);
    if (!at_line_start_) result_.comments[line_] = std::string(comment);
    // A backslash at the end would make the next line part of the comment.
    if (!comment.empty() && comment.back() == '\\')
      error(here(), "this comment ends in a backslash, which would swallow the next line; remove it");
    while (at_ < end) advance();
  }

  void block_comment() {
    const Location start = here();
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) return fatal(start, "this comment is not closed; end it with */");
    while (at_ < end + 2) advance();
  }

  void directive() {
    const Location where = here();
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_ + 1, end - at_ - 1);
    while (at_ < end) advance();
    at_line_start_ = false;
    ++tokens_;
    const StatedNumbers before = result_;
    const std::string message = directives_.take(line, result_);
    if (!message.empty()) error(where, message);
    if (result_.idim != before.idim) result_.arrays["INPUT_I"] = where;
    if (result_.jdim != before.jdim) result_.arrays["INPUT_J"] = where;
    if (result_.fdim != before.fdim) result_.arrays["OUTPUT"] = where;
  }

  // Reports errors after which Clang, recovering inside a block, would skip the block's end.
  void judge_head(const Token& token) {
    const bool may_be_parenthesis = token.text == "(" || directives_.expansion(token.text) > 1;
    if ((previous_ == "if" && !may_be_parenthesis && token.text != "constexpr") ||
        (previous_ == "for" && !may_be_parenthesis))
      error(token.where, fmt::format("expected '(' after '{}'", previous_));
    if (previous_ == "else" && token.text == "}") error(token.where, "expected a statement after 'else'");
  }

  // ---- words ----

  void word(const Token& token, bool first_in_line) {
    const std::string_view text = token.text;
    const Location where = token.where;
    if (text == "INPUT_I" || text == "INPUT_J" || text == "OUTPUT") {
      first(first_array_, token);
      result_.arrays.emplace(text, token.where);
    }
    const bool reserved = text.starts_with("__") ||
                          (text.size() > 1 && text[0] == '_' && std::isupper(static_cast<unsigned char>(text[1])));
    if (reserved) return error(where, fmt::format("'{}' is reserved: names begin with a letter", text));
    const ExcludedWord* excluded = find_excluded_word(text);
    if (excluded && text == "while" && open_do_ > 0) {
      --open_do_;
    } else if (excluded && !(excluded->companion && !result_.errors.empty())) {
      open_do_ += text == "do" ? 1 : 0;
      error(where, fmt::format("{} is not in the language{}{}", excluded->what, excluded->remedy.empty() ? "" : "; ",
                               excluded->remedy));
    }
    if (text == "auto" && is_parameter()) error(where, "a parameter needs a type; 'auto' is for variables");
    if (text == "return" && !in_function()) error(where, "return is not allowed outside a function");
    if (text == "else" && ++else_count() > kMaxElse)
      return fatal(where, fmt::format("this if has more than {} branches", kMaxElse));
    if (is_a(WordKind::Role, text)) role(token, first_in_line);
    // In an inner scope a name hides the built-in function only there.
    if (open_.empty() && is_later_function(text) && is_declared_here()) result_.own_names.emplace(text);
    const bool early = statement_.size() < kKeptTokens;
    remember(token);
    if (open_.empty() && early) judge_declaration();
  }

  // True at the top level after a type's name, or after a comma in a declaration.
  bool is_declared_here() const {
    static constexpr std::string_view kNoTypes[] = {"return", "else", "and", "or", "not"};
    if (previous_.empty()) return false;
    if (is_word_start(previous_[0])) return !contains(kNoTypes, previous_);
    const bool in_declaration =
        !statement_.empty() && (is_a(WordKind::Role, statement_[0].text) || is_a(WordKind::Type, statement_[0].text));
    return previous_ == "," && in_declaration && next_character() != '(';
  }

  // Each field is declared at the top level, in a separate declaration. `param` and `output` are ordinary names in the
  // Cunbody dialect, so these errors are reported only if the file turns out to be in the other dialect.
  void role(const Token& token, bool first_in_line) {
    const bool certain = token.text != "param" && token.text != "output";
    if (certain)
      first(first_role_, token);
    else if (statement_.empty() && next_word_start(token))
      first(first_weak_role_, token);
    if (token.text == "output" && next_character() != '(') {
      role_error(token.where, fmt::format("'output' needs its reduction: {}", all_reductions("output(@)", "or")));
    } else if (!open_.empty()) {
      role_error(token.where,
                 fmt::format(
                     "'{}' declares a field; fields are declared at the top level, not inside a block or an expression",
                     token.text));
    } else if (!statement_.empty() && first_in_line) {
      role_error(previous_end_, "expected ';' at the end of this statement");
    } else if (!statement_.empty() && misused_.insert(std::string(token.text)).second) {
      role_error(
          token.where,
          fmt::format("'{}' is a word of the language: it begins the declaration of a field and is not allowed here",
                      token.text));
    }
  }
  void role_error(Location where, std::string message) {
    role_errors_.push_back({Severity::Error, where, std::move(message)});
  }

  bool next_word_start(const Token& token) const {
    return token.text == "output" ? next_character() == '(' : is_word_start(next_character());
  }

  // `word type word` and `word(sum) type` can only be declarations of fields. If the first word is no role, it is a
  // misspelt one; report it here, because Clang would report only the consequences.
  void judge_declaration() {
    static constexpr std::string_view kMayBegin[] = {"const",  "constexpr", "inline", "auto", "else",
                                                     "return", "if",        "for",    "void"};
    const std::string_view begin = statement_[0].text;
    if (!is_word_start(begin[0]) || is_a(WordKind::Role, begin) || is_a(WordKind::Type, begin) ||
        contains(kMayBegin, begin))
      return;
    if (find_excluded_word(begin)) return;
    const bool plain = statement_.size() == 3 && is_a(WordKind::Type, statement_[1].text);
    const bool output = statement_.size() == 5 && statement_[1].text == "(" &&
                        is_a(WordKind::Reduction, statement_[2].text) && statement_[3].text == ")" &&
                        is_a(WordKind::Type, statement_[4].text);
    if (plain || output)
      error(statement_[0].where,
            fmt::format("unknown word '{}'{}", begin,
                        did_you_mean(begin, WordKind::Role,
                                     "; a field is declared by input_i, input_j, input_pair, param or output(...)")));
  }
  char next_character() const {
    std::size_t next = at_;
    while (next < text_.size() && is_space(text_[next])) ++next;
    return next < text_.size() ? text_[next] : '\0';
  }

  static void first(std::optional<Token>& earliest, const Token& token) {
    if (!earliest) earliest = token;
  }

  void remember(const Token& token) {
    if (statement_.empty() && token.text != "else") else_count() = 0;
    // Only the beginning of a statement is needed.
    if (statement_.size() == kKeptTokens) return;
    statement_.push_back(token);
    if (statement_.size() == 3 && open_.size() == 1 && statement_[0].text == "output" && statement_[1].text == "(" &&
        !is_a(WordKind::Reduction, token.text))
      role_error(token.where, fmt::format("'{}' is no reduction{}", token.text,
                                          did_you_mean(token.text, WordKind::Reduction,
                                                       "; there are " + all_reductions("@", "and"))));
    if (statement_.size() == 4 && statement_[0].text == "output" && statement_[1].text == "(" && open_.size() == 1 &&
        token.text == "," && statement_[2].text != "total")
      role_error(token.where, "an output has one reduction; declare an output for each");
  }

  // ---- numbers ----

  void pass_number() {
    while (is_word(peek()) || peek() == '.' || (peek() == '\'' && is_word(peek(1))) ||
           ((peek() == '+' || peek() == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')))
      advance();
  }

  void number(const Token& token) {
    remember(token);
    const std::string_view text = token.text;
    if (text.size() > kMaxNumber)
      return fatal(token.where,
                   fmt::format("this number has {} characters; a number may have {} at most", text.size(), kMaxNumber));
    if (text.find('\'') != std::string_view::npos)
      return error(token.where, fmt::format("{} has a digit separator, which is not in the language", text));
    if (text.size() > 1 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
      return error(token.where, fmt::format("{} is not in the language; numbers are decimal or hexadecimal", text));
    if (text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) return hexadecimal(token);
    std::size_t k = 0;
    const auto digits = [&] {
      const std::size_t begin = k;
      while (k < text.size() && is_digit(text[k])) ++k;
      return k > begin;
    };
    digits();
    const bool whole = k < text.size() ? text[k] != '.' && text[k] != 'e' && text[k] != 'E' : true;
    if (k < text.size() && text[k] == '.') ++k, digits();
    if (k < text.size() && (text[k] == 'e' || text[k] == 'E')) {
      ++k;
      if (k < text.size() && (text[k] == '+' || text[k] == '-')) ++k;
      if (!digits()) return error(token.where, fmt::format("{} has an exponent without digits", text));
    }
    // 1.5f, 7u, 2.5i
    if (k < text.size() && std::string_view(whole ? "uUi" : "fFi").find(text[k]) != std::string_view::npos) ++k;
    if (k < text.size() && text[k] == '.') return error(token.where, fmt::format("{} has two decimal points", text));
    if (k < text.size())
      return error(token.where, fmt::format("{} ends in '{}'; a number may end in f, for a float, in u, for an "
                                            "unsigned one, or in i, for an imaginary one",
                                            text, text.substr(k)));
    if (whole && text[0] == '0' && is_digit(text[1]))
      error(token.where,
            fmt::format("{} begins with 0, which C++ takes for octal; write {}", text, without_zeros(text)));
  }
  void hexadecimal(const Token& token) {
    std::string_view digits = token.text.substr(2);
    if (digits.ends_with('u') || digits.ends_with('U')) digits.remove_suffix(1);
    const auto wrong = digits.find_first_not_of("0123456789abcdefABCDEF");
    if (digits.empty()) return error(token.where, fmt::format("{} has no digits", token.text));
    if (wrong != std::string_view::npos)
      error(token.where, fmt::format("{} ends in '{}'; the digits of a hexadecimal number are 0 to 9 and a to f",
                                     token.text, digits.substr(wrong)));
  }
  static std::string_view without_zeros(std::string_view text) {
    while (text.size() > 1 && text[0] == '0') text.remove_prefix(1);
    return text;
  }

  // ---- punctuation ----

  void punctuation(const Token& token) {
    const char c = token.text[0];
    const Location where = token.where;
    if (c == '"') return fatal(where, "a string is not in the language; a pipeline computes with numbers");
    if (c == '\'') return fatal(where, "a character literal is not in the language; write its number");
    if (c == '-' && peek() == '>') return error(where, "'->' is not in the language: there are no pointers");
    if (c == ':' && peek() == ':')
      return error(where, "'::' is not in the language: there are no namespaces; write the name alone");
    if (c == '&' && peek() != '&' && previous_ != "&" && !behind_operand())
      error(where, "'&' in front of a name is not in the language: there are no pointers; write the name alone");
    if (c == ':' && begins_range())
      error(where, "a range-based for is not in the language; write a for with a constant trip count");
    if (!open_.empty()) {
      open_.back().choices += c == '?' ? 1 : c == ':' ? -1 : 0;
      open_.back().ends_statement |= c == ';';
    }
    if (c == '[' && peek() == '[') return fatal(where, "an attribute is not in the language; remove it");
    if (c == '[' && !behind_operand()) error(where, "a lambda is not in the language; write a function");
    if (c == '*' && peek() == '*' && previous_ != "*" && !is_a(WordKind::Type, previous_))
      error(where, refused_operator("**"));
    // Digraphs: C++ reads them as brackets, which this scanner would not count.
    if ((c == '<' && (peek() == '%' || peek() == ':')) || ((c == '%' || c == ':') && peek() == '>') ||
        (c == '%' && peek() == ':'))
      return fatal(where, fmt::format("'{}{}' is not in the language; write the bracket itself", c, peek()));
    if (c == '\\')
      return error(where, "a backslash is not allowed here; statements may run over several lines without it");
    if (c == '#') return error(where, "'#' may only begin a line");
    if (c == '@' || c == '`' || c == '$')
      return error(where, fmt::format("the character '{}' is not in the language", c));
    if (static_cast<unsigned char>(c) >= 0x80) return non_ascii(where);
    if (c == '(' || c == '[' || c == '{') open(c, where);
    remember(token);
    if (c == ')' || c == ']' || c == '}') return close(c, where);
    if (c == ';' || c == '{') begin_statement();
  }

  void non_ascii(Location where) {
    const std::size_t begin = at_ - 1;
    while (static_cast<unsigned char>(peek()) >= 0x80) advance();
    error(where,
          fmt::format("'{}' is not in the language: names and numbers are ASCII; other letters are allowed in comments",
                      text_.substr(begin, at_ - begin)));
  }

  void begin_statement() {
    statement_tokens_ = 0;
    if (open_.empty() || open_.back().bracket == '{') statement_.clear();
  }

  // True for the ':' of a range-based for, which Clang may refuse because it needs a C++ header.
  bool begins_range() const {
    if (open_.empty()) return false;
    const Open& head = open_.back();
    return head.bracket == '(' && head.before == "for" && head.choices == 0 && !head.ends_statement;
  }
  // True if the last token ends an operand, so that a following '[' is a subscript.
  bool behind_operand() const {
    if (previous_.empty() || previous_ == "return" || previous_ == "else") return false;
    return is_word(previous_[0]) || previous_ == ")" || previous_ == "]";
  }
  bool is_parameter() const {
    if (open_.empty() || open_.back().bracket != '(') return false;
    const std::string_view before = open_.back().before;
    return !before.empty() && is_word_start(before[0]) && before != "for" && before != "if";
  }

  int& else_count() { return open_.empty() ? top_else_count_ : open_.back().else_count; }
  bool in_function() const {
    return std::ranges::any_of(open_, [](const Open& o) { return o.function; });
  }

  void open(char c, Location where) {
    static constexpr std::string_view kBlocks[] = {"if", "for", "else"};
    const bool definition = c == '{' && !statement_.empty() && is_word_start(statement_[0].text[0]) &&
                            !contains(kBlocks, statement_[0].text);
    open_.push_back({c, where, previous_, definition});
    if (int(open_.size()) > kMaxNesting)
      fatal(where, fmt::format("brackets are nested deeper than {} levels; break the expression up with variables",
                               kMaxNesting));
  }

  void close(char c, Location where) {
    if (open_.empty()) return fatal(where, fmt::format("'{}' closes nothing", c));
    const Open open = open_.back();
    open_.pop_back();
    const char wanted = open.bracket == '(' ? ')' : open.bracket == '[' ? ']' : '}';
    if (c != wanted)
      return fatal(where,
                   fmt::format("'{}' here, but '{}' of line {} is still open", c, open.bracket, open.where.line));
    if (c == '}') begin_statement();
  }

  // ---- the end ----

  void finish() {
    if (!open_.empty()) return error(open_.back().where, fmt::format("'{}' is never closed", open_.back().bracket));
    result_.end = tokens_ > 0 ? previous_end_ : here();
    if (tokens_ == 0) return error(result_.end, "there is no pipeline in this file: it has no statement");
    // Clang's incremental mode would accept the last statement without ';'.
    if (!statement_.empty()) error(previous_end_, "expected ';' at the end of this statement");
    result_.dialect = first_array_ ? Dialect::Cunbody : Dialect::Named;
    if (!first_array_) result_.errors.insert(result_.errors.end(), role_errors_.begin(), role_errors_.end());
    const std::optional<Token>& role = first_role_ ? first_role_ : first_weak_role_;
    if (first_array_ && role)
      error(role->where,
            fmt::format(
                "'{}' and '{}' (line {}) are of two dialects: use INPUT_I, INPUT_J, OUTPUT or named fields, not both",
                role->text, first_array_->text, first_array_->where.line));
    const auto location = [](const Diagnostic& d) { return std::pair(d.where.line, d.where.column); };
    std::ranges::stable_sort(result_.errors, {}, location);
  }

  std::string_view text_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1, tokens_ = 0, statement_tokens_ = 0, top_else_count_ = 0, open_do_ = 0;
  bool at_line_start_ = true, stopped_ = false;
  std::vector<Token> statement_;  // the first tokens of the current statement
  Location previous_end_;         // the location after the last token
  std::string_view previous_;     // the last token
  std::vector<Open> open_;
  std::vector<Diagnostic> role_errors_;
  std::set<std::string> misused_;  // roles that were reported as misplaced
  std::optional<Token> first_array_, first_role_, first_weak_role_;
  Directives directives_;
  Prescanned result_;
};

}  // namespace

Prescanned prescan(const Source& source) { return Prescanner(source).run(); }

}  // namespace nbcc
