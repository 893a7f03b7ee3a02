// Reads the i- and the j-particles of a sum from one file, from two, or from several files that are joined.
#pragma once
#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "particles/bind_particles.h"

namespace nbcc {

struct ParticleSourceOptions {
  std::vector<std::string> i, j;  // paths; several files hold columns of the same particles; empty: the other list
  bool last_wins = false;         // which file's values are taken if files have a column in common: see join_tables.h
  std::string columns, columns_i, columns_j;
  std::vector<std::string> bindings;
  std::string types;
  std::string skip_lines;
  bool all_of_i = false;  // read every column of the i-particles
};

// --i, --j, --last-wins, --columns, --columns-i, --columns-j, --bind, --types, --skip-lines
void declare_particle_source(CLI::App& app, ParticleSourceOptions& options);

class ParticleSource {
 public:
  // Reads the files; a file that gives both i and j is read once. Of files that name their arrays, only the columns
  // that the fields may be bound to and the ids of the i-particles are read. Throws FileError, UsageError.
  ParticleSource(const ParticleSourceOptions& options, const std::vector<InputField>& fields);
  ParticleSource(const ParticleSource&) = delete;
  ParticleSource& operator=(const ParticleSource&) = delete;

  ParticleSide i() const { return {&i_table_, i_name_}; }
  ParticleSide j() const { return {j_table_ ? &*j_table_ : &i_table_, j_name_}; }
  // Like bind_particles(); prints notes to standard error: numbers of a plain array that are bound to no field, the
  // meaning of a snapshot's smoothing length.
  std::vector<BoundField> bind(const std::vector<InputField>& fields) const;

 private:
  std::string note_of_smoothing(const std::vector<BoundField>& bound) const;

  ParticleTable i_table_;
  std::optional<ParticleTable> j_table_;  // none: i_table_ serves both
  std::string i_name_, j_name_;           // names of the files, for messages
  std::vector<std::string> bindings_;
};

}  // namespace nbcc
