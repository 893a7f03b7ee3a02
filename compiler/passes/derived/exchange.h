// Graphs of one pipeline -> graphs of another one in which i and j may have exchanged roles, for adjoint pipelines and
// for pipelines with reactions. Part of adjoint.cpp and reactions.cpp.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// Why a pipeline cannot be differentiated; the message is for the caller.
struct InvalidAdjoint {
  std::string message;
};

// The particles that derivatives are computed for.
enum class AdjointSide : std::uint8_t {
  I,  // inputs of i and of pairs: sums over j. Params: for each i its contribution, which the caller adds up over i
  J,  // inputs of j: sums over i. The roles are exchanged: i of the first pipeline is j of the new one
  Tangent,  // no adjoint, but the rates of the outputs when inputs and params change at given rates: forward mode
  OneSet,   // inputs of i and j, which are the same particles in the same order: one sum over all. Partner fields such
            // as xi and xj become one; a field without a partner is added to the other side as NAME_i or NAME_j
};

// The content of a field of an adjoint pipeline. `of` names a field of the first pipeline, or an output of its forward
// pipeline.
enum class AdjointMeaning : std::uint8_t {
  Value,      // the field `of` itself
  Given,      // an input: dL/d(output `of`); for Tangent the rate of the input or param `of`
  Saved,      // the saved result `of`: an output of the forward pipeline, an input of adjoints
  Derivative  // an output: dL/d(input or param `of`); for Tangent the rate of the output `of`
};
struct AdjointField {
  Field field;
  AdjointMeaning meaning = AdjointMeaning::Value;
  std::string of;
  // If `of` is an input: the name of its partner_of(), or "" if it has none. Of a saved result that has the values of
  // each i which an output(total) reduces: that output.
  std::string partner;
};

// The outputs that L depends on, and the fields to differentiate by. Empty `of`: all real outputs whose reduction has a
// derivative. Empty `by`: all real inputs and params of the side. `of` may also name the additional outputs of the
// forward pipeline. An invalid name throws InvalidAdjoint, and so does a derivative of more than kMaxNodes operations.
// A derivative by a param is a total; with params_of_each_i it has a row for each i, and on the side of j the params
// that `by` names are inputs of the first pipeline's i.
struct AdjointChoice {
  std::vector<std::string> of, by;
  bool params_of_each_i = false;
};

struct Adjoint {
  Pipeline pipeline;
  std::vector<AdjointField> fields;  // of the pipeline, in its order
  AdjointSide side = AdjointSide::I;
};

// The input of the other side that holds the same array if i and j are one set: xi and xj; x and x_j; x_i and x;
// INPUT_I and INPUT_J. Null if there is none. The relation is symmetric.
const Field* partner_of(const Pipeline& pipeline, const Field& field);

// The operation of an input's or a param's leaf.
Op leaf_op(Role role);

// `name`, or else the first of name_2, name_3 ... that is not taken.
std::string free_name(const std::string& name, const std::function<bool(const std::string&)>& is_taken);

// Copies nodes; a function maps the leaves. With `signs`, signs are pulled out of products, differences and roundings,
// so that an odd or even function of the displacement, f(x_j - x_i) and f(x_i - x_j), is one node in the target.
class Exchange {
 public:
  using Leaf = std::function<NodeId(const Node&)>;
  // `swaps`: i and j exchange their roles. `is_differentiated`: the copies will be. Then min(a, b) and min(b, a)
  // are two nodes, since their derivatives differ where a = b, and so are abs(x) and abs(-x), which differ at 0.
  Exchange(const Graph& from, Graph& to, Leaf leaf, bool signs, bool swaps, bool is_differentiated = false)
      : from_(from),
        to_(to),
        leaf_(std::move(leaf)),
        signs_(signs),
        swaps_(swaps),
        is_differentiated_(is_differentiated),
        done_(std::size_t(from.size())) {}

  NodeId operator()(NodeId id);

 private:
  struct Signed {
    NodeId id = kNone;
    bool negative = false;
  };
  Signed copy(const Node& node);
  Signed copy_signed(const Node& node);
  Signed copy_image(const Node& node);
  NodeId plain(Signed value);
  NodeId exact(Signed value);
  NodeId make(const Node& node, std::array<NodeId, 3> args);
  bool is_in_target(Op op, Type type, NodeId a, NodeId b);

  const Graph& from_;
  Graph& to_;
  Leaf leaf_;
  bool signs_, swaps_, is_differentiated_;
  std::vector<Signed> done_;
  // The binary nodes of the target, as far as is_in_target() has seen them.
  std::set<std::tuple<Op, Type, NodeId, NodeId>> known_;
  NodeId known_end_ = 0;
};

// Maps each input of the first pipeline to a field of the adjoint pipeline.
class InputMap {
 public:
  // `added_inputs`: further inputs and params, in roles of the first pipeline, whose names differ from all names of the
  // pipeline; their components are numbered in one sequence. `raw`: for each output component, the component of the
  // added inputs that holds its value before finish(); -1: none.
  InputMap(const Pipeline& pipeline, const std::vector<AdjointField>& added_inputs, std::vector<int> raw,
           AdjointSide side);

  const std::vector<AdjointField>& fields() const { return fields_; }
  // Of the added inputs that are tables; the new pipeline has the tables of the first one before them.
  const std::vector<Table>& added_tables() const { return added_tables_; }
  // The index of an added table among all, by its first component among the added inputs.
  int table_of_added(int component) const;
  // `exchanged`: in the copy in which i and j have exchanged roles; OneSet makes both copies.
  NodeId added_input(Graph& graph, int component, bool exchanged) const;
  // The leaf of the new pipeline for one of the old pipeline, whose i stays i.
  NodeId of_i(Graph& graph, const Node& node) const { return leaf(graph, node, false); }
  // The same with exchanged roles.
  NodeId exchanged(Graph& graph, const Node& node) const { return leaf(graph, node, true); }
  NodeId j_index(Graph& graph, bool exchanged) const;
  // The leaf to differentiate by: an input of the new pipeline's i or of pairs, or a param; for Tangent any input.
  NodeId variable(Graph& graph, Role role, int component) const;
  Exchange copy_of_pair(const Graph& from, Graph& to, bool exchanged) const;
  // In `from`, an InputPair leaf represents a component of the added inputs; with the payload -1 - c output component c
  // of the new pipeline.
  Exchange copy_of_finish(const Graph& from, Graph& to, bool exchanged) const;

 private:
  struct AddedLeaf {
    Role role = Role::InputI;  // in the new pipeline, in the copy that is not exchanged
    int component = 0;
    Type type = Type::Real;
  };
  bool i_stays(bool exchanged) const { return side_ == AdjointSide::OneSet ? !exchanged : side_ != AdjointSide::J; }
  void keep_sides();
  void append_added(Role was, Role now);
  void merge_sides();
  NodeId leaf(Graph& graph, const Node& node, bool exchanged) const;

  const Pipeline& old_;
  const std::vector<AdjointField>& added_inputs_;
  std::vector<int> raw_;
  AdjointSide side_;
  std::vector<AdjointField> fields_;
  std::vector<int> new_component_of_i_, new_component_of_j_;  // component of an input -> component in the new pipeline
  std::vector<AddedLeaf> added_leaves_;                       // by component among the added inputs
  std::vector<Table> added_tables_;
};

}  // namespace nbcc
