// Every mistake in tests/errors says exactly what its first lines expect, no more and no less; and what no file can
// hold is refused in time.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/cpu_jit.h"
#include "tests/support/folders.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using Lines = std::vector<std::string>;

std::vector<std::filesystem::path> mistakes() {
  std::vector<std::filesystem::path> result;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/tests/errors"))
    if (entry.path().extension() == ".pipe") result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

// Errors and warnings as "line:column: severity: message"; notes only explain them.
Lines said_of(const Source& source) {
  std::vector<Diagnostic> diagnostics;
  try {
    parse(source, &diagnostics);
  } catch (const CompileError& error) {
    diagnostics = error.diagnostics;
  }
  Lines result;
  for (const Diagnostic& d : diagnostics) {
    if (d.severity == Severity::Note) continue;
    const char* severity = d.severity == Severity::Error ? "error" : "warning";
    result.push_back(std::to_string(d.where.line) + ":" + std::to_string(d.where.column) + ": " + severity + ": " +
                     d.message);
  }
  return result;
}

Lines said_of(const std::string& text) { return said_of(Source{"p.pipe", text}); }

int llvm_major() { return std::stoi(make_cpu_toolchain()->identity().substr(std::string("clang ").size())); }

// Lines "// expect: TEXT". Lines "// expect from LLVM 21: TEXT" replace them where Clang's own choice differs from that
// version on.
Lines expected_of(const Source& source) {
  const std::string mark = "// expect: ", mark_from = "// expect from LLVM ";
  Lines result, newer;
  for (int line = 1;; ++line) {
    const std::string text(source.line(line));
    if (text.starts_with(mark)) {
      result.push_back(text.substr(mark.size()));
    } else if (text.starts_with(mark_from)) {
      std::size_t digits = 0;
      const int from = std::stoi(text.substr(mark_from.size()), &digits);
      if (llvm_major() >= from) newer.push_back(text.substr(mark_from.size() + digits + 2));
    } else {
      return newer.empty() ? result : newer;
    }
  }
}

class mistake : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(mistake, is_said_exactly) {
  const Source source = read_source(GetParam().string());
  const Lines expected = expected_of(source);
  ASSERT_FALSE(expected.empty()) << "the first line must be '// expect: ...'";
  const Lines said = said_of(source);
  EXPECT_EQ(said, expected);
  for (const std::string& line : said) {
    EXPECT_FALSE(line.starts_with("0:")) << "without a line: " << line;
    EXPECT_EQ(line.find(":0: "), std::string::npos) << "without a column: " << line;
  }
}

INSTANTIATE_TEST_SUITE_P(errors, mistake, testing::ValuesIn(mistakes()),
                         [](const auto& info) { return info.param.stem().string(); });

TEST(errors, are_many) { EXPECT_GE(mistakes().size(), 50u); }

// ---- what is too large, too deep or no text: an error, in time ----

std::string times(int n, const std::string& text) {
  std::string result;
  for (int k = 0; k < n; ++k) result += text;
  return result;
}

std::string first_said_in_time(const std::string& text) {
  const std::clock_t start = std::clock();  // processor time: the machine may be busy with others
  const Lines said = said_of(text);
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
  return said.empty() ? "" : said[0];
}

// A caret has something to point at, in a text of nothing as well.
TEST(errors, nothing_has_a_place) {
  const std::string none = "error: there is no pipeline in this file: it has no statement";
  EXPECT_EQ(first_said_in_time(""), "1:1: " + none);
  EXPECT_EQ(first_said_in_time("\n\n"), "3:1: " + none);
  EXPECT_EQ(first_said_in_time("// only this"), "1:13: " + none);
  EXPECT_EQ(first_said_in_time("/* and\n this */ "), "2:10: " + none);
  EXPECT_EQ(first_said_in_time("input_i real x; /* no output */ real y = x; // here\n").substr(0, 12), "1:44: error:");
}

const std::string kEnd = "input_j real xj;\noutput(sum) real s;\ns += xj;\n";

TEST(errors, parentheses_10000_deep) {
  EXPECT_EQ(first_said_in_time("real a = " + times(10'000, "(") + "1" + times(10'000, ")") + ";\n" + kEnd),
            "1:210: error: brackets are nested deeper than 200 levels; break the expression up with variables");
}

TEST(errors, braces_10000_deep) {
  EXPECT_EQ(first_said_in_time(times(10'000, "{") + times(10'000, "}") + kEnd),
            "1:201: error: brackets are nested deeper than 200 levels; break the expression up with variables");
}

TEST(errors, minus_signs_30000) {
  EXPECT_EQ(first_said_in_time("real a = " + times(30'000, "- ") + "1;\n" + kEnd),
            "1:40004: error: this statement has more than 20000 tokens; break it up with variables");
}

TEST(errors, else_5000_times) {
  EXPECT_EQ(first_said_in_time("real a;\nif (1 > 2) a = 1;" + times(5'000, "else if (1 > 2) a = 2;\n") + kEnd),
            "1002:1: error: this if has more than 1000 branches");
}

TEST(errors, file_of_10_megabytes) {
  EXPECT_EQ(first_said_in_time(times(10 << 20, " ")),
            "1:262145: error: the file has 10485760 bytes; a pipeline may have 262144 at most");
}

TEST(errors, nul_byte) {
  EXPECT_EQ(first_said_in_time("real a;\n" + std::string(1, '\0')),
            "2:1: error: this is no text: byte 0x00 is a control character");
}

TEST(errors, program_in_place_of_a_pipeline) {
  EXPECT_EQ(first_said_in_time("\x7f"
                               "ELF\x02\x01\x01"),
            "1:1: error: this is no text: byte 0x7f is a control character");
}

TEST(errors, old_line_ends) {
  EXPECT_EQ(first_said_in_time("// a\r{"),
            "1:5: error: a carriage return without a line feed; end lines as Unix or Windows does");
}

TEST(errors, byte_that_is_no_utf8) { EXPECT_EQ(first_said_in_time("real \xff;\n").substr(0, 11), "1:6: error:"); }

TEST(errors, number_of_40000_digits) {
  EXPECT_EQ(first_said_in_time("real a = 0." + times(40'000, "1") + ";\n" + kEnd),
            "1:10: error: this number has 40002 characters; a number may have 1000 at most");
}

TEST(errors, macro_of_40000_digits) {
  EXPECT_EQ(first_said_in_time("#define A 0." + times(40'000, "1") + "\nreal a = A;\n" + kEnd),
            "1:1: error: #define A: a number of 40002 characters; it may have 1000 at most");
}

// What Clang passes over behind the first mistake holds the end of the block.
TEST(errors, block_whose_end_is_passed_over) {
  EXPECT_EQ(first_said_in_time(kEnd + "if (xj > 1) { if constexpr }\n"), "4:28: error: expected '(' after 'if'");
}

TEST(errors, mistakes_in_10000_lines) {
  EXPECT_EQ(said_of(kEnd + times(10'000, "s = 1;\n")).size(), 20u);
  EXPECT_LE(said_of(kEnd + times(10'000, "s += yj;\n")).size(), 21u);
}

TEST(errors, warnings_in_5000_lines) {
  const Lines said = said_of(kEnd + times(5'000, "s += 7 / 2;\n"));
  EXPECT_EQ(said.size(), 100u);
}

// Each is within the limits of the prescan and would be slow if a pass were not linear.
TEST(large, many_ifs_over_many_variables) {
  std::string text = kEnd;
  for (int k = 0; k < 2'000; ++k) text += "real v" + std::to_string(k) + " = xj;\n";
  for (int k = 0; k < 2'000; ++k) text += "if (xj > 1) v" + std::to_string(k) + " = 2;\n";
  EXPECT_EQ(first_said_in_time(text), "");
}

TEST(large, functions_that_call_each_other_twice) {
  std::string text = "real f0(real x) { return x + 1; }\n";
  for (int k = 1; k < 30; ++k) {
    const std::string before = "f" + std::to_string(k - 1);
    text += "real f" + std::to_string(k) + "(real x) { return " + before + "(x) * " + before + "(x + 1); }\n";
  }
  EXPECT_NE(first_said_in_time(text + kEnd + "s += f29(xj);\n").find("the pipeline unrolls to more than"),
            std::string::npos);
}

TEST(large, ifs_nested_in_one_another_without_braces) {
  EXPECT_EQ(first_said_in_time(kEnd + times(3'000, "if (xj > 1) ") + "s += 1;\n"), "");
}

TEST(large, sum_of_5000_terms) { EXPECT_EQ(first_said_in_time(kEnd + "s += xj" + times(5'000, " + xj") + ";\n"), ""); }

TEST(large, conditional_2000_deep) {
  EXPECT_EQ(first_said_in_time(kEnd + "s += " + times(2'000, "xj > 1 ? 2 : ") + "3;\n"), "");
}

// ... and each of which is looked up by the last.
TEST(large, lookups_1500_deep) {
  const std::string table = kEnd + "param real t[4] = {3, 1, 2, 0};\nreal v = xj;\n";
  const std::string function = "real f(real v) { return t[int(v)]; }\n";
  for (const char* const body : {"v = t[int(v)];", "v = f(v);", "if (v > 1) v = t[int(v)];", "v = table(t, v);"}) {
    const bool calls = std::string(body).find('f') == 4;
    const std::string text = table + (calls ? function : "") + "for (int k = 0; k < 1500; ++k) " + body + "\n";
    EXPECT_EQ(first_said_in_time(text + "s += v;\n"), "") << body;
    EXPECT_EQ(first_said_in_time(text + "s += grad(v * xj, xj);\n"), "") << body;
  }
}

// ---- what is no file ----

TEST(errors, missing_file) { EXPECT_THROW(read_source("/nowhere/gravity.pipe"), SourceUnreadable); }

TEST(errors, folder) {
  const test::ScratchFolder folder;
  EXPECT_THROW(read_source(folder.path("")), SourceUnreadable);
}

}  // namespace
}  // namespace nbcc
