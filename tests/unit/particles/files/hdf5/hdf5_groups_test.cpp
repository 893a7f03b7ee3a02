// Snapshots whose particle types are read together, as PartType0+PartType1: rows, columns, results, refusals.
#include "particles/files/hdf5/hdf5_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include "particles/files/hdf5/hdf5_file.h"
#include "particles/files/hdf5/hdf5_update.h"
#include "tests/support/command.h"
#include "tests/support/particle_tables.h"

namespace nbcc {
namespace {

using test::error_of;
using testing::HasSubstr;
using Doubles = std::vector<double>;
using Longs = std::vector<std::int64_t>;

hid_t make_group(hid_t file, const char* name) { return H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT); }

template <class Number>
void put_dataset(hid_t group, const char* name, hid_t in_file, hid_t type, std::vector<hsize_t> shape,
                 const std::vector<Number>& numbers) {
  const hid_t space = H5Screate_simple(int(shape.size()), shape.data(), nullptr);
  const hid_t dataset = H5Dcreate2(group, name, in_file, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
  H5Dclose(dataset);
  H5Sclose(space);
}

void put_text(hid_t group, const char* name, const std::string& text) {
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, text.size());
  const hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, text.data());
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

// Two particles of gas with masses of 7 and 8, three of dark matter with a mass of 0.25 in the header; and a group
// whose positions have two components.
class Hdf5Groups : public testing::Test, public test::Shell {
 protected:
  Hdf5Groups() {
    const hid_t file = H5Fcreate(snapshot_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t header = make_group(file, "Header"), gas = make_group(file, "PartType0"),
                dark = make_group(file, "PartType1"), flat = make_group(file, "PartType2");
    const hsize_t six = 6;
    const Doubles masses = {0, 0.25, 0, 0, 0, 0};
    const hid_t space = H5Screate_simple(1, &six, nullptr),
                attribute = H5Acreate2(header, "MassTable", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_DOUBLE, masses.data());
    H5Aclose(attribute);
    H5Sclose(space);
    const hid_t real = H5T_NATIVE_DOUBLE;
    put_dataset(gas, "Coordinates", real, real, {2, 3}, Doubles{0.1, 0, 0, 1, 0, 0});
    put_dataset(gas, "ParticleIDs", H5T_NATIVE_UINT32, H5T_NATIVE_INT64, {2}, Longs{11, 12});
    put_dataset(gas, "Masses", real, real, {2}, Doubles{7, 8});
    put_dataset(gas, "SmoothingLength", real, real, {2}, Doubles{4, 4});
    put_dataset(dark, "Coordinates", H5T_NATIVE_FLOAT, real, {3, 3}, Doubles{2, 0, 0, 3, 0, 0, 4, 0, 0});
    put_dataset(dark, "ParticleIDs", H5T_NATIVE_UINT64, H5T_NATIVE_INT64, {3}, Longs{21, 22, 23});
    put_dataset(flat, "Coordinates", real, real, {1, 2}, Doubles{1, 2});
    for (const hid_t group : {header, gas, dark, flat}) H5Gclose(group);
    H5Fclose(file);
  }

  ParticleTable read_both() const { return read_hdf5(snapshot_, "PartType0+PartType1"); }

  const std::string snapshot_ = path("s.hdf5");
};

TEST_F(Hdf5Groups, RowsOfOneGroupFollowThoseOfTheOther) {
  const ParticleTable both = read_both();
  EXPECT_EQ(both.column_names(), "x[3] (Coordinates), m (Masses), id (ParticleIDs), type");
  EXPECT_EQ(std::get<Doubles>(both.find("x")->data), (Doubles{0.1, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0}));
  EXPECT_EQ(std::get<Doubles>(both.find("m")->data), (Doubles{7, 8, 0.25, 0.25, 0.25}));
  EXPECT_EQ(std::get<Longs>(both.find("id")->data), (Longs{11, 12, 21, 22, 23}));
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(both.find("type")->data), (std::vector<std::int32_t>{0, 0, 1, 1, 1}));
  const ParticleTable reversed = read_hdf5(snapshot_, "/PartType1+PartType0/");
  EXPECT_EQ(std::get<Longs>(reversed.find("id")->data), (Longs{21, 22, 23, 11, 12}));
  EXPECT_EQ(both.rows, 5);
}

TEST_F(Hdf5Groups, AMissingColumnNamesItsGroup) {
  const ParticleTable both = read_both();
  EXPECT_EQ(both.absence("h"), ": PartType1 has no SmoothingLength");
  EXPECT_EQ(both.absence("SmoothingLength"), ": PartType1 has no SmoothingLength");
  EXPECT_EQ(both.absence("m"), "");
  const std::string run = "run $pipelines/sph_density.pipe -o a.txt --i s.hdf5:PartType0+PartType1";
  const test::Outcome implicit = nbcc(run), named = nbcc(run + " --bind hi=0.5*h");
  EXPECT_EQ(implicit.code, 2);
  EXPECT_THAT(implicit.err, HasSubstr("'hi' finds no column 'hi' or 'h' in s.hdf5:PartType0+PartType1, which has x[3] "
                                      "(Coordinates), m (Masses), id (ParticleIDs), type: PartType1 has no "
                                      "SmoothingLength; say --bind hi=COLUMN\n"));
  EXPECT_EQ(named.code, 2);
  EXPECT_THAT(named.err, HasSubstr("id (ParticleIDs), type: PartType1 has no SmoothingLength\n"));
}

TEST_F(Hdf5Groups, FaultyNamesAreRefused) {
  const auto fault = [&](const char* groups) { return error_of([&] { read_hdf5(snapshot_, groups); }); };
  EXPECT_EQ(fault("PartType0+PartType0"), snapshot_ + ": the group PartType0 is named twice in 'PartType0+PartType0'");
  EXPECT_EQ(fault("PartType0+"),
            snapshot_ + ": a name is missing in 'PartType0+'; groups are joined as PartType0+PartType1");
  EXPECT_EQ(fault("PartType0+Stars"), snapshot_ + ": there is no group 'Stars' in it");
  EXPECT_EQ(
      fault("PartType0+PartType2"),
      snapshot_ + ": column 'x' has 3 numbers per particle in PartType0, but 2 numbers per particle in PartType2");
}

// Sums of whole numbers, so that they are exact.
TEST_F(Hdf5Groups, ResultsGoToTheirGroups) {
  write("m.pipe",
        "input_i real mi; input_j real mj; input_j int typej; input_i int typei; output(sum) real other;\n"
        "if (typei != typej) other += mj;\n");
  const test::Outcome outcome = nbcc("run m.pipe --i s.hdf5:PartType0+PartType1 --update -o copy.hdf5");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const ParticleTable gas = read_hdf5(path("copy.hdf5"), "PartType0"), dark = read_hdf5(path("copy.hdf5"), "PartType1");
  EXPECT_EQ(std::get<Doubles>(gas.find("other")->data), (Doubles{0.75, 0.75}));
  EXPECT_EQ(std::get<Doubles>(dark.find("other")->data), (Doubles{15, 15, 15}));
  EXPECT_EQ(std::get<Doubles>(gas.find("h")->data), (Doubles{4, 4}));
  ASSERT_TRUE(dark.find_attribute("pipeline"));
  // The copy is nbcc's, and may be updated in its place; another program's snapshot may not.
  EXPECT_EQ(nbcc("run m.pipe --i copy.hdf5:PartType1+PartType0 --update").code, 0);
  EXPECT_EQ(std::get<Doubles>(read_hdf5(path("copy.hdf5"), "PartType0").find("other")->data), (Doubles{0.75, 0.75}));
  EXPECT_THAT(nbcc("run m.pipe --i s.hdf5:PartType0+PartType1 --update").err, HasSubstr("was not written by nbcc"));
  // One group of nbcc's and one that is not.
  ASSERT_EQ(nbcc("run $pipelines/potential.pipe --i s.hdf5:PartType0 --update -o half.hdf5").code, 0);
  EXPECT_THAT(nbcc("run m.pipe --i half.hdf5:PartType0+PartType1 --update").err, HasSubstr("was not written by nbcc"));
}

TEST_F(Hdf5Groups, ResultsOfOtherLengthAreRefused) {
  ParticleTable results;
  results.rows = 4;
  results.columns = {{"e", 1, Doubles(4)}};
  EXPECT_EQ(error_of([&] { check_update_hdf5(snapshot_, "PartType0+PartType1", results); }),
            snapshot_ + ": the groups PartType0+PartType1 have 5 rows, but there are 4 results");
}

// What a smoothing length means is said once, unless --bind has the answer.
TEST_F(Hdf5Groups, SmoothingLengthsAreExplained) {
  const std::string run = "run $pipelines/sph_density.pipe --force -o a.txt --i s.hdf5:PartType0";
  EXPECT_EQ(nbcc(run).err,
            "nbcc: note: 'hi' reads SmoothingLength of s.hdf5:PartType0, the radius where the kernel of GADGET, AREPO "
            "and GIZMO becomes zero; the SPH pipelines of nbcc take half of that radius: say --bind hi=0.5*h, or "
            "--bind hi=h to use it unchanged\n");
  EXPECT_EQ(nbcc(run + " --bind hi=0.5*h").err, "");
  EXPECT_EQ(nbcc(run + " --bind hi=h").err, "");
  EXPECT_EQ(nbcc("run $pipelines/potential.pipe --force -o a.txt --i s.hdf5:PartType0").err, "");
}

TEST_F(Hdf5Groups, SwiftNamesItsKernel) {
  const hid_t file = H5Fcreate(path("w.hdf5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t gas = make_group(file, "PartType0"), scheme = make_group(file, "HydroScheme");
  put_text(scheme, "Kernel function", "Wendland C2");
  put_dataset(gas, "Coordinates", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1, 3}, Doubles{0, 0, 0});
  put_dataset(gas, "Masses", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, Doubles{1});
  put_dataset(gas, "SmoothingLengths", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, Doubles{1});
  for (const hid_t group : {gas, scheme}) H5Gclose(group);
  H5Fclose(file);
  EXPECT_THAT(nbcc("run $pipelines/sph_density.pipe -o a.txt --i w.hdf5").err,
              HasSubstr("the kernel of SWIFT (Wendland C2) becomes zero at 1.936492 times that length in three "
                        "dimensions, and the SPH pipelines of nbcc take half of that radius: say --bind "
                        "hi=0.968246*h,"));
}

// The sum of a group's integers and another group's doubles is no reason to lose a digit of an id.
TEST_F(Hdf5Groups, IntegersThatNoDoubleEqualsAreRefused) {
  const std::int64_t large = (std::int64_t(1) << 53) + 1;
  const auto read = [&](const Longs& ids) {
    const hid_t file = H5Fopen(snapshot_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
                gas = H5Gopen2(file, "PartType0", H5P_DEFAULT), dark = H5Gopen2(file, "PartType1", H5P_DEFAULT);
    for (const hid_t group : {gas, dark})
      if (H5Lexists(group, "tag", H5P_DEFAULT) > 0) H5Ldelete(group, "tag", H5P_DEFAULT);
    put_dataset(gas, "tag", H5T_NATIVE_INT64, H5T_NATIVE_INT64, {2}, ids);
    put_dataset(dark, "tag", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {3}, Doubles{1, 2, 3});
    for (const hid_t group : {gas, dark}) H5Gclose(group);
    H5Fclose(file);
    return error_of([&] { read_both(); });
  };
  EXPECT_EQ(read({1, large - 1}), "");
  EXPECT_THAT(read({1, large}), HasSubstr("column 'tag' has integers in one group and other numbers in PartType1, and "
                                          "no double equals 9007199254740993"));
}

}  // namespace
}  // namespace nbcc
