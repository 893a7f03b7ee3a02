// Writes the C++ header, which calls the functions of the C header. Entry point: cpp_binding().
#include "bindings/cpp/cpp_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compiler/text/fill_template.h"

namespace nbcc {

std::string_view cpp_template(std::string_view name);

namespace {

std::string number_type(const Argument& argument, const std::string& real) {
  return (argument.number == Argument::Number::Real ? "" : "std::") + c_type(argument, real);
}

// Arrays with as many rows: those of i-particles, of j-particles or of listed pairs.
struct Side {
  Argument::Kind count;
  const char* name;
  bool (Argument::*has)() const;
};
constexpr Side kSides[] = {{Argument::Kind::CountI, "ni", &Argument::on_i},
                           {Argument::Kind::CountJ, "nj", &Argument::on_j},
                           {Argument::Kind::CountPairs, "pairs", &Argument::on_pairs}};

// True if a side has array arguments; its count then follows from these and is not an argument.
bool has_rows(const Signature& signature, const Side& side) {
  return std::ranges::any_of(signature.arguments,
                             [&](const Argument& argument) { return argument.has_rows() && (argument.*side.has)(); });
}

bool count_follows(const Signature& signature, Argument::Kind count) {
  const auto side = std::ranges::find(kSides, count, &Side::count);
  return side != std::end(kSides) && has_rows(signature, *side);
}

std::string declaration(const Argument& argument, const std::string& real) {
  if (argument.field.is_total()) {
    const std::string type = number_type(argument, real);
    if (argument.is_one_complex()) return fmt::format("std::complex<{}>* {}", type, argument.name);
    return argument.shape.empty() ? fmt::format("{}* {}", type, argument.name)
                                  : fmt::format("std::array<{}, {}>* {}", type, argument.width(), argument.name);
  }
  if (argument.is_array()) {
    const bool is_output = argument.kind == Argument::Kind::Output;
    const bool takes_complex = argument.field.width == 2;  // a complex number or a vec2
    return fmt::format("nbcc::Rows<{}{}, {}{}> {}", is_output ? "" : "const ", number_type(argument, real),
                       argument.width(), takes_complex ? ", true" : "", argument.name);
  }
  const std::string type = number_type(argument, real);
  if (argument.is_one_complex()) return fmt::format("std::complex<{}> {}", type, argument.name);
  if (argument.shape.empty()) return fmt::format("{} {}", type, argument.name);
  return fmt::format("const std::array<{}, {}>& {}", type, argument.width(), argument.name);
}

// The expression that passes an argument to the C function.
std::string passed(const Argument& argument, const std::string& real) {
  if (argument.is_count() || (argument.field.is_total() && argument.shape.empty())) return argument.name;
  // Without i-particles `first` may be empty, and then its first number must not be read.
  if (argument.kind == Argument::Kind::FirstOfI)
    return fmt::format("{0}.count() > 0 ? {0}.data() : nullptr", argument.name);
  if (argument.shape.empty()) return argument.is_array() ? argument.name + ".data()" : argument.name;
  if (argument.is_one_complex() && argument.field.is_total())
    return fmt::format("reinterpret_cast<{}*>({})", number_type(argument, real), argument.name);
  if (argument.is_one_complex() && !argument.is_array())
    return fmt::format("reinterpret_cast<const {}*>(&{})", number_type(argument, real), argument.name);
  std::string rows;  // the type that a pointer to an array points to
  for (std::size_t k = argument.has_rows() ? 0 : 1; k < argument.shape.size(); ++k) {
    rows += fmt::format("[{}]", argument.shape[k]);
  }
  const std::string data = argument.field.is_total() ? fmt::format("({0} ? {0}->data() : nullptr)", argument.name)
                                                     : argument.name + ".data()";
  if (!argument.has_rows() && rows.empty()) return data;
  const bool is_output = argument.kind == Argument::Kind::Output;
  return fmt::format("reinterpret_cast<{}{} (*){}>({})", is_output ? "" : "const ", number_type(argument, real), rows,
                     data);
}

std::string count_of_side(const Signature& signature, const Side& side) {
  std::vector<std::string> rows;
  for (const Argument& argument : signature.arguments) {
    if (!argument.has_rows() || !(argument.*side.has)()) continue;
    // Inputs are required, even if they have no particles.
    const std::string wanted = argument.kind == Argument::Kind::Output ? argument.name + ".is_wanted()" : "true";
    rows.push_back(fmt::format("{{\"{0}\", {0}.count(), {1}}}", argument.name, wanted));
  }
  const bool is_of_pairs = side.count == Argument::Kind::CountPairs;
  return wrapped(
      fmt::format("  const std::int64_t {} = nbcc::detail::count_of(\"{}\", {{", side.name, signature.pipeline), rows,
      is_of_pairs ? "}, \"pairs\");\n" : "});\n", std::string(6, ' '));
}

std::string function_of(const Signature& signature, const std::string& real) {
  std::vector<std::string> declarations, values;
  for (const Argument& argument : signature.arguments) {
    if (!count_follows(signature, argument.kind)) declarations.push_back(declaration(argument, real));
    values.push_back(passed(argument, real));
  }
  // Overload resolution prefers a function to a template, so {} for all real outputs calls the flavour for double.
  const bool needs_preference = real == "float" && !signature.inputs_have_flavours();
  std::string text = wrapped(
      fmt::format("{}inline void {}(", needs_preference ? "template <typename = void>\n" : "", signature.pipeline),
      declarations, ") {\n", "    ");
  for (const Side& side : kSides)
    if (has_rows(signature, side)) text += count_of_side(signature, side);
  if (signature.has_listed_pairs)
    text += fmt::format("  nbcc::detail::check_listed(\"{}\", first.count(), ni);\n", signature.pipeline);
  const std::string function = signature.pipeline + (real == "float" ? "_f" : "");
  text += wrapped(fmt::format("  const int nbcc_result = ::{}(", function), values, ");\n", std::string(6, ' '));
  return text +
         "  if (nbcc_result != NBCC_OK) throw nbcc::Error(nbcc_status(nbcc_result), "
         "nbcc_last_error());\n}\n";
}

std::string opening_of(const Signature& signature) {
  return fmt::format(
      "inline nbcc::Pipeline {0}_open(const nbcc::Device& device) {{\n"
      "  nbcc_pipeline* pipeline = nullptr;\n"
      "  nbcc_error* error = nullptr;\n"
      "  const nbcc_status status = ::{0}_open(device.get(), &pipeline, &error);\n"
      "  nbcc::detail::check(status, error);\n"
      "  return nbcc::Pipeline(pipeline);\n"
      "}}",
      signature.pipeline);
}

std::string cpp_header(const LibraryText& library) {
  std::string text;
  for (const LibraryPipeline& one : library.pipelines) {
    text += (text.empty() ? "// " : "\n\n// ") + title(one.signature) + "\n";
    text += function_of(one.signature, "double");
    if (one.signature.has_flavours()) text += function_of(one.signature, "float");
    text += opening_of(one.signature);
  }
  return fill_text(
      "library.hpp", cpp_template("library.hpp"),
      {{"name", library.name}, {"made", library.made}, {"namespace", library.cxx_namespace}, {"functions", text}});
}

}  // namespace

LanguageBinding cpp_binding(const std::string& library) { return {library + ".hpp", cpp_header}; }

}  // namespace nbcc
