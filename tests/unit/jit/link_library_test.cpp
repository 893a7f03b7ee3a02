// Linking by hand-made objects: what is asked of the loader, symbols that nobody has, archives.
#include "jit/link_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/text/diagnostic.h"
#include "jit/clang_compile.h"
#include "runtime/cpu/cpu_device.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using testing::HasSubstr;
using testing::Not;

LibraryObject object(const std::string& name, const std::string& text) {
  const std::string triple = detect_isa() == Isa::Neon ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu";
  return {name, compile_in_memory({"a test's object",
                                   {{"/a.c", text}},
                                   "/a.c",
                                   "-triple " + triple + " -x c -O1 -mrelocation-model pic -pic-level 2"})};
}

LinkRequest request_of(std::vector<LibraryObject> objects) {
  return {std::move(objects), "libit.so", "libthere.so.5", {"there"}, {"$ORIGIN", "/opt/nowhere"}};
}

TEST(LinkLibrary, WhatItCallsIsFoundWhenItIsLoaded) {
  const test::ScratchFolder folder;
  // The real one; the linker has seen a stub.
  const std::string there = folder.write(
      "libthere.so.5",
      link_shared_library({{object("there.o", "int there(int x) { return x + 1; }")}, "libthere.so.5", "", {}, {}}));
  const std::string it = folder.write(
      "libit.so",
      link_shared_library(request_of({object("a.o", "int there(int); int half(int x) { return there(x) * 2; }"),
                                      object("b.o", "int half(int); int it(int x) { return half(x); }")})));
  void* const library = ::dlopen(it.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  EXPECT_EQ(reinterpret_cast<int (*)(int)>(::dlsym(library, "it"))(20), 42);
  ::dlclose(library);
}

TEST(LinkLibrary, TheFunctionsOfTheCLibraryAreTheLoadersChoice) {
  const test::ScratchFolder folder;
  const std::string it = folder.write(
      "libit.so",
      link_shared_library(
          {{object("a.o", "double exp(double); double it(double x) { return exp(x); }")}, "libit.so", "", {}, {}}));
  void* const library = ::dlopen(it.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(::dlsym(library, "it"))(0.7), std::exp(0.7));
  ::dlclose(library);
}

TEST(LinkLibrary, NothingOfThisMachinesFoldersIsInIt) {
  const std::string bytes =
      link_shared_library(request_of({object("a.o", "int there(int); int it(int x) { return there(x); }")}));
  EXPECT_THAT(bytes, HasSubstr("$ORIGIN:/opt/nowhere"));
  EXPECT_THAT(bytes, HasSubstr("libthere.so.5"));
  EXPECT_THAT(bytes, Not(HasSubstr("/tmp/")));
  EXPECT_EQ(bytes,
            link_shared_library(request_of({object("a.o", "int there(int); int it(int x) { return there(x); }")})));
}

TEST(LinkLibrary, ASymbolThatNobodyHasIsOurMistake) {
  try {
    link_shared_library(request_of({object("a.o", "int nowhere(int); int it(int x) { return nowhere(x); }")}));
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("nowhere"));
  }
  // The linker is none the worse for it.
  EXPECT_NO_THROW(link_shared_library(request_of({object("a.o", "int it(int x) { return x; }")})));
}

TEST(LinkLibrary, ArchivesHoldTheirMembersAndNoTime) {
  const std::vector<LibraryObject> objects{object("a.o", "int a(void) { return 1; }"),
                                           object("b.o", "int b(void) { return 2; }")};
  const std::string bytes = make_archive(objects);
  EXPECT_TRUE(bytes.starts_with("!<arch>\n"));
  EXPECT_THAT(bytes, HasSubstr("a.o/"));
  EXPECT_THAT(bytes, HasSubstr("b.o/"));
  EXPECT_EQ(bytes, make_archive(objects));
}

}  // namespace
}  // namespace nbcc
