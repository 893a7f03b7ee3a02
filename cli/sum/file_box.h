// Compares the periodic box stated in a particle file (Lattice and pbc of .extxyz, the header of LAMMPS data and dump
// files)
// with the periodic box of the pipeline, and warns if they differ. Tested by tests/unit/cli/sum/file_box_test.cpp.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/kernel_source.h"
#include "particles/files/param_value.h"
#include "particles/particle_table.h"

namespace nbcc {

struct FileBox {
  std::array<std::array<double, 3>, 3> cell{};  // [lattice vector][component]
  std::array<bool, 3> periodic{true, true, true};
};

// Nothing if the file states no periodic box, or one that is periodic in no direction.
std::optional<FileBox> file_box(const ParticleTable& table);

// What is wrong with the box that the file states; "" if it can be read, or there is none.
std::string box_fault(const ParticleTable& table);

// The values of the params that `names` lists, from the periodic box of the file: "box" gets the three lengths, "a,b,c"
// the three vectors. Throws UsageError if the file has no such box.
std::vector<ParamValue> params_of_box(const std::string& names, const ParticleTable& table, const std::string& file);

// Returns a warning, or "" if the boxes agree. If the pipeline's box is known, it must have the same lattice as the
// file's box. If it is not known, the lengths or vectors of the file's box must be among the params. `params`: values
// of all params, [param component].
std::string box_warning(const FileBox& box, const std::string& file, const KernelSource& pipeline,
                        std::span<const double> params);

}  // namespace nbcc
