// Words -> the diagnostics' texts about them. Entry points: the functions of vocabulary.h. It knows no grammar.
#include "compiler/source/vocabulary.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <vector>

#include "compiler/text/nearest_word.h"

namespace nbcc {
namespace {

constexpr std::string_view kIntegerTypes = "whole numbers are int (32 bits) and index (64 bits)";
constexpr std::string_view kAllTypes =
    "the types are real, float, double, int, index, bool, complex, vec2, vec3 and vec4";
constexpr std::string_view kLoop = "write a for with a constant trip count";
constexpr std::string_view kFunction = "write a function for each type";
constexpr std::string_view kVariables = "use single variables or arrays";
constexpr std::string_view kBranch = "write if and else if";
constexpr std::string_view kCast = "write a cast as real(x) or static_cast<real>(x)";

constexpr std::array kExcluded = std::to_array<ExcludedWord>({
    {"goto", "goto", "write if and else"},
    {"while", "a while loop", kLoop},
    {"do", "a do loop", kLoop},
    {"break", "break", "put the rest of the loop's body under an if"},
    {"continue", "continue", "put the rest of the loop's body under an if"},
    {"switch", "switch", kBranch},
    {"case", "switch", kBranch, true},
    {"default", "switch", kBranch, true},
    {"new", "new", "use a local array of constant length"},
    {"delete", "delete", "there is nothing to free"},
    {"class", "a class", kVariables},
    {"struct", "a struct", kVariables},
    {"union", "a union", kVariables},
    {"enum", "an enumeration", "use #define of a constant"},
    {"private", "a class", kVariables, true},
    {"public", "a class", kVariables, true},
    {"protected", "a class", kVariables, true},
    {"virtual", "virtual", kVariables, true},
    {"friend", "friend", kVariables, true},
    {"explicit", "explicit", kVariables, true},
    {"this", "this", kVariables},
    {"template", "a template", kFunction},
    {"typename", "a template", kFunction, true},
    {"concept", "a concept", kFunction, true},
    {"requires", "a concept", kFunction, true},
    {"namespace", "a namespace", "all names of a pipeline are in one"},
    {"using", "using", "write the name itself"},
    {"typedef", "typedef", "write the type itself"},
    {"throw", "an exception", "exclude a pair with skip_if(condition)"},
    {"try", "an exception", "exclude a pair with skip_if(condition)"},
    {"catch", "an exception", "exclude a pair with skip_if(condition)", true},
    {"noexcept", "noexcept", "remove it"},
    {"operator", "an operator definition", "write a function"},
    {"import", "a module", "a pipeline is one file"},
    {"export", "a module", "a pipeline is one file"},
    {"module", "a module", "a pipeline is one file"},
    {"asm", "inline assembly", "the compiler chooses the instructions"},
    {"extern", "extern", "remove it"},
    {"static", "static", "nothing lives longer than one pair"},
    {"register", "register", "remove it"},
    {"thread_local", "thread_local", "nothing lives longer than one pair"},
    {"volatile", "volatile", "remove it"},
    {"mutable", "mutable", "remove it"},
    {"constinit", "constinit", "write const"},
    {"consteval", "consteval", "remove it"},
    {"alignas", "alignas", "remove it"},
    {"sizeof", "sizeof", "write the number"},
    {"alignof", "alignof", ""},
    {"typeid", "typeid", ""},
    {"decltype", "decltype", "write the type itself, or auto"},
    {"reinterpret_cast", "reinterpret_cast", kCast},
    {"const_cast", "const_cast", kCast},
    {"dynamic_cast", "dynamic_cast", kCast},
    {"nullptr", "a pointer", "use an array and a constant index"},
    {"char", "the type char", kIntegerTypes},
    {"short", "the type short", kIntegerTypes},
    {"long", "the type long", kIntegerTypes},
    {"signed", "the type signed", kIntegerTypes},
    {"wchar_t", "the type wchar_t", kAllTypes},
    {"char8_t", "the type char8_t", kAllTypes},
    {"char16_t", "the type char16_t", kAllTypes},
    {"char32_t", "the type char32_t", kAllTypes},
    {"co_await", "a coroutine", ""},
    {"co_yield", "a coroutine", ""},
    {"co_return", "a coroutine", ""},
    {"static_assert", "static_assert", ""},
});

constexpr std::array kTypes =
    std::to_array<std::string_view>({"real", "float", "double", "int", "unsigned", "index", "bool", "complex", "vec2",
                                     "vec3", "vec4", "mat2", "mat3", "mat4"});
constexpr std::array kRoleNames =
    std::to_array<std::string_view>({"input_i", "input_j", "input_pair", "param", "output"});
constexpr std::array kReductionNames = std::to_array<std::string_view>(
    {"sum", "min", "max", "argmin", "argmax", "logsumexp", "softmax", "product", "count", "at", "total", "pair"});
// Reductions that are reserved only after `output`; elsewhere the user may use them as names.
constexpr std::array kOnlyReductions = std::to_array<std::string_view>({"product", "count", "total", "pair"});
constexpr std::array kKeywords = std::to_array<std::string_view>(
    {"if", "else", "for", "return", "const", "constexpr", "auto", "void", "inline", "true", "false", "static_cast",
     "and", "or", "not", "INPUT_I", "INPUT_J", "OUTPUT", "finish"});

struct Form {
  std::string_view names, form;
};
// '@' is replaced by the function's name. The names of one form are separated by blanks.
constexpr std::array kForms = std::to_array<Form>({
    {"sqrt rsqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos sinpi cospi tan asin acos atan sinh cosh tanh asinh "
     "acosh atanh erf erfc lgamma tgamma bessel_j0 bessel_j1 bessel_k0 bessel_k1 bessel_i0 bessel_i1 sign",
     "@(x), of one number or vector"},
    {"floor ceil round trunc fabs abs", "@(x), of one number or vector"},
    {"min max", "@(a, b), of two numbers or two vectors of one length"},
    {"pow atan2 hypot fmod copysign", "@(x, y), of two numbers"},
    {"fma", "@(a, b, c), of three numbers, for a * b + c"},
    {"clamp", "@(x, low, high), of three numbers or three vectors of one length"},
    {"select",
     "@(condition, yes, no), of two numbers or two vectors of one length; for vectors the condition may be a "
     "comparison of such"},
    {"sincos", "@(x, s, c), where s and c are variables of one type"},
    {"dot", "@(a, b), of two vectors or arrays of one length"},
    {"cross", "@(a, b), of two vec3 or two vec2"},
    {"angle", "@(u, v), of two vectors of one length"},
    {"length normalize", "@(v), of one vector"},
    {"nearest_image",
     "@(dx, box), of two numbers, two vectors, or a vector and a number; or @(dx, a, b, c), of four vec3"},
    {"every_image",
     "@(dx, box), of two numbers, two vectors, or a vector and a number; or @(dx, a, b) or @(dx, a, b, c), of vec3"},
    {"image_index", "@(k), of 0, 1 or 2"},
    {"table spline",
     "@(t, s), of a param t that is an array, or a row of one, and a position s in it, counted in elements"},
    {"spline_coefficient",
     "@(t, k, p), of a param t that spline() reads, the number k of an element and a power p from 0 to 3"},
    {"philox random", "@(a, b, c), of three whole numbers"},
    {"grad", "@(u, x), of one number u and an input, a param or a variable x"},
    {"ddt", "@(e, x, rate, ...), of an expression e, variables x and their rates of change"},
    {"imag conj arg norm", "@(z), of a complex number"},
    {"any all", "@(c), of the result of comparing two vectors"},
    {"sum", "@(v), of one array or vector"},
    {"transpose trace", "@(m), of one matrix"},
    {"determinant", "@(m), of a mat2 or a mat3"},
    {"outer", "@(a, b), of two vectors of one length"},
    {"argmin argmax", "near = @(near, value), with an output(@) index near"},
    {"logsumexp", "z = @(z, x), with an output(@) real z"},
    {"softmax", "y = @(y, logit, value), with an output(@) y of the value's type"},
    {"at", "d = @(near, value), with an output(@) d and an output(argmin) or output(argmax) near"},
    {"skip_if", "@(condition)"},
});
constexpr std::array kConstants =
    std::to_array<std::string_view>({"pi", "two_pi", "sqrt_pi", "euler", "i_index", "j_index", "self_pair"});

// Names in other languages for words of this one, which are too different in spelling for did_you_mean().
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"M_PI", "pi"},     {"PI", "pi"},        {"M_E", "euler"},    {"fmin", "min"},    {"fmax", "max"},
    {"fminf", "min"},   {"fmaxf", "max"},    {"ln", "log"},       {"mag", "length"},  {"int64_t", "index"},
    {"int32_t", "int"}, {"size_t", "index"}, {"boolean", "bool"}, {"integer", "int"}, {"mix", "select"}};

std::string in_form(std::string_view form, std::string_view name) {
  std::string result;
  for (const char c : form) result += c == '@' ? std::string(name) : std::string(1, c);
  return result;
}

std::vector<std::string_view> values() {
  std::vector<std::string_view> result;
  for (const Form& form : kForms)
    // The iterators of GCC 11's split() make no string_view by themselves.
    for (const auto name : std::views::split(form.names, ' '))
      result.emplace_back(&*name.begin(), std::size_t(std::ranges::distance(name)));
  result.insert(result.end(), kConstants.begin(), kConstants.end());
  result.insert(result.end(), kTypes.begin(), kTypes.end());
  return result;
}

}  // namespace

const ExcludedWord* find_excluded_word(std::string_view word) {
  const auto* const found = std::ranges::find(kExcluded, word, &ExcludedWord::word);
  return found == kExcluded.end() ? nullptr : found;
}

std::span<const std::string_view> words(WordKind kind) {
  static const std::vector<std::string_view> all_values = values();
  switch (kind) {
    case WordKind::Type:
      return kTypes;
    case WordKind::Role:
      return kRoleNames;
    case WordKind::Reduction:
      return kReductionNames;
    case WordKind::Value:
      break;
  }
  return all_values;
}

namespace {
constexpr std::string_view kLogSumExp =
    "template <__number A, __number B> __floating<A, B> @(A, B);\n"
    "template <__vector A, class B> A @(A, B) = delete(\"logsumexp is of single numbers; write a statement for each "
    "component, as z.x = logsumexp(z.x, v.x)\");";
constexpr std::string_view kSoftmax =
    "template <__number S, __number A, __number B> __floating<S, B> @(S, A, B);\n"
    "template <__vector V, __number A> V @(V, A, V);\n"
    "template <__number A> complex @(complex, A, complex);\n"
    "template <class S, __vector A, class B> S @(S, A, B) = delete(\"the logit of softmax is a single number, not a "
    "vector\");";
constexpr std::string_view kGrad =
    "template <__number U, __number X> __floating<X> @(const U&, const X&);\n"
    "template <__number U, __vector X> X @(const U&, const X&);\n"
    "template <__number U> complex @(const U&, const complex&);\n"
    "template <class X> X @(const complex&, const X&) = delete(\"grad is of real numbers; differentiate real(u) and "
    "imag(u)\");\n"
    "template <__number U, class T, long long n> __array<T, n> @(const U&, const __array<T, n>&);\n"
    "template <__number U> mat2 @(const U&, const mat2&);\n"
    "template <__number U> mat3 @(const U&, const mat3&);\n"
    "template <__number U> mat4 @(const U&, const mat4&);\n"
    "template <__number U, class X, long long n> X @(const U&, const X (&)[n]) = delete(\"grad differentiates by one "
    "element of an array at a time\");\n"
    "template <__vector U, class X> X @(const U&, const X&) = delete(\"grad is of single numbers; differentiate each "
    "component, as grad(v.x, x)\");";
constexpr std::string_view kDdt =
    "template <__number E, class... R> __floating<E> @(const E&, const R&...);\n"
    "template <__vector E, class... R> E @(const E&, const R&...);\n"
    "template <class T, long long n, class... R> __array<T, n> @(const __array<T, n>&, const R&...);\n"
    "template <class... R> complex @(const complex&, const R&...);\n"
    "template <class... R> mat2 @(const mat2&, const R&...);\n"
    "template <class... R> mat3 @(const mat3&, const R&...);\n"
    "template <class... R> mat4 @(const mat4&, const R&...);\n"
    "template <class E, long long n, class... R> E @(const E (&)[n], const R&...) = delete(\"ddt is of a number, a "
    "vector or a matrix; differentiate each element of an array\");";
constexpr std::string_view kSum =
    "template <__vector V> real @(V);\n"
    "template <__number A, long long n> __joined<A> @(const __array<A, n>&);\n"
    "template <__number A> A @(A) = delete(\"sum(v) adds the elements of an array or a vector; a sum over j is an "
    "output(sum)\");";
constexpr std::string_view kTable =
    "template <class T, long long n, __number A> T @(const T (&)[n], A);\n"
    "template <class T, long long n, __number A> T @(const __array<T, n>&, A);";
constexpr std::string_view kAny =
    "bool @(bvec2); bool @(bvec3); bool @(bvec4); template <long long n> bool @(const __array<bool, n>&);";
constexpr std::string_view kOfTwo =
    "template <__number A, __number B> __floating<A, B> @(A, B); __OF_ARRAYS(__JOINED, @)";
constexpr std::string_view kAt =
    "template <class T> requires(__number<T> || __vector<T>) T @(index, T);\n"
    "template <class T> requires(__number<T> || __vector<T>) T @(index*, T);\n"
    "complex @(index, complex); complex @(index*, complex);";
constexpr std::string_view kEveryImage =
    "template <__number A, __number B> __floating<A, B> @(A dx, B box);\n"
    "vec2 @(vec2, vec2); vec2 @(vec2, real); vec3 @(vec3, vec3); vec3 @(vec3, real);\n"
    "vec3 @(vec3, vec3, vec3); vec3 @(vec3, vec3, vec3, vec3);";
constexpr std::string_view kNorm =
    "real @(complex);\n"
    "template <__vector V> real @(V) = delete(\"norm(z) is the square of the modulus of a complex number; the length "
    "of a vector is length(v)\");\n"
    "template <__number A, long long n> real @(const __array<A, n>&) = delete(\"norm(z) is the square of the modulus "
    "of "
    "a complex number; the length of an array is length(v)\");";
}  // namespace

std::span<const LaterFunction> later_functions() {
  static constexpr auto kLater =
      std::to_array<LaterFunction>({{"expm1"},
                                    {"log1p"},
                                    {"log10"},
                                    {"asinh"},
                                    {"acosh"},
                                    {"atanh"},
                                    {"lgamma"},
                                    {"tgamma"},
                                    {"sign"},
                                    {"bessel_j0"},
                                    {"bessel_j1"},
                                    {"bessel_k0"},
                                    {"bessel_k1"},
                                    {"bessel_i0"},
                                    {"bessel_i1"},
                                    {"hypot", kOfTwo},
                                    {"fmod", kOfTwo},
                                    {"sum", kSum},
                                    {"table", kTable},
                                    {"spline", kTable},
                                    {"philox", "template <__number A, __number B, __number C> index @(A, B, C);"},
                                    {"random", "template <__number A, __number B, __number C> real @(A, B, C);"},
                                    {"any", kAny},
                                    {"all", kAny},
                                    {"transpose", "mat2 @(mat2); mat3 @(mat3); mat4 @(mat4);"},
                                    {"outer", "mat2 @(vec2, vec2); mat3 @(vec3, vec3); mat4 @(vec4, vec4);"},
                                    {"trace", "real @(mat2); real @(mat3); real @(mat4);"},
                                    {"determinant", "real @(mat2); real @(mat3);"},
                                    {"imag", "real @(complex);"},
                                    {"conj", "complex @(complex);"},
                                    {"arg", "real @(complex);"},
                                    {"norm", kNorm},
                                    {"logsumexp", kLogSumExp},
                                    {"softmax", kSoftmax},
                                    {"at", kAt},
                                    {"spline_coefficient",
                                     "template <class T, long long n, __number K> T @(const T (&)[n], K, int);\n"
                                     "template <class T, long long n, __number K> T @(const __array<T, n>&, K, int);"},
                                    {"every_image", kEveryImage},
                                    {"image_index", "int @(int);"},
                                    {"self_pair", "extern const bool @;"},
                                    {"grad", kGrad},
                                    {"ddt", kDdt},
                                    {"angle", "real @(vec2, vec2); real @(vec3, vec3); real @(vec4, vec4);"}});
  return kLater;
}

bool is_later_function(std::string_view word) {
  return std::ranges::find(later_functions(), word, &LaterFunction::name) != later_functions().end();
}

std::string all_reductions(std::string_view form, std::string_view last_joined_by) {
  std::string list;
  for (std::size_t k = 0; k < kReductionNames.size(); ++k) {
    const std::string between = k + 1 < kReductionNames.size() ? ", " : fmt::format(" {} ", last_joined_by);
    list += k == 0 ? "" : between;
    list += in_form(form, kReductionNames[k]);
  }
  return list;
}

bool is_a(WordKind kind, std::string_view word) { return std::ranges::find(words(kind), word) != words(kind).end(); }

bool is_built_in(std::string_view word) { return is_a(WordKind::Value, word) && !is_a(WordKind::Type, word); }

bool is_language_word(std::string_view word) {
  const bool is_reduction =
      is_a(WordKind::Reduction, word) && std::ranges::find(kOnlyReductions, word) == kOnlyReductions.end();
  return is_a(WordKind::Value, word) || is_a(WordKind::Role, word) || is_reduction ||
         std::ranges::find(kKeywords, word) != kKeywords.end();
}

std::string refused_operator(std::string_view op) {
  // Bitwise operators need integers; with other operands the user meant another operator.
  constexpr std::pair<std::string_view, std::string_view> kRemedies[] = {
      {"^", "a power is written pow(x, y)"}, {"&", "write && between conditions"},
      {"|", "write || between conditions"},  {"~", "write ! in front of a condition"},
      {"<<", "multiply by a power of 2"},    {">>", "divide by a power of 2"}};
  const std::string_view bare = op.size() > 1 && op.ends_with('=') ? op.substr(0, op.size() - 1) : op;
  if (op == "**") return "the operator '**' is not in the language; a power is written pow(x, y)";
  for (const auto& [name, remedy] : kRemedies)
    if (bare == name) return fmt::format("the operator '{}' is of whole numbers; {}", op, remedy);
  return fmt::format("the operator '{}' is not in the language", op);
}

std::string signature(std::string_view built_in) {
  for (const Form& form : kForms) {
    if (fmt::format(" {} ", form.names).find(fmt::format(" {} ", built_in)) == std::string::npos) continue;
    return in_form(form.form, built_in);
  }
  return {};
}

std::string remedy_of(std::string_view word) {
  constexpr std::string_view kSquare = "; the square of a length is dot(d, d)";
  // In lower case and without underscores.
  constexpr std::pair<std::string_view, std::string_view> kRemedies[] = {
      {"sqnorm", kSquare},
      {"normsq", kSquare},
      {"norm2", kSquare},
      {"squarednorm", kSquare},
      {"normsquared", kSquare},
      {"length2", kSquare},
      {"lengthsq", kSquare},
      {"lengthsquared", kSquare},
      {"sqdist", kSquare},
      {"distsq", kSquare},
      {"dist2", kSquare},
      {"sqeuclidean", kSquare},
      {"arccos", "; did you mean 'acos'? The angle between two vectors is angle(u, v)"},
      {"arcsin", "; did you mean 'asin'?"},
      {"arctan", "; did you mean 'atan'?"},
      {"arctan2", "; did you mean 'atan2'?"}};
  std::string plain;
  for (const char c : word)
    if (c != '_') plain += char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const auto& [name, remedy] : kRemedies)
    if (plain == name) return std::string(remedy);
  // vec64, float4, double3: a vector, or an array of as many numbers.
  for (const std::string_view type : {"vec", "float", "double", "real"}) {
    const std::string_view width = std::string_view(plain).substr(std::min(type.size(), plain.size()));
    if (!plain.starts_with(type) || width.empty() || width.size() > 4 || width[0] == '0' || width == "1" ||
        width.find_first_not_of("0123456789") != std::string_view::npos)
      continue;
    if (width == "2" || width == "3" || width == "4") return fmt::format("; did you mean 'vec{}'?", width);
    return fmt::format("; an array of {0} numbers is {1} x[{0}]", width, type == "vec" ? "real" : type);
  }
  return "";
}

std::string did_you_mean(std::string_view word, WordKind kind, std::string otherwise) {
  const auto meant = [](std::string_view nearest) { return fmt::format("; did you mean '{}'?", nearest); };
  for (const auto& [alias, ours] : kAliases)
    if (alias == word && is_a(kind, ours)) return meant(ours);
  const std::string_view nearest = nearest_word(word, words(kind));
  return nearest.empty() ? otherwise : meant(nearest);
}

}  // namespace nbcc
