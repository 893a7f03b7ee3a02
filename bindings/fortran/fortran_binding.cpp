// Writes the Fortran module. Entry point: fortran_binding().
#include "bindings/fortran/fortran_binding.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/text/fill_template.h"
#include "runtime/error.h"

namespace nbcc {

std::string_view fortran_template(std::string_view name);

namespace {

// Fortran names must begin with a letter.
std::string fortran_name(const std::string& name) { return name.front() == '_' ? "f" + name : name; }

// The last index in C is the first in Fortran: an array of vec3 is (3, *).
std::string dimensions(const Argument& argument, const std::string& count) {
  std::string text;
  // The last dimension of complex numbers, their parts, belongs to the type.
  for (auto n = argument.shape.rbegin() + (argument.field.is_complex ? 1 : 0); n != argument.shape.rend(); ++n) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", *n);
  }
  if (argument.has_rows()) text += (text.empty() ? "" : ", ") + count;
  return text.empty() ? "" : "(" + text + ")";
}

// `binds`: of NAME_bind(), which may keep the pairs that were listed before.
std::string declaration(const Argument& argument, const std::string& real, bool binds) {
  const bool is_real = argument.number == Argument::Number::Real;
  const std::string type = fmt::format("{}(c_{})",
                                       argument.field.is_complex ? "complex"
                                       : is_real                 ? "real"
                                                                 : "integer",
                                       c_type(argument, real));
  std::string attribute = ", value";
  if (argument.is_array() || !argument.shape.empty()) attribute = ", intent(in)";
  if (argument.is_list() && binds) attribute += ", optional";
  if (argument.kind == Argument::Kind::Output) attribute = ", intent(inout), optional";
  return fmt::format("{}{} :: {}{}", type, attribute, fortran_name(argument.name), dimensions(argument, "*"));
}

// The comments of the listed pairs, with indices that count from 1 where Fortran's do.
std::string comment_in_fortran(const Argument& argument) {
  if (argument.kind == Argument::Kind::FirstOfI)
    return "the pairs of i-particle k are first(k) + 1, ..., first(k + 1), counted from 1";
  if (argument.kind == Argument::Kind::CountPairs) return "number of listed pairs, first(ni + 1)";
  return argument.comment;
}

std::string comment(Signature signature) {
  for (Argument& argument : signature.arguments) argument.comment = comment_in_fortran(argument);
  std::string text;
  const auto in_table = [](const Argument& argument) {
    const bool is_first = argument.kind == Argument::Kind::FirstOfI;
    return fortran_name(argument.name) + dimensions(argument, is_first              ? "ni + 1"
                                                              : argument.on_i()     ? "ni"
                                                              : argument.on_pairs() ? "pairs"
                                                                                    : "nj");
  };
  for (const std::string& line : documentation(signature, in_table)) text += (line.empty() ? "!" : "! " + line) + "\n";
  return text;
}

// The interface of NAME_bind() if `binds`, which has the additional arguments sum and error; else of NAME().
std::string function_of(const Signature& signature, const std::string& real, bool binds) {
  std::vector<std::string> names;
  for (const Argument& argument : signature.arguments) names.push_back(fortran_name(argument.name));
  if (binds) names.insert(names.begin(), "sum"), names.emplace_back("error");
  // The specific name of a flavour. With the prefix nbcc_ it differs from the names of all pipelines.
  const std::string name = (real == "float" ? "nbcc_f_" : "nbcc_d_") + signature.pipeline + (binds ? "_bind" : "");
  const std::string c_name = signature.pipeline + (binds ? "_bind" : "") + (real == "float" ? "_f" : "");
  std::string text = wrapped(fmt::format("  integer(c_int) function {}(", name), names,
                             fmt::format(") &\n      bind(C, name=\"{}\")\n", c_name), "      ", " &");
  text += "    import\n";
  if (binds) text += "    type(c_ptr), value :: sum\n";
  for (const Argument& argument : signature.arguments) text += "    " + declaration(argument, real, binds) + "\n";
  if (binds) text += "    type(c_ptr), intent(out), optional :: error\n";
  return text + "  end function\n";
}

std::string interface_of(const Signature& signature) {
  std::string text = comment(signature);
  const std::string name = fortran_name(signature.pipeline);
  for (const bool binds : {false, true}) {
    text += fmt::format("interface {}{}\n", name, binds ? "_bind" : "") + function_of(signature, "double", binds);
    // Outputs are optional, so procedures that differ in outputs only would be ambiguous.
    if (signature.inputs_have_flavours()) text += function_of(signature, "float", binds);
    text += "end interface\n";
  }
  return text + fmt::format(
                    "interface\n"
                    "  integer(c_int) function {}_open(device, pipeline, error) &\n"
                    "      bind(C, name=\"{}_open\")\n"
                    "    import\n"
                    "    type(c_ptr), value :: device\n"
                    "    type(c_ptr), intent(out) :: pipeline\n"
                    "    type(c_ptr), intent(out), optional :: error\n"
                    "  end function\n"
                    "end interface\n",
                    name, signature.pipeline);
}

// Throws UsageError if a name of a function or of an argument is not valid in Fortran.
void check_names(const Signature& signature) {
  // A Fortran name has at most 63 characters; nbcc adds the 12 of nbcc_d_ and _bind.
  constexpr std::size_t kMaxName = 63, kMaxPipelineName = 51;
  const std::string& name = signature.pipeline;
  if (name.starts_with("c_") || name.starts_with("C_")) {
    throw UsageError(
        fmt::format("pipeline '{}' cannot be a function in Fortran: names in iso_c_binding have this prefix", name));
  }
  if (name.size() > kMaxPipelineName) {
    throw UsageError(
        fmt::format("pipeline '{}' cannot be a function in Fortran: its name has {} characters, the maximum is {}",
                    name, name.size(), kMaxPipelineName));
  }
  for (const Argument& argument : signature.arguments) {
    if (argument.name.size() <= kMaxName) continue;
    throw UsageError(fmt::format("pipeline '{}': Fortran names have at most {} characters, '{}' has more", name,
                                 kMaxName, argument.name));
  }
}

std::string fortran_module(const LibraryText& library) {
  std::string interfaces, names;
  for (const LibraryPipeline& one : library.pipelines) {
    check_names(one.signature);
    interfaces += (interfaces.empty() ? "" : "\n") + interface_of(one.signature);
    for (const char* suffix : {"", "_open", "_bind"}) {
      names += fmt::format("public :: {}{}\n", fortran_name(one.signature.pipeline), suffix);
    }
  }
  return fill_text("library.f90", fortran_template("library.f90"),
                   {{"name", library.name},
                    {"made", library.made},
                    {"module", fortran_name(library.module)},
                    {"public", names},
                    {"interfaces", interfaces + library.more_interfaces}});
}

}  // namespace

LanguageBinding fortran_binding(const std::string& library) { return {library + ".f90", fortran_module}; }

}  // namespace nbcc
