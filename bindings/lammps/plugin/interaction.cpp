// Sums over listed or searched pairs with a pipeline whose fields are assigned by name. Entry points: assign(), run().
// interaction_params.cpp has the values of params, reach_check.cpp the check of the cutoff, one_pair.cpp the sum over
// one pair.
#include "bindings/lammps/plugin/interaction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace nbcc_lammps {
namespace {

// The cost of a pair for both atoms, relative to computing it twice, up to which half lists are faster.
constexpr double kMostCostOfHalfLists = 0.85;
constexpr double kMostOfAllPairs = 1e9;
constexpr double kOpenBoxLength = 1e30;  // so long that the nearest image is always the particle itself
const std::map<std::string, int> kResults = {{"force", 3}, {"torque", 3}, {"energy", 1}, {"virial", 6}};

// Name in pipelines, without the side -> LAMMPS's name of the quantity: qi and charge_j are "q".
const std::map<std::string, std::string> kQuantities = {
    {"x", "x"},          {"v", "v"},       {"q", "q"},         {"charge", "q"},
    {"m", "mass"},       {"mass", "mass"}, {"r", "radius"},    {"radius", "radius"},
    {"t", "type"},       {"type", "type"}, {"id", "id"},       {"tag", "id"},
    {"mol", "molecule"}, {"mu", "mu"},     {"omega", "omega"}, {"molecule", "molecule"}};

// Removes the side from a name: "xi" and "x_i" of an input of i become "x".
std::string without_side(std::string name, char side) {
  if (!name.empty() && name.back() == side) name.pop_back();
  if (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

bool has_finish_in(const std::string& text, const std::string& path) {
  nbcc_report* report = nullptr;
  nbcc::detail::call(nbcc_emit_text, text.c_str(), path.c_str(), "ir", nullptr, nullptr, &report);
  const std::unique_ptr<nbcc_report, decltype(&nbcc_report_free)> owner(report, nbcc_report_free);
  return std::string(nbcc_report_text(report)).find("\nfinish\n") != std::string::npos;
}

nbcc::View view_of(const Quantity& quantity, std::int64_t count, int component_bytes) {
  return {{const_cast<void*>(quantity.data), quantity.element, count, quantity.stride, component_bytes}, true};
}

std::vector<double>& result_in(Results& results, const std::string& name) {
  return name == "force"    ? results.force
         : name == "torque" ? results.torque
         : name == "energy" ? results.energy
                            : results.virial;
}

}  // namespace

Interaction::Interaction(const std::string& path, const std::string& text, const Where& where)
    : path_(path), text_(text), where_(where), device_(where.device, {.threads = where.threads}) {
  plain_.pipeline = std::make_unique<nbcc::Pipeline>(
      nbcc::Pipeline::from_text(device_, text_, path_, {.precision = where.precision}));
  fields_ = plain_.pipeline->fields();
  has_finish_ = has_finish_in(text_, path_);
  for (const nbcc::Field& field : fields_) {
    if (field.role == NBCC_PARAM)
      params_[field.name] =
          field.defaults.empty() ? std::vector<double>(std::size_t(field.components), kUnset) : field.defaults;
  }
  open_box(*plain_.pipeline);
  guess_meanings();
}

void Interaction::refuse(const std::string& what) const { throw std::runtime_error(path_ + ": " + what); }

const nbcc::Field* Interaction::find(const std::string& name) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(), [&](const nbcc::Field& f) { return f.name == name; });
  return found == fields_.end() ? nullptr : &*found;
}

std::string Interaction::names_of(nbcc_role role) const {
  std::string names;
  for (const nbcc::Field& field : fields_)
    if (field.role == role) names += (names.empty() ? "" : ", ") + field.name;
  return names.empty() ? "none" : names;
}

// Ghost atoms are at the positions where they act, so no pair may be replaced by a nearer image.
void Interaction::open_box(const nbcc::Pipeline& pipeline) {
  const std::string proved = pipeline.neighbours();
  if (proved.find("in the periodic") == std::string::npos) return;
  const std::size_t begin = proved.find('`') + 1;
  const auto box = params_.find(proved.substr(begin, proved.find('`', begin) - begin));
  if (box == params_.end())
    refuse("takes nearest images (" + proved + "), and its box is not one param that can be opened; write xj - xi");
  box_ = box->first;
  std::fill(box->second.begin(), box->second.end(), kOpenBoxLength);
}

void Interaction::guess_meanings() {
  for (const nbcc::Field& field : fields_) {
    if (field.role == NBCC_INPUT_I || field.role == NBCC_INPUT_J) {
      const auto known = kQuantities.find(without_side(field.name, field.role == NBCC_INPUT_I ? 'i' : 'j'));
      if (known != kQuantities.end()) meaning_of_input_[field.name] = known->second;
    } else if (field.role == NBCC_INPUT_PAIR) {
      if (field.name != "special_lj" && field.name != "special_coul")
        refuse("'" + field.name + "' is of pairs: there are special_lj and special_coul, the factors of special_bonds");
      weighs_pairs_ = true;
    } else if (field.role == NBCC_OUTPUT) {
      const auto known = kResults.find(field.name);
      if (known == kResults.end() || known->second != field.components) continue;
      check_result(field, field.name);
      meaning_of_output_[field.name] = field.name;
    }
  }
}

void Interaction::check_result(const nbcc::Field& output, const std::string& result) const {
  const int components = kResults.at(result);
  if (output.components == components && output.reduction == NBCC_SUM && !output.total) return;
  refuse("output '" + output.name + "' cannot be the " + result + ", which is an output(sum) of " +
         std::to_string(components) + " numbers" + (output.total ? " for each atom, not a total" : ""));
}

void Interaction::assign(const std::string& name, const std::string& value) {
  const nbcc::Field* const field = find(name);
  if (field && field->role != NBCC_PARAM) {  // sums have arrays of the earlier meanings
    plain_.sums.clear();
    plain_.listed.clear();
    plain_.outputs.clear();
    virial_ = {};
    one_pair_.reset();
    checked_types_.clear();
  }
  if (field && (field->role == NBCC_INPUT_I || field->role == NBCC_INPUT_J)) {
    meaning_of_input_[name] = value;
  } else if (field && field->role == NBCC_OUTPUT) {
    const auto known = kResults.find(value);
    if (known == kResults.end())
      refuse("output '" + name + "' cannot be '" + value + "'; there are force, torque, energy and virial");
    check_result(*field, value);
    meaning_of_output_[value] = name;
  } else if (value.starts_with("v_")) {
    if (param(name).components != 1) refuse("param '" + name + "' is not one number, as " + value + " is");
    followed_[name] = value.substr(2);
  } else {
    set_words(name, value);
    followed_.erase(name);
  }
}

bool Interaction::is_output(const std::string& name) const {
  const nbcc::Field* const field = find(name);
  return field && field->role == NBCC_OUTPUT;
}

void Interaction::check(int types, MixRule pair_modify) {
  mix_tables(types, pair_modify);
  ++params_number_;
  quantities_.clear();
  reach_quantities_.clear();
  for (const auto& [name, quantity] : meaning_of_input_) {
    quantities_[quantity];
    if (quantity != "x" && quantity != "type" && reach_names(name)) reach_quantities_.insert(quantity);
  }
  for (const nbcc::Field& field : fields_) {
    if ((field.role == NBCC_INPUT_I || field.role == NBCC_INPUT_J) && !meaning_of_input_.contains(field.name))
      refuse("input '" + field.name + "' is none of LAMMPS's quantities by its name: say which, as " + field.name +
             "=radius");
    if (field.role != NBCC_PARAM || followed_.contains(field.name)) continue;
    check_table(field, types);
  }
  if (!meaning_of_output_.contains("force"))
    refuse("no output is the force: say which of " + names_of(NBCC_OUTPUT) + " is, as acc=force");
}

void Interaction::bind_input(nbcc::Sum& sum, const std::string& name, const Quantity& quantity,
                             std::int64_t count) const {
  const nbcc::Field& field = *find(name);
  if (quantity.columns < field.components)
    refuse("input '" + name + "' has " + std::to_string(field.components) + " numbers, LAMMPS's " +
           meaning_of_input_.at(name) + " has " + std::to_string(quantity.columns));
  sum.bind(name, view_of(quantity, count, bytes_of(quantity.element)));
}

void Interaction::bind_inputs(nbcc::Sum& sum, std::int64_t ni, std::int64_t nj) const {
  for (const auto& [name, meaning] : meaning_of_input_)
    bind_input(sum, name, quantities_.at(meaning), find(name)->role == NBCC_INPUT_I ? ni : nj);
}

void Interaction::ignore_outputs(nbcc::Sum& sum) const {
  for (const nbcc::Field& field : fields_)
    if (field.role == NBCC_OUTPUT) sum.ignore(field.name);
}

// A ghost has only some of its pairs, so finish() must not see its sums. The bound arrays decide too whether i and j
// are one set: two particles without a pair stand for the atoms.
bool Interaction::takes_half_lists() {
  if (weighs_pairs_ || has_finish_) return false;
  double cost = 1;
  if (nbcc_pipeline_listed_once(plain_.pipeline->get(), &cost, nullptr) != NBCC_OK || cost > kMostCostOfHalfLists)
    return false;
  nbcc::Sum sum(*plain_.pipeline);
  give_params(sum);
  ignore_outputs(sum);
  int components = 1;  // largest number of an input
  for (const nbcc::Field& field : fields_) components = std::max(components, field.components);
  std::map<std::string, std::vector<double>> arrays;  // by quantity
  for (const auto& [name, quantity] : meaning_of_input_) {
    std::vector<double>& array = arrays[quantity];
    array.assign(2 * std::size_t(components), 0.0);
    sum.bind(name, nbcc::View{{array.data(), NBCC_DOUBLE_ELEMENT, 2, std::int64_t(8) * components, 8}, true});
  }
  sum.symmetric(NBCC_SYMMETRIC_LISTED);
  sum.listed_pairs(std::vector<std::int64_t>{0, 0, 0}, {});
  try {
    sum.run();
  } catch (const nbcc::Error&) {
    return false;
  }
  return true;
}

// The run's check of indices decides, for one atom of each type.
void Interaction::check_types(int types) {
  nbcc::Sum sum(*plain_.pipeline);
  std::vector<int> indices;
  for (int type = 0; type < types; ++type) indices.push_back(type);
  const std::vector<double> positions(3 * indices.size(), 0.0);
  for (const nbcc::Field& field : fields_) {
    const bool is_input = field.role == NBCC_INPUT_I || field.role == NBCC_INPUT_J || field.role == NBCC_INPUT_PAIR;
    if (!is_input) continue;
    const auto known = meaning_of_input_.find(field.name);
    if (known == meaning_of_input_.end()) return;
    if (known->second == "type") {
      sum.bind(field.name, view_of({indices.data(), NBCC_INT32, 1, sizeof(int)}, types, sizeof(int)));
    } else if (known->second == "x") {
      sum.bind(field.name, nbcc::rows(positions, 3));
    } else {
      return;
    }
  }
  for (const nbcc::Field& field : fields_)
    if (field.role == NBCC_PARAM && field.integral) return;  // an index may need its value
  give_params(sum);
  ignore_outputs(sum);
  const auto output = std::find_if(fields_.begin(), fields_.end(), [](const nbcc::Field& f) {
    return f.role == NBCC_OUTPUT && !f.integral && !f.total;
  });
  if (output == fields_.end()) return;
  std::vector<double> results(std::size_t(types) * std::size_t(output->components));  // a run without outputs is none
  sum.bind(output->name, nbcc::rows(results, output->components));
  std::vector<std::int64_t> itself(indices.begin(), indices.end()), first = itself;  // each atom is listed for itself
  first.push_back(types);
  sum.symmetric(NBCC_SYMMETRIC_OFF);
  sum.listed_pairs(first, itself);
  try {
    sum.run();
  } catch (const nbcc::Error& beyond) {
    const std::string what = beyond.what();
    refuse("LAMMPS has the atom types 1 to " + std::to_string(types) + ", which are 0 to " + std::to_string(types - 1) +
           " in a formula: " + what.substr(0, what.find("; to read the nearest end")));
  }
}

void Interaction::set_pairs(std::vector<Pairs> lists, bool are_half) { take_lists(std::move(lists), are_half, false); }

void Interaction::search_pairs(std::int64_t owned, double skin) {
  skin_ = skin;
  if (searches_ && std::int64_t(lists_.front().j.size()) == owned) return;
  Pairs itself;
  itself.j.resize(std::size_t(owned));
  std::iota(itself.j.begin(), itself.j.end(), 0);
  itself.first = itself.j;
  itself.first.push_back(owned);
  take_lists({std::move(itself)}, false, true);
}

void Interaction::take_lists(std::vector<Pairs> lists, bool are_half, bool searches) {
  if (searches != searches_) {  // a sum has one kind of lists
    plain_.sums.clear(), plain_.listed.clear();
    virial_.sums.clear(), virial_.listed.clear();
  }
  lists_ = std::move(lists);
  are_half_ = are_half;
  searches_ = searches;
  ++round_;
}

void Interaction::add_virial() {
  if (virial_.pipeline) return;
  std::string place_i = "xi", place_j = "xj", text = text_;
  for (const auto& [name, quantity] : meaning_of_input_)
    if (quantity == "x") (find(name)->role == NBCC_INPUT_I ? place_i : place_j) = name;
  virial_.outputs = meaning_of_output_;
  if (!meaning_of_output_.contains("virial")) {
    const std::string& force = meaning_of_output_.at("force");
    text = nbcc::Pipeline::virial_text(text_, force, place_i, place_j, path_);
    virial_.outputs["virial"] = force + "_virial";
  }
  virial_.pipeline = std::make_unique<nbcc::Pipeline>(
      nbcc::Pipeline::from_text(device_, text, path_, {.precision = where_.precision}));
}

void Interaction::run_list(Variant& variant, std::size_t number, std::int64_t ni, std::int64_t nj) {
  const Pairs& pairs = lists_[number];
  nbcc::Sum& sum = *variant.sums[number];
  Results& to = number == 0 ? results_ : part_;
  bind_inputs(sum, ni, nj);
  ignore_outputs(sum);
  for (const auto& [result, output] : variant.outputs) {
    std::vector<double>& array = result_in(to, result);
    array.resize(std::size_t(ni) * std::size_t(kResults.at(result)));
    sum.bind(output, nbcc::rows(array, kResults.at(result)));
  }
  if (weighs_pairs_) {
    if (find("special_lj")) sum.bind("special_lj", pairs.special_lj);
    if (find("special_coul")) sum.bind("special_coul", pairs.special_coul);
  }
  sum.symmetric(are_half_ ? NBCC_SYMMETRIC_LISTED : NBCC_SYMMETRIC_OFF);
  if (searches_) {
    // Never all pairs of many atoms, as for lack of memory.
    sum.skin(skin_).pairs(double(ni) * double(nj) > kMostOfAllPairs ? NBCC_PAIRS_CUTOFF : NBCC_PAIRS_AUTO);
  }
  if (variant.listed[number] != round_) {
    searches_ ? sum.exclusions(pairs.first, pairs.j) : sum.listed_pairs(pairs.first, pairs.j);
    variant.listed[number] = round_;
  }
  give_params(sum);
  sum.run();
  if (number == 0) return;
  for (const auto& [result, output] : variant.outputs) {
    std::vector<double>& total = result_in(results_, result);
    const std::vector<double>& part = result_in(part_, result);
    for (std::size_t k = 0; k < total.size(); ++k) total[k] += pairs.weight * part[k];
  }
}

const Results& Interaction::run(std::int64_t ni, std::int64_t nj, bool with_virial) {
  if (with_virial) add_virial();
  if (!with_virial && plain_.outputs.empty()) {
    plain_.outputs = meaning_of_output_;
    plain_.outputs.erase("virial");
  }
  Variant& variant = with_virial ? virial_ : plain_;
  while (variant.sums.size() < lists_.size()) {
    variant.sums.push_back(std::make_unique<nbcc::Sum>(*variant.pipeline));
    variant.listed.push_back(-1);
  }
  for (std::size_t number = 0; number < lists_.size(); ++number) {
    if (number > 0 && lists_[number].j.empty()) continue;
    if (number > 0 && has_finish_)
      refuse(
          "finish() makes results of sums over all pairs of an atom, so these cannot be multiplied by factors of "
          "special_bonds (expected 0 or 1, got " +
          std::to_string(lists_[number].weight) + "): read the factor of a pair as input_pair real special_lj");
    run_list(variant, number, ni, nj);
  }
  return results_;
}

}  // namespace nbcc_lammps
