// Registers `pair_style nbcc` when LAMMPS loads the library. Refuses a LAMMPS that is not the one for which the library
// was compiled: LAMMPS itself only warns, and classes of other versions have other members.
#include <error.h>
#include <lammps.h>
#include <library.h>
#if __has_include(<version.h>)  // LAMMPS's sources have it; its packages do not install it
#include <version.h>
#endif

#include <array>
#include <string>

#include "bindings/lammps/plugin/lammps_plugin.h"
#include "bindings/lammps/plugin/pair_nbcc.h"

namespace {
void* make_pair(void* lammps) {
  return static_cast<LAMMPS_NS::Pair*>(new LAMMPS_NS::PairNbcc(static_cast<LAMMPS_NS::LAMMPS*>(lammps)));
}

// A word that the MPI of the header prints as its version; MPIs derived from MPICH have its binary interface.
#if defined(OPEN_MPI)
constexpr const char* kMpi = "Open MPI";
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
constexpr const char* kMpi = "MPICH";
#else
constexpr const char* kMpi = "";  // unknown: not compared
#endif

// The first line of the version of the MPI that LAMMPS has loaded. Takes no communicator, whose type depends on the
// MPI.
std::string mpi_that_runs() {
#ifdef MPI_MAX_LIBRARY_VERSION_STRING
  std::array<char, 65536> text{};  // more than any MPI's maximum
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all = text.data(), version = all.substr(0, all.find('\n'));
  const bool is_kin = all.find("Intel(R) MPI") != std::string::npos || all.find("MVAPICH") != std::string::npos;
  return is_kin ? version + " (MPICH)" : version;
#else
  return kMpi;
#endif
}

// "A, and this LAMMPS has B", for the first difference between the headers and the LAMMPS that runs; empty: none.
std::string difference_of(void* lammps) {
  const auto differ = [](const std::string& compiled, const std::string& runs) {
    return compiled == runs ? "" : compiled + ", and this LAMMPS has " + runs;
  };
  const auto ids_of = [](int bytes) { return "atom ids of " + std::to_string(bytes) + " bytes"; };
  std::string found;
#ifdef NBCC_LAMMPS_NUMBER
  found = differ("version " + std::to_string(NBCC_LAMMPS_NUMBER), "version " + std::to_string(lammps_version(lammps)));
#else
#ifndef NBCC_LAMMPS_VERSION
#define NBCC_LAMMPS_VERSION LAMMPS_VERSION
#endif
  const std::string runs = static_cast<const char*>(lammps_extract_global(lammps, "lammps_version"));
  found = differ(std::string("version ") + NBCC_LAMMPS_VERSION, "version " + runs);
#endif
  if (!found.empty()) return found;
  if (const std::string mpi = mpi_that_runs(); mpi.find(kMpi) == std::string::npos)
    return std::string("an MPI with the interface of ") + kMpi + ", and this LAMMPS has " + mpi;
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
