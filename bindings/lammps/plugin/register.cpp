// Registers `pair_style nbcc` when LAMMPS loads the library.
#include <lammps.h>

#include "bindings/lammps/plugin/lammps_plugin.h"
#include "bindings/lammps/plugin/pair_nbcc.h"

namespace {
void* make_pair(void* lammps) {
  return static_cast<LAMMPS_NS::Pair*>(new LAMMPS_NS::PairNbcc(static_cast<LAMMPS_NS::LAMMPS*>(lammps)));
}
}  // namespace

void lammpsplugin_init(void* lammps, void* handle, void* registers) {
  lammpsplugin_t style{};
  style.version = static_cast<LAMMPS_NS::LAMMPS*>(lammps)->version;
  style.style = "pair";
  style.name = "nbcc";
  style.info = "pair formulas that nbcc compiles";
  style.author = "the nbcc project";
  style.creator.v1 = make_pair;
  style.handle = handle;
  reinterpret_cast<lammpsplugin_regfunc>(registers)(&style, lammps);
}
