// Text files -> bodies, and back. Its doors are read_bodies() and write_bodies(). It knows no other formats.
#include "examples/support/bodies.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace examples {
namespace {

// Name -> first column, of a line such as "# id m x[3] v[3]"; empty if it names none.
std::map<std::string, int> columns_of(const std::string& comment) {
  std::map<std::string, int> columns;
  std::istringstream words(comment.substr(1));
  int next = 0;
  for (std::string word; words >> word;) {
    int width = 1;
    if (const std::size_t bracket = word.find('['); bracket != std::string::npos) {
      width = std::atoi(word.c_str() + bracket + 1);
      word.resize(bracket);
    }
    columns[word] = next;
    next += width;
  }
  return columns.count("m") && columns.count("x") && columns.count("v") ? columns : std::map<std::string, int>();
}

}  // namespace

Bodies read_bodies(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read '" + path + "'");
  const std::map<std::string, int> plain{{"m", 0}, {"x", 1}, {"v", 4}}, with_id{{"m", 1}, {"x", 2}, {"v", 5}};
  std::map<std::string, int> named;
  Bodies bodies;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with('#')) {
      if (const auto columns = columns_of(line); !columns.empty()) named = columns;
      continue;
    }
    std::istringstream words(line);
    std::vector<double> row;
    for (double x; words >> x;) row.push_back(x);
    if (row.empty() && words.eof()) continue;
    const std::map<std::string, int>& columns = !named.empty() ? named : row.size() == 8 ? with_id : plain;
    const int m = columns.at("m"), x = columns.at("x"), v = columns.at("v");
    const auto needed = std::size_t(std::max({m + 1, x + 3, v + 3}));
    if (!words.eof() || row.size() < needed) {
      throw std::runtime_error(
          path + ":" + std::to_string(number) + ": " +
          (words.eof() ? std::to_string(row.size()) + " numbers, where a body has " + std::to_string(needed)
                       : "this is not a number"));
    }
    const double* const at = row.data();
    bodies.mass.push_back(at[m]);
    bodies.x.insert(bodies.x.end(), at + x, at + x + 3);
    bodies.v.insert(bodies.v.end(), at + v, at + v + 3);
  }
  if (bodies.mass.empty()) throw std::runtime_error("'" + path + "' holds no bodies");
  return bodies;
}

void write_bodies(const std::string& path, const Bodies& bodies) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (!file) throw std::runtime_error("cannot write '" + path + "'");
  std::fprintf(file, "# m x[3] v[3]\n");
  for (std::size_t k = 0; k < bodies.mass.size(); ++k) {
    const double *const x = &bodies.x[3 * k], *const v = &bodies.v[3 * k];
    std::fprintf(file, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", bodies.mass[k], x[0], x[1], x[2], v[0], v[1],
                 v[2]);
  }
  const bool failed = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || failed) throw std::runtime_error("cannot write '" + path + "'");
}

void rest_in_the_origin(Bodies& bodies) {
  for (std::vector<double>* field : {&bodies.x, &bodies.v}) {
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0, mass = 0;
      for (std::size_t k = 0; k < bodies.mass.size(); ++k) {
        sum += bodies.mass[k] * (*field)[3 * k + c];
        mass += bodies.mass[k];
      }
      for (std::size_t k = 0; k < bodies.mass.size(); ++k) (*field)[3 * k + c] -= sum / mass;
    }
  }
}

}  // namespace examples
