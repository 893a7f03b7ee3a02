// A seed becomes a pipeline's text by random_pipeline_text(). Statements are written here, expressions by
// random_expression. Nothing is parsed or run.
#include "tests/support/random_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/support/random_expression.h"

namespace nbcc::test {
namespace {

struct OutputField {
  std::string name;
  Reduction reduction = Reduction::Sum;
  std::string type;
  int width = 1;
  bool negative = false;                                   // sums: the sign of every term
  int places = 0;                                          // of a choice: the length of its array; 0: none
  std::vector<std::pair<std::string, std::string>> along;  // outputs that go along with it, and their values
  bool is_choice() const { return places > 0 || !along.empty(); }
  std::string one() const { return places > 0 ? name + fmt::format("[{}]", places - 1) : name; }
};

class PipelineAuthor {
 public:
  explicit PipelineAuthor(std::uint64_t seed) : random_(seed), expressions_(random_, scope_) {
    text_ = fmt::format("// random pipeline {}\n", seed);
  }

  std::string write() {
    fields();
    if (random_.chance(12)) {
      near_field();
    } else {
      for (int n = random_.between(1, 4); n > 0; --n) output_field();
      for (int n = random_.below(3); n > 0; --n) helper_function();
      if (random_.chance(30)) line("skip_if({});", expressions_.condition(1));
      if (random_.chance(30)) cutoffs();
      for (int n = random_.between(2, 7); n > 0; --n) statement(0);
      // That outputs have in common, or not.
      line("real logit = {};", expressions_.scalar(2).text);
      for (const OutputField& output : outputs_) contribution(output);
    }
    if (random_.chance(50)) finish();
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(std::size_t(2 * indent_), ' ');
    text_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }

  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, counter_++); }

  void fields() {
    scope_.width = random_.between(2, 4);
    const std::string vec = expressions_.vector_type();
    line("input_i {} ai;  // position", vec);
    line("input_j {} aj;", vec);
    line("input_i real bi;");
    line("input_j real bj;");
    scope_.raw_vectors = {"ai", "aj"};
    scope_.vector_differences = {"(aj - ai)", "(ai - aj)"};
    scope_.raw = {"bi", "bj", "ai.x", "aj.y"};
    scope_.differences = {"(bj - bi)", "(bi - bj)", "(aj.x - ai.y)", "(bi - aj.x)"};
    scope_.integers = {"int(bj * 3.0 + 8.1)", "int(j_index % 7)", "int(i_index % 5)"};
    optional_fields();
  }

  void optional_fields() {
    if (random_.chance(50)) {
      line("input_i int ki;");
      line("input_j int kj;");
      for (const char* text : {"ki", "kj", "(kj - ki)", "(ki * 3 % 5 + kj)", "(ki * kj / 2)"})
        scope_.integers.push_back(text);
    }
    if (random_.chance(40)) {
      line("input_j real cj[3];");
      for (const char* text : {"cj[0]", "cj[1]", "cj[2]"}) scope_.raw.push_back(text);
    }
    if (random_.chance(30)) {
      line("input_j double dj;");
      scope_.differences.push_back("(real(dj) - bi)");
    }
    if (random_.chance(60)) {
      line("param real p = {};", number(random_.between(1, 15) / 16.0));
      scope_.raw.push_back("p");
    }
    if (random_.chance(30)) {
      line("param {} u = {}({});", expressions_.vector_type(), expressions_.vector_type(), number(0.375));
      scope_.raw_vectors.push_back("u");
    }
    if (random_.chance(30)) {
      line("param int q = {};", random_.between(-4, 4));
      scope_.integers.push_back("q");
    }
    if (random_.chance(30)) tables();
  }

  // Read at indices that are not always within them, in rows that registers hold and in longer ones.
  void tables() {
    const int count = random_.between(2, 40), columns = random_.between(1, 9);
    line("param real tab[{}] = {};", count, random_numbers(random_, count));
    line("param real rows[2][{0}] = {{{1}, {2}}};", columns, random_numbers(random_, columns),
         random_numbers(random_, columns));
    for (int n = 0; n < 2; ++n) {
      scope_.raw.push_back(fmt::format("tab[{}]", random_.pick(scope_.integers)));
      scope_.raw.push_back(fmt::format("rows[{}][{}]", random_.pick(scope_.integers), random_.pick(scope_.integers)));
    }
  }

  void output_field() {
    OutputField output;
    output.name = fresh("out");
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
    } else if (random_.chance(40)) {
      output.type = expressions_.vector_type();
      output.width = scope_.width;
    }
    output.negative = random_.chance(40);
    const bool chooses = output.reduction == Reduction::ArgMin || output.reduction == Reduction::ArgMax;
    if (chooses && random_.chance(30)) output.places = random_.between(1, 6);
    const std::string array = output.places > 0 ? fmt::format("[{}]", output.places) : "";
    line("output({}) {} {}{};", name(output.reduction), output.type, output.name, array);
    if (chooses)
      for (int n = random_.below(3); n > 0; --n) goes_along(output, array);
    outputs_.push_back(output);
  }

  // What is exact in every precision, so that devices agree on it.
  void goes_along(OutputField& output, const std::string& array) {
    const std::string name = fresh("along");
    // -1 is what the shim takes for memory that was never written.
    const std::pair<std::string, std::string> kinds[] = {
        {"real", random_.pick(scope_.differences)},
        {expressions_.vector_type(), random_.pick(scope_.vector_differences)},
        {"int", random_.pick(scope_.integers) + " + 1000"},
        {"double", random_.pick(scope_.raw)}};
    const auto& [type, value] = kinds[random_.below(4)];
    line("output(at) {} {}{};", type, name, array);
    output.along.emplace_back(name, value);
  }

  // Sums over all pairs but those of a particle with itself, or of two at one place, and nothing else that is
  // conditional: what makes such a pair's term 0 must not let its other factors in. A distance is at most 4.
  void near_field() {
    const std::string d = fresh("d"), w = fresh("w"), difference = random_.pick(scope_.vector_differences);
    line("real {0} = dot({1}, {1});", d, difference);
    for (int n = random_.between(1, 3); n > 0; --n) {
      outputs_.push_back({fresh("out"), Reduction::Sum, "real", 1, random_.chance(40)});
      line("output(sum) real {};", outputs_.back().name);
    }
    if (random_.chance(50))
      line("skip_if(i_index == j_index);");
    else
      line("skip_if({} == 0.0);", d);
    line("real {} = {}({});", w, random_.chance(50) ? "rsqrt" : "1.0 / sqrt", d);
    for (const OutputField& output : outputs_)
      line("{} {} ({} + {}) * {};", output.name, output.negative ? "-=" : "+=", random_.pick(scope_.raw), number(9.0),
           w);
  }

  // One distance and what is beyond it; a particle may be as far as nothing else from itself.
  void cutoffs() {
    const std::string d = fresh("d"), measure = expressions_.exact_measure();
    line("real {} = {};", d, random_.chance(50) ? "i_index == j_index ? 20.0 : " + measure : measure);
    scope_.locals.push_back({{d, 0, 20, 0}, 1});
    for (int n = random_.between(1, 2); n > 0; --n) {
      const std::string beyond = fmt::format("{} >= {}", d, number(0.25 * random_.between(1, 12)));
      if (random_.chance(70))
        line("skip_if({});", beyond);
      else
        line("skip_if({} || {});", beyond, expressions_.condition(1));
    }
  }

  // A function of (x, y, c) that returns early in some of its branches.
  void helper_function() {
    const std::string name = fresh("helper");
    HelperFunction f;
    f.width = random_.chance(35) ? scope_.width : 1;
    const std::string type = f.width == 1 ? "real" : expressions_.vector_type();
    const std::string argument = f.width == 1 ? "real x" : "const " + type + "& x";
    line("{} {}({}, real y, bool c) {{", type, name, argument);
    ++indent_;
    const std::vector<Local> outside =
        std::exchange(scope_.locals, {{{"x", -2, 2, kArgumentError}, f.width}, {{"y", -2, 2, kArgumentError}, 1}});
    scope_.conditions = {"c", "!c"};
    f.result = expressions_.of_width(f.width, 2);
    const Bounded other = expressions_.of_width(f.width, 2), last = expressions_.of_width(f.width, 1);
    const std::string first_condition = expressions_.condition(1);
    line("if ({}) {{", first_condition);
    line("  return {};", f.result.text);
    if (random_.chance(50)) {
      line("}} else if ({}) {{", expressions_.condition(0));
      line("  {} early = {};", type, other.text);
      line("  return early;");
    }
    line("}}");
    line("{} late = {};", type, last.text);
    line("return late;");
    f.result = either(either(f.result, other), last);
    f.result.text = name;
    scope_.locals = outside;
    scope_.conditions.clear();
    --indent_;
    line("}}");
    scope_.functions.push_back(f);
  }

  void statement(int depth) {
    switch (random_.below(depth < 2 ? 10 : 5)) {
      case 0:
        return define(1);
      case 1:
        return define(scope_.width);
      case 2:
      case 3:
        return reassign();
      case 4:
        return exact_locals();
      case 5:
        return loop();
      case 6:
        return local_array();
      case 7:
        return sine_and_cosine();
      default:
        return branch(depth);
    }
  }

  void add_local(const std::string& name, Bounded value, int width) {
    value.text = name;
    scope_.locals.push_back({value, width});
  }

  void define(int width) {
    const Bounded value = expressions_.of_width(width, 3);
    const std::string name = fresh("v");
    line("{} {} = {};", width == 1 ? "real" : expressions_.vector_type(), name, value.text);
    add_local(name, value, width);
  }

  // A local variable that exists already takes another value.
  void reassign() {
    if (scope_.locals.empty()) return define(1);
    const auto index = std::size_t(random_.below(int(scope_.locals.size())));
    const Local old = scope_.locals[index];
    const Bounded value = expressions_.of_width(old.width, 2);
    Local changed = old;
    const int kind = random_.below(4);
    const Bounded added = sum(old.value, value);
    if (kind == 0 && added.size() < 20 && added.error < 40) {
      line("{} += {};", old.value.text, value.text);
      changed.value = added;
    } else if (kind == 1) {
      line("{} *= 0.75;", old.value.text);
      changed.value = product(old.value, literal(0.75));
    } else if (kind == 2 && old.width > 1) {
      const Bounded part = expressions_.scalar(2);
      line("{}.y = {};", old.value.text, part.text);
      changed.value = either(old.value, part);
    } else {
      line("{} = {};", old.value.text, value.text);
      changed.value = value;
    }
    changed.value.text = old.value.text;
    scope_.locals[index] = changed;
  }

  // Variables of the other types hold what every precision represents exactly, since the oracle does not round.
  void exact_locals() {
    const std::string name = fresh("e");
    switch (random_.below(3)) {
      case 0:
        line("float {} = float(bj) - float(bi);", name);
        return add_local(fmt::format("real({})", name), name, 2);
      case 1:
        line("double {} = double(bj) * double(0.5) - double(bi);", name);
        return add_local(fmt::format("real({})", name), name, 2);
      default:
        line("int {} = {} % 7;", name, random_.pick(scope_.integers));
        return add_local(fmt::format("(0.25 * real({}))", name), name, 2);
    }
  }

  // Such a variable is not assigned again: a copy of the working precision stands for it.
  void add_local(const std::string& text, const std::string& name, double size) {
    line("real r_{} = {};", name, text);
    scope_.locals.push_back({{"r_" + name, -size, size, 0}, 1});
  }

  void loop() {
    const std::string name = fresh("v"), counter = fresh("n");
    const int trips = random_.between(2, 4);
    const Bounded term = expressions_.scalar(2);
    Bounded value = literal(0.5);
    line("real {} = 0.5;", name);
    line("for (int {0} = 0; {0} < {1}; ++{0}) {{", counter, trips);
    line("  {0} = 0.25 * {0} + 0.125 * {1} * aj[{2} % {3}] + 0.1 * real({2});", name, term.text, counter, scope_.width);
    line("}}");
    const Bounded step = sum(product(product(literal(0.125), term), {"", -1, 1, 0}), {"", 0, 0.4, 1});
    for (int trip = 0; trip < trips; ++trip) value = either(value, sum(product(literal(0.25), value), step));
    add_local(name, value, 1);
  }

  void local_array() {
    const std::string array = fresh("t"), counter = fresh("n");
    const Bounded first = within(expressions_.scalar(2), -4, 4), second = within(expressions_.scalar(1), -4, 4);
    if (random_.chance(50)) {
      line("real {}[3] = {{{}, {}, bi}};", array, first.text, second.text);
    } else {
      line("real {}[3];", array);
      line("for (int {0} = 0; {0} < 3; {0}++) {1}[{0}] = bi;", counter, array);
      line("{}[0] = {};", array, first.text);
      line("{}[1] = {};", array, second.text);
    }
    const std::string name = fresh("v");
    line("real {0} = {1}[0] - 0.5 * {1}[1] + {1}[2];", name, array);
    Bounded total = sum(first, sum(product(literal(-0.5), second), {"", -1, 1, 0}));
    add_local(name, total, 1);
  }

  void sine_and_cosine() {
    const Bounded x = within(expressions_.scalar(2), -8, 8);
    const std::string s = fresh("v"), c = fresh("v");
    line("real {}, {};", s, c);
    line("sincos({}, {}, {});", x.text, s, c);
    for (const std::string& name : {s, c}) add_local(name, {"", -1, 1, x.error + 2}, 1);
  }

  // if / else if / else, each with some statements. What was known before holds the union of all branches after it.
  void branch(int depth) {
    if (scope_.locals.empty()) define(1);
    const std::string unset = fresh("v");
    const bool sets = random_.chance(40);  // a variable that every branch sets for the first time
    const bool has_else = sets || random_.chance(60);
    if (sets) line("real {};", unset);
    const std::vector<Local> before = scope_.locals;
    std::vector<Local> after = before;
    Bounded value{"", 1e9, -1e9, 0};
    const auto block = [&] {
      ++indent_;
      scope_.locals = before;
      for (int n = random_.between(1, 3); n > 0; --n) statement(depth + 1);
      if (sets) {
        const Bounded here = expressions_.scalar(2);
        line("{} = {};", unset, here.text);
        value = either(value, here);
      }
      for (std::size_t k = 0; k < before.size(); ++k) after[k].value = either(after[k].value, scope_.locals[k].value);
      scope_.locals = before;
      --indent_;
    };
    line("if ({}) {{", expressions_.condition(1));
    block();
    if (random_.chance(35)) {
      line("}} else if ({}) {{", expressions_.condition(1));
      block();
    }
    if (has_else) {
      line("}} else {{");
      block();
    }
    line("}}");
    scope_.locals = after;
    if (sets) add_local(unset, value, 1);
  }

  void contribution(const OutputField& output) {
    const bool guarded = random_.chance(35);
    if (guarded) {
      line("if ({}) {{", expressions_.condition(1));
      ++indent_;
    }
    reduce(output);
    if (!guarded) return;
    --indent_;
    if (!output.is_choice() && random_.chance(40)) {
      line("}} else {{");
      ++indent_;
      reduce(output);
      --indent_;
    }
    line("}}");
  }

  // Moved to where every term is at least 1, so that its error is small against it.
  std::string term(int width) {
    const Bounded value = expressions_.of_width(width, 3);
    const std::string shift = number(2.0 + double(int(value.size())));
    return width == 1 ? fmt::format("{} + {}", value.text, shift)
                      : fmt::format("{} + {}({})", value.text, expressions_.vector_type(), shift);
  }

  // The rest of a statement that changes an output of these reductions.
  std::string joined(const OutputField& output) {
    const auto logit = [&] {
      return random_.chance(70) ? std::string("logit") : "5.0 * (" + expressions_.scalar(1).text + ")";
    };
    switch (output.reduction) {
      case Reduction::LogSumExp:
        return fmt::format("= logsumexp({}, {})", output.name, logit());
      case Reduction::Softmax:
        return fmt::format("= softmax({}, {}, {})", output.name, logit(), term(output.width));
      case Reduction::Product:
        return fmt::format("*= 1.0 + 0.01 * ({})", expressions_.scalar(2).text);
      case Reduction::Count:
        return "+= " + expressions_.condition(1);
      default:
        return "";
    }
  }

  void reduce(const OutputField& output) {
    if (const std::string rest = joined(output); !rest.empty()) return line("{} {};", output.name, rest);
    const char* const assign = output.negative ? "-=" : "+=";
    const std::string& name = output.name;
    const std::string_view reduction = nbcc::name(output.reduction);
    if (output.reduction == Reduction::ArgMin || output.reduction == Reduction::ArgMax) {
      line("{0} = {1}({0}, {2});", name, reduction,
           random_.chance(60) ? expressions_.exact_measure() : expressions_.whole_measure(random_.chance(50)));
      for (const auto& [along, value] : output.along) line("{} = at({}, {});", along, name, value);
    } else if (output.reduction != Reduction::Sum && output.type != "real" && output.width == 1) {
      line("{0} = {1}({0}, {2});", name, reduction, expressions_.whole_measure(output.type == "index"));
    } else if (output.reduction != Reduction::Sum) {
      line("{0} = {1}({0}, {2});", name, reduction, term(output.width));
    } else if (output.type == "int") {
      line("{} {} {};", name, assign, random_.between(1, 3) * (random_.chance(50) ? 1 : 500000000));
    } else if (output.type == "index") {
      line("{} {} j_index * 1000003 + {};", name, assign, random_.between(1, 3));
    } else if (output.type == "double") {
      line("{} {} double({});", name, assign, term(1));
    } else if (output.width > 1 && random_.chance(30)) {
      for (int k = 0; k < output.width; ++k) line("{}.{} {} {};", name, "xyzw"[k], assign, term(1));
    } else {
      line("{} {} ({});", name, assign, term(output.width));
    }
  }

  void finish() {
    if (random_.chance(20)) return line("void finish() {{}}");
    line("void finish() {{");
    ++indent_;
    for (const OutputField& output : outputs_) {
      if (random_.chance(30)) continue;
      if (output.type == "int" || output.type == "index")
        finish_whole(output);
      else
        finish_real(output);
    }
    --indent_;
    line("}}");
  }

  void finish_whole(const OutputField& output) {
    if (output.reduction == Reduction::ArgMin || output.reduction == Reduction::ArgMax)
      return line("if ({0} > 2) {0} = {0} + 5;", output.one());
    if (random_.chance(50)) return line("{0} = {0} / 2;", output.name);
    return line("{0} = {0};", output.name);
  }

  void finish_real(const OutputField& output) {
    std::vector<std::string> counts;
    for (const OutputField& other : outputs_)
      if (other.type == "int" || other.type == "index") counts.push_back(other.one());
    const bool scalar = output.width == 1 && output.type == "real";
    if (scalar && !counts.empty() && random_.chance(60)) {
      line("{0} = {0} + 0.001 * real({1});", output.name, random_.pick(counts));
    } else if (scalar && random_.chance(40)) {
      line("{0} = sqrt(fabs({0}) + 1.0);", output.name);
    } else if (scalar && random_.chance(40)) {
      line("if (bi < 0.25) {0} = 2.0 * {0};", output.name);
    } else if (output.type == "double") {
      line("{0} = {0} * double(0.5);", output.name);
    } else {
      line("{0} = (1.5 + 0.25 * bi + real(i_index % 3)) * {0};", output.name);
    }
  }

  RandomSource random_;
  Scope scope_;
  ExpressionAuthor expressions_;
  std::vector<OutputField> outputs_;
  std::string text_;
  int indent_ = 0, counter_ = 0;
};

}  // namespace

std::string random_pipeline_text(std::uint64_t seed) { return PipelineAuthor(seed).write(); }

}  // namespace nbcc::test
