#include "compiler/text/source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace nbcc {
namespace {

std::string reason_for(const std::string& path) {
  try {
    read_source(path);
  } catch (const SourceUnreadable& e) {
    return e.what();
  }
  return "it was read";
}

TEST(source, name_is_the_file_name_as_an_identifier) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"a/gravity.pipe", "gravity"}, {"gravity", "gravity"},  {"/x.y/sph force-2.v1.pipe", "sph_force_2_v1"},
      {"2body.pipe", "_2body"},      {"\xc3\xa4.pipe", "__"}, {"", "pipeline"}};
  for (const auto& [path, name] : table) EXPECT_EQ((Source{path, ""}.name()), name) << path;
}

TEST(source, lines_are_without_their_breaks) {
  const Source source{"x", "one\r\n\nthree\nlast"};
  EXPECT_EQ(source.line(1), "one");
  EXPECT_EQ(source.line(2), "");
  EXPECT_EQ(source.line(3), "three");
  EXPECT_EQ(source.line(4), "last");
}

TEST(source, lines_beyond_the_text_are_empty) {
  const Source source{"x", "one\n"};
  EXPECT_EQ(source.line(0), "");
  EXPECT_EQ(source.line(2), "");
  EXPECT_EQ(source.line(99), "");
}

TEST(source, reads_every_byte) {
  const auto path = std::filesystem::path(testing::TempDir()) / "nbcc_source_test.pipe";
  std::string text(200000, 'x');
  text[3] = '\0';
  text[100000] = '\r';
  std::ofstream(path, std::ios::binary) << text;
  const Source source = read_source(path.string());
  std::filesystem::remove(path);
  EXPECT_EQ(source.text, text);
  EXPECT_EQ(source.path, path.string());
}

TEST(source, a_missing_file_cannot_be_read) {
  EXPECT_EQ(reason_for("/no/such.pipe"), "cannot read /no/such.pipe: No such file or directory");
}

TEST(source, a_folder_cannot_be_read) {
  const std::string folder = testing::TempDir();
  EXPECT_EQ(reason_for(folder), "cannot read " + folder + ": Is a directory");
}

TEST(source, an_endless_device_ends) { EXPECT_LE(read_source("/dev/zero").text.size(), std::size_t(17) << 20); }

}  // namespace
}  // namespace nbcc
