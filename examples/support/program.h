// What all programs do with their command line.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "runtime/api/nbcc.h"

namespace examples {

// Reads the command line and runs `body`. Returns the exit code: 0; 1 for input that is wrong, 2 for wrong use and
// files, 3 for what this machine does not have (failure.h, nbcc.h). What went wrong is told in standard error.
int run_program(CLI::App& app, int count, char** words, const std::function<void()>& body);

CLI::Option* add_device(CLI::App& app, std::string& device);
// single, mixed or double; what `precision` is before is the default.
CLI::Option* add_precision(CLI::App& app, nbcc_precision& precision, const std::string& text);
const char* name_of(nbcc_precision precision);

// Checks of an option: numbers that are above 0, at least 0, or just numbers; "inf" and "nan" are none.
CLI::Validator positive();
CLI::Validator not_negative();
CLI::Validator finite();
// 0, or what nbcc_sum_set_tolerance accepts.
CLI::Validator tolerance();

}  // namespace examples
