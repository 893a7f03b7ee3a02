// Builds expressions bottom up, by ExpressionAuthor; a candidate whose value or error could grow too large is thrown
// away and another tried. Bounds use + - * / only, so that the same seed gives the same text everywhere.
#include "tests/support/random_expression.h"

#include <fmt/format.h>

#include <algorithm>

namespace nbcc::test {
namespace {

constexpr double kLargest = 24, kLargestError = 60;

bool is_tame(const Bounded& x) { return x.size() <= kLargest && x.error <= kLargestError; }

Bounded difference(const Bounded& a, const Bounded& b) {
  Bounded result{fmt::format("({} - {})", a.text, b.text), a.low - b.high, a.high - b.low, a.error + b.error};
  result.error += 0.5 * result.size();
  return result;
}

// b is at least 0.25.
Bounded quotient(const Bounded& a, const Bounded& b) {
  const double size = a.size() / b.low;
  Bounded result{fmt::format("({} / {})", a.text, b.text), -size, size, 0};
  if (a.low >= 0) result.low = 0;
  result.error = a.error / b.low + size / b.low * b.error + 2 * size;
  return result;
}

// A function on the part of its domain where it is harmless: its steepest slope there and the values it takes.
struct MathFunction {
  const char* format;
  double from, to, slope, low, high;
  double ulp = 2;
};

const std::vector<MathFunction> kFunctions{
    {"sqrt({})", 0.1, 16, 1.6, 0.3, 4},
    {"rsqrt({})", 0.25, 16, 4, 0.25, 2},
    {"(1.0 / sqrt({}))", 0.25, 16, 4, 0.25, 2, 4},
    {"cbrt({})", 0.125, 8, 1.34, 0.5, 2},
    {"cbrt({})", -8, -0.125, 1.34, -2, -0.5},
    {"exp({})", -3, 1.5, 4.5, 0.04, 4.5},
    {"exp2({})", -3, 2, 2.8, 0.125, 4},
    {"log({})", 0.25, 16, 4, -1.4, 2.8},
    {"log2({})", 0.25, 16, 5.8, -2, 4},
    {"pow({}, 0.7)", 0.25, 4, 1.1, 0.37, 2.7, 8},
    {"pow({}, 1.5)", 0.25, 4, 3, 0.125, 8, 8},
    {"pow({}, -0.5)", 0.25, 4, 4, 0.5, 2, 8},
    {"pow({}, -1.5)", 0.5, 4, 8.5, 0.125, 2.9, 8},
    {"pow({}, 2)", -3, 3, 6, 0, 9, 8},
    {"pow({}, 3)", -2, 2, 12, -8, 8, 8},
    {"sin({})", -8, 8, 1, -1, 1},
    {"cos({})", -8, 8, 1, -1, 1},
    {"sinpi({})", -4, 4, 3.15, -1, 1},
    {"cospi({})", -4, 4, 3.15, -1, 1},
    {"tan({})", -1, 1, 3.5, -1.6, 1.6},
    {"asin({})", -0.9, 0.9, 2.3, -1.2, 1.2},
    {"acos({})", -0.9, 0.9, 2.3, 0.4, 2.7},
    {"atan({})", -16, 16, 1, -1.6, 1.6},
    {"atan2({}, 1.25)", -8, 8, 0.8, -1.6, 1.6},
    {"atan2(0.75, {})", 0.5, 8, 1, 0, 1.6},
    {"sinh({})", -2, 2, 3.8, -3.7, 3.7},
    {"cosh({})", -2, 2, 3.7, 1, 3.8},
    {"tanh({})", -8, 8, 1, -1, 1},
    {"expm1({})", -3, 1.5, 4.5, -1, 3.5},
    {"log1p({})", -0.75, 15, 4, -1.4, 2.8},
    {"log10({})", 0.25, 16, 1.8, -0.7, 1.3},
    {"asinh({})", -8, 8, 1, -2.8, 2.8},
    {"acosh({})", 1.25, 16, 1.4, 0.6, 3.5},
    {"atanh({})", -0.75, 0.75, 2.3, -1, 1},
    {"hypot({}, 1.25)", -8, 8, 1, 1.25, 8.2, 4},
    {"fmod({}, 64.0)", -24, 24, 1, -24, 24},
    {"lgamma({})", 3, 12, 2.6, 0.6, 17.6, 8},
    {"tgamma({})", 1, 4, 8, 0.8, 6, 12},
    {"bessel_j0({})", -8, 8, 0.6, -0.41, 1, 8},
    {"bessel_j1({})", -8, 8, 0.5, -0.59, 0.59, 8},
    {"bessel_k0({})", 0.5, 8, 1.7, 0, 1, 8},
    {"bessel_k1({})", 0.5, 8, 4.3, 0, 1.7, 8},
    {"bessel_i0({})", -3, 3, 4, 1, 4.9, 8},
    {"bessel_i1({})", -3, 3, 3.6, -4, 4, 8},
    {"erf({})", -3, 3, 1.2, -1, 1},
    {"erfc({})", -2, 2, 1.2, 0, 2},
    {"fabs({})", -24, 24, 1, 0, 24},
    {"abs({})", -24, 24, 1, 0, 24},
};

// Powers of a base within [0.5, 2.01] that are NaN where it is negative, and such as are not: texts and bounds.
const std::vector<MathFunction> kRoots{{"sqrt({0})", 0, 0, 0, 0.7, 1.5},
                                       {"rsqrt({0})", 0, 0, 0, 0.7, 1.5},
                                       {"(1.0 / sqrt({0}))", 0, 0, 0, 0.7, 1.5, 4},
                                       {"sqrt(sqrt({0}))", 0, 0, 0, 0.8, 1.2, 4},
                                       {"pow({0}, 1.5)", 0, 0, 0, 0.3, 2.9, 8},
                                       {"pow({0}, -2.5)", 0, 0, 0, 0.1, 5.7, 8},
                                       {"({0} * sqrt({0}))", 0, 0, 0, 0.3, 2.9, 4},
                                       {"(sqrt({0}) * sqrt({0}))", 0, 0, 0, 0.5, 2.1, 4},
                                       {"(rsqrt({0}) * rsqrt({0}))", 0, 0, 0, 0.4, 2, 4}};
const std::vector<MathFunction> kWholePowers{{"{0}", 0, 0, 0, -2.1, 2.1, 0},
                                             {"(1.0 / {0})", 0, 0, 0, -2, 2},
                                             {"(1.0 / ({0} * {0}))", 0, 0, 0, 0.2, 4, 4},
                                             {"(1.0 / ({0} * {0} * {0}))", 0, 0, 0, -8, 8, 6},
                                             {"pow({0}, -2.0)", 0, 0, 0, 0.2, 4, 8},
                                             {"pow({0}, -3.0)", 0, 0, 0, -8, 8, 8},
                                             {"pow({0}, 2.0)", 0, 0, 0, 0.2, 4.1, 8}};

}  // namespace

std::string number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return value < 0 ? "(" + text + ")" : text;
}

std::string random_numbers(RandomSource& random, int count) {
  std::string text;
  for (int k = 0; k < count; ++k) text += (k ? ", " : "") + number(random.between(-16, 16) / 16.0);
  return "{" + text + "}";
}

Bounded literal(double value) { return {number(value), value, value, value < 0 ? -value / 2 : value / 2}; }

Bounded sum(const Bounded& a, const Bounded& b) {
  Bounded result{fmt::format("({} + {})", a.text, b.text), a.low + b.low, a.high + b.high, a.error + b.error};
  result.error += 0.5 * result.size();
  return result;
}

Bounded product(const Bounded& a, const Bounded& b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  Bounded result{fmt::format("({} * {})", a.text, b.text), low, high, a.size() * b.error + b.size() * a.error};
  result.error += 0.5 * result.size();
  return result;
}

Bounded either(const Bounded& a, const Bounded& b) {
  return {a.text, std::min(a.low, b.low), std::max(a.high, b.high), std::max(a.error, b.error)};
}

Bounded within(const Bounded& x, double low, double high) {
  if (x.low >= low && x.high <= high) return x;
  return {fmt::format("clamp({}, {}, {})", x.text, number(low), number(high)), low, high,
          x.error + 0.5 * std::max(-low, high)};
}

std::string ExpressionAuthor::vector_type() const { return fmt::format("vec{}", scope_.width); }

Bounded ExpressionAuthor::splat(double value) const {
  Bounded result = literal(value);
  result.text = fmt::format("{}({})", vector_type(), number(value));
  return result;
}

Bounded ExpressionAuthor::exact_leaf() {
  switch (random_.below(5)) {
    case 0:
      return {random_.pick(scope_.differences), -2, 2, 0};
    case 1: {
      const std::string vector = random_.pick(scope_.vector_differences);
      return {fmt::format("{}.{}", vector, "xyzw"[random_.below(scope_.width)]), -2, 2, 0};
    }
    case 2:
      return {fmt::format("(0.125 * real({}))", random_.pick(scope_.integers)), -2, 2, 0};
    case 3:
      return {fmt::format("floor({} * 3.0 + 0.1)", random_.pick(scope_.raw)), -3, 3, 0};
    default:
      return {random_.pick(scope_.raw), -1, 1, 0};
  }
}

Bounded ExpressionAuthor::leaf() {
  if (!scope_.locals.empty() && random_.chance(55)) {
    const Local& local = random_.pick(scope_.locals);
    Bounded result = local.value;
    if (local.width > 1) result.text += fmt::format(".{}", "xyzw"[random_.below(local.width)]);
    return result;
  }
  return random_.chance(20) ? literal(random_.between(-24, 24) / 10.0) : exact_leaf();
}

Bounded ExpressionAuthor::scalar(int depth) {
  if (depth == 0) return leaf();
  for (int attempt = 0; attempt < 4; ++attempt) {
    const Bounded candidate = try_scalar(depth - 1);
    if (is_tame(candidate)) return candidate;
  }
  return leaf();
}

Bounded ExpressionAuthor::try_scalar(int depth) {
  const int kind = random_.below(100);
  if (kind < 32) return arithmetic(depth);
  if (kind < 45) return idiom(depth);
  if (kind < 53) return guarded_powers();
  if (kind < 67) return function(depth);
  if (kind < 80) return choice(depth);
  if (kind < 92) return of_vectors(depth);
  return call(1, depth);
}

Bounded ExpressionAuthor::arithmetic(int depth) {
  const Bounded a = scalar(depth), b = scalar(random_.below(depth + 1));
  switch (random_.below(6)) {
    case 0:
      return sum(a, b);
    case 1:
      return difference(a, b);
    case 2:
      return quotient(a, within(b, 0.25, 16));
    case 3:
      return {fmt::format("(-{})", a.text), -a.high, -a.low, a.error};
    case 4: {
      const Bounded c = scalar(0);
      Bounded result = sum(product(a, b), c);
      result.text = fmt::format("fma({}, {}, {})", a.text, b.text, c.text);
      return result;
    }
    default:
      return product(a, b);
  }
}

// Forms that the passes rewrite.
Bounded ExpressionAuthor::idiom(int depth) {
  const Bounded a = scalar(depth), b = scalar(random_.below(depth + 1));
  const auto spelled = [&](Bounded bounds, const char* format) {
    bounds.text = fmt::format(fmt::runtime(format), a.text, b.text);
    return bounds;
  };
  const Bounded negative = difference(literal(0), a);
  switch (random_.below(12)) {
    case 0:
      return spelled(difference(a, b), "({} + (-{}))");
    case 1:
      return spelled(difference(b, a), "((-{}) + {})");
    case 2:
      return spelled(sum(a, b), "({} - (-{}))");
    case 3:
      return spelled(product(a, b), "((-{}) * (-{}))");
    case 4:
      return spelled(negative, "(0.0 - {})");
    case 5:
      return spelled(negative, "({} * -1.0)");
    case 6:
      return spelled(a, "(0.0 + {})");
    case 7:
      return spelled(a, "({} * 1.0)");
    case 8:
      return spelled(product(a, literal(0.25)), "({} / 4.0)");
    case 9:
      return spelled(a, "(-(-{}))");
    case 10: {
      const Bounded divisor = within(b, 0.25, 16), root{"sqrt(" + divisor.text + ")", 0.5, 4, divisor.error + 8};
      return quotient(a, root);
    }
    default: {
      const Bounded x = within(a, 0.5, 2);
      return {fmt::format("(1.0 / ({0} * {0} * {0}))", x.text), 0.125, 8, 48 * x.error + 16};
    }
  }
}

Bounded ExpressionAuthor::function(int depth) {
  const MathFunction& f = random_.pick(kFunctions);
  const Bounded x = within(scalar(depth), f.from, f.to);
  const double size = std::max(-f.low, f.high);
  return {fmt::format(fmt::runtime(f.format), x.text), f.low, f.high, f.slope * x.error + f.ulp * size};
}

// A root of a base that may be negative, where it is not, and whole powers where it is.
Bounded ExpressionAuthor::guarded_powers() {
  const std::string x = random_.pick(scope_.signed_bases);
  const auto power = [&](const std::vector<MathFunction>& forms) {
    const MathFunction& f = random_.pick(forms);
    const double size = std::max(-f.low, f.high);
    return Bounded{fmt::format(fmt::runtime(f.format), x), f.low, f.high, f.ulp * size};
  };
  const Bounded above = power(random_.chance(70) ? kRoots : kWholePowers), below = power(kWholePowers);
  const Bounded between = literal(random_.between(-16, 16) / 8.0);
  Bounded result = either(either(above, below), between);
  switch (random_.below(4)) {
    case 0:
      result.text =
          fmt::format("({0} > 0.5 ? {1} : ({0} < -0.5 ? {2} : {3}))", x, above.text, below.text, between.text);
      return result;
    case 1:
      result.text =
          fmt::format("(fabs({0}) <= 0.5 ? {3} : ({0} >= 0.0 ? {1} : {2}))", x, above.text, below.text, between.text);
      return result;
    case 2:
      result.text =
          fmt::format("(!({0} <= 0.5) ? {1} : select({0} < -0.5, {2}, {3}))", x, above.text, below.text, between.text);
      return result;
    default:
      // False where the power is NaN.
      result.text = fmt::format("({0} >= -8.0 ? {1} : {2})", power(kRoots).text, literal(1.25).text, between.text);
      return result;
  }
}

Bounded ExpressionAuthor::choice(int depth) {
  const Bounded a = scalar(depth), b = scalar(random_.below(depth + 1));
  Bounded result = either(a, b);
  switch (random_.below(5)) {
    case 0:
      result.text = fmt::format("min({}, {})", a.text, b.text);
      return result;
    case 1:
      result.text = fmt::format("max({}, {})", a.text, b.text);
      return result;
    case 2:
      result.text = fmt::format("select({}, {}, {})", condition(1), a.text, b.text);
      return result;
    case 3:
      return {fmt::format("copysign({}, {})", a.text, random_.pick(scope_.raw)), -a.size(), a.size(), a.error};
    default:
      result.text = fmt::format("({} ? {} : {})", condition(1), a.text, b.text);
      return result;
  }
}

// A scalar made of vectors. A vector of up to four components is at most twice as long as its largest component.
Bounded ExpressionAuthor::of_vectors(int depth) {
  const Bounded a = vector(depth), b = vector(0);
  if (random_.chance(50)) {
    const Bounded one = product(a, b);
    const double size = scope_.width * one.size();
    return {fmt::format("dot({}, {})", a.text, b.text), -size, size, scope_.width * (one.error + size)};
  }
  return {fmt::format("length({})", a.text), 0, 2 * a.size(), 2 * a.error + 6 * a.size()};
}

Bounded ExpressionAuthor::call(int width, int depth) {
  for (const HelperFunction& f : scope_.functions) {
    if (f.width != width || random_.chance(30)) continue;
    Bounded x = of_width(width, depth);
    if (width == 1) x = within(x, -2, 2);
    if (x.size() > 2) continue;
    const Bounded y = within(scalar(random_.below(depth + 1)), -2, 2);
    Bounded result = f.result;
    result.text = fmt::format("{}({}, {}, {})", f.result.text, x.text, y.text, condition(0));
    // The result's error is at worst proportional to the arguments'.
    result.error *= std::max({1.0, x.error / kArgumentError, y.error / kArgumentError});
    return result;
  }
  return of_width(width, depth);
}

Bounded ExpressionAuthor::vector_leaf() {
  std::vector<Bounded> known{{random_.pick(scope_.raw_vectors), -1, 1, 0},
                             {random_.pick(scope_.vector_differences), -2, 2, 0}};
  for (const Local& local : scope_.locals) {
    if (local.width > 1) known.push_back(local.value);
  }
  if (random_.chance(10)) return splat(random_.between(-20, 20) / 8.0);
  return random_.pick(known);
}

Bounded ExpressionAuthor::vector(int depth) {
  if (depth == 0) return vector_leaf();
  for (int attempt = 0; attempt < 4; ++attempt) {
    const Bounded candidate = try_vector(depth - 1);
    if (is_tame(candidate)) return candidate;
  }
  return vector_leaf();
}

Bounded ExpressionAuthor::try_vector(int depth) {
  const Bounded a = vector(depth);
  switch (random_.below(11)) {
    case 0:
      return sum(a, vector(0));
    case 1:
      return difference(a, vector(0));
    case 2:
      return product(a, scalar(depth));
    case 3:
      return product(scalar(depth), a);
    case 4:
      return quotient(a, within(scalar(depth), 0.25, 16));
    case 5:
      return {fmt::format("(-{})", a.text), -a.high, -a.low, a.error};
    case 6: {
      // Every component is moved to at least 1, so that the length is no less.
      const Bounded x = sum(a, splat(double(int(a.size())) + 2));
      return {fmt::format("normalize({})", x.text), 0, 1, 4 * x.error + 8};
    }
    case 7: {
      if (scope_.width != 3) return a;
      const Bounded b = vector(0), one = product(a, b);
      return {fmt::format("cross({}, {})", a.text, b.text), -2 * one.size(), 2 * one.size(),
              3 * (one.error + one.size())};
    }
    case 8: {
      const Bounded b = vector(0);
      Bounded result = either(a, b);
      result.text = random_.chance(50) ? fmt::format("max({}, {})", a.text, b.text)
                                       : fmt::format("({} ? {} : {})", condition(1), a.text, b.text);
      return result;
    }
    case 9: {
      // 1.3: no difference of multiples of 1/1024 is half of it, where the nearest image jumps.
      const std::string& of = random_.pick(scope_.vector_differences);
      if (scope_.width != 3 || random_.chance(50)) return {fmt::format("nearest_image({}, 1.3)", of), -0.7, 0.7, 4};
      // Cells of the same lattice.
      const char* const cell = random_.chance(50) ? "vec3(1.3, 0.0, 0.0), vec3(0.0, 1.3, 0.0), vec3(0.0, 0.0, 1.3)"
                                                  : "vec3(1.3, 0.0, 0.0), vec3(1.3, 1.3, 0.0), vec3(-1.3, 1.3, 1.3)";
      return {fmt::format("nearest_image({}, {})", of, cell), -0.7, 0.7, 8};
    }
    default:
      return call(scope_.width, depth);
  }
}

std::string ExpressionAuthor::condition(int depth) {
  if (depth > 0 && random_.chance(40)) {
    const std::string a = condition(depth - 1), b = condition(depth - 1);
    if (random_.chance(25)) return fmt::format("!{}", a);
    return fmt::format("({} {} {})", a, random_.chance(50) ? "&&" : "||", b);
  }
  static const std::vector<std::string> orders{"<", "<=", ">", ">=", "<", ">", "==", "!="};
  const std::string order = random_.pick(orders);
  // Drawn one by one: the order in which a call's arguments are evaluated differs between compilers.
  const int kind = random_.below(8), small = random_.between(-3, 3), divisor = random_.between(2, 5);
  const std::string raw = random_.pick(scope_.raw), other = random_.pick(scope_.raw);
  const std::string difference = random_.pick(scope_.differences), integer = random_.pick(scope_.integers);
  switch (kind) {
    case 0:
      return fmt::format("(i_index {} j_index)", order);
    case 1:
      return fmt::format("(j_index % {} {} {})", divisor, order, small);
    case 2:
      return fmt::format("({} {} {})", integer, order, small);
    case 3:
      if (!scope_.conditions.empty()) return random_.pick(scope_.conditions);
      [[fallthrough]];
    case 4:
      return fmt::format("({} {} {})", raw, order, number(0.25 * small));
    case 5:
      return fmt::format("({} {} {})", difference, order, number(0.375 * small));
    case 6:
      return fmt::format("((i_index == j_index ? {} : {}) {} {})", other, difference, order, number(0.375 * small));
    default:
      return fmt::format("({} {} {})", raw, order, other);
  }
}

std::string ExpressionAuthor::exact_measure() {
  const std::string d = random_.pick(scope_.differences), v = random_.pick(scope_.vector_differences);
  switch (random_.below(3)) {
    case 0:
      return fmt::format("dot({0}, {0})", v);
    case 1:
      return fmt::format("fabs({})", d);
    default:
      return fmt::format("{0} * {0}", d);
  }
}

std::string ExpressionAuthor::whole_measure(bool index) {
  const std::string integer = random_.pick(scope_.integers);
  return index ? fmt::format("index({}) * 1000000007 + (j_index * 5 % 31)", integer)
               : fmt::format("{} + 16777217", integer);
}

}  // namespace nbcc::test
