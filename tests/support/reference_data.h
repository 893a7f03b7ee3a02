// Files of published numbers that lie beside the source tree and are no part of it: tests that need one skip without
// it.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/folders.h"

namespace nbcc::test {

inline std::string reference_path(const std::string& name) { return source_folder() + "/../shared/validation/" + name; }

// Rows of numbers; lines that begin with # are left out.
inline std::vector<std::vector<double>> read_rows(const std::string& path) {
  std::vector<std::vector<double>> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::vector<double> row;
    for (double number; words >> number;) row.push_back(number);
    if (!row.empty()) rows.push_back(row);
  }
  return rows;
}

}  // namespace nbcc::test

// In a test: skips it when the file is not there.
#define NBCC_NEEDS_REFERENCE(name)                                \
  if (!std::filesystem::exists(nbcc::test::reference_path(name))) \
  GTEST_SKIP() << "the reference data " << nbcc::test::reference_path(name) << " is absent"
