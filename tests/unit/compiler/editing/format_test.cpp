// formatted(): tokens and comments are those of the text, a second round changes nothing, and the style is the one of
// the library's pipelines.
#include "compiler/editing/format.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/folders.h"

namespace nbcc {
namespace {

// The characters that are no blanks, but for the one line break that ends a directive or a // comment.
std::string without_blanks(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') result += c;
  return result;
}

// The lines' comments, whose blanks are a part of them.
std::vector<std::string> line_comments(const std::string& text) {
  std::vector<std::string> result;
  for (std::size_t at = 0; (at = text.find("//", at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string comment = text.substr(at, end - at);
    while (!comment.empty() && std::isspace(static_cast<unsigned char>(comment.back()))) comment.pop_back();
    result.push_back(comment);
    at = end;
  }
  return result;
}

std::vector<std::string> texts_below(const std::string& folder) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_folder() + folder)) {
    if (entry.path().extension() != ".pipe") continue;
    std::ifstream file(entry.path());
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

TEST(Format, EveryPipelineKeepsItsTokensAndComments) {
  std::vector<std::string> texts = texts_below("/pipelines");
  EXPECT_GT(texts.size(), 35u);
  const std::size_t library = texts.size();
  // With errors of every kind, unbalanced brackets too.
  for (const char* folder : {"/tests", "/examples", "/docs"})
    for (std::string& text : texts_below(folder)) texts.push_back(std::move(text));
  EXPECT_GT(texts.size(), library + 100);
  for (const std::string& text : texts) {
    if (text.find('\0') != std::string::npos) continue;
    const std::string once = formatted(text);
    EXPECT_EQ(without_blanks(once), without_blanks(text)) << text;
    EXPECT_EQ(line_comments(once), line_comments(text)) << text;
    EXPECT_EQ(formatted(once), once) << text;
  }
}

TEST(Format, TheStyleIsThatOfTheLibrary) {
  EXPECT_EQ(formatted("input_i   vec3 xi; // position\n"
                      "input_j vec3   xj;// of j\n"
                      "param real eps2=1e-4;   // softening\n\n\n\n"
                      "output( sum ) vec3 acc;\n"
                      "vec3 dx=xj-xi;\n"
                      "if(eps2>0){acc+=cross(dx*xi, u_a*n+dx)*dx;}\n"),
            "input_i vec3 xi;            // position\n"
            "input_j vec3 xj;            // of j\n"
            "param   real eps2 = 1e-4;   // softening\n\n"
            "output(sum) vec3 acc;\n"
            "vec3 dx = xj - xi;\n"
            "if (eps2 > 0) {\n"
            "  acc += cross(dx * xi, u_a * n + dx) * dx;\n"
            "}\n");
  EXPECT_EQ(formatted("real f(real a,real& b){return a*b;}"), "real f(real a, real& b) { return a * b; }\n");
  // Comments keep their blanks.
  const std::string comments =
      "/* of i;\n   param x */\ninput_i real xi;\n// a; param b\nparam   real c;   // ; param d\n";
  EXPECT_EQ(formatted(comments), comments);
  EXPECT_EQ(formatted("input_i real xi; param real a; param real b;"),
            "input_i real xi;\nparam   real a;\nparam   real b;\n");
  EXPECT_EQ(formatted("#define N 4\n#pragma flops   38\n"), "#define N 4\n#pragma flops 38\n");
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted("// clang-format off\nreal  a;\n// clang-format on\nreal  b;\n"),
            "// clang-format off\nreal  a;\n// clang-format on\nreal b;\n");
}

// A word of the text that is the formatter's own is kept, and no `param` is widened then.
TEST(Format, TheWidthOfParamIsNoWordOfTheText) {
  EXPECT_EQ(formatted("input_i real xi;\nparam real param__  = 1;\n"), "input_i real xi;\nparam real param__ = 1;\n");
}

// Where the width of `param` is none of the formatter's business; each text had grown with each round, or was refused.
TEST(Format, ParamsInCommentsMacrosAndLinesThatAreOffKeepTheirBlanks) {
  for (const char* kept : {"input_i real xi;\n// clang-format off\nparam real   eps;\n// clang-format on\n",
                           "input_i real xi;\n/* clang-format off */\nparam real   eps;\n",
                           "input_i real xi;\n// two lines \\\nparam real eps;\n",
                           "input_i real xi;\n// two lines \\ \nparam real eps;\n"})
    EXPECT_EQ(formatted(kept), kept);
  for (const char* text :
       {"input_i real xi;\n// clang-format off\nparam real   eps;\n// clang-format on\nparam real b;\n",
        "input_i real xi;\n#define DECLARED \\\n  param real eps;\nreal x;\n", "input_i real xi; {param real b;}",
        "input_i real xi; param real b; param vec3 c = vec3(1)2);", "input_i real xi; param\n",
        "input_i real xi; param", "input_i real xi; } param real b;\n", "input_i real xi; // a\rparam real b;\n",
        "input_i real xi; #define K 3\n  // of all\nparam real b;\n"}) {
    const std::string once = formatted(text);
    EXPECT_EQ(formatted(once), once) << text;
  }
}

TEST(Format, TheLastLineEndsAsTheOthersDo) {
  EXPECT_EQ(formatted("real a;\r\nreal  b;"), "real a;\r\nreal b;\r\n");
  EXPECT_EQ(formatted("real a;\nreal  b;"), "real a;\nreal b;\n");
  EXPECT_EQ(formatted("real  b;"), "real b;\n");
}

}  // namespace
}  // namespace nbcc
