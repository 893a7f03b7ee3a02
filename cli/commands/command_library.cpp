// nbcc list: the library of pipelines, as a table or JSON. nbcc show: the text of one. Entry points: add_list(),
// add_show().
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/commands/commands.h"
#include "cli/report/standard_output.h"
#include "compiler/source/parse.h"
#include "compiler/text/pipeline_library.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;

struct Listed {
  std::string_view name;
  std::string what;  // the first line of its text
  std::vector<std::string> outputs;
};

// "// gravity.pipe: softened Newtonian gravity, G = 1" -> what follows the name.
std::string first_line_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t colon = line.find(": ");
  return std::string(colon == std::string_view::npos ? line : line.substr(colon + 2));
}

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = char(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// True if the name or the text, comments included, contains every word.
bool is_about(std::string_view name, std::string_view text, const std::vector<std::string>& words) {
  const std::string all = in_lower_case(fmt::format("{}\n{}", name, text));
  return std::ranges::all_of(
      words, [&](const std::string& word) { return all.find(in_lower_case(word)) != std::string::npos; });
}

// The pipelines that are about all of the words.
std::vector<Listed> all_listed(const std::vector<std::string>& words) {
  std::vector<Listed> all;
  for (const std::string_view name : library_pipelines()) {
    const std::string_view text = library_text(name);
    if (!is_about(name, text, words)) continue;
    Listed& one = all.emplace_back(Listed{name, first_line_of(text), {}});
    const Pipeline pipeline = parse({fmt::format("{}.pipe", name), std::string(text)});
    for (const Field& field : pipeline.fields)
      if (field.role == Role::Output) one.outputs.push_back(field.name);
  }
  if (all.empty()) {
    const std::string meant = words.size() == 1 ? no_such_pipeline(words[0]) : "";
    const std::size_t hint = meant.find("; did you mean");
    throw UsageError(fmt::format("no pipeline of the library has the word{} '{}'{}", words.size() == 1 ? "" : "s",
                                 fmt::join(words, "', '"), hint == std::string::npos ? "" : meant.substr(hint)));
  }
  return all;
}

std::string text_of(const std::vector<Listed>& all) {
  std::size_t width = 0;
  for (const Listed& one : all) width = std::max(width, one.name.size());
  std::string text;
  for (const Listed& one : all)
    text += fmt::format("{:<{}}  {}; outputs: {}\n", one.name, width, one.what, fmt::join(one.outputs, ", "));
  return text;
}

Json json_of(const std::vector<Listed>& all) {
  Json list = Json::array();
  for (const Listed& one : all) list.push_back({{"name", one.name}, {"what", one.what}, {"outputs", one.outputs}});
  return list;
}

}  // namespace

void add_list(CLI::App& app, Invocation&) {
  const auto as_json = std::make_shared<bool>();
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App& command = *app.add_subcommand("list", "List the pipelines that nbcc brings along");
  command.add_option("WORD", *words, "Only pipelines whose name or text, comments included, has all of these words")
      ->type_name("");
  command.add_flag("--json", *as_json, "An array on standard output");
  command.footer(
      "Subcommands that take a FILE.pipe take these names too.\n"
      "\nExamples:\n"
      "  nbcc list\n"
      "  nbcc list periodic energy\n"
      "  nbcc run gravity --i plummer.npz -o forces.npz");
  command.callback(
      [=] { *as_json ? write_json(json_of(all_listed(*words))) : write_standard_output(text_of(all_listed(*words))); });
}

void add_show(CLI::App& app, Invocation&) {
  const auto name = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("show", "Print the text of a pipeline that nbcc brings along");
  command.add_option("NAME", *name, "As `nbcc list` shows it")->required();
  command.footer(
      "Examples:\n"
      "  nbcc show gravity\n"
      "  nbcc show gravity > my_gravity.pipe");
  command.callback([=] {
    const std::string_view text = library_text(*name);
    if (text.empty()) throw UsageError(no_such_pipeline(*name));
    write_standard_output(std::string(text));
  });
}

}  // namespace nbcc
