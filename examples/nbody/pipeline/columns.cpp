// Text files -> named columns. Entry point: read_columns().
#include "examples/nbody/pipeline/columns.h"

#include <charconv>
#include <fstream>
#include <stdexcept>

#include "examples/support/failure.h"
#include "examples/support/words.h"

namespace examples {
namespace {

struct Heading {
  std::vector<std::string> names;
  std::vector<int> widths;
  std::size_t numbers = 0;  // of a row
};

// "x[3]" -> x, 3. A word that is no name, such as "made by:", makes the line none.
Heading heading_in(const std::vector<std::string>& words) {
  Heading heading;
  for (const std::string& word : words) {
    const std::size_t bracket = word.find('[');
    int width = 1;
    if (bracket != std::string::npos) {
      const auto [at, error] = std::from_chars(word.data() + bracket + 1, word.data() + word.size(), width);
      if (error != std::errc() || at + 1 != word.data() + word.size() || *at != ']' || width < 1 || width > 1000)
        return {};
    }
    const std::string name = word.substr(0, bracket);
    if (name.empty() || name.find_first_of(":()'\"") != std::string::npos || number_in(name)) return {};
    heading.names.push_back(name);
    heading.widths.push_back(width);
    heading.numbers += std::size_t(width);
  }
  return heading;
}

}  // namespace

const Column* Columns::find(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : &found->second;
}

const Column& Columns::at(const std::string& name, const std::string& wanted_for) const {
  if (const Column* const found = find(name)) return *found;
  std::string names;
  for (const auto& [known, column] : by_name) names += (names.empty() ? "" : ", ") + known;
  throw UsageError("'" + file + "' has no column '" + name + "' for " + wanted_for + "; it has " + names);
}

Columns read_columns(const std::string& path) {
  std::ifstream file(path);
  if (!file || (file.peek(), file.bad())) throw UsageError("cannot read '" + path + "'");
  file.clear();
  Columns columns{.file = path};
  Heading heading;
  std::vector<std::vector<double>*> target;  // of each number of a row
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    const auto wrong = [&](const std::string& problem) {
      return std::runtime_error(path + ":" + std::to_string(number) + ": " + problem);
    };
    const Line line = split(text);
    if (columns.count == 0) {
      const std::vector<std::string>& words = line.words.empty() ? line.comment : line.words;
      if (Heading found = heading_in(words); !found.names.empty()) {
        heading = std::move(found);
        continue;
      }
    }
    if (line.words.empty()) continue;
    if (columns.count == 0) {
      if (heading.numbers != line.words.size())
        throw wrong("a row of " + std::to_string(line.words.size()) +
                    " numbers, where the names of the columns are for " + std::to_string(heading.numbers) +
                    "; the comment before it names them: # m x[3] v[3]");
      for (std::size_t k = 0; k < heading.names.size(); ++k) {
        const auto [at, is_new] = columns.by_name.try_emplace(heading.names[k], Column{heading.widths[k], {}});
        if (!is_new) throw wrong("a second column '" + heading.names[k] + "'");
        for (int c = 0; c < heading.widths[k]; ++c) target.push_back(&at->second.values);
      }
    }
    if (line.words.size() != target.size())
      throw wrong("a row of " + std::to_string(line.words.size()) + " numbers, where the first has " +
                  std::to_string(target.size()));
    for (std::size_t k = 0; k < target.size(); ++k) {
      const std::optional<double> value = number_in(line.words[k]);
      if (!value) throw wrong("this is not a number: '" + line.words[k] + "'");
      target[k]->push_back(*value);
    }
    ++columns.count;
  }
  if (columns.count == 0) throw std::runtime_error("'" + path + "' holds no particles");
  return columns;
}

}  // namespace examples
