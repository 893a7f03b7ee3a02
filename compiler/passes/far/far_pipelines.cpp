// Fields and graphs of the pipelines of a far field. Entry point: far_pipelines().
#include "compiler/passes/far/far_pipelines.h"

#include "compiler/ir/rewrite.h"
#include "compiler/ir/verify.h"
#include "compiler/made_inputs.h"
#include "compiler/passes/outputs/add_field.h"

namespace nbcc {
namespace {

// Adds an array; none of length 0.
void add_array(Pipeline& pipeline, const std::string& name, Role role, Type type, int length) {
  if (length > 0) add_field(pipeline, name, role, type, of_length(length));
}

// A pipeline with the params and tables of another one.
Pipeline with_params_of(const Pipeline& pipeline, const std::string& suffix) {
  Pipeline made;
  made.name = pipeline.name + suffix;
  made.tables = pipeline.tables;
  for (const Field& field : pipeline.fields)
    if (field.role == Role::Param) made.fields.push_back(field);
  return made;
}

// Copies values of particles of one side from the pair graph of a pipeline, whose inputs become inputs `to`.
class ParticleValues {
 public:
  ParticleValues(const Graph& from, Graph& to, Op input) : from_(from), to_(to), input_(input) {}

  NodeId operator()(NodeId id) {
    copies_.resize(std::size_t(from_.size()), kNone);
    if (copies_[std::size_t(id)] == kNone) fill(id);
    return copies_[std::size_t(id)];
  }
  // The product of atoms in double precision. `first_centre`: number of the first centre among the inputs of i.
  NodeId product(const FarProduct& product, int first_centre) {
    NodeId result = kNone;
    for (const FarAtom& atom : product) {
      NodeId value = to_.cast((*this)(atom.node), Type::Double);
      if (atom.centre >= 0)
        value = to_.binary(Op::Sub, value, to_.leaf(Op::InputI, first_centre + atom.centre, Type::Double));
      result = result == kNone ? value : to_.binary(Op::Mul, result, value);
    }
    return result == kNone ? to_.constant(1, Type::Double) : result;
  }

 private:
  void fill(NodeId id) {
    const Node& node = from_[id];
    for (int k = 0; k < arity(node.op); ++k)
      if (copies_[std::size_t(node.args[std::size_t(k)])] == kNone) fill(node.args[std::size_t(k)]);
    copies_[std::size_t(id)] = copy(node);
  }
  NodeId copy(const Node& node) {
    if (node.op == Op::InputI || node.op == Op::InputJ) return to_.leaf(input_, node.payload, node.type, node.where);
    return copy_node(to_, node, copies_);
  }

  const Graph& from_;
  Graph& to_;
  Op input_;
  std::vector<NodeId> copies_;
};

void add_no_pairs(Pipeline& pipeline) {
  const NodeId zero = pipeline.pair.constant(0, Type::Double);
  pipeline.contributions.assign(std::size_t(pipeline.components(Role::Output)), {zero});
}

// The caller's pipeline, and in its pair graph the coordinates of both particles. Its inputs have the same numbers in
// the pipeline of the terms.
struct Given {
  const Pipeline& pipeline;
  std::vector<FarAxis> positions;
};

// Positions, and weights of j or factors of i, by particle.
Pipeline particle_pipeline(const Pipeline& pipeline, const Given& given, const FarTerms& terms, Role side) {
  const bool of_j = side == Role::InputJ;
  Pipeline made = with_params_of(pipeline, of_j ? "_sources" : "_targets");
  for (Field field : given.pipeline.fields) {
    if (field.role != side) continue;
    field.role = Role::InputI;
    made.fields.push_back(field);
  }
  const int first_centre = made.components(Role::InputI);
  const std::vector<FarProduct>& products = of_j ? terms.weights : terms.factors;
  add_array(made, "nbcc_centre", Role::InputI, Type::Double, int(terms.centred.size()));
  add_array(made, "nbcc_position", Role::Output, Type::Double, int(terms.axes.size()));
  add_array(made, of_j ? "nbcc_weights" : "nbcc_factors", Role::Output, Type::Double, int(products.size()));
  add_no_pairs(made);
  ParticleValues coordinates(given.pipeline.pair, made.finish, Op::InputI);
  for (const FarAxis& axis : given.positions)
    made.finished.push_back(made.finish.cast(coordinates(of_j ? axis.of_j : axis.of_i), Type::Double));
  ParticleValues values(pipeline.pair, made.finish, Op::InputI);
  for (const FarProduct& product : products) made.finished.push_back(values.product(product, first_centre));
  return made;
}

Pipeline means_pipeline(const Pipeline& pipeline, const Given& given, const FarTerms& terms) {
  Pipeline made = with_params_of(pipeline, "_means");
  for (const Field& field : given.pipeline.fields)
    if (field.role == Role::InputJ) made.fields.push_back(field);
  add_array(made, "nbcc_sums", Role::Output, Type::Double, int(terms.centred.size()));
  ParticleValues values(pipeline.pair, made.pair, Op::InputJ);
  for (const NodeId value : terms.centred) made.contributions.push_back({made.pair.cast(values(value), Type::Double)});
  return made;
}

Pipeline distant_pipeline(const Pipeline& pipeline, const FarTerms& terms) {
  Pipeline made = with_params_of(pipeline, "_distant");
  const int axes = int(terms.axes.size());
  const bool is_shifted = pipeline.find(kPlaceOfJ) != nullptr;
  add_array(made, is_shifted ? kPlaceOfI : "nbcc_position_i", Role::InputI, terms.real, axes);
  if (!terms.both_sides) add_array(made, "nbcc_factors_i", Role::InputI, terms.real, int(terms.factors.size()));
  add_array(made, is_shifted ? kPlaceOfJ : "nbcc_position_j", Role::InputJ, terms.real, axes);
  add_array(made, "nbcc_weights_j", Role::InputJ, terms.real, int(terms.weights.size()));
  add_array(made, "nbcc_sums", Role::Output, terms.real, int(terms.sums.size()));
  made.pair = terms.graph;
  for (const NodeId sum : terms.sums) made.contributions.push_back({sum});
  return made;
}

Pipeline excluded_pipeline(const Pipeline& pipeline) {
  Pipeline made = without_finish(pipeline);
  made.name = pipeline.name + "_excluded";
  for (Contribution& term : made.contributions) term.value = made.pair.unary(Op::Neg, term.value);
  return made;
}

Pipeline finish_pipeline(const Pipeline& pipeline, const Given& given) {
  Pipeline made = with_params_of(pipeline, "_finish");
  for (const Field& field : given.pipeline.fields)
    if (field.role == Role::InputI || field.role == Role::Output) made.fields.push_back(field);
  const int first_total = made.components(Role::InputI), outputs = made.components(Role::Output);
  add_array(made, "nbcc_total", Role::InputI, Type::Double, outputs);
  add_no_pairs(made);
  const std::vector<const Field*> fields = made.fields_of(Role::Output);
  made.finish = pipeline.finish;
  made.finished = pipeline.finished;
  if (made.finished.empty())
    for (int c = 0; c < outputs; ++c)
      made.finished.push_back(made.finish.leaf(Op::Output, c, fields[std::size_t(c)]->type));
  rewrite(made, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    if (old.op != Op::Output) return copy_node(target, old, args);
    return target.cast(target.leaf(Op::InputI, first_total + old.payload, Type::Double, old.where), old.type);
  });
  return made;
}

FarPipelines make(const Pipeline& pipeline, const Given& given, const FarTerms& terms) {
  FarPipelines made{particle_pipeline(pipeline, given, terms, Role::InputJ),
                    particle_pipeline(pipeline, given, terms, Role::InputI),
                    distant_pipeline(pipeline, terms),
                    without_finish(pipeline),
                    excluded_pipeline(pipeline),
                    sample_pipeline(pipeline),
                    finish_pipeline(pipeline, given),
                    {}};
  if (!terms.centred.empty()) made.means = means_pipeline(pipeline, given, terms);
  std::vector<Pipeline*> all{&made.sources,  &made.targets, &made.distant, &made.near,
                             &made.excluded, &made.sample,  &made.finish};
  if (made.means) all.push_back(&*made.means);
  for (Pipeline* one : all) {
    one->flops.reset();
    one->raw_operations = count_operations(*one);
    verify(*one, "the far field");
  }
  return made;
}

}  // namespace

Pipeline without_finish(Pipeline pipeline) {
  pipeline.name += "_near";
  pipeline.finish = {};
  pipeline.finished.clear();
  return pipeline;
}

Pipeline sample_pipeline(const Pipeline& pipeline) {
  Pipeline made = without_finish(pipeline);
  made.name = pipeline.name + "_sample";
  Graph& graph = made.pair;
  const NodeId zero = graph.constant(0, Type::Double), one = graph.constant(1, Type::Double);
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Output || keeps_index(field.reduction)) continue;
    NodeId size = zero;
    for (int c = field.first; c < field.first + field.components(); ++c) {
      const Contribution& term = made.contributions[std::size_t(c)];
      NodeId value = graph.cast(term.value, Type::Double);
      if (term.guard != kNone) value = graph.select(term.guard, value, zero);
      if (field.components() == 1)
        size = graph.unary(Op::Abs, value);
      else
        size = graph.binary(Op::Add, size, graph.binary(Op::Mul, value, value));
    }
    if (field.components() > 1) size = graph.unary(Op::Sqrt, size);
    Field of_field;
    of_field.name = "nbcc_size_" + field.name;
    of_field.role = Role::Output;
    of_field.type = Type::Double;
    of_field.first = made.components(Role::Output);
    // An extreme is compared with the largest value; the error of a logarithm is relative to its argument.
    if (field.reduction != Reduction::Sum) of_field.reduction = Reduction::Max;
    if (field.reduction == Reduction::LogSumExp) size = one;
    made.fields.push_back(of_field);
    made.contributions.push_back({size});
  }
  return made;
}

FarPipelines far_pipelines(const Pipeline& pipeline, const FarTerms& terms) {
  return make(pipeline, {pipeline, terms.axes}, terms);
}

FarPipelines far_pipelines(const CopiesPipeline& copies, const FarTerms& terms) {
  Given given{copies.given, {}};
  for (std::size_t axis = 0; axis < copies.of_i.size(); ++axis)
    given.positions.push_back({copies.of_i[axis], copies.of_j[axis]});
  return make(copies.pipeline, given, terms);
}

}  // namespace nbcc
