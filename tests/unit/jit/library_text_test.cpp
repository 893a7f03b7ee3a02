// The headers and the module of a library, compared exactly with tests/golden/library/: what users see changes in
// review alone. Set NBCC_UPDATE_GOLDEN=1 to have the files written anew.
#include "jit/library_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "bindings/cpp/cpp_binding.h"
#include "bindings/fortran/fortran_binding.h"
#include "runtime/error.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

using testing::HasSubstr;
using testing::Not;

LibraryText library() {
  LibraryText text;
  text.name = text.cxx_namespace = text.module = "near";
  text.made = "nbcc from gravity.pipe, nearest_neighbour.pipe (single precision, fast math)";
  for (const char* name : {"gravity", "nearest_neighbour"}) {
    const Source source = read_source(test::source_folder() + "/pipelines/" + name + ".pipe");
    text.pipelines.push_back(library_pipeline(source, {}));
  }
  return text;
}

std::string cpp_header(const LibraryText& text) { return cpp_binding("near").write(text); }
std::string fortran_module(const LibraryText& text) { return fortran_binding("near").write(text); }

void expect_golden(const std::string& file, const std::string& text) {
  const std::string path = test::source_folder() + "/tests/golden/library/" + file;
  const char* const update = std::getenv("NBCC_UPDATE_GOLDEN");
  if (update && std::string(update) == "1") std::ofstream(path, std::ios::binary) << text;
  std::ifstream in(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(text == expected) << path << " differs from what is written now; NBCC_UPDATE_GOLDEN=1 rewrites it. Now:\n"
                                << text;
}

TEST(LibraryText, AreAsReviewed) {
  expect_golden("near.h", c_header(library()));
  expect_golden("near.hpp", cpp_header(library()));
  expect_golden("near.f90", fortran_module(library()));
}

// Else there would be two functions of one name and the same arguments.
TEST(LibraryText, WithoutRealArraysThereIsOneFlavour) {
  const Source source{"tally.pipe", "input_j int k;\nparam real p = 2;\noutput(sum) int n;\nn += k * int(p);\n"};
  LibraryText text = library();
  text.pipelines = {library_pipeline(source, {})};
  EXPECT_THAT(cpp_header(text), Not(HasSubstr("tally_f(")));
  EXPECT_THAT(fortran_module(text), Not(HasSubstr("tally_float")));
  EXPECT_THAT(c_header(text), HasSubstr("tally_f("));
}

// Outputs are optional arguments in Fortran, so two procedures that differ in outputs only would be ambiguous. In C++
// {} for the output calls the function that is no template.
TEST(LibraryText, OutputsAloneDoNotChooseTheFlavourInFortran) {
  const Source source{"excess.pipe", "input_i int a;\ninput_j int b;\noutput(sum) real s;\ns += real(a - b);\n"};
  LibraryText text = library();
  text.pipelines = {library_pipeline(source, {})};
  EXPECT_THAT(fortran_module(text), HasSubstr("nbcc_d_excess("));
  EXPECT_THAT(fortran_module(text), Not(HasSubstr("nbcc_f_excess")));
  EXPECT_THAT(cpp_header(text), HasSubstr("template <typename = void>\ninline void excess("));
}

// Arrays in C count from 0, in Fortran from 1.
TEST(LibraryText, ListedPairsAreCountedAsTheLanguageCounts) {
  const Source source{"bonds.pipe", "input_i real x;\ninput_pair real k;\noutput(sum) real s;\ns += k * x;\n"};
  LibraryText text = library();
  text.pipelines = {library_pipeline(source, {})};
  EXPECT_THAT(c_header(text), HasSubstr("the pairs of i are first[i], ..., first[i + 1] - 1, counted from 0"));
  const std::string fortran = fortran_module(text);
  EXPECT_THAT(fortran, HasSubstr("the pairs of i-particle k are first(k) + 1, ..., first(k + 1), counted from 1"));
  EXPECT_THAT(fortran, HasSubstr("number of listed pairs, first(ni + 1)"));
  EXPECT_THAT(fortran, Not(HasSubstr("first[")));
}

// A pipeline's comments come from somebody else's text.
TEST(LibraryText, CommentsStayComments) {
  LibraryText text = library();
  text.pipelines.resize(1);
  text.pipelines[0].signature.description = {"ends */ int evil; /* begins"};
  text.pipelines[0].signature.arguments[1].comment = "here */ too";
  text.made = "nbcc from a*/b.pipe";
  const std::string header = c_header(text);
  EXPECT_THAT(header, HasSubstr("ends * / int evil; / * begins"));
  EXPECT_THAT(header, HasSubstr("here * / too"));
  EXPECT_THAT(header, Not(HasSubstr("a*/b")));
}

TEST(LibraryText, LinesOfFortranStayWithinTheStandard) {
  LibraryText text = library();
  text.pipelines[0].signature.pipeline = std::string(40, 'g');
  text.pipelines[0].signature.arguments[1].comment = std::string(300, 'x');
  std::string line;
  for (std::istringstream lines(fortran_module(text)); std::getline(lines, line);) {
    const bool is_comment = line.find_first_not_of(' ') == line.find('!');
    EXPECT_LE(is_comment ? 0 : line.size(), 132U) << line;
  }
}

TEST(LibraryText, LinesAreWrapped) {
  const std::vector<std::string> words(30, "double word");
  const std::string text = wrapped("int f(", words, ");", "    ");
  EXPECT_THAT(text, HasSubstr(",\n    double word, "));
  std::string line;
  for (std::istringstream lines(text); std::getline(lines, line);) EXPECT_LE(line.size(), 120U);
  EXPECT_EQ(wrapped("int f(", {}, ")", "  "), "int f()");
  EXPECT_EQ(wrapped("f(", {"a", "b"}, ")", "  "), "f(a, b)");
}

TEST(LibraryText, NamesThatFortranCannotHave) {
  const auto refused = [](const std::string& pipeline, const std::string& argument) -> std::string {
    LibraryText text = library();
    text.pipelines[0].signature = {pipeline, {}, {{Argument::Kind::InputI, argument, Argument::Number::Real, {}, ""}}};
    try {
      fortran_module(text);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refused(std::string(51, 'p'), std::string(63, 'x')), "");
  EXPECT_THAT(refused(std::string(52, 'p'), "x"), HasSubstr("52 characters, the maximum is 51"));
  EXPECT_THAT(refused("p", std::string(64, 'x')), HasSubstr("at most 63 characters"));
  EXPECT_THAT(refused("C_int", "x"), HasSubstr("names in iso_c_binding"));
}

}  // namespace
}  // namespace nbcc
