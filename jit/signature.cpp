// KernelSource and text -> Signature. Doors: signature_of(), check_names(). Writes no declaration: callers_*.cpp do.
#include "jit/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "runtime/error.h"
#include "runtime/typed_array.h"

namespace nbcc {
namespace {

// Words of C and C++ that a file's name can be. What else they have, pipelines cannot use as names of fields either.
constexpr std::array kWords = std::to_array<std::string_view>(
    {"alignas", "alignof",  "and",       "asm",       "auto",      "bool",     "break",    "case",    "catch",
     "char",    "class",    "concept",   "const",     "constexpr", "continue", "decltype", "default", "delete",
     "do",      "double",   "else",      "enum",      "explicit",  "export",   "extern",   "false",   "float",
     "for",     "friend",   "goto",      "if",        "import",    "inline",   "int",      "int32_t", "int64_t",
     "long",    "module",   "mutable",   "namespace", "new",       "noexcept", "not",      "nullptr", "operator",
     "or",      "private",  "protected", "public",    "register",  "requires", "restrict", "return",  "short",
     "signed",  "sizeof",   "static",    "struct",    "switch",    "template", "this",     "throw",   "true",
     "try",     "typedef",  "typeid",    "typename",  "typeof",    "union",    "unsigned", "using",   "virtual",
     "void",    "volatile", "while",     "xor"});

// Functions that C's library has and compilers know: declaring them otherwise is an error.
constexpr std::array kFunctions = std::to_array<std::string_view>(
    {"abort",   "abs",       "acos",   "acosh",  "asin",    "asinh",   "atan",   "atan2", "atanh",  "calloc", "cbrt",
     "ceil",    "copysign",  "cos",    "cosh",   "div",     "dprintf", "erf",    "erfc",  "exit",   "exp",    "exp2",
     "expm1",   "fabs",      "fdim",   "floor",  "fma",     "fmax",    "fmin",   "fmod",  "free",   "frexp",  "gamma",
     "hypot",   "index",     "j0",     "j1",     "jn",      "ldexp",   "lgamma", "log",   "log10",  "log1p",  "log2",
     "logb",    "main",      "malloc", "memcpy", "memmove", "memset",  "modf",   "pow",   "printf", "puts",   "rand",
     "realloc", "remainder", "rint",   "round",  "signal",  "sin",     "sinh",   "sqrt",  "strlen", "tan",    "tanh",
     "tgamma",  "time",      "trunc",  "y0",     "y1",      "yn"});

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string lower(std::string word) {
  for (char& c : word) c = char(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

std::vector<std::string> comment_at_head(const Source& source) {
  std::vector<std::string> lines;
  for (int number = 1;; ++number) {
    std::string_view line = source.line(number);
    if (!line.starts_with("//")) return lines;
    line.remove_prefix(2);
    if (line.starts_with(' ')) line.remove_prefix(1);
    lines.emplace_back(line.substr(0, line.find_last_not_of(" \t") + 1));
  }
}

Argument::Kind kind_of(FieldLayout::Role role) {
  switch (role) {
    case FieldLayout::Role::InputI:
      return Argument::Kind::InputI;
    case FieldLayout::Role::InputJ:
      return Argument::Kind::InputJ;
    case FieldLayout::Role::Param:
      return Argument::Kind::Param;
    case FieldLayout::Role::Output:
      break;
  }
  return Argument::Kind::Output;
}

Argument argument_of(const FieldLayout& field) {
  Argument argument{kind_of(field.role), field.name, Argument::Number::Real, {}, field.comment};
  const Element element = typed_element(field, Element::Double);
  if (element == Element::Int32) argument.number = Argument::Number::Int32;
  if (element == Element::Int64) argument.number = Argument::Number::Int64;
  if (field.length > 0) argument.shape.push_back(field.length);
  if (field.width > 1) argument.shape.push_back(field.width);
  if (!field.defaults.empty()) {
    std::string values;
    for (const double value : field.defaults) values += fmt::format("{}{}", values.empty() ? "" : ", ", value);
    argument.comment += fmt::format("{}in the pipeline {}", argument.comment.empty() ? "" : "; ", values);
  }
  return argument;
}

Argument count(Argument::Kind kind) {
  const char side = kind == Argument::Kind::CountI ? 'i' : 'j';
  return {kind, std::string("n") + side, Argument::Number::Int64, {}, fmt::format("number of {}-particles", side)};
}

// Two arguments may not have one name; in Fortran capitals do not count.
void make_names_unique(const std::string& pipeline, std::vector<Argument>& arguments) {
  // What P_bind() has besides the fields.
  std::set<std::string> taken{lower(pipeline), "sum", "error"};
  for (Argument& argument : arguments) {
    if (argument.kind == Argument::Kind::CountI || argument.kind == Argument::Kind::CountJ) taken.insert(argument.name);
  }
  for (Argument& argument : arguments) {
    if (argument.kind == Argument::Kind::CountI || argument.kind == Argument::Kind::CountJ) continue;
    while (is_one_of(kWords, argument.name) || !taken.insert(lower(argument.name)).second) argument.name += '_';
  }
}

}  // namespace

int Argument::width() const {
  int width = 1;
  for (const int n : shape) width *= n;
  return width;
}

bool Signature::has_flavours() const {
  return std::any_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
    return argument.is_array() && argument.number == Argument::Number::Real;
  });
}

Signature signature_of(const Source& source, const KernelSource& kernel) {
  Signature signature{kernel.pipeline, comment_at_head(source), {}};
  bool has_i = false, has_j = false;
  for (const FieldLayout& field : kernel.fields) {
    Argument argument = argument_of(field);
    if (argument.on_i() && !std::exchange(has_i, true)) {
      signature.arguments.push_back(count(Argument::Kind::CountI));
    }
    if (argument.kind == Argument::Kind::InputJ && !std::exchange(has_j, true)) {
      signature.arguments.push_back(count(Argument::Kind::CountJ));
    }
    signature.arguments.push_back(std::move(argument));
  }
  if (!has_j) signature.arguments.insert(signature.arguments.begin(), count(Argument::Kind::CountJ));
  if (!has_i) signature.arguments.insert(signature.arguments.begin(), count(Argument::Kind::CountI));
  make_names_unique(signature.pipeline, signature.arguments);
  return signature;
}

std::vector<std::string> function_names(const std::string& pipeline) {
  return {pipeline, pipeline + "_f", pipeline + "_open", pipeline + "_bind", pipeline + "_bind_f"};
}

void check_names(const std::vector<Signature>& signatures) {
  std::map<std::string, std::string> owner;  // of each function's name
  for (const Signature& signature : signatures) {
    const std::string& name = signature.pipeline;
    const std::string remedy = "; a pipeline's name is that of its file";
    if (is_one_of(kWords, name)) {
      throw UsageError(
          fmt::format("pipeline '{}' cannot be a function: '{}' is a word of C or C++{}", name, name, remedy));
    }
    if (is_one_of(kFunctions, name)) {
      throw UsageError(fmt::format("pipeline '{}' cannot be a function: C has one of that name{}", name, remedy));
    }
    if (lower(name).starts_with("nbcc_")) {
      throw UsageError(
          fmt::format("pipeline '{}' cannot be a function: nbcc's own begin with 'nbcc_'{}", name, remedy));
    }
    for (const std::string& function : function_names(name)) {
      const auto [at, is_new] = owner.emplace(lower(function), name);
      if (is_new) continue;
      if (at->second == name || lower(at->second) == lower(name)) {
        throw UsageError(fmt::format("there are two pipelines '{}'{}{}", name,
                                     at->second == name ? "" : ": capitals do not count in Fortran", remedy));
      }
      throw UsageError(
          fmt::format("pipelines '{}' and '{}' would both have a function '{}'{}", at->second, name, function, remedy));
    }
  }
}

}  // namespace nbcc
