// Charts in files that a program's option names.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace examples {

// A check of an option: the name of a file to which a chart can be written, which ends in ".svg".
CLI::Validator chart_file();

// svg: what nbcc::svg_of() has returned. Prints the file's name. Throws UsageError if the file cannot be written.
void write_chart(const std::string& path, const std::string& svg);

}  // namespace examples
