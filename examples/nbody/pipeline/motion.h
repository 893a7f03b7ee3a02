// Particles that an output of any pipeline moves.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "examples/nbody/moving.h"
#include "examples/nbody/pipeline/columns.h"
#include "examples/support/bodies.h"
#include "examples/support/device_array.h"

namespace examples {

struct PipelineChoice {
  std::string file;   // a pipeline; empty: gravity
  std::string moves;  // the output that moves the particles; empty: the only one of two or three components
  std::string as = "acceleration";  // velocity, acceleration or force
  std::string factor;               // a column that multiplies the output, such as the charge; empty: 1
  std::string colour = "speed";     // an output or a column of one component, or speed
  std::vector<std::string> params;  // "rc=3", "box=8,8,8"
  std::vector<double> range;        // the values drawn blue and red; empty: least and greatest value at the start
};

// The least and the greatest of the finite values; NaN if there are none.
std::pair<double, double> finite_range(std::span<const double> values);

// Positions and velocities of the file; masses of 1.
Bodies bodies_of(const Columns& columns);

// Positions x[3] or x[2], velocities v (0 if there are none), masses m (only for forces) are columns; every input reads
// the column of its name, or of its name less the trailing i or j. All functions throw nbcc::Error and UsageError.
class Motion final : public Moving {
 public:
  Motion(const nbcc::Device& device, const Columns& columns, const PipelineChoice& choice, nbcc_precision precision,
         double tolerance);

  // Leapfrog of accelerations and forces, the midpoint rule of velocities; both of second order.
  void step(double dt);
  std::int64_t count() const { return count_; }
  Scene scene() const override;
  // Present positions and velocities; masses of 1.
  Bodies bodies() const;
  // The values that the colours show, read by the host. Empty for the speed.
  std::vector<double> values() const;

 private:
  using Numbers = DeviceArray<double>;

  std::vector<nbcc::Field> fields() const { return pipeline_.fields(); }
  void bind_inputs(const nbcc::Device& device, const Columns& columns);
  void bind_outputs(const nbcc::Device& device, const Columns& columns);
  // v += kick * out, then to = from + drift * v.
  void push(const Numbers& from, const Numbers& to, double kick, double drift);

  PipelineChoice choice_;
  std::int64_t count_;
  bool is_velocity_ = false;
  Numbers x_, v_, out_, factor_, mass_, start_;
  std::map<std::string, std::unique_ptr<Numbers>> columns_;  // of the device, by their names in the file
  const Numbers* values_ = nullptr;                          // null: the speed
  nbcc::Pipeline pipeline_;
  nbcc::Sum sum_, push_;
  double low_ = 0, high_ = 1;
};

}  // namespace examples
