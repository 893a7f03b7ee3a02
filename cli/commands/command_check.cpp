// nbcc check: prints diagnostics of pipelines to standard error and summaries (text or JSON) to standard output.
// Compiles no kernels.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/options/kernel_options.h"
#include "cli/report/failure.h"
#include "cli/report/field_list.h"
#include "cli/report/periodic_outlook.h"
#include "cli/report/standard_output.h"
#include "compiler/emit/describe.h"
#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/derived/nearest.h"
#include "compiler/passes/derived/reactions.h"
#include "compiler/passes/facts/cosines.h"
#include "compiler/passes/facts/int_operations.h"
#include "compiler/passes/far/far_terms.h"
#include "compiler/passes/far/periodic_terms.h"
#include "compiler/passes/optimize/loops_written_out.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/passes/prove/table_indices.h"
#include "compiler/source/parse.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {
namespace {

constexpr std::string_view kNearest = "of each i the nearest";

struct CheckOptions {
  std::vector<std::string> files;
  KernelChoice kernel;
  bool json = false;
};

using Json = nlohmann::ordered_json;

// The numbers of operations after optimization, by how often they are executed.
struct OperationCounts {
  int uniform = 0;  // once per run
  int per_i = 0, per_j = 0, per_pair = 0;
  int finish = 0;  // once per i, after its sum
};

OperationCounts operations_by_stage(const Pipeline& pipeline) {
  OperationCounts counts;
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& node = pipeline.pair[id];
    if (!needed[std::size_t(id)] || arity(node.op) == 0) continue;
    ++(node.binding == Binding::I      ? counts.per_i
       : node.binding == Binding::J    ? counts.per_j
       : node.binding == Binding::Pair ? counts.per_pair
                                       : counts.uniform);
  }
  const std::vector<bool> finishing = reachable(pipeline.finish, pipeline.finished);
  for (NodeId id = 0; id < pipeline.finish.size(); ++id)
    if (finishing[std::size_t(id)] && arity(pipeline.finish[id].op) > 0) ++counts.finish;
  return counts;
}

std::vector<FieldLayout> fields_of(const Pipeline& pipeline) {
  return {pipeline.fields.begin(), pipeline.fields.end()};
}

// The proved neighbourhood as text; "" if none is proved.
std::string neighbours_of(const Pipeline& pipeline, const NeighbourhoodProof& proof) {
  return proof.neighbourhood ? neighbourhood_text(pipeline, *proof.neighbourhood) : "";
}

// "linear in mj, both sides", or why there is no far field, with its line.
std::string far_field_of(const FarReading& reading, const Pipeline& pipeline) {
  if (reading.terms)
    return far_text(pipeline, *reading.terms) + (reading.terms->both_sides ? ", O(N)" : ", O(N log N)");
  const int line = reading.obstacle.where.line;
  return fmt::format("none: {}{}", line > 0 ? fmt::format("line {}: ", line) : "", reading.obstacle.reason);
}

// "periodic by tolerance: linear in qj, both sides, O(N)", then what its terms say, by output.
std::vector<std::string> periodic_sum_of(const Pipeline& pipeline, const PeriodicReading& periodic) {
  std::vector<std::string> lines{"periodic by tolerance: " + far_field_of(periodic.reading, periodic.copies.pipeline)};
  const PeriodicOutlook outlook = periodic_outlook(pipeline, periodic);
  lines.insert(lines.end(), outlook.lines.begin(), outlook.lines.end());
  lines.push_back(outlook.lines.empty() ? outlook.reason : outlook.when);
  return lines;
}

// "acc odd, pot even; a pair costs 0.59 of computing it twice", or why each pair is computed from both ends.
std::string symmetry_of(const Pipeline& pipeline, const Pipeline& optimized, const CheckOptions& options) {
  const std::optional<OneSet> both = with_reactions(without_totals(pipeline));
  if (!both) return "none: an output keeps more than a sum or an extreme of its terms, or pairs are listed";
  if (both->partners.empty()) return "none: no input of i has a partner among those of j, such as xi and xj";
  const Pipeline made = optimize(both->pipeline, options.kernel.options, compiler_target(options.kernel));
  return fmt::format("{}; a pair costs {:.2f} of computing it twice", symmetry_text(pipeline),
                     shared_cost(optimized, made));
}

std::string text_of(const Pipeline& pipeline, const OperationCounts& counts, const std::string& neighbours,
                    const std::vector<std::string>& far_field, const std::string& symmetry, const Options& options) {
  const std::size_t fields = pipeline.fields.size();
  std::string text = fmt::format("{}: {} field{}, {}\n", pipeline.name, fields, fields == 1 ? "" : "s",
                                 pipeline.dialect == Dialect::Cunbody ? "in the dialect of CUNBODY-1" : "by name");
  text += field_lines(fields_of(pipeline), 13);
  text += fmt::format("  operations per interaction: {} as written", pipeline.raw_operations);
  if (pipeline.flops) text += fmt::format(", {} by #pragma flops", *pipeline.flops);
  text += fmt::format("\n  after optimization ({}): {} per pair, {} per i, {} per j, {} uniform", describe(options),
                      counts.per_pair, counts.per_i, counts.per_j, counts.uniform);
  if (counts.finish > 0) text += fmt::format(", {} in finish()", counts.finish);
  if (!neighbours.empty())
    text += fmt::format("\n  neighbours: {}: cost O(N{})", neighbours, neighbours == kNearest ? " log N" : "");
  text += fmt::format("\n  far field: {}", fmt::join(far_field, "\n    "));
  text += fmt::format("\n  if i and j are exchanged: {}", symmetry);
  if (pipeline.components(Role::InputPair) > 0) text += "\n  pairs: those that the caller lists";
  return text + "\n";
}

Json json_of(const Pipeline& pipeline, const OperationCounts& counts, const std::string& neighbours,
             const std::vector<std::string>& far_field, const std::string& symmetry) {
  return {{"pipeline", pipeline.name},
          {"dialect", pipeline.dialect == Dialect::Cunbody ? "CUNBODY-1" : "named fields"},
          {"fields", json_of(fields_of(pipeline), true)},
          {"neighbours", neighbours.empty() ? Json() : Json(neighbours)},
          {"far_field", fmt::format("{}", fmt::join(far_field, "; "))},
          {"symmetry", symmetry},
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
    std::vector<Diagnostic> warnings;
    const Pipeline pipeline = parse(source, &warnings);
    const Options& how = options.kernel.options;
    const Pipeline optimized = optimize(pipeline, how, compiler_target(options.kernel));
    const OperationCounts counts = operations_by_stage(optimized);
    const bool images = has_images(pipeline);
    const NeighbourhoodProof proof = images ? NeighbourhoodProof() : prove_neighbourhood(pipeline);
    if (proof.obstacle && !proof.obstacle->is_limit)
      warnings.push_back(
          {Severity::Note, proof.obstacle->where, "no neighbours are proved: " + proof.obstacle->reason});
    for (const IntOperation& one : int_operations(pipeline)) {
      const auto is_param = [&](NodeId id) { return pipeline.pair[id].op == Op::Param; };
      if (is_param(one.a) || is_param(one.b)) continue;  // as in `type - first`: a param is known before the run
      warnings.push_back({Severity::Note, one.where,
                          fmt::format("{} wraps around beyond 2147483647, and nothing here bounds these int inputs; "
                                      "`index` has 64 bits, `nbcc verify` tests given particles",
                                      one.text)});
    }
    for (const UncheckedIndex& one : find_table_indices(pipeline).unchecked)
      warnings.push_back(
          {Severity::Note,
           {one.line, one.column},
           fmt::format(
               "no run checks the index {} of table '{}': {}; where it leads out of the table, the nearest end is "
               "read",
               one.index, one.table, one.reason)});
    for (const LoopWrittenOut& loop : loops_written_out(pipeline, how.math))
      warnings.push_back({Severity::Note, loop.where,
                          fmt::format("kernels have {} operations for this one, since its loop is written out, and "
                                      "compile slowly: {}",
                                      loop.rounds, loop.reason)});
    for (const Location& where : find_acos_of_cosines(pipeline))
      warnings.push_back({Severity::Note, where,
                          "acos() is NaN where rounding carries this cosine beyond 1, as of parallel vectors; the "
                          "angle between two vectors is angle(u, v)"});
    std::string neighbours = neighbours_of(pipeline, proof);
    if (neighbours.empty() && nearest_pipeline(pipeline)) neighbours = kNearest;
    const std::optional<CopiesPipeline> copies = images ? std::optional(copies_pipeline(pipeline)) : std::nullopt;
    const bool is_periodic_sum = copies && !copies->proof.neighbourhood;
    if (images && !is_periodic_sum) neighbours = neighbours_of_images(*copies);
    fmt::print(stderr, "{}", render(source, warnings));
    report["ok"] = true;
    report["diagnostics"] = json_of(warnings);
    std::vector<std::string> far_field;
    if (is_periodic_sum)
      far_field = periodic_sum_of(pipeline, read_periodic_terms(pipeline));
    else
      far_field.push_back(images ? "none: every_image() sums over all images within its cutoff"
                                 : far_field_of(read_far_terms(pipeline), pipeline));
    const std::string symmetry = symmetry_of(pipeline, optimized, options);
    report.update(json_of(pipeline, counts, neighbours, far_field, symmetry));
    if (!options.json) write_standard_output(text_of(pipeline, counts, neighbours, far_field, symmetry, how));
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
