// --bind: a column times a number, and what is said of terms that are none.
#include "particles/bind_particles.h"

#include <gtest/gtest.h>

#include "tests/support/particle_tables.h"

namespace nbcc {
namespace {

using Doubles = std::vector<double>;

const std::vector<InputField> kFields = {
    {"xi", "vec3", false, false, 3}, {"hi", "real", false, false, 1}, {"typei", "int", false, true, 1}};

ParticleTable table() {
  ParticleTable table;
  table.rows = 2;
  table.columns = {{"x", 3, Doubles{1, 2, 3, 4, 5, 6}},
                   {"h", 1, std::vector<float>{3, 5}},
                   {"type", 1, std::vector<std::int32_t>{1, 2}},
                   {"u/v", 1, Doubles{7, 8}}};
  return table;
}

// The numbers that a field reads, row by row.
Doubles numbers_of(const std::string& field, const std::vector<std::string>& overrides) {
  const ParticleTable particles = table();
  Doubles numbers;
  for (const BoundField& bound : bind_particles(kFields, {&particles, "a.txt"}, {&particles, "a.txt"}, overrides))
    for (std::int64_t row = 0; bound.field == field && row < 2; ++row)
      for (const ColumnComponent& from : bound.from) numbers.push_back(from.at(row));
  return numbers;
}

std::string fault(const std::string& text) {
  return test::error_of([&] { numbers_of("hi", {text}); });
}

TEST(BindParticles, ColumnsMayBeScaled) {
  EXPECT_EQ(numbers_of("hi", {}), (Doubles{3, 5}));
  for (const char* half : {"hi=0.5*h", "hi=h*0.5", "hi=h/2", "hi = 5e-1 * h", "hi= h / 2.0", "hi=+.5*h"})
    EXPECT_EQ(numbers_of("hi", {half}), (Doubles{1.5, 2.5})) << half;
  EXPECT_EQ(numbers_of("hi", {"hi=-2*x[1]"}), (Doubles{-4, -10}));
  EXPECT_EQ(numbers_of("xi", {"xi=2*x,hi=3*h"}), (Doubles{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(numbers_of("xi", {"xi[0]=h/3,xi[1]=x[0],xi[2]=1e3*u/v"}), (Doubles{1, 1, 7000, 5.0 / 3, 4, 8000}));
  EXPECT_EQ(numbers_of("hi", {"hi=u/v"}), (Doubles{7, 8}));  // a slash may be part of a name
}

TEST(BindParticles, ScaledColumnsAreAskedOfTheFile) {
  EXPECT_EQ(columns_asked_for({kFields[1]}, false, {"hi=0.5*SmoothingLength"}).names,
            (std::vector<std::string>{"SmoothingLength", "0.5*SmoothingLength"}));
}

TEST(BindParticles, TermsThatAreNoScaledColumnAreNamed) {
  const std::string forms = "; a column times a number is 0.5*h, h*0.5 or h/2";
  const struct {
    std::string text, expected;
  } cases[] = {
      {"hi=x*h", "--bind hi=x*h: 'h' is not a finite number" + forms},
      {"hi=0.5*", "--bind hi=0.5*: '0.5*' does not name one column" + forms},
      {"hi=*h", "--bind hi=*h: 'h' is not a finite number" + forms},
      {"hi=h/", "--bind hi=h/: '' is not a finite number" + forms},
      {"hi=0.5*2", "--bind hi=0.5*2: '0.5*2' does not name one column" + forms},
      {"hi=2/h", "--bind hi=2/h: there is no column '2/h' in a.txt, which has x[3], h, type, u/v"},
      {"hi=inf*h", "--bind hi=inf*h: 'inf' is not a finite number" + forms},
      {"hi=h*nan", "--bind hi=h*nan: 'nan' is not a finite number" + forms},
      {"hi=h/0", "--bind hi=h/0: a column is divided by zero"},
      {"hi=0.5*g", "--bind hi=0.5*g: there is no column 'g' in a.txt, which has x[3], h, type, u/v"},
      {"hi=0.5*h*2", "--bind hi=0.5*h*2: there is no column 'h*2' in a.txt, which has x[3], h, type, u/v"},
      {"typei=2*type", "--bind typei=2*type: typei is of type int, whose columns are not multiplied"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(fault(text), expected);
}

TEST(BindParticles, AColumnWhoseNameReadsAsATermIsNotGuessed) {
  ParticleTable particles = table();
  particles.columns.push_back({"h/2", 1, Doubles{10, 11}});
  EXPECT_EQ(test::error_of([&] { bind_particles(kFields, {&particles, "a.txt"}, {&particles, "a.txt"}, {"hi=h/2"}); }),
            "--bind hi=h/2: a column of a.txt is called 'h/2', so this may mean that column or a multiple of 'h': "
            "rename it");
}

ParticleTable scalars(const std::vector<std::string>& names) {
  ParticleTable table;
  table.rows = 1;
  for (const std::string& name : names) table.columns.push_back({name, 1, Doubles{double(table.columns.size())}});
  return table;
}

// The columns of a vector's components, or what is said where they are missing.
std::string vector_from(const std::vector<std::string>& names, const InputField& field) {
  const ParticleTable particles = scalars(names);
  std::string found;
  const std::string fault = test::error_of([&] {
    const std::vector<BoundField> bound = bind_particles({field}, {&particles, "a.npz"}, {&particles, "a.npz"}, {});
    for (const ColumnComponent& from : bound[0].from) found += from.column->name + " ";
  });
  return fault.empty() ? found : fault;
}

// In files of every kind, which may hold them in any order.
TEST(BindParticles, CoordinatesAreOneVector) {
  const InputField xi{"xi", "vec3", false, false, 3}, vj{"vj", "vec3", true, false, 3},
      flat{"xi", "vec2", false, false, 2};
  EXPECT_EQ(vector_from({"z", "m", "x", "y"}, xi), "x y z ");
  EXPECT_EQ(vector_from({"vx", "vz", "vy"}, vj), "vx vy vz ");
  EXPECT_EQ(vector_from({"y", "x"}, flat), "x y ");
  EXPECT_EQ(columns_asked_for({xi}, false, {}).names, (std::vector<std::string>{"xi", "x", "x", "y", "z"}));
  EXPECT_EQ(
      vector_from({"x", "y", "z"}, flat),
      "input_i 'xi' is a vec2 with 2 numbers per particle, but column 'x' of a.npz has 1; say --bind xi=COLUMN, or "
      "a column for each component, as --bind 'xi[0]=x,xi[1]=y'");
}

TEST(BindParticles, AVectorWithoutColumnsIsToldHowToBindThem) {
  const InputField xi{"xi", "vec3", false, false, 3};
  EXPECT_EQ(
      vector_from({"ID", "X", "Y", "Z"}, xi),
      "input_i 'xi' finds no column 'xi' or 'x' in a.npz, which has ID, X, Y, Z; say --bind xi=COLUMN, or a column "
      "for each component, as --bind 'xi[0]=X,xi[1]=Y,xi[2]=Z'");
  EXPECT_EQ(
      vector_from({"a"}, {"n", "vec3", false, false, 3}),
      "input_i 'n' finds no column 'n' in a.npz, which has a; say --bind n=COLUMN, or a column for each component, "
      "as --bind 'n[0]=nx,n[1]=ny,n[2]=nz'");
}

TEST(BindParticles, TheOrderOfNumbersWithoutNamesIsTold) {
  ParticleTable particles;
  particles.rows = 1;
  particles.columns = {{"data", 5, Doubles{1, 2, 3, 4, 5}}};
  particles.unnamed = true;
  const ParticleSide side{&particles, "a.txt"};
  const std::vector<InputField> fields = {
      {"xi", "vec3", false, false, 3}, {"xj", "vec3", true, false, 3}, {"mj", "real", true, false, 1}};
  EXPECT_EQ(bound_by_order(bind_particles(fields, side, side, {}), side, side),
            "a.txt has no column names, so the fields take the numbers of a row in order: xi=data[0], xj=data[0], "
            "mj=data[3]");
  EXPECT_EQ(bound_by_order(bind_particles(fields, side, side, {"mj=data[4]"}), side, side),
            "a.txt has no column names, so the fields take the numbers of a row in order: xi=data[0], xj=data[0]");
  const ParticleTable named = table();
  const ParticleSide other{&named, "b.txt"};
  EXPECT_EQ(bound_by_order(bind_particles(kFields, other, other, {}), other, other), "");
}

TEST(BindParticles, AFieldHasOneColumn) {
  EXPECT_EQ(fault("hi=2*h,hi=3*h"), "--bind hi=3*h: hi has a column by another --bind");
  EXPECT_EQ(fault("xi=x,xi[1]=h"), "--bind xi[1]=h: xi[3] has a column by another --bind");
}

}  // namespace
}  // namespace nbcc
