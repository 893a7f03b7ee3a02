#include "examples/support/picture.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace examples {
namespace {

// In single quotes, of which those inside are written as `inner`.
std::string quoted(const std::string& text, const std::string& inner) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? inner : std::string(1, c);
  return result + "'";
}

}  // namespace

std::string draw(const std::string& path, const std::string& script) {
  const std::string file = path.substr(0, path.ends_with(".png") ? path.size() - 4 : path.size()) + ".gp";
  {
    std::ofstream out(file);
    out << "set terminal pngcairo size 900,700 background '#ffffff'\nset output " << quoted(path, "''") << '\n'
        << script;
    if (!out.flush()) throw std::runtime_error("cannot write '" + file + "'");
  }
  if (std::system(("gnuplot " + quoted(file, "'\\''") + " 2>/dev/null").c_str()) != 0) return file;
  std::remove(file.c_str());
  return path;
}

}  // namespace examples
