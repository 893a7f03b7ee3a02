// Writes a result file that records the command which made it.
#pragma once
#include <CLI/App.hpp>
#include <string>

#include "particles/files/particle_files.h"

namespace nbcc {

struct OutputChoice {
  std::string path;
  WriteOptions write;
};

// Declares -o FILE (required; callers may change that), --format and --force, and returns the option -o.
CLI::Option* declare_output_options(CLI::App& app, OutputChoice& output);

// Like write_particles(), with the version and the command line recorded before the table's attributes. A signal that
// would end the program (Ctrl-C) takes effect after the file is complete, so that no partial file remains.
void save_table(const OutputChoice& output, ParticleTable table, const std::string& command_line);

// The same for results that are written into a particle file.
void save_update(const ParticleUpdate& update, ParticleTable results, const std::string& command_line);

// Inserts "made by" and "command" before the table's other attributes.
void add_origin(ParticleTable& table, const std::string& command_line);

}  // namespace nbcc
