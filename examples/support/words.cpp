// Lines -> words -> numbers. Entry points: split(), number_in().
#include "examples/support/words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace examples {
namespace {

std::vector<std::string> words_of(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

Line split(const std::string& line) {
  // Some editors mark the beginning of a file.
  const std::size_t begin = line.starts_with("\xef\xbb\xbf") ? 3 : 0, end = line.find_first_of("#%!");
  if (end == std::string::npos) return {words_of(line.substr(begin)), {}};
  return {words_of(line.substr(begin, end - begin)), words_of(line.substr(end + 1))};
}

std::optional<double> number_in(std::string word) {
  if (word.starts_with('+')) word.erase(0, 1);
  if (const std::size_t exponent = word.find_first_of("dD"); exponent != std::string::npos) word[exponent] = 'e';
  double number = 0;
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data(), end, number);
  // Both too large and too small are out of range, but the latter is as good as 0.
  if (error == std::errc::result_out_of_range && at == end && word.find("e-") != std::string::npos) return 0.0;
  if (error != std::errc() || at != end || !std::isfinite(number)) return {};
  return number;
}

}  // namespace examples
