// A result as a file, with the command that made it.
#pragma once
#include <CLI/App.hpp>
#include <string>

#include "particles/files/particle_files.h"

namespace nbcc {

struct OutputChoice {
  std::string path;
  WriteOptions write;
};

// -o FILE (required, unless said otherwise), --format, --force
CLI::Option* declare_output_options(CLI::App& app, OutputChoice& output);

// As write_particles, with the command line and the version recorded in front of the table's attributes. A signal that
// would end the program (Ctrl-C) takes effect once the file is complete, so that nothing half written stays behind.
void save_table(const OutputChoice& output, ParticleTable table, const std::string& command_line);

// The same of a run's results in a file of particles.
void save_update(const ParticleUpdate& update, ParticleTable results, const std::string& command_line);

// In front of a table's attributes: who made it.
void add_origin(ParticleTable& table, const std::string& command_line);

}  // namespace nbcc
