// Compiles a pipeline's text to a kernel's source for a device: parse, optimize, plan, emit (DESIGN.md).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/isa.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"
#include "compiler/passes/derived/exchange.h"
#include "compiler/text/diagnostic.h"
#include "compiler/text/source.h"
#include "compiler/text_facts.h"
#include "jit/backend.h"

namespace nbcc {

// Throws CompileError. With a dump folder ("": none) every stage is written to that folder: NAME.pipe, NAME.ir,
// NAME.optimized and the kernel's source, NAME.cpu-ISA.cpp or NAME.cuda.cu; write errors are ignored. `isa` is used by
// CPU backends only.
KernelSource build_kernel(const Backend& backend, const Source& source, const Options& options, Isa isa,
                          const std::string& dump_folder);
// The same, with facts of the text.
KernelSource build_kernel(const Backend& backend, const Source& source, const Options& options, Isa isa,
                          const std::string& dump_folder, TextFacts& facts);
// The same for a pipeline that has been parsed.
KernelSource build_kernel(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa,
                          const std::string& dump_folder);

// `text` is a Source or a Pipeline.
template <typename Text>
KernelSource build_cpu_kernel(const Text& text, const Options& options, Isa isa, const std::string& dump_folder) {
  return build_kernel(backend_named("cpu"), text, options, isa, dump_folder);
}
// For CUDA GPUs of any architecture.
template <typename Text>
KernelSource build_cuda_kernel(const Text& text, const Options& options, const std::string& dump_folder) {
  return build_kernel(backend_named("cuda"), text, options, {}, dump_folder);
}

// The text of an adjoint pipeline (compiler/passes/derived/adjoint.h). side: one of kAdjointSides; "forward" is the
// pipeline with the additional outputs that adjoints need, "tangent" that of the rates of outputs. of, by: names
// separated by commas; "": all. Throws UsageError.
inline constexpr std::string_view kAdjointSides[] = {"i", "j", "set", "forward", "each_i", "tangent", "each_j"};
struct AdjointText {
  std::string text;
  std::vector<AdjointField> fields;   // in the order of the text
  std::optional<Diagnostic> warning;  // a derivative is not finite for a particle with itself
};
AdjointText adjoint_text(const Pipeline& pipeline, std::string_view side, const std::string& of, const std::string& by);

// The text of the pipeline that sums for `count` columns of an input of j (compiler/passes/derived/columns.h). Throws
// UsageError.
std::string columns_text(const Pipeline& pipeline, const std::string& vector, const std::string& output, int count);

// The text of the pipeline with the virial of a force as additional output (compiler/passes/derived/virial.h). Throws
// UsageError.
std::string virial_text(const Pipeline& pipeline, const std::string& force, const std::string& place_i,
                        const std::string& place_j);

// Names of the stages for stage_text(): "ir", "optimized" (for the CPU), and KernelStage::name of all backends.
std::vector<std::string_view> kernel_stages();
// Throws UsageError for other names.
std::string stage_text(const Pipeline& pipeline, std::string_view stage, const Options& options, Isa isa);

}  // namespace nbcc
