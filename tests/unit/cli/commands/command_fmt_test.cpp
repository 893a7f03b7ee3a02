// nbcc fmt: files, standard input, --check and the exit codes. The format itself: compiler/editing/format_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/command.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kUgly = "input_i   real xi;\nreal a=1;\n";
constexpr const char* kFormatted = "input_i real xi;\nreal a = 1;\n";

TEST(CommandFmt, FilesAreRewritten) {
  const Shell shell;
  shell.write("ugly.pipe", kUgly);
  shell.write("tidy.pipe", kFormatted);
  const auto before = std::filesystem::last_write_time(shell.path("tidy.pipe"));
  const Outcome check = shell.nbcc("fmt --check tidy.pipe ugly.pipe");
  EXPECT_EQ(check.code, 1);
  EXPECT_EQ(check.err, "ugly.pipe is not in the format of `nbcc fmt`\n");
  EXPECT_EQ(shell.read("ugly.pipe"), kUgly);
  const Outcome outcome = shell.nbcc("fmt ugly.pipe tidy.pipe");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out + outcome.err, IsEmpty());
  EXPECT_EQ(shell.read("ugly.pipe"), kFormatted);
  EXPECT_EQ(std::filesystem::last_write_time(shell.path("tidy.pipe")), before);
  EXPECT_EQ(shell.nbcc("fmt --check tidy.pipe ugly.pipe").code, 0);
}

TEST(CommandFmt, StandardInputIsWrittenToStandardOutput) {
  const Shell shell;
  shell.write("ugly.pipe", kUgly);
  EXPECT_EQ(shell.line("\"$nbcc\" fmt - < ugly.pipe").out, kFormatted);
  EXPECT_EQ(shell.line("\"$nbcc\" fmt --check - < ugly.pipe").code, 1);
  EXPECT_EQ(shell.line("\"$nbcc\" fmt - < /dev/null").out, "");
}

TEST(CommandFmt, WhatIsNoTextIsRefused) {
  const Shell shell;
  shell.write("binary.pipe", std::string("real a;\0", 8));
  for (const auto& [words, message] : {std::pair("fmt missing.pipe", "cannot read missing.pipe"),
                                       {"fmt .", "cannot read ."},
                                       {"fmt binary.pipe", "binary.pipe is no text: it contains a zero byte"},
                                       {"fmt - < /dev/zero", "standard input has more than 1048576 bytes"},
                                       {"fmt", "FILE"}}) {
    const Outcome outcome = shell.nbcc(words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << words;
  }
}

}  // namespace
}  // namespace nbcc::test
