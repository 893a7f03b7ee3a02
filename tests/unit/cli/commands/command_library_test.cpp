// The library of pipelines from the command: names in place of files, list and show; and near words for what is
// misspelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/command.h"
#include "tests/support/folders.h"

namespace nbcc::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(CommandLibrary, TheLibraryOfPipelines) {
  const Shell shell;
  const Outcome list = shell.nbcc("list");
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.out, ContainsRegex("gravity +softened Newtonian gravity, G = 1; outputs: acc, pot\n"));
  const nlohmann::json listed = nlohmann::json::parse(shell.nbcc("list --json").out);
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(source_folder() + "/pipelines")) {
    const std::string name = file.path().stem();
    if (file.path().extension() != ".pipe") continue;
    ++files;
    std::ifstream text(file.path());
    EXPECT_EQ(shell.nbcc("show " + name).out, std::string((std::istreambuf_iterator<char>(text)), {})) << name;
    EXPECT_TRUE(std::ranges::any_of(listed, [&](const nlohmann::json& one) { return one["name"] == name; })) << name;
  }
  EXPECT_EQ(listed.size(), files);
  EXPECT_EQ(shell.nbcc("check gravity").code, 0);
  // A file goes before the library.
  shell.write("gravity", "input_i real xi;\ninput_j real xj;\noutput(sum) real s;\ns += xk - xi;\n");
  const Outcome file = shell.nbcc("check gravity");
  EXPECT_EQ(file.code, 1);
  EXPECT_THAT(file.err, HasSubstr("gravity:4:6: error"));
  for (const auto& [words, code, message] :
       {std::tuple("show gravty", 2, "there is no pipeline 'gravty' in the library; did you mean 'gravity'?"),
        {"show knn", 2, "there is no pipeline 'knn' in the library; did you mean 'k_nearest'?"},
        {"show lj", 2, "did you mean 'lennard_jones'?"},
        {"show biot", 2, "did you mean 'biot_savart'?"},
        {"list zzzz", 2, "no pipeline of the library has the word 'zzzz'"},
        {"list rdf", 2, "no pipeline of the library has the word 'rdf'; did you mean 'radial_distribution'?"},
        {"check yukwa", 2,
         "cannot read yukwa: no such file, and there is no pipeline 'yukwa' in the library; did you mean"},
        {"check nothing_like_it", 2, "'nothing_like_it' in the library; `nbcc list` shows what there is"}}) {
    const Outcome outcome = shell.nbcc(words);
    EXPECT_EQ(outcome.code, code) << words;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << words;
  }
}

TEST(CommandLibrary, TheListIsFilteredByWords) {
  const Shell shell;
  const auto names = [&](const std::string& words) {
    std::vector<std::string> result;
    for (const auto& one : nlohmann::json::parse(shell.nbcc("list --json " + words).out)) result.push_back(one["name"]);
    return result;
  };
  EXPECT_THAT(names("kernel"),
              testing::AllOf(testing::Contains("sph_density"), Not(testing::Contains("gravity_jerk"))));
  EXPECT_THAT(names("JERK"), testing::Contains("gravity_jerk"));
  const std::vector<std::string> both = names("periodic lambda");
  EXPECT_THAT(both, testing::Contains("lennard_jones_soft_core"));
  EXPECT_LT(both.size(), names("periodic").size());
}

TEST(CommandLibrary, NearWordsAreSuggested) {
  const Shell shell;
  for (const auto& [words, near] : {std::pair("rnu gravity", "Did you mean 'run'?\n"),
                                    {"check gravity --precison double", "Did you mean '--precision'?\n"},
                                    {"check gravity --precision duble", "Did you mean 'double'?\n"},
                                    {"check gravity --precision=sngle", "Did you mean 'single'?\n"},
                                    {"completion bsh", "Did you mean 'bash'?\n"},
                                    {"check gravity --zzz", ""},
                                    {"zzzzz", ""}}) {
    const Outcome outcome = shell.nbcc(words);
    EXPECT_EQ(outcome.code, 2) << words;
    if (*near)
      EXPECT_THAT(outcome.err, HasSubstr(near)) << words;
    else
      EXPECT_THAT(outcome.err, Not(HasSubstr("Did you mean"))) << words;
  }
}

}  // namespace
}  // namespace nbcc::test
