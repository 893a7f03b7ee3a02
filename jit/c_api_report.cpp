// The functions of nbcc.h that look at a pipeline's text alone: its diagnostics, and the stages of its way to a kernel.
// Each is a walk along the compiler's own doors; nothing is compiled to machine code but for the stage "asm".
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/ir/print.h"
#include "compiler/passes/optimize.h"
#include "compiler/source/parse.h"
#include "jit/c_api_guard.h"
#include "jit/cpu_jit.h"
#include "runtime/cpu/cpu_device.h"

struct nbcc_report {
  std::string text;
  std::vector<nbcc::Diagnostic> diagnostics;
  std::vector<std::string> rendered;  // parallel to diagnostics
};

namespace nbcc {
namespace {

void add(nbcc_report& report, const Source& source, const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    report.diagnostics.push_back(diagnostic);
    report.rendered.push_back(render(source, diagnostic));
  }
}

std::string stage_of(const Pipeline& pipeline, std::string_view stage, const Options& options, Isa isa) {
  if (stage == "ir") return print(pipeline);
  if (stage == "cuda") return emit_cuda(optimize(pipeline, options, cuda_target()), options).text;
  Pipeline optimized = optimize(pipeline, options, cpu_target(isa));
  if (stage == "optimized") return print(optimized);
  const KernelSource kernel = emit_cpu(std::move(optimized), options, isa);
  return stage == "cpu" ? kernel.text : cpu_assembly(kernel);
}

void check_stage(std::string_view stage) {
  for (const std::string_view known : {"ir", "optimized", "cpu", "asm", "cuda"})
    if (stage == known) return;
  throw UsageError("there is no stage '" + std::string(stage) + "'; there are ir, optimized, cpu, asm and cuda");
}

Source source_of(const char* text, const char* name) {
  require(text, "text");
  return {name ? name : "pipeline.pipe", text};
}

}  // namespace
}  // namespace nbcc

extern "C" {

nbcc_status nbcc_check_text(const char* text, const char* name, nbcc_report** report, nbcc_error** error) {
  return nbcc::guarded_compile(error, [&] {
    nbcc::require(report, "the place for the report");
    *report = nullptr;
    const nbcc::Source source = nbcc::source_of(text, name);
    auto made = std::make_unique<nbcc_report>();
    try {
      std::vector<nbcc::Diagnostic> warnings;
      nbcc::parse(source, &warnings);
      nbcc::add(*made, source, warnings);
    } catch (const nbcc::CompileError& e) {
      nbcc::add(*made, source, e.diagnostics);
      made->text = e.what();
      *report = made.release();
      throw;
    }
    for (const std::string& one : made->rendered) made->text += one;
    *report = made.release();
  });
}

nbcc_status nbcc_emit_text(const char* text, const char* name, const char* stage, const nbcc_pipeline_options* options,
                           const char* isa, nbcc_report** report, nbcc_error** error) {
  return nbcc::guarded_compile(error, [&] {
    nbcc::require(report, "the place for the report");
    *report = nullptr;
    nbcc::require(stage, "stage");
    nbcc::check_stage(stage);
    const nbcc::Source source = nbcc::source_of(text, name);
    const nbcc::Options chosen = nbcc::compile_options(options);
    const nbcc::Isa lanes = isa ? nbcc::isa_from_name(isa) : nbcc::detect_isa();
    auto made = std::make_unique<nbcc_report>();
    std::vector<nbcc::Diagnostic> warnings;
    const nbcc::Pipeline pipeline = nbcc::parse(source, &warnings);
    nbcc::add(*made, source, warnings);
    made->text = nbcc::stage_of(pipeline, stage, chosen, lanes);
    *report = made.release();
  });
}

const char* nbcc_report_text(const nbcc_report* report) { return report ? report->text.c_str() : ""; }

int nbcc_report_diagnostic_count(const nbcc_report* report) { return report ? int(report->diagnostics.size()) : 0; }

int nbcc_report_diagnostic(const nbcc_report* report, int k, nbcc_diagnostic* diagnostic) {
  if (!diagnostic || k < 0 || k >= nbcc_report_diagnostic_count(report)) return -1;
  const nbcc::Diagnostic& one = report->diagnostics[std::size_t(k)];
  *diagnostic = {nbcc_severity(one.severity), one.where.line, one.where.column, one.message.c_str(),
                 report->rendered[std::size_t(k)].c_str()};
  return 0;
}

void nbcc_report_free(nbcc_report* report) { delete report; }

}  // extern "C"
