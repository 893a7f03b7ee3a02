// nbcc check: prints diagnostics of pipelines to standard error and summaries (text or JSON) to standard output.
// Compiles no kernels.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/options/kernel_options.h"
#include "cli/report/failure.h"
#include "cli/report/field_list.h"
#include "cli/report/near_page.h"
#include "cli/report/pipeline_check.h"
#include "cli/report/standard_output.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  KernelChoice kernel;
  bool json = false;
};

using Json = nlohmann::ordered_json;

std::vector<FieldLayout> fields_of(const Pipeline& pipeline) {
  return {pipeline.fields.begin(), pipeline.fields.end()};
}

std::string text_of(const PipelineCheck& found, const Options& options) {
  const Pipeline& pipeline = found.pipeline;
  const OperationCounts& counts = found.counts;
  const std::size_t fields = pipeline.fields.size();
  std::string text = fmt::format("{}: {} field{}, {}\n", pipeline.name, fields, fields == 1 ? "" : "s",
                                 pipeline.dialect == Dialect::Cunbody ? "in the dialect of CUNBODY-1" : "by name");
  text += field_lines(fields_of(pipeline), 13);
  text += fmt::format("  operations per interaction: {} as written", pipeline.raw_operations);
  if (pipeline.flops) text += fmt::format(", {} by #pragma flops", *pipeline.flops);
  text += fmt::format("\n  after optimization ({}): {} per pair, {} per i, {} per j, {} uniform", describe(options),
                      counts.per_pair, counts.per_i, counts.per_j, counts.uniform);
  if (counts.finish > 0) text += fmt::format(", {} in finish()", counts.finish);
  if (!found.neighbours.empty())
    text += fmt::format("\n  neighbours: {}: cost {}", found.neighbours, found.search_cost());
  text += fmt::format("\n  far field: {}", found.far_field);
  for (const std::string& line : found.periodic) text += "\n    " + line;
  if (!found.wide_pairs.empty()) text += "\n  wide pairs: " + found.wide_pairs;
  text += fmt::format("\n  if i and j are exchanged: {}", found.symmetry);
  if (pipeline.components(Role::InputPair) > 0) text += "\n  pairs: those that the caller lists";
  return text + "\n";
}

Json json_of(const PipelineCheck& found) {
  const Pipeline& pipeline = found.pipeline;
  const OperationCounts& counts = found.counts;
  return {
      {"pipeline", pipeline.name},
      {"dialect", pipeline.dialect == Dialect::Cunbody ? "CUNBODY-1" : "named fields"},
      {"fields", json_of(fields_of(pipeline), true)},
      {"neighbours", found.neighbours.empty() ? Json() : Json(found.neighbours)},
      {"far_field", found.periodic.empty() ? found.far_field
                                           : fmt::format("{}; {}", found.far_field, fmt::join(found.periodic, "; "))},
      {"wide_pairs", found.wide_pairs.empty() ? Json() : Json(found.wide_pairs)},
      {"symmetry", found.symmetry},
      {"operations",
       {{"raw", pipeline.raw_operations},
        {"stated", pipeline.flops ? Json(*pipeline.flops) : Json()},
        {"per_pair", counts.per_pair},
        {"per_i", counts.per_i},
        {"per_j", counts.per_j},
        {"uniform", counts.uniform},
        {"finish", counts.finish}}}};
}

Json json_of(const std::vector<Diagnostic>& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& d : diagnostics) {
    const char* const severity = d.severity == Severity::Error     ? "error"
                                 : d.severity == Severity::Warning ? "warning"
                                                                   : "note";
    list.push_back(
        {{"severity", severity}, {"line", d.where.line}, {"column", d.where.column}, {"message", d.message}});
  }
  return list;
}

// Checks one file and fills its JSON report. Text output is printed at once, in the order of the files.
int check_file(const std::string& file, const CheckOptions& options, Json& report) {
  report = {{"file", file}, {"ok", false}};
  try {
    const Source source = read_source(file);
    const PipelineCheck found = check_pipeline(source, options.kernel);
    fmt::print(stderr, "{}", render(source, found.diagnostics));
    report["ok"] = true;
    report["diagnostics"] = json_of(found.diagnostics);
    report.update(json_of(found));
    if (!options.json) write_standard_output(text_of(found, options.kernel.options));
    return kDone;
  } catch (const CompileError& error) {
    fmt::print(stderr, "{}{}", error.what(), help_line(error.diagnostics));
    report["diagnostics"] = json_of(error.diagnostics);
    return kInputWrong;
  } catch (const SourceUnreadable& error) {
    fmt::print(stderr, "nbcc: {}\n", error.what());
    report["unreadable"] = error.what();
    return kUsage;
  }
}

int run_check(const CheckOptions& options) {
  int code = kDone;
  Json reports = Json::array();
  for (const std::string& file : options.files) {
    Json report;
    code = std::max(code, check_file(file, options, report));
    reports.push_back(std::move(report));
  }
  if (options.json) write_json(reports);
  return code;
}

}  // namespace

void add_check(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App& command = *app.add_subcommand("check", "Show errors of pipelines, and a summary of them");
  command.add_option("FILE", options->files, "Pipelines, or their names in `nbcc list`")->required()->type_name("");
  declare_compile_options(command, options->kernel);
  command.add_flag("--json", options->json, "A list of objects on standard output, one for each file");
  command.footer(
      "Examples:\n"
      "  nbcc check pipelines/gravity.pipe\n"
      "  nbcc check --json pipelines/*.pipe");
  command.callback([=, &invocation] { invocation.exit_code = run_check(*options); });
}

}  // namespace nbcc
