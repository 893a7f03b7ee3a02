// Chooses for each input field of a pipeline the column of a particle file that it is read from.
//
// By default a field is read from the column of the same name, or of its name without the trailing i or j; a vector of
// two or three components also from a column for each component: x, y and z for xi, vx, vy and vz for vi. The numbers
// of a plain array without column names go to the fields in the order of declaration; the i-fields and the j-fields
// both begin at the first number.
//
// Tested by tests/unit/particles/bind_particles_test.cpp.
//
// --bind overrides this for a field:
//   xi=x             the column x, which has as many components as the field
//   xi=data[3]       as many components as the field has, from component 3 of the column on
//   INPUT_J[3]=m     all components of the column m, as the components of the field from 3 on
//   INPUT_J[3]=x[1]  one component
//   hi=0.5*h         a column times a number; also h*0.5 and h/2. Not for integer fields
#pragma once
#include <string>
#include <vector>

#include "particles/column_choice.h"
#include "particles/particle_table.h"

namespace nbcc {

struct InputField {
  std::string name;
  std::string type;
  bool acts = false;  // true: an input_j field
  bool integral = false;
  int components = 1;
  std::string stem() const;  // "x" of xi and xj
};

struct ColumnComponent {
  const ParticleColumn* column = nullptr;
  int component = 0;
  double factor = 1, divisor = 1;  // at() returns factor * (the column's number) / divisor
  bool is_scaled() const { return factor != 1 || divisor != 1; }
  double at(std::int64_t row) const;
};

struct BoundField {
  std::string field;
  bool acts = false;
  std::vector<ColumnComponent> from;  // one for each component of the field
  bool by_option = false;             // --bind names the field
};

// The table of the i-particles or of the j-particles. Bound fields point to its columns.
struct ParticleSide {
  const ParticleTable* table = nullptr;
  std::string path;  // for messages
};

// Returns one BoundField per field, in the order of `fields`. `overrides`: the values of --bind; each may be a
// comma-separated list. Throws UsageError, which names the field and the existing columns.
std::vector<BoundField> bind_particles(const std::vector<InputField>& fields, const ParticleSide& i,
                                       const ParticleSide& j, const std::vector<std::string>& overrides);

// The columns that bind_particles() may look for in the table of i, or of j if `acts`.
ColumnChoice columns_asked_for(const std::vector<InputField>& fields, bool acts,
                               const std::vector<std::string>& overrides);

// Which number of a row each field begins at, for the tables without column names: "a.txt has no column names, so the
// fields take the numbers of a row in order: xi=data[0], mj=data[3]". "": all tables have names, or --bind names all.
std::string bound_by_order(const std::vector<BoundField>& bound, const ParticleSide& i, const ParticleSide& j);

// How many numbers per row of a plain array no field is read from; the larger count where i and j have different
// arrays. 0 for tables with column names.
int unused_numbers(const std::vector<InputField>& fields, const ParticleSide& i, const ParticleSide& j);

}  // namespace nbcc
