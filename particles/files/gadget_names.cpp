// Translates the names of GADGET's datasets to nbcc's. Entry points: gadget_type(), take_gadget_names(). Opens no
// files.
#include "particles/files/gadget_names.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace nbcc {
namespace {

// SWIFT uses the plural of most names.
std::string_view usual_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"Coordinates", "x"},     {"Velocities", "v"},       {"Masses", "m"},      {"ParticleIDs", "id"},
      {"SmoothingLength", "h"}, {"SmoothingLengths", "h"}, {"Density", "rho"},   {"Densities", "rho"},
      {"InternalEnergy", "u"},  {"InternalEnergies", "u"}, {"Pressure", "pres"}, {"Pressures", "pres"},
      {"Acceleration", "acc"},  {"Accelerations", "acc"},  {"Potential", "pot"}, {"Potentials", "pot"},
      {"SoundSpeed", "c"},      {"SoundSpeeds", "c"}};
  for (const auto& [theirs, ours] : names)
    if (name == theirs) return ours;
  return "";
}

}  // namespace

std::optional<int> gadget_type(std::string_view group) {
  while (group.ends_with('/')) group.remove_suffix(1);
  group.remove_prefix(group.find_last_of('/') + 1);
  constexpr std::string_view prefix = "PartType";
  if (!group.starts_with(prefix)) return std::nullopt;
  group.remove_prefix(prefix.size());
  int type = 0;
  const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), type);
  const bool whole = error == std::errc() && end == group.data() + group.size();
  return whole && type >= 0 ? std::optional(type) : std::nullopt;
}

void take_gadget_names(std::vector<FileColumn>& columns) {
  for (FileColumn& column : columns) {
    const std::string_view ours = usual_name(column.name);
    if (ours.empty() || std::ranges::find(columns, ours, &FileColumn::name) != columns.end()) continue;
    column.name_in_file = std::exchange(column.name, std::string(ours));
  }
}

}  // namespace nbcc
