// The interpreter's answer for a pipeline of the library and particles that a test makes, with the sizes of the terms
// and how far rounding may carry a device's answer from it. Its one door is Oracle.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/source/parse.h"
#include "tests/support/experiment.h"
#include "tests/support/rounding.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {

class Oracle {
 public:
  explicit Oracle(const std::string& pipeline) : pipeline_(parse(read_source(pipeline_path(pipeline)))) {}

  const Pipeline& pipeline() const { return pipeline_; }

  // The particles and parameters as interpret() takes them.
  OracleInput columns_of(const Particles& particles) const {
    OracleInput input;
    input.ni = particles.ni;
    input.nj = particles.nj;
    input.i_offset = particles.i_offset;
    input.j_offset = particles.j_offset;
    for (const Field& field : pipeline_.fields) {
      if (field.role == Role::Output) continue;
      if (field.role == Role::Param) {
        const auto given = particles.params.find(field.name);
        const std::vector<double>& values = given == particles.params.end() ? field.defaults : given->second;
        input.params.insert(input.params.end(), values.begin(), values.end());
        continue;
      }
      const std::vector<double>& values = particles.fields.at(field.name);
      const auto width = std::size_t(field.components());
      auto& side = field.role == Role::InputI ? input.i : input.j;
      for (std::size_t c = 0; c < width; ++c) {
        auto& column = side.emplace_back();
        for (std::size_t k = c; k < values.size(); k += width) column.push_back(values[k]);
      }
    }
    return input;
  }

  struct Answer {
    Values values;      // as a run's
    Values magnitudes;  // sum of |term| of a sum, |value| of a minimum or maximum; before finish()
  };

  Answer operator()(const Particles& particles) const {
    const OracleInput input = columns_of(particles);
    return rows_of(interpret(pipeline_, input), particles.ni);
  }

  // How far each output may be from the oracle's: the running errors of rounding.h, carried through finish().
  Values bounds(const Particles& particles, nbcc_precision precision, Inputs inputs = Inputs::Exact) const {
    const OracleInput input = columns_of(particles);
    const double scale = epsilon(precision) / epsilon(NBCC_SINGLE);
    std::vector<std::vector<double>> bounds = reduction_errors(pipeline_, input, inputs);
    for (auto& column : bounds) std::for_each(column.begin(), column.end(), [&](double& b) { b *= scale; });
    if (!pipeline_.finished.empty()) {
      Pipeline unfinished = pipeline_;
      unfinished.finished.clear();
      bounds = finished_bounds(input, interpret(unfinished, input).values, bounds, kRoundings * epsilon(precision));
    }
    OracleOutput result{bounds, bounds};
    return rows_of(result, particles.ni).values;
  }

 private:
  Answer rows_of(const OracleOutput& output, std::int64_t ni) const {
    Answer answer;
    for (const Field& field : pipeline_.fields) {
      if (field.role != Role::Output) continue;
      for (std::int64_t i = 0; i < ni; ++i) {
        for (int c = 0; c < field.components(); ++c) {
          const auto component = std::size_t(field.first + c);
          answer.values[field.name].push_back(output.values[component][std::size_t(i)]);
          answer.magnitudes[field.name].push_back(output.magnitudes[component][std::size_t(i)]);
        }
      }
    }
    return answer;
  }

  // finish() alone, as a pipeline of its own: output c of the single j is its input c.
  Pipeline finish_alone() const {
    Pipeline alone = pipeline_;
    alone.pair = Graph();
    std::erase_if(alone.fields, [](const Field& field) { return field.role == Role::InputJ; });
    std::vector<Field> given;
    for (Field& field : alone.fields) {
      if (field.role != Role::Output) continue;
      field.reduction = Reduction::Sum;
      given.push_back(field);
      given.back().role = Role::InputJ;
      given.back().name += "_given";
    }
    alone.fields.insert(alone.fields.end(), given.begin(), given.end());
    for (std::size_t c = 0; c < alone.contributions.size(); ++c) {
      alone.contributions[c] = {alone.pair.leaf(Op::InputJ, std::int64_t(c), Type::Real), kNone, kNone};
    }
    return alone;
  }

  std::vector<std::vector<double>> finished_bounds(OracleInput input, const std::vector<std::vector<double>>& sums,
                                                   const std::vector<std::vector<double>>& errors,
                                                   double relative) const {
    const Pipeline alone = finish_alone();
    const std::size_t outputs = sums.size();
    std::vector<std::vector<double>> bounds(outputs, std::vector<double>(std::size_t(input.ni)));
    input.nj = 1;
    input.j.assign(outputs, std::vector<double>(1));
    for (std::int64_t i = 0; i < input.ni; ++i) {
      const auto k = std::size_t(i);
      const std::int64_t which[] = {i};
      for (std::size_t c = 0; c < outputs; ++c) input.j[c][0] = sums[c][k];
      const OracleOutput centre = interpret(alone, input, which);
      for (std::size_t c = 0; c < outputs; ++c) bounds[c][k] = relative * std::fabs(centre.values[c][0]);
      for (std::size_t moved = 0; moved < outputs; ++moved) {
        for (const double sign : {-1.0, 1.0}) {
          input.j[moved][0] = sums[moved][k] + sign * errors[moved][k];
          const OracleOutput there = interpret(alone, input, which);
          for (std::size_t c = 0; c < outputs; ++c) {
            const double change = std::fabs(there.values[c][0] - centre.values[c][0]);
            if (std::isfinite(change)) bounds[c][k] += change;
          }
        }
        input.j[moved][0] = sums[moved][k];
      }
    }
    return bounds;
  }

  Pipeline pipeline_;
};

}  // namespace nbcc::test
