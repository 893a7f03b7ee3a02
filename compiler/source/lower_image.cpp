// Periodic images: nearest_image() in a cell, every_image() and what tells its images apart. Part of lowering
// (lower.h). Entry points: image_in_cell(), every_image(), image_index(), check_images().
#include <fmt/core.h>

#include <algorithm>

#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/facts/displacement.h"
#include "compiler/source/lower.h"

namespace nbcc::lowering {

NodeId Lowering::vector_node(const std::vector<NodeId>& parts, clang::SourceLocation where) {
  std::array<NodeId, 3> three{};
  for (std::size_t c = 0; c < 3; ++c) three[c] = c < parts.size() ? parts[c] : graph_->constant(0);
  return make(Op::Vector, Type::Vector, three, where);
}

void Lowering::require_uniform(NodeId node, const clang::Expr* argument, const std::string& function) {
  const Binding binding = (*graph_)[node].binding;
  if (binding <= Binding::Param) return;
  throw Rejected{argument->getExprLoc(),
                 fmt::format("a lattice vector of {} is the same for all pairs, made of params and constants; this one "
                             "depends on {}",
                             function,
                             binding == Binding::Pair ? "i and j"
                             : binding == Binding::I  ? "i"
                                                      : "j")};
}

// nearest_image(dx, a, b, c)
Value Lowering::image_in_cell(const clang::CallExpr* expression, const std::vector<Value>& arguments) {
  const clang::SourceLocation where = expression->getExprLoc();
  std::array<NodeId, 3> lattice{};
  for (unsigned k = 0; k < 3; ++k) {
    lattice[k] = vector_node(arguments[k + 1].parts, where);
    require_uniform(lattice[k], expression->getArg(k + 1), "nearest_image");
  }
  const NodeId cell = make(Op::Cell, Type::Cell, lattice, where);
  const NodeId image = make(Op::Image, Type::Vector, {vector_node(arguments[0].parts, where), cell, kNone}, where);
  Value result{{Type::Real, 0, 3}, {}};
  for (const Op component : {Op::X, Op::Y, Op::Z})
    result.parts.push_back(make(component, Type::Real, {image, kNone, kNone}, where));
  return result;
}

// every_image(dx, box), with a number for each component or one for all; every_image(dx, a, b), every_image(dx, a, b,
// c). The vector of the node is the difference j - i.
Value Lowering::every_image(const clang::CallExpr* expression, const std::vector<Value>& arguments) {
  const clang::SourceLocation where = expression->getExprLoc();
  if (finishing_) throw Rejected{where, "finish() runs after the sum: there is no pair"};
  Value result{{Type::Real, 0, arguments[0].shape.width}, {}};
  if (result.shape.width > 3) throw Rejected{where, "every_image takes a vector of two or three components"};
  std::vector<NodeId> difference;
  std::optional<bool> reversed;
  for (const NodeId part : arguments[0].parts) {
    difference.push_back(cast(part, Type::Real, where));
    if (graph_->is_constant(part)) continue;
    const std::optional<Difference> read = read_difference(*graph_, difference.back());
    if (!read || reversed.value_or(read->reversed) != read->reversed)
      throw Rejected{expression->getArg(0)->getExprLoc(),
                     "every_image takes the difference of a position of j and a position of i, as xj - xi"};
    reversed = read->reversed;
  }
  const bool is_reversed = reversed.value_or(false);
  if (is_reversed)
    for (NodeId& part : difference) part = unary(Op::Neg, part, where);
  std::array<NodeId, 3> lattice{};
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<NodeId> vector(3, graph_->constant(0));
    if (arguments.size() > 2) {
      if (k + 1 < arguments.size()) vector = arguments[k + 1].parts;
    } else if (k < difference.size()) {
      const std::vector<NodeId>& box = arguments[1].parts;
      vector[k] = cast(box[box.size() == 1 ? 0 : k], Type::Real, where);
    }
    lattice[k] = vector_node(vector, where);
    require_uniform(lattice[k], expression->getArg(unsigned(std::min(k + 1, arguments.size() - 1))), "every_image");
  }
  const NodeId cell = make(Op::Cell, Type::Cell, lattice, where);
  const NodeId image = make(Op::EveryImage, Type::Vector, {vector_node(difference, where), cell, kNone}, where);
  for (int c = 0; c < result.shape.width; ++c) {
    const NodeId part = make(Op(int(Op::X) + c), Type::Real, {image, kNone, kNone}, where);
    result.parts.push_back(is_reversed ? unary(Op::Neg, part, where) : part);
  }
  return result;
}

Value Lowering::image_index(const clang::CallExpr* expression, const Value& k) {
  const clang::SourceLocation where = expression->getExprLoc();
  if (finishing_) throw Rejected{where, "finish() runs after the sum: there is no pair"};
  const bool is_constant = graph_->is_constant(k.parts[0]);
  const double number = is_constant ? graph_->constant_value(k.parts[0]) : -1;
  if (number != 0 && number != 1 && number != 2)
    throw Rejected{expression->getArg(0)->getExprLoc(),
                   "image_index takes the number of a periodic vector, a constant from 0 to 2"};
  return {{Type::Int, 0, 1}, {graph_->leaf(Op::ImageIndex, std::int64_t(number), Type::Int, location(where))}};
}

// The text has one every_image(), if any; without it self_pair is i_index == j_index.
void Lowering::check_images() {
  const Graph& graph = pipeline_.pair;
  const std::vector<bool> needed = reachable(graph, pipeline_.roots());
  NodeId image = kNone;
  const auto reject = [&](NodeId at, const std::string& message) {
    diagnostics_.push_back({Severity::Error, graph[at].where, message});
  };
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph[id];
    if (!needed[std::size_t(id)]) continue;
    if (n.op == Op::EveryImage && image != kNone)
      return reject(id,
                    "a text has one every_image() for all its pairs; this one has another difference or other "
                    "periodic vectors than that of line " +
                        std::to_string(graph[image].where.line));
    if (n.op == Op::EveryImage) image = id;
  }
  if (image == kNone) {
    for (NodeId id = 0; id < graph.size(); ++id)
      if (needed[std::size_t(id)] && graph[id].op == Op::ImageIndex)
        return reject(id, "image_index() tells the images of every_image() apart, which this text does not call");
    return replace_self_pair(pipeline_);
  }
  if (const auto test = comparison_of_indices(graph, needed))
    reject(*test,
           "with every_image() this holds for all images of a particle; write self_pair, which holds for the "
           "pair of a particle with itself");
  for (const Field& field : pipeline_.fields)
    if (field.is_pair_result())
      reject(image, "a text with every_image() has no output(pair): listed pairs do not say which image acts");
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!needed[std::size_t(id)]) continue;
    if (graph[id].op == Op::Image) return reject(id, "a text with every_image() has no nearest_image()");
    if (graph[id].op == Op::InputPair)
      return reject(id, "a text with every_image() has no input_pair: listed pairs do not say which image acts");
  }
}

}  // namespace nbcc::lowering
