// The program nbcc: passes its command line to the function nbcc_command(), and returns the exit code. It contains no
// other code, because in the Python wheel the command is part of a shared library.
#include "cli/commands/command.h"

int main(int argc, char** argv) { return nbcc_command(argc, argv); }
