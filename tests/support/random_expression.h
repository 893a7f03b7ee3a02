// Random expressions of the pipeline language that know their own range and how far rounding may lead them astray.
// Private to random_pipeline.cpp, random_fields.cpp and random_expression.cpp.
#pragma once
#include <string>
#include <vector>

#include "tests/support/random_source.h"

namespace nbcc::test {

// An expression: its text, bounds of its value (of each component, for a vector) and of its error in epsilons.
struct Bounded {
  std::string text;
  double low = 0, high = 0, error = 0;
  double size() const { return -low > high ? -low : high; }
};

struct Local {
  Bounded value;
  int width = 1;  // 1: scalar
};

// result is for arguments within [-2, 2] whose error is at most kArgumentError.
struct HelperFunction {
  Bounded result;
  int width = 1;  // of the result and of the first argument
};
inline constexpr double kArgumentError = 8;

// What an expression may speak of.
struct Scope {
  int width = 3;                         // of the vector fields
  std::vector<std::string> raw;          // scalars that are inputs or params as they are: exact
  std::vector<std::string> differences;  // of two inputs: exact
  std::vector<std::string> raw_vectors;  // of `width`, exact
  std::vector<std::string> vector_differences;
  std::vector<std::string> signed_bases;  // of either sign and never 0, within [-2.01, 2.01], exact
  std::vector<std::string> integers;      // int expressions within [-16, 16]
  std::vector<std::string> of_i;          // elements of tables that finish() can read, within [-1, 1]
  std::vector<std::string> conditions;    // bool variables
  std::vector<Local> locals;
  std::vector<HelperFunction> functions;
};

std::string number(double value);
std::string random_numbers(RandomSource& random,
                           int count);  // "{0.5, ...}", of size 1 at most, exact in every precision
Bounded literal(double value);
Bounded sum(const Bounded& a, const Bounded& b);
Bounded product(const Bounded& a, const Bounded& b);
Bounded either(const Bounded& a, const Bounded& b);         // bounds that hold for both; a's text
Bounded within(const Bounded& x, double low, double high);  // clamped, if it has to be

class ExpressionAuthor {
 public:
  ExpressionAuthor(RandomSource& random, Scope& scope) : random_(random), scope_(scope) {}

  Bounded scalar(int depth);
  Bounded vector(int depth);  // of the scope's width
  Bounded of_width(int width, int depth) { return width == 1 ? scalar(depth) : vector(depth); }
  std::string condition(int depth);
  // Exact in single precision and not negative, so that devices agree on which j is nearest.
  std::string exact_measure();
  // Of type int or index, and so large that single precision rounds it.
  std::string whole_measure(bool index);
  std::string vector_type() const;

 private:
  Bounded leaf();
  Bounded exact_leaf();
  Bounded try_scalar(int depth);
  Bounded arithmetic(int depth);
  Bounded idiom(int depth);
  Bounded function(int depth);
  Bounded guarded_powers();
  Bounded choice(int depth);
  Bounded of_vectors(int depth);
  Bounded call(int width, int depth);
  Bounded vector_leaf();
  Bounded try_vector(int depth);
  Bounded splat(double value) const;

  RandomSource& random_;
  Scope& scope_;
};

}  // namespace nbcc::test
