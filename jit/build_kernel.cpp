// Text -> KernelSource. Doors: build_cpu_kernel(), build_cuda_kernel(), stage_text(). It decides nothing: each stage is
// a call.
#include "jit/build_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/ir/pipeline_text.h"
#include "compiler/ir/print.h"
#include "compiler/passes/adjoint.h"
#include "compiler/passes/derivative.h"
#include "compiler/passes/nearest.h"
#include "compiler/passes/neighbourhood.h"
#include "compiler/passes/optimize.h"
#include "compiler/passes/table_indices.h"
#include "compiler/passes/virial.h"
#include "compiler/source/parse.h"
#include "jit/cpu_jit.h"
#include "runtime/cache/dump.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

void dump(const std::string& folder, const std::string& file, const std::string& text) {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  write_dump((std::filesystem::path(folder) / file).string(), text);
}

Pipeline parse_and_dump(const Source& source, const std::string& folder) {
  Pipeline pipeline = parse(source);
  dump(folder, pipeline.name + ".pipe", source.text);
  return pipeline;
}

Pipeline optimize_and_dump(const Pipeline& pipeline, const Options& options, const Target& target,
                           const std::string& folder) {
  dump(folder, pipeline.name + ".ir", print(pipeline));
  Pipeline optimized = optimize(pipeline, options, target);
  dump(folder, pipeline.name + ".optimized", print(optimized));
  return optimized;
}

void describe_neighbours(KernelSource& kernel, const Pipeline& pipeline, const NeighbourhoodProof& proof) {
  if (proof.neighbourhood) kernel.neighbours = neighbourhood_text(pipeline, *proof.neighbourhood);
  if (proof.obstacle)
    kernel.no_neighbours = fmt::format("line {}: {}", proof.obstacle->where.line, proof.obstacle->reason);
}

// `build` makes a kernel of a pipeline.
template <typename Build>
void add_nearest(KernelSource& kernel, const Pipeline& pipeline, const Build& build) {
  const std::optional<Pipeline> bounded = nearest_pipeline(pipeline);
  if (!bounded) return;
  kernel.nearest = std::make_shared<const KernelSource>(build(*bounded));
  kernel.neighbours = "of each i the nearest";
  kernel.no_neighbours.clear();
}

}  // namespace

KernelSource build_cpu_kernel(const Source& source, const Options& options, Isa isa, const std::string& dump_folder) {
  return build_cpu_kernel(parse_and_dump(source, dump_folder), options, isa, dump_folder);
}

KernelSource build_cpu_kernel(const Pipeline& pipeline, const Options& options, Isa isa,
                              const std::string& dump_folder) {
  // The neighbours are proved of the text as it stands: the passes turn guards and roots into what is fast.
  const NeighbourhoodProof proof = prove_neighbourhood(pipeline);
  const Neighbourhood* const neighbourhood = proof.neighbourhood ? &*proof.neighbourhood : nullptr;
  const Pipeline compared = neighbourhood ? with_within(pipeline, *neighbourhood) : pipeline;
  KernelSource kernel = emit_cpu(optimize_and_dump(compared, options, facts(isa).target, dump_folder), options, isa,
                                 neighbourhood, find_table_indices(pipeline));
  describe_neighbours(kernel, pipeline, proof);
  add_nearest(kernel, pipeline, [&](const Pipeline& bounded) { return build_cpu_kernel(bounded, options, isa, ""); });
  dump(dump_folder, fmt::format("{}.{}.cpp", pipeline.name, kernel.target), kernel.first().source);
  return kernel;
}

KernelSource build_cuda_kernel(const Source& source, const Options& options, const std::string& dump_folder) {
  return build_cuda_kernel(parse_and_dump(source, dump_folder), options, dump_folder);
}

KernelSource build_cuda_kernel(const Pipeline& pipeline, const Options& options, const std::string& dump_folder) {
  const NeighbourhoodProof proof = prove_neighbourhood(pipeline);
  KernelSource kernel = emit_cuda(optimize_and_dump(pipeline, options, cuda_target(), dump_folder), options,
                                  proof.neighbourhood ? &*proof.neighbourhood : nullptr, find_table_indices(pipeline));
  describe_neighbours(kernel, pipeline, proof);
  add_nearest(kernel, pipeline, [&](const Pipeline& bounded) { return build_cuda_kernel(bounded, options, ""); });
  dump(dump_folder, fmt::format("{}.{}.cu", pipeline.name, kernel.target), kernel.first().source);
  if (const KernelVariant* const search = kernel.find(Frame::Search))
    dump(dump_folder, fmt::format("{}.{}.search.cu", pipeline.name, kernel.target), search->source);
  return kernel;
}

namespace {
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : list + ",") {
    if (c != ',') {
      if (c != ' ') name += c;
    } else if (!name.empty()) {
      names.push_back(std::exchange(name, {}));
    }
  }
  return names;
}
}  // namespace

AdjointText adjoint_text(const Pipeline& pipeline, std::string_view side, const std::string& of,
                         const std::string& by) {
  const AdjointChoice choice{names_in(of), names_in(by)};
  const auto written = [](Adjoint made) { return AdjointText{pipeline_text(made.pipeline), std::move(made.fields)}; };
  try {
    if (side == "forward") return written(forward_pipeline(pipeline, choice));
    if (side == "i") return written(adjoint_pipeline(pipeline, choice, AdjointSide::I));
    if (side == "j") return written(adjoint_pipeline(pipeline, choice, AdjointSide::J));
    if (side == "set") return written(adjoint_pipeline(pipeline, choice, AdjointSide::OneSet));
  } catch (const InvalidAdjoint& invalid) {
    throw UsageError(invalid.message);
  } catch (const NotDifferentiable&) {
    throw UsageError(fmt::format("pipeline '{}': lgamma and tgamma have no derivative", pipeline.name));
  } catch (const std::runtime_error& unwritable) {
    throw UsageError(fmt::format("pipeline '{}': its derivative has no text: {}", pipeline.name, unwritable.what()));
  }
  throw UsageError(fmt::format("there is no side '{}'; there are {}", side, fmt::join(kAdjointSides, ", ")));
}

std::string virial_text(const Pipeline& pipeline, const std::string& force, const std::string& place_i,
                        const std::string& place_j) {
  try {
    return pipeline_text(with_virial(pipeline, {force, place_i, place_j}));
  } catch (const NoVirial& without) {
    throw UsageError(without.message);
  } catch (const std::runtime_error& unwritable) {
    throw UsageError(fmt::format("pipeline '{}': with a virial it has no text: {}", pipeline.name, unwritable.what()));
  }
}

std::string stage_text(const Pipeline& pipeline, std::string_view stage, const Options& options, Isa isa) {
  if (stage == "ir") return print(pipeline);
  if (stage == "optimized") return print(optimize(pipeline, options, facts(isa).target));
  if (stage == "cpu") return build_cpu_kernel(pipeline, options, isa, "").first().source;
  if (stage == "asm") return cpu_assembly(build_cpu_kernel(pipeline, options, isa, ""));
  static constexpr std::pair<std::string_view, Frame> kCudaStages[] = {{"cuda", Frame::AllPairs},
                                                                       {"cuda-search", Frame::Search},
                                                                       {"cuda-lists", Frame::Lists},
                                                                       {"cuda-pairs", Frame::ListedPairs}};
  const auto* const found = std::ranges::find(kCudaStages, stage, &std::pair<std::string_view, Frame>::first);
  if (found == std::end(kCudaStages))
    throw UsageError(fmt::format(
        "there is no stage '{}'; there are ir, optimized, cpu, asm, cuda, cuda-search, cuda-lists and cuda-pairs",
        stage));
  const KernelSource kernel = build_cuda_kernel(pipeline, options, "");
  if (const KernelVariant* const variant = kernel.find(found->second)) return variant->source;
  if (found->second != Frame::Search) return kernel.first().source;
  throw UsageError(fmt::format("pipeline '{}' has no search: no neighbourhood is proved of it{}{}", pipeline.name,
                               kernel.no_neighbours.empty() ? "" : "; ", kernel.no_neighbours));
}

}  // namespace nbcc
