// `lmp -h` -> version and MPI. Entry points: ask_lammps(), lammps_beside(), mpi_of_header(). Loads no library.
#include "cli/machine/lammps_program.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "cli/machine/programs.h"
#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

// "22 Jul 2025" of "Simulator - 22 Jul 2025 - Update 4".
std::string version_in(std::string_view text) {
  constexpr std::string_view kTitle = "Massively Parallel Simulator - ";
  const std::size_t begin = text.find(kTitle);
  if (begin == std::string_view::npos) return "";
  const std::string_view line = text.substr(begin + kTitle.size());
  return std::string(line.substr(0, std::min(line.find('\n'), line.find(" - "))));
}

}  // namespace

std::string name_of(MpiFamily family) {
  switch (family) {
    case MpiFamily::Mpich:
      return "MPICH or one of its kin";
    case MpiFamily::OpenMpi:
      return "Open MPI";
    case MpiFamily::Stubs:
      return "LAMMPS's STUBS, without MPI";
    default:
      return "an unknown MPI";
  }
}

LammpsProgram ask_lammps(const std::string& program) {
  const bool is_path = program.find('/') != std::string::npos;
  const std::string path = is_path ? program : find_program(program);
  if (path.empty() || access(path.c_str(), X_OK) != 0)
    throw DeviceError(
        fmt::format("lammps-plugin: there is no program {}{} (--lmp)", program, is_path ? "" : " in $PATH"));
  const std::string said = run_program(shell_word(path), "-h");
  LammpsProgram found{path, version_in(said), MpiFamily::Unknown};
  if (found.version.empty())
    throw DeviceError(fmt::format(
        "lammps-plugin: {} -h does not print the version of LAMMPS (expected '... Simulator - 22 Jul 2025', got '{}')",
        path, said.substr(0, said.find('\n'))));
  const std::size_t at = said.find("\nMPI v");  // "MPI v3.1: Open MPI v4.1.4, ..."
  const std::string mpi = at == std::string::npos ? "" : said.substr(at + 1, said.find('\n', at + 1) - at);
  found.mpi = has_any(mpi, {"Open MPI"})                           ? MpiFamily::OpenMpi
              : has_any(mpi, {"STUBS"})                            ? MpiFamily::Stubs
              : has_any(mpi, {"MPICH", "MVAPICH", "Intel(R) MPI"}) ? MpiFamily::Mpich
                                                                   : MpiFamily::Unknown;
  return found;
}

std::optional<LammpsProgram> lammps_beside(const std::string& include) {
  for (const char* const name : {"lmp", "lmp_mpi", "lmp_serial", "../build/lmp", "../../bin/lmp", "../../lmp"}) {
    const std::filesystem::path path = (std::filesystem::path(include) / name).lexically_normal();
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none) || access(path.c_str(), X_OK) != 0) continue;
    try {
      return ask_lammps(path.string());
    } catch (const DeviceError&) {  // it does not run here: its MPI may not be found
    }
  }
  return {};
}

MpiFamily mpi_of_header(const std::string& text) {
  if (has_any(text, {"OMPI_MAJOR_VERSION", "OPEN_MPI"})) return MpiFamily::OpenMpi;
  if (has_any(text, {"MPICH_VERSION", "MPICH_NAME", "MVAPICH2_VERSION", "I_MPI_VERSION"})) return MpiFamily::Mpich;
  if (has_any(text, {"MPI_STUBS", "LAMMPS MPI STUBS"})) return MpiFamily::Stubs;
  return MpiFamily::Unknown;
}

}  // namespace nbcc
