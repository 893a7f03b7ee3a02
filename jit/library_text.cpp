// Writes the C header and the C source of the functions from signatures. Entry points: c_header(), library_source().
#include "jit/library_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/source/parse.h"
#include "compiler/text/fill_template.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_functions.h"

namespace nbcc {
namespace {

// "[3]" for a vec3, "[4][3]" for an array of four vec3.
std::string brackets(const std::vector<int>& shape) {
  std::string result;
  for (const int n : shape) result += fmt::format("[{}]", n);
  return result;
}

std::string declaration(const Argument& argument, const std::string& real) {
  const std::string type = c_type(argument, real), shape = brackets(argument.shape);
  const std::string constant = argument.kind == Argument::Kind::Output ? "" : "const ";
  const bool is_value = !argument.is_array() && shape.empty();
  if (is_value || (!argument.has_rows() && !shape.empty()))
    return fmt::format("{}{} {}{}", is_value ? "" : constant, type, argument.name, shape);
  if (shape.empty()) return fmt::format("{}{}* {}", constant, type, argument.name);
  return fmt::format("{}{} (*{}){}", constant, type, argument.name, shape);
}

std::vector<std::string> declarations(const Signature& signature, const std::string& real) {
  std::vector<std::string> result;
  for (const Argument& argument : signature.arguments) result.push_back(declaration(argument, real));
  return result;
}

std::string comment(const Signature& signature) {
  std::string text = "/*";
  const auto in_table = [](const Argument& argument) {
    const std::string rows = !argument.has_rows()                        ? ""
                             : argument.kind == Argument::Kind::FirstOfI ? "[ni + 1]"
                             : argument.on_i()                           ? "[ni]"
                             : argument.on_pairs()                       ? "[pairs]"
                                                                         : "[nj]";
    return argument.name + rows + brackets(argument.shape);
  };
  for (const std::string& line : documentation(signature, in_table)) {
    text += (line.empty() ? "" : " " + inside_comment(line)) + "\n *";
  }
  return text + "/\n";
}

std::string prototype(const std::string& type, const std::string& name, const std::vector<std::string>& arguments) {
  return wrapped(fmt::format("{} {}(", type, name), arguments, ")", std::string(4, ' '));
}

struct Function {
  std::string prototype, body;
};

// The body of a function: collects the arrays and params in the order of the fields, as nbcc_image.h requires, and
// makes the call. Local names begin with nbcc_, because no argument (see signature_of()) and no pipeline does.
std::string body_of(const Signature& signature, const std::string& call) {
  std::string text;
  std::vector<std::string> addresses;
  for (const Argument& argument : signature.arguments) {
    if (!argument.is_field()) continue;
    if (argument.kind != Argument::Kind::Param) {
      addresses.push_back(argument.name);
    } else if (argument.shape.empty()) {
      text += fmt::format("  const double nbcc_value_of_{0} = (double){0};\n", argument.name);
      addresses.push_back("&nbcc_value_of_" + argument.name);
    } else if (argument.number == Argument::Number::Real) {
      addresses.push_back(argument.name);
    } else {
      text += fmt::format("  double nbcc_values_of_{}[{}];\n", argument.name, argument.width());
      text += fmt::format(
          "  for (int nbcc_k = 0; nbcc_k < {1}; ++nbcc_k) nbcc_values_of_{0}[nbcc_k] = (double)(&{0}{2})[nbcc_k];\n",
          argument.name, argument.width(), argument.shape.size() > 1 ? "[0][0]" : "[0]");
      addresses.push_back("nbcc_values_of_" + argument.name);
    }
  }
  text += wrapped("  const void* const nbcc_arrays[] = {", addresses, "};\n", std::string(6, ' '));
  return text + fmt::format("  return {};\n", call);
}

std::vector<Function> functions_of(const Signature& signature) {
  const std::string& name = signature.pipeline;
  // Pipelines of listed pairs have functions of the runtime of their own.
  const char* const of_pairs = signature.has_listed_pairs ? "_pairs" : "";
  const char* const counts = signature.has_listed_pairs ? "ni, nj, first, pairs, j" : "ni, nj";
  const auto sums = [&](const std::string& real, const std::string& suffix, const char* element) -> Function {
    return {prototype("NBCC_API int", name + suffix, declarations(signature, real)),
            body_of(signature, fmt::format("(int)nbcc_image_run{}(&nbcc_image_of_{}, {}, {}, nbcc_arrays)", of_pairs,
                                           name, element, counts))};
  };
  const auto binds = [&](const std::string& real, const std::string& suffix, const char* element) -> Function {
    std::vector<std::string> arguments = declarations(signature, real);
    arguments.insert(arguments.begin(), "nbcc_sum* sum");
    arguments.emplace_back("nbcc_error** error");
    return {prototype("NBCC_API nbcc_status", name + suffix, arguments),
            body_of(signature, fmt::format("nbcc_sum_bind_{}(sum, {}, {}, nbcc_arrays, error)",
                                           signature.has_listed_pairs ? "pairs" : "arrays", element, counts))};
  };
  const Function open{
      prototype("NBCC_API nbcc_status", name + "_open",
                {"nbcc_device* device", "nbcc_pipeline** pipeline", "nbcc_error** error"}),
      fmt::format("  return nbcc_pipeline_from_image(device, &nbcc_image_of_{}, pipeline, error);\n", name)};
  return {sums("double", "", "NBCC_DOUBLE_ELEMENT"), sums("float", "_f", "NBCC_FLOAT"), open,
          binds("double", "_bind", "NBCC_DOUBLE_ELEMENT"), binds("float", "_bind_f", "NBCC_FLOAT")};
}

// C source of a pipeline's nbcc_image, which the runtime reads: its description and the table of its kernels.
std::string image_of(const LibraryPipeline& one, const std::vector<Isa>& isas) {
  const std::string& name = one.signature.pipeline;
  std::string text = fmt::format(
      "\nDESCRIPTION(\"{0}\") static const unsigned char nbcc_description_of_{0}[] = {{\n#embed \"{0}.image\"\n}};\n",
      name);
  std::string table;
  for (const Isa isa : isas) {
    const std::string prefix = kernel_prefix(name, isa);
    text += fmt::format(
        "HIDDEN void {0}_prepare_i(void), {0}_prepare_j(void), {0}_interact(void), {0}_finish(void);\n"
        "HIDDEN MAYBE void {0}_locate_i(void), {0}_locate_j(void), {0}_extent(void), {0}_within(void);\n"
        "HIDDEN MAYBE void {0}_interact_numbered(void);\n"
        "HIDDEN MAYBE void {0}_indices_i(void), {0}_indices_j(void), {0}_indices_pair(void);\n"
        "HIDDEN void {0}_lists_interact_numbered(void), {0}_lists_interact_excluding(void);\n",
        prefix);
    table += fmt::format(
        "    {{\"{1}\", {0}_prepare_i, {0}_prepare_j, {0}_interact, {0}_finish,\n"
        "     {0}_locate_i, {0}_locate_j, {0}_extent, {0}_within, {0}_interact_numbered,\n"
        "     {0}_indices_i, {0}_indices_j, {0}_indices_pair,\n"
        "     {0}_lists_interact_numbered, {0}_lists_interact_excluding}},\n",
        prefix, nbcc::name(isa));
  }
  text += fmt::format("static const nbcc_image_kernel nbcc_kernels_of_{}[] = {{\n{}}};\n", name, table);
  std::string codes;
  for (const LibraryCode& code : one.codes) {
    std::string listed;
    for (const CpuFunctionRow& row : kCpuFunctions) {
      const std::string function = fmt::format("{}_{}", code.symbol, row.name);
      // Linkers take code out of an archive for references that are not weak.
      text += fmt::format("HIDDEN {}void {}(void);\n", row.is_in_all ? "" : "MAYBE ", function);
      listed += (listed.empty() ? "" : ", ") + function;
    }
    codes += fmt::format("    {{\"{}\", \"{}\", {{{}}}}},\n", nbcc::name(code.isa), code.source, listed);
  }
  if (!codes.empty()) text += fmt::format("static const nbcc_image_code nbcc_codes_of_{}[] = {{\n{}}};\n", name, codes);
  text += fmt::format("static void* nbcc_calls_of_{};\n", name);
  return text + fmt::format(
                    "static const nbcc_image nbcc_image_of_{0} = {{sizeof(nbcc_image), nbcc_description_of_{0}, "
                    "sizeof nbcc_description_of_{0}, nbcc_kernels_of_{0}, {1}, &nbcc_calls_of_{0}, {2}, {3}}};\n\n",
                    name, isas.size(), codes.empty() ? "0" : "nbcc_codes_of_" + name, one.codes.size());
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

std::string capitals(std::string name) {
  for (char& c : name) c = char(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string title(const Signature& signature) {
  return signature.description.empty() ? signature.pipeline : signature.description.front();
}

std::vector<std::string> documentation(const Signature& signature,
                                       const std::function<std::string(const Argument&)>& in_table) {
  std::vector<std::string> lines = signature.description;
  lines.push_back(lines.empty() ? signature.pipeline + ":" : "");
  std::size_t width = 0;
  for (const Argument& argument : signature.arguments) width = std::max(width, in_table(argument).size());
  for (const Argument& argument : signature.arguments) {
    lines.push_back(fmt::format("  {:<{}}  {}", in_table(argument), width, argument.comment));
    lines.back().erase(lines.back().find_last_not_of(' ') + 1);
  }
  return lines;
}

std::string kernel_prefix(const std::string& pipeline, Isa isa) {
  return fmt::format("nbcc_{}_{}", pipeline, name(isa));
}

LibraryPipeline library_pipeline(const Source& source, const Options& options) {
  LibraryPipeline one{source, parse(source), {}, {}, {}};
  one.cuda = build_cuda_kernel(one.pipeline, options, "");
  one.signature = signature_of(source, one.cuda);
  return one;
}

std::string c_header(const LibraryText& library) {
  std::string text;
  for (const LibraryPipeline& one : library.pipelines) {
    text += (text.empty() ? "" : "\n") + comment(one.signature);
    for (const Function& function : functions_of(one.signature)) text += function.prototype + ";\n";
  }
  return fill_template("library.h", {{"name", library.name},
                                     {"made", inside_comment(library.made)},
                                     {"guard", capitals(library.name)},
                                     {"functions", text + library.more_prototypes}});
}

std::string library_source(const LibraryText& library, const std::vector<Isa>& isas) {
  std::string text;
  for (const LibraryPipeline& one : library.pipelines) {
    text += image_of(one, isas);
    for (const Function& function : functions_of(one.signature)) {
      text += function.prototype + " {\n" + function.body + "}\n";
    }
  }
  return fill_template("library.c", {{"name", library.name},
                                     {"made", inside_comment(library.made)},
                                     {"section", kImageSectionPrefix},
                                     {"pipelines", text + library.more_source}});
}

}  // namespace nbcc
