// Names, values and types of pair_coeff lines -> an error if lines for different types disagree. Entry point: give().
// Sets no param.
#include "bindings/lammps/plugin/given_values.h"

#include <stdexcept>

#include "bindings/lammps/plugin/interaction.h"

namespace nbcc_lammps {
namespace {

constexpr std::size_t kMaxShown = 80;  // characters of a value in a message

// 2.5 and 2.50 are equal.
bool are_equal(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto numbers = numbers_in(a);
  return numbers && numbers == numbers_in(b);
}

}  // namespace

void GivenValues::give(const std::string& name, const std::string& value, const TypeRange& types) {
  std::vector<Given>& lines = given_[name];
  std::erase_if(lines, [&types](const Given& line) { return types.contains(line.types); });
  for (const Given& line : lines)
    if (!are_equal(line.value, value))
      throw std::runtime_error(
          "'" + name + "' is the same for all types: pair_coeff " + line.types.words + " gave " +
          line.value.substr(0, kMaxShown) + ", pair_coeff " + types.words + " gives " + value.substr(0, kMaxShown) +
          "; give it in one line (`pair_coeff * *` replaces the values of all lines), or make it a table of two types");
  lines.push_back({types, value});
}

}  // namespace nbcc_lammps
