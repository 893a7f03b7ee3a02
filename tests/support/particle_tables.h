// Small tables, and what a file's fault is said to be, for the tests of the particle files.
#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "particles/file_error.h"
#include "particles/particle_table.h"

namespace nbcc::test {

// Every element type, one and several components, values that need all of their digits.
inline ParticleTable mixed_table() {
  ParticleTable table;
  table.rows = 2;
  table.columns = {{"id", 1, std::vector<std::int64_t>{9007199254740993, -1}},
                   {"m", 1, std::vector<double>{0.1, 1e-300}},
                   {"x", 3, std::vector<double>{1.0 / 3, -0.0, 6.02e23, 1, 2, 3}},
                   {"h", 1, std::vector<float>{0.1f, 3e38f}},
                   {"type", 2, std::vector<std::int32_t>{1, -2147483647 - 1, 3, 4}}};
  table.attributes = {{"made by", "a test: with a colon"}, {"seed", "42"}};
  return table;
}

// The table as a .csv file gives it back, which has no types and no attributes.
inline ParticleTable as_of_csv(ParticleTable table) {
  for (ParticleColumn& column : table.columns)
    if (column.name != "id") {
      // Numbers of type float are written with nine digits.
      const bool is_float = column.type() == ElementType::Float;
      column = convert(column, ElementType::Double);
      if (is_float)
        for (double& value : std::get<std::vector<double>>(column.data)) {
          char text[32];
          std::snprintf(text, sizeof text, "%.9g", value);
          value = std::stod(text);
        }
    }
  table.attributes.clear();
  return table;
}

inline ParticleTable unnamed_table() {
  ParticleTable table;
  table.rows = 2;
  table.columns = {{"data", 3, std::vector<double>{1, 2, 3, 4, 5, 6}}};
  table.unnamed = true;
  return table;
}

inline void expect_same_columns(const ParticleTable& table, const ParticleTable& expected) {
  EXPECT_EQ(table.rows, expected.rows);
  EXPECT_EQ(table.unnamed, expected.unnamed);
  ASSERT_EQ(table.column_names(), expected.column_names());
  for (std::size_t k = 0; k < table.columns.size(); ++k)
    EXPECT_EQ(table.columns[k].data, expected.columns[k].data) << expected.columns[k].name;
}

// The text of the FileError (or other exception) that the call throws; "" when it throws none.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace nbcc::test
