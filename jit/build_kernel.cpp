// Text -> KernelSource. One door: build_cpu_kernel(). It decides nothing: each stage is a call.
#include "jit/build_kernel.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "compiler/emit_cpu.h"
#include "compiler/optimize.h"
#include "compiler/parse.h"
#include "compiler/print.h"

namespace nbcc {
namespace {

void dump(const std::string& folder, const std::string& file, const std::string& text) {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::ofstream(std::filesystem::path(folder) / file, std::ios::binary) << text;
}

}  // namespace

KernelSource build_cpu_kernel(const Source& source, const Options& options, Isa isa, const std::string& dump_folder) {
  const Pipeline pipeline = parse(source);
  dump(dump_folder, pipeline.name + ".pipe", source.text);
  return build_cpu_kernel(pipeline, options, isa, dump_folder);
}

KernelSource build_cpu_kernel(const Pipeline& pipeline, const Options& options, Isa isa,
                              const std::string& dump_folder) {
  dump(dump_folder, pipeline.name + ".ir", print(pipeline));
  const Pipeline optimized = optimize(pipeline, options, cpu_target(isa));
  dump(dump_folder, pipeline.name + ".optimized", print(optimized));
  KernelSource kernel = emit_cpu(optimized, options, isa);
  dump(dump_folder, fmt::format("{}.{}.cpp", pipeline.name, kernel.target), kernel.text);
  return kernel;
}

}  // namespace nbcc
