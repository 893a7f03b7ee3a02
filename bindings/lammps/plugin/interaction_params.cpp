// The values of params: what commands set, what rules mix, and whether all are there. Part of Interaction. Reads no
// atom.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "bindings/lammps/plugin/interaction.h"

namespace nbcc_lammps {
namespace {

constexpr std::string_view kEnergyRule = "energy:";
const std::map<std::string, MixRule> kRules = {
    {"geometric", MixRule::Geometric}, {"arithmetic", MixRule::Arithmetic}, {"sixthpower", MixRule::Sixthpower}};

// The numbers of rows and columns in "real[3][4]"; 0 and 0 for other types.
std::pair<int, int> shape_of(const std::string& type) {
  const std::size_t first = type.find('['), second = first == std::string::npos ? first : type.find('[', first + 1);
  if (second == std::string::npos) return {0, 0};
  return {std::stoi(type.substr(first + 1)), std::stoi(type.substr(second + 1))};
}

// The shortest text that reads back as the number.
std::string number_text(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace

std::optional<std::vector<double>> numbers_in(std::string list) {
  std::replace_if(
      list.begin(), list.end(), [](char c) { return c == ',' || std::isspace(static_cast<unsigned char>(c)); }, ' ');
  std::vector<double> numbers;
  for (std::size_t at = 0; (at = list.find_first_not_of(' ', at)) != std::string::npos;) {
    const std::string word = list.substr(at, list.find(' ', at) - at);
    char* end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    if (*end != '\0') return {};
    at += word.size();
  }
  if (numbers.empty()) return {};
  return numbers;
}

double mixed_distance(MixRule rule, double a, double b) {
  if (rule == MixRule::Geometric) return std::sqrt(a * b);
  if (rule == MixRule::Arithmetic) return 0.5 * (a + b);
  return std::pow(0.5 * (std::pow(a, 6) + std::pow(b, 6)), 1.0 / 6);
}

double mixed_energy(MixRule rule, double energy_a, double energy_b, double distance_a, double distance_b) {
  if (rule != MixRule::Sixthpower) return std::sqrt(energy_a * energy_b);
  return 2 * std::sqrt(energy_a * energy_b) * std::pow(distance_a * distance_b, 3) /
         (std::pow(distance_a, 6) + std::pow(distance_b, 6));
}

nbcc::Field& Interaction::param(const std::string& name) {
  nbcc::Field* const field = const_cast<nbcc::Field*>(find(name));
  if (!field || field->role != NBCC_PARAM)
    refuse("there is no param '" + name + "'; there are " + names_of(NBCC_PARAM));
  return *field;
}

void Interaction::set_words(const std::string& name, const std::string& words) {
  param(name);  // before the numbers, so that an unknown name is reported first
  const std::optional<std::vector<double>> numbers = numbers_in(words);
  if (!numbers) refuse("param '" + name + "' takes numbers, @FILE or v_VARIABLE, got '" + words.substr(0, 80) + "'");
  if (!std::all_of(numbers->begin(), numbers->end(), [](double number) { return std::isfinite(number); }))
    refuse("param '" + name + "' takes finite numbers, got '" + words.substr(0, 80) + "'");
  set(name, *numbers);
}

void Interaction::set(const std::string& name, const std::vector<double>& values) {
  if (values.size() != std::size_t(param(name).components))
    refuse("param '" + name + "' takes " + std::to_string(param(name).components) + " numbers, got " +
           std::to_string(values.size()));
  if (name == box_)
    refuse("the box stays open: param '" + name +
           "' cannot be set, because ghost atoms are already at the positions where they act");
  std::vector<bool>& is_set = is_set_[name];
  const std::vector<bool> all(values.size(), true);
  if (params_.at(name) == values && is_set == all) return;
  params_[name] = values;
  is_set = all;
  ++params_number_;
  checked_types_.clear();
}

void Interaction::set_element(const std::string& table, int type_i, int type_j, double value) {
  const auto [rows, columns] = shape_of(param(table).type);
  if (type_i >= std::min(rows, columns) || type_j >= std::min(rows, columns))
    refuse("param '" + table + "' is a " + param(table).type + ", which has no element for types " +
           std::to_string(type_i + 1) + " and " + std::to_string(type_j + 1));
  checked_types_.clear();
  std::vector<bool>& is_set = is_set_[table];
  is_set.resize(params_[table].size());
  for (const auto& [i, j] : {std::pair(type_i, type_j), {type_j, type_i}}) {
    params_[table][std::size_t(i * columns + j)] = value;
    is_set[std::size_t(i * columns + j)] = true;
  }
}

void Interaction::mix(const std::string& table, const std::string& rule) {
  const auto check_table = [this](const std::string& name) {
    const auto [rows, columns] = shape_of(param(name).type);
    if (rows != columns || rows == 0)
      refuse("mix: param '" + name + "' is a " + param(name).type + ", not a table of two types");
  };
  check_table(table);
  if (rule.starts_with(kEnergyRule)) {
    check_table(rule.substr(kEnergyRule.size()));
  } else if (rule != "distance" && !kRules.contains(rule)) {
    refuse("mix: param '" + table + "' takes geometric, arithmetic, sixthpower, distance or energy:DISTANCES, got '" +
           rule + "'");
  }
  rules_[table] = rule;
  checked_types_.clear();
}

// Only elements that were set count for two different types: the default of a text is no value that the user chose.
void Interaction::mix_tables(int types, MixRule pair_modify) {
  mixed_.clear();
  for (const auto& [table, rule] : rules_) {
    const int size = shape_of(param(table).type).first;
    const auto at = [size](int row, int column) { return std::size_t(row * size + column); };
    std::vector<double>& values = mixed_[table] = params_.at(table);
    const std::vector<bool>& is_set = is_set_[table];
    const bool is_energy = rule.starts_with(kEnergyRule);
    const auto known = kRules.find(rule);
    const MixRule how = known == kRules.end() ? pair_modify : known->second;
    for (int i = 0; i < std::min(size, types); ++i) {
      for (int j = 0; j < std::min(size, types); ++j) {
        if (i == j || (!is_set.empty() && is_set[at(i, j)])) continue;
        const double a = values[at(i, i)], b = values[at(j, j)];
        double mixed = kUnset;
        if (is_energy) {
          const std::string distances = rule.substr(kEnergyRule.size());
          const int columns = shape_of(param(distances).type).second;
          const std::vector<double>& of = params_.at(distances);
          if (std::max(i, j) < columns)
            mixed = mixed_energy(how, a, b, of[std::size_t(i * columns + i)], of[std::size_t(j * columns + j)]);
        } else {
          mixed = mixed_distance(how, a, b);
        }
        if (std::isnan(mixed) && !std::isnan(a) && !std::isnan(b))
          refuse("mix: " + rule + " gives no number for param '" + table + "' and types " + std::to_string(i + 1) +
                 " and " + std::to_string(j + 1) + ", whose own values are " + std::to_string(a) + " and " +
                 std::to_string(b));
        values[at(i, j)] = mixed;
      }
    }
  }
}

void Interaction::check_table(const nbcc::Field& field, int types) const {
  const auto [rows, columns] = shape_of(field.type);
  const auto mixed = mixed_.find(field.name);
  const std::vector<double>& values = mixed == mixed_.end() ? params_.at(field.name) : mixed->second;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!std::isnan(values[k])) continue;
    const int row = columns > 0 ? int(k) / columns : 0, column = columns > 0 ? int(k) % columns : 0;
    if (row >= types || column >= types) continue;  // there is no such atom type
    refuse("param '" + field.name + "' has no value" +
           (columns > 0 ? " for types " + std::to_string(row + 1) + " and " + std::to_string(column + 1) +
                              (row != column && mixed == mixed_.end() ? ", and no rule mixes it" : "")
                        : ""));
  }
  // A formula that defines its own virial says that the forces on both atoms of a pair are not opposite.
  if (rows != columns || meaning_of_output_.contains("virial")) return;
  for (int i = 0; i < std::min(rows, types); ++i)
    for (int j = 0; j < i; ++j) {
      const double below = values[std::size_t(i * columns + j)], above = values[std::size_t(j * columns + i)];
      if (below == above || !nbcc_pipeline_needs_symmetric(plain_.pipeline->get(), field.name.c_str())) continue;
      const std::string a = std::to_string(j + 1), b = std::to_string(i + 1);
      refuse("param '" + field.name + "' is " + number_text(above) + " for types " + a + " and " + b + " but " +
             number_text(below) + " for types " + b + " and " + a +
             ", so the forces on the two atoms of a pair are not opposite: expected equal numbers, as pair_coeff " + a +
             " " + b + " " + field.name + "=... sets; a formula that is meant so declares output(sum) real virial[6]");
    }
}

void Interaction::give_params(nbcc::Sum& sum) const {
  for (const auto& [name, values] : params_) {
    const auto mixed = mixed_.find(name);
    std::vector<double> known = mixed == mixed_.end() ? values : mixed->second;
    std::replace_if(known.begin(), known.end(), [](double value) { return std::isnan(value); }, 0.0);
    sum.set(name, known);
  }
}

}  // namespace nbcc_lammps
