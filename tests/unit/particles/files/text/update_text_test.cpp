// `nbcc run --update` on random text tables: what is not an output stays, byte by byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "particles/files/particle_files.h"
#include "tests/support/random_source.h"
#include "tests/support/update_cases.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;

struct TextCase {
  std::string name, text;
  std::vector<std::string> words_of_header;
  int output_column = -1;  // of the output of an earlier run, which an update replaces; -1: there is none
};

std::string joined(const std::vector<std::string>& words, const std::string& gap) {
  std::string text;
  for (std::size_t k = 0; k < words.size(); ++k) text += (k > 0 ? gap : "") + words[k];
  return text;
}

// A number as people and programs write it, of the kind that its column is of. Here and below each draw is a statement
// of its own: every compiler makes the same texts.
std::string random_word(RandomSource& random, int kind) {
  const auto digits = [&](int count) {
    std::string text(1, char('1' + random.below(9)));
    while (int(text.size()) < count) text += char('0' + random.below(10));
    return text;
  };
  const std::string sign = random.pick<std::string>({"", "", "-", "+"});
  switch (kind) {
    case 0:
      return sign + digits(18);
    case 1: {
      const std::string zeros(std::size_t(random.between(1, 4)), '0');
      return zeros + digits(random.between(1, 3));
    }
    case 2:
      return sign + digits(random.between(16, 18));
    case 3:
      return random.pick<std::string>(
          {"1e3", "1E+03", ".5", "5.", "1.50", "-0", "0.10", "1.0D+00", "nan", "inf", "-inf"});
    case 4: {
      const std::string whole = digits(random.between(1, 20));
      return sign + whole + "." + digits(random.between(1, 20));
    }
    case 5:
      return random.pick<std::string>({"H", "O", "Na", "\"Cl\""});
    default:
      return sign + digits(random.between(1, 5));
  }
}

std::string random_comment(RandomSource& random) {
  return random.pick<std::string>({"#", "# from the run of May", "# time: 3.50", "#units:kpc", "# device: the big one",
                                   "# command: my own", "## a, b, c", "", "   ", "# made by: hand"});
}

// x is among the columns; the others are numbers of many kinds and names.
TextCase random_text(RandomSource& random) {
  const std::string ending = random.pick<std::string>({"txt", "csv", "csv", "tsv", "dat"});
  const bool csv = ending == "csv", row_of_names = csv || ending == "tsv" || random.chance(20);
  const std::string gap = csv               ? random.pick<std::string>({",", ", "})
                          : ending == "tsv" ? "\t"
                                            : random.pick<std::string>({" ", "\t", "   "});
  const std::string end = random.pick<std::string>({"\n", "\n", "\r\n"});
  const std::string quote = row_of_names && random.chance(20) ? "\"" : "";
  std::vector<std::string> header;
  std::vector<int> kinds;
  const auto add = [&](const std::string& name, int kind, int count) {
    if (count == 1 || (!row_of_names && random.chance(50))) {
      header.push_back(quote + name + (count > 1 ? "[" + std::to_string(count) + "]" : "") + quote);
    } else {
      const bool cartesian = name == "x" && random.chance(70);
      for (int c = 0; c < count; ++c)
        header.push_back(quote + (cartesian ? std::string(1, "xyz"[c]) : name + "[" + std::to_string(c) + "]") + quote);
    }
    for (int c = 0; c < count; ++c) kinds.push_back(kind);
  };
  const int others = random.below(4), where = random.between(0, others);
  const std::vector<std::string> names = {"tag", "m", "spin", "label.of-it", "w"};
  for (int k = 0; k <= others; ++k) {
    if (k == where) add("x", 6, 3);
    if (k == others) continue;
    const int kind = random.below(7), count = random.chance(25) ? 2 : 1;
    add(names[std::size_t(k)], kind, count);
  }
  if (random.chance(30)) add("id:int64", 0, 1);
  TextCase made;
  if (random.chance(30)) {
    made.output_column = int(kinds.size());
    add("rho", 4, 1);
  }
  made.name = "a." + ending;
  if (random.chance(10)) made.text = "\xef\xbb\xbf";
  for (int k = random.below(4); k > 0; --k) made.text += random_comment(random) + end;
  made.text += (row_of_names ? "" : "# ") + joined(header, row_of_names ? gap : " ") + end;
  const int rows = random.pick<int>({0, 1, 2, 5, 9});
  for (int row = 0; row < rows; ++row) {
    if (random.chance(10)) made.text += random_comment(random) + end;
    std::vector<std::string> words;
    for (const int kind : kinds) words.push_back(random_word(random, kind));
    made.text += random.pick<std::string>({"", "", "", " "}) + joined(words, gap);
    made.text += random.pick<std::string>({"", "", "", " ", "  # the brightest"});
    if (row + 1 < rows || random.chance(80)) made.text += end;
  }
  made.words_of_header = header;
  return made;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

// Words and, between, before and behind them, what is no word: gaps are even, words odd.
std::vector<std::string> taken_apart(const std::string& line) {
  std::vector<std::string> parts(1);
  for (const char c : line) {
    const bool is_gap = std::string_view(" \t\r\n,").find(c) != std::string_view::npos;
    if (is_gap == (parts.size() % 2 == 0)) parts.emplace_back();
    parts.back() += c;
  }
  if (parts.size() % 2 == 0) parts.emplace_back();
  return parts;
}

// Every word of the old line is in the new one, in order and with the gap before it, but for the words of outputs.
void expect_kept(const std::string& before, const std::string& after, int replaced, bool is_header) {
  const std::size_t hash = is_header ? std::string::npos : before.find('#');
  const std::string behind = hash == std::string::npos ? "" : before.substr(hash);
  ASSERT_TRUE(after.ends_with(behind)) << before << after;
  const auto old_parts = taken_apart(before.substr(0, before.size() - behind.size()));
  const auto new_parts = taken_apart(after.substr(0, after.size() - behind.size()));
  ASSERT_GE(new_parts.size(), old_parts.size()) << before << after;
  for (std::size_t k = 0; k + 1 < old_parts.size(); ++k)
    if (int(k) != replaced) {
      EXPECT_EQ(new_parts[k], old_parts[k]) << before << after;
    }
  EXPECT_EQ(new_parts.back(), old_parts.back()) << before << after;
}

bool is_blank_or_comment(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first == std::string::npos || line[first] == '#';
}

// The lines that an update may put in front: the record of the run.
bool is_record(const std::string& line) {
  for (const char* key :
       {"# made by: nbcc ", "# command: nbcc ", "# command: ", "# pipeline: update", "# pipeline sha256: ",
        "# device: ", "# instruction set: ", "# arithmetic: ", "# precision: ", "# method: ", "# param "})
    if (line.starts_with(key)) return true;
  return false;
}

void expect_all_kept(const TextCase& made, const std::string& after) {
  std::vector<std::string> old_lines = lines_of(made.text), new_lines = lines_of(after);
  for (std::string* text : {&old_lines.front(), &new_lines.front()})
    if (made.text.starts_with("\xef\xbb\xbf") && text->starts_with("\xef\xbb\xbf")) text->erase(0, 3);
  ASSERT_GE(new_lines.size(), old_lines.size()) << after;
  const std::size_t record = new_lines.size() - old_lines.size();
  for (std::size_t k = 0; k < record; ++k) EXPECT_TRUE(is_record(new_lines[k])) << new_lines[k];
  const std::string header = made.words_of_header[0];
  bool headed = false;
  for (std::size_t k = 0; k < old_lines.size(); ++k) {
    const std::string &before = old_lines[k], &now = new_lines[record + k];
    const bool is_header = !headed && before.find(joined(made.words_of_header, "").substr(0, 1)) != std::string::npos &&
                           taken_apart(before).size() >= 2 * made.words_of_header.size() &&
                           before.find(made.words_of_header.back()) != std::string::npos &&
                           before.find(header) != std::string::npos;
    if (is_header) {
      headed = true;
      expect_kept(before, now, -1, true);
    } else if (is_blank_or_comment(before)) {
      EXPECT_EQ(now, before);
    } else {
      expect_kept(before, now, made.output_column < 0 ? -1 : 2 * made.output_column + 1, false);
    }
  }
  EXPECT_TRUE(headed);
}

TEST(UpdateText, KeepsWhatIsNoOutput) {
  const UpdateShell shell;
  int made = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomSource random(seed);
    const TextCase one = random_text(random);
    SCOPED_TRACE(one.text);
    shell.write(one.name, one.text);
    if (!shell.update(one.name)) continue;
    ++made;
    const std::string after = shell.read(one.name);
    expect_all_kept(one, after);
    // What was written is what a run finds, and an update of an updated file changes nothing.
    shell.write(one.name, one.text);
    ASSERT_EQ(shell.nbcc("run update.pipe --precision double --i " + one.name + " -o out.npz --force").code, 0);
    shell.write(one.name, after);
    const ParticleTable results = read_particles(shell.path("out.npz"));
    ReadOptions some;
    some.choice.all = false;
    some.choice.names = {"x", "rho", "near", "acc"};
    const ParticleTable updated = read_particles(shell.path(one.name), some);
    for (const char* name : {"near", "rho", "acc"}) {
      ASSERT_TRUE(updated.find(name)) << after;
      EXPECT_EQ(convert(*updated.find(name), ElementType::Double).data,
                convert(*results.find(name), ElementType::Double).data)
          << name;
    }
    EXPECT_TRUE(shell.update(one.name));
    EXPECT_EQ(shell.read(one.name), after);
    std::filesystem::remove(shell.path("out.npz"));
    if (HasFailure()) return;
  }
  EXPECT_GE(made, 36);
}

// Where a text becomes another format its whole numbers stay what they are, or it is refused.
TEST(UpdateText, WholeNumbersStayInOtherFormats) {
  const UpdateShell shell;
  shell.write("a.csv", "tag,x,y,z,m\n-123456789012345678,0,0,0,1.5\n+0009007199254740993,1,0,0,2\n");
  for (const char* name : {"b.npz", "b.h5", "b.txt"}) {
    ASSERT_TRUE(shell.update("a.csv", std::string("-o ") + name));
    const ParticleTable table = read_particles(shell.path(name));
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(table.find("tag")->data),
              (std::vector<std::int64_t>{-123456789012345678, 9007199254740993}));
    EXPECT_EQ(table.find("m")->type(), ElementType::Double);
  }
  for (const char* other : {"123456789012345678901", "0.5"}) {
    shell.write("a.csv", std::string("tag,x,y,z\n123456789012345678,0,0,0\n") + other + ",1,0,0\n");
    EXPECT_FALSE(shell.update("a.csv", "-o c.npz"));
    EXPECT_TRUE(shell.update("a.csv", "-o c.csv --force"));
    std::filesystem::remove(shell.path("c.csv"));
  }
  shell.write("a.csv", "tag,x,y,z\n100000000000000000000,0,0,0\n0.5,1,0,0\n");
  EXPECT_TRUE(shell.update("a.csv", "-o c.npz"));
}

// RFC 4180: a row of names and rows of numbers. What an earlier version put above them goes.
TEST(UpdateText, CsvGetsNeitherCommentsNorTypes) {
  const UpdateShell shell;
  for (const char* above : {"", "# made by: nbcc 0.0.9\n# command: nbcc run\n# pipeline: update\n# device: cpu\n"}) {
    shell.write("a.csv", std::string(above) + "id,x,y,z\n5,0,0,0\n6,1,0,0\n");
    ASSERT_TRUE(shell.update("a.csv"));
    const std::string text = shell.read("a.csv");
    EXPECT_EQ(text.find('#'), std::string::npos) << text;
    EXPECT_TRUE(text.starts_with("id,x,y,z,near,rho,acc[0],acc[1],acc[2]\n5,0,0,0,2,")) << text;
    EXPECT_TRUE(shell.update("a.csv"));
    EXPECT_EQ(shell.read("a.csv"), text);
  }
  ASSERT_EQ(shell.nbcc("run update.pipe --i a.csv -o b.csv --single-output").code, 0);
  EXPECT_TRUE(shell.read("b.csv").starts_with("id,near,rho,acc[0],acc[1],acc[2]\n5,2,")) << shell.read("b.csv");
}

// A row has the output's numbers where a column of that name was, and nothing is written where they would not fit.
TEST(UpdateText, ColumnsOfAnotherShapeAreRefused) {
  const UpdateShell shell;
  shell.write("a.txt", "# x[3] acc\n0 0 0 1\n");
  EXPECT_FALSE(shell.update("a.txt"));
}

}  // namespace
}  // namespace nbcc::test
