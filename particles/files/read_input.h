// Reads an entire input file or pipe of the command, of bounded size.
// Tested by tests/unit/particles/files/particle_files_test.cpp and command_compile_test.cpp.
#pragma once
#include <string>

namespace nbcc {

// "-" is standard input. `what` names the expected content in messages: "a particle file". A regular file may have any
// size; a pipe may deliver as many bytes as half of this machine's memory. Folders and devices are refused, except a
// terminal at standard input. Throws FileError.
std::string read_input(const std::string& path, const char* what);

// Throws what read_input would throw before it reads, and refuses pipes: for files that are opened by name (HDF5).
void check_readable_in_place(const std::string& path, const char* what);

}  // namespace nbcc
