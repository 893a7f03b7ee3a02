// Columns and a pipeline -> particles in motion. Entry point: Motion. Draws nothing.
#include "examples/nbody/pipeline/motion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "examples/support/failure.h"
#include "examples/support/open_sum.h"
#include "examples/support/words.h"

namespace examples {
namespace {

// Three numbers of each particle from a column of two or three.
std::vector<double> in_space(const Column& column, const Columns& columns, const std::string& name) {
  if (column.width != 2 && column.width != 3)
    throw UsageError("'" + columns.file + "': column '" + name + "' has " + std::to_string(column.width) +
                     (column.width == 1 ? " number" : " numbers") + " of each particle, expected 2 or 3: '" + name +
                     "[3]' in the names of the columns");
  std::vector<double> result(std::size_t(3 * columns.count));
  for (std::int64_t k = 0; k < columns.count; ++k)
    std::copy_n(&column.values[std::size_t(k * column.width)], column.width, &result[std::size_t(3 * k)]);
  return result;
}

// The name of the column that a field reads: the field's name, or the field's name less i or j.
std::string column_of(const Columns& columns, const nbcc::Field& field) {
  if (columns.find(field.name)) return field.name;
  const bool has_side = field.name.size() > 1 && (field.name.ends_with('i') || field.name.ends_with('j'));
  return has_side ? field.name.substr(0, field.name.size() - 1) : field.name;
}

bool is_vector(const nbcc::Field& field) { return field.components == 2 || field.components == 3; }

std::string names_of(const std::vector<nbcc::Field>& fields, nbcc_role role) {
  std::string names;
  for (const nbcc::Field& field : fields)
    if (field.role == role) names += (names.empty() ? "" : ", ") + field.name;
  return names;
}

std::string moving_output(const std::vector<nbcc::Field>& fields, const std::string& wanted) {
  std::vector<std::string> found;
  for (const nbcc::Field& field : fields) {
    if (field.role != NBCC_OUTPUT || field.total || !is_vector(field)) continue;
    if (wanted.empty() || field.name == wanted) found.push_back(field.name);
  }
  if (found.size() == 1) return found[0];
  throw UsageError("--moves: expected the name of an output of two or three components, got '" + wanted +
                   "'; the pipeline's outputs: " + names_of(fields, NBCC_OUTPUT));
}

// "box=8,8,8"
void set_param(nbcc::Sum& sum, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  std::vector<double> values;
  if (equals != std::string::npos)
    for (const std::string& word : split(assignment.substr(equals + 1)).words)
      if (const std::optional<double> value = number_in(word)) values.push_back(*value);
  if (values.empty()) throw UsageError("--param: expected NAME=NUMBER, got '" + assignment + "'");
  sum.set(assignment.substr(0, equals), std::span<const double>(values));
}

}  // namespace

std::pair<double, double> finite_range(std::span<const double> values) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::pair<double, double> range{kNone, kNone};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    range.first = std::fmin(range.first, value);
    range.second = std::fmax(range.second, value);
  }
  return range;
}

Bodies bodies_of(const Columns& columns) {
  Bodies bodies{
      std::vector<double>(std::size_t(columns.count), 1.0), {}, std::vector<double>(std::size_t(3 * columns.count))};
  bodies.x = in_space(columns.at("x", "the positions"), columns, "x");
  if (const Column* const velocity = columns.find("v")) bodies.v = in_space(*velocity, columns, "v");
  return bodies;
}

Motion::Motion(const nbcc::Device& device, const Columns& columns, const PipelineChoice& choice,
               nbcc_precision precision, double tolerance)
    : choice_(choice),
      count_(columns.count),
      is_velocity_(choice.as == "velocity"),
      x_(device, count_, 3),
      v_(device, count_, 3),
      out_(device, count_, 3),
      factor_(device, count_),
      mass_(device, count_),
      start_(device, count_, 3),
      pipeline_(nbcc::Pipeline::from_file(device, choice.file, {.precision = precision})),
      sum_(pipeline_),
      push_(open_sum(device, "examples/nbody/pipeline/push.pipe", NBCC_DOUBLE)) {
  const Bodies start = bodies_of(columns);
  x_.write(start.x);
  v_.write(start.v);
  const auto number_or_1 = [&](const std::string& name, const std::string& purpose) {
    if (name.empty()) return std::vector<double>(std::size_t(count_), 1.0);
    const Column& column = columns.at(name, purpose);
    if (column.width != 1)
      throw UsageError("column '" + name + "' for " + purpose + ": expected one number of each particle");
    return column.values;
  };
  factor_.write(number_or_1(choice.factor, "--factor"));
  mass_.write(number_or_1(choice.as == "force" ? "m" : "", "the masses, on which forces act"));
  for (const std::string& assignment : choice.params) set_param(sum_, assignment);
  bind_inputs(device, columns);
  bind_outputs(device, columns);
  sum_.tolerance(tolerance);
  push_.bind("vi", v_.view()).bind("out", out_.view()).bind("factor", factor_.view()).bind("mi", mass_.view());
  push_.bind("v", v_.view()).counts(count_, 0);
  sum_.run();
  if (!values_) return;
  const auto [least, most] = finite_range(values());
  low_ = choice.range.empty() ? std::isnan(least) ? 0 : least : choice.range[0];
  high_ = choice.range.empty() ? most : choice.range[1];
  if (!(high_ > low_)) high_ = low_ + 1;
}

void Motion::bind_inputs(const nbcc::Device& device, const Columns& columns) {
  for (const nbcc::Field& field : fields()) {
    if (field.role != NBCC_INPUT_I && field.role != NBCC_INPUT_J) continue;
    const std::string name = column_of(columns, field);
    const Column& column = columns.at(name, "input '" + field.name + "' of the pipeline");
    if (column.width < field.components)
      throw UsageError("column '" + name + "' has " + std::to_string(column.width) +
                       " numbers of each particle, input '" + field.name + "' of the pipeline reads " +
                       std::to_string(field.components));
    if (name == "x" || name == "v") {
      sum_.bind(field.name, (name == "x" ? x_ : v_).view());
      continue;
    }
    if (field.integral)
      throw UsageError("input '" + field.name + "' is an integer; pictures take pipelines of real inputs");
    std::unique_ptr<Numbers>& array = columns_[name];
    if (!array) {
      array = std::make_unique<Numbers>(device, count_, column.width);
      array->write(column.values);
    }
    sum_.bind(field.name, array->view());
  }
}

void Motion::bind_outputs(const nbcc::Device& device, const Columns& columns) {
  const std::vector<nbcc::Field> fields = this->fields();
  const std::string moving = moving_output(fields, choice_.moves);
  if (choice_.colour != "speed") {
    const bool is_input = columns_.contains(choice_.colour);
    const bool is_output = !is_input && std::ranges::any_of(fields, [&](const nbcc::Field& field) {
      return field.role == NBCC_OUTPUT && field.name == choice_.colour && field.components == 1 && !field.total;
    });
    const Column* const column = is_output ? nullptr : columns.find(choice_.colour);
    if (!is_output && !column)
      throw UsageError("--colour: expected speed, a column or an output of one component, got '" + choice_.colour +
                       "'; the pipeline's outputs: " + names_of(fields, NBCC_OUTPUT));
    if (column && column->width != 1)
      throw UsageError("--colour: column '" + choice_.colour + "' has several numbers of each particle");
    if (!is_input) {
      columns_[choice_.colour] = std::make_unique<Numbers>(device, count_);
      if (column) columns_[choice_.colour]->write(column->values);
    }
    values_ = columns_.at(choice_.colour).get();
  }
  for (const nbcc::Field& field : fields) {
    if (field.role != NBCC_OUTPUT) continue;
    if (field.name == moving)
      sum_.bind(field.name, (is_velocity_ ? v_ : out_).view());
    else if (field.name == choice_.colour && values_)
      sum_.bind(field.name, values_->view());
    else
      sum_.ignore(field.name);
  }
}

void Motion::push(const Numbers& from, const Numbers& to, double kick, double drift) {
  push_.bind("xi", from.view()).bind("x", to.view()).set("kick", kick).set("drift", drift).run();
}

void Motion::step(double dt) {
  if (is_velocity_) {
    push(x_, start_, 0, 0);
    push(start_, x_, 0, dt / 2);
    sum_.run();
    push(start_, x_, 0, dt);
    sum_.run();
    return;
  }
  push(x_, x_, dt / 2, dt);
  sum_.run();
  push(x_, x_, dt / 2, 0);
}

Scene Motion::scene() const {
  if (!values_) return {x_.view(), v_.view()};
  return {x_.view(), v_.view(), values_->view(), low_, high_};
}

Bodies Motion::bodies() const { return {std::vector<double>(std::size_t(count_), 1.0), x_.all(), v_.all()}; }

std::vector<double> Motion::values() const { return values_ ? values_->all() : std::vector<double>{}; }

}  // namespace examples
