// Source -> PipelineSummary, by parsing and optimizing. One door: summarize(). Prints nothing.
#include "cli/pipeline_summary.h"

#include "compiler/emit/describe.h"
#include "compiler/passes/optimize.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

FieldSummary describe(const Field& field) {
  FieldSummary summary;
  summary.name = field.name;
  summary.role = name(field.role);
  if (field.role == Role::Output) summary.reduction = name(field.reduction);
  summary.type = layout_of(field).type;
  summary.components = field.components();
  summary.defaults = field.defaults;
  summary.comment = field.comment;
  return summary;
}

OperationCounts operations_by_stage(const Pipeline& pipeline) {
  OperationCounts counts;
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& node = pipeline.pair[id];
    if (!needed[std::size_t(id)] || arity(node.op) == 0) continue;
    switch (node.binding) {
      case Binding::Constant:
      case Binding::Param:
        ++counts.uniform;
        break;
      case Binding::I:
        ++counts.per_i;
        break;
      case Binding::J:
        ++counts.per_j;
        break;
      case Binding::Pair:
        ++counts.per_pair;
        break;
    }
  }
  const std::vector<bool> finishing = reachable(pipeline.finish, pipeline.finished);
  for (NodeId id = 0; id < pipeline.finish.size(); ++id) {
    if (finishing[std::size_t(id)] && arity(pipeline.finish[id].op) > 0) ++counts.finish;
  }
  return counts;
}

}  // namespace

PipelineSummary summarize(const Source& source, const Options& options, const Target& target) {
  PipelineSummary summary;
  const Pipeline pipeline = parse(source, &summary.warnings);
  summary.name = pipeline.name;
  summary.dialect = pipeline.dialect == Dialect::Cunbody ? "CUNBODY-1" : "named fields";
  for (const Field& field : pipeline.fields) summary.fields.push_back(describe(field));
  summary.raw_operations = pipeline.raw_operations;
  summary.stated_operations = pipeline.flops;
  summary.operations = operations_by_stage(optimize(pipeline, options, target));
  return summary;
}

}  // namespace nbcc
