// Pipeline file -> the text of one stage. Doors: declare_emit(), run_emit(). Decides nothing: each stage is a call.
#include "cli/command_emit.h"

#include <CLI/Validators.hpp>

#include "cli/exit_code.h"
#include "cli/replace_file.h"
#include "cli/standard_output.h"
#include "compiler/emit_cpu.h"
#include "compiler/emit_cuda.h"
#include "compiler/optimize.h"
#include "compiler/parse.h"
#include "compiler/print.h"
#include "jit/cpu_jit.h"

namespace nbcc {
namespace {

std::string text_of_stage(const EmitOptions& options) {
  const Pipeline pipeline = parse(read_source(options.file));
  if (options.stage == "ir") return print(pipeline);
  const Options how = compiler_options(options.kernel);
  if (options.stage == "cuda") return emit_cuda(optimize(pipeline, how, cuda_target()), how).text;
  const Isa isa = compiler_isa(options.kernel);
  Pipeline optimized = optimize(pipeline, how, cpu_target(isa));
  if (options.stage == "optimized") return print(optimized);
  const KernelSource kernel = emit_cpu(std::move(optimized), how, isa);
  return options.stage == "cpu" ? kernel.text : cpu_assembly(kernel);
}

}  // namespace

void declare_emit(CLI::App& app, EmitOptions& options) {
  app.add_option("FILE", options.file, "A pipeline")->required()->type_name("");
  app.add_option(
         "--stage", options.stage,
         "ir: as parsed; optimized: after the passes for the CPU; cpu: its kernel's text; asm: that text's machine "
         "code as assembly; cuda: the kernel's text for NVIDIA's GPUs")
      ->required()
      ->check(CLI::IsMember({"ir", "optimized", "cpu", "asm", "cuda"}));
  app.add_option("-o,--output", options.output, "Where to write; '-' is standard output")->capture_default_str();
  app.add_flag("--force", options.force, "Overwrite an existing file");
  declare_compile_options(app, options.kernel);
  app.footer(
      "Examples:\n"
      "  nbcc emit pipelines/gravity.pipe --stage optimized\n"
      "  nbcc emit pipelines/gravity.pipe --stage asm --isa avx2 --precision double -o gravity.s");
}

int run_emit(const EmitOptions& options) {
  if (options.output != "-") check_replaceable(options.output, options.force);
  const std::string text = text_of_stage(options);
  if (options.output == "-") {
    write_standard_output(text);
  } else {
    replace_file(options.output, text, options.force);
  }
  return kDone;
}

}  // namespace nbcc
