// Finds the column and component that each component of each field is read from. Entry points: bind_particles(),
// columns_asked_for(), unused_numbers(). Copies no particles.
#include "particles/bind_particles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "particles/numbers.h"
#include "particles/text_words.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// "name" or "name[k]"
struct IndexedName {
  std::string name;
  std::optional<int> index;
};

IndexedName parse_indexed_name(std::string_view text, std::string_view whole) {
  const auto refuse = [&] {
    return UsageError(fmt::format("--bind: '{}' is not of the form field=column (as xi=x or INPUT_J[3]=m)", whole));
  };
  IndexedName result;
  const std::size_t open = text.find('[');
  result.name = text.substr(0, open);
  if (result.name.empty()) throw refuse();
  if (open == std::string_view::npos) return result;
  int index = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + open + 1, last, index);
  if (error != std::errc() || end != last - 1 || *end != ']' || index < 0) throw refuse();
  result.index = index;
  return result;
}

// "h", "0.5*h", "h*0.5" or "h/2": a column, and the factor and divisor of its numbers.
struct ScaledColumn {
  IndexedName column;
  double factor = 1, divisor = 1;
};

ScaledColumn parse_scaled_column(std::string_view text, std::string_view whole) {
  const auto name_of = [&](std::string_view name) {
    if (!trimmed(name).empty() && !is_number(trimmed(name))) return parse_indexed_name(trimmed(name), whole);
    throw UsageError(fmt::format(
        "--bind {}: '{}' does not name one column; a column times a number is 0.5*h, h*0.5 or h/2", whole, text));
  };
  const std::size_t at = text.find_first_of("*/");
  const std::string_view left = trimmed(text.substr(0, at)),
                         right = at == std::string_view::npos ? "" : trimmed(text.substr(at + 1));
  const bool divides = at != std::string_view::npos && text[at] == '/', number_first = !divides && is_number(left);
  // A column's own name may contain a slash.
  if (at == std::string_view::npos || (divides && !right.empty() && !is_number(right)))
    return {parse_indexed_name(trimmed(text), whole)};
  const std::string_view number = number_first ? left : right;
  const std::optional<double> value = parse_double(number);
  if (!value || !std::isfinite(*value))
    throw UsageError(fmt::format(
        "--bind {}: '{}' is not a finite number; a column times a number is 0.5*h, h*0.5 or h/2", whole, number));
  if (divides && *value == 0) throw UsageError(fmt::format("--bind {}: a column is divided by zero", whole));
  return {name_of(number_first ? right : left), divides ? 1 : *value, divides ? *value : 1};
}

struct Override {
  IndexedName field;
  ScaledColumn from;
  std::string text;
  std::string right;  // of the equals sign
  bool is_scaled() const { return from.factor != 1 || from.divisor != 1; }
};

std::vector<Override> parse_overrides(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) {
    for (const std::string_view part : split(text, ',')) {
      const std::size_t equals = part.find('=');
      const std::string_view column = equals == std::string_view::npos ? "" : part.substr(equals + 1);
      IndexedName field = parse_indexed_name(trimmed(part.substr(0, equals)), part);
      overrides.push_back(
          {std::move(field), parse_scaled_column(column, part), std::string(part), std::string(trimmed(column))});
    }
  }
  return overrides;
}

std::string describe(const InputField& field) {
  return field.components == 1 ? field.name : fmt::format("{}[{}]", field.name, field.components);
}

// "1 number", "3 numbers"
std::string numbers(int count) { return fmt::format("{} number{}", count, count == 1 ? "" : "s"); }

std::string described_side(const std::vector<InputField>& fields, bool acts) {
  std::string text;
  for (const InputField& field : fields)
    if (field.acts == acts) text += (text.empty() ? "" : ", ") + describe(field);
  return text;
}

int numbers_of_side(const std::vector<InputField>& fields, bool acts) {
  int numbers = 0;
  for (const InputField& field : fields)
    if (field.acts == acts) numbers += field.components;
  return numbers;
}

void fill(BoundField& bound, int first, ColumnComponent from, int count) {
  for (int k = 0; k < count; ++k, ++from.component) bound.from[std::size_t(first + k)] = from;
}

// The columns of single numbers that together are the vector `stem`: x, y, z for x; vx, vy, vz for v.
std::vector<std::string> cartesian_names(const std::string& stem, int components) {
  std::vector<std::string> names;
  for (int c = 0; c < components && c < 3; ++c) names.push_back((stem == "x" ? "" : stem) + "xyz"[c]);
  return names;
}

bool has_column(const ParticleTable& table, const std::string& name) {
  return table.find(name) || std::ranges::find(table.in_file, name, &ColumnOfFile::name) != table.in_file.end();
}

// The columns of single numbers for a vector field of two or three components; empty if one of them does not exist. x
// and y are no vector of two where there is a z.
std::vector<const ParticleColumn*> cartesian_columns(const InputField& field, const ParticleTable& table) {
  std::vector<const ParticleColumn*> columns;
  if (field.components < 2 || field.components > 3) return columns;
  if (field.components == 2 && has_column(table, cartesian_names(field.stem(), 3)[2])) return columns;
  for (const std::string& name : cartesian_names(field.stem(), field.components)) {
    const ParticleColumn* const column = table.find(name);
    if (!column || column->components != 1) return {};
    columns.push_back(column);
  }
  return columns;
}

// "say --bind xi=COLUMN"; for a vector also a column for each component, with the names that the table has.
std::string bind_advice(const InputField& field, const ParticleTable& table) {
  if (field.components < 2 || field.components > 3) return fmt::format("say --bind {}=COLUMN", field.name);
  std::vector<std::string> parts;
  for (int c = 0; c < field.components; ++c) {
    const std::string name = cartesian_names(field.stem(), 3)[std::size_t(c)];
    const auto is_same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
    const auto same = [&](const auto& column) { return std::ranges::equal(column.name, name, is_same); };
    const auto found = std::ranges::find_if(table.columns, same);
    const auto listed = std::ranges::find_if(table.in_file, same);
    parts.push_back(fmt::format("{}[{}]={}", field.name, c,
                                found != table.columns.end()    ? found->name
                                : listed != table.in_file.end() ? listed->name
                                                                : name));
  }
  return fmt::format("say --bind {}=COLUMN, or a column for each component, as --bind '{}'", field.name,
                     fmt::join(parts, ","));
}

class Binder {
 public:
  Binder(const std::vector<InputField>& fields, const ParticleSide& i, const ParticleSide& j)
      : fields_(fields), i_(i), j_(j) {
    for (const InputField& field : fields) {
      bound_.push_back({field.name, field.acts, std::vector<ColumnComponent>(std::size_t(field.components))});
    }
  }

  void apply(const Override& given) {
    const auto field = std::ranges::find(fields_, given.field.name, &InputField::name);
    if (field == fields_.end()) {
      throw UsageError(fmt::format("--bind {}: there is no input '{}'; there are {}{}{}", given.text, given.field.name,
                                   described_side(fields_, false), numbers_of_side(fields_, false) ? " and " : "",
                                   described_side(fields_, true)));
    }
    const ParticleSide& side = side_of(*field);
    const ParticleColumn* const column = side.table->find(given.from.column.name);
    if (given.is_scaled() && side.table->find(given.right))
      throw UsageError(
          fmt::format("--bind {0}: a column of {1} is called '{2}', so this may mean that column or a "
                      "multiple of '{3}': rename it",
                      given.text, side.path, given.right, given.from.column.name));
    if (!column) {
      throw UsageError(fmt::format("--bind {}: there is no column '{}' in {}, which has {}{}", given.text,
                                   given.from.column.name, side.path, side.table->column_names(),
                                   side.table->absence(given.from.column.name)));
    }
    const int first = given.field.index.value_or(0), column_first = given.from.column.index.value_or(0);
    const bool one = given.field.index && given.from.column.index;
    const int count = one ? 1 : given.from.column.index ? field->components : column->components;
    if (first + count > field->components || (!given.field.index && count != field->components)) {
      throw UsageError(fmt::format("--bind {}: {} has {} per particle, which do not fit {}", given.text,
                                   given.from.column.name, numbers(count), describe(*field)));
    }
    if (column_first + count > column->components) {
      throw UsageError(fmt::format("--bind {}: column '{}' has {} per particle (from 0 on)", given.text,
                                   given.from.column.name, numbers(column->components)));
    }
    if (given.is_scaled() && field->integral)
      throw UsageError(fmt::format("--bind {}: {} is of type {}, whose columns are not multiplied", given.text,
                                   field->name, field->type));
    BoundField& bound = bound_[std::size_t(field - fields_.begin())];
    for (int k = first; k < first + count; ++k)
      if (bound.from[std::size_t(k)].column)
        throw UsageError(fmt::format("--bind {}: {} has a column by another --bind", given.text, describe(*field)));
    bound.by_option = true;
    fill(bound, first, {column, column_first, given.from.factor, given.from.divisor}, count);
  }

  std::vector<BoundField> finish() {
    int next[2] = {0, 0};  // the next number of a plain array, for i and for j
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const InputField& field = fields_[f];
      const int first = next[field.acts];
      next[field.acts] += field.components;
      const auto open =
          std::ranges::count_if(bound_[f].from, [](const ColumnComponent& component) { return !component.column; });
      if (open == 0) continue;
      if (open < field.components) {
        throw UsageError(fmt::format("--bind gives only {} of the {} components of '{}'", field.components - open,
                                     field.components, field.name));
      }
      if (side_of(field).table->unnamed) {
        bind_by_order(f, first);
      } else {
        bind_by_name(f);
      }
    }
    return std::move(bound_);
  }

 private:
  const ParticleSide& side_of(const InputField& field) const { return field.acts ? j_ : i_; }

  void bind_by_order(std::size_t f, int first) {
    const InputField& field = fields_[f];
    const ParticleSide& side = side_of(field);
    const ParticleColumn& data = side.table->columns.at(0);
    const int needed = numbers_of_side(fields_, field.acts);
    if (data.components < needed) {
      throw UsageError(fmt::format(
          "{} has {} per particle, but the {}-fields need {} ({}); name its columns "
          "with --columns or choose with --bind",
          side.path, numbers(data.components), field.acts ? 'j' : 'i', needed, described_side(fields_, field.acts)));
    }
    fill(bound_[f], 0, {&data, first}, field.components);
  }

  void bind_by_name(std::size_t f) {
    const InputField& field = fields_[f];
    const ParticleSide& side = side_of(field);
    const std::string stem = field.stem();
    const ParticleColumn* column = side.table->find(field.name);
    if (!column) column = side.table->find(stem);
    if (!column || column->components == 1) {
      const std::vector<const ParticleColumn*> parts = cartesian_columns(field, *side.table);
      for (std::size_t c = 0; c < parts.size(); ++c) bound_[f].from[c] = {parts[c], 0};
      if (!parts.empty()) return;
    }
    if (!column) {
      const std::string names =
          stem == field.name ? fmt::format("'{}'", stem) : fmt::format("'{}' or '{}'", field.name, stem);
      std::string why = side.table->absence(field.name);
      if (why.empty()) why = side.table->absence(stem);
      throw UsageError(fmt::format("{} '{}' finds no column {} in {}, which has {}{}; {}",
                                   field.acts ? "input_j" : "input_i", field.name, names, side.path,
                                   side.table->column_names(), why, bind_advice(field, *side.table)));
    }
    if (column->components != field.components) {
      throw UsageError(fmt::format("{} '{}' is a {} with {} per particle, but column '{}' of {} has {}; {}",
                                   field.acts ? "input_j" : "input_i", field.name, field.type,
                                   numbers(field.components), column->name, side.path, column->components,
                                   bind_advice(field, *side.table)));
    }
    fill(bound_[f], 0, {column}, field.components);
  }

  const std::vector<InputField>& fields_;
  const ParticleSide &i_, &j_;
  std::vector<BoundField> bound_;
};

}  // namespace

std::string InputField::stem() const {
  const bool marked = name.size() > 1 && name.back() == (acts ? 'j' : 'i');
  return marked ? name.substr(0, name.size() - 1) : name;
}

double ColumnComponent::at(std::int64_t row) const {
  return std::visit(
      [&](const auto& values) {
        return factor * double(values[std::size_t(row * column->components + component)]) / divisor;
      },
      column->data);
}

std::vector<BoundField> bind_particles(const std::vector<InputField>& fields, const ParticleSide& i,
                                       const ParticleSide& j, const std::vector<std::string>& overrides) {
  Binder binder(fields, i, j);
  for (const Override& given : parse_overrides(overrides)) binder.apply(given);
  return binder.finish();
}

ColumnChoice columns_asked_for(const std::vector<InputField>& fields, bool acts,
                               const std::vector<std::string>& texts) {
  ColumnChoice choice;
  choice.all = false;
  const std::vector<Override> overrides = parse_overrides(texts);
  for (const InputField& field : fields) {
    if (field.acts != acts) continue;
    const std::size_t before = choice.names.size();
    for (const Override& one : overrides)
      if (one.field.name == field.name) {
        choice.names.push_back(one.from.column.name);
        if (one.is_scaled()) choice.names.push_back(one.right);
      }
    if (choice.names.size() > before) continue;
    choice.names.push_back(field.name);
    choice.names.push_back(field.stem());
    if (field.components == 2 || field.components == 3)
      for (const std::string& name : cartesian_names(field.stem(), field.components)) choice.names.push_back(name);
  }
  return choice;
}

std::string bound_by_order(const std::vector<BoundField>& bound, const ParticleSide& i, const ParticleSide& j) {
  std::string text;
  const auto add = [&](const ParticleSide& side) {
    std::vector<std::string> fields;
    for (const BoundField& field : bound)
      if ((field.acts ? j : i).table == side.table && !field.by_option && !field.from.empty())
        fields.push_back(fmt::format("{}=data[{}]", field.field, field.from[0].component));
    if (side.table->unnamed && !fields.empty())
      text += fmt::format("{}{} has no column names, so the fields take the numbers of a row in order: {}",
                          text.empty() ? "" : "; ", side.path, fmt::join(fields, ", "));
  };
  add(i);
  if (j.table != i.table) add(j);
  return text;
}

int unused_numbers(const std::vector<InputField>& fields, const ParticleSide& i, const ParticleSide& j) {
  const auto unused = [&](const ParticleSide& side, int taken) {
    return side.table->unnamed ? std::max(0, side.table->columns.at(0).components - taken) : 0;
  };
  const int by_i = numbers_of_side(fields, false), by_j = numbers_of_side(fields, true);
  if (i.table == j.table) return unused(i, std::max(by_i, by_j));
  return std::max(unused(i, by_i), unused(j, by_j));
}

}  // namespace nbcc
