// Libraries that are damaged: whatever the bytes have become, reading them ends, with sections or with an error.
#include "jit/read_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "jit/build_library.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/error.h"
#include "runtime/image/image.h"

namespace nbcc {
namespace {

using testing::HasSubstr;

std::string library(bool is_static) {
  LibraryRequest request;
  request.sources = {{"pull.pipe", "input_i real xi;\ninput_j real xj;\noutput(sum) real s;\ns += xj - xi;\n"}};
  request.isas = {detect_isa()};
  request.file_name = is_static ? "libpull.a" : "libpull.so";
  request.is_static = is_static;
  return build_library(request).library;
}

std::string refusal(const std::string& bytes) {
  try {
    for (const std::string& section : sections_of_library(bytes, kImageSectionPrefix)) read_image(section);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(ReadLibrary, AnArchiveThatIsCutOffIsRefused) {
  const std::string whole = library(true);
  EXPECT_EQ(refusal(whole), "");
  std::mt19937 random(1);
  for (int k = 0; k < 200; ++k) {
    const std::size_t length = 9 + random() % (whole.size() - 9);
    EXPECT_NE(refusal(whole.substr(0, length)), "") << length;
  }
}

TEST(ReadLibrary, FlippedBytesDoNoHarm) {
  for (const bool is_static : {true, false}) {
    const std::string whole = library(is_static);
    std::mt19937 random(2);
    for (int k = 0; k < 300; ++k) {
      std::string damaged = whole;
      // The headers of archives and objects are where most of the harm is to be had.
      const std::size_t reach = k % 2 == 0 ? whole.size() : 512;
      for (int flips = 1 + k % 4; flips > 0; --flips) damaged[random() % reach] = char(random());
      refusal(damaged);
    }
  }
}

// Its members lie in other files, which it is not for it to name.
TEST(ReadLibrary, AThinArchiveIsNone) { EXPECT_THAT(refusal("!<thin>\n"), HasSubstr("is no library")); }

}  // namespace
}  // namespace nbcc
