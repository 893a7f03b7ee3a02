// Registers `pair_style nbcc` when LAMMPS loads the library. Refuses a LAMMPS that is not the one for which the library
// was compiled: LAMMPS itself only warns, and classes of other versions have other members.
#include <error.h>
#include <lammps.h>
#include <library.h>
#if __has_include(<version.h>)  // LAMMPS's sources have it; its packages do not install it
#include <version.h>
#endif

#include <string>

#include "bindings/lammps/plugin/lammps_plugin.h"
#include "bindings/lammps/plugin/pair_nbcc.h"

namespace {
void* make_pair(void* lammps) {
  return static_cast<LAMMPS_NS::Pair*>(new LAMMPS_NS::PairNbcc(static_cast<LAMMPS_NS::LAMMPS*>(lammps)));
}

// "A, and this LAMMPS has B", for the first difference between the headers and the LAMMPS that runs; empty: none.
std::string difference_of(void* lammps) {
  const auto differ = [](const std::string& compiled, const std::string& runs) {
    return compiled == runs ? "" : compiled + ", and this LAMMPS has " + runs;
  };
  const auto ids_of = [](int bytes) { return "atom ids of " + std::to_string(bytes) + " bytes"; };
  std::string found;
#ifdef LAMMPS_VERSION
  const std::string runs = static_cast<const char*>(lammps_extract_global(lammps, "lammps_version"));
  found = differ(std::string("version ") + LAMMPS_VERSION, "version " + runs);
#elif defined(NBCC_LAMMPS_NUMBER)
  found = differ("version " + std::to_string(NBCC_LAMMPS_NUMBER), "version " + std::to_string(lammps_version(lammps)));
#endif
  if (!found.empty()) return found;
  return differ(ids_of(sizeof(LAMMPS_NS::tagint)), ids_of(lammps_extract_setting(lammps, "tagint")));
}
}  // namespace

void lammpsplugin_init(void* lammps, void* handle, void* registers) {
  auto* const running = static_cast<LAMMPS_NS::LAMMPS*>(lammps);
  if (const std::string difference = difference_of(lammps); !difference.empty())
    running->error->all(FLERR, "the plugin of pair_style nbcc was compiled for " + difference +
                                   "; nbcc lammps-plugin builds a plugin for a LAMMPS");
  lammpsplugin_t style{};
  style.version = running->version;
  style.style = "pair";
  style.name = "nbcc";
  style.info = "pair formulas that nbcc compiles";
  style.author = "the nbcc project";
  style.creator.v1 = make_pair;
  style.handle = handle;
  reinterpret_cast<lammpsplugin_regfunc>(registers)(&style, lammps);
}
