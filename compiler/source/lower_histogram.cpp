// Sums whose elements are named at run time (`n[bin] += 1`) -> contributions with an element. Part of lowering
// (lower.h). Entry points: histogram_element(), add_to_element(), gather_histograms().
#include <fmt/core.h>

#include <algorithm>

#include "compiler/source/lower.h"

namespace nbcc::lowering {

bool Lowering::is_histogram(const Field& field) const {
  return field.role == Role::Output && (field.length > kMaxComponents || field.reduction == Reduction::Histogram);
}

// The condition that no conversion of a real number to an integer in `id` changes its value beyond dropping a fraction:
// no number is NaN or beyond the integer type.
NodeId Lowering::conversions_hold(NodeId id, clang::SourceLocation where) {
  NodeId all = kNone;
  const std::vector<bool> needed = reachable(*graph_, {id});
  for (NodeId k = 0; k < NodeId(needed.size()); ++k) {
    const Node n = (*graph_)[k];
    if (!needed[std::size_t(k)] || n.op != Op::Cast || n.type >= Type::Float) continue;
    const Type from = (*graph_)[n.args[0]].type;
    if (from < Type::Float) continue;
    const double limit = n.type == Type::Int ? 0x1p31 : 0x1p63;
    const NodeId above = binary(Op::Lt, graph_->constant(-limit, from), n.args[0], where);
    const NodeId below = binary(Op::Lt, n.args[0], graph_->constant(limit, from), where);
    all = conjunction(all, binary(Op::And, above, below, where));
  }
  return all;
}

LValue Lowering::histogram_element(const LValue& base, const Value& index, clang::SourceLocation where) {
  const Field& field = *output_of(base.variable);
  if (finishing_)
    throw Rejected{
        where,
        fmt::format("finish() can neither add to the histogram '{}' nor read it: its elements are named by pairs",
                    field.name)};
  if (!is_sum(field.reduction))
    throw Rejected{where, fmt::format("the index of output({}) '{}' must be a constant: only sums and counts are added "
                                      "to elements that are known at run time",
                                      reduction_text(field), field.name)};
  if (field.width > 1)
    throw Rejected{where,
                   fmt::format("the elements of the histogram '{}' must be numbers: declare a histogram for each "
                               "component",
                               field.name)};
  const NodeId at = index.parts[0];
  if (!index.shape.is_scalar() || (*graph_)[at].type > Type::Index)
    throw Rejected{where, fmt::format("the index of '{}' must be a whole number: write int(...)", field.name)};
  const auto whole = [&](int number) { return graph_->constant(number, Type::Int); };
  NodeId element = whole(-1);
  if (graph_->is_constant(at)) {
    element = whole(int(constant_index(index, field.length, field.name, where)));
  } else {
    NodeId inside =
        binary(Op::And, binary(Op::Le, whole(0), at, where), binary(Op::Lt, at, whole(field.length), where), where);
    if (const NodeId hold = conversions_hold(at, where); hold != kNone) inside = binary(Op::And, hold, inside, where);
    element = select(inside, cast(at, Type::Int, where), element, where);
  }
  return {base.variable, 0, {base.shape.scalar, 0, 1}, kNone, element};
}

void Lowering::add_to_element(const LValue& lvalue, const Value& value, clang::SourceLocation where) {
  const Field& field = *output_of(lvalue.variable);
  if (!value.shape.is_scalar())
    throw Rejected{where,
                   fmt::format("output '{}' has 1 component here, the value {}", field.name, value.parts.size())};
  NodeId part = value.parts[0];
  if (field.type < Type::Float) {
    if ((*graph_)[part].type >= Type::Float && field.reduction != Reduction::Count)
      throw Rejected{where, fmt::format("output '{0}' is {1} and the value is not; write {1}(...) to drop its fraction",
                                        field.name, name(field.type))};
    part = cast(cast(part, field.type, where), Type::Index, where);
  } else {
    part = contributed_value(field, Reduction::Sum, part, where);
  }
  added_to_elements_[lvalue.variable].push_back({path_, part, lvalue.column});
}

// Gives each histogram one component for each statement that adds to it, in place of one for each element.
void Lowering::gather_histograms() {
  std::vector<std::vector<Contributed>> gathered;
  std::map<int, int> moved;  // first component of an output -> after this
  std::map<int, const clang::VarDecl*> variables;
  for (const auto& [variable, index] : fields_) variables[index] = variable;
  for (int f = 0; f < int(pipeline_.fields.size()); ++f) {
    Field& field = pipeline_.fields[std::size_t(f)];
    if (field.role != Role::Output) continue;
    const auto begin = contributed_.begin() + field.first, end = begin + field.components();
    const int first = moved[field.first] = int(gathered.size());
    field.first = first;
    std::vector<Contributed> added;
    if (const auto found = added_to_elements_.find(variables.at(f)); found != added_to_elements_.end())
      added = found->second;
    if (added.empty() && !is_histogram(field)) {
      gathered.insert(gathered.end(), begin, end);
      continue;
    }
    for (auto parts = begin; parts != end; ++parts)
      for (const Contributed& part : *parts)
        added.push_back({part.guard,
                         cast(part.value, field.type < Type::Float ? Type::Index : (*graph_)[part.value].type, {}),
                         graph_->constant(double(parts - begin), Type::Int)});
    // A histogram that no statement adds to; see warn_unwritten().
    if (added.empty())
      added.push_back({graph_->constant(0, Type::Bool),
                       graph_->constant(0, field.type < Type::Float ? Type::Index : field.type),
                       graph_->constant(-1, Type::Int)});
    for (const Contributed& part : added) gathered.push_back({part});
    field.kind = field.is_total() ? FieldKind::Histogram : FieldKind::HistogramOfI;
    field.terms = int(added.size());
    field.reduction = Reduction::Histogram;
  }
  for (Field& field : pipeline_.fields)
    if (field.role == Role::Output && field.follows >= 0) field.follows = moved.at(field.follows);
  contributed_ = std::move(gathered);
}

}  // namespace nbcc::lowering
