// Signatures -> a module for Fortran. Door: fortran_module(). Compiles nothing.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/text/fill_template.h"
#include "jit/callers.h"

namespace nbcc {
namespace {

std::string number_type(Argument::Number number, const std::string& real) {
  if (number == Argument::Number::Real) return fmt::format("real({})", real);
  return number == Argument::Number::Int32 ? "integer(c_int32_t)" : "integer(c_int64_t)";
}

// Names there begin with a letter.
std::string fortran_name(const std::string& name) { return name.front() == '_' ? "f" + name : name; }

// The innermost index of C is the first of Fortran: an array of vec3 is (3, *).
std::string dimensions(const Argument& argument, const std::string& count) {
  std::string text;
  for (auto n = argument.shape.rbegin(); n != argument.shape.rend(); ++n) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", *n);
  }
  if (argument.is_array()) text += (text.empty() ? "" : ", ") + count;
  return text.empty() ? "" : "(" + text + ")";
}

std::string declaration(const Argument& argument, const std::string& real) {
  const std::string type = number_type(argument.number, argument.is_array() ? real : "c_double");
  std::string attribute = ", value";
  if (argument.is_array() || !argument.shape.empty()) attribute = ", intent(in)";
  if (argument.kind == Argument::Kind::Output) attribute = ", intent(inout), optional";
  return fmt::format("{}{} :: {}{}", type, attribute, fortran_name(argument.name), dimensions(argument, "*"));
}

// What the pipeline's text says of itself and of its fields.
std::string documentation(const Signature& signature) {
  std::vector<std::string> lines = signature.description;
  if (!lines.empty()) lines.emplace_back();
  std::size_t width = 0;
  const auto in_table = [](const Argument& argument) {
    return fortran_name(argument.name) + dimensions(argument, argument.on_i() ? "ni" : "nj");
  };
  for (const Argument& argument : signature.arguments) width = std::max(width, in_table(argument).size());
  for (const Argument& argument : signature.arguments) {
    lines.push_back(fmt::format("  {:<{}}  {}", in_table(argument), width, argument.comment));
  }
  std::string text;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += (line.empty() ? "!" : "! " + line) + "\n";
  }
  return text;
}

// `binds`: of a sum's arrays, between its handle and the error; else the function that sums.
std::string function_of(const Signature& signature, const std::string& real, bool binds) {
  std::vector<std::string> names;
  for (const Argument& argument : signature.arguments) names.push_back(fortran_name(argument.name));
  if (binds) names.insert(names.begin(), "sum"), names.emplace_back("error");
  // Of the flavours of one function; another pipeline may be called gravity_double.
  const std::string name = (real == "c_float" ? "nbcc_f_" : "nbcc_d_") + signature.pipeline + (binds ? "_bind" : "");
  const std::string c_name = signature.pipeline + (binds ? "_bind" : "") + (real == "c_float" ? "_f" : "");
  std::string text = wrapped(fmt::format("  integer(c_int) function {}(", name), names,
                             fmt::format(") &\n      bind(C, name=\"{}\")\n", c_name), "      ", " &");
  text += "    import\n";
  if (binds) text += "    type(c_ptr), value :: sum\n";
  for (const Argument& argument : signature.arguments) text += "    " + declaration(argument, real) + "\n";
  if (binds) text += "    type(c_ptr), intent(out), optional :: error\n";
  return text + "  end function\n";
}

std::string interface_of(const Signature& signature) {
  std::string text = documentation(signature);
  const std::string name = fortran_name(signature.pipeline);
  for (const bool binds : {false, true}) {
    text += fmt::format("interface {}{}\n", name, binds ? "_bind" : "") + function_of(signature, "c_double", binds);
    if (signature.has_flavours()) text += function_of(signature, "c_float", binds);
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

}  // namespace

std::string fortran_module(const LibraryText& library) {
  std::string interfaces, names;
  for (const Signature& signature : library.signatures) {
    interfaces += (interfaces.empty() ? "" : "\n") + interface_of(signature);
    for (const char* suffix : {"", "_open", "_bind"}) {
      names += fmt::format("public :: {}{}\n", fortran_name(signature.pipeline), suffix);
    }
  }
  if (library.cunbody) {
    interfaces += "\n" + cunbody_interfaces(library);
    names += "public :: cunbody_api\n";
    if (library.cunbody->has_force()) names += "public :: force\n";
  }
  return fill_template("library.f90", {{"name", library.name},
                                       {"made", library.made},
                                       {"module", fortran_name(library.module)},
                                       {"public", names},
                                       {"interfaces", interfaces}});
}

}  // namespace nbcc
