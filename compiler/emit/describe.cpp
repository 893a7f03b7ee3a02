// Pipeline and Plan -> KernelSource without its text. One door: describe_kernel(). Knows no backend.
#include "compiler/emit/describe.h"

#include "compiler/emit/whole_number.h"

namespace nbcc {

KernelSource describe_kernel(const Pipeline& pipeline, const Plan& plan) {
  KernelSource source;
  source.pipeline = pipeline.name;
  source.i_columns = plan.i.columns;
  source.j_columns = plan.j.columns;
  for (const Field& f : pipeline.fields) source.fields.push_back(layout_of(f));
  source.params = pipeline.components(Role::Param);
  source.outputs = pipeline.components(Role::Output);
  for (const Field* output : pipeline.fields_of(Role::Output))
    source.reductions.push_back(FieldLayout::Reduction(int(output->reduction)));
  for (std::size_t k = 0; k < std::size_t(source.outputs); ++k)
    source.held_in.push_back(is_whole_extreme(pipeline, k) ? Element::Int64 : Element::Double);
  source.has_finish = !pipeline.finished.empty();
  for (const Graph* graph : {&pipeline.pair, &pipeline.finish})
    for (NodeId id = 0; id < graph->size(); ++id) {
      source.uses_i_index = source.uses_i_index || (*graph)[id].op == Op::IIndex;
      source.uses_j_index = source.uses_j_index || (*graph)[id].op == Op::JIndex;
    }
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) source.lines.push_back(pipeline.pair[id].where.line);
  source.operations = pipeline.flops ? *pipeline.flops : pipeline.raw_operations;
  return source;
}

}  // namespace nbcc
