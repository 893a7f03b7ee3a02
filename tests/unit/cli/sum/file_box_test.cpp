// The box that a particle file states, and what is said where a pipeline's is another.
#include "cli/sum/file_box.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"

namespace nbcc {
namespace {

using testing::HasSubstr;

ParticleTable table_of(std::vector<std::pair<std::string, std::string>> attributes) {
  ParticleTable table;
  table.attributes = std::move(attributes);
  return table;
}

std::string text_of(const std::string& difference, const std::string& params) {
  return "input_i vec3 xi; input_j vec3 xj; " + params + " output(sum) real n;\nvec3 dx = " + difference +
         "; skip_if(dot(dx, dx) >= 1.0); n += 1.0;\n";
}

std::string said(const ParticleTable& table, const std::string& difference, const std::string& params,
                 const std::vector<double>& values) {
  const KernelSource kernel = build_cpu_kernel(Source{"near.pipe", text_of(difference, params)}, {}, Isa::Avx2, "");
  const std::optional<FileBox> box = file_box(table);
  return box ? box_warning(*box, "a file", kernel, values) : "";
}

const ParticleTable kCube = table_of({{"xlo xhi", "-1 9"}, {"ylo yhi", "0 10"}, {"zlo zhi", "0.0 1e1"}});
constexpr const char *kInBox = "nearest_image(xj - xi, box)", *kInCell = "nearest_image(xj - xi, a, b, c)",
                     *kBox = "param vec3 box;", *kCell = "param vec3 a; param vec3 b; param vec3 c;";

TEST(FileBox, IsThatOfAHeaderOrALattice) {
  EXPECT_FALSE(file_box(table_of({{"seed", "3"}})));
  EXPECT_FALSE(file_box(table_of({{"xlo xhi", "0 8"}})));  // one side is no box
  EXPECT_EQ(file_box(kCube)->cell[0], (std::array<double, 3>{10, 0, 0}));
  const auto tilted = table_of({{"xlo xhi", "0 4"}, {"ylo yhi", "0 5"}, {"zlo zhi", "0 6"}, {"xy xz yz", "1 2 3"}});
  EXPECT_EQ(file_box(tilted)->cell[2], (std::array<double, 3>{2, 3, 6}));
  const std::pair<std::string, std::string> lattice{"Lattice", "4 0 0 0 5 0 1 0 6"};
  EXPECT_EQ(file_box(table_of({lattice}))->cell[2], (std::array<double, 3>{1, 0, 6}));
  EXPECT_EQ(file_box(table_of({lattice, {"pbc", "T F T"}}))->periodic, (std::array{true, false, true}));
  EXPECT_FALSE(file_box(table_of({lattice, {"pbc", "F F F"}})));
  EXPECT_FALSE(file_box(table_of({{"Lattice", "4 0 0"}})));
  ParticleTable slab = kCube;
  slab.attributes.emplace_back("boundary", "pp pp fs");
  EXPECT_EQ(file_box(slab)->periodic, (std::array{true, true, false}));
}

TEST(FileBox, IsNamedWhereThePipelineHasNone) {
  EXPECT_EQ(said(kCube, "xj - xi", "", {}),
            "a file is of particles in a periodic box of 10 x 10 x 10, but pipeline 'near' takes no nearest image: no "
            "pair across an edge of the box is near");
}

TEST(FileBox, IsNamedWhereThePipelinesIsAnother) {
  EXPECT_EQ(said(kCube, kInBox, kBox, {10, 10, 10}), "");
  EXPECT_EQ(said(kCube, kInBox, kBox, {10, 10, 9}),
            "a file is of particles in a periodic box of 10 x 10 x 10, but the box of pipeline 'near' is 10 x 10 x 9: "
            "its params were not set from the file");
  EXPECT_THAT(said(kCube, kInBox, kBox, {1e30, 1e30, 1e30}), HasSubstr("1e+30"));
  EXPECT_THAT(said(kCube, kInBox, kBox, {5, 5, 5}), HasSubstr("5 x 5 x 5"));  // whole parts of it
  const ParticleTable slab = table_of({{"Lattice", "10 0 0 0 10 0 0 0 10"}, {"pbc", "T T F"}});
  EXPECT_EQ(said(slab, kInBox, kBox, {10, 10, 1e30}), "");
  EXPECT_NE(said(slab, kInBox, kBox, {10, 1e30, 10}), "");
  EXPECT_EQ(said(slab, "vec3(nearest_image(xj.x - xi.x, box.x), nearest_image(xj.y - xi.y, box.y), xj.z - xi.z)", kBox,
                 {10, 10, 0}),
            "");
}

// every_image() uses the box as nearest_image() does; an open direction may be any of its vectors.
TEST(FileBox, IsKnownOfEveryImage) {
  constexpr const char *kEvery = "every_image(xj - xi, box)", *kEveryCell = "every_image(xj - xi, a, b, c)",
                       *kSlab = "every_image(xj - xi, a, b)", *kTwo = "param vec3 a; param vec3 b;";
  EXPECT_EQ(said(kCube, kEvery, kBox, {10, 10, 10}), "");
  EXPECT_EQ(said(kCube, kEveryCell, kCell, {10, 0, 0, 10, 10, 0, 0, 0, 10}), "");
  EXPECT_EQ(said(kCube, kEvery, kBox, {10, 10, 9}),
            "a file is of particles in a periodic box of 10 x 10 x 10, but the box of pipeline 'near' is 10 x 10 x 9: "
            "its params were not set from the file");
  EXPECT_THAT(said(kCube, kSlab, kTwo, {10, 0, 0, 0, 10, 0}), HasSubstr("10 x 10 x 0"));
  for (const char* boundary : {"pp pp ff", "pp ff pp", "ff pp pp"}) {
    ParticleTable slab = kCube;
    slab.attributes.emplace_back("boundary", boundary);
    std::vector<double> vectors, lengths;
    for (std::size_t k = 0; k < 3; ++k) {
      const bool open = boundary[3 * k] == 'f';
      lengths.push_back(open ? HUGE_VAL : 10);
      for (std::size_t c = 0; c < 3 && !open; ++c) vectors.push_back(c == k ? 10 : 0);
    }
    EXPECT_EQ(said(slab, kSlab, kTwo, vectors), "") << boundary;
    EXPECT_EQ(said(slab, kEvery, kBox, lengths), "") << boundary;
  }
}

// Without a proved cutoff it is not known which params are the box, whatever their names are.
TEST(FileBox, IsNamedWhereNoParamIsTheFiles) {
  const auto unproved = [](const ParticleTable& table, const std::string& difference, const std::string& params,
                           const std::vector<double>& values) {
    const std::string text = "input_i vec3 xi; input_j vec3 xj; " + params +
                             " output(sum) real n;\nvec3 dx = " + difference + "; n += 1.0 / (1.0 + dot(dx, dx));\n";
    const KernelSource kernel = build_cpu_kernel(Source{"far.pipe", text}, {}, Isa::Avx2, "");
    return box_warning(*file_box(table), "a file", kernel, values);
  };
  const char* const kLengths = "param vec3 lengths;";
  EXPECT_EQ(unproved(kCube, "nearest_image(xj - xi, lengths)", kLengths, {10, 10, 10}), "");
  EXPECT_EQ(unproved(kCube, "nearest_image(xj - xi, side)", "param real side;", {10}), "");
  EXPECT_EQ(unproved(kCube, "nearest_image(xj - xi, lengths)", kLengths, {10, 10, 9}), "");  // each may be a side
  EXPECT_EQ(
      unproved(kCube, "nearest_image(xj - xi, lengths)", kLengths, {9, 9, 9}),
      "a file is of particles in a periodic box of 10 x 10 x 10, but no param of pipeline 'far' has its lengths or "
      "vectors: they were not set from the file");
  EXPECT_NE(unproved(kCube, kInBox, kBox, {9, 9, 9}), "");
  const ParticleTable tilted = table_of({{"Lattice", "7 0 0 2 6.5 0 -1.5 1 8"}});
  EXPECT_EQ(unproved(tilted, kInCell, kCell, {7, 0, 0, 9, 6.5, 0, -1.5, 1, 8}), "");  // another basis
  EXPECT_NE(unproved(tilted, kInCell, kCell, {7, 0, 0, 2, 6.4, 0, -1.5, 1, 8}), "");
}

// Any basis of the file's lattice is its box.
TEST(FileBox, MayBeGivenByAnotherBasis) {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<double> cell{7, 0, 0, 2, 6.5, 0, -1.5, 1, 8};
    const ParticleTable table = table_of({{"Lattice", "7 0 0 2 6.5 0 -1.5 1 8"}});
    for (int step = 0; step < 5; ++step) {
      const std::size_t one = random() % 3, other = (one + 1 + random() % 2) % 3;
      const double times = double(random() % 5) - 2;
      for (std::size_t k = 0; k < 3; ++k) cell[3 * one + k] += times * cell[3 * other + k];
    }
    EXPECT_EQ(said(table, kInCell, kCell, cell), "") << trial;
    cell[random() % 9] += 0.01;
    EXPECT_NE(said(table, kInCell, kCell, cell), "") << trial;
  }
}

TEST(FileBox, LatticesThatCannotBeReadAreNamed) {
  ParticleTable table;
  table.attributes = {{"lattice", "1.0d1 0 0 0 10 0 0 0 10"}, {"PBC", "T T T"}};
  EXPECT_EQ(box_fault(table), "");
  ASSERT_TRUE(file_box(table));
  EXPECT_EQ(file_box(table)->cell[0][0], 10);
  table.attributes[0].second = "nan 0 0 0 10 0 0 0 10";
  EXPECT_EQ(box_fault(table),
            "Lattice=\"nan 0 0 0 10 0 0 0 10\" is not nine finite numbers, so no periodic box is known");
  EXPECT_FALSE(file_box(table));
  EXPECT_THROW(params_of_box("box", table, "a.xyz"), UsageError);
  table.attributes = {{"Lattice", "-10 0 0 0 10 0 0 0 10"}, {"pbc", "T T"}};
  EXPECT_EQ(box_fault(table), "pbc=\"T T\" is not three words, so no periodic box is known");
  for (const char* all : {"t t t", "T t True", "true TRUE 1"}) {
    table.attributes.back().second = all;
    ASSERT_TRUE(file_box(table)) << all;
    EXPECT_EQ(file_box(table)->periodic, (std::array{true, true, true})) << all;
  }
  table.attributes.back().second = "T f yes";
  EXPECT_EQ(box_fault(table), "pbc=\"T f yes\" has 'yes', which is neither T nor F, so no periodic box is known");
  table.attributes.pop_back();
  EXPECT_EQ(params_of_box("box", table, "a.xyz")[0].values, (std::vector<double>{10, 10, 10}));
}

}  // namespace
}  // namespace nbcc
