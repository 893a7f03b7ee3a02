// A seed becomes a pipeline's text by random_pipeline_text(). Statements are written here, declarations by
// random_fields, expressions by random_expression. Nothing is parsed or run.
#include "tests/support/random_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/support/random_element_loops.h"
#include "tests/support/random_expression.h"
#include "tests/support/random_fields.h"
#include "tests/support/random_text.h"

namespace nbcc::test {
namespace {

class PipelineAuthor {
 public:
  explicit PipelineAuthor(std::uint64_t seed)
      : seed_(seed), random_(seed), expressions_(random_, scope_), fields_(random_, scope_, expressions_, text_) {
    text_.text = fmt::format("// random pipeline {}\n", seed);
  }

  std::string write() {
    fields_.inputs();
    if (random_.chance(12)) {
      near_field();
    } else {
      for (int n = random_.between(1, 4); n > 0; --n) outputs_.push_back(fields_.output());
      for (int n = random_.below(3); n > 0; --n) helper_function();
      if (random_.chance(30)) text_.line("skip_if({});", expressions_.condition(1));
      if (random_.chance(30)) cutoffs();
      ElementLoopAuthor(seed_, scope_, text_).write();
      for (int n = random_.between(2, 7); n > 0; --n) statement(0);
      // That outputs have in common, or not.
      text_.line("real logit = {};", expressions_.scalar(2).text);
      for (const OutputField& output : outputs_) contribution(output);
    }
    if (random_.chance(50)) finish();
    return std::move(text_.text);
  }

 private:
  // Sums over all pairs but those of a particle with itself, or of two at one place, and nothing else that is
  // conditional: what makes such a pair's term 0 must not let its other factors in. A distance is at most 4.
  void near_field() {
    const std::string d = text_.fresh("d"), w = text_.fresh("w"), difference = random_.pick(scope_.vector_differences);
    text_.line("real {0} = dot({1}, {1});", d, difference);
    for (int n = random_.between(1, 3); n > 0; --n) {
      outputs_.push_back({text_.fresh("out"), Reduction::Sum, "real", 1, random_.chance(40)});
      text_.line("output(sum) real {};", outputs_.back().name);
    }
    if (random_.chance(50))
      text_.line("skip_if(i_index == j_index);");
    else
      text_.line("skip_if({} == 0.0);", d);
    text_.line("real {} = {}({});", w, random_.chance(50) ? "rsqrt" : "1.0 / sqrt", d);
    for (const OutputField& output : outputs_)
      text_.line("{} {} ({} + {}) * {};", output.name, output.negative ? "-=" : "+=", random_.pick(scope_.raw),
                 number(9.0), w);
  }

  // One distance and what is beyond it; a particle may be as far as nothing else from itself.
  void cutoffs() {
    const std::string d = text_.fresh("d"), measure = expressions_.exact_measure();
    text_.line("real {} = {};", d, random_.chance(50) ? "i_index == j_index ? 20.0 : " + measure : measure);
    scope_.locals.push_back({{d, 0, 20, 0}, 1});
    for (int n = random_.between(1, 2); n > 0; --n) {
      const std::string beyond = fmt::format("{} >= {}", d, number(0.25 * random_.between(1, 12)));
      if (random_.chance(70))
        text_.line("skip_if({});", beyond);
      else
        text_.line("skip_if({} || {});", beyond, expressions_.condition(1));
    }
  }

  // A function of (x, y, c) that returns early in some of its branches.
  void helper_function() {
    const std::string name = text_.fresh("helper");
    HelperFunction f;
    f.width = random_.chance(35) ? scope_.width : 1;
    const std::string type = f.width == 1 ? "real" : expressions_.vector_type();
    const std::string argument = f.width == 1 ? "real x" : "const " + type + "& x";
    text_.line("{} {}({}, real y, bool c) {{", type, name, argument);
    ++text_.indent;
    const std::vector<Local> outside =
        std::exchange(scope_.locals, {{{"x", -2, 2, kArgumentError}, f.width}, {{"y", -2, 2, kArgumentError}, 1}});
    scope_.conditions = {"c", "!c"};
    f.result = expressions_.of_width(f.width, 2);
    const Bounded other = expressions_.of_width(f.width, 2), last = expressions_.of_width(f.width, 1);
    const std::string first_condition = expressions_.condition(1);
    text_.line("if ({}) {{", first_condition);
    text_.line("  return {};", f.result.text);
    if (random_.chance(50)) {
      text_.line("}} else if ({}) {{", expressions_.condition(0));
      text_.line("  {} early = {};", type, other.text);
      text_.line("  return early;");
    }
    text_.line("}}");
    text_.line("{} late = {};", type, last.text);
    text_.line("return late;");
    f.result = either(either(f.result, other), last);
    f.result.text = name;
    scope_.locals = outside;
    scope_.conditions.clear();
    --text_.indent;
    text_.line("}}");
    scope_.functions.push_back(f);
  }

  void statement(int depth) {
    switch (random_.below(depth < 2 ? 11 : 6)) {
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
        return complex_number();
      case 6:
        return loop();
      case 7:
        return local_array();
      case 8:
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
    const std::string name = text_.fresh("v");
    text_.line("{} {} = {};", width == 1 ? "real" : expressions_.vector_type(), name, value.text);
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
      text_.line("{} += {};", old.value.text, value.text);
      changed.value = added;
    } else if (kind == 1) {
      text_.line("{} *= 0.75;", old.value.text);
      changed.value = product(old.value, literal(0.75));
    } else if (kind == 2 && old.width > 1) {
      const Bounded part = expressions_.scalar(2);
      text_.line("{}.y = {};", old.value.text, part.text);
      changed.value = either(old.value, part);
    } else {
      text_.line("{} = {};", old.value.text, value.text);
      changed.value = value;
    }
    changed.value.text = old.value.text;
    scope_.locals[index] = changed;
  }

  // Variables of the other types hold what every precision represents exactly, since the oracle does not round.
  void exact_locals() {
    const std::string name = text_.fresh("e");
    switch (random_.below(3)) {
      case 0:
        text_.line("float {} = float(bj) - float(bi);", name);
        return add_local(fmt::format("real({})", name), name, 2);
      case 1:
        text_.line("double {} = double(bj) * double(0.5) - double(bi);", name);
        return add_local(fmt::format("real({})", name), name, 2);
      default:
        text_.line("int {} = {} % 7;", name, random_.pick(scope_.integers));
        return add_local(fmt::format("(0.25 * real({}))", name), name, 2);
    }
  }

  // Such a variable is not assigned again: a copy of the working precision stands for it.
  void add_local(const std::string& text, const std::string& name, double size) {
    text_.line("real r_{} = {};", name, text);
    scope_.locals.push_back({{"r_" + name, -size, size, 0}, 1});
  }

  void loop() {
    const std::string name = text_.fresh("v"), counter = text_.fresh("n");
    const int trips = random_.between(2, 4);
    const Bounded term = expressions_.scalar(2);
    Bounded value = literal(0.5);
    text_.line("real {} = 0.5;", name);
    text_.line("for (int {0} = 0; {0} < {1}; ++{0}) {{", counter, trips);
    text_.line("  {0} = 0.25 * {0} + 0.125 * {1} * aj[{2} % {3}] + 0.1 * real({2});", name, term.text, counter,
               scope_.width);
    text_.line("}}");
    const Bounded step = sum(product(product(literal(0.125), term), {"", -1, 1, 0}), {"", 0, 0.4, 1});
    for (int trip = 0; trip < trips; ++trip) value = either(value, sum(product(literal(0.25), value), step));
    add_local(name, value, 1);
  }

  void local_array() {
    const std::string array = text_.fresh("t"), counter = text_.fresh("n");
    const Bounded first = within(expressions_.scalar(2), -4, 4), second = within(expressions_.scalar(1), -4, 4);
    if (random_.chance(50)) {
      text_.line("real {}[3] = {{{}, {}, bi}};", array, first.text, second.text);
    } else {
      text_.line("real {}[3];", array);
      text_.line("for (int {0} = 0; {0} < 3; {0}++) {1}[{0}] = bi;", counter, array);
      text_.line("{}[0] = {};", array, first.text);
      text_.line("{}[1] = {};", array, second.text);
    }
    const std::string name = text_.fresh("v");
    text_.line("real {0} = {1}[0] - 0.5 * {1}[1] + {1}[2];", name, array);
    Bounded total = sum(first, sum(product(literal(-0.5), second), {"", -1, 1, 0}));
    add_local(name, total, 1);
  }

  void sine_and_cosine() {
    const Bounded x = within(expressions_.scalar(2), -8, 8);
    const std::string s = text_.fresh("v"), c = text_.fresh("v");
    text_.line("real {}, {};", s, c);
    text_.line("sincos({}, {}, {});", x.text, s, c);
    for (const std::string& name : {s, c}) add_local(name, {"", -1, 1, x.error + 2}, 1);
  }

  // A complex number with parts of size 2 at most, something that is computed of it, and the parts of the result.
  void complex_number() {
    const Bounded re = within(expressions_.scalar(2), -2, 2), im = within(expressions_.scalar(1), -2, 2);
    const Bounded other = within(expressions_.scalar(1), -2, 2);
    const double error = re.error + im.error;
    struct Form {
      const char* text;  // of the complex number {0} and the real number {1}
      double size, error;
    };
    const Form forms[] = {{"{0} * complex(0.5, {1})", 6, 3 * error + 3 * other.error + 12},
                          {"{0} / complex({1} + 4.0, 1.5)", 1.5, error + other.error + 12},
                          {"{1} / (4i + {0})", 1, error + other.error + 12},
                          {"exp({0})", 7.5, 7.5 * error + 40},
                          {"exp(1i * {1}) - conj({0})", 3, error + other.error + 6},
                          {"sqrt({0} + 4.0)", 2.6, error + 12},
                          {"log({0} + 4.0)", 2, error + 12},
                          {"pow(0.5 * {0}, 3)", 3, 3 * error + 24},
                          {"pow({0} + 4.0, -0.5)", 0.8, error + 16},
                          {"complex(abs({0}), 0.5 * norm({0})) + 1", 4, 3 * error + 12}};
    const Form& form = forms[random_.below(int(std::size(forms)))];
    if (form.error > 60) return define(1);
    const std::string z = text_.fresh("z"), w = text_.fresh("w"), result = text_.fresh("z");
    text_.line("complex {} = complex({}, {});", z, re.text, im.text);
    text_.line("real {} = {};", w, other.text);
    text_.line("complex {} = {};", result, fmt::format(fmt::runtime(form.text), z, w));
    for (const char* part : {"real", "imag"}) {
      const std::string name = text_.fresh("v");
      text_.line("real {} = {}({});", name, part, result);
      add_local(name, {"", -form.size, form.size, form.error}, 1);
    }
  }

  // if / else if / else, each with some statements. What was known before holds the union of all branches after it.
  void branch(int depth) {
    if (scope_.locals.empty()) define(1);
    const std::string unset = text_.fresh("v");
    const bool sets = random_.chance(40);  // a variable that every branch sets for the first time
    const bool has_else = sets || random_.chance(60);
    if (sets) text_.line("real {};", unset);
    const std::vector<Local> before = scope_.locals;
    std::vector<Local> after = before;
    Bounded value{"", 1e9, -1e9, 0};
    const auto block = [&] {
      ++text_.indent;
      scope_.locals = before;
      for (int n = random_.between(1, 3); n > 0; --n) statement(depth + 1);
      if (sets) {
        const Bounded here = expressions_.scalar(2);
        text_.line("{} = {};", unset, here.text);
        value = either(value, here);
      }
      for (std::size_t k = 0; k < before.size(); ++k) after[k].value = either(after[k].value, scope_.locals[k].value);
      scope_.locals = before;
      --text_.indent;
    };
    text_.line("if ({}) {{", expressions_.condition(1));
    block();
    if (random_.chance(35)) {
      text_.line("}} else if ({}) {{", expressions_.condition(1));
      block();
    }
    if (has_else) {
      text_.line("}} else {{");
      block();
    }
    text_.line("}}");
    scope_.locals = after;
    if (sets) add_local(unset, value, 1);
  }

  void contribution(const OutputField& output) {
    const bool guarded = random_.chance(35);
    if (guarded) {
      text_.line("if ({}) {{", expressions_.condition(1));
      ++text_.indent;
    }
    reduce(output);
    if (!guarded) return;
    --text_.indent;
    if (!output.is_choice() && random_.chance(40)) {
      text_.line("}} else {{");
      ++text_.indent;
      reduce(output);
      --text_.indent;
    }
    text_.line("}}");
  }

  // Moved to where every term is at least 1, so that its error is small against it.
  std::string term(const OutputField& output) {
    return output.type == "complex" ? fmt::format("complex({}, {})", term(1), term(1)) : term(output.width);
  }

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
        return fmt::format("= softmax({}, {}, {})", output.name, logit(), term(output));
      case Reduction::Product:
        return fmt::format("*= 1.0 + 0.01 * ({})", expressions_.scalar(2).text);
      case Reduction::Count:
        return "+= " + expressions_.condition(1);
      default:
        return "";
    }
  }

  // An element of a histogram, which may be out of range.
  void add_to_element(const OutputField& output) {
    const std::string at = fmt::format("{}[{}{}]", output.name, random_.pick(scope_.integers),
                                       random_.chance(50) ? fmt::format(" + {}", random_.between(0, output.bins)) : "");
    if (output.reduction == Reduction::Count) return text_.line("{} += {};", at, expressions_.condition(1));
    const char* const assign = output.negative ? "-=" : "+=";
    if (output.type == "int" || output.type == "index")
      return text_.line("{} {} {};", at, assign, random_.chance(50) ? "1" : random_.pick(scope_.integers));
    text_.line("{} {} {};", at, assign, output.type == "double" ? "double(" + term(1) + ")" : term(1));
  }

  void reduce(const OutputField& output) {
    if (output.bins > 0) return add_to_element(output);
    if (const std::string rest = joined(output); !rest.empty()) return text_.line("{} {};", output.name, rest);
    const char* const assign = output.negative ? "-=" : "+=";
    const std::string& name = output.name;
    const std::string_view reduction = nbcc::name(output.reduction);
    if (output.reduction == Reduction::ArgMin || output.reduction == Reduction::ArgMax) {
      text_.line("{0} = {1}({0}, {2});", name, reduction,
                 random_.chance(60) ? expressions_.exact_measure() : expressions_.whole_measure(random_.chance(50)));
      for (const auto& [along, value] : output.along) text_.line("{} = at({}, {});", along, name, value);
    } else if (output.reduction != Reduction::Sum && output.type != "real" && output.width == 1) {
      text_.line("{0} = {1}({0}, {2});", name, reduction, expressions_.whole_measure(output.type == "index"));
    } else if (output.reduction != Reduction::Sum) {
      text_.line("{0} = {1}({0}, {2});", name, reduction, term(output));
    } else if (output.type == "int") {
      text_.line("{} {} {};", name, assign, random_.between(1, 3) * (random_.chance(50) ? 1 : 500000000));
    } else if (output.type == "index") {
      text_.line("{} {} j_index * 1000003 + {};", name, assign, random_.between(1, 3));
    } else if (output.type == "double") {
      text_.line("{} {} double({});", name, assign, term(1));
    } else if (output.width > 1 && output.type != "complex" && random_.chance(30)) {
      for (int k = 0; k < output.width; ++k) text_.line("{}.{} {} {};", name, "xyzw"[k], assign, term(1));
    } else {
      text_.line("{} {} ({});", name, assign, term(output));
    }
  }

  void finish() {
    if (random_.chance(20)) return text_.line("void finish() {{}}");
    text_.line("void finish() {{");
    ++text_.indent;
    for (const OutputField& output : outputs_) {
      if (random_.chance(30) || output.bins > 0) continue;
      if (output.total)
        finish_total(output);
      else if (output.type == "int" || output.type == "index")
        finish_whole(output);
      else
        finish_real(output);
    }
    --text_.indent;
    text_.line("}}");
  }

  // Adds a value of i to a total, which cannot be read.
  void finish_total(const OutputField& output) {
    const bool whole = output.type == "int" || output.type == "index";
    std::string value = whole ? output.type + "(i_index % 3)" : "(2.0 + bi)";
    if (output.type == "double") value = "double" + value;
    if (output.width > 1) value = output.type + value;
    const std::string guard = random_.chance(40) ? "if (bi < 0.25) " : "";
    const std::string& name = output.name;
    if (output.reduction == Reduction::Count)
      text_.line("{}{} += bi > 0.5;", guard, name);
    else if (output.reduction == Reduction::Sum)
      text_.line("{}{} {} {};", guard, name, output.negative ? "-=" : "+=", value);
    else
      text_.line("{0}{1} = {2}({1}, {3});", guard, name, nbcc::name(output.reduction), value);
  }

  void finish_whole(const OutputField& output) {
    if (output.reduction == Reduction::ArgMin || output.reduction == Reduction::ArgMax)
      return text_.line("if ({0} > 2) {0} = {0} + 5;", output.one());
    if (random_.chance(50)) return text_.line("{0} = {0} / 2;", output.name);
    return text_.line("{0} = {0};", output.name);
  }

  void finish_real(const OutputField& output) {
    std::vector<std::string> counts;
    for (const OutputField& other : outputs_)
      if (!other.total && other.bins == 0 && (other.type == "int" || other.type == "index"))
        counts.push_back(other.one());
    const bool scalar = output.width == 1 && output.type == "real";
    if (scalar && !counts.empty() && random_.chance(60)) {
      text_.line("{0} = {0} + 0.001 * real({1});", output.name, random_.pick(counts));
    } else if (output.type != "double" && !scope_.of_i.empty() && random_.chance(40)) {
      text_.line("{0} = (1.5 + 0.5 * {1}) * {0};", output.name, random_.pick(scope_.of_i));
    } else if (scalar && random_.chance(40)) {
      text_.line("{0} = sqrt(fabs({0}) + 1.0);", output.name);
    } else if (scalar && random_.chance(40)) {
      text_.line("if (bi < 0.25) {0} = 2.0 * {0};", output.name);
    } else if (output.type == "double") {
      text_.line("{0} = {0} * double(0.5);", output.name);
    } else {
      text_.line("{0} = (1.5 + 0.25 * bi + real(i_index % 3)) * {0};", output.name);
    }
  }

  const std::uint64_t seed_;
  RandomSource random_;
  Scope scope_;
  ExpressionAuthor expressions_;
  RandomText text_;
  FieldAuthor fields_;
  std::vector<OutputField> outputs_;
};

}  // namespace

std::string random_pipeline_text(std::uint64_t seed) { return PipelineAuthor(seed).write(); }

}  // namespace nbcc::test
