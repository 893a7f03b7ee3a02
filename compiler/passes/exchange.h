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
  // `extras`: fields of i besides. `raw`: by output component, which component of the extras is its value before
  // finish(); -1: none.
  Sites(const Pipeline& pipeline, const std::vector<Field>& extras, std::vector<int> raw, AdjointSide side);

  const std::vector<Field>& fields() const { return fields_; }
  // `exchanged`: in the copy where the roles of i and j are exchanged; of one set there are two.
  NodeId extra(Graph& graph, int component, bool exchanged) const;
  NodeId j_index(Graph& graph, bool exchanged) const;
  // The input or param of the particle that derivatives are of.
  NodeId variable(Graph& graph, Op op, int component) const;
  Exchange copy_of_pair(const Graph& from, Graph& to, bool exchanged) const;
  // In `from` an input of a pair stands for a component of the extras.
  Exchange copy_of_finish(const Graph& from, Graph& to, bool exchanged) const;
  // Of one set: whether the field is known by the name of its partner of the other side.
  bool is_second_name(const Field& field) const;

 private:
  bool i_stays(bool exchanged) const { return side_ == AdjointSide::I || (side_ == AdjointSide::OneSet && !exchanged); }
  const Field* partner(const Field& field) const;
  void unite();
  NodeId leaf(Graph& graph, const Node& node, bool exchanged) const;

  const Pipeline& old_;
  const std::vector<Field>& extras_;
  std::vector<int> raw_;
  AdjointSide side_;
  std::vector<Field> fields_;
  std::vector<int> place_of_i_, place_of_j_;  // by component of an input: its component in the new pipeline
  std::vector<Type> extra_types_;
  int first_extra_ = 0;
};

}  // namespace nbcc
