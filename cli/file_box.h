// The periodic box that a particle file states (Lattice and pbc of .extxyz, the header of a LAMMPS data file) -> a
// warning where the pipeline sums over another box, or over none. Tested by tests/unit/file_box_test.cpp.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>

#include "compiler/kernel_source.h"
#include "particles/particle_table.h"

namespace nbcc {

struct FileBox {
  std::array<std::array<double, 3>, 3> cell{};  // lattice vectors
  std::array<bool, 3> periodic{true, true, true};
};

// Nothing where the file states no box, or one that is periodic in no direction.
std::optional<FileBox> file_box(const ParticleTable& table);

// "" where the pipeline's box is the file's or, where nothing is proved of the pipeline, can be: lengths or vectors of
// the file's box are among the params. `params`: those by value, by component.
std::string box_warning(const FileBox& box, const std::string& file, const KernelSource& pipeline,
                        std::span<const double> params);

}  // namespace nbcc
