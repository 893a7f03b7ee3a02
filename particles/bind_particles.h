// Which numbers of a particle file are which field of a pipeline.
//
// Without more words a field takes the column of its own name, or of its name without the trailing i or j. A plain
// array without column names gives its numbers to the fields in the order in which they are declared, those of i and
// those of j each counting from the first.
//
// --bind says otherwise, field by field:
//   xi=x          the column x, which has as many numbers as the field
//   xi=data[3]    as many numbers as the field has, from number 3 of the column on
//   INPUT_J[3]=m  all numbers of the column, as the components from 3 on
//   INPUT_J[3]=x[1]  one number
#pragma once
#include <string>
#include <vector>

#include "particles/column_choice.h"
#include "particles/particle_table.h"

namespace nbcc {

struct InputField {
  std::string name;
  std::string type;
  bool acts = false;  // a j-field
  bool integral = false;
  int components = 1;
  std::string stem() const;  // "x" of xi and xj
};

struct ColumnComponent {
  const ParticleColumn* column = nullptr;
  int component = 0;
  double at(std::int64_t row) const;
};

struct BoundField {
  std::string field;
  bool acts = false;
  std::vector<ColumnComponent> from;  // one for each component of the field
};

// A file's table, which the bound fields point into.
struct ParticleSide {
  const ParticleTable* table = nullptr;
  std::string path;  // for messages
};

// One for each field, in their order. `overrides` are the values of --bind, each of which may be a list with commas.
// Throws UsageError that names the field, and the columns that there are.
std::vector<BoundField> bind_particles(const std::vector<InputField>& fields, const ParticleSide& i,
                                       const ParticleSide& j, const std::vector<std::string>& overrides);

// The columns that bind_particles() may look for on one side: i, or j where `acts`.
ColumnChoice columns_asked_for(const std::vector<InputField>& fields, bool acts,
                               const std::vector<std::string>& overrides);

// Numbers in each row of a plain array that no field takes, where neither side takes them; 0 for tables with names.
int unused_numbers(const std::vector<InputField>& fields, const ParticleSide& i, const ParticleSide& j);

}  // namespace nbcc
