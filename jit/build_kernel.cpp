// Compiles a pipeline to a KernelSource by calling the stages of the compiler in order. Entry points: build_kernel(),
// stage_text(), adjoint_text(), virial_text().
#include "jit/build_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "compiler/emit/copies.h"
#include "compiler/emit/describe.h"
#include "compiler/far_kernels.h"
#include "compiler/ir/print.h"
#include "compiler/ir/text/pipeline_text.h"
#include "compiler/passes/derive/derivative.h"
#include "compiler/passes/derived/adjoint.h"
#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/derived/nearest.h"
#include "compiler/passes/derived/pair_values.h"
#include "compiler/passes/derived/reactions.h"
#include "compiler/passes/derived/virial.h"
#include "compiler/passes/facts/equal_indices.h"
#include "compiler/passes/far/far_pipelines.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/passes/prove/table_indices.h"
#include "compiler/source/parse.h"
#include "compiler/source/warn_singular.h"
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

// Adds the kernel for a search of nearest neighbours, if the pipeline looks for these. `build` compiles a pipeline.
template <typename Build>
void add_nearest(KernelSource& kernel, const Pipeline& pipeline, const Build& build) {
  const std::optional<Pipeline> bounded = nearest_pipeline(pipeline);
  if (!bounded) return;
  KernelSource made = build(*bounded);
  made.bound_field = int(std::ranges::find(made.fields, "nbcc_bound", &FieldLayout::name) - made.fields.begin());
  kernel.nearest = std::make_shared<const KernelSource>(std::move(made));
  kernel.neighbours = "of each i the nearest";
  kernel.no_neighbours.clear();
}

FarKernels build_far_kernels(const Backend& backend, const Pipeline& pipeline, Options options, Isa isa) {
  FarKernels made;
  const FarReading reading = read_far_terms(pipeline);
  if (!reading.terms) {
    const int line = reading.obstacle.where.line;
    made.obstacle = (line > 0 ? fmt::format("line {}: ", line) : "") + reading.obstacle.reason;
    return made;
  }
  const FarTerms& terms = *reading.terms;
  made.text = far_text(pipeline, terms);
  made.precision = name(options.precision);
  made.axes = int(terms.axes.size());
  made.weights = int(terms.weights.size());
  made.factors = int(terms.factors.size());
  made.sums = int(terms.sums.size());
  made.both_sides = terms.both_sides;
  made.needs_one_set = terms.needs_one_set;
  made.centres = int(terms.centred.size());
  for (const FarTerms::Part& part : terms.parts) made.parts.push_back({part.output, part.factor, part.sum});
  const FarPipelines pipelines = far_pipelines(pipeline, terms);
  const Options doubled{Precision::Double, options.math, options.root};
  const auto build = [&](const Pipeline& one, const Options& how) { return build_kernel(backend, one, how, isa, ""); };
  made.sources = build(pipelines.sources, doubled);
  made.targets = build(pipelines.targets, doubled);
  if (pipelines.means) made.means = build(*pipelines.means, doubled);
  made.distant = build(pipelines.distant, options);
  made.measured = build(pipelines.distant, doubled);
  made.near = build(pipelines.near, options);
  made.sample = build(pipelines.sample, doubled);
  made.finish = build(pipelines.finish, doubled);
  return made;
}

SymmetricKernel build_symmetric(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa) {
  SymmetricKernel made;
  const auto must_be_symmetric = [&made](const std::vector<std::string>& tables) {
    for (const std::string& table : tables) made.partners.emplace_back(table, table);
  };
  const std::optional<OneSet> one_set = with_reactions(pipeline);
  if (!one_set) {
    made.obstacle = "an output keeps more than a sum or an extreme of its terms";
    must_be_symmetric(symmetries(pipeline).symmetric_tables);
    return made;
  }
  const Target target = backend.target(isa);
  const NeighbourhoodProof proof = prove_neighbourhood(one_set->pipeline);
  const Neighbourhood* const neighbourhood =
      proof.neighbourhood && backend.tests_cutoff ? &*proof.neighbourhood : nullptr;
  const Pipeline both =
      optimize(neighbourhood ? with_within(one_set->pipeline, *neighbourhood) : one_set->pipeline, options, target);
  made.cost = shared_cost(optimize(pipeline, options, target), both);
  made.given = one_set->given;
  made.partners = one_set->partners;
  must_be_symmetric(one_set->symmetric_tables);
  const TableIndices indices = backend.checks_symmetric ? find_table_indices(one_set->pipeline) : TableIndices();
  made.source = std::make_shared<const KernelSource>(backend.emit(both, options, isa, neighbourhood, indices));
  return made;
}

// There are no kernels that compute each pair once or sum distant pairs by grids, for this reason.
void refuse_others(KernelSource& kernel, const std::string& obstacle) {
  kernel.symmetric = [obstacle] {
    SymmetricKernel none;
    none.obstacle = obstacle;
    return none;
  };
  kernel.far_kernels = [obstacle](Precision) {
    FarKernels none;
    none.obstacle = obstacle;
    return none;
  };
}

KernelSource build_copies_kernel(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa,
                                 const std::string& dump_folder) {
  const CopiesPipeline copies = copies_pipeline(pipeline);
  KernelSource kernel = build_kernel(backend, copies.pipeline, options, isa, dump_folder);
  kernel.copies = std::make_shared<const CopiesLayout>(copies_layout(copies));
  kernel.neighbours = neighbours_of_images(copies);
  refuse_others(kernel, "every_image() sums over all images within its cutoff");
  return kernel;
}

KernelSource build_pair_values_kernel(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa,
                                      const std::string& dump_folder) {
  const PairValuesPipelines made = pair_values_pipelines(pipeline);
  // Both particles of a pair are inputs of i there, whose differences have the digits of one float in mixed precision.
  Options of_values = options;
  if (options.precision == Precision::Mixed) of_values.precision = Precision::Double;
  PairValuesLayout layout;
  layout.fields.assign(pipeline.fields.begin(), pipeline.fields.end());
  KernelSource values = build_kernel(backend, made.values, of_values, isa, made.sums ? "" : dump_folder);
  KernelSource kernel = values;
  if (made.sums) {
    kernel = build_kernel(backend, *made.sums, options, isa, dump_folder);
    layout.values = std::make_shared<const KernelSource>(std::move(values));
  }
  kernel.pair_values = std::make_shared<const PairValuesLayout>(std::move(layout));
  kernel.nearest = nullptr;
  refuse_others(kernel, "an output(pair) has values of listed pairs");
  return kernel;
}

}  // namespace

KernelSource build_kernel(const Backend& backend, const Source& source, const Options& options, Isa isa,
                          const std::string& dump_folder) {
  return build_kernel(backend, parse_and_dump(source, dump_folder), options, isa, dump_folder);
}

KernelSource build_kernel(const Backend& backend, const Source& source, const Options& options, Isa isa,
                          const std::string& dump_folder, IndexGuard& guard) {
  const Pipeline pipeline = parse_and_dump(source, dump_folder);
  guard = index_guard(pipeline);
  return build_kernel(backend, pipeline, options, isa, dump_folder);
}

KernelSource build_kernel(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa,
                          const std::string& dump_folder) {
  if (has_images(pipeline)) return build_copies_kernel(backend, pipeline, options, isa, dump_folder);
  if (pipeline.has_pair_values()) return build_pair_values_kernel(backend, pipeline, options, isa, dump_folder);
  // Prove the neighbourhood before the passes, because these replace guards and roots by faster forms.
  const NeighbourhoodProof proof = prove_neighbourhood(pipeline);
  const Neighbourhood* const neighbourhood = proof.neighbourhood ? &*proof.neighbourhood : nullptr;
  // A search gathers few j for each i, so that loops over elements would have no blocks.
  const bool loops = !neighbourhood && options.precision != Precision::Mixed;
  const Pipeline compared = neighbourhood && backend.tests_cutoff ? with_within(pipeline, *neighbourhood)
                            : loops                               ? with_element_loops(pipeline, options.math)
                                                                  : pipeline;
  KernelSource kernel = backend.emit(optimize_and_dump(compared, options, backend.target(isa), dump_folder), options,
                                     isa, neighbourhood, find_table_indices(pipeline));
  describe_neighbours(kernel, pipeline, proof);
  // The kernels that a run consists of compute the values of each i, which the run reduces to totals.
  const Pipeline of_each_i = without_totals(pipeline);
  add_nearest(kernel, of_each_i,
              [&](const Pipeline& bounded) { return build_kernel(backend, bounded, options, isa, ""); });
  kernel.far_kernels = [&backend, of_each_i, options, isa](Precision at_least) {
    Options how = options;
    how.precision = std::max(how.precision, at_least);
    FarKernels made = build_far_kernels(backend, of_each_i, how, isa);
    made.raised = how.precision != options.precision;
    return made;
  };
  kernel.symmetric = [&backend, of_each_i, options, isa] { return build_symmetric(backend, of_each_i, options, isa); };
  if (has_element_loops(compared))
    kernel.symmetric = [] {
      SymmetricKernel none;
      none.obstacle = "its loops over elements are computed block by block, for all pairs";
      return none;
    };
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
  const AdjointChoice choice{names_in(of), names_in(by), side == "each_i"};
  const auto written = [](Adjoint made) {
    return AdjointText{pipeline_text(made.pipeline), made.fields, warn_singular(made)};
  };
  try {
    if (side == "forward") return written(forward_pipeline(pipeline, choice));
    if (side == "i" || side == "each_i") return written(adjoint_pipeline(pipeline, choice, AdjointSide::I));
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
