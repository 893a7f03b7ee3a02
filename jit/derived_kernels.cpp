// The table of derived kernels. A new row is one function and one line of kRows. Entry points: derivations_of(),
// no_derivations().
#include "jit/derived_kernels.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "compiler/emit/copies.h"
#include "compiler/far_kernels.h"
#include "compiler/nearest_facts.h"
#include "compiler/passes/derived/nearest.h"
#include "compiler/passes/derived/reactions.h"
#include "compiler/passes/far/far_pipelines.h"
#include "compiler/passes/far/periodic_terms.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/passes/outputs/centred_products.h"
#include "compiler/passes/outputs/one_choice.h"
#include "compiler/passes/outputs/softmax_passes.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/passes/prove/table_indices.h"
#include "fmt/format.h"

namespace nbcc {
namespace {

using From = FieldBinding::From;

KernelSource build(const DerivationInput& of, const Pipeline& pipeline, const Options& options) {
  return of.build(of.backend, pipeline, options, of.isa);
}

// Fields that have the names of the pipeline's have its arrays and values; the runtime makes all others.
// `makes_outputs`: the runtime makes the arrays of all outputs, too.
DerivedKernel named(std::string name, std::shared_ptr<const KernelSource> source, const Pipeline& callers,
                    bool makes_outputs = false) {
  std::vector<FieldBinding> bind;
  for (const FieldLayout& field : source->fields) {
    const bool is_callers = std::ranges::find(callers.fields, field.name, &Field::name) != callers.fields.end();
    const bool is_made = !is_callers || (makes_outputs && field.role == Role::Output);
    bind.push_back(is_made ? FieldBinding{From::Made} : FieldBinding{From::Caller, field.name});
  }
  return {std::move(name), std::move(source), std::move(bind)};
}

// The pipeline with a distance bound for each i, for pipelines that look for nearest neighbours; and for each side a
// kernel that finds inputs that are not finite, which must round as written.
DerivedKernels make_nearest(const DerivationInput& of) {
  const std::optional<Pipeline> bounded = nearest_pipeline(of.pipeline);
  if (!bounded) return {"the pipeline does not look for nearest neighbours"};
  DerivedKernels row;
  auto facts = std::make_shared<NearestFacts>();
  facts->axes = axes_of_nearest(of.pipeline);
  row.facts = std::move(facts);
  const auto add = [&](const char* name, const Pipeline& pipeline, const Options& options) {
    auto source = std::make_shared<const KernelSource>(build(of, pipeline, options));
    row.kernels.push_back(named(name, std::move(source), of.pipeline));
  };
  add("nearest", *bounded, of.options);
  const Options precise{of.options.precision, Math::Precise, of.options.root};
  if (const auto finite = finite_pipeline(of.pipeline, Role::InputI)) add("finite i", *finite, precise);
  if (const auto finite = finite_pipeline(of.pipeline, Role::InputJ)) add("finite j", *finite, precise);
  return row;
}

DerivedKernels make_symmetric(const DerivationInput& of) {
  if (of.has_tiles) return {"its loops over elements are computed block by block, for all pairs"};
  auto facts = std::make_shared<SymmetricFacts>();
  const auto must_be_symmetric = [&facts](const std::vector<std::string>& tables) {
    for (const std::string& table : tables) facts->partners.emplace_back(table, table);
  };
  const std::optional<OneSet> one_set = with_reactions(of.pipeline);
  if (!one_set) {
    must_be_symmetric(symmetries(of.pipeline).symmetric_tables);
    return {.obstacle = "an output keeps more than a sum or an extreme of its terms", .facts = std::move(facts)};
  }
  const Target target = of.backend.target(of.isa);
  const NeighbourhoodProof proof = prove_neighbourhood(one_set->pipeline);
  const Neighbourhood* const neighbourhood =
      proof.neighbourhood && of.backend.tests_cutoff ? &*proof.neighbourhood : nullptr;
  const Pipeline compared = neighbourhood ? with_within(one_set->pipeline, *neighbourhood) : one_set->pipeline;
  Pipeline both = optimize(compared, of.options, target);
  facts->cost = shared_cost(optimize(of.pipeline, of.options, target), both);
  const Pipeline with_loops = with_element_loops(compared, of.options.math);
  if (has_element_loops(with_loops)) both = optimize(with_loops, of.options, target);
  facts->partners = one_set->partners;
  must_be_symmetric(one_set->symmetric_tables);
  const TableIndices indices = of.backend.checks_symmetric ? find_table_indices(one_set->pipeline) : TableIndices();
  auto source = std::make_shared<const KernelSource>(of.backend.emit(both, of.options, of.isa, neighbourhood, indices));
  std::vector<FieldBinding> bind;
  for (const std::string& given : one_set->given)
    bind.push_back(given.empty() ? FieldBinding{From::Ignored} : FieldBinding{From::Caller, given});
  return {.kernels = {{"symmetric", std::move(source), std::move(bind)}}, .facts = std::move(facts)};
}

DerivedKernels make_nearest_images(const DerivationInput& of) {
  const std::optional<Pipeline> nearest = has_images(of.pipeline) ? nearest_images_pipeline(of.pipeline) : std::nullopt;
  if (!nearest) return {"its images within reach are not always those nearest to i"};
  DerivedKernels row;
  auto source = std::make_shared<const KernelSource>(build(of, *nearest, of.options));
  row.kernels.push_back(named(std::string(kNearestImagesRow), std::move(source), of.pipeline));
  return row;
}

DerivedKernels make_far(const DerivationInput& of) {
  std::optional<PeriodicReading> periodic;
  if (has_images(of.pipeline)) periodic = read_periodic_terms(of.pipeline);
  const FarReading reading = periodic ? periodic->reading : read_far_terms(of.pipeline);
  if (!reading.terms) {
    const int line = reading.obstacle.where.line;
    return {(line > 0 ? fmt::format("line {}: ", line) : "") + reading.obstacle.reason};
  }
  const FarTerms& terms = *reading.terms;
  auto made = std::make_shared<FarKernels>();
  const Pipeline& pipeline = periodic ? periodic->copies.pipeline : of.pipeline;
  made->text = far_text(pipeline, terms);
  made->weight_names = weight_names(pipeline, terms);
  made->precision = name(of.options.precision);
  made->raised = of.options.precision != of.given;
  made->axes = int(terms.axes.size());
  made->weights = int(terms.weights.size());
  made->factors = int(terms.factors.size());
  made->sums = int(terms.sums.size());
  made->both_sides = terms.both_sides;
  made->needs_one_set = terms.needs_one_set;
  made->centres = int(terms.centred.size());
  for (const FarTerms::Part& part : terms.parts) made->parts.push_back({part.output, part.factor, part.sum});
  const FarPipelines pipelines = periodic ? far_pipelines(periodic->copies, terms) : far_pipelines(of.pipeline, terms);
  if (periodic) {
    const CopiesLayout layout = copies_layout(periodic->copies);
    if (!layout.obstacle.empty()) return {layout.obstacle};
    made->periods = layout.periods;
  }
  const Options doubled{Precision::Double, of.options.math, of.options.root};
  made->sources = build(of, pipelines.sources, doubled);
  made->targets = build(of, pipelines.targets, doubled);
  if (pipelines.means) made->means = build(of, *pipelines.means, doubled);
  made->distant = build(of, pipelines.distant, of.options);
  made->measured = build(of, pipelines.distant, doubled);
  made->near = build(of, pipelines.near, of.options);
  made->excluded = build(of, pipelines.excluded, of.options);
  made->sample = build(of, pipelines.sample, doubled);
  made->finish = build(of, pipelines.finish, doubled);
  DerivedKernels row;
  // The sources are parts of the facts, which they keep alive.
  const auto add = [&](const char* name, const KernelSource& source) {
    const bool makes_outputs = &source == &made->near || &source == &made->excluded || &source == &made->sample;
    row.kernels.push_back(named(name, {made, &source}, of.pipeline, makes_outputs));
  };
  add("sources", made->sources);
  add("targets", made->targets);
  if (made->means) add("means", *made->means);
  add("distant", made->distant);
  add("measured", made->measured);
  add("near", made->near);
  add("excluded", made->excluded);
  add("sample", made->sample);
  add("finish", made->finish);
  row.facts = std::move(made);
  return row;
}

// True if every output is a sum, an extreme or a logsumexp of real terms.
bool sums_reals(const Pipeline& pipeline) {
  return std::ranges::all_of(pipeline.fields, [](const Field& field) {
    const bool is_known = field.reduction == Reduction::Sum || field.reduction == Reduction::Min ||
                          field.reduction == Reduction::Max || field.reduction == Reduction::LogSumExp;
    return field.role != Role::Output || (is_known && is_floating(field.type));
  });
}

// True if all results depend smoothly on values of a pair: no such value is compared or rounded, since a rounded
// product could give another answer. Indices may be compared (a particle with itself).
bool is_smooth(const Pipeline& pipeline) {
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& node = pipeline.pair[id];
    if (!needed[std::size_t(id)] || node.args[0] == kNone) continue;
    const bool is_of_reals = is_floating(pipeline.pair[node.args[0]].type);
    const bool is_step = node.op == Op::Lt || node.op == Op::Le || node.op == Op::Eq || node.op == Op::Floor ||
                         node.op == Op::Ceil || node.op == Op::Round || node.op == Op::Rint || node.op == Op::Trunc ||
                         node.op == Op::Fmod || (node.op == Op::Cast && !is_floating(node.type));
    const bool is_of_pair =
        join(pipeline.pair[node.args[0]].binding,
             node.args[1] == kNone ? Binding::Constant : pipeline.pair[node.args[1]].binding) == Binding::Pair;
    if (is_step && is_of_reals && is_of_pair) return false;
  }
  return true;
}

DerivedKernels make_matrix_units(const DerivationInput& of) {
  const Pipeline with_loops = with_element_loops(of.pipeline, of.options.math);
  if (!has_element_loops(with_loops)) return {"it has no loop of more than 32 like terms over elements of arrays"};
  std::optional<OneChoice> choice = one_choice(of.pipeline);
  if (choice && choice->indices == 0) choice.reset();
  const std::optional<SoftmaxPasses> passes = softmax_passes(of.pipeline);
  auto facts = std::make_shared<MatrixFacts>();
  facts->precision = name(of.options.precision);
  facts->two_passes = passes.has_value();
  if (!choice && !passes && !sums_reals(of.pipeline))
    return {.obstacle =
                "its outputs are neither sums, minima, maxima and logsumexp alone, nor choices by one value "
                "(argmin, argmax), nor softmax and logsumexp of one logit without finish()",
            .facts = facts};
  if (!is_smooth(of.pipeline)) return {.obstacle = "a value of a pair is compared or rounded", .facts = facts};
  DerivedKernels row;
  const auto add = [&](const std::string& name, const Pipeline& pipeline, const Options& options, bool makes_outputs) {
    auto source = std::make_shared<const KernelSource>(build(of, pipeline, options));
    row.kernels.push_back(named(name, std::move(source), of.pipeline, makes_outputs));
    if (!passes) return;
    source = std::make_shared<const KernelSource>(build(of, passes->logsumexp, options));
    row.kernels.push_back(named(name + ", first", std::move(source), of.pipeline, makes_outputs));
  };
  const Pipeline& pipeline = passes ? passes->weighted : of.pipeline;
  // What is compared with exact results. Other j than the exact ones may be chosen, if their values are as good.
  const Pipeline sums = choice   ? choice_and_values(pipeline, *choice)
                        : passes ? passes->means
                                 : without_finish(pipeline);
  Options options = of.options;
  for (const auto& [name, units] : {std::pair{"half", MatrixUnits::Half}, {"two halves", MatrixUnits::TwoHalves}}) {
    if (!of.backend.has_matrix_units) break;
    options.matrix_units = units;
    if (build(of, pipeline, options).packed_vectors.row_bytes == 0) continue;
    add(name, pipeline, options, false);
    add(name + std::string(" sums"), sums, options, true);
  }
  // Products of choices would have to be computed again as differences, and those of softmax are computed twice.
  const bool takes_products = !of.backend.has_matrix_units && !choice && !passes && of.options.math == Math::Fast &&
                              of.options.precision != Precision::Mixed;
  const auto products = takes_products ? centred_products(with_loops) : std::nullopt;
  // Without finish(), whose loops are of i alone, there are the same loops of pairs, and so the same centres.
  const auto of_sums = products ? centred_products(with_element_loops(sums, of.options.math)) : std::nullopt;
  if (products && of_sums && products->centres == of_sums->centres) {
    facts->centres = products->centres;
    add("products", products->pipeline, of.options, false);
    add("products sums", of_sums->pipeline, of.options, true);
  }
  if (row.kernels.empty())
    facts->obstacle = of.backend.has_matrix_units
                          ? "matrix instructions need single precision, fast math, at most some 84 numbers that are "
                            "kept for each i (an index counts as two), and one loop over elements, which sums products "
                            "of a value of i and a value of j, "
                            "or squares of their differences"
                          : "on a CPU products take the place of differences in loops that sum squares of differences "
                            "of an element of i and an element of j, with fast math, not in mixed precision, without "
                            "tables; and only for sums, minima, maxima and logsumexp";
  add("sums", sums, of.options, true);
  add("sample", sample_pipeline(sums), {Precision::Double, of.options.math, of.options.root}, true);
  row.facts = std::move(facts);
  return row;
}

constexpr Derivation kRows[] = {{"nearest", false, make_nearest},
                                {"symmetric", false, make_symmetric},
                                {kNearestImagesRow, false, make_nearest_images},
                                {"far", true, make_far},
                                {"matrix units", false, make_matrix_units}};

class MadeDerivations final : public Derivations {
 public:
  explicit MadeDerivations(DerivationInput input) : input_(std::move(input)) {}

  const DerivedKernels& row(std::string_view name, Precision at_least) const override {
    const auto found = std::ranges::find(kRows, name, &Derivation::name);
    if (!input_.only.empty() && name != input_.only) return others_;
    const bool is_of_precision = found != std::end(kRows) && found->is_of_precision;
    const Precision own = input_.options.precision, precision = is_of_precision ? std::max(own, at_least) : own;
    const std::lock_guard lock(mutex_);
    const std::pair key(std::string(name), precision);
    if (const auto made = made_.find(key); made != made_.end()) return made->second;
    if (found == std::end(kRows)) return made_[key] = {fmt::format("there is no row '{}'", name)};
    DerivationInput input = input_;
    input.options.precision = precision;
    return made_[key] = found->make(input);
  }

 private:
  const DerivationInput input_;
  const DerivedKernels others_{input_.others};
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, Precision>, DerivedKernels> made_;
};

class NoDerivations final : public Derivations {
 public:
  explicit NoDerivations(std::string obstacle) : none_{std::move(obstacle)} {}
  const DerivedKernels& row(std::string_view, Precision) const override { return none_; }

 private:
  const DerivedKernels none_;
};

}  // namespace

std::shared_ptr<const Derivations> derivations_of(DerivationInput input) {
  return std::make_shared<MadeDerivations>(std::move(input));
}

std::shared_ptr<const Derivations> no_derivations(std::string obstacle) {
  return std::make_shared<NoDerivations>(std::move(obstacle));
}

}  // namespace nbcc
