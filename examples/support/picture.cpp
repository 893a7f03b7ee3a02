// A script of gnuplot -> a PNG file, or the script itself. Its entry point is draw().
#include "examples/support/picture.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "examples/support/failure.h"
#include "examples/support/replace_file.h"

namespace examples {
namespace {

// In single quotes, of which those inside are written as `inner`.
std::string quoted(const std::string& text, const std::string& inner) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? inner : std::string(1, c);
  return result + "'";
}

void write(const std::string& path, const std::string& picture, const std::string& script) {
  std::ofstream out(path);
  out << "set terminal pngcairo size 900,700 background '#ffffff'\nset output " << quoted(picture, "''") << '\n'
      << script;
  if (!out.flush()) throw UsageError("cannot write '" + path + "'");
}

}  // namespace

std::string draw(const std::string& path, const std::string& script) {
  const std::string file = path.substr(0, path.ends_with(".png") ? path.size() - 4 : path.size()) + ".gp";
  bool is_drawn = false;
  replace_file(path, [&](const std::string& draft) {
    write(file, draft, script);
    is_drawn = std::system(("gnuplot " + quoted(file, "'\\''") + " 2>/dev/null").c_str()) == 0;
    std::remove((is_drawn ? file : draft).c_str());
  });
  if (!is_drawn) write(file, path, script);
  return is_drawn ? path : file;
}

}  // namespace examples
