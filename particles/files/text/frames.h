// Frames of text files that hold several configurations: .xyz, .extxyz and dump files of LAMMPS.
#pragma once
#include <cstddef>
#include <string>

namespace nbcc {

struct ParticleFrame {
  std::size_t first = 0, last = 0;  // bytes first to last - 1 of the file
  long first_line = 1;              // its first line in the file, from 1
  std::string timestep;             // TIMESTEP of LAMMPS; "" if the format has none
};

}  // namespace nbcc
