// The nbcc command as a function, for the program nbcc: command-line words to an exit code.
#pragma once

// Exported, because in the Python wheel this function is in libnbcc_jit.so, which the program loads.
extern "C" __attribute__((visibility("default"))) int nbcc_command(int argc, char** argv);
