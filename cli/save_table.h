// A result as a file, with the command that made it.
#pragma once
#include <CLI/App.hpp>
#include <string>

#include "particles/particle_files.h"

namespace nbcc {

// -o FILE (required), --format, --force
void declare_output_options(CLI::App& app, std::string& path, std::string& format, bool& force);

// As write_particles, with the command line and the version recorded in front of the table's attributes. A signal that
// would end the program (Ctrl-C) takes effect once the file is complete, so that nothing half written stays behind.
void save_table(const std::string& path, ParticleTable table, const WriteOptions& options,
                const std::string& command_line);

}  // namespace nbcc
