// The words of the language, and those of C++ that it leaves out: data for the diagnostics.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace nbcc {

struct ExcludedWord {
  std::string_view word;
  std::string_view what;    // how the diagnostic calls the construct
  std::string_view remedy;  // what to write in its place; may be empty
  bool companion = false;   // comes with another excluded word (`case` with `switch`), which says it all
};
const ExcludedWord* find_excluded_word(std::string_view word);

enum class WordKind { Type, Role, Reduction, Value };    // Value: functions, constants and types
std::span<const std::string_view> words(WordKind kind);  // real, vec3, ...; input_i, ...; sum, ...
bool is_a(WordKind kind, std::string_view word);
// "sum, min, ... and at"; '@' in the form stands for each name.
std::string all_reductions(std::string_view form, std::string_view last_joined_by);
bool is_built_in(std::string_view word);  // a function or constant of the prelude
// Functions that the language did not have at first: a text that declares such a name at its top level means its own.
struct LaterFunction {
  std::string_view name;
  std::string_view declaration = "__UNARY(@)";  // in the prelude; '@' stands for the name
};
std::span<const LaterFunction> later_functions();
bool is_later_function(std::string_view word);

bool is_language_word(std::string_view word);  // any of these, or a keyword

// What is said of an operator of C++ that the language leaves out, and what to write in its place.
std::string refused_operator(std::string_view op);

// How a built-in function is written: "pow(x, y), of two numbers". Empty if it is none.
std::string signature(std::string_view built_in);

// "; did you mean 'sqrt'?" for the nearest of the words of this kind, which can stand where `word` was found; else
// `otherwise`.
std::string did_you_mean(std::string_view word, WordKind kind, std::string otherwise = "");

}  // namespace nbcc
