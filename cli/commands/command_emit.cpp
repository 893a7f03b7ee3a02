// nbcc emit: prints one stage of the compilation of a pipeline. This file only chooses the GPU architecture if none is
// given, and calls the stage.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/machine/find_gpus.h"
#include "cli/machine/programs.h"
#include "cli/options/kernel_options.h"
#include "cli/report/standard_output.h"
#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "jit/temporary_folder.h"
#include "particles/files/replace_file.h"
#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

struct EmitOptions {
  std::string file;
  std::string stage;
  std::string output = "-";
  bool force = false;
  KernelChoice kernel;
  std::string architecture;  // empty: the architecture of the first GPU
  LaunchConfig launch;
  std::string side = "i", of, by;  // for the stage adjoint
};

bool is_gpu_code(const std::string& stage) { return stage == "ptx" || stage == "cubin" || stage == "sass"; }

std::string default_architecture() {
  const Gpus gpus = find_gpus();
  return gpus.list.empty() ? "sm_90" : gpus.list.front().architecture();
}

// The command (program and option) of the CUDA toolkit that disassembles a cubin to SASS.
std::string find_disassembler() {
  std::vector<std::string> folders;
  for (const std::string& toolkit : cuda_folders()) folders.push_back(toolkit + "/bin");
  for (const auto& [tool, option] : {std::pair("nvdisasm", "-c"), std::pair("cuobjdump", "-sass")}) {
    std::string path = find_program(tool);
    for (const std::string& folder : folders)
      if (path.empty() && access((folder + "/" + tool).c_str(), X_OK) == 0) path = folder + "/" + tool;
    if (!path.empty()) return fmt::format("{} {}", shell_word(path), option);
  }
  throw DeviceError(fmt::format("showing SASS needs nvdisasm or cuobjdump of the CUDA toolkit; neither is in $PATH, {}",
                                fmt::join(folders, ", ")));
}

std::string disassemble(const std::string& cubin) {
  const std::string tool = find_disassembler();
  const TemporaryFolder scratch;
  const std::string object = scratch.file("kernel.cubin");
  replace_file(object, cubin, true);
  return run_program(tool, object);
}

std::string gpu_code(const std::string& text, const EmitOptions& options) {
  const std::shared_ptr<const CudaCompiler> compiler = make_nvrtc();
  const std::string architecture = options.architecture.empty() ? default_architecture() : options.architecture;
  const auto form = options.stage == "ptx" ? CudaCompiler::Form::Ptx : CudaCompiler::Form::Cubin;
  const std::string image = compiler->compile(text, architecture, options.launch, form).image;
  return options.stage == "sass" ? disassemble(image) : image;
}

std::string text_of_stage(const EmitOptions& options) {
  const Source source = read_source(options.file);
  const Pipeline pipeline = parse(source);
  if (options.stage == "adjoint") {
    AdjointText made = adjoint_text(pipeline, options.side, options.of, options.by);
    if (made.warning) fmt::print(stderr, "{}", render(source, *made.warning));
    return std::move(made.text);
  }
  const Options& how = options.kernel.options;
  const Isa isa = compiler_isa(options.kernel);
  if (is_gpu_code(options.stage)) return gpu_code(stage_text(pipeline, "cuda", how, isa), options);
  return stage_text(pipeline, options.stage, how, isa);
}

// Refuses contradictory options before anything is compiled.
void check_options(const EmitOptions& options) {
  const bool for_gpu = !options.architecture.empty() || options.launch != LaunchConfig{};
  if (for_gpu && !is_gpu_code(options.stage)) {
    throw UsageError("--arch and the options of a launch configuration are for the stages ptx, cubin and sass");
  }
  const bool for_adjoint = options.side != "i" || !options.of.empty() || !options.by.empty();
  if (for_adjoint && options.stage != "adjoint") throw UsageError("--side, --of and --by are for the stage adjoint");
  if (options.output != "-") {
    check_replaceable(options.output, options.force);
  } else if (options.stage == "cubin" && isatty(STDOUT_FILENO)) {
    throw UsageError("a cubin is binary and not for a terminal; write it into a file with -o");
  }
}

void run_emit(const EmitOptions& options) {
  check_options(options);
  const std::string text = text_of_stage(options);
  if (options.output == "-") {
    write_standard_output(text);
  } else {
    replace_file(options.output, text, options.force);
  }
}

}  // namespace

void add_emit(CLI::App& app, Invocation&) {
  const auto options = std::make_shared<EmitOptions>();
  CLI::App& command = *app.add_subcommand("emit", "Show a stage of a pipeline's way to machine code");
  command.add_option("FILE", options->file, "A pipeline, or its name in `nbcc list`")->required()->type_name("");
  std::vector<std::string> stages;
  for (const std::string_view stage : kernel_stages()) stages.emplace_back(stage);
  stages.insert(stages.end(), {"ptx", "cubin", "sass", "adjoint"});
  command
      .add_option(
          "--stage", options->stage,
          "ir: as parsed; optimized: after the passes for the CPU; cpu: source of the CPU kernel; asm: its machine "
          "code "
          "as assembly; cuda: source of the kernel for NVIDIA GPUs; cuda-search: source of its neighbour search; ptx: "
          "the CUDA kernel compiled for a virtual GPU; cubin: its machine code, which is binary; sass: the cubin as "
          "assembly; adjoint: a pipeline of derivatives")
      ->required()
      ->check(CLI::IsMember(stages));
  command
      .add_option(
          "--side", options->side,
          "adjoint: derivatives by inputs of i and params (i), by inputs of j (j), or by both if i and j are the "
          "same particles (set); each_i: as i, but by params with a row for each i; each_j: as j, the params of --by "
          "being inputs of i; forward: the pipeline with the "
          "additional outputs that adjoints need; tangent: the rates of outputs when inputs and params have rates")
      ->check(CLI::IsMember({"i", "j", "set", "forward", "each_i", "tangent", "each_j"}))
      ->capture_default_str();
  command.add_option("--of", options->of, "adjoint: outputs to differentiate, separated by commas; default: all");
  command.add_option("--by", options->by,
                     "adjoint: real inputs and params to differentiate by, separated by commas; default: all");
  command.add_option("-o,--output", options->output, "Where to write; '-' is standard output")->capture_default_str();
  command.add_flag("--force", options->force, "Overwrite an existing file");
  declare_compile_options(command, options->kernel);
  command.add_option(
      "--arch", options->architecture,
      "ptx, cubin, sass: the GPU's architecture, as sm_90 (default: this machine's first GPU, else sm_90)");
  const auto add_number = [&](const char* name, int& number, int largest, const char* what) {
    return command.add_option(name, number, what)->check(CLI::Range(1, largest).description(""));
  };
  add_number("--threads-per-block", options->launch.threads, 1024, "ptx, cubin, sass: threads of a block");
  add_number("--i-per-thread", options->launch.i_per_thread, 64, "... i-particles that a thread holds in registers");
  add_number("--j-tile", options->launch.j_tile, 65536, "... j-particles in shared memory at a time");
  add_number("--unroll", options->launch.unroll, 1024, "... unrolling of the pair loop, a power of two");
  add_number("--j-slices", options->launch.j_slices, 1024,
             "... threads that share i-particles; each sums over one slice of a tile");
  command.footer(
      "Examples:\n"
      "  nbcc emit pipelines/gravity.pipe --stage optimized\n"
      "  nbcc emit pipelines/gravity.pipe --stage asm --isa avx2 --precision double -o gravity.s\n"
      "  nbcc emit pipelines/gravity.pipe --stage cubin --arch sm_90 -o gravity.cubin");
  command.callback([=] { run_emit(*options); });
}

}  // namespace nbcc
