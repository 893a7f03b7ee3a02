// A pipeline's text -> formatted text, by Clang's formatter. Entry point: formatted(). The style is that of pipelines/.
#include "compiler/editing/format.h"

#include <cctype>

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

// The first character after the comment that begins at `at`; `at` if none does.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  const bool is_line = text.substr(at).starts_with("//");
  if (!is_line && !text.substr(at).starts_with("/*")) return at;
  const std::size_t end = is_line ? text.find('\n', at) : text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : is_line ? end : end + 2;
}

// Replaces the word where it begins a statement.
std::string with_words_replaced(std::string_view text, std::string_view word, std::string_view replacement,
                                std::size_t& count) {
  std::string result;
  bool begins_statement = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t after = at + word.size();
    if (const std::size_t end = end_of_comment(text, at); end > at) {
      result += text.substr(at, end - at);
      at = end;
    } else if (begins_statement && text.substr(at).starts_with(word) && after < text.size() &&
               !is_letter(text[after])) {
      result += replacement;
      at = after;
      ++count;
      begins_statement = false;
    } else {
      const char c = text[at++];
      result += c;
      const bool is_blank = c == ' ' || c == '\t' || c == '\r';
      begins_statement = c == '\n' || c == ';' || (begins_statement && is_blank);
    }
  }
  return result;
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
  std::size_t widened = 0, restored = 0;
  std::string result(text);
  if (text.find("input_i") != std::string_view::npos && text.find(kWideParam) == std::string_view::npos)
    result = with_words_replaced(text, kParam, kWideParam, widened);
  // Formatting a formatted line may change it again. One round was enough for the 506 texts of the repository.
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    std::string next = reformatted(result);
    if (next == result) break;
    result = std::move(next);
  }
  if (widened > 0) result = with_words_replaced(result, kWideParam, "param  ", restored);
  if (widened != restored) throw InternalError("the formatter has moved a declaration of a param");
  if (!result.empty() && result.back() != '\n') result += '\n';
  return result;
}

}  // namespace nbcc
