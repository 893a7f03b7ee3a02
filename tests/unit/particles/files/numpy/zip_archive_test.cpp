// Zip archives with numbers of 32 and of 64 bits; what NumPy makes of them is tested by npz_test.cpp and from Python.
#include "particles/files/numpy/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace nbcc {
namespace {

const std::vector<std::pair<std::string, std::string>> kMembers{
    {"empty", ""}, {"text.txt", "three words here"}, {"\xc3\xa4.bin", std::string(70000, 'x')}};

std::string problem_of(const std::string& archive, const ZipMember& member) {
  try {
    unpack_zip_member(archive, member);
  } catch (const ZipError& problem) {
    return problem.what();
  }
  return "";
}

class ZipArchive : public testing::TestWithParam<std::uint64_t> {};
// Everything in 64 bits; the large member and what lies behind it; nothing.
INSTANTIATE_TEST_SUITE_P(, ZipArchive, testing::Values(0, 100, 0xffffffff));

TEST_P(ZipArchive, ComesBack) {
  const std::string archive = make_zip(kMembers, GetParam());
  const std::vector<ZipMember> directory = zip_directory(archive);
  ASSERT_EQ(directory.size(), kMembers.size());
  for (std::size_t k = 0; k < kMembers.size(); ++k) {
    EXPECT_EQ(directory[k].name, kMembers[k].first);
    EXPECT_EQ(unpack_zip_member(archive, directory[k]), kMembers[k].second);
    EXPECT_EQ(unpack_zip_begin(archive, directory[k], 5), kMembers[k].second.substr(0, 5));
  }
}

TEST_P(ZipArchive, MayHaveAComment) {
  std::string archive = make_zip(kMembers, GetParam());
  archive[archive.size() - 2] = 22;
  EXPECT_EQ(zip_directory(archive + "PK\x05\x06 of seventeen more").size(), kMembers.size());
}

TEST_P(ZipArchive, OfPythonsModuleIsTheSame) {
  const std::string path = testing::TempDir() + "zip_archive_test.zip";
  FILE* file = std::fopen(path.c_str(), "wb");
  const std::string archive = make_zip(kMembers, GetParam());
  std::fwrite(archive.data(), 1, archive.size(), file);
  std::fclose(file);
  const std::string command =
      "python3 -c \"import zipfile, sys; z = zipfile.ZipFile(sys.argv[1]); "
      "assert z.testzip() is None and z.namelist() == ['empty', 'text.txt', '\\xe4.bin'], z.namelist(); "
      "assert z.read('text.txt') == b'three words here' and len(z.read('\\xe4.bin')) == 70000\" " +
      path;
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::remove(path.c_str());
}

TEST(ZipMember, OfAnotherLengthThanTheDirectorySaysIsRefused) {
  const std::string archive = make_zip(kMembers);
  ZipMember member = zip_directory(archive)[1];
  --member.size;
  EXPECT_EQ(problem_of(archive, member), "it is longer than the archive's directory says");
  member.size += 2;
  EXPECT_EQ(problem_of(archive, member), "it is truncated within the archive");
  member.size = ~0ull;
  EXPECT_EQ(problem_of(archive, member), "its size in the archive's directory cannot be true");
}

TEST(ZipMember, OutsideOfTheArchiveOrUnreadableIsRefused) {
  const std::string archive = make_zip(kMembers);
  const ZipMember member = zip_directory(archive)[1];
  ZipMember wrong = member;
  wrong.offset = archive.size() + 1;
  EXPECT_EQ(problem_of(archive, wrong), "an offset in it lies beyond its end");
  wrong.offset = 1;
  EXPECT_EQ(problem_of(archive, wrong), "a record is not where another says");
  wrong = member;
  wrong.flags |= 1;
  EXPECT_EQ(problem_of(archive, wrong), "it cannot be unpacked: it is encrypted");
  wrong = member;
  wrong.method = 12;
  EXPECT_EQ(problem_of(archive, wrong), "it cannot be unpacked: it is neither stored nor deflated");
}

}  // namespace
}  // namespace nbcc
