// Makes a Signature from a KernelSource and its text. Entry points: signature_of(), check_names(). Declarations are
// written by library_text.cpp and language bindings.
#include "jit/signature.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "runtime/error.h"
#include "runtime/image/image.h"

namespace nbcc {
namespace {

// Words of C and C++ that could be the name of a file, with types and macros that are predefined or that nbcc.h
// includes, and errno. Other words of C and C++ cannot be names of fields in a pipeline either.
constexpr std::string_view kWords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class"
    " co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype"
    " default delete do double dynamic_cast else enum errno explicit export extern false float for friend goto if "
    "import"
    " inline int int16_t int32_t int64_t int8_t intmax_t intptr_t linux long max_align_t module mutable namespace"
    " new noexcept not not_eq NULL nullptr nullptr_t offsetof operator or or_eq private protected ptrdiff_t public"
    " register reinterpret_cast requires restrict return short signed size_t sizeof static static_assert"
    " static_cast std struct switch template this thread_local throw true try typedef typeid typename typeof"
    " uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t union unix unsigned using virtual void volatile"
    " wchar_t while xor xor_eq ";

// True if C programs or the C library have a function or a variable of this name, as `main` and `read`. A shared
// library's function of that name would take its place in the entire process; compilers know others, as `exp`.
bool is_in_c_library(const std::string& name) {
  return name == "main" || std::ranges::any_of(std::array{"libc.so.6", "libm.so.6"}, [&](const char* file) {
           void* const library = dlopen(file, RTLD_LAZY);
           const bool is_there = library && dlsym(library, name.c_str());
           if (library) dlclose(library);
           return is_there;
         });
}

bool is_one_of(std::string_view words, const std::string& word) {
  return words.find(" " + word + " ") != std::string_view::npos;
}

// Names that C and C++ reserve.
bool is_kept_by_c(const std::string& name) {
  return name.starts_with("__") || (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z');
}

// Macros of <stdint.h>, which nbcc.h includes.
bool is_macro(const std::string& name) {
  const auto begins = [&](const char* with) { return name.starts_with(with); };
  const auto ends = [&](const char* with) { return name.ends_with(with); };
  return std::ranges::any_of(std::array{"INT", "UINT", "SIZE_", "PTRDIFF_", "WCHAR_", "WINT_", "SIG_ATOMIC_"},
                             begins) &&
         std::ranges::any_of(std::array{"_MAX", "_MIN", "_WIDTH", "_C"}, ends);
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

Argument argument_of(const FieldLayout& field) {
  constexpr Argument::Kind kKinds[] = {Argument::Kind::InputI, Argument::Kind::InputJ, Argument::Kind::Param,
                                       Argument::Kind::Output, Argument::Kind::InputPair};
  Argument argument{kKinds[int(field.role)], field.name, Argument::Number::Real, {}, field.comment, field};
  const Element element = typed_element(field, Element::Double);
  if (element == Element::Int32) argument.number = Argument::Number::Int32;
  if (element == Element::Int64) argument.number = Argument::Number::Int64;
  if (field.length > 0) argument.shape.push_back(field.length);
  if (field.width > 1) argument.shape.push_back(field.width);
  if (!field.defaults.empty()) {
    argument.comment +=
        fmt::format("{}in the pipeline {}", argument.comment.empty() ? "" : "; ", fmt::join(field.defaults, ", "));
  }
  return argument;
}

Argument count(Argument::Kind kind) {
  const char side = kind == Argument::Kind::CountI ? 'i' : 'j';
  return {kind, std::string("n") + side, Argument::Number::Int64, {}, fmt::format("number of {}-particles", side)};
}

// The listed pairs, as nbcc_sum_set_listed_pairs() takes them.
std::array<Argument, 3> listed_pairs() {
  using Kind = Argument::Kind;
  constexpr auto kInt64 = Argument::Number::Int64;
  return {{{Kind::FirstOfI, "first", kInt64, {}, "the pairs of i are first[i], ..., first[i + 1] - 1, counted from 0"},
           {Kind::CountPairs, "pairs", kInt64, {}, "number of listed pairs, first[ni]"},
           {Kind::JOfPair, "j", kInt64, {}, "the j-particle of each pair, counted from 0"}}};
}

// Names with this prefix are used by nbcc in declarations and in the functions' bodies.
bool is_ours(const std::string& name) { return lower(name).starts_with("nbcc_") && !name.ends_with('_'); }

// Makes the names of arguments distinct, also case-insensitively for Fortran.
void make_names_unique(const std::string& pipeline, std::vector<Argument>& arguments) {
  // Names of the other arguments of P_bind(), and names that Fortran declarations use.
  std::set<std::string> taken{lower(pipeline), "ni",        "nj",      "sum",      "error", "c_int",
                              "c_int32_t",     "c_int64_t", "c_float", "c_double", "c_ptr"};
  for (const Argument& argument : arguments)
    if (!argument.is_field()) taken.insert(argument.name);
  for (Argument& argument : arguments) {
    if (!argument.is_field()) continue;
    while (is_ours(argument.name) || is_one_of(kWords, argument.name) || is_macro(argument.name) ||
           !taken.insert(lower(argument.name)).second) {
      argument.name += '_';
    }
  }
}

}  // namespace

int Argument::width() const {
  int width = 1;
  for (const int n : shape) width *= n;
  return width;
}

bool Argument::has_flavours() const { return is_field() && has_rows() && number == Number::Real; }

bool Signature::has_flavours() const { return std::ranges::any_of(arguments, &Argument::has_flavours); }

bool Signature::inputs_have_flavours() const {
  return std::ranges::any_of(arguments, [](const Argument& argument) {
    return argument.has_flavours() && argument.kind != Argument::Kind::Output;
  });
}

std::string c_type(const Argument& argument, const std::string& real) {
  if (argument.number == Argument::Number::Real) return argument.has_rows() ? real : "double";
  return argument.number == Argument::Number::Int32 ? "int32_t" : "int64_t";
}

Signature signature_of(const Source& source, const KernelSource& kernel) {
  Signature signature{kernel.pipeline, comment_at_head(source), {}};
  std::vector<Argument>& arguments = signature.arguments;
  for (const FieldLayout& field : kernel.caller_fields()) arguments.push_back(argument_of(field));
  const auto of_pair = std::ranges::find_if(arguments, &Argument::on_pairs);
  signature.has_listed_pairs = of_pair != arguments.end();
  if (signature.has_listed_pairs) {
    const std::array<Argument, 3> listed = listed_pairs();
    arguments.insert(of_pair, listed.begin(), listed.end());
  }
  // nj before ni: if neither side has fields, both are inserted at the beginning, and ni comes first.
  for (const Argument::Kind kind : {Argument::Kind::CountJ, Argument::Kind::CountI}) {
    const auto first = std::ranges::find_if(arguments, [&](const Argument& argument) {
      return kind == Argument::Kind::CountI ? argument.on_i() && argument.has_rows() : argument.on_j();
    });
    arguments.insert(first == arguments.end() ? arguments.begin() : first, count(kind));
  }
  make_names_unique(signature.pipeline, arguments);
  return signature;
}

bool is_word(const std::string& name) { return is_one_of(kWords, name) || is_kept_by_c(name) || is_macro(name); }

std::set<std::string> function_names(const std::string& pipeline) {
  return {pipeline, pipeline + "_f", pipeline + "_open", pipeline + "_bind", pipeline + "_bind_f"};
}

void check_names(const std::vector<std::string>& pipelines) {
  std::map<std::string, std::string> owner;  // function name (lower case) -> pipeline
  for (const std::string& name : pipelines) {
    const std::string remedy = "; a pipeline's name is that of its file";
    if (is_word(name)) {
      throw UsageError(
          fmt::format("pipeline '{}' cannot be a function: '{}' is a word of C or C++{}", name, name, remedy));
    }
    if (lower(name) == "nbcc" || lower(name).starts_with("nbcc_")) {
      throw UsageError(
          fmt::format("pipeline '{}' cannot be a function: names with this prefix belong to nbcc{}", name, remedy));
    }
    for (const std::string& function : function_names(name)) {
      if (is_in_c_library(function))
        throw UsageError(
            fmt::format("pipeline '{}' cannot be a function: the C library has '{}'{}", name, function, remedy));
      const auto [at, is_new] = owner.emplace(lower(function), name);
      if (is_new) continue;
      if (at->second == name || lower(at->second) == lower(name)) {
        throw UsageError(fmt::format("there are two pipelines '{}'{}{}", name,
                                     at->second == name ? "" : ": Fortran ignores case", remedy));
      }
      throw UsageError(
          fmt::format("pipelines '{}' and '{}' would both have a function '{}'{}", at->second, name, function, remedy));
    }
  }
}

}  // namespace nbcc
