// Translates the names of GADGET's datasets to nbcc's. Entry points: gadget_type(), take_gadget_names(),
// smoothing_note(). Opens no files.
#include "particles/files/hdf5/gadget_names.h"

#include <fmt/core.h>

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

std::string smoothing_note(const std::string& field, const std::string& name_in_file, const std::string& file,
                           const std::string* kernel) {
  const bool of_swift = name_in_file == "SmoothingLengths";
  if (!of_swift && name_in_file != "SmoothingLength") return "";
  const std::string ours = "the SPH pipelines of nbcc take half of that radius";
  if (!of_swift)
    return fmt::format(
        "'{0}' reads SmoothingLength of {1}, the radius where the kernel of GADGET, AREPO and GIZMO becomes zero; {2}: "
        "say --bind {0}=0.5*h, or --bind {0}=h to use it unchanged",
        field, file, ours);
  // Radius where the kernel becomes zero / smoothing length, in three dimensions (Dehnen & Aly 2012, table 1).
  constexpr std::pair<std::string_view, double> gammas[] = {
      {"Cubic spline (M4)", 1.825742}, {"Quartic spline (M5)", 2.018932}, {"Quintic spline (M6)", 2.195775},
      {"Wendland C2", 1.936492},       {"Wendland C4", 2.207940},         {"Wendland C6", 2.449490}};
  for (const auto& [known, gamma] : gammas)
    if (kernel && *kernel == known)
      return fmt::format(
          "'{0}' reads SmoothingLengths of {1}; the kernel of SWIFT ({2}) becomes zero at {3} times that length in "
          "three "
          "dimensions, and {4}: say --bind {0}={5}*h, or --bind {0}=h to use it unchanged",
          field, file, known, gamma, ours, gamma / 2);
  return fmt::format(
      "'{0}' reads SmoothingLengths of {1}; the kernel of SWIFT becomes zero at gamma times that length, where gamma "
      "depends on the kernel, and {2}: say --bind {0}=NUMBER*h with half of gamma, or --bind {0}=h to use it unchanged",
      field, file, ours);
}

}  // namespace nbcc
