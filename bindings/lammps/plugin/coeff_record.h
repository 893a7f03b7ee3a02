// The words of `pair_style nbcc` and its `pair_coeff` commands, the rule of `pair_modify mix` and the text of the
// formula, as bytes: a restart file contains all that a run needs. A run that reads it repeats the commands.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace nbcc_lammps {

struct CoeffRecord {
  std::vector<std::string> settings;             // words after `pair_style nbcc`
  std::string path, text;                        // of the formula; both empty: no pair_coeff has named one
  std::vector<std::vector<std::string>> coeffs;  // words after `pair_coeff`, with @FILE replaced by its numbers
  std::size_t mix = 0;                           // of `pair_modify mix`: LAMMPS's number of the rule
};

std::string bytes_of(const CoeffRecord& record);
// Throws std::runtime_error if the bytes are not of this version of the format.
CoeffRecord record_of(const std::string& bytes);

}  // namespace nbcc_lammps
