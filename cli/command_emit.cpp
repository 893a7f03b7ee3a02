// Pipeline file -> one stage of its way to machine code. Doors: declare_emit(), run_emit(). Each stage is a call; what
// is decided here is the GPU to compile for when none is named.
#include "cli/command_emit.h"

#include <unistd.h>

#include <CLI/Validators.hpp>

#include "cli/disassemble.h"
#include "cli/exit_code.h"
#include "cli/find_gpus.h"
#include "cli/standard_output.h"
#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "particles/replace_file.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

bool is_gpu_code(const std::string& stage) { return stage == "ptx" || stage == "cubin" || stage == "sass"; }

std::string default_architecture() {
  const Gpus gpus = find_gpus();
  return gpus.list.empty() ? "sm_90" : gpus.list.front().architecture();
}

std::string gpu_code(const std::string& text, const EmitOptions& options) {
  const std::shared_ptr<const CudaCompiler> compiler = make_nvrtc();
  const std::string architecture = options.architecture.empty() ? default_architecture() : options.architecture;
  const auto form = options.stage == "ptx" ? CudaCompiler::Form::Ptx : CudaCompiler::Form::Cubin;
  const std::string image = compiler->compile(text, architecture, options.shape, form).image;
  return options.stage == "sass" ? disassemble(image) : image;
}

std::string text_of_stage(const EmitOptions& options) {
  const Pipeline pipeline = parse(read_source(options.file));
  const Options how = compiler_options(options.kernel);
  const Isa isa = compiler_isa(options.kernel);
  if (is_gpu_code(options.stage)) return gpu_code(stage_text(pipeline, "cuda", how, isa), options);
  return stage_text(pipeline, options.stage, how, isa);
}

// What cannot be meant, said before anything is compiled.
void check_options(const EmitOptions& options) {
  const bool for_gpu = !options.architecture.empty() || options.shape != CudaShape{};
  if (for_gpu && !is_gpu_code(options.stage)) {
    throw UsageError("--arch and the options of a kernel's shape are for the stages ptx, cubin and sass");
  }
  if (options.output != "-") {
    check_replaceable(options.output, options.force);
  } else if (options.stage == "cubin" && isatty(STDOUT_FILENO)) {
    throw UsageError("a cubin is binary and not for a terminal; write it into a file with -o");
  }
}

}  // namespace

void declare_emit(CLI::App& app, EmitOptions& options) {
  app.add_option("FILE", options.file, "A pipeline")->required()->type_name("");
  app.add_option(
         "--stage", options.stage,
         "ir: as parsed; optimized: after the passes for the CPU; cpu: its kernel's text; asm: that text's machine "
         "code as assembly; cuda: the kernel's text for NVIDIA's GPUs; ptx: that text compiled for a virtual GPU; "
         "cubin: its machine code, which is binary; sass: that as assembly")
      ->required()
      ->check(CLI::IsMember({"ir", "optimized", "cpu", "asm", "cuda", "ptx", "cubin", "sass"}));
  app.add_option("-o,--output", options.output, "Where to write; '-' is standard output")->capture_default_str();
  app.add_flag("--force", options.force, "Overwrite an existing file");
  declare_compile_options(app, options.kernel);
  app.add_option("--arch", options.architecture,
                 "ptx, cubin, sass: the GPU's architecture, as sm_90 (default: that of this machine's, else sm_90)");
  const auto add_number = [&](const char* name, int& number, int largest, const char* what) {
    app.add_option(name, number, what)->check(CLI::Range(1, largest).description(""));
  };
  add_number("--threads-per-block", options.shape.threads, 1024, "ptx, cubin, sass: threads of a block");
  add_number("--i-per-thread", options.shape.i_per_thread, 64, "... i-particles that a thread holds in registers");
  add_number("--j-tile", options.shape.j_tile, 65536, "... j-particles in shared memory at a time");
  add_number("--unroll", options.shape.unroll, 1024, "... passes of the pair loop written out");
  add_number("--lanes", options.shape.lanes, 1024, "... threads that share i-particles and divide the j among them");
  app.footer(
      "Examples:\n"
      "  nbcc emit pipelines/gravity.pipe --stage optimized\n"
      "  nbcc emit pipelines/gravity.pipe --stage asm --isa avx2 --precision double -o gravity.s\n"
      "  nbcc emit pipelines/gravity.pipe --stage cubin --arch sm_90 -o gravity.cubin");
}

int run_emit(const EmitOptions& options) {
  check_options(options);
  const std::string text = text_of_stage(options);
  if (options.output == "-") {
    write_standard_output(text);
  } else {
    replace_file(options.output, text, options.force);
  }
  return kDone;
}

}  // namespace nbcc
