// A comparison that must hold -> the upper bound that it puts on the distance of two positions, if any: r2 < rc * rc,
// 2 - r / hi > 0 with hi known to be positive, 1 / r2 > 1 / (rc * rc). Tested by
// tests/unit/compiler/passes/prove/neighbourhood_test.cpp.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/facts/displacement.h"
#include "compiler/passes/facts/power_product.h"
#include "compiler/passes/facts/signs.h"
#include "compiler/passes/facts/terms.h"
#include "compiler/passes/prove/reach.h"

namespace nbcc {

// The distance is the square root of the sum of the squared displacements along `axes`.
struct Cutoff {
  std::vector<Axis> axes;  // one to three, all different
  Reach reach;
  bool strict = false;  // distance < reach, else distance <= reach
  // If the reach includes how far sites are from the positions of the axes (sites.h): the reach between the sites, and
  // a coordinate of each site.
  std::optional<Reach> of_sites = {};
  std::set<NodeId> sites = {};
  const Reach& as_written() const { return of_sites ? *of_sites : reach; }
};

struct CutoffReading {
  std::optional<Cutoff> cutoff;
  std::string obstacle;   // why there is no cutoff, if the comparison looks like one
  bool is_limit = false;  // the obstacle is a limit of nbcc
};

class CutoffReader {
 public:
  // Adds nodes to `graph`, which belongs to a pipeline with these fields and tables.
  CutoffReader(const std::vector<Field>& fields, const std::vector<Table>& tables, Graph& graph, Signs& signs)
      : fields_(fields), tables_(tables), graph_(graph), signs_(signs), reaches_(graph, signs, tables) {}

  // Reads small < large if `strict`, else small <= large.
  CutoffReading read(NodeId small, NodeId large, bool strict);

 private:
  // max(value, 0)^exponent; for exponent 1 the value itself.
  struct Limit {
    NodeId value;
    double exponent = 1;
  };
  using Found = std::optional<Cutoff>;

  bool carries_distance(NodeId id);
  bool multiplies_by_itself(const Node& n) const;
  std::optional<Axis> squared_axis(NodeId id);
  Found sum_not_positive(const LinearSum& sum);
  Found sum_of_squares(const std::map<NodeId, double>& carrying, const LinearSum& bound);
  Found single_term(const std::map<NodeId, double>& carrying, const LinearSum& bound);
  Found at_most(NodeId id, const Limit& limit);
  Found at_least(NodeId id, const Limit& limit);
  enum class Factors : std::uint8_t { Signed, Absolute };
  Found product_compared(NodeId id, const Limit& limit, bool at_most, Factors how = Factors::Signed);
  Found finish(std::vector<Axis> axes, const Limit& limit);
  bool looks_like_distance(const LinearSum& sum);
  NodeId node_of(const Limit& limit);
  SignSet sign_of(const PowerProduct& product, NodeId* undecided);
  bool share_inputs(const std::vector<Axis>& axes, NodeId bound) const;
  Found fail(std::string obstacle);
  std::string text(NodeId id) const;

  const std::vector<Field>& fields_;
  const std::vector<Table>& tables_;
  Graph& graph_;
  Signs& signs_;
  Reaches reaches_;
  std::map<NodeId, bool> carries_;
  std::string obstacle_;
  bool is_limit_ = false;
};

}  // namespace nbcc
