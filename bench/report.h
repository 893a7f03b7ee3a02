// What was measured: tables for people on standard output, a list of objects for programs.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nbcc::bench {

// Column name -> number or text, in order. Names carry their unit: "generated_G/s".
using Row = nlohmann::ordered_json;

class Report {
 public:
  // Prints the rows, which have the same columns, under a title, and keeps them with the section's name.
  void table(const std::string& section, const std::string& title, const std::vector<Row>& rows);
  // "" writes nothing. Throws std::runtime_error if the file cannot be written.
  void write_json(const std::string& path, const Row& machine) const;

 private:
  Row rows_ = Row::array();
};

}  // namespace nbcc::bench
