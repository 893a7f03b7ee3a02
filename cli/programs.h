// Other programs that the command makes use of where they are installed: gnuplot, the CUDA toolkit's.
#pragma once
#include <string>
#include <vector>

namespace nbcc {

// The program's whole path, found along $PATH; "" when it is not there.
std::string find_program(const std::string& name);

// Folders of the CUDA toolkit: those of $CUDA_HOME and $CUDA_PATH, then the usual ones.
std::vector<std::string> cuda_folders();

// In quotes, as one word for a shell.
std::string shell_word(const std::string& text);

// What a program (its name and options, for a shell) prints of a file. Throws DeviceError when it fails, with what it
// said on standard error.
std::string run_program(const std::string& program, const std::string& file);

}  // namespace nbcc
