// Pipeline -> text: the fields, the common guards of all outputs, the statements, finish(). Entry point:
// pipeline_text(). node_form.cpp writes nodes, pipeline_statements.cpp chooses the statements. Variables are named in
// the order in which the text needs them, so that parsing the text and writing it again gives the same text.
#include "compiler/ir/text/pipeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "compiler/ir/text/node_form.h"
#include "compiler/ir/text/pipeline_statements.h"
#include "compiler/ir/text/total_statements.h"

namespace nbcc {
namespace {

// Characters. A longer value is assigned to a variable, so that lines stay below about 120 characters.
constexpr std::size_t kMaxLength = 56;

// ---- fields ----

std::string type_text(const Field& field) {
  return field.width > 1 ? fmt::format("vec{}", field.width) : std::string(name(field.type));
}

// One element of a param's default.
std::string element_text(const Field& field, std::size_t first) {
  const auto number = [&](std::size_t k) {
    const double value = field.defaults.at(k);
    if (std::isnan(value))
      throw std::runtime_error(fmt::format("the default of '{}' cannot be written: it is NaN", field.name));
    return literal(value, field.type, Typed::FromContext).text;
  };
  if (field.width == 1) return number(first);
  std::string text;
  for (int c = 0; c < field.width; ++c) text += (c > 0 ? ", " : "") + number(first + std::size_t(c));
  return fmt::format("{}({})", type_text(field), text);
}

// Zeros at the end are not written, because C++ fills a list with zeros; long tables would otherwise exceed the limits.
std::string list_text(const Field& field, std::size_t first, int count) {
  const auto is_zero = [&](int k) {
    for (int c = 0; c < field.width; ++c) {
      const double value = field.defaults.at(first + std::size_t(k * field.width + c));
      if (value != 0 || std::signbit(value)) return false;
    }
    return true;
  };
  while (count > 1 && is_zero(count - 1)) --count;
  std::string text;
  for (int k = 0; k < count; ++k)
    text += (k > 0 ? ", " : "") + element_text(field, first + std::size_t(k * field.width));
  return "{" + text + "}";
}

std::string default_text(const Field& field) {
  if (field.length == 0) return element_text(field, 0);
  if (field.columns == 0) return list_text(field, 0, field.length);
  std::string text;
  for (int row = 0; row < field.length / field.columns; ++row)
    text += (row > 0 ? ", " : "") + list_text(field, std::size_t(row * field.columns * field.width), field.columns);
  return "{" + text + "}";
}

std::string declaration(const Field& field) {
  std::string text(name(field.role));
  if (field.role == Role::Output) text += fmt::format("({})", reduction_text(field));
  text += fmt::format(" {} {}", type_text(field), field.name);
  if (field.columns > 0)
    text += fmt::format("[{}][{}]", field.length / field.columns, field.columns);
  else if (field.length > 0)
    text += fmt::format("[{}]", field.length);
  if (!field.defaults.empty()) text += " = " + default_text(field);
  text += ';';
  if (!field.comment.empty()) text += "  // " + field.comment;
  return text + '\n';
}

std::string head(const Pipeline& pipeline) {
  std::string text;
  if (pipeline.flops) text += fmt::format("#pragma flops {}\n", *pipeline.flops);
  for (const Field& field : pipeline.fields) {
    if (pipeline.dialect == Dialect::Named) {
      text += declaration(field);
    } else {
      const char side = field.role == Role::InputI ? 'I' : field.role == Role::InputJ ? 'J' : 'F';
      text += fmt::format("#define {}DIM {}\n", side, field.length);
    }
  }
  return text + '\n';
}

// ---- text ----

// Names of variables: t0, t1, ..., except names of fields.
class Names {
 public:
  explicit Names(const Pipeline& pipeline) : pipeline_(pipeline) {}
  std::string next() {
    for (;;) {
      const std::string name = fmt::format("t{}", count_++);
      if (!pipeline_.find(name)) return name;
    }
  }

 private:
  const Pipeline& pipeline_;
  int count_ = 0;
};

// Writes the statements of one graph. A variable is defined before the first statement that uses it.
class PipelineWriter {
 public:
  PipelineWriter(const Pipeline& pipeline, const Graph& graph, Names& names)
      : forms_(pipeline, graph), graph_(graph), names_(names), nodes_(std::size_t(graph.size())) {}

  std::string text;

  // Counts the uses of nodes; must be called for all statements before the first is written.
  void count(const Statement& statement) {
    std::vector<NodeId> open;
    for (const Value& value : statement.values) open.push_back(value.id);
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (arity(graph_[id].op) == 0 || ++nodes_[std::size_t(id)].uses > 1) continue;
      for (const Form::Operand& operand : form_of(id).operands) open.push_back(operand.id);
    }
  }

  void rename(NodeId leaf, const std::string& indent) {
    const std::string name = names_.next();
    text += fmt::format("{}{} {} = {};\n", indent, type_name(leaf), name, forms_.atom(leaf)->text);
    forms_.renamed[leaf] = name;
  }

  void define(const Statement& statement, const std::string& indent) {
    for (const Value& value : statement.values) define(value.id, indent);
  }

  // The text of a statement whose variables have been defined.
  std::string line(const Statement& statement) const { return filled(statement.pattern, statement.values); }

 private:
  struct NodeState {
    int uses = 0;
    std::optional<Form> form;
    std::optional<Written> written;
  };

  std::string type_name(NodeId id) const {
    const Type type = graph_[id].type;
    return type == Type::Vector ? "vec3" : std::string(name(type));
  }

  const Form& form_of(NodeId id) {
    std::optional<Form>& form = nodes_[std::size_t(id)].form;
    if (!form) form = forms_.of(id);
    return *form;
  }

  template <class Operands>
  std::string filled(const std::string& pattern, const Operands& operands) const {
    std::string result;
    auto operand = operands.begin();
    for (const char c : pattern) {
      if (c != '@') {
        result += c;
        continue;
      }
      const auto& [id, least] = *operand++;
      const auto atom = forms_.atom(id);
      const Written& written = atom ? *atom : *nodes_[std::size_t(id)].written;
      // !!x is written as x. An operand of '!' is a Bool, and the only Bool of this precedence is a negation.
      const bool twice = result.ends_with('!') && written.precedence == Precedence::Sign;
      if (twice) result.pop_back();
      result += twice ? written.text.substr(1) : written.parenthesized(least);
    }
    return result;
  }

  bool is_written(NodeId id) const { return arity(graph_[id].op) == 0 || nodes_[std::size_t(id)].written.has_value(); }

  // Writes operands first, from left to right. Not recursive: graphs may be deeper than the call stack.
  void define(NodeId root, const std::string& indent) {
    std::vector<NodeId> open{root};
    while (!open.empty()) {
      const NodeId id = open.back();
      if (is_written(id)) {
        open.pop_back();
        continue;
      }
      const Form& form = form_of(id);
      const auto missing =
          std::ranges::find_if(form.operands, [&](const Form::Operand& operand) { return !is_written(operand.id); });
      if (missing != form.operands.end())
        open.push_back(missing->id);
      else
        write(id, form, id == root, indent);
    }
  }

  void write(NodeId id, const Form& form, bool is_root, const std::string& indent) {
    NodeState& node = nodes_[std::size_t(id)];
    Written written{filled(form.pattern, form.operands), form.precedence};
    const bool is_long = !is_root && written.text.size() > kMaxLength;
    if (form.has_own_line || (!form.is_never_alone && (node.uses > 1 || is_long))) {
      const std::string name = names_.next();
      text += fmt::format("{}{} {} = {};\n", indent, type_name(id), name, written.text);
      written = {name};
    }
    node.written = std::move(written);
  }

  Forms forms_;
  const Graph& graph_;
  Names& names_;
  std::vector<NodeState> nodes_;
};

std::string pair_text(const Pipeline& pipeline, Names& names) {
  const auto [skips, blocks] = pipeline_statements(pipeline);
  PipelineWriter writer(pipeline, pipeline.pair, names);
  for (const Statement& skip : skips) writer.count(skip);
  for (const StatementBlock& block : blocks) {
    if (block.guard.id != kNone) writer.count(condition_of(block.guard, "", ""));
    for (const Statement& statement : block.statements) writer.count(statement);
  }
  const auto write = [&](const Statement& statement, const std::string& end) {
    writer.define(statement, "");
    writer.text += writer.line(statement) + end;
  };
  for (const Statement& skip : skips) write(skip, ";\n");
  for (const StatementBlock& block : blocks) {
    if (block.guard.id == kNone) {
      for (const Statement& statement : block.statements) write(statement, ";\n");
      continue;
    }
    // Variables are defined before the block, because statements after the block may use them too.
    const Statement condition = condition_of(block.guard, "if (", ") {\n");
    writer.define(condition, "");
    for (const Statement& statement : block.statements) writer.define(statement, "");
    writer.text += writer.line(condition);
    for (const Statement& statement : block.statements) writer.text += "  " + writer.line(statement) + ";\n";
    writer.text += "}\n";
  }
  return std::move(writer.text);
}

// What finish() does to one output component.
struct Finished {
  int component;
  NodeId root;
  std::vector<Statement> statements;  // complete lines
};

Statement assignment(const Pipeline& pipeline, int component, NodeId root) {
  const Node& n = pipeline.finish[root];
  const std::string out = component_name(pipeline.field_of(Role::Output, component), component);
  if (n.op == Op::Const) {
    const double value = pipeline.finish.constant_value(root);
    return {fmt::format("  {} = {};", out, literal(value, n.type, Typed::FromContext).text)};
  }
  const bool drops = n.op == Op::Cast && is_integral(n.type) && !is_integral(pipeline.finish[n.args[0]].type);
  return {fmt::format("  {} = @;", out), {{n.op == Op::Cast && !drops ? n.args[0] : root}}};
}

// The components that finish() changes.
std::vector<Finished> finished_components(const Pipeline& pipeline) {
  std::vector<Finished> changed;
  for (int c = 0; c < int(pipeline.finished.size()); ++c) {
    const NodeId root = pipeline.finished[std::size_t(c)];
    const Node& n = pipeline.finish[root];
    if (n.op == Op::Output && n.payload == c) continue;
    if (pipeline.field_of(Role::Output, c).is_total())
      changed.push_back({c, root, total_statements(pipeline, c, root)});
    else
      changed.push_back({c, root, {assignment(pipeline, c, root)}});
  }
  return changed;
}

std::string finish_text(const Pipeline& pipeline, Names& names) {
  if (pipeline.finished.empty()) return {};
  const Graph& graph = pipeline.finish;
  PipelineWriter writer(pipeline, graph, names);
  const std::vector<Finished> changed = finished_components(pipeline);
  // An output that a statement reads after an earlier statement changed it is copied to a variable first.
  std::vector<bool> kept(pipeline.finished.size());
  for (std::size_t k = 1; k < changed.size(); ++k) {
    const std::vector<bool> read = reachable(graph, {changed[k].root});
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (!read[std::size_t(id)] || graph[id].op != Op::Output) continue;
      const auto end = changed.begin() + std::ptrdiff_t(k);
      const auto is_read = [&](const Finished& earlier) { return earlier.component == int(graph[id].payload); };
      if (std::any_of(changed.begin(), end, is_read)) kept[std::size_t(graph[id].payload)] = true;
    }
  }
  for (std::size_t c = 0; c < kept.size(); ++c) {
    if (!kept[c]) continue;
    for (NodeId id = 0; id < graph.size(); ++id)
      if (graph[id].op == Op::Output && graph[id].payload == std::int64_t(c)) writer.rename(id, "  ");
  }
  for (const Finished& one : changed)
    for (const Statement& statement : one.statements) writer.count(statement);
  for (const Finished& one : changed) {
    // Variables are defined before all lines, because lines in different braces may use them.
    for (const Statement& statement : one.statements) writer.define(statement, "  ");
    for (const Statement& statement : one.statements) writer.text += writer.line(statement) + "\n";
  }
  return "\nvoid finish() {\n" + writer.text + "}\n";
}

}  // namespace

std::string pipeline_text(const Pipeline& pipeline) {
  Names names(pipeline);
  std::string text = head(pipeline) + pair_text(pipeline, names);
  return text + finish_text(pipeline, names);
}

}  // namespace nbcc
