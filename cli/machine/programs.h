// Runs other programs that the command uses if they are installed, such as the tools of the CUDA toolkit.
#pragma once
#include <string>
#include <vector>

namespace nbcc {

// The full path of a program in $PATH; "" if it is not found.
std::string find_program(const std::string& name);

// Candidate folders of the CUDA toolkit: $CUDA_HOME and $CUDA_PATH, then /usr/local/cuda and /opt/cuda.
std::vector<std::string> cuda_folders();

// Quotes a text as one word for a shell.
std::string shell_word(const std::string& text);

// Runs `program` (name and options, for a shell) on a file and returns its standard output. Throws DeviceError with its
// standard error if it fails.
std::string run_program(const std::string& program, const std::string& file);

}  // namespace nbcc
