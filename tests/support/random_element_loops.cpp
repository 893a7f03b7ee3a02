// Loops over the elements of long arrays: sums, extremes and counts, some of their terms under conditions, and output
// arrays. Entry point: ElementLoopAuthor::write().
#include "tests/support/random_element_loops.h"

#include <fmt/format.h>

namespace nbcc::test {

void ElementLoopAuthor::write() {
  if (!random_.chance(25)) return;
  const int length = random_.between(35, 40);
  text_.line("input_i real long_i[{}];", length);
  text_.line("input_j real long_j[{}];", length);
  text_.line("input_i int whole_i[{}];", length);
  text_.line("input_j int whole_j[{}];", length);
  text_.line("input_j bool flags[{}];", length);
  text_.line("param real steps[{0}] = {1};", length, random_numbers(random_, length));
  text_.line("output(sum) real looped;");
  text_.line("output({}) real loops[{}];", random_.pick<std::string>({"sum", "total"}), length);
  for (int n = random_.between(1, 3); n > 0; --n) element_loop(length);
  text_.line("looped += {} + 3.0;", scope_.locals.back().value.text);
  const std::string loop =
      fmt::format("for (int k = {}; k < {}; ++k)", random_.below(2), length - random_.between(1, 2));
  text_.line("{} {}loops[k] += 3.0 + {};", loop, random_.chance(50) ? "if (" + element_condition() + ") " : "",
             element_term());
}

// A sum, an extreme or a count of terms of size 1 at most.
void ElementLoopAuthor::element_loop(int length) {
  const std::string name = text_.fresh("s"), value = text_.fresh("v");
  const std::string loop = fmt::format("for (int k = {}; k < {}; ++k)", random_.below(3), length - 1);
  const std::string guard = random_.chance(40) ? "if (" + element_condition() + ") " : "";
  const int kind = random_.below(4);
  if (kind == 0) {
    text_.line("int {} = {};", name, random_.below(2));
    text_.line("{} {}{} += {};", loop, guard, name, element_condition());
    text_.line("real {} = 0.03125 * real({});", value, name);
  } else if (kind == 1) {
    text_.line("real {} = {};", name, random_.pick<std::string>({"bi", "0.25", "bj"}));
    text_.line("{0} {1}{2} = {3}({2}, {4});", loop, guard, name, random_.chance(50) ? "min" : "max", element_term());
    text_.line("real {} = {};", value, name);
  } else {
    text_.line("real {} = {};", name, random_.pick<std::string>({"bi", "0.0", "bj"}));
    text_.line("{} {}{} {} {};", loop, guard, name, random_.chance(70) ? "+=" : "-=", element_term());
    if (!guard.empty() && random_.chance(50)) text_.line("  else {} += {};", name, element_term());
    text_.line("real {} = 0.03125 * {};", value, name);
  }
  scope_.locals.push_back({{value, -1.3, 1.3, 30}, 1});
}

std::string ElementLoopAuthor::element_condition() {
  return random_.pick<std::string>({"whole_i[k] != whole_j[k]", "flags[k]", "long_i[k] < long_j[k]", "bi < long_j[k]",
                                    "whole_j[k + 1] > 1 && flags[k]"});
}
// The loop ends before the last element.
std::string ElementLoopAuthor::element_term() {
  return random_.pick<std::string>(
      {"long_i[k] * long_j[k]", "0.5 * fabs(long_j[k] - long_i[k])", "0.5 * (long_j[k + 1] - long_j[k]) * long_i[k]",
       "0.0625 * real(whole_i[k] * whole_j[k])", "(flags[k] ? long_i[k] : 0.5)", "bj * bi * long_i[k]",
       "steps[k] * long_j[k + 1]", "0.5 * sqrt(1.0 + long_i[k] * long_i[k])", "min(long_i[k], long_j[k])"});
}

}  // namespace nbcc::test
