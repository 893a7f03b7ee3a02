// The particles of both sides of a sum, from one file, two, or several that are joined.
#pragma once
#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "particles/bind_particles.h"

namespace nbcc {

struct ParticleSourceOptions {
  std::vector<std::string> i, j;  // paths of files with columns of the same particles; none are the other's
  bool last_wins = false;         // where these have a column in common
  std::string columns, columns_i, columns_j;
  std::vector<std::string> bindings;
  std::string types;
  std::string skip_lines;
  bool all_of_i = false;  // every column of the i-particles is read
};

// --i, --j, --last-wins, --columns, --columns-i, --columns-j, --bind, --types, --skip-lines
void declare_particle_source(CLI::App& app, ParticleSourceOptions& options);

class ParticleSource {
 public:
  // Reads the files, one that serves both sides once, and of those that name their arrays only what these fields may
  // be bound to, and the ids of the i-particles. Throws FileError, UsageError.
  ParticleSource(const ParticleSourceOptions& options, const std::vector<InputField>& fields);
  ParticleSource(const ParticleSource&) = delete;
  ParticleSource& operator=(const ParticleSource&) = delete;

  ParticleSide i() const { return {&i_table_, i_name_}; }
  ParticleSide j() const { return {j_table_ ? &*j_table_ : &i_table_, j_name_}; }
  // As bind_particles; says on standard error when numbers of a plain array are left over.
  std::vector<BoundField> bind(const std::vector<InputField>& fields) const;

 private:
  ParticleTable i_table_;
  std::optional<ParticleTable> j_table_;  // where it is not the same
  std::string i_name_, j_name_;           // the files, for messages
  std::vector<std::string> bindings_;
};

}  // namespace nbcc
