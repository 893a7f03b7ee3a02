// Functors for FDPS: what a map of classes may say, which pipelines fit, and the command's files and mistakes.
// tests/library compiles and runs programs with them.
#include "bindings/fdps/fdps_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/text/diagnostic.h"
#include "runtime/error.h"
#include "tests/support/command.h"
#include "tests/support/folders.h"

namespace nbcc::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<std::string> kGravity{"xi=pos", "xj=pos:x", "mj=mass:m", "acc=acc", "pot=pot"};

Source pipeline(const std::string& name) { return read_source(test::source_folder() + "/pipelines/" + name + ".pipe"); }

// Of a library whose kernels are not compiled.
std::string header_of(const Source& source, const std::vector<std::string>& map) {
  LibraryText text;
  text.name = text.cxx_namespace = "forces";
  text.pipelines = {library_pipeline(source, {})};
  return fdps_binding("forces", class_map_from(map)).write(text);
}

std::string misuse(const std::vector<std::string>& map) {
  try {
    header_of(pipeline("gravity"), map);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string complaint(const Source& source, const std::vector<std::string>& map) {
  try {
    header_of(source, map);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "";
}

TEST(FdpsBinding, MembersOfMembersAndChoices) {
  const ClassMap map = class_map_from({"xi=pos", "mj=mass:state.m:moments.q[0]", "a=b[1][20].c_1"});
  EXPECT_EQ(map.size(), 3);
  EXPECT_THAT(map.at("xi"), ElementsAre("pos"));
  EXPECT_THAT(map.at("mj"), ElementsAre("mass", "state.m", "moments.q[0]"));
  EXPECT_THAT(map.at("a"), ElementsAre("b[1][20].c_1"));
}

TEST(FdpsBinding, WhatIsNoMember) {
  for (const char* word :
       {"xi",        "=pos",     "xi=",      "xi=1pos",  "xi=pos.", "xi=.pos",     "xi=pos[", "xi=pos[]",
        "xi=pos[k]", "xi=pos[1", "xi=pos]",  "xi=pos:",  "xi=:pos", "xi=getPos()", "xi=p->x", "xi=a b",
        "x i=pos",   "xi=pos;",  "xi=pos/*", "xi=pos=x", "1=pos",   "xi=pos[1]x"}) {
    EXPECT_THROW(class_map_from({word}), UsageError) << word;
  }
  EXPECT_THROW(class_map_from({"xi=pos", "xi=x"}), UsageError);
}

TEST(FdpsBinding, FieldsAreThoseOfThePipeline) {
  std::vector<std::string> map = kGravity;
  map.emplace_back("xk=pos");
  EXPECT_THAT(misuse(map), AllOf(HasSubstr("there is no field 'xk'"), HasSubstr("xi, xj, mj, acc, pot")));
  map.back() = "eps2=eps";
  EXPECT_THAT(misuse(map), HasSubstr("'eps2' is a param of gravity"));
  EXPECT_THAT(misuse({"xi=pos", "xj=pos", "pot=pot"}),
              AllOf(HasSubstr("gravity has no member for mj, acc"), HasSubstr("expected mj=MEMBER,acc=MEMBER")));
}

TEST(FdpsBinding, APartOfTheParticlesHasNoIndices) {
  EXPECT_THAT(complaint(pipeline("nearest_neighbour"), {}),
              AllOf(HasSubstr("nearest_neighbour.pipe:"), HasSubstr("is an argmin, which FDPS cannot use")));
  const Source skip{
      "skip.pipe",
      "input_i real x;\ninput_j real y;\noutput(sum) real s;\nskip_if(i_index == j_index);\ns += y - x;\n"};
  EXPECT_THAT(complaint(skip, {"x=x", "y=y", "s=s"}),
              AllOf(HasSubstr("skip.pipe:4:"), HasSubstr("i_index and j_index cannot be used with FDPS")));
  const Source finish{"last.pipe", "input_j real y;\noutput(sum) real s;\ns += y;\nvoid finish() { s += i_index; }\n"};
  EXPECT_THAT(complaint(finish, {"y=y", "s=s"}), HasSubstr("i_index and j_index cannot be used with FDPS"));
}

TEST(FdpsBinding, TheHeaderHasParamsAndMembers) {
  const std::string header = header_of(pipeline("gravity"), kGravity);
  EXPECT_THAT(header, AllOf(HasSubstr("struct gravity_functor {\n  double eps2 = 0.0001;  // softening"),
                            HasSubstr("namespace forces {"), HasSubstr("#include \"forces.h\""),
                            HasSubstr("-> decltype(&p->mass)"), HasSubstr("using gravity_multiwalk =")));
  EXPECT_THAT(header, Not(HasSubstr("@{")));
}

TEST(FdpsBinding, ParamsWithoutDefaultMustBeGiven) {
  const Source source{"p.pipe",
                      "input_j real y;\nparam real a;\nparam vec3 b;\nparam vec2 c = {1, 2.5};\noutput(sum) real s;\n"
                      "s += a * dot(b, b) * dot(c, c) * y;\n"};
  EXPECT_THAT(
      header_of(source, {"y=y", "s=s"}),
      AllOf(HasSubstr("  std::optional<double> a{};\n"), HasSubstr("  std::optional<std::array<double, 3>> b{};"),
            HasSubstr("  std::array<double, 2> c{{1, 2.5}};\n"), HasSubstr("param 'b' has no default")));
}

TEST(CommandCompileFdps, WritesItsHeaderBesideTheOthers) {
  const Shell shell;
  const Outcome made = shell.nbcc(
      "compile \"$pipelines\"/gravity.pipe -o libforces.so --isa $isa --api fdps --class-map xi=pos,xj=pos "
      "--class-map mj=mass,acc=acc,pot=pot");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out + made.err, IsEmpty());
  EXPECT_EQ(shell.count(), 4);
  EXPECT_THAT(shell.read("forces_fdps.hpp"), HasSubstr("struct gravity_functor"));
}

TEST(CommandCompileFdps, MistakesLeaveNothingBehind) {
  const Shell shell;
  const auto expect = [&](const std::string& words, int code, const std::string& said) {
    const Outcome outcome = shell.nbcc("compile -o libx.so --isa $isa " + words);
    EXPECT_EQ(outcome.code, code) << words;
    EXPECT_THAT(outcome.err, HasSubstr(said)) << words;
    EXPECT_EQ(shell.count(), 0) << words;
  };
  const std::string gravity = "\"$pipelines\"/gravity.pipe ", good = "xi=pos,xj=pos,mj=mass,acc=acc,pot=pot";
  expect(gravity + "--api fdps", 2, "--api fdps needs --class-map");
  expect(gravity + "--class-map " + good, 2, "--class-map goes with --api fdps");
  expect(gravity + "--api fdps --class-map xi=pos", 2, "gravity has no member for xj, mj, acc, pot");
  expect(gravity + "--api fdps --class-map " + good + ",xi=x", 2, "'xi' is given twice");
  expect(gravity + "--api fdps --class-map " + good + ",z=z", 2, "there is no field 'z'");
  expect(gravity + "--api fdps --class-map 'xi=getPos()'", 2, "'getPos()' is no member of a class");
  expect("\"$pipelines\"/nearest_neighbour.pipe --api fdps --class-map x=x", 1, "which FDPS cannot use");
}

}  // namespace
}  // namespace nbcc::test
