// What a LAMMPS program says of itself (`lmp -h`), and to which MPI a header mpi.h belongs.
#pragma once
#include <optional>
#include <string>

namespace nbcc {

// MPIs with one binary interface: all of MPICH's kin (Intel MPI, MVAPICH, Cray MPICH) are one family.
enum class MpiFamily { Unknown, Mpich, OpenMpi, Stubs };  // Stubs: LAMMPS's own, of builds without MPI
std::string name_of(MpiFamily family);

struct LammpsProgram {
  std::string path;
  std::string version;  // as LAMMPS's version.h has it: "22 Jul 2025"
  MpiFamily mpi = MpiFamily::Unknown;
};

// Runs `program -h`. Throws DeviceError if it fails, or if its output has no version of LAMMPS.
LammpsProgram ask_lammps(const std::string& program);

// Asks the program that belongs to a folder of LAMMPS's headers, if it is where builds (src/lmp_mpi, build/lmp) or
// installations (PREFIX/bin/lmp beside PREFIX/include/lammps) put it, and runs.
std::optional<LammpsProgram> lammps_beside(const std::string& include);

// text: of a mpi.h.
MpiFamily mpi_of_header(const std::string& text);

}  // namespace nbcc
