// CUNBODY-1's interface: what a pipeline must be for it, the texts that it consists of, and the command's files and
// mistakes. tests/library compiles and runs programs with it.
#include "bindings/cunbody/cunbody_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bindings/cpp/cpp_binding.h"
#include "bindings/fortran/fortran_binding.h"
#include "compiler/text/diagnostic.h"
#include "jit/build_library.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/error.h"
#include "tests/support/command.h"
#include "tests/support/folders.h"

namespace nbcc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Source pipeline(const std::string& name) { return read_source(test::source_folder() + "/pipelines/" + name + ".pipe"); }

// Of a library whose kernels are not compiled.
LibraryText text_of(const Source& source) {
  LibraryText text;
  text.name = "nbody";
  text.pipelines = {library_pipeline(source, {})};
  cunbody_binding().extend(text);
  return text;
}

std::string header_of(const Source& source) { return cunbody_binding().write(text_of(source)); }

LibraryFiles build(const Source& source, const std::string& file_name = "libnbody.so") {
  LibraryRequest request;
  request.sources = {source};
  request.isas = {detect_isa()};
  request.file_name = file_name;
  request.bindings = {cpp_binding("nbody"), fortran_binding("nbody"), cunbody_binding()};
  return build_library(request);
}

std::string complaint(const Source& source) {
  try {
    text_of(source);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "";
}

TEST(CunbodyBinding, DimensionsAreThoseOfThePipeline) {
  EXPECT_THAT(header_of(pipeline("cunbody_gravity")),
              AllOf(HasSubstr("#define IDIM (4)\n"), HasSubstr("#define JDIM (4)\n"), HasSubstr("#define FDIM (3)\n")));
  EXPECT_THAT(header_of(pipeline("cunbody_hermite")),
              AllOf(HasSubstr("#define IDIM (6)\n"), HasSubstr("#if (JDIM) != 7\n"), HasSubstr("#define FDIM (7)\n"),
                    HasSubstr("#define NMAX (")));
  EXPECT_THAT(header_of({"stated.pipe", "#define IDIM (8)\nOUTPUT[0] += INPUT_J[1];\n"}),
              HasSubstr("#define IDIM (8)\n"));
}

TEST(CunbodyBinding, NamedFieldsDoNotFit) {
  const std::string said = complaint(pipeline("gravity"));
  EXPECT_THAT(said, AllOf(HasSubstr("gravity.pipe:"), HasSubstr("field 'xi' does not fit cunbody_api()"),
                          HasSubstr("expected 3 elements of INPUT_I"), HasSubstr("field 'mj'"),
                          HasSubstr("expected an element of INPUT_J"),
                          HasSubstr("param 'eps2' cannot be used with cunbody_api()"),
                          HasSubstr("expected 3 elements of OUTPUT")));
}

TEST(CunbodyBinding, ASideThatIsNotUsedHasNoWidth) {
  EXPECT_THAT(complaint({"a.pipe", "OUTPUT[0] += INPUT_J[0];\n"}),
              AllOf(HasSubstr("does not use INPUT_I"), HasSubstr("#define IDIM"), Not(HasSubstr("INPUT_J,"))));
  EXPECT_THAT(complaint({"a.pipe", "OUTPUT[0] += 1.0;\n"}),
              AllOf(HasSubstr("#define IDIM"), HasSubstr("#define JDIM")));
}

TEST(CunbodyBinding, TheLibraryHasItsFunctions) {
  const LibraryText text = text_of(pipeline("cunbody_hermite"));
  EXPECT_THAT(cunbody_binding().write(text),
              HasSubstr("int cunbody_api(double xj[][JDIM], double xi[][IDIM], double f[][FDIM], int ni, int nj);\n"));
  EXPECT_THAT(fortran_binding("nbody").write(text), AllOf(HasSubstr("xj(7, *)"), HasSubstr("public :: cunbody_api\n")));
}

TEST(CunbodyBinding, OnlyRowsLikeThoseOfGravityHaveForce) {
  const LibraryFiles gravity = build(pipeline("cunbody_gravity")), hermite = build(pipeline("cunbody_hermite"));
  EXPECT_THAT(gravity.texts.at("nbody.h"), HasSubstr("void force(double xj[][3], double mj[], double xi[][3], double "
                                                     "eps2, double a[][3], int ni, int nj);\n"));
  EXPECT_THAT(gravity.texts.at("nbody.f90"), HasSubstr("public :: force\n"));
  EXPECT_THAT(gravity.library, HasSubstr("force_"));
  EXPECT_THAT(hermite.texts.at("nbody.h"), Not(HasSubstr("force(double")));
  EXPECT_THAT(hermite.texts.at("nbody.f90"), Not(HasSubstr("force(xj")));
  EXPECT_THAT(hermite.library, Not(HasSubstr("force_")));
  // Drivers have one of their own, of any kind.
  EXPECT_THAT(gravity.texts.at("cunbody_api.h"), Not(HasSubstr("force(")));
}

TEST(CunbodyBinding, TwiceTheSameBytes) {
  EXPECT_EQ(build(pipeline("cunbody_gravity")).library, build(pipeline("cunbody_gravity")).library);
}

TEST(CunbodyBinding, OtherLibrariesHaveNoneOfIt) {
  LibraryRequest request;
  request.sources = {pipeline("cunbody_gravity")};
  request.isas = {detect_isa()};
  request.bindings = {fortran_binding("it")};
  const LibraryFiles files = build_library(request);
  EXPECT_THAT(files.library, Not(HasSubstr("cunbody_api")));
  EXPECT_THAT(files.texts.at("it.f90"), Not(HasSubstr("cunbody_api")));
}

TEST(CunbodyBinding, NamesThatProgramsHaveAlready) {
  Source source = pipeline("cunbody_gravity");
  for (const char* path : {"force.pipe", "Force.pipe", "cunbody_api.pipe", "force_.pipe"}) {
    source.path = path;
    EXPECT_THROW(build(source), UsageError) << path;
  }
  const LibraryFiles files = build(pipeline("cunbody_gravity"), "libforce.so");
  EXPECT_THAT(files.texts.at("nbody.f90"), HasSubstr("module force_library\n"));
  EXPECT_THAT(files.texts.at("nbody.hpp"), HasSubstr("namespace force_library {"));
}

// Else it would be that of a function of ours.
TEST(CunbodyBinding, OtherNamesAreFree) {
  Source source = pipeline("cunbody_gravity");
  for (const char* path : {"failed.pipe", "pack.pipe", "sum_rows.pipe", "rows.pipe", "IDIM.pipe", "NMAX.pipe"}) {
    source.path = path;
    EXPECT_NO_THROW(build(source)) << path;
  }
}

// A file's name comes from somebody else.
TEST(CunbodyBinding, TheCommentStaysAComment) {
  LibraryText text = text_of(pipeline("cunbody_gravity"));
  text.made = "nbcc from a*/b.pipe";
  EXPECT_THAT(cunbody_binding().write(text), AllOf(HasSubstr("a* /b.pipe"), Not(HasSubstr("a*/b"))));
}

TEST(CommandCompileCunbody, WritesItsHeaderBesideTheOthers) {
  const Shell shell;
  const Outcome made =
      shell.nbcc("compile \"$pipelines\"/cunbody_gravity.pipe -o libnbody.so --api cunbody --isa $isa");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out + made.err, IsEmpty());
  EXPECT_EQ(shell.count(), 4);
  EXPECT_THAT(shell.read("cunbody_api.h"), HasSubstr("#define IDIM (4)"));
  const Outcome again = shell.nbcc("compile \"$pipelines\"/cunbody_hermite.pipe -o libh.so --api cunbody --isa $isa");
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("cunbody_api.h: exists already"));
}

TEST(CommandCompileCunbody, MistakesLeaveNothingBehind) {
  const Shell shell;
  const std::string words = "compile -o libx.so --api ";
  const Outcome misfit = shell.nbcc(words + "cunbody \"$pipelines\"/gravity.pipe");
  EXPECT_EQ(misfit.code, 1);
  EXPECT_THAT(misfit.err, AllOf(HasSubstr("error: field 'xi'"), HasSubstr("INPUT_I")));
  const Outcome two = shell.nbcc(words + "cunbody \"$pipelines\"/cunbody_gravity.pipe \"$pipelines\"/gravity.pipe");
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("of one pipeline, got 2"));
  const Outcome unknown = shell.nbcc(words + "cunbodies \"$pipelines\"/cunbody_gravity.pipe");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("cunbodies"));
  EXPECT_EQ(shell.count(), 0);
}

}  // namespace
}  // namespace nbcc::test
