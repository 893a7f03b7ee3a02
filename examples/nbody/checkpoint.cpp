#include "examples/nbody/bodies.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace examples {
namespace {

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
