// Entry points: library_pipelines(), library_text(). The texts are embedded by compiler/CMakeLists.txt.
#include "compiler/text/pipeline_library.h"

#include <fmt/core.h>

#include <cctype>
#include <utility>

#include "compiler/text/nearest_word.h"

namespace nbcc {

// For the empty name all names, one in a line (cmake/embed.cmake).
std::string_view embedded_pipeline(std::string_view name);

namespace {

// What others call a pipeline of the library, which is too different in spelling to be near.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {{"knn", "k_nearest"},
                                                                         {"kneighbors", "k_nearest"},
                                                                         {"nn", "nearest_neighbour"},
                                                                         {"neighbors", "k_nearest"},
                                                                         {"lj", "lennard_jones"},
                                                                         {"nbody", "gravity"},
                                                                         {"newton", "gravity"},
                                                                         {"hermite", "gravity_jerk"},
                                                                         {"rdf", "radial_distribution"},
                                                                         {"rbf", "gaussian_rbf"},
                                                                         {"gaussian", "gaussian_rbf"},
                                                                         {"gb", "generalised_born"},
                                                                         {"ewald", "ewald_real"},
                                                                         {"debye", "screened_coulomb"},
                                                                         {"ks", "ks_statistic"},
                                                                         {"sph", "sph_density"},
                                                                         {"wendland", "sph_density_wendland"},
                                                                         {"stokes", "stokeslet"},
                                                                         {"rpy", "stokeslet"},
                                                                         {"vortex", "biot_savart"},
                                                                         {"laplace", "laplace_log_2d"},
                                                                         {"transformer", "attention"},
                                                                         {"electrostatics", "coulomb"}};

// The pipeline that a word probably means: by another name, by spelling, or because its name contains the word.
std::string_view meant_pipeline(std::string_view word) {
  std::string plain;
  for (const char c : word)
    if (c != '_' && c != '-') plain += char(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [other, name] : kOtherNames)
    if (other == plain) return name;
  const std::vector<std::string_view> names = library_pipelines();
  if (const std::string_view near = nearest_word(word, names); !near.empty()) return near;
  for (const std::string_view name : names)
    if (word.size() > 2 && name.find(word) != std::string_view::npos) return name;
  return "";
}

}  // namespace

std::vector<std::string_view> library_pipelines() {
  std::vector<std::string_view> names;
  for (std::string_view rest = embedded_pipeline(""); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return names;
}

std::string_view library_text(std::string_view name) {
  return name.empty() ? std::string_view() : embedded_pipeline(name);
}

bool is_library_name(std::string_view word) {
  return !word.empty() && word.find_first_of("./\\") == std::string_view::npos;
}

std::string no_such_pipeline(std::string_view name) {
  const std::string_view meant = meant_pipeline(name);
  return fmt::format("there is no pipeline '{}' in the library; {}", name,
                     meant.empty() ? "`nbcc list` shows what there is" : fmt::format("did you mean '{}'?", meant));
}

}  // namespace nbcc
