// Compiles a pipeline to a KernelSource by calling the stages of the compiler in order. Entry points: build_kernel(),
// stage_text(), adjoint_text(), columns_text(), virial_text().
#include "jit/build_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "compiler/emit/copies.h"
#include "compiler/emit/describe.h"
#include "compiler/ir/print.h"
#include "compiler/ir/text/pipeline_text.h"
#include "compiler/nearest_facts.h"
#include "compiler/passes/derive/derivative.h"
#include "compiler/passes/derived/adjoint.h"
#include "compiler/passes/derived/columns.h"
#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/derived/nearest.h"
#include "compiler/passes/derived/pair_values.h"
#include "compiler/passes/derived/virial.h"
#include "compiler/passes/facts/text_facts.h"
#include "compiler/passes/far/periodic_terms.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/passes/prove/table_indices.h"
#include "compiler/source/parse.h"
#include "compiler/source/warn_singular.h"
#include "jit/derived_kernels.h"
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
  if (proof.neighbourhood) kernel.search.bound = neighbourhood_text(pipeline, *proof.neighbourhood);
  if (proof.obstacle)
    kernel.search.obstacle = fmt::format("line {}: {}", proof.obstacle->where.line, proof.obstacle->reason);
}

KernelSource build_on(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa) {
  return build_kernel(backend, pipeline, options, isa, "");
}

// A periodic sum runs derived kernels alone; the kernel itself is the pipeline over one cell.
KernelSource build_periodic_kernel(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa,
                                   const std::string& dump_folder) {
  const CopiesPipeline placed = read_periodic_terms(pipeline).copies;
  KernelSource kernel = build_kernel(backend, placed.pipeline, options, isa, dump_folder);
  CallersView callers;
  callers.fields.assign(pipeline.fields.begin(), pipeline.fields.end());
  callers.copies = copies_layout(placed);
  if (callers.copies->obstacle.empty())
    callers.copies->obstacle = "every_image() has no cutoff: a periodic sum needs a tolerance";
  kernel.callers = std::make_shared<const CallersView>(std::move(callers));
  kernel.derivations =
      derivations_of({build_on, backend, without_totals(pipeline), options, options.precision, isa, false});
  return kernel;
}

KernelSource build_copies_kernel(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa,
                                 const std::string& dump_folder) {
  const CopiesPipeline copies = copies_pipeline(pipeline);
  if (!copies.proof.neighbourhood) return build_periodic_kernel(backend, pipeline, options, isa, dump_folder);
  KernelSource kernel = build_kernel(backend, copies.pipeline, options, isa, dump_folder);
  CallersView callers;
  callers.fields.assign(pipeline.fields.begin(), pipeline.fields.end());
  callers.copies = copies_layout(copies);
  kernel.callers = std::make_shared<const CallersView>(std::move(callers));
  kernel.search.bound = neighbours_of_images(copies);
  kernel.derivations =
      derivations_of({build_on, backend, without_totals(pipeline), options, options.precision, isa, false,
                      kNearestImagesRow, "every_image() sums over all images within its cutoff"});
  return kernel;
}

std::shared_ptr<const Derivations> no_derivations_of_pair_values() {
  return no_derivations("an output(pair) has values of listed pairs");
}

// Otherwise a second kernel computes the results of pairs: in mixed precision in double, and with table indices that
// only it can check, pair by pair.
bool stores_pair_values(const Backend& backend, const Pipeline& pipeline, const Options& options) {
  return backend.stores_pair_values && options.precision != Precision::Mixed &&
         find_table_indices(pipeline).unchecked.empty();
}

KernelSource build_pair_values_kernel(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa,
                                      const std::string& dump_folder) {
  const PairValuesPipelines made = pair_values_pipelines(pipeline);
  // Both particles of a pair are inputs of i there, whose differences have the digits of one float in mixed precision.
  Options of_values = options;
  if (options.precision == Precision::Mixed) of_values.precision = Precision::Double;
  CallersView callers;
  callers.fields.assign(pipeline.fields.begin(), pipeline.fields.end());
  callers.has_pair_values = true;
  KernelSource values = build_kernel(backend, made.values, of_values, isa, made.sums ? "" : dump_folder);
  KernelSource kernel = values;
  if (made.sums) {
    kernel = build_kernel(backend, *made.sums, options, isa, dump_folder);
    callers.values = std::make_shared<const KernelSource>(std::move(values));
  }
  kernel.callers = std::make_shared<const CallersView>(std::move(callers));
  kernel.derivations = no_derivations_of_pair_values();
  return kernel;
}

}  // namespace

KernelSource build_kernel(const Backend& backend, const Source& source, const Options& options, Isa isa,
                          const std::string& dump_folder) {
  return build_kernel(backend, parse_and_dump(source, dump_folder), options, isa, dump_folder);
}

KernelSource build_kernel(const Backend& backend, const Source& source, const Options& options, Isa isa,
                          const std::string& dump_folder, TextFacts& facts) {
  const Pipeline pipeline = parse_and_dump(source, dump_folder);
  facts = text_facts(pipeline);
  return build_kernel(backend, pipeline, options, isa, dump_folder);
}

KernelSource build_kernel(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa,
                          const std::string& dump_folder) {
  if (has_images(pipeline)) return build_copies_kernel(backend, pipeline, options, isa, dump_folder);
  if (pipeline.has_pair_values() && !stores_pair_values(backend, pipeline, options))
    return build_pair_values_kernel(backend, pipeline, options, isa, dump_folder);
  // Prove the neighbourhood before the passes, because these replace guards and roots by faster forms.
  const NeighbourhoodProof proof = prove_neighbourhood(pipeline);
  const Neighbourhood* const neighbourhood = proof.neighbourhood ? &*proof.neighbourhood : nullptr;
  const Pipeline compared = with_element_loops(
      neighbourhood && backend.tests_cutoff ? with_within(pipeline, *neighbourhood) : pipeline, options.math);
  const bool has_tiles = has_element_loops(compared) && !neighbourhood && options.precision != Precision::Mixed;
  KernelSource kernel = backend.emit(optimize_and_dump(compared, options, backend.target(isa), dump_folder), options,
                                     isa, neighbourhood, find_table_indices(pipeline));
  describe_neighbours(kernel, pipeline, proof);
  // The kernels that a run consists of compute the values of each i, which the run reduces to totals.
  const Pipeline of_each_i = without_totals(pipeline);
  if (nearest_pipeline(of_each_i)) {
    kernel.search.bound = kNearestBound;
    kernel.search.obstacle.clear();
  }
  kernel.derivations = pipeline.has_pair_values()
                           ? no_derivations_of_pair_values()
                           : derivations_of({build_on, backend, of_each_i, options, options.precision, isa, has_tiles});
  const std::string file = fmt::format("{}.{}", pipeline.name, kernel.target);
  dump(dump_folder, fmt::format("{}.{}", file, backend.file_ending), kernel.first().source);
  if (const KernelVariant* const search = kernel.find(Frame::Search))
    dump(dump_folder, fmt::format("{}.search.{}", file, backend.file_ending), search->source);
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
  const AdjointChoice choice{names_in(of), names_in(by), side == "each_i" || side == "each_j"};
  const auto written = [](Adjoint made) {
    return AdjointText{pipeline_text(made.pipeline), made.fields, warn_singular(made)};
  };
  try {
    if (side == "forward") return written(forward_pipeline(pipeline, choice));
    if (side == "i" || side == "each_i") return written(adjoint_pipeline(pipeline, choice, AdjointSide::I));
    if (side == "j" || side == "each_j") return written(adjoint_pipeline(pipeline, choice, AdjointSide::J));
    if (side == "set") return written(adjoint_pipeline(pipeline, choice, AdjointSide::OneSet));
    if (side == "tangent") return written(adjoint_pipeline(pipeline, choice, AdjointSide::Tangent));
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

std::string columns_text(const Pipeline& pipeline, const std::string& vector, const std::string& output, int count) {
  try {
    return pipeline_text(with_columns(pipeline, vector, output, count));
  } catch (const NoColumns& without) {
    throw UsageError(without.message);
  } catch (const std::runtime_error& unwritable) {
    throw UsageError(fmt::format("pipeline '{}': its columns have no text: {}", pipeline.name, unwritable.what()));
  }
}

std::vector<std::string_view> kernel_stages() {
  std::vector<std::string_view> names{"ir", "optimized"};
  for (const Backend& backend : backends())
    for (const KernelStage& stage : backend.stages) names.push_back(stage.name);
  return names;
}

std::string stage_text(const Pipeline& pipeline, std::string_view stage, const Options& options, Isa isa) {
  if (stage == "ir") return print(pipeline);
  if (stage == "optimized") return print(optimize(pipeline, options, facts(isa).target));
  for (const Backend& backend : backends())
    for (const KernelStage& one : backend.stages)
      if (one.name == stage) return one.text(build_kernel(backend, pipeline, options, isa, ""));
  std::vector<std::string_view> others = kernel_stages();
  const std::string_view last = others.back();
  others.pop_back();
  throw UsageError(fmt::format("there is no stage '{}'; there are {} and {}", stage, fmt::join(others, ", "), last));
}

}  // namespace nbcc
