// A misspelled word and candidates -> the nearest of these. Entry point: nearest_word().
#include "compiler/text/nearest_word.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace nbcc {
namespace {

// The number of edits (insert, delete, replace, swap of neighbours) between two words (Damerau-Levenshtein distance,
// restricted).
int distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = int(i + j);
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  // Long words are not compared: the table of distances grows with the word's length.
  constexpr std::size_t kMaxLength = 24;
  if (word.size() <= 2 || word.size() > kMaxLength) return {};
  int allowed = word.size() <= 6 ? 1 : 2;
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    const int d = distance(word, candidate);
    if (d > allowed) continue;
    allowed = d - 1;
    nearest = candidate;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view nearest = nearest_word(word, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace nbcc
