// The word that a misspelled one was probably meant to be. Entry points: nearest_word(), did_you_mean(). Tested by
// tests/unit/cli/commands/command_library_test.cpp and tests/errors.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace nbcc {

// The candidate with the fewest edits to `word`: one of a word of 3 to 6 letters, two of a longer one. "" if none is so
// near, and for words of one or two letters, which are near too many others.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

// "; did you mean 'run'?", or "" if no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace nbcc
