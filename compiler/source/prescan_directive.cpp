// A directive's line -> its numbers or an error message. Entry point: Directives::take().
#include "compiler/source/prescan_directive.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "compiler/source/vocabulary.h"

namespace nbcc {
namespace {

constexpr int kMaxMacroTokens = 100;  // per macro, fully expanded

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
}

std::string take_word(std::string_view& text) {
  skip_blanks(text);
  std::size_t n = 0;
  while (n < text.size() && is_word(text[n])) ++n;
  std::string word(text.substr(0, n));
  text.remove_prefix(n);
  return word;
}

// An integer, which may be in parentheses as in `#define IDIM (4)`.
std::optional<int> whole_number(std::string_view text) {
  while (text.size() > 2 && text.front() == '(' && text.back() == ')') {
    text = text.substr(1, text.size() - 2);
    skip_blanks(text);
  }
  if (text.empty() || text.size() > 6 || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  return std::stoi(std::string(text));
}

std::string pragma(std::string_view rest, StatedNumbers& result) {
  if (take_word(rest) != "flops") return "the only pragma of the language is '#pragma flops N'";
  skip_blanks(rest);
  const std::optional<int> count = whole_number(rest);
  if (count.value_or(0) == 0) return "#pragma flops needs one positive whole number, the operations of one interaction";
  if (result.flops) return "#pragma flops is stated a second time";
  result.flops = count;
  return {};
}

}  // namespace

std::string Directives::take(std::string_view line, StatedNumbers& result) {
  if (const auto comment = line.find("//"); comment != std::string_view::npos) line = line.substr(0, comment);
  const std::string name = take_word(line);
  // Such a comment could continue on the following lines and hide code.
  if (line.find("/*") != std::string_view::npos) return "a comment in a directive is written with //";
  if (name == "define") return define(line, result);
  if (name == "pragma") return pragma(line, result);
  if (name == "include" || name == "import")
    return fmt::format(
        "#{} is not in the language: a pipeline is one file, and the mathematical functions are built in", name);
  return fmt::format("#{} is not in the language; only '#define NAME constant' and '#pragma flops N' are", name);
}

std::string Directives::define(std::string_view rest, StatedNumbers& result) {
  const std::string name = take_word(rest);
  if (name.empty() || !is_word_start(name[0])) return "#define needs a name";
  if (name.starts_with("_")) return fmt::format("#define {}: a name begins with a letter", name);
  if ((is_language_word(name) && !is_later_function(name)) || find_excluded_word(name))
    return fmt::format("'{}' is a word of the language and cannot be redefined", name);
  if (tokens_.contains(name)) return fmt::format("'{}' is defined a second time", name);
  if (const auto user = used_by_.find(name); user != used_by_.end())
    return fmt::format("'{}' is defined here, after its use in '#define {}'; define it before", name, user->second);
  if (!rest.empty() && rest.front() == '(')
    return fmt::format("the macro '{}' has arguments; write a function instead", name);
  skip_blanks(rest);
  if (rest.empty()) return fmt::format("#define {} has no value; it must be a constant", name);
  std::string wrong = judge_value(name, rest);
  if (!wrong.empty()) return wrong;
  std::optional<int>* dimension = name == "IDIM"   ? &result.idim
                                  : name == "JDIM" ? &result.jdim
                                  : name == "FDIM" ? &result.fdim
                                                   : nullptr;
  if (!dimension) return {};
  *dimension = whole_number(rest);
  return dimension->value_or(0) >= 1 && dimension->value_or(0) <= 9999
             ? std::string()
             : fmt::format("{} must be a number from 1 to 9999", name);
}

std::string Directives::judge_value(const std::string& name, std::string_view value) {
  int tokens = 0, depth = 0;
  while (!value.empty()) {
    const char c = value.front();
    if (is_word_start(c)) {
      const std::string word = take_word(value);
      if (find_excluded_word(word) || word == "return" || word == "if" || word == "else" || word == "for" ||
          word.starts_with("_"))
        return fmt::format("#define {}: '{}' is no constant", name, word);
      tokens += expansion(word);
      if (!tokens_.contains(word)) used_by_.emplace(word, name);
      continue;
    }
    if (is_digit(c) || c == '.') {
      std::size_t n = 1;
      while (n < value.size() &&
             (is_word(value[n]) || value[n] == '.' ||
              ((value[n] == '+' || value[n] == '-') && (value[n - 1] == 'e' || value[n - 1] == 'E'))))
        ++n;
      if (n > kMaxNumber)
        return fmt::format("#define {}: a number of {} characters; it may have {} at most", name, n, kMaxNumber);
      value.remove_prefix(n);
      ++tokens;
      continue;
    }
    if (!is_space(c) && std::string_view("+-*/()").find(c) == std::string_view::npos)
      return fmt::format("#define {} must be a constant: numbers, names, + - * / and parentheses", name);
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0) break;
    tokens += is_space(c) ? 0 : 1;
    value.remove_prefix(1);
  }
  if (depth != 0) return fmt::format("#define {}: its parentheses do not match", name);
  if (tokens > kMaxMacroTokens) return fmt::format("#define {} stands for more than {} tokens", name, kMaxMacroTokens);
  tokens_[name] = tokens;
  return {};
}

int Directives::expansion(std::string_view word) const {
  const auto found = tokens_.find(word);
  return found == tokens_.end() ? 1 : found->second;
}

}  // namespace nbcc
