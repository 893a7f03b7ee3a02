// Graphs of one pipeline -> graphs of another in which the particles stand elsewhere: for adjoint pipelines, whose
// j-particles may be what were the i-particles. Part of adjoint.cpp.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// What cannot be differentiated, in words for the caller.
struct InvalidAdjoint {
  std::string message;
};

// Which particles the derivatives are of.
enum class AdjointSide : std::uint8_t {
  I,       // inputs of i, each a sum over j; params: for each i its part, to be added up
  J,       // inputs of j, each a sum over i: the roles are exchanged, what was i is the new pipeline's j
  OneSet,  // inputs of both where i and j are the same particles in the same order: one sum for all of them. Fields
           // of like names, xi and xj, are one; other fields of a side are known to both, as NAME_i or NAME_j on the
           // other
};

// What a field of an adjoint pipeline holds. `of` names a field of the first pipeline, or an output of its forward
// pipeline.
enum class AdjointMeaning : std::uint8_t {
  Value,      // the field `of` itself
  Given,      // an input: the derivative of L by the output `of`
  Saved,      // an input: the output `of` of the forward pipeline, which itself has it as an output
  Derivative  // an output: the derivative of L by the input or param `of`
};
struct AdjointField {
  Field field;
  AdjointMeaning meaning = AdjointMeaning::Value;
  std::string of;
  std::string partner;  // of an input `of`: the name of its partner_of(); "": it has none
};

// The input of the other side that is the same array where i and j are one set: xi and xj; x and x_j, x_i and x. None:
// null. The partner of the partner is the field.
const Field* partner_of(const Pipeline& pipeline, const Field& field);

// The name, or name_2, name_3 ...: the first that is not taken.
std::string free_name(const std::string& name, const std::function<bool(const std::string&)>& is_taken);

// Copies nodes, leaves by a rule. With `signs`, signs are drawn out of products and differences and roundings, so that
// what is odd or even in the distance, f(x_j - x_i) and f(x_i - x_j), meets itself in the target.
class Exchange {
 public:
  using Leaf = std::function<NodeId(const Node&)>;
  Exchange(const Graph& from, Graph& to, Leaf leaf, bool signs)
      : from_(from), to_(to), leaf_(std::move(leaf)), signs_(signs), done_(std::size_t(from.size())) {}

  NodeId operator()(NodeId id);

 private:
  struct Signed {
    NodeId id = kNone;
    bool negative = false;
  };
  Signed copy(const Node& node);
  Signed copy_signed(const Node& node);
  NodeId plain(Signed value);
  NodeId make(const Node& node, std::array<NodeId, 3> args);
  bool stands_there(Op op, Type type, NodeId a, NodeId b);

  const Graph& from_;
  Graph& to_;
  Leaf leaf_;
  bool signs_;
  std::vector<Signed> done_;
};

// Which field of an adjoint pipeline each input of the first pipeline has become.
class Sites {
 public:
  // `extras`: further inputs of i, whose names no field of the pipeline has. `raw`: by output component, which
  // component of the extras is its value before finish(); -1: none.
  Sites(const Pipeline& pipeline, const std::vector<AdjointField>& extras, std::vector<int> raw, AdjointSide side);

  const std::vector<AdjointField>& fields() const { return fields_; }
  // `exchanged`: in the copy where the roles of i and j are exchanged; of one set there are two.
  NodeId extra(Graph& graph, int component, bool exchanged) const;
  NodeId j_index(Graph& graph, bool exchanged) const;
  // The input or param of the particle that derivatives are of.
  NodeId variable(Graph& graph, Op op, int component) const;
  Exchange copy_of_pair(const Graph& from, Graph& to, bool exchanged) const;
  // In `from` an input of a pair stands for a component of the extras.
  Exchange copy_of_finish(const Graph& from, Graph& to, bool exchanged) const;

 private:
  bool i_stays(bool exchanged) const { return side_ == AdjointSide::I || (side_ == AdjointSide::OneSet && !exchanged); }
  void keep_sides();
  void unite();
  NodeId leaf(Graph& graph, const Node& node, bool exchanged) const;

  const Pipeline& old_;
  const std::vector<AdjointField>& extras_;
  std::vector<int> raw_;
  AdjointSide side_;
  std::vector<AdjointField> fields_;
  std::vector<int> place_of_i_, place_of_j_;  // by component of an input: its component in the new pipeline
  std::vector<Type> extra_types_;
  int first_extra_ = 0;
};

}  // namespace nbcc
