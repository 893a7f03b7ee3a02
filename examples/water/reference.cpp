// Files -> numbers. Its entry point is read_reference(). What the numbers mean is not looked at, but how many there
// are.
#include "examples/water/reference.h"

#include <fstream>
#include <optional>
#include <stdexcept>

#include "examples/support/failure.h"
#include "examples/support/words.h"

namespace examples {
namespace {

std::runtime_error wrong(const std::string& path, int line, const std::string& what) {
  return std::runtime_error(path + ":" + std::to_string(line) + ": " + what);
}

// Calls take(words, fail) with the words of each line that has some.
template <typename Take>
void read_lines(const std::string& path, const Take& take) {
  std::ifstream file(path);
  std::string text;
  int number = 0;
  while (std::getline(file, text)) {
    ++number;
    const std::vector<std::string> words = split(text).words;
    if (!words.empty()) take(words, [&](const std::string& what) { return wrong(path, number, what); });
  }
  if (number == 0 || !file.eof()) throw UsageError("cannot read '" + path + "'");
}

// A table of so many columns, row after row.
Numbers read_table(const std::string& path, std::size_t columns) {
  Numbers table;
  read_lines(path, [&](const std::vector<std::string>& words, const auto& fail) {
    if (words.size() != columns)
      throw fail("expected " + std::to_string(columns) + " numbers, got " + std::to_string(words.size()));
    for (const std::string& word : words) {
      const std::optional<double> number = number_in(word);
      if (!number) throw fail("this is not a number: '" + word + "'");
      table.push_back(*number);
    }
  });
  return table;
}

std::map<std::string, double> read_terms(const std::string& path) {
  std::map<std::string, double> terms;
  read_lines(path, [&](const std::vector<std::string>& words, const auto& fail) {
    const std::optional<double> number = words.size() == 2 ? number_in(words[1]) : std::nullopt;
    if (!number) throw fail("expected a name and a number");
    terms[words[0]] = *number;
  });
  return terms;
}

void read_atoms(const std::string& path, Reference& into) {
  const Numbers table = read_table(path, 5);  // x y z charge type
  for (std::size_t row = 0; row < table.size(); row += 5) {
    const bool is_oxygen = table[row + 4] == 1;
    if (is_oxygen != (row % 15 == 0)) throw std::runtime_error(path + ": the atoms are not in the order O, H, H");
    into.positions.insert(into.positions.end(), &table[row], &table[row] + 3);
    into.charges.push_back(table[row + 3]);
    into.oxygens.push_back(is_oxygen ? 1 : 0);
  }
  if (into.atoms() % 3 != 0) throw std::runtime_error(path + ": the last molecule is not whole");
}

Numbers read_vectors(const std::string& path, std::int64_t atoms) {
  Numbers table = read_table(path, 3);
  if (std::int64_t(table.size()) != 3 * atoms)
    throw std::runtime_error(path + ": expected " + std::to_string(atoms) + " rows, got " +
                             std::to_string(table.size() / 3));
  return table;
}

}  // namespace

double Reference::term(const std::string& name) const {
  const auto found = terms.find(name);
  if (found == terms.end()) throw std::runtime_error("the energies have no '" + name + "'");
  return found->second;
}

Reference read_reference(const std::string& folder) {
  Reference read;
  read_atoms(folder + "/water.txt", read);
  read.velocities = read_vectors(folder + "/vel.txt", read.atoms());
  read.forces = read_vectors(folder + "/forces.txt", read.atoms());
  read.terms = read_terms(folder + "/energies.txt");
  const Numbers run = read_table(folder + "/nve.txt", 4);
  for (std::size_t row = 0; row < run.size(); row += 4)
    read.run.push_back({std::int64_t(run[row]), run[row + 1], run[row + 2], run[row + 3]});
  return read;
}

}  // namespace examples
