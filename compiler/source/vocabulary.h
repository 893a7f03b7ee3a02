// The words of the language, and the words of C++ that are not in it: data for the diagnostics.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace nbcc {

struct ExcludedWord {
  std::string_view word;
  std::string_view what;    // name of the construct in the diagnostic
  std::string_view remedy;  // what to write instead; may be empty
  bool companion = false;   // part of another excluded construct (`case` of `switch`): reported only once
};
const ExcludedWord* find_excluded_word(std::string_view word);

enum class WordKind { Type, Role, Reduction, Value };    // Value: functions, constants and types
std::span<const std::string_view> words(WordKind kind);  // real, vec3, ...; input_i, ...; sum, ...
bool is_a(WordKind kind, std::string_view word);
// All reductions in a list, "sum, min, ... and at"; '@' in `form` is replaced by each name.
std::string all_reductions(std::string_view form, std::string_view last_joined_by);
bool is_built_in(std::string_view word);  // a function or constant of the prelude
// Functions added after the language's first version. A text that declares such a name at top level keeps its own.
struct LaterFunction {
  std::string_view name;
  std::string_view declaration = "__UNARY(@)";  // for the prelude; '@' is replaced by the name
};
std::span<const LaterFunction> later_functions();
bool is_later_function(std::string_view word);

bool is_language_word(std::string_view word);  // any word above, or a keyword

// The message about an operator of C++ that is not in the language, and what to write instead.
std::string refused_operator(std::string_view op);

// The form of a call to a built-in function: "pow(x, y), of two numbers". Empty for other names.
std::string signature(std::string_view built_in);

// What to write for a word that people bring from other programs and that is one expression here: "; the square of a
// length is dot(d, d)" for sqnorm, "; an array of 64 numbers is real x[64]" for vec64. Empty for other words.
std::string remedy_of(std::string_view word);

// "; did you mean 'sqrt'?", with the word of this kind nearest in spelling to `word`; `otherwise` if none is near.
std::string did_you_mean(std::string_view word, WordKind kind, std::string otherwise = "");

}  // namespace nbcc
