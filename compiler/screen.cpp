// Text -> Screened. One door: screen(). A token is judged by itself and the few before it; what needs types or
// scopes is left to Clang and to lowering.
#include "compiler/screen.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace nbcc {
namespace {

// Generous for a text that people write, small enough that no pass can be made to crawl.
constexpr std::size_t kMaxBytes = 1 << 20;
constexpr int kMaxNesting = 200;                // Clang's own limit for brackets is 256
constexpr int kMaxTokensPerStatement = 20'000;  // bounds the recursion of parsing one expression

struct Excluded {
  std::string_view word, what;
};
// The words of C++ that the language leaves out, with what to call the construct in the diagnostic.
constexpr std::array kExcluded = std::to_array<Excluded>({
    {"goto", "goto"}, {"while", "a while loop"}, {"do", "a do loop"}, {"new", "new"}, {"delete", "delete"},
    {"class", "a class"}, {"struct", "a struct"}, {"union", "a union"}, {"enum", "an enumeration"},
    {"template", "a template"}, {"typename", "a template"}, {"namespace", "a namespace"}, {"using", "using"},
    {"throw", "an exception"}, {"try", "an exception"}, {"catch", "an exception"}, {"virtual", "virtual"},
    {"operator", "an operator definition"}, {"import", "a module"}, {"export", "a module"}, {"module", "a module"},
    {"asm", "inline assembly"}, {"extern", "extern"}, {"static", "static"}, {"thread_local", "thread_local"},
    {"volatile", "volatile"}, {"mutable", "mutable"}, {"switch", "switch"}, {"case", "switch"},
    {"typedef", "typedef"}, {"friend", "friend"}, {"sizeof", "sizeof"}, {"alignof", "alignof"},
    {"decltype", "decltype"}, {"typeid", "typeid"}, {"reinterpret_cast", "reinterpret_cast"},
    {"const_cast", "const_cast"}, {"dynamic_cast", "dynamic_cast"}, {"nullptr", "a pointer"}, {"this", "this"},
    {"char", "the type char"}, {"short", "the type short"}, {"long", "the type long"},
    {"unsigned", "an unsigned type"}, {"signed", "the type signed"}, {"wchar_t", "the type wchar_t"},
    {"concept", "a concept"}, {"requires", "a concept"}, {"co_await", "a coroutine"}, {"co_yield", "a coroutine"},
    {"co_return", "a coroutine"}, {"static_assert", "static_assert"}, {"noexcept", "noexcept"},
    {"private", "a class"}, {"public", "a class"}, {"protected", "a class"},
});

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Screener {
 public:
  explicit Screener(const Source& source) : source_(source), text_(source.text) {}

  Screened run() {
    if (refuse_as_a_whole()) return std::move(result_);
    while (at_ < text_.size() && !stopped_) step();
    if (!stopped_) finish();
    return std::move(result_);
  }

 private:
  struct Open {
    char bracket;
    Location where;
  };

  void error(Location where, std::string message) {
    result_.errors.push_back({Severity::Error, where, std::move(message)});
    if (result_.errors.size() >= 20) stopped_ = true;
  }
  // An error after which the rest of the text cannot be made sense of.
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

  bool refuse_as_a_whole() {
    if (text_.size() > kMaxBytes) {
      fatal({}, fmt::format("the file has {} bytes; a pipeline may have {} at most", text_.size(), kMaxBytes));
      return true;
    }
    for (std::size_t k = 0; k < text_.size(); ++k) {
      const auto c = static_cast<unsigned char>(text_[k]);
      if (c >= 32 || c == '\n' || c == '\t' || c == '\r' || c == '\f') continue;
      const auto line = 1 + std::count(text_.begin(), text_.begin() + std::ptrdiff_t(k), '\n');
      const auto start = text_.rfind('\n', k);
      fatal({int(line), int(k - (start == std::string_view::npos ? 0 : start + 1)) + 1},
            fmt::format("this is no text: byte 0x{:02x} is a control character", c));
      return true;
    }
    return false;
  }

  void step() {
    const char c = peek();
    if (c == '\n' || std::isspace(static_cast<unsigned char>(c))) return advance();
    if (c == '/' && peek(1) == '/') return line_comment();
    if (c == '/' && peek(1) == '*') return block_comment();
    if (c == '#' && at_line_start_) return directive();
    at_line_start_ = false;
    ++tokens_;
    if (++statement_tokens_ == kMaxTokensPerStatement)
      return fatal(here(), fmt::format("this statement has more than {} tokens", kMaxTokensPerStatement));
    if (is_word_start(c)) return word();
    if (std::isdigit(static_cast<unsigned char>(c)) || (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1)))))
      return number();
    punctuation(c);
  }

  void line_comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view comment = text_.substr(at_ + 2, end - at_ - 2);
    while (!comment.empty() && (comment.front() == ' ' || comment.front() == '/' || comment.front() == '<')) comment.remove_prefix(1);
    while (!comment.empty() && std::isspace(static_cast<unsigned char>(comment.back()))) comment.remove_suffix(1);
    if (!at_line_start_) result_.comments[line_] = std::string(comment);
    // A backslash at the end would continue the comment onto the next line and hide it from the reader's eye.
    if (!comment.empty() && comment.back() == '\\') error(here(), "a comment ends in a backslash, which would swallow the next line");
    while (at_ < end) advance();
  }

  void block_comment() {
    const Location start = here();
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) return fatal(start, "this comment is not closed");
    while (at_ < end + 2) advance();
  }

  void directive() {
    const Location where = here();
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view rest = text_.substr(at_ + 1, end - at_ - 1);
    if (const auto comment = rest.find("//"); comment != std::string_view::npos) rest = rest.substr(0, comment);
    while (at_ < end) advance();
    at_line_start_ = false;
    ++tokens_;
    const std::string name = take_word(rest);
    if (name == "define") return define(where, rest);
    if (name == "pragma") return pragma(where, rest);
    if (name == "include") return error(where, "#include is not in the language: a pipeline is one file, and the mathematical functions are built in");
    error(where, fmt::format("#{} is not in the language; only '#define NAME constant' and '#pragma flops N' are", name));
  }

  static void skip_blanks(std::string_view& text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  }
  static std::string take_word(std::string_view& text) {
    skip_blanks(text);
    std::size_t n = 0;
    while (n < text.size() && is_word(text[n])) ++n;
    std::string word(text.substr(0, n));
    text.remove_prefix(n);
    return word;
  }

  void define(Location where, std::string_view rest) {
    const std::string name = take_word(rest);
    if (name.empty() || !is_word_start(name[0])) return error(where, "#define needs a name");
    if (!rest.empty() && rest.front() == '(') return error(where, fmt::format("the macro '{}' has arguments; write a function instead", name));
    skip_blanks(rest);
    if (rest.empty()) return error(where, fmt::format("#define {} has no value; it must be a constant", name));
    for (char c : rest) {
      if (std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_.+-*/() \t\r").find(c) != std::string_view::npos) continue;
      return error(where, fmt::format("#define {} must be a constant: numbers, names, + - * / and parentheses", name));
    }
    std::optional<int>* dimension = name == "IDIM" ? &result_.idim : name == "JDIM" ? &result_.jdim : name == "FDIM" ? &result_.fdim : nullptr;
    if (!dimension) return;
    std::string digits;
    for (char c : rest)
      if (std::isdigit(static_cast<unsigned char>(c))) digits += c;
      else if (c != '(' && c != ')' && !std::isspace(static_cast<unsigned char>(c))) return error(where, fmt::format("{} must be a number", name));
    if (digits.empty() || digits.size() > 4) return error(where, fmt::format("{} must be a number from 1 to 9999", name));
    *dimension = std::stoi(digits);
  }

  void pragma(Location where, std::string_view rest) {
    if (take_word(rest) != "flops") return error(where, "the only pragma of the language is '#pragma flops N'");
    const std::string digits = take_word(rest);
    skip_blanks(rest);
    const bool number = !digits.empty() && digits.size() <= 6 && std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); });
    if (!number || !rest.empty() || std::stoi(digits) == 0) return error(where, "#pragma flops needs one positive whole number, the operations of one interaction");
    if (result_.flops) return error(where, "#pragma flops stands here a second time");
    result_.flops = std::stoi(digits);
  }

  void word() {
    const Location where = here();
    const std::size_t begin = at_;
    while (is_word(peek())) advance();
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (text == "INPUT_I" || text == "INPUT_J" || text == "OUTPUT") note_dialect(Dialect::Cunbody, where, text);
    if (text == "input_i" || text == "input_j" || text == "output" || text == "param") note_dialect(Dialect::Named, where, text);
    if (text == "output" && next_character() != '(') bare_output_ = where;
    if (text.starts_with("__") ) return error(where, fmt::format("'{}' is reserved: names must not begin with two underscores", text));
    const auto found = std::find_if(kExcluded.begin(), kExcluded.end(), [&](const Excluded& e) { return e.word == text; });
    if (found != kExcluded.end()) error(where, fmt::format("{} is not in the language", found->what));
  }

  char next_character() const {
    std::size_t next = at_;
    while (next < text_.size() && std::isspace(static_cast<unsigned char>(text_[next]))) ++next;
    return next < text_.size() ? text_[next] : '\0';
  }

  // `param` and `output` are ordinary names in Cunbody's dialect, so the mixture is judged at the end.
  void note_dialect(Dialect dialect, Location where, std::string_view word) {
    First& first = first_of_[int(dialect)];
    const bool plain = word == "param" || word == "output";
    if (first.word.empty() || (first.plain && !plain)) first = {std::string(word), where, plain};
  }

  void number() {
    while (is_word(peek()) || peek() == '.' || peek() == '\'' ||
           ((peek() == '+' || peek() == '-') && std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos))
      advance();
  }

  void punctuation(char c) {
    const Location where = here();
    advance();
    if (c == '"' || c == '\'') return fatal(where, c == '"' ? "a string is not in the language" : "a character literal is not in the language");
    if (c == '-' && peek() == '>') return error(where, "'->' is not in the language: there are no pointers");
    if (c == ':' && peek() == ':') return error(where, "'::' is not in the language: there are no namespaces");
    if (c == '\\') return error(where, "a backslash has no place here");
    if (c == '#') return error(where, "'#' may only begin a line");
    if (c == '@' || c == '`' || c == '$') return error(where, fmt::format("the character '{}' is not in the language", c));
    if (c == ';') statement_tokens_ = 0;
    if (c == '(' || c == '[' || c == '{') {
      open_.push_back({c, where});
      if (int(open_.size()) > kMaxNesting) fatal(where, fmt::format("brackets are nested deeper than {} levels", kMaxNesting));
    }
    if (c == ')' || c == ']' || c == '}') close(c, where);
  }

  void close(char c, Location where) {
    if (open_.empty()) return fatal(where, fmt::format("'{}' closes nothing", c));
    const Open open = open_.back();
    open_.pop_back();
    const char wanted = open.bracket == '(' ? ')' : open.bracket == '[' ? ']' : '}';
    if (c == wanted) return;
    fatal(where, fmt::format("'{}' here, but '{}' of line {} is still open", c, open.bracket, open.where.line));
  }

  void finish() {
    if (!open_.empty()) return error(open_.back().where, fmt::format("'{}' is never closed", open_.back().bracket));
    if (tokens_ == 0) return error({}, "there is no pipeline in this file: it has no statement");
    const First& cunbody = first_of_[int(Dialect::Cunbody)];
    const First& named = first_of_[int(Dialect::Named)];
    result_.dialect = cunbody.word.empty() ? Dialect::Named : Dialect::Cunbody;
    if (cunbody.word.empty() && bare_output_)
      error(*bare_output_, "'output' needs its reduction: output(sum), output(min), output(max), output(argmin) or output(argmax)");
    if (!cunbody.word.empty() && !named.word.empty() && !named.plain)
      error(named.where, fmt::format("'{}' and '{}' (line {}) are of two dialects: use INPUT_I, INPUT_J, OUTPUT or named fields, not both", named.word, cunbody.word, cunbody.where.line));
  }

  struct First {
    std::string word;
    Location where;
    bool plain = false;
  };
  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1, tokens_ = 0, statement_tokens_ = 0;
  bool at_line_start_ = true, stopped_ = false;
  std::vector<Open> open_;
  std::optional<Location> bare_output_;
  First first_of_[2];
  Screened result_;
};

}  // namespace

Screened screen(const Source& source) { return Screener(source).run(); }

}  // namespace nbcc
