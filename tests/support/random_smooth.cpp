// Entry point: random_smooth_text(). Nothing is parsed or run here. Only whole numbers decide which branch is taken,
// and functions keep clear of their singularities for any argument.
#include "tests/support/random_smooth.h"

#include <fmt/format.h>

#include <vector>

#include "tests/support/random_source.h"

namespace nbcc::test {
namespace {

using Strings = std::vector<std::string>;

class Author {
 public:
  explicit Author(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    text_ =
        "input_i vec3 xi; input_j vec3 xj; input_i real vi; input_j real vj; input_i int ki; input_j int kj;\n"
        "param real p = 1.0; param real t[3]; param real e[3][2]; param vec3 u = vec3(1.0, 1.0, 1.0);\n";
    for (int n = random_.between(1, 3); n > 0; --n) declare();
    if (random_.chance(40)) text_ += fmt::format("skip_if({});\n", condition(true));
    text_ += fmt::format("vec3 d = {};\n", displacement());
    scalars_ = {"d.x", "d.y",   "dot(d, d)", "dot(xi, xj)", "vi",       "vj",           "xi.x", "xj.z",
                "p",   "t[ki]", "t[kj]",     "t[2]",        "e[ki][1]", "e[0][kj % 2]", "u.y",  "table(t, vi)"};
    for (int n = random_.between(1, 3); n > 0; --n) define("v" + std::to_string(n));
    for (std::size_t k = 0; k < outputs_.size(); ++k) contribute(outputs_[k]);
    if (random_.chance(60)) finish();
    return text_;
  }

 private:
  struct Output {
    std::string name, reduction;
    bool is_vector = false;
  };

  void declare() {
    static const Strings reductions{"sum", "sum", "sum", "min", "max", "logsumexp", "softmax", "product", "at"};
    Output output{"o" + std::to_string(outputs_.size()), random_.pick(reductions)};
    output.is_vector = output.reduction == "sum" && random_.chance(30);
    if (output.reduction == "at") text_ += fmt::format("output(argmin) index n{};\n", output.name);
    text_ += fmt::format("output({}) {} {};\n", output.reduction, output.is_vector ? "vec3" : "real", output.name);
    sums_only_ = sums_only_ && output.reduction == "sum";
    outputs_.push_back(output);
  }

  std::string displacement() {
    static const Strings forms{
        "xj - xi", "xj - xi", "nearest_image(xj - xi, 4.5)",
        "nearest_image(xj - xi, vec3(1.7, 0.0, 0.0), vec3(0.2, 1.9, 0.0), vec3(0.1, -0.3, 1.8))"};
    return random_.pick(forms);
  }

  // Decided by whole numbers alone. `exclusion`: seldom true.
  std::string condition(bool exclusion) {
    static const Strings exclusions{"i_index == j_index", "ki == 2 && kj == 2", "ki == kj", "!(ki < 2 || kj == 1)"};
    static const Strings any{"ki < kj", "i_index < j_index",  "ki == 1",         "!(kj != 0 && ki > 0) || i_index < 2",
                             "kj != 1", "i_index != j_index", "kj > 0 || ki > 0"};
    if (exclusion && !sums_only_) return exclusions[0];
    return random_.pick(exclusion ? exclusions : any);
  }

  std::string scalar(int depth) {
    if (depth == 0) return random_.pick(scalars_);
    const std::string a = scalar(depth - 1), b = scalar(random_.below(depth));
    static const Strings functions{"sin({})",
                                   "tanh({})",
                                   "exp(-0.5 * {0} * {0})",
                                   "sqrt(1.0 + {0} * {0})",
                                   "log1p({0} * {0})",
                                   "rsqrt(1.5 + {0} * {0})",
                                   "pow(1.0 + {0} * {0}, 0.7)",
                                   "erf({})",
                                   "1.0 / (1.0 + exp(-{}))",
                                   "atan({})",
                                   "hypot({}, 1.25)",
                                   "asinh({})",
                                   "pow(1.2 + {0} * {0}, -1.5)"};
    switch (random_.below(9)) {
      case 0:
      case 1:
        return fmt::format("({} + {})", a, b);
      case 2:
        return fmt::format("({} - 0.75 * {})", a, b);
      case 3:
        return fmt::format("({} / (1.5 + {} * {}))", a, b, b);
      case 4:
        return fmt::format("({} ? {} : {})", condition(false), a, b);
      case 5:
      case 6:
        return fmt::format(fmt::runtime("(" + random_.pick(functions) + ")"), a);
      default:
        return fmt::format("({} * {})", a, b);
    }
  }

  // A variable, or a derivative of one by what it is made of.
  void define(const std::string& name) {
    const std::string value = scalar(3);
    text_ += fmt::format("real {} = {};\n", name, value);
    scalars_.push_back(name);
    const int kind = random_.below(6);
    static const Strings vectors{"xi", "xj", "d", "u"},
        numbers{"vi", "vj", "p", "xi.x", "t[ki]", "e[0][kj % 2]", "t[2]"};
    if (kind == 0)
      text_ += fmt::format("vec3 g{0} = grad({0}, {1}); real h{0} = dot(g{0}, vec3(0.5, 1.0, -0.25));\n", name,
                           random_.pick(vectors));
    else if (kind == 1)
      text_ += fmt::format("real h{0} = grad({0}, {1});\n", name, random_.pick(numbers));
    else if (kind == 2)
      text_ += fmt::format("real h{0} = ddt({0}, xi, 0.5 * xj, vj, vi, p, 0.25);\n", name);
    else
      return;
    scalars_.push_back("h" + name);
  }

  void contribute(const Output& output) {
    // Of no pair at all an extreme is infinite, a logarithm too, and a payload NaN.
    const bool guarded = output.reduction == "sum" && random_.chance(40);
    if (guarded) text_ += fmt::format("if ({}) ", condition(false));
    const std::string value = scalar(2);
    if (output.is_vector)
      text_ += fmt::format("{} += ({}) * d;\n", output.name, value);
    else if (output.reduction == "sum")
      text_ += fmt::format("{} += {};\n", output.name, value);
    else if (output.reduction == "product")
      text_ += fmt::format("{} *= {};\n", output.name, value);
    else if (output.reduction == "at")
      text_ += fmt::format("n{0} = argmin(n{0}, dot(d, d) + 0.1 * vj); {0} = at(n{0}, {1});\n", output.name, value);
    else if (output.reduction == "softmax")
      text_ += fmt::format("{0} = softmax({0}, {1}, {2});\n", output.name, value, scalar(1));
    else
      text_ += fmt::format("{0} = {1}({0}, {2});\n", output.name, output.reduction, value);
    if (guarded && !output.is_vector && random_.chance(50))
      text_ += fmt::format("else {} -= {};\n", output.name, scalar(1));
  }

  // Reads what is known of i alone.
  void finish() {
    const Strings own{"vi",       "xi.y",         "p",   "t[ki]",        "t[1]",
                      "e[ki][1]", "e[2][ki % 2]", "u.z", "table(t, vi)", "e[ki][ki / 2]"};
    text_ += "void finish() {\n";
    for (const Output& output : outputs_) {
      if (random_.chance(25)) continue;
      const std::string x = random_.pick(own), y = random_.pick(own), &o = output.name;
      if (output.is_vector) {
        text_ += fmt::format("  {0} = {0} * {1} + {2} * xi;\n", o, x, y);
        continue;
      }
      switch (random_.below(5)) {
        case 0:
          text_ += fmt::format("  {0} = {0} * {1} + {2} * {2};\n", o, x, y);
          break;
        case 1:
          text_ += fmt::format("  {0} = {0} + {1} * {2};\n", o, x, y);
          break;
        case 2:
          text_ += fmt::format("  if (ki > 0) {0} = {1} * {0}; else {0} = sin({0}) + {2};\n", o, x, y);
          break;
        case 3:
          text_ += fmt::format("  real w{0} = {0} * {1}; {0} = grad(w{0} * w{0} * {2}, w{0});\n", o, x, y);
          break;
        default:
          text_ += fmt::format("  {0} = tanh(0.1 * {0}) * {1};\n", o, x);
      }
    }
    text_ += "}\n";
  }

  RandomSource random_;
  Strings scalars_;
  std::vector<Output> outputs_;
  bool sums_only_ = true;
  std::string text_;
};

}  // namespace

std::string random_smooth_text(std::uint64_t seed) { return Author(seed).write(); }

}  // namespace nbcc::test
