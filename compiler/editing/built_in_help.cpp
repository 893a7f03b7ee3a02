// The table of built-in words with a line about each. Entry point: built_in_help(). How a function is called is in the
// table of forms in compiler/source/vocabulary.cpp.
#include "compiler/editing/built_in_help.h"

#include <algorithm>
#include <array>

namespace nbcc {
namespace {

constexpr std::array kHelp = std::to_array<BuiltInHelp>({
    {"sqrt", "square root"},
    {"rsqrt", "1 / sqrt(x)"},
    {"cbrt", "cube root"},
    {"exp", "e to the power x"},
    {"exp2", "2 to the power x"},
    {"expm1", "exp(x) - 1, exact for small x"},
    {"log", "natural logarithm"},
    {"log2", "logarithm to base 2"},
    {"log10", "logarithm to base 10"},
    {"log1p", "log(1 + x), exact for small x"},
    {"sin", "sine of an angle in radians"},
    {"cos", "cosine of an angle in radians"},
    {"sinpi", "sin(pi * x); complete turns are subtracted exactly"},
    {"cospi", "cos(pi * x); complete turns are subtracted exactly"},
    {"tan", "tangent of an angle in radians"},
    {"asin", "angle from -pi/2 to pi/2 whose sine is x"},
    {"acos", "angle from 0 to pi whose cosine is x; of two vectors use angle(u, v)"},
    {"atan", "angle from -pi/2 to pi/2 whose tangent is x"},
    {"sinh", "hyperbolic sine"},
    {"cosh", "hyperbolic cosine"},
    {"tanh", "hyperbolic tangent"},
    {"asinh", "inverse hyperbolic sine"},
    {"acosh", "inverse hyperbolic cosine, of x from 1 on"},
    {"atanh", "inverse hyperbolic tangent, of x from -1 to 1"},
    {"erf", "error function"},
    {"erfc", "1 - erf(x), exact for large x"},
    {"lgamma", "logarithm of the absolute gamma function"},
    {"tgamma", "gamma function"},
    {"bessel_j0", "Bessel function of the first kind, order 0"},
    {"bessel_j1", "Bessel function of the first kind, order 1"},
    {"bessel_k0", "modified Bessel function of the second kind, order 0"},
    {"bessel_k1", "modified Bessel function of the second kind, order 1"},
    {"bessel_i0", "modified Bessel function of the first kind, order 0"},
    {"bessel_i1", "modified Bessel function of the first kind, order 1"},
    {"sign", "1 or -1 with the sign of x; x itself if it is 0 or NaN"},
    {"floor", "largest whole number that is not above x"},
    {"ceil", "smallest whole number that is not below x"},
    {"round", "nearest whole number, halves away from 0"},
    {"trunc", "whole number without the digits after the point"},
    {"fabs", "absolute value"},
    {"abs", "absolute value; of an integer an integer, of a complex number its modulus"},
    {"min", "the smaller of two; NaN if either is NaN"},
    {"max", "the larger of two; NaN if either is NaN"},
    {"pow", "x to the power y"},
    {"atan2", "angle of the point whose y is the first and whose x is the second argument, from -pi to pi"},
    {"hypot", "sqrt(x * x + y * y) without overflow"},
    {"fmod", "x - y * trunc(x / y), with the sign of x"},
    {"copysign", "the magnitude of x with the sign of y"},
    {"fma", "a * b + c with one rounding"},
    {"clamp", "min(max(x, low), high)"},
    {"select", "one of two values by a condition, both of which are computed"},
    {"sincos", "sets s to sin(x) and c to cos(x)"},
    {"dot", "sum of the products of components or elements"},
    {"cross", "vector product; of two vec2 the number a.x * b.y - a.y * b.x"},
    {"angle", "angle between two vectors, from 0 to pi"},
    {"length", "sqrt(dot(v, v))"},
    {"normalize", "v / length(v); not finite for a vector of zeros"},
    {"nearest_image", "periodic image of dx that is nearest to 0"},
    {"every_image", "the pair acts once for each periodic image of dx within the cutoff"},
    {"image_index", "with every_image: how many of periodic vector k are added to the position of j"},
    {"table", "element of a param at a position between elements, interpolated linearly"},
    {"spline", "element of a param at a position between elements, by the cubic spline through the elements"},
    {"spline_coefficient", "coefficient of (s - k)^p of the cubic spline of a param"},
    {"philox", "random whole number made of three whole numbers (Philox4x32-10)"},
    {"random", "random number from 0 to 1 made of three whole numbers"},
    {"grad", "derivative of a number by a variable, of the variable's type"},
    {"ddt", "rate of change of an expression whose variables change at given rates"},
    {"imag", "imaginary part of a complex number"},
    {"conj", "complex conjugate"},
    {"arg", "phase of a complex number, from -pi to pi"},
    {"norm", "square of the modulus of a complex number"},
    {"any", "true if any component of a comparison holds"},
    {"all", "true if every component of a comparison holds"},
    {"sum", "sum of the elements of an array or the components of a vector"},
    {"transpose", "rows and columns of a matrix exchanged"},
    {"trace", "sum of the diagonal of a matrix"},
    {"determinant", "determinant of a matrix"},
    {"outer", "matrix of the products a[r] * b[c]"},
    {"argmin", "keeps the j_index of the pair with the least value"},
    {"argmax", "keeps the j_index of the pair with the largest value"},
    {"logsumexp", "logarithm of the sum of exp(x) over all j"},
    {"softmax", "mean of the values with the weights exp(logit)"},
    {"at", "keeps a value of the pair that an argmin or argmax has chosen"},
    {"skip_if", "excludes the pair where the condition holds"},
    {"pi", "3.14159265358979323846"},
    {"two_pi", "2 * pi"},
    {"sqrt_pi", "sqrt(pi)"},
    {"euler", "e, 2.71828182845904523536"},
    {"i_index", "index of the receiving particle, from 0, plus the caller's offset"},
    {"j_index", "index of the acting particle, from 0, plus the caller's offset"},
    {"self_pair", "true for the pair of a particle with itself, its images excluded"},
    {"real", "a number of the working precision"},
    {"float", "a number of 32 bits in every precision"},
    {"double", "a number of 64 bits in every precision"},
    {"int", "a whole number of 32 bits"},
    {"unsigned", "a whole number from 0 on of 32 bits, in variables"},
    {"index", "a whole number of 64 bits"},
    {"bool", "true or false"},
    {"complex", "a complex number of two reals"},
    {"vec2", "two reals, .x and .y"},
    {"vec3", "three reals, .x, .y and .z"},
    {"vec4", "four reals, .x, .y, .z and .w"},
    {"mat2", "two rows of two reals"},
    {"mat3", "three rows of three reals"},
    {"mat4", "four rows of four reals"},
    {"input_i", "declares a value of each receiving particle"},
    {"input_j", "declares a value of each acting particle"},
    {"input_pair", "declares a value of each pair that the caller lists"},
    {"param", "declares a value that is the same for all pairs"},
    {"output", "declares a result: output(sum) adds the terms of all j for each i"},
});

// Words that mean something else as functions.
constexpr std::array kOutputHelp = std::to_array<BuiltInHelp>({
    {"sum", "adds the terms of all j"},
    {"min", "keeps the least term"},
    {"max", "keeps the largest term"},
    {"argmin", "keeps the j_index of the pair with the least value"},
    {"argmax", "keeps the j_index of the pair with the largest value"},
    {"logsumexp", "logarithm of the sum of exp(x) over all j"},
    {"softmax", "mean of the values with the weights exp(logit)"},
    {"product", "multiplies the factors of all j"},
    {"count", "counts the pairs for which a condition holds"},
    {"at", "keeps a value of the pair that an argmin or argmax has chosen"},
    {"total", "one value for the run: reduced over all i as well"},
    {"pair", "one value for each pair that the caller lists"},
});

std::string_view help_in(std::span<const BuiltInHelp> table, std::string_view word) {
  const auto found = std::ranges::find(table, word, &BuiltInHelp::word);
  return found == table.end() ? std::string_view() : found->help;
}

}  // namespace

std::span<const BuiltInHelp> built_in_help() { return kHelp; }

std::string_view built_in_help(std::string_view word, bool after_output) {
  return after_output ? help_in(kOutputHelp, word) : help_in(kHelp, word);
}

}  // namespace nbcc
