// Declarations of a random pipeline. Entry points: FieldAuthor::inputs(), output().
#include "tests/support/random_fields.h"

#include <fmt/format.h>

#include "compiler/ir/ir.h"

namespace nbcc::test {

void FieldAuthor::inputs() {
  scope_.width = random_.between(2, 4);
  const std::string vec = expressions_.vector_type();
  text_.line("input_i {} ai;  // position", vec);
  text_.line("input_j {} aj;", vec);
  text_.line("input_i real bi;");
  text_.line("input_j real bj;");
  scope_.raw_vectors = {"ai", "aj"};
  scope_.vector_differences = {"(aj - ai)", "(ai - aj)"};
  scope_.raw = {"bi", "bj", "ai.x", "aj.y"};
  scope_.differences = {"(bj - bi)", "(bi - bj)", "(aj.x - ai.y)", "(bi - aj.x)"};
  // Half a step beside the grid of the inputs.
  for (int n = random_.between(1, 2); n > 0; --n)
    scope_.signed_bases.push_back(fmt::format("({} + 0.00048828125)", random_.pick(scope_.differences)));
  scope_.integers = {"int(bj * 3.0 + 8.1)", "int(j_index % 7)", "int(i_index % 5)"};
  optional_inputs();
}

void FieldAuthor::optional_inputs() {
  if (random_.chance(50)) {
    text_.line("input_i int ki;");
    text_.line("input_j int kj;");
    for (const char* text : {"ki", "kj", "(kj - ki)", "(ki * 3 % 5 + kj)", "(ki * kj / 2)"})
      scope_.integers.push_back(text);
  }
  if (random_.chance(40)) {
    text_.line("input_j real cj[3];");
    for (const char* text : {"cj[0]", "cj[1]", "cj[2]"}) scope_.raw.push_back(text);
  }
  if (random_.chance(30)) {
    text_.line("input_j double dj;");
    scope_.differences.push_back("(real(dj) - bi)");
  }
  if (random_.chance(60)) {
    text_.line("param real p = {};", number(random_.between(1, 15) / 16.0));
    scope_.raw.push_back("p");
  }
  if (random_.chance(30)) {
    text_.line("param {} u = {}({});", expressions_.vector_type(), expressions_.vector_type(), number(0.375));
    scope_.raw_vectors.push_back("u");
  }
  if (random_.chance(30)) {
    text_.line("param int q = {};", random_.between(-4, 4));
    scope_.integers.push_back("q");
  }
  if (random_.chance(30)) {
    text_.line("input_j complex zj;");
    text_.line("param complex z = 0.5 - 0.25i;");
    for (const char* text : {"real(zj)", "imag(zj)", "real(z)", "imag(z)"}) scope_.raw.push_back(text);
  }
  if (random_.chance(30)) tables();
}

// Read at indices that are not always within them, in rows that registers hold and in longer ones.
void FieldAuthor::tables() {
  const int count = random_.between(2, 40), columns = random_.between(1, 9);
  text_.line("param real tab[{}] = {};", count, random_numbers(random_, count));
  text_.line("param real rows[2][{0}] = {{{1}, {2}}};", columns, random_numbers(random_, columns),
             random_numbers(random_, columns));
  // By numbers of i alone, for finish().
  scope_.of_i = {"tab[1]", "tab[int(i_index % 7)]", "tab[int(bi * 3.0) + 1]", "rows[1][0]",
                 "rows[int(i_index % 3)][0]"};
  for (int n = 0; n < 2; ++n) {
    scope_.raw.push_back(fmt::format("tab[{}]", random_.pick(scope_.integers)));
    scope_.raw.push_back(fmt::format("rows[{}][{}]", random_.pick(scope_.integers), random_.pick(scope_.integers)));
  }
}

OutputField FieldAuthor::output() {
  OutputField output;
  output.name = text_.fresh("out");
  const int kind = random_.below(12);
  static const std::vector<Reduction> reductions{Reduction::Sum,     Reduction::Sum,     Reduction::Sum,
                                                 Reduction::Min,     Reduction::Max,     Reduction::ArgMin,
                                                 Reduction::ArgMax,  Reduction::Sum,     Reduction::LogSumExp,
                                                 Reduction::Softmax, Reduction::Product, Reduction::Count};
  output.reduction = reductions[std::size_t(kind)];
  output.type = "real";
  if (output.reduction == Reduction::ArgMin || output.reduction == Reduction::ArgMax) {
    output.type = "index";
  } else if (kind == 7) {
    static const std::vector<std::string> types{"double", "int", "int", "index"};
    output.type = random_.pick(types);
  } else if (output.reduction == Reduction::Count) {
    output.type = random_.chance(50) ? "int" : "index";
  } else if (output.reduction == Reduction::LogSumExp || output.reduction == Reduction::Product) {
    if (random_.chance(25)) output.type = "double";
  } else if (output.reduction != Reduction::Sum && output.reduction != Reduction::Softmax && random_.chance(35)) {
    output.type = random_.chance(50) ? "int" : "index";
  } else if ((output.reduction == Reduction::Sum || output.reduction == Reduction::Softmax) && random_.chance(20)) {
    output.type = "complex";
    output.width = 2;
  } else if (random_.chance(40)) {
    output.type = expressions_.vector_type();
    output.width = scope_.width;
  }
  output.negative = random_.chance(40);
  const bool chooses = output.reduction == Reduction::ArgMin || output.reduction == Reduction::ArgMax;
  if (chooses && random_.chance(30)) output.places = random_.between(1, 6);
  std::string array = output.places > 0 ? fmt::format("[{}]", output.places) : "";
  // A product over all pairs would leave the range of double.
  if (can_be_total(output.reduction) && output.reduction != Reduction::Product) output.total = random_.chance(30);
  if (is_sum(output.reduction) && output.width == 1 && random_.chance(output.total ? 50 : 15)) {
    output.bins = random_.chance(20) ? random_.between(1025, 1200) : random_.between(1, 40);
    array = fmt::format("[{}]", output.bins);
  }
  text_.line("output({}{}) {} {}{};", output.total ? "total, " : "", name(output.reduction), output.type, output.name,
             array);
  if (chooses)
    for (int n = random_.below(3); n > 0; --n) goes_along(output, array);
  return output;
}

// What is exact in every precision, so that devices agree on it.
void FieldAuthor::goes_along(OutputField& output, const std::string& array) {
  const std::string name = text_.fresh("along");
  // -1 is what the shim takes for memory that was never written.
  const std::pair<std::string, std::string> kinds[] = {
      {"real", random_.pick(scope_.differences)},
      {expressions_.vector_type(), random_.pick(scope_.vector_differences)},
      {"int", random_.pick(scope_.integers) + " + 1000"},
      {"double", random_.pick(scope_.raw)}};
  const auto& [type, value] = kinds[random_.below(4)];
  text_.line("output(at) {} {}{};", type, name, array);
  output.along.emplace_back(name, value);
}

}  // namespace nbcc::test
