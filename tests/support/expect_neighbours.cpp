// Random particles -> the neighbourhood's distances and reaches, and the contributions, both by the interpreter.
#include "tests/support/expect_neighbours.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "compiler/ir/interpret.h"
#include "compiler/ir/lattice.h"
#include "compiler/passes/prove/neighbourhood.h"

namespace nbcc::test {
namespace {

// Each node as an output, so that the interpreter tells its value.
Pipeline with_outputs(const Pipeline& pipeline, const Graph& graph, const std::vector<NodeId>& nodes) {
  Pipeline values = pipeline;
  std::erase_if(values.fields, [](const Field& f) { return f.role == Role::Output; });
  values.pair = graph;
  values.contributions.clear();
  values.finished.clear();
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    Field field;
    field.role = Role::Output;
    field.first = int(k);
    values.fields.push_back(field);
    values.contributions.push_back({.value = nodes[k]});
  }
  return values;
}

class Experiment {
 public:
  explicit Experiment(const Pipeline& pipeline)
      : pipeline_(pipeline), neighbourhood_(*prove_neighbourhood(pipeline).neighbourhood) {
    pipeline_.finished.clear();
    std::vector<NodeId> nodes;
    const auto place = [&](NodeId id) {
      if (id != kNone) nodes.push_back(id);
      return id == kNone ? -1 : int(nodes.size()) - 1;
    };
    for (const Axis& axis : neighbourhood_.axes)
      axes_.push_back({place(axis.of_i), place(axis.of_j), place(axis.length)});
    if (const NodeId cell = neighbourhood_.axes[0].cell; cell != kNone)
      for (const NodeId vector : neighbourhood_.graph[cell].args)
        for (const NodeId number : neighbourhood_.graph[vector].args) cell_.push_back(place(number));
    const Reach& r = neighbourhood_.reach;
    reach_ = {place(r.uniform), place(r.of_i), place(r.of_j)};
    values_ = with_outputs(pipeline, neighbourhood_.graph, nodes);
  }

  void run(unsigned seed) {
    random_.seed(seed);
    OracleInput input;
    input.ni = kParticles;
    input.nj = 1;
    for (int c = 0; c < pipeline_.components(Role::InputI); ++c)
      input.i.push_back(numbers(Role::InputI, c, kParticles));
    for (int c = 0; c < pipeline_.components(Role::Param); ++c) input.params.push_back(numbers(Role::Param, c, 1)[0]);
    input.j.resize(std::size_t(pipeline_.components(Role::InputJ)));
    for (int j = 0; j < kParticles; ++j) {
      for (std::size_t c = 0; c < input.j.size(); ++c) input.j[c] = numbers(Role::InputJ, int(c), 1);
      input.j_offset = j;
      const OracleOutput sums = interpret(pipeline_, input), values = interpret(values_, input);
      for (int i = 0; i < kParticles; ++i) check(sums, values, std::size_t(i));
    }
  }

  PairCounts pairs;

 private:
  static constexpr int kParticles = 24;

  // Of any sign, so that no proof may rely on lengths that are not negative.
  std::vector<double> numbers(Role role, int component, int count) {
    std::vector<double> result;
    const Type type = pipeline_.field_of(role, component).type;
    for (int k = 0; k < count; ++k) {
      const double x = std::uniform_real_distribution(-2.0, 2.0)(random_);
      result.push_back(type < Type::Float ? std::round(x) : x);
    }
    return result;
  }

  static double value(const OracleOutput& values, int place, std::size_t i) {
    return values.values[std::size_t(place)][i];
  }

  double distance(const OracleOutput& values, std::size_t i) const {
    if (!cell_.empty()) return distance_in_cell(values, i);
    double squares = 0;
    for (const auto& [of_i, of_j, length] : axes_) {
      const double d = value(values, of_j, i) - value(values, of_i, i);
      squares += std::pow(length < 0 ? d : std::remainder(d, value(values, length, i)), 2);
    }
    return std::sqrt(squares);
  }

  double distance_in_cell(const OracleOutput& values, std::size_t i) const {
    std::array<double, 9> cell{};
    for (std::size_t k = 0; k < 9; ++k) cell[k] = value(values, cell_[k], i);
    Triple d{};
    for (std::size_t k = 0; k < 3; ++k) d[k] = value(values, axes_[k][1], i) - value(values, axes_[k][0], i);
    d = Lattice(cell.data()).shortest(d);
    return std::hypot(d[0], d[1], d[2]);
  }

  double reach(const OracleOutput& values, std::size_t i) const {
    const auto [uniform, of_i, of_j] = reach_;
    switch (neighbourhood_.reach.kind) {
      case Reach::Kind::Uniform:
        return value(values, uniform, i);
      case Reach::Kind::OfI:
        return value(values, of_i, i);
      case Reach::Kind::OfJ:
        return value(values, of_j, i);
      case Reach::Kind::Max:
        return std::max(value(values, of_i, i), value(values, of_j, i));
      case Reach::Kind::Min:
        return std::min(value(values, of_i, i), value(values, of_j, i));
      case Reach::Kind::Sum:
        return value(values, of_i, i) + value(values, of_j, i);
    }
    return 0;
  }

  void check(const OracleOutput& sums, const OracleOutput& values, std::size_t i) {
    bool contributes = false;
    const std::vector<const Field*> outputs = pipeline_.fields_of(Role::Output);
    for (std::size_t c = 0; c < outputs.size(); ++c) {
      const Reduction reduction = outputs[c]->reduction;
      const double nothing = keeps_index(reduction) ? -1 : identity<double>(reduction);
      contributes = contributes || sums.values[c][i] != nothing;
    }
    ++(contributes ? pairs.contributing : pairs.others);
    const double limit = reach(values, i);
    if (!contributes || std::isnan(limit)) return;
    EXPECT_LE(distance(values, i), limit * (1 + 1e-12) + 1e-12);
  }

  Pipeline pipeline_, values_;
  Neighbourhood neighbourhood_;
  std::vector<std::array<int, 3>> axes_;
  std::vector<int> cell_;  // the numbers of its vectors, if there is one
  std::array<int, 3> reach_;
  std::mt19937 random_;
};

}  // namespace

PairCounts expect_neighbours(const Pipeline& pipeline, unsigned draws) {
  Experiment experiment(pipeline);
  for (unsigned seed = 1; seed <= draws; ++seed) experiment.run(seed);
  return experiment.pairs;
}

}  // namespace nbcc::test
