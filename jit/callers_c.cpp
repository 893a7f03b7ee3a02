// Signatures -> the header for C, and the C text of its functions. Doors: c_header(), library_source(). Compiles
// nothing.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/text/fill_template.h"
#include "jit/callers.h"

namespace nbcc {
namespace {

std::string number_type(Argument::Number number, const std::string& real) {
  if (number == Argument::Number::Real) return real;
  return number == Argument::Number::Int32 ? "int32_t" : "int64_t";
}

// "[3]" for a vec3, "[4][3]" for four of them.
std::string brackets(const std::vector<int>& shape) {
  std::string result;
  for (const int n : shape) result += fmt::format("[{}]", n);
  return result;
}

std::string declaration(const Argument& argument, const std::string& real) {
  if (!argument.is_array()) {
    // Params are few: they are double in either flavour.
    const std::string type = number_type(argument.number, "double");
    if (argument.shape.empty()) return fmt::format("{} {}", type, argument.name);
    return fmt::format("const {} {}{}", type, argument.name, brackets(argument.shape));
  }
  const std::string type =
      (argument.kind == Argument::Kind::Output ? "" : "const ") + number_type(argument.number, real);
  if (argument.shape.empty()) return fmt::format("{}* {}", type, argument.name);
  return fmt::format("{} (*{}){}", type, argument.name, brackets(argument.shape));
}

std::vector<std::string> declarations(const Signature& signature, const std::string& real) {
  std::vector<std::string> result;
  for (const Argument& argument : signature.arguments) result.push_back(declaration(argument, real));
  return result;
}

// How an argument is written in the table of its function: "xi[ni][3]".
std::string in_table(const Argument& argument) {
  const std::string rows = !argument.is_array() ? "" : argument.on_i() ? "[ni]" : "[nj]";
  return argument.name + rows + brackets(argument.shape);
}

std::string documentation(const Signature& signature) {
  std::string text = "/*";
  for (const std::string& line : signature.description)
    text += (line.empty() ? "" : " " + inside_comment(line)) + "\n *";
  text += signature.description.empty() ? fmt::format(" {}:\n *", signature.pipeline) : "\n *";
  std::size_t width = 0;
  for (const Argument& argument : signature.arguments) width = std::max(width, in_table(argument).size());
  for (const Argument& argument : signature.arguments) {
    std::string line = fmt::format("   {:<{}}  {}", in_table(argument), width, inside_comment(argument.comment));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n *";
  }
  return text + "/\n";
}

std::string prototype(const std::string& type, const std::string& name, const std::vector<std::string>& arguments) {
  return wrapped(fmt::format("{} {}(", type, name), arguments, ")", std::string(4, ' '));
}

struct Function {
  std::string prototype, body;
};

// The arrays and params in the order of the fields, as nbcc_image.h wants them. What is not the user's begins with
// nbcc_, as no argument does (see signature_of()) and no pipeline.
std::string body_of(const Signature& signature, const std::string& call) {
  std::string text;
  std::vector<std::string> places;
  for (const Argument& argument : signature.arguments) {
    if (argument.kind == Argument::Kind::CountI || argument.kind == Argument::Kind::CountJ) continue;
    if (argument.kind != Argument::Kind::Param) {
      places.push_back(argument.name);
    } else if (argument.shape.empty()) {
      text += fmt::format("  const double nbcc_value_of_{0} = (double){0};\n", argument.name);
      places.push_back("&nbcc_value_of_" + argument.name);
    } else if (argument.number == Argument::Number::Real) {
      places.push_back(argument.name);
    } else {
      text += fmt::format("  double nbcc_values_of_{}[{}];\n", argument.name, argument.width());
      text += fmt::format(
          "  for (int nbcc_k = 0; nbcc_k < {1}; ++nbcc_k) nbcc_values_of_{0}[nbcc_k] = (double)(&{0}{2})[nbcc_k];\n",
          argument.name, argument.width(), argument.shape.size() > 1 ? "[0][0]" : "[0]");
      places.push_back("nbcc_values_of_" + argument.name);
    }
  }
  text += wrapped("  const void* const nbcc_arrays[] = {", places, "};\n", std::string(6, ' '));
  return text + fmt::format("  return {};\n", call);
}

std::vector<Function> functions_of(const Signature& signature) {
  const std::string& name = signature.pipeline;
  std::vector<Function> functions;
  const auto add = [&](const std::string& type, const std::string& function, const std::vector<std::string>& arguments,
                       const std::string& body) { functions.push_back({prototype(type, function, arguments), body}); };
  const std::pair<const char*, const char*> flavours[] = {{"double", "NBCC_DOUBLE_ELEMENT"}, {"float", "NBCC_FLOAT"}};
  for (const auto& [real, element] : flavours) {
    const std::string suffix = real[0] == 'f' ? "_f" : "";
    add("NBCC_API int", name + suffix, declarations(signature, real),
        body_of(signature,
                fmt::format("(int)nbcc_image_run(&nbcc_image_of_{}, {}, ni, nj, nbcc_arrays)", name, element)));
  }
  add("NBCC_API nbcc_status", name + "_open", {"nbcc_device* device", "nbcc_pipeline** pipeline", "nbcc_error** error"},
      fmt::format("  return nbcc_pipeline_from_image(device, &nbcc_image_of_{}, pipeline, error);\n", name));
  for (const auto& [real, element] : flavours) {
    std::vector<std::string> arguments{"nbcc_sum* sum"};
    for (std::string& one : declarations(signature, real)) arguments.push_back(std::move(one));
    arguments.emplace_back("nbcc_error** error");
    const std::string suffix = real[0] == 'f' ? "_bind_f" : "_bind";
    add("NBCC_API nbcc_status", name + suffix, arguments,
        body_of(signature, fmt::format("nbcc_sum_bind_arrays(sum, {}, ni, nj, nbcc_arrays, error)", element)));
  }
  return functions;
}

std::string capitals(std::string name) {
  for (char& c : name) c = char(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

// What a pipeline is to the runtime.
std::string image_of(const Signature& signature, const std::vector<Isa>& isas) {
  const std::string& name = signature.pipeline;
  std::string text = fmt::format(
      "\nDESCRIPTION(\"{0}\") static const unsigned char nbcc_description_of_{0}[] = {{\n#embed \"{0}.image\"\n}};\n",
      name);
  std::string table;
  for (const Isa isa : isas) {
    const std::string prefix = kernel_prefix(name, isa);
    text += fmt::format("HIDDEN void {0}_prepare_i(void), {0}_prepare_j(void), {0}_interact(void), {0}_finish(void);\n",
                        prefix);
    table += fmt::format("    {{\"{1}\", {0}_prepare_i, {0}_prepare_j, {0}_interact, {0}_finish}},\n", prefix,
                         nbcc::name(isa));
  }
  text += fmt::format("static const nbcc_image_kernel nbcc_kernels_of_{}[] = {{\n{}}};\n", name, table);
  text += fmt::format("static void* nbcc_calls_of_{};\n", name);
  return text + fmt::format(
                    "static const nbcc_image nbcc_image_of_{0} = {{sizeof(nbcc_image), nbcc_description_of_{0}, "
                    "sizeof nbcc_description_of_{0}, nbcc_kernels_of_{0}, {1}, &nbcc_calls_of_{0}}};\n\n",
                    name, isas.size());
}

}  // namespace

std::string inside_comment(std::string text) {
  for (std::size_t at; (at = text.find("*/")) != std::string::npos;) text.insert(at + 1, " ");
  for (std::size_t at; (at = text.find("/*")) != std::string::npos;) text.insert(at + 1, " ");
  return text;
}

std::string wrapped(const std::string& begin, const std::vector<std::string>& words, const std::string& end,
                    const std::string& indent, const std::string& line_end) {
  constexpr std::size_t kColumns = 120;
  std::string text, line = begin;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const std::string word = words[k] + (k + 1 < words.size() ? "," : end);
    const bool is_first = k == 0;
    if (!is_first && line.size() + 1 + word.size() + line_end.size() > kColumns) {
      text += line + line_end + "\n";
      line = indent + word;
    } else {
      line += (is_first ? "" : " ") + word;
    }
  }
  return text + (words.empty() ? line + end : line);
}

std::string kernel_prefix(const std::string& pipeline, Isa isa) {
  return fmt::format("nbcc_{}_{}", pipeline, name(isa));
}

std::string c_header(const LibraryText& library) {
  std::string text;
  for (const Signature& signature : library.signatures) {
    text += (text.empty() ? "" : "\n\n") + documentation(signature);
    for (const Function& function : functions_of(signature)) text += function.prototype + ";\n";
    text.pop_back();
  }
  if (library.cunbody) {
    if (const std::string prototypes = cunbody_prototypes(library); !prototypes.empty()) text += "\n\n" + prototypes;
  }
  return fill_template("library.h", {{"name", library.name},
                                     {"made", inside_comment(library.made)},
                                     {"guard", capitals(library.name)},
                                     {"functions", text}});
}

std::string library_source(const LibraryText& library, const std::vector<Isa>& isas) {
  std::string text;
  for (const Signature& signature : library.signatures) {
    text += image_of(signature, isas);
    for (const Function& function : functions_of(signature)) {
      text += function.prototype + " {\n" + function.body + "}\n";
    }
  }
  if (library.cunbody) text += cunbody_source(library);
  return fill_template("library.c", {{"name", library.name},
                                     {"made", inside_comment(library.made)},
                                     {"section", kImageSectionPrefix},
                                     {"pipelines", text}});
}

}  // namespace nbcc
