// What the command is given to read as a whole: files and pipes, bounded.
// Tested by tests/unit/particle_files_test.cpp and command_compile_test.cpp.
#pragma once
#include <string>

namespace nbcc {

// "-" is standard input. `what` stands in messages, as "a particle file". A regular file may have any size; what comes
// through a pipe may take half of this machine's memory. Folders and devices (but the terminal at standard input) are
// refused. Throws FileError.
std::string read_input(const std::string& path, const char* what);

// Throws what read_input would throw before it reads, and refuses pipes, too: for what is read in place.
void check_readable_in_place(const std::string& path, const char* what);

}  // namespace nbcc
