// Text files -> bodies. Its entry point is read_bodies().
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "examples/support/bodies.h"
#include "examples/support/failure.h"
#include "examples/support/words.h"

namespace examples {
namespace {

// The seven numbers of a body.
constexpr std::array<const char*, 7> kNames{"m", "x", "y", "z", "vx", "vy", "vz"};

// In which columns they stand, of how many.
struct Layout {
  std::array<std::size_t, 7> column{};
  std::size_t width = 0;
};
constexpr Layout kPlain{{0, 1, 2, 3, 4, 5, 6}, 7}, kWithId{{1, 2, 3, 4, 5, 6, 7}, 8};

// Of "[3]"; what else stands in brackets behind a name is its unit.
std::size_t width_in(const std::string& brackets) {
  std::size_t width = 1;
  const auto [at, error] = std::from_chars(brackets.data() + 1, brackets.data() + brackets.size(), width);
  return error == std::errc() && *at == ']' && width >= 1 && width <= 1000 ? width : 1;
}

// Of words such as "id m x[3] v[3]" or "ID Mass x y z vx vy vz"; nothing if they do not name all seven.
std::optional<Layout> layout_in(const std::vector<std::string>& words) {
  Layout layout;
  std::array<bool, 7> is_named{};
  const auto name = [&](std::size_t number, std::size_t column) {
    layout.column[number] = column;
    is_named[number] = true;
  };
  for (std::string word : words) {
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    const std::size_t bracket = word.find_first_of("[(");
    const std::size_t width = bracket == std::string::npos ? 1 : width_in(word.substr(bracket));
    word.resize(std::min(bracket, word.size()));
    if (word.empty() || word.ends_with(':')) continue;
    if (word == "mass") word = "m";
    if (width == 3 && (word == "x" || word == "v")) {
      for (std::size_t c = 0; c < 3; ++c) name((word == "x" ? 1 : 4) + c, layout.width + c);
    } else if (width == 1) {
      const auto known = std::find(kNames.begin(), kNames.end(), word);
      if (known != kNames.end()) name(std::size_t(known - kNames.begin()), layout.width);
    }
    layout.width += width;
  }
  if (std::find(is_named.begin(), is_named.end(), false) != is_named.end()) return {};
  return layout;
}

class Reader {
 public:
  void read_line(const std::string& line, int number) {
    const Line parts = split(line);
    if (parts.words.empty() && parts.comment.size() == 2 && parts.comment[0] == "G:") return read_g(parts.comment[1]);
    if (bodies_.mass.empty()) {
      const std::vector<std::string>& names = parts.words.empty() ? parts.comment : parts.words;
      if (const std::optional<Layout> found = layout_in(names)) {
        layout_ = *found;
        named_in_ = number;
        return;
      }
    }
    if (!parts.words.empty()) read_body(parts.words);
  }

  const Bodies& bodies() const { return bodies_; }

 private:
  void read_g(const std::string& word) {
    const std::optional<double> number = number_in(word);
    if (!number || !(*number > 0) || !std::isfinite(*number))
      throw std::runtime_error("G is a number above 0, not '" + word + "'");
    if (bodies_.G && *bodies_.G != *number) throw std::runtime_error("a second G, of another value");
    bodies_.G = number;
  }

  void read_body(const std::vector<std::string>& words) {
    if (bodies_.mass.empty() && layout_.width == 0) layout_ = words.size() == 8 ? kWithId : kPlain;
    if (words.size() != layout_.width) {
      throw std::runtime_error(std::to_string(words.size()) + (words.size() == 1 ? " word" : " words") +
                               ", where a body has " + std::to_string(layout_.width) +
                               (named_in_ > 0 ? " by the names in line " + std::to_string(named_in_) : ""));
    }
    // Eight numbers of which the first is no id may be anything.
    const std::optional<double> id = number_in(words[0]);
    if (named_in_ == 0 && layout_.width == 8 && id && *id != std::floor(*id))
      throw std::runtime_error("the first of eight numbers is no id; a comment can name the columns");
    std::array<double, 7> body{};
    for (std::size_t k = 0; k < 7; ++k) {
      const std::optional<double> number = number_in(words[layout_.column[k]]);
      if (!number) throw std::runtime_error("this is not a number: '" + words[layout_.column[k]] + "'");
      body[k] = *number;
    }
    bodies_.mass.push_back(body[0]);
    bodies_.x.insert(bodies_.x.end(), body.begin() + 1, body.begin() + 4);
    bodies_.v.insert(bodies_.v.end(), body.begin() + 4, body.end());
  }

  Layout layout_;     // of no width: not known yet
  int named_in_ = 0;  // the line that names the columns
  Bodies bodies_;
};

// Items of a snapshot begin with one of two magic numbers, in the byte order of either kind of machine, and a type of
// one letter.
bool is_snapshot_of_nemo(const std::string& first_line) {
  const auto is_magic = [](char one, char other) { return one == '\x92' && (other == '\x09' || other == '\x0b'); };
  return first_line.size() > 3 && (is_magic(first_line[0], first_line[1]) || is_magic(first_line[1], first_line[0])) &&
         first_line[3] == '\0';
}

}  // namespace

Bodies read_bodies(const std::string& path) {
  std::ifstream file(path);
  // A folder can be opened, but not looked into.
  if (!file || (file.peek(), file.bad())) throw UsageError("cannot read '" + path + "'");
  file.clear();
  Reader reader;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (number == 1 && is_snapshot_of_nemo(line))
      throw UsageError("'" + path + "' is a snapshot of NEMO; NEMO makes a text of it: s2a in=" + path +
                       " out=bodies.txt write=mxv rformat=%.17g");
    try {
      reader.read_line(line, number);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (reader.bodies().mass.empty()) throw std::runtime_error("'" + path + "' holds no bodies");
  return reader.bodies();
}

}  // namespace examples
