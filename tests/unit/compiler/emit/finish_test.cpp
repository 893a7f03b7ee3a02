#include "compiler/emit/finish.h"

#include <gtest/gtest.h>

#include "compiler/source/parse.h"

namespace nbcc {
namespace {

std::string finish_of(const std::string& text) {
  const Pipeline pipeline = parse({"case.pipe", text});
  const Plan plan = make_plan(pipeline, {});
  return finish_statements(
      pipeline, plan,
      {"args.", "args.", "i", "j", [](const Node& input) { return "in" + std::to_string(input.payload); },
       [](std::size_t output) { return "out" + std::to_string(output); },
       [](double value, Type) { return std::to_string(int(value)); },
       [](const Graph&, const Node& node, const auto& args) {
         return std::string(name(node.op)) + " " + args[0] + " " + args[1];
       }});
}

TEST(finish, without_it_nothing_is_left_to_do) {
  EXPECT_EQ(finish_of("input_j real x;\noutput(sum) real a;\na += x;"), "");
}

TEST(finish, statements_are_in_double_precision) {
  EXPECT_EQ(finish_of("input_i real h; input_j real x; param real p = 1; output(sum) real a;\na += x;\n"
                      "void finish() { a = a * (h + p); }"),
            "const double f0 = out0;\nconst double f1 = in0;\nconst double f2 = args.param[0];\n"
            "const double f3 = add f1 f2;\nconst double f4 = mul f0 f3;\nout0 = f4;\n");
}

TEST(finish, outputs_may_be_left_as_they_are) {
  EXPECT_EQ(finish_of("input_j int k;\noutput(sum) int a;\noutput(sum) int b;\na += k;\nb += k;\n"
                      "void finish() { b = a; }"),
            "const index f0 = to_index(out0);\nout1 = f0;\n");
}

// A sum of whole numbers is a double, an extreme of them is not.
TEST(finish, whole_numbers_are_converted_where_they_are_held_as_doubles) {
  EXPECT_EQ(finish_of("input_j int k;\noutput(max) int a;\noutput(argmin) index b;\na = max(a, k);\n"
                      "b = argmin(b, k);\nvoid finish() { a = a + b; }"),
            "const index f0 = out0;\nconst index f1 = to_index(out1);\nconst index f2 = add f0 f1;\nout0 = f2;\n");
}

}  // namespace
}  // namespace nbcc
