// Measures the terms of a periodic sum by the interpreter. Entry point: periodic_outlook().
#include "cli/report/periodic_outlook.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "compiler/emit/copies.h"
#include "compiler/ir/interpret.h"
#include "compiler/passes/far/far_pipelines.h"
#include "compiler/periodic_length.h"
#include "runtime/error.h"
#include "runtime/far/periodic/periodic_tables.h"
#include "runtime/sum/request/formula.h"

namespace nbcc {
namespace {

// Terms of pairs of places and weights, with params that have their defaults.
class InterpretedTerms {
 public:
  InterpretedTerms(Pipeline distant, std::vector<double> params)
      : distant_(std::move(distant)), params_(std::move(params)) {
    weights_ = distant_.find("nbcc_weights_j")->components();
  }
  int weights() const { return weights_; }
  // [sum][i], with 1 as this weight of j and 0 as all others.
  std::vector<std::vector<double>> sums(int weight, int axes, std::int64_t ni, const double* of_i, std::int64_t nj,
                                        const double* of_j) const {
    OracleInput input;
    input.ni = ni, input.nj = nj, input.params = params_;
    for (int axis = 0; axis < axes; ++axis) {
      input.i.emplace_back(of_i + axis * ni, of_i + (axis + 1) * ni);
      input.j.emplace_back(of_j + axis * nj, of_j + (axis + 1) * nj);
    }
    for (int k = 0; k < weights_; ++k) input.j.emplace_back(std::size_t(nj), k == weight ? 1 : 0);
    return interpret(distant_, input).values;
  }

 private:
  Pipeline distant_;
  std::vector<double> params_;
  int weights_ = 0;
};

// The params without a default that the terms read.
std::set<std::string> unknown_params(const Pipeline& terms) {
  std::set<std::string> unknown;
  const std::vector<bool> needed = reachable(terms.pair, terms.roots());
  for (NodeId id = 0; id < terms.pair.size(); ++id) {
    const Node& node = terms.pair[id];
    if (!needed[std::size_t(id)] || (node.op != Op::Param && node.op != Op::Lookup)) continue;
    const int component = node.op == Op::Param ? int(node.payload) : terms.tables[std::size_t(node.payload)].first;
    const Field& field = terms.field_of(Role::Param, component);
    if (field.defaults.empty()) unknown.insert(field.name);
  }
  return unknown;
}

// The periodic vectors by the defaults of params; nothing if one of these is missing.
std::optional<std::vector<CellVector>> default_vectors(const Pipeline& pipeline, const CopiesLayout& layout,
                                                       std::span<const double> params) {
  std::vector<CellVector> vectors;
  for (const std::vector<Formula>& formulas : layout.periods) {
    CellVector vector{};
    double squared = 0;
    for (std::size_t axis = 0; axis < formulas.size(); ++axis) {
      for (const Formula::Step& step : formulas[axis].steps)
        if (step.op == Formula::Op::Param && pipeline.field_of(Role::Param, int(step.component)).defaults.empty())
          return {};
      vector[axis] = evaluate(formulas[axis], params);
      squared += vector[axis] * vector[axis];
    }
    if (!is_open(std::sqrt(squared))) vectors.push_back(vector);
  }
  return vectors;
}

// Periods of 1; none of a vector that is 0 in the text.
std::vector<CellVector> unit_vectors(const CopiesPipeline& copies) {
  std::vector<CellVector> vectors;
  for (std::size_t k = 0; k < std::size_t(copies.axes); ++k) {
    const auto is_zero = [&](NodeId id) { return copies.given.pair.is_constant(id, 0); };
    if (std::ranges::all_of(copies.periods[k], is_zero)) continue;
    vectors.push_back({});
    vectors.back()[k] = 1;
  }
  return vectors;
}

// The components that are not 0 at some displacements, and their outputs.
PeriodicKernel kernel_of(const Pipeline& pipeline, const FarTerms& terms, const InterpretedTerms& interpreted) {
  const int axes = int(terms.axes.size());
  std::vector<double> places;
  for (int k = 0; k < 64 * axes; ++k) places.push_back(std::sin(1 + 2.7 * k));
  const std::array<double, 3> centre{};
  std::vector<std::pair<int, int>> components;  // sum, weight
  PeriodicKernel kernel;
  std::map<std::string, int> groups;
  for (int weight = 0; weight < interpreted.weights(); ++weight) {
    const auto sums = interpreted.sums(weight, axes, 64, places.data(), 1, centre.data());
    for (const FarTerms::Part& part : terms.parts) {
      const std::vector<double>& values = sums[std::size_t(part.sum)];
      if (std::ranges::all_of(values, [](double x) { return x == 0; })) continue;
      const std::string& output = pipeline.field_of(Role::Output, part.output).name;
      components.emplace_back(part.sum, weight);
      kernel.names.push_back(output);
      kernel.groups.push_back(groups.try_emplace(output, int(groups.size())).first->second);
    }
  }
  kernel.sums = [components, axes, &interpreted](std::int64_t ni, const double* of_i, std::int64_t nj,
                                                 const double* of_j, double* sums) {
    std::map<int, std::vector<std::vector<double>>> of_weight;
    for (std::size_t c = 0; c < components.size(); ++c) {
      const auto [sum, weight] = components[c];
      if (!of_weight.contains(weight)) of_weight[weight] = interpreted.sums(weight, axes, ni, of_i, nj, of_j);
      std::ranges::copy(of_weight[weight][std::size_t(sum)], sums + std::int64_t(c) * ni);
    }
  };
  return kernel;
}

}  // namespace

PeriodicOutlook periodic_outlook(const Pipeline& pipeline, const PeriodicReading& periodic) {
  PeriodicOutlook made;
  const FarTerms& terms = *periodic.reading.terms;
  Pipeline distant = far_pipelines(periodic.copies, terms).distant;
  if (const std::set<std::string> unknown = unknown_params(distant); !unknown.empty()) {
    made.reason = fmt::format("decay and convention depend on params without defaults ({}); a run measures them",
                              fmt::join(unknown, ", "));
    return made;
  }
  std::vector<double> params(std::size_t(pipeline.components(Role::Param)), 0.0);
  bool has_defaults = false;
  for (const Field& field : pipeline.fields)
    if (field.role == Role::Param && !field.defaults.empty()) {
      std::ranges::copy(field.defaults, params.begin() + field.first);
      has_defaults = true;
    }
  try {
    const std::optional<std::vector<CellVector>> given =
        default_vectors(pipeline, copies_layout(periodic.copies), params);
    const std::vector<CellVector> vectors = given ? *given : unit_vectors(periodic.copies);
    const int axes = periodic.copies.axes;
    const std::vector<OpenExtent> extents(std::size_t(axes) - vectors.size(), {-0.5, 0.5});
    const PeriodicCell cell = make_periodic_cell(axes, vectors, extents);
    const InterpretedTerms interpreted(std::move(distant), std::move(params));
    const PeriodicKernel kernel = kernel_of(pipeline, terms, interpreted);
    made.lines = describe(kernel.names, periodic_components(cell, kernel));
    made.when = fmt::format("measured in a cell {}{}; a run measures these for its own cell and params",
                            given ? "of the default periods" : "with periods of 1",
                            has_defaults ? ", with the default params" : "");
  } catch (const UsageError& refused) {
    made.reason = refused.what();
  }
  return made;
}

}  // namespace nbcc
