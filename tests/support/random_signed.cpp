// Entry points: random_signed_text(), signed_pairs(). Nothing is parsed or run here.
#include "tests/support/random_signed.h"

#include <fmt/format.h>

#include <vector>

#include "tests/support/random_source.h"

namespace nbcc::test {
namespace {

const std::vector<std::string> kRoots{"sqrt({0})",
                                      "rsqrt({0})",
                                      "(1.0 / sqrt({0}))",
                                      "sqrt(sqrt({0}))",
                                      "pow({0}, 0.5)",
                                      "pow({0}, 1.5)",
                                      "pow({0}, -0.5)",
                                      "pow({0}, -1.5)",
                                      "pow({0}, -2.5)",
                                      "({0} * sqrt({0}))",
                                      "(sqrt({0}) / {0})",
                                      "(sqrt({0}) * sqrt({0}))",
                                      "(rsqrt({0}) * rsqrt({0}))",
                                      "(sqrt({0}) / sqrt({0}))",
                                      "pow(sqrt({0}), -4.0)",
                                      "(pow({0}, 1.5) * pow({0}, 0.5))"};
const std::vector<std::string> kWhole{"{0}",
                                      "(1.0 / {0})",
                                      "(1.0 / ({0} * {0}))",
                                      "(1.0 / ({0} * {0} * {0}))",
                                      "pow({0}, -1.0)",
                                      "pow({0}, -2.0)",
                                      "pow({0}, -3.0)",
                                      "pow({0}, 2.0)",
                                      "pow({0}, 3.0)",
                                      "({0} * {0})",
                                      "sqrt({0} * {0})",
                                      "sqrt(1.0 / ({0} * {0}))"};
const std::vector<std::string> kBases{"y",           "z",       "(y * z)",         "(z - y)",
                                      "(y * y - p)", "(p + z)", "(y * y + z * z)", "(-y)"};

class Author {
 public:
  explicit Author(std::uint64_t seed) : random_(seed) {
    // A few bases only, so that their powers meet.
    for (int n = random_.between(1, 2); n > 0; --n) bases_.push_back(random_.pick(kBases));
  }

  std::string write() {
    std::string text =
        "input_j real y; input_j real z; input_i real w; param real p = 1.0;\n"
        "output(sum) real a; output(sum) real b; output(max) real c; output(count) int n;\n";
    text += fmt::format("real v = {};\n", random_.chance(50) ? root() : whole());
    text += statement("a += {};") + statement("b -= w * {};") + statement("c = max(c, {});");
    return text + fmt::format("n += {} < 0.0;\n", random_.chance(50) ? choice() : whole());
  }

 private:
  std::string power_of(const std::vector<std::string>& forms) {
    return fmt::format(fmt::runtime(random_.pick(forms)), random_.pick(bases_));
  }
  std::string root() { return power_of(kRoots); }
  std::string whole() { return power_of(kWhole); }

  std::string factor(bool with_root) {
    const std::string one = with_root && random_.chance(60) ? root() : whole();
    if (random_.chance(15)) return "v";
    return random_.chance(60) ? one : fmt::format("{} * {}", one, with_root ? root() : whole());
  }
  std::string term(bool with_root) {
    const std::string one = factor(with_root);
    return random_.chance(60) ? one : fmt::format("({} + 1.25 * {})", one, factor(with_root));
  }
  std::string choice() { return fmt::format("({} ? {} : {})", guard(), term(true), term(random_.chance(30))); }

  std::string guard() {
    const std::string x = random_.pick(bases_), other = random_.pick(bases_);
    switch (random_.below(9)) {
      case 0:
        return fmt::format("{} < 0.0", x);
      case 1:
        return fmt::format("{} >= 0.0", x);
      case 2:
        return fmt::format("!({} <= 0.25)", x);
      case 3:
        return fmt::format("{} > 0.0 && {} > 0.0", x, other);
      case 4:
        return fmt::format("{} > 0.0 || {} > 0.0", x, other);
      case 5:
        return "z > y";
      case 6:
        return fmt::format("{} > 0.0", root());
      default:
        return fmt::format("{} > 0.0", x);
    }
  }

  std::string statement(const char* format) {
    const auto with = [&](const std::string& term) { return fmt::format(fmt::runtime(format), term) + "\n"; };
    switch (random_.below(4)) {
      case 0:
        return with(random_.chance(50) ? choice() : term(random_.chance(30)));
      case 1:
        return fmt::format("if ({}) {}", guard(), with(term(true)));
      default:
        return fmt::format("if ({}) {}else {}", guard(), with(term(true)), with(term(random_.chance(20))));
    }
  }

  RandomSource random_;
  std::vector<std::string> bases_;
};

}  // namespace

std::string random_signed_text(std::uint64_t seed) { return Author(seed).write(); }

std::vector<OracleInput> signed_pairs() {
  std::vector<OracleInput> inputs;
  for (const double y : {-2.0, -1.5, -0.75, 0.75, 1.5, 2.0})
    for (const double z : {-1.75, -0.625, 0.625, 1.75})
      inputs.push_back({.ni = 1, .nj = 1, .i = {{0.75}}, .j = {{y}, {z}}, .params = {1.1875}});
  return inputs;
}

}  // namespace nbcc::test
