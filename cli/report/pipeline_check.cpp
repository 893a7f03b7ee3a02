// A text -> its diagnostics, the facts that runs use (neighbours, far field, symmetry) and the numbers of its
// operations. Entry point: check_pipeline(). It prints nothing and compiles no kernel.
#include "cli/report/pipeline_check.h"

#include <fmt/format.h>

#include <optional>

#include "cli/report/periodic_outlook.h"
#include "compiler/derived_kernels.h"
#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/derived/nearest.h"
#include "compiler/passes/derived/reactions.h"
#include "compiler/passes/facts/cosines.h"
#include "compiler/passes/facts/int_operations.h"
#include "compiler/passes/far/far_terms.h"
#include "compiler/passes/far/periodic_terms.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/optimize/loops_written_out.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/passes/prove/table_indices.h"
#include "compiler/source/parse.h"
#include "jit/backend.h"
#include "jit/build_kernel.h"

namespace nbcc {
namespace {

constexpr std::string_view kNearest = "of each i the nearest";

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
void add_periodic_sum(const PeriodicReading& periodic, PipelineCheck& found) {
  found.far_field = "periodic by tolerance: " + far_field_of(periodic.reading, periodic.copies.pipeline);
  const PeriodicOutlook outlook = periodic_outlook(found.pipeline, periodic);
  found.periodic = outlook.lines;
  found.periodic.push_back(outlook.lines.empty() ? outlook.reason : outlook.when);
}

// Why the backend has no products of wide vectors; "": it has.
std::string no_products_of(const char* backend, const Pipeline& pipeline, const Options& options) {
  const KernelSource kernel = build_kernel(backend_named(backend), pipeline, options, {}, "");
  const DerivedKernels& made = kernel.derivations->row("matrix units", options.precision);
  return made.obstacle.empty() ? made.as<MatrixFacts>().obstacle : made.obstacle;
}

// How a tolerance computes loops over many elements on each target, or why it does not; "": there are none.
std::string wide_pairs_of(const Pipeline& pipeline, const Options& options) {
  if (!has_element_loops(with_element_loops(pipeline, options.math))) return "";
  const std::string on_gpu = no_products_of("cuda", pipeline, options),
                    on_cpu = no_products_of("cpu", pipeline, options);
  if (!on_gpu.empty() && on_gpu == on_cpu) return "no products to a tolerance: " + on_gpu;
  const std::string of_gpu = on_gpu.empty() ? "products by matrix instructions, from compute capability 8.0 on"
                                            : "no products by matrix instructions: " + on_gpu,
                    of_cpu = on_cpu.empty() ? "products in place of differences"
                                            : "no products in place of differences: " + on_cpu;
  return fmt::format("to a tolerance, on a GPU {}; on a CPU {}", of_gpu, of_cpu);
}

// "acc odd, pot even; a pair costs 0.59 of computing it twice", or why each pair is computed from both ends.
std::string symmetry_of(const Pipeline& pipeline, const Pipeline& optimized, const KernelChoice& kernel) {
  const std::optional<OneSet> both = with_reactions(without_totals(pipeline));
  if (!both) return "none: an output keeps more than a sum or an extreme of its terms, or pairs are listed";
  if (both->partners.empty()) return "none: no input of i has a partner among those of j, such as xi and xj";
  const Pipeline made = optimize(both->pipeline, kernel.options, compiler_target(kernel));
  return fmt::format("{}; a pair costs {:.2f} of computing it twice", symmetry_text(pipeline),
                     shared_cost(optimized, made));
}

// What a reader may not expect of a text that compiles.
void add_notes(const Pipeline& pipeline, Math math, std::vector<Diagnostic>& notes) {
  for (const IntOperation& one : int_operations(pipeline)) {
    const auto is_param = [&](NodeId id) { return pipeline.pair[id].op == Op::Param; };
    if (is_param(one.a) || is_param(one.b)) continue;  // as in `type - first`: a param is known before the run
    notes.push_back({Severity::Note, one.where,
                     fmt::format("{} wraps around beyond 2147483647, and nothing here bounds these int inputs; "
                                 "`index` has 64 bits, `nbcc verify` tests given particles",
                                 one.text)});
  }
  for (const UncheckedIndex& one : find_table_indices(pipeline).unchecked)
    notes.push_back(
        {Severity::Note,
         {one.line, one.column},
         fmt::format(
             "no run checks the index {} of table '{}': {}; where it leads out of the table, the nearest end is "
             "read",
             one.index, one.table, one.reason)});
  for (const LoopWrittenOut& loop : loops_written_out(pipeline, math))
    notes.push_back({Severity::Note, loop.where,
                     fmt::format("kernels have {} operations for this one, since its loop is written out, and "
                                 "compile slowly: {}",
                                 loop.rounds, loop.reason)});
  for (const Location& where : find_acos_of_cosines(pipeline))
    notes.push_back({Severity::Note, where,
                     "acos() is NaN where rounding carries this cosine beyond 1, as of parallel vectors; the "
                     "angle between two vectors is angle(u, v)"});
}

}  // namespace

std::string PipelineCheck::search_cost() const { return neighbours == kNearest ? "O(N log N)" : "O(N)"; }

PipelineCheck check_pipeline(const Source& source, const KernelChoice& kernel, TextNames* names) {
  PipelineCheck found;
  found.pipeline = names ? parse(source, &found.diagnostics, *names) : parse(source, &found.diagnostics);
  const Pipeline& pipeline = found.pipeline;
  const Options& how = kernel.options;
  const Pipeline optimized = optimize(pipeline, how, compiler_target(kernel));
  found.counts = operations_by_stage(optimized);
  const bool images = has_images(pipeline);
  const NeighbourhoodProof proof = images ? NeighbourhoodProof() : prove_neighbourhood(pipeline);
  if (proof.obstacle && !proof.obstacle->is_limit)
    found.diagnostics.push_back(
        {Severity::Note, proof.obstacle->where, "no neighbours are proved: " + proof.obstacle->reason});
  add_notes(pipeline, how.math, found.diagnostics);
  found.neighbours = neighbours_of(pipeline, proof);
  if (found.neighbours.empty() && nearest_pipeline(pipeline)) found.neighbours = kNearest;
  const std::optional<CopiesPipeline> copies = images ? std::optional(copies_pipeline(pipeline)) : std::nullopt;
  const bool is_periodic_sum = copies && !copies->proof.neighbourhood;
  if (images && !is_periodic_sum) found.neighbours = neighbours_of_images(*copies);
  if (is_periodic_sum)
    add_periodic_sum(read_periodic_terms(pipeline), found);
  else
    found.far_field = images ? "none: every_image() sums over all images within its cutoff"
                             : far_field_of(read_far_terms(pipeline), pipeline);
  if (!images && found.far_field.starts_with("none")) found.wide_pairs = wide_pairs_of(pipeline, how);
  found.symmetry = symmetry_of(pipeline, optimized, kernel);
  return found;
}

}  // namespace nbcc
