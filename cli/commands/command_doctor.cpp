// nbcc doctor: reports what works on this machine, what does not, and how to mend it, as text or JSON. Changes nothing.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/machine/doctor.h"
#include "cli/report/failure.h"
#include "cli/report/standard_output.h"

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kJsonHealth[] = {"works", "absent", "broken"};  // of Health
constexpr const char* kMarks[] = {"ok", "--", "!!"};

Json json_of(const MachineFacts& facts, const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& one : findings)
    list.push_back({{"subject", one.subject},
                    {"health", kJsonHealth[int(one.health)]},
                    {"finding", one.finding},
                    {"remedy", one.remedy.empty() ? Json() : Json(one.remedy)}});
  return {{"version", facts.version}, {"can_sum", can_sum(facts)}, {"findings", list}};
}

// Indents all lines after the first.
std::string indented(std::string text, std::size_t columns) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += columns)
    text.insert(++at, std::string(columns, ' '));
  return text;
}

std::string text_of(const MachineFacts& facts, const std::vector<Finding>& findings) {
  std::size_t width = 0;
  for (const Finding& one : findings) width = std::max(width, one.subject.size());
  const std::size_t indent = width + 5;
  std::string text = fmt::format("nbcc {}\n", facts.version);
  for (const Finding& one : findings) {
    text += fmt::format("{} {:<{}}  {}\n", kMarks[int(one.health)], one.subject, width, indented(one.finding, indent));
    if (!one.remedy.empty()) text += fmt::format("{:{}}-> {}\n", "", indent, indented(one.remedy, indent + 3));
  }
  return text + (can_sum(facts) ? "Sums can run here.\n" : "Sums cannot run here.\n");
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
  const auto as_json = std::make_shared<bool>();
  CLI::App& command =
      *app.add_subcommand("doctor", "Show what works on this machine, what does not, and how to mend it");
  command.add_flag("--json", *as_json, "An object on standard output");
  command.footer(
      "Compiles a small sum for each device and runs it. ok: works; --: not installed (optional); !!: installed, but\n"
      "does not work. Exit code 0 if sums can run on some device, else 3.\n"
      "\nExamples:\n"
      "  nbcc doctor\n"
      "  nbcc doctor --json");
  command.callback([as_json, &invocation] {
    const MachineFacts facts = find_facts();
    const std::vector<Finding> findings = diagnose(facts);
    *as_json ? write_json(json_of(facts, findings)) : write_standard_output(text_of(facts, findings));
    if (!can_sum(facts)) invocation.exit_code = kNoDevice;
  });
}

}  // namespace nbcc
