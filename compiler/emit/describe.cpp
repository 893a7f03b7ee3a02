// Pipeline and Plan -> KernelSource without its source text. Entry point: describe_kernel(). Independent of backends.
#include "compiler/emit/describe.h"

#include <algorithm>
#include <iterator>

#include "compiler/made_inputs.h"

namespace nbcc {

KernelSource describe_kernel(const Pipeline& pipeline, const Plan& plan, Precision precision) {
  KernelSource source;
  source.pipeline = pipeline.name;
  source.columns.i = plan.i.columns;
  source.columns.j = plan.j.columns;
  source.columns.of_pair = plan.listed.columns;
  for (const Field& f : pipeline.fields)
    if (f.role != Role::Output || !is_hidden(f.reduction)) source.fields.push_back(f);
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    const FieldLayout& field = source.fields[f];
    if (!field.is_histogram()) continue;
    source.histograms.push_back(histogram_layout(field, plan.outputs[std::size_t(field.first)].type, precision));
    source.histograms.back().field = int(f);
    source.uses.i_index = source.uses.i_index || !field.is_total();
  }
  source.params = pipeline.params_by_value();
  source.table_params = pipeline.components(Role::Param) - source.params;
  source.tables = plan.tables;
  for (const auto& [number, table] : plan.tables_of_pairs) source.tables.push_back(table);
  source.outputs = int(plan.outputs.size());
  source.first_reaction = pipeline.first_reaction;
  for (const OutputPlan& output : plan.outputs) {
    source.accumulators.push_back(
        {output.reduction, output.reference, output.is_whole() ? Element::Int64 : Element::Double});
  }
  source.has_finish = !pipeline.finished.empty();
  for (const Graph* graph : {&pipeline.pair, &pipeline.finish})
    for (NodeId id = 0; id < graph->size(); ++id) {
      source.uses.i_index = source.uses.i_index || (*graph)[id].op == Op::IIndex;
      source.uses.j_index = source.uses.j_index || (*graph)[id].op == Op::JIndex;
    }
  constexpr Op wraps[] = {Op::Image, Op::Rint, Op::Round, Op::Floor, Op::Ceil, Op::Trunc};
  for (NodeId id = 0; id < pipeline.pair.size(); ++id)
    source.uses.minimum_images =
        source.uses.minimum_images || std::ranges::find(wraps, pipeline.pair[id].op) != std::end(wraps);
  for (NodeId id = 0; id < plan.graph.size(); ++id) source.lines.push_back(plan.graph[id].where.line);
  // The places of a pipeline over shifted ranges (passes/derived/every_image.h).
  const Field* const places = pipeline.find(kPlaceOfJ);
  for (int axis = 0; places && !pipeline.find(kShiftOfJ) && axis < places->components(); ++axis)
    source.search.j_positions.push_back(places->first + axis);
  source.operations = pipeline.flops ? *pipeline.flops : pipeline.raw_operations;
  return source;
}

}  // namespace nbcc
