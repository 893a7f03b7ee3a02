// The interpreter's answer for a pipeline of the library and particles that a test makes, with the sizes of the terms
// and how far rounding may carry a device's answer from it, as `nbcc verify` says. Its entry point is Oracle.
#pragma once
#include <numeric>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/source/parse.h"
#include "particles/error_bounds/error_bound.h"
#include "tests/support/experiment.h"

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
    input.params.resize(std::size_t(pipeline_.components(Role::Param)));
    for (const Field& field : pipeline_.fields) {
      if (field.role == Role::Output) continue;
      if (field.role == Role::Param) {
        const auto given = particles.params.find(field.name);
        const std::vector<double>& values = given == particles.params.end() ? field.defaults : given->second;
        std::copy(values.begin(), values.end(), input.params.begin() + field.first);
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
    const OracleOutput output = interpret(pipeline_, columns_of(particles));
    return {rows_of(output.values), rows_of(output.magnitudes)};
  }

  // How far each output may be from the oracle's, on any device.
  Values bounds(const Particles& particles, nbcc_precision precision) const {
    std::vector<std::int64_t> all(static_cast<std::size_t>(particles.ni));
    std::iota(all.begin(), all.end(), 0);
    const Options options{.precision = Precision(int(precision))};
    return rows_of(expect(pipeline_, columns_of(particles), all, options, Target{.fused = false}).bound);
  }

 private:
  Values rows_of(const Figures& columns) const {
    Values rows;
    for (const Field& field : pipeline_.fields) {
      if (field.role != Role::Output) continue;
      std::vector<double>& values = rows[field.name];
      if (field.is_histogram()) {
        values = columns[std::size_t(field.first)];
        continue;
      }
      for (std::size_t i = 0; i < columns[std::size_t(field.first)].size(); ++i)
        for (int c = 0; c < field.components(); ++c) values.push_back(columns[std::size_t(field.first + c)][i]);
    }
    return rows;
  }

  Pipeline pipeline_;
};

}  // namespace nbcc::test
