// A family and a number -> the text of a pipeline, and particles for it. Entry points: crossed_text(), crossed_input().
#include "tests/support/crossed_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "compiler/passes/derived/adjoint.h"
#include "compiler/source/parse.h"
#include "runtime/sum/plan/capabilities.h"
#include "tests/support/random_source.h"

namespace nbcc::test {
namespace {

constexpr double kGrid = 1.0 / 64, kBox = 2 + kGrid, kHalfWidth = 1;

class TextAuthor {
 public:
  TextAuthor(TextFamily family, std::uint64_t number)
      : family_(family), number_(number), random_(number * 31 + std::uint64_t(family)) {}

  std::string write() {
    if (family_ == TextFamily::Far) return far();
    if (family_ == TextFamily::Wide) return wide();
    inputs();
    if (family_ == TextFamily::Images)
      images();
    else if (family_ == TextFamily::Cutoff && random_.chance(40))
      text_ += "vec3 d = xj - xi;\nd -= box * round(d / box);\n";
    else
      text_ += random_.chance(30) ? "vec3 d = -(xi - xj);\n" : "vec3 d = xj - xi;\n";
    text_ += "real r2 = dot(d, d);\n";
    guard();
    value();
    if (family_ == TextFamily::BothEnds || family_ == TextFamily::Derivative) {
      sums();
    } else {
      std::uint64_t row = 0;
      for (const Capability& one : capabilities())
        if (one.kind == Capability::Kind::Result && (row++ + number_) % 2 == 0) result(one.name);
      if (family_ == TextFamily::Nearest) nearest();
    }
    if (family_ == TextFamily::PairOutput)
      declare("output(pair) vec3 after;\noutput(pair) int age;", "after = w * d + before;\nage = 1 + ki;\n");
    return text_ + outputs_ + body_ + (finish_.empty() ? "" : "void finish() { " + finish_ + "}\n");
  }

  ImageForm form() const { return form_; }

 private:
  bool has_loop() const { return loop_ > 0; }

  void images() {
    const bool moves = random_.chance(33), turns = random_.chance(33);
    const std::string i = moves ? "(xi + 0.5 * vi)" : "xi", j = moves ? "(xj + 0.5 * vj)" : "xj";
    form_ = ImageForm(random_.below(5));
    text_ += image_difference(form_, turns ? i + " - " + j : j + " - " + i, turns ? "-" : "");
    declare("output(sum) int moved;",
            "moved += image_index(0) + 3 * image_index(1) - 5 * image_index(2) + int(self_pair) + int(j_index);\n");
    if (random_.chance(50)) declare("output(sum) real strain;", "strain += grad(w, a.x);\n");
  }

  void inputs() {
    if (family_ == TextFamily::Images)
      text_ =
          "input_i vec3 xi; input_i vec3 vi; input_j vec3 xj; input_j vec3 vj;\nparam vec3 a; param vec3 b; param vec3 "
          "c;\n";
    else
      text_ = "input_i vec3 xi; input_j vec3 xj;\n";
    text_ +=
        "input_i real bi; input_i int ki; input_i real hi;\n"
        "input_j real bj; input_j int kj; input_j real hj;\n"
        "param real rc = " +
        pick({"0.5", "0.75", "1.25"}) + ";\n";
    if (family_ == TextFamily::Cutoff) text_ += fmt::format("param vec3 box = vec3({0}, {0}, {0});\n", kBox);
    if (family_ == TextFamily::PairInput || family_ == TextFamily::PairOutput)
      text_ += "input_pair vec3 before; input_pair real strength;\n";
    if (random_.chance(40)) {
      has_table_ = true;
      text_ +=
          "param real tab[4] = {1.0, 0.5, 2.0, 1.5};\n"
          "param real both[3][3] = {{1.0, 0.5, 2.0}, {0.5, 1.5, 0.25}, {2.0, 0.25, 1.0}};\n";
    }
    if (random_.chance(40)) {
      // Long loops have no kernel of both ends.
      const bool is_long = family_ != TextFamily::BothEnds && random_.chance(50);
      loop_ = is_long ? random_.between(60, 70) : random_.between(2, 9);
      text_ += fmt::format("input_i real fi[{0}]; input_j real fj[{0}];\n", loop_);
    }
  }

  void guard() {
    const bool has_cutoff = family_ == TextFamily::Cutoff || family_ == TextFamily::Images ||
                            family_ == TextFamily::Derivative || (family_ == TextFamily::BothEnds && number_ % 2 == 0);
    std::vector<std::string> guards;
    if (has_cutoff) {
      std::string reach = "rc";
      if (family_ != TextFamily::Derivative && random_.chance(50))
        reach = pick({"max(hi, hj)", "min(hi, hj)", "0.5 * (hi + hj)", family_ == TextFamily::BothEnds ? "rc" : "hj"});
      text_ += fmt::format("real reach = {};\n", reach);
      guards.push_back(pick({"r2 >= reach * reach", "sqrt(r2) > reach", "!(r2 < reach * reach)"}));
    }
    if (random_.chance(40)) guards.push_back(family_ == TextFamily::Images ? "self_pair" : "i_index == j_index");
    if (family_ != TextFamily::BothEnds && random_.chance(30)) guards.emplace_back("kj > 2 && ki < 1");
    for (const std::string& one : guards) text_ += fmt::format("skip_if({});\n", one);
  }

  // w: at least 0.05 in size, even in i and j where pairs are computed from both ends.
  void value() {
    const std::string factor = family_ == TextFamily::BothEnds ? "(2.0 + bj)" : pick({"(2.0 + bj)", "(3.0 + bi * bj)"});
    text_ += fmt::format("real w = {} * {};\n", factor,
                         pick({"1.0 / (0.25 + r2)", "exp(-0.5 * r2)", "rsqrt(r2 + 0.125)", "sqrt(1.0 + r2)"}));
    if (has_table_) text_ += "w += tab[kj] + both[ki][kj];\n";
    if (has_loop()) {
      const std::string term = pick({"(fj[e] - fi[e]) * (fj[e] - fi[e])", "abs(fj[e] - fi[e])"});
      text_ += fmt::format("real s = 0.0;\nfor (int e = 0; e < {}; ++e) s += {};\nw += 0.125 * s;\n", loop_, term);
    }
    if (family_ == TextFamily::PairInput || family_ == TextFamily::PairOutput) text_ += "w *= 2.0 + strength;\n";
    if (random_.chance(30)) text_ += "if (kj > ki) w = 0.5 * w;\n";
  }

  void sums() {
    declare("output(sum) vec3 force;", "force += w * d;\n");
    if (random_.chance(60)) declare("output(sum) real pot;", "pot -= w;\n");
    if (random_.chance(40)) declare("output(total) real energy;", "energy += 0.5 * w;\n");
    if (family_ == TextFamily::BothEnds) more_sums();
    if (random_.chance(40)) finish_ += "force = 2.0 * force; ";
  }

  // Neither odd nor even terms, extremes, whole numbers, and a term that the sign of a zero decides.
  void more_sums() {
    if (random_.chance(50)) declare("output(count) int n;", "n += r2 < 0.5;\n");
    if (random_.chance(30))
      declare("output(min) real low;\noutput(max) int top;",
              "low = min(low, r2 + bj);\ntop = max(top, kj - 2 * ki);\n");
    if (random_.chance(30)) declare("output(sum) int kinds;", "kinds += ki + 2 * kj;\n");
    if (random_.chance(30))
      declare("output(sum) double heat;", "if (i_index > j_index || kj != 1) heat += double(w * (2.0 + bj));\n");
    if (random_.chance(30)) declare("output(sum) complex phase;", "phase += (d.x + bj * 1i) * w;\n");
    if (random_.chance(30)) declare("output(sum) real turned;", "turned += atan2(bj - bi, real(-1)) + 8.0;\n");
    if (random_.chance(30)) finish_ += "force.x = force.x + real(i_index); ";
  }

  void nearest() {
    if (outputs_.find("near") == std::string::npos) result("argmin");
    // Nothing but what the nearest decide.
    outputs_.clear(), body_.clear(), finish_.clear();
    declare("output(argmin) index near" + pick({"", "[3]"}) + ";", "near = argmin(near, r2);\n");
    declare("output(min) real least;", "least = min(least, r2);\n");
    if (number_ % 2 == 0) {
      const std::string array = outputs_.find("[3]") == std::string::npos ? "" : "[3]";
      declare("output(at) vec3 way" + array + ";", "way = at(near, d);\n");
    }
  }

  // Statements whose output has the row `name` of the table.
  void result(std::string_view name) {
    const int n = count_++;
    const auto add = [&](std::string_view declaration, std::string_view statement) {
      const std::string as = fmt::format("o{}", n);
      declare(fmt::format(fmt::runtime(declaration), as), fmt::format(fmt::runtime(statement), as));
    };
    if (name == "sum, min, max, product, count") {
      static const std::vector<std::pair<const char*, const char*>> kinds = {
          {"output(sum) vec3 {0};", "{0} += w * d;\n"},
          {"output(sum) double {0};", "{0} += double(w);\n"},
          {"output(min) real {0};", "{0} = min({0}, w + r2);\n"},
          {"output(max) int {0};", "{0} = max({0}, kj - 2 * ki);\n"},
          {"output(product) double {0};", "{0} *= 1.0 + 0.001 * r2;\n"},
          {"output(count) int {0};", "{0} += r2 < 0.5;\n"},
          {"output(sum) complex {0};", "{0} += complex(w, 3.0 + bi) * exp(1i * bj);\n"},
          {"output(sum) index {0};", "{0} += 1000003 * j_index + kj;\n"}};
      const auto [declaration, statement] = random_.pick(kinds);
      add(declaration, statement);
      declare("output(sum) real all;", "all += w;\n");
      if (random_.chance(40)) finish_ += "all = 2.0 * all + bi; ";
    } else if (name == "argmin") {
      add("output(argmin) index {0}" + pick({"", "[4]"}) + ";",
          "{0} = argmin({0}, " + pick({"r2", "kj * ki", "bj"}) + ");\n");
    } else if (name == "argmax") {
      add("output(argmax) index {0}" + pick({"", "[2]"}) + ";",
          "if (kj >= ki) {0} = argmax({0}, " + pick({"r2", "bj"}) + ");\n");
    } else if (name == "output(at)") {
      const std::string array = pick({"", "[3]"});
      const bool is_max = random_.chance(30);
      declare(fmt::format("output({0}) index who{1};\noutput(at) vec3 way{1};\noutput(at) {2} kind{1};",
                          is_max ? "argmax" : "argmin", array, pick({"int", "index", "double"})),
              fmt::format("who = {0}(who, {1});\nway = at(who, d);\nkind = at(who, kj + 100);\n",
                          is_max ? "argmax" : "argmin", pick({"r2 + bj", "kj * kj", "bj"})));
    } else if (name == "logsumexp") {
      add("output(logsumexp) real {0};", "{0} = logsumexp({0}, w);\n");
    } else if (name == "softmax") {
      add("output(softmax) real {0};", "{0} = softmax({0}, bj - r2, 2.0 + bj);\n");
    } else if (name == "output(total)") {
      static const std::vector<std::array<const char*, 3>> kinds = {
          {"output(total) real {0};", "{0} += w;\n", "{0} += 2.0 + bi; "},
          {"output(total) vec3 {0};", "{0} += w * d;\n", "{0} += vec3(bi, 1.0, bi); "},
          {"output(total) double {0}[2];", "{0}[0] += double(w); {0}[1] += 3;\n", "{0}[1] += double(2.0 + bi); "},
          {"output(total, min) real {0};", "{0} = min({0}, w);\n", "if (bi > 0.0) {0} = min({0}, 1.5 + bi); "},
          {"output(total, max) int {0};", "{0} = max({0}, kj - ki);\n", "{0} = max({0}, ki); "},
          {"output(total, logsumexp) real {0};", "{0} = logsumexp({0}, -r2);\n", "{0} = logsumexp({0}, bi); "},
          {"output(total, count) index {0};", "{0} += r2 > 0.5;\n", "{0} += bi > 0.0; "}};
      const auto [declaration, statement, at_end] = random_.pick(kinds);
      add(declaration, statement);
      if (random_.chance(40)) finish_ += fmt::format(fmt::runtime(at_end), fmt::format("o{}", n));
      if (random_.chance(40)) declare("output(total) real energy;", "energy += w;\n");
    } else if (name == "histograms") {
      if (random_.chance(60)) declare("output(total) real g[9];", "g[int(r2 * 4.0)] += w;\n");
      add("output(sum) " + pick({"real {0}[7]", "int {0}[300]", "double {0}[5]"}) + ";", "{0}[kj + 2 * ki] += 1;\n");
    } else {
      throw std::logic_error(fmt::format("crossed_text.cpp has no statements for the results '{}'", name));
    }
  }

  std::string far() {
    const std::string form = pick({"rsqrt(r2)", "exp(-r2)", "1.0 / r2"});
    text_ =
        "input_i vec3 xi; input_j vec3 xj; input_j real bj;\noutput(sum) real pot;\noutput(sum) vec3 force;\n"
        "vec3 d = xj - xi;\nreal r2 = dot(d, d) + 0.015625;\n";
    return text_ + fmt::format("real w = (2.0 + bj) * {};\npot += w;\nforce += w * d;\n", form);
  }

  std::string wide() {
    text_ = fmt::format("input_i real fi[{0}]; input_j real fj[{0}]; input_j real bj;\n", 40 + random_.below(30));
    const std::string count = text_.substr(16, 2);
    const bool is_mean = random_.chance(30);
    if (is_mean) {
      declare("output(softmax) real mean[" + count + "];",
              "for (int e = 0; e < " + count + "; ++e) mean[e] = softmax(mean[e], 0.02 * s, fj[e]);\n");
      if (random_.chance(50)) declare("output(logsumexp) real all;", "all = logsumexp(all, 0.02 * s);\n");
    } else {
      if (random_.chance(60)) declare("output(sum) real pot;", "pot += w;\n");
      if (random_.chance(50) || outputs_.empty())
        declare("output(sum) real slope[" + count + "];",
                "for (int e = 0; e < " + count + "; ++e) slope[e] += w * (fj[e] - fi[e]);\n");
    }
    const std::string product = random_.chance(50) ? "real s = dot(fi, fj);\n"
                                                   : "real s = 0.0;\nfor (int e = 0; e < " + count +
                                                         "; ++e) s += (fj[e] - fi[e]) * (fj[e] - fi[e]);\n";
    const std::string guard = random_.chance(40) ? "skip_if(i_index == j_index);\n" : "";
    return text_ + outputs_ + product + guard + "real w = (2.0 + bj) * exp(-0.02 * s);\n" + body_;
  }

  void declare(std::string_view declaration, std::string_view statement) {
    outputs_ += fmt::format("{}\n", declaration);
    body_ += statement;
  }
  std::string pick(const std::vector<std::string>& from) { return random_.pick(from); }

  TextFamily family_;
  std::uint64_t number_;
  RandomSource random_;
  std::string text_, outputs_, body_, finish_;
  int loop_ = 0, count_ = 0;
  ImageForm form_ = ImageForm::Box;
  bool has_table_ = false;
};

}  // namespace

TextFamily family_of(std::string_view row, std::uint64_t number) {
  if (row == "search" || row == "batches") return number % 3 == 2 ? TextFamily::Derivative : TextFamily::Cutoff;
  if (row == "nearest") return TextFamily::Nearest;
  if (row == "symmetric") return TextFamily::BothEnds;
  if (row.starts_with("far ")) return TextFamily::Far;
  if (row == "matrix units") return TextFamily::Wide;
  if (row == "every_image()" || row == "every image") return TextFamily::Images;
  if (row == "input_pair") return TextFamily::PairInput;
  if (row == "output(pair)") return TextFamily::PairOutput;
  const Capability* const known = find_capability(row);
  if (!known || known->kind == Capability::Kind::Pipeline)
    throw std::logic_error(fmt::format("crossed_text.cpp has no texts for '{}'", row));
  return number % 3 == 0 ? TextFamily::AllPairs : TextFamily::Cutoff;
}

CrossedText crossed_text(TextFamily family, std::uint64_t number) {
  TextAuthor author(family, number);
  CrossedText made{author.write(), {}, number, author.form()};
  made.pipeline = parse({"crossed.pipe", made.text});
  if (family == TextFamily::Derivative) {
    const AdjointSide side = number / 2 % 2 == 0 ? AdjointSide::I : AdjointSide::J;
    made.pipeline = adjoint_pipeline(made.pipeline, {}, side).pipeline;
    made.text += fmt::format("// its adjoint, side {}\n", side == AdjointSide::I ? "i" : "j");
  }
  return made;
}

OracleInput crossed_input(const CrossedText& text, std::int64_t ni, std::int64_t nj, bool one_set, std::uint64_t seed) {
  RandomSource random(seed);
  OracleInput input;
  input.ni = ni;
  input.nj = nj;
  input.i_offset = input.j_offset = random.between(0, 3);
  input.params.resize(std::size_t(text.pipeline.components(Role::Param)));
  const auto number_for = [&](const Field& field) {
    if (is_integral(field.type)) return double(random.below(field.type == Type::Index ? 8 : 4));
    if (field.name[0] == 'h') return double(random.between(4, 20)) / 16;  // reaches
    return double(random.between(-64, 63)) * kGrid * kHalfWidth;
  };
  for (const Field& field : text.pipeline.fields) {
    if (field.role == Role::Param)
      for (std::size_t c = 0; c < std::size_t(field.numbers()); ++c)
        input.params[std::size_t(field.first) + c] =
            field.defaults.empty() ? number_for(field) : field.defaults[std::min(c, field.defaults.size() - 1)];
    if (field.role != Role::InputI && field.role != Role::InputJ) continue;
    const bool is_i = field.role == Role::InputI;
    const Field* const partner =
        one_set && !is_i ? text.pipeline.find(field.name.substr(0, field.name.size() - 1) + "i") : nullptr;
    for (int c = 0; c < field.components(); ++c) {
      std::vector<double> column(std::size_t(is_i ? ni : nj));
      for (double& value : column) value = number_for(field);
      if (partner && partner->role == Role::InputI) column = input.i[std::size_t(partner->first + c)];
      (is_i ? input.i : input.j).push_back(std::move(column));
    }
  }
  if (text.text.find("every_image") != std::string::npos) give_cell(text.pipeline, text.form, input, random);
  return input;
}

}  // namespace nbcc::test
