#include "examples/nbody/bodies.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
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

constexpr char kMagic[8] = {'n', 'b', 'o', 'd', 'y', ' ', '1', '\n'};

template <typename T>
void put(std::ostream& out, const T* values, std::size_t count) {
  out.write(reinterpret_cast<const char*>(values), std::streamsize(sizeof(T) * count));
}
template <typename T>
void get(std::istream& in, T* values, std::size_t count) {
  in.read(reinterpret_cast<char*>(values), std::streamsize(sizeof(T) * count));
}

}  // namespace

Bodies read_bodies(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read '" + path + "'");
  std::map<std::string, int> columns{{"m", 0}, {"x", 1}, {"v", 4}};
  Bodies bodies;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with('#')) {
      if (const auto named = columns_of(line); !named.empty()) columns = named;
      continue;
    }
    std::istringstream words(line);
    std::vector<double> row;
    for (double x; words >> x;) row.push_back(x);
    if (row.empty() && words.eof()) continue;
    const auto needed = std::size_t(std::max({columns["m"] + 1, columns["x"] + 3, columns["v"] + 3}));
    if (!words.eof() || row.size() < needed) {
      throw std::runtime_error(
          path + ":" + std::to_string(number) + ": " +
          (words.eof() ? std::to_string(row.size()) + " numbers, where a body has " + std::to_string(needed)
                       : "this is not a number"));
    }
    const double* const at = row.data();
    bodies.mass.push_back(at[columns["m"]]);
    bodies.x.insert(bodies.x.end(), at + columns["x"], at + columns["x"] + 3);
    bodies.v.insert(bodies.v.end(), at + columns["v"], at + columns["v"] + 3);
  }
  if (bodies.mass.empty()) throw std::runtime_error("'" + path + "' holds no bodies");
  return bodies;
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

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  const std::string draft = path + ".new";
  {
    std::ofstream out(draft, std::ios::binary);
    const std::int64_t count = checkpoint.bodies.count();
    put(out, kMagic, sizeof kMagic);
    put(out, &count, 1);
    put(out, &checkpoint.step, 1);
    put(out, &checkpoint.dt, 1);
    for (const std::vector<double>* all :
         {&checkpoint.bodies.mass, &checkpoint.bodies.x, &checkpoint.bodies.v, &checkpoint.acceleration})
      put(out, all->data(), all->size());
    if (!out.flush()) throw std::runtime_error("cannot write '" + draft + "'");
  }
  std::filesystem::rename(draft, path);
}

Checkpoint read_checkpoint(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read '" + path + "'");
  char magic[sizeof kMagic] = {};
  std::int64_t count = 0;
  Checkpoint checkpoint;
  get(in, magic, sizeof magic);
  get(in, &count, 1);
  get(in, &checkpoint.step, 1);
  get(in, &checkpoint.dt, 1);
  const std::uintmax_t head = sizeof magic + 3 * 8, bytes = std::filesystem::file_size(path);
  if (!in || std::memcmp(magic, kMagic, sizeof magic) != 0 || count < 1 ||
      bytes != head + 10 * sizeof(double) * std::uintmax_t(count))
    throw std::runtime_error("'" + path + "' is no checkpoint of this program, or not a whole one");
  checkpoint.bodies.mass.resize(std::size_t(count));
  for (std::vector<double>* all : {&checkpoint.bodies.x, &checkpoint.bodies.v, &checkpoint.acceleration})
    all->resize(3 * std::size_t(count));
  for (std::vector<double>* all :
       {&checkpoint.bodies.mass, &checkpoint.bodies.x, &checkpoint.bodies.v, &checkpoint.acceleration})
    get(in, all->data(), all->size());
  if (!in) throw std::runtime_error("cannot read '" + path + "'");
  return checkpoint;
}

}  // namespace examples
