// Pipeline files -> diagnostics on standard error, summaries (text or JSON) on standard output. Doors: declare_check(),
// run_check(). Compiles no kernel.
#include "cli/command_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/pipeline_summary.h"
#include "cli/standard_output.h"

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;

std::string plural(int count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string role_of(const FieldSummary& field) {
  return field.role == "output" ? fmt::format("output({})", field.reduction) : field.role;
}

std::string text_of(const PipelineSummary& pipeline, const CheckOptions& options) {
  std::string text = fmt::format("{}: {}, {}\n", pipeline.name, plural(int(pipeline.fields.size()), "field"),
                                 pipeline.dialect == "CUNBODY-1" ? "in the dialect of CUNBODY-1" : "by name");
  std::size_t types = 0, names = 0;
  for (const FieldSummary& field : pipeline.fields) {
    types = std::max(types, field.type.size());
    names = std::max(names, field.name.size());
  }
  for (const FieldSummary& field : pipeline.fields) {
    std::string line = fmt::format("  {:<14} {:<{}}  {:<{}}", role_of(field), field.type, types, field.name, names);
    if (!field.defaults.empty()) line += fmt::format(" = {}", fmt::join(field.defaults, ", "));
    if (!field.comment.empty()) line += "  " + field.comment;
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  text += fmt::format("  operations per interaction: {} as written", pipeline.raw_operations);
  if (pipeline.stated_operations) text += fmt::format(", {} by #pragma flops", *pipeline.stated_operations);
  const OperationCounts& counts = pipeline.operations;
  text += fmt::format("\n  after optimization ({}): {} per pair, {} per i, {} per j, {} uniform",
                      describe(options.kernel), counts.per_pair, counts.per_i, counts.per_j, counts.uniform);
  if (counts.finish > 0) text += fmt::format(", {} in finish()", counts.finish);
  return text + "\n";
}

Json json_of(const PipelineSummary& pipeline) {
  Json fields = Json::array();
  for (const FieldSummary& field : pipeline.fields) {
    Json entry = {{"name", field.name}, {"role", field.role}, {"type", field.type}, {"components", field.components}};
    if (!field.reduction.empty()) entry["reduction"] = field.reduction;
    if (!field.defaults.empty()) entry["default"] = field.defaults;
    if (!field.comment.empty()) entry["comment"] = field.comment;
    fields.push_back(entry);
  }
  const OperationCounts& counts = pipeline.operations;
  return {{"pipeline", pipeline.name},
          {"dialect", pipeline.dialect},
          {"fields", fields},
          {"operations",
           {{"raw", pipeline.raw_operations},
            {"stated", pipeline.stated_operations ? Json(*pipeline.stated_operations) : Json()},
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

// One file's report; what is said for people goes out at once, in the order of the files.
int check_file(const std::string& file, const CheckOptions& options, Json& report) {
  report = {{"file", file}, {"ok", false}};
  try {
    const Source source = read_source(file);
    const PipelineSummary summary =
        summarize(source, compiler_options(options.kernel), compiler_target(options.kernel));
    fmt::print(stderr, "{}", render(source, summary.warnings));
    report["ok"] = true;
    report["diagnostics"] = json_of(summary.warnings);
    report.update(json_of(summary));
    if (!options.json) write_standard_output(text_of(summary, options));
    return kDone;
  } catch (const CompileError& error) {
    fmt::print(stderr, "{}", error.what());
    report["diagnostics"] = json_of(error.diagnostics);
    return kInputWrong;
  } catch (const SourceUnreadable& error) {
    fmt::print(stderr, "nbcc: {}\n", error.what());
    report["unreadable"] = error.what();
    return kUsage;
  }
}

}  // namespace

void declare_check(CLI::App& app, CheckOptions& options) {
  app.add_option("FILE", options.files, "Pipelines")->required()->type_name("");
  declare_compile_options(app, options.kernel);
  app.add_flag("--json", options.json, "A list of objects on standard output, one for each file");
  app.footer(
      "Examples:\n"
      "  nbcc check pipelines/gravity.pipe\n"
      "  nbcc check --json pipelines/*.pipe");
}

int run_check(const CheckOptions& options) {
  int code = kDone;
  Json reports = Json::array();
  for (const std::string& file : options.files) {
    Json report;
    code = std::max(code, check_file(file, options, report));
    reports.push_back(std::move(report));
  }
  if (options.json) write_standard_output(reports.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return code;
}

}  // namespace nbcc
