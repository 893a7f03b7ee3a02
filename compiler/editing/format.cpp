// A pipeline's text -> formatted text, by Clang's formatter. Entry point: formatted(). The style is that of pipelines/.
#include "compiler/editing/format.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "clang/Format/Format.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {
namespace {

// The language has no pointers: `a * b` in a call is a product, which Clang's formatter may take for a declaration.
constexpr const char* kStyle =
    "{Language: Cpp, BasedOnStyle: Google, ColumnLimit: 120, SpacesBeforeTrailingComments: 3, ReflowComments: false, "
    "DerivePointerAlignment: false, PointerAlignment: Middle, ReferenceAlignment: Left}";

clang::format::FormatStyle pipeline_style() {
  clang::format::FormatStyle style = clang::format::getGoogleStyle(clang::format::FormatStyle::LK_Cpp);
  if (const std::error_code problem = clang::format::parseConfiguration(llvm::StringRef(kStyle), &style))
    throw InternalError("Clang's formatter refuses its style: " + problem.message());
  return style;
}

// In the library `param` is as wide as `input_i`, so that the columns of types and names are aligned. The formatter
// sees a word of that width, which becomes `param` and two blanks again: comments after declarations then align too.
constexpr std::string_view kParam = "param", kWideParam = "param__";

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The index of the line break that ends the line, which may be a carriage return alone; one behind a backslash, which
// joins two lines, does not.
std::size_t end_of_line(std::string_view text, std::size_t at) {
  for (;; ++at) {
    at = text.find_first_of("\r\n", at);
    if (at == std::string_view::npos) return text.size();
    const std::size_t last = text.find_last_not_of(" \t\r", at - 1);
    if (at == 0 || last == std::string_view::npos || text[last] != '\\') return at;
  }
}

// The first character after the comment that begins at `at`; `at` if none does.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("//")) return end_of_line(text, at);
  if (!text.substr(at).starts_with("/*")) return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

// True for the comment that ends (`word`: "on") or begins ("off") lines that Clang's formatter does not change.
bool is_switch(std::string_view comment, const char* word) {
  const std::string text = std::string("clang-format ") + word;
  const std::string line = "// " + text;
  return comment == "/* " + text + " */" || comment == line || comment.starts_with(line + ":");
}

// Replaces `word` where it begins a statement outside of blocks, together with the blanks after it;
// `replacement` makes the new text from their number. Tokens alone decide where that is, so that it is the same before
// and after formatting.
template <typename Replacement>
std::string with_words_replaced(std::string_view text, std::string_view word, Replacement replacement) {
  std::string result;
  bool begins_statement = true, begins_line = true, is_off = false;
  int depth = 0;  // of braces
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = end_of_comment(text, at);
    if (end > at) {
      is_off = is_off ? !is_switch(text.substr(at, end - at), "on") : is_switch(text.substr(at, end - at), "off");
    } else if ((begins_line || begins_statement) && text[at] == '#') {  // the formatter breaks lines after statements
      end = end_of_line(text, at);
      begins_statement = true;
    } else if (const std::size_t after = at + word.size(); begins_statement && !is_off && depth == 0 &&
                                                           text.substr(at).starts_with(word) &&
                                                           (after == text.size() || !is_letter(text[after]))) {
      const std::size_t next = std::min(text.find_first_not_of(' ', after), text.size());
      result += replacement(next - after);
      at = end = next;
      begins_statement = begins_line = false;
    } else {
      const char c = text[at];
      end = at + 1;
      const bool is_blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
      if (c == '{') ++depth;
      if (c == '}') depth = std::max(depth - 1, 0);
      begins_statement = c == ';' || c == '}' || (begins_statement && is_blank);
      begins_line = c == '\n' || c == '\r' || (begins_line && is_blank);
    }
    result += text.substr(at, end - at);
    at = end;
  }
  return result;
}

std::string with_wide_params(std::string_view text) {
  return with_words_replaced(text, kParam, [](std::size_t blanks) {
    return std::string(kWideParam) + std::string(blanks > 3 ? blanks - 2 : std::min<std::size_t>(blanks, 1), ' ');
  });
}

std::string with_narrow_params(std::string_view text) {
  return with_words_replaced(text, kWideParam, [](std::size_t blanks) {
    return std::string(kParam) + std::string(blanks == 0 ? 0 : blanks + 2, ' ');
  });
}

// The line break that Clang's formatter gives all lines.
const char* line_break_of(std::string_view text) {
  return 2 * std::ranges::count(text, '\r') > std::ranges::count(text, '\n') ? "\r\n" : "\n";
}

std::string reformatted(const std::string& text) {
  const clang::format::FormatStyle style = pipeline_style();
  const std::vector<clang::tooling::Range> everything{{0, unsigned(text.size())}};
  auto result =
      clang::tooling::applyAllReplacements(text, clang::format::reformat(style, text, everything, "pipeline.cpp"));
  if (!result) throw InternalError("Clang's formatter: " + llvm::toString(result.takeError()));
  return std::move(*result);
}

}  // namespace

std::string formatted(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result.back() != '\n') result += line_break_of(text);
  const bool is_wide =
      text.find("input_i") != std::string_view::npos && text.find(kWideParam) == std::string_view::npos;
  if (is_wide) result = with_wide_params(result);
  // Formatting a formatted line may change it again. One round was enough for the 506 texts of the repository.
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    std::string next = reformatted(result);
    if (next == result) break;
    result = std::move(next);
  }
  return is_wide ? with_narrow_params(result) : result;
}

}  // namespace nbcc
