#include "particles/files/hdf5/hdf5_file.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/support/particle_tables.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using test::error_of;

// A file that somebody else made: `fill` adds what it likes.
std::string make_file(const test::ScratchFolder& folder, const std::function<void(hid_t)>& fill) {
  const std::string path = folder.path("a.h5");
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  fill(file);
  H5Fclose(file);
  return path;
}

// A dataset without values (HDF5 reads zeros).
void add_dataset(hid_t place, const char* name, hid_t type, std::vector<hsize_t> shape, bool chunked = false) {
  const hid_t space =
      shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(int(shape.size()), shape.data(), nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  if (chunked) {
    const std::vector<hsize_t> chunk(shape.size(), 2);
    H5Pset_chunk(creation, int(shape.size()), chunk.data());
    H5Pset_deflate(creation, 4);
  }
  const hid_t dataset = H5Dcreate2(place, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Sclose(space);
}

hid_t add_group(hid_t file, const char* name) { return H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT); }

TEST(Hdf5File, WrittenTableComesBackInItsOrder) {
  const ParticleTable table = decode_hdf5(encode_hdf5(test::mixed_table(), "a.h5"), "a.h5");
  test::expect_same_columns(table, test::mixed_table());
  EXPECT_EQ(table.attributes, test::mixed_table().attributes);
}

TEST(Hdf5File, UnnamedTableComesBack) {
  test::expect_same_columns(decode_hdf5(encode_hdf5(test::unnamed_table(), "a.h5"), "a.h5"), test::unnamed_table());
}

TEST(Hdf5File, NoParticlesAreFine) {
  ParticleTable table;
  table.columns = {{"x", 3, std::vector<double>()}};
  EXPECT_EQ(decode_hdf5(encode_hdf5(table, "a.h5"), "a.h5").column_names(), "x[3]");
}

// HDF5 would note times, in seconds: of datasets and of the root.
TEST(Hdf5File, SameTableGivesSameBytesAtAnotherTime) {
  const std::string before = encode_hdf5(test::mixed_table(), "a.h5");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_TRUE(encode_hdf5(test::mixed_table(), "b.h5") == before);
}

TEST(Hdf5File, EncodingTouchesNoFile) {
  const test::ScratchFolder folder;
  folder.write("a.h5", "mine");
  encode_hdf5(test::mixed_table(), folder.path("a.h5"));
  EXPECT_EQ(folder.read("a.h5"), "mine");
}

TEST(Hdf5File, ForeignNumberTypesAreWidened) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) {
    add_dataset(file, "a", H5T_STD_U16BE, {4});
    add_dataset(file, "b", H5T_STD_U32LE, {4, 2});
    add_dataset(file, "c", H5T_IEEE_F32BE, {4}, true);
  });
  const ParticleTable table = read_hdf5(path);
  EXPECT_EQ(table.rows, 4);
  ASSERT_EQ(table.column_names(), "a, b[2], c");
  EXPECT_EQ(table.columns[0].type(), ElementType::Int32);
  EXPECT_EQ(table.columns[1].type(), ElementType::Int64);
  EXPECT_EQ(table.columns[2].type(), ElementType::Float);
}

TEST(Hdf5File, TheOnlyGroupIsRead) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) {
    H5Gclose(add_group(file, "Header"));
    const hid_t group = add_group(file, "PartType1");
    add_dataset(group, "Coordinates", H5T_NATIVE_DOUBLE, {2, 3});
    H5Gclose(group);
  });
  EXPECT_EQ(read_hdf5(path).column_names(), "x[3] (Coordinates)");
}

TEST(Hdf5File, SeveralGroupsNeedAName) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) {
    for (const char* name : {"PartType0", "PartType1"}) {
      const hid_t group = add_group(file, name);
      add_dataset(group, name, H5T_NATIVE_DOUBLE, {2});
      H5Gclose(group);
    }
  });
  EXPECT_EQ(error_of([&] { read_hdf5(path); }),
            path + ": several groups hold datasets (PartType0, PartType1); name one: " + path +
                ":PartType0, or several: " + path + ":PartType0+PartType1");
  EXPECT_EQ(read_hdf5(path, "PartType1").column_names(), "PartType1");
  EXPECT_EQ(error_of([&] { read_hdf5(path, "Stars"); }), path + ": there is no group 'Stars' in it");
}

template <class Values>
void write_dataset(hid_t place, const char* name, hid_t type, hid_t in_file, std::vector<hsize_t> shape,
                   const Values& values) {
  add_dataset(place, name, in_file, std::move(shape));
  const hid_t dataset = H5Dopen2(place, name, H5P_DEFAULT);
  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(dataset);
}

void add_numbers(hid_t place, const char* name, const std::vector<double>& numbers) {
  const hsize_t count = numbers.size();
  const hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr);
  const hid_t attribute = H5Acreate2(place, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_DOUBLE, numbers.data());
  H5Aclose(attribute);
  H5Sclose(space);
}

// A snapshot of GADGET: two gas particles with masses of their own, two of dark matter with that of the header.
void fill_snapshot(hid_t file, double dark_matter_in_all = 2) {
  const hid_t header = add_group(file, "Header");
  add_numbers(header, "MassTable", {0, 0.25, 0, 0, 0, 0});
  add_numbers(header, "NumPart_ThisFile", {2, 2, 0, 0, 0, 0});
  add_numbers(header, "NumPart_Total", {2, dark_matter_in_all, 0, 0, 0, 0});
  add_numbers(header, "BoxSize", {50});
  H5Gclose(header);
  for (const char* name : {"PartType0", "PartType1"}) {
    const hid_t group = add_group(file, name);
    const std::vector<std::uint64_t> ids = {11, 12};
    write_dataset(group, "Coordinates", H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, {2, 3},
                  std::vector<double>{1, 2, 3, 4, 5, 6});
    write_dataset(group, "ParticleIDs", H5T_NATIVE_UINT64, H5T_NATIVE_UINT64, {2}, ids);
    if (std::string_view(name) == "PartType0")
      for (const char* scalar : {"Masses", "SmoothingLength", "Density", "InternalEnergy"})
        write_dataset(group, scalar, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {2}, std::vector<double>{7, 8});
    H5Gclose(group);
  }
}

TEST(Hdf5File, SnapshotsOfGadgetHaveTheNamesOfFields) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) { fill_snapshot(file); });
  const ParticleTable gas = read_hdf5(path, "PartType0");
  ASSERT_EQ(gas.column_names(),
            "x[3] (Coordinates), rho (Density), u (InternalEnergy), m (Masses), id (ParticleIDs), h (SmoothingLength)");
  EXPECT_EQ(std::get<std::vector<double>>(gas.find("m")->data), (std::vector<double>{7, 8}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(gas.find("id")->data), (std::vector<std::int64_t>{11, 12}));
  EXPECT_EQ(*gas.find_attribute("BoxSize"), "50");
  EXPECT_EQ(gas.find("Masses"), gas.find("m"));
  EXPECT_EQ(error_of([&] { read_hdf5(path); }),
            path + ": several groups hold datasets (PartType0, PartType1); name one: " + path +
                ":PartType0, or several: " + path + ":PartType0+PartType1");
}

TEST(Hdf5File, MassesOfTheHeaderOfGadgetBecomeAColumn) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) { fill_snapshot(file); });
  const ParticleTable dark = read_hdf5(path, "/PartType1/");
  ASSERT_EQ(dark.column_names(), "x[3] (Coordinates), id (ParticleIDs), m (MassTable)");
  EXPECT_EQ(std::get<std::vector<double>>(dark.find("m")->data), (std::vector<double>{0.25, 0.25}));
}

TEST(Hdf5File, ColumnsOfGadgetAreChosenByEitherName) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) { fill_snapshot(file); });
  ColumnChoice choice(parse_columns("Masses,x"));
  choice.optional_name = "id";
  EXPECT_EQ(read_hdf5(path, "PartType0", choice).columns.size(), 3u);
}

TEST(Hdf5File, PartOfASnapshotOfGadgetIsNotTakenForAllOfIt) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) { fill_snapshot(file, 9); });
  EXPECT_EQ(read_hdf5(path, "PartType0").rows, 2);
  EXPECT_EQ(error_of([&] { read_hdf5(path, "PartType1"); }),
            path +
                ": it holds 2 of the 9 particles of PartType1 that its snapshot has in several files (NumPart_Total "
                "of Header); join them first");
}

// Groups that are no particles, and names that the file uses already.
TEST(Hdf5File, OtherGroupsBesideTheParticlesOfGadgetDoNotCount) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) {
    const hid_t cells = add_group(file, "Cells"), stars = add_group(file, "PartType4");
    add_dataset(cells, "Centres", H5T_NATIVE_DOUBLE, {8, 3});
    for (const char* name : {"Coordinates", "x", "Velocities"}) add_dataset(stars, name, H5T_NATIVE_DOUBLE, {2, 3});
    H5Gclose(stars);
    H5Gclose(cells);
  });
  EXPECT_EQ(read_hdf5(path).column_names(), "Coordinates[3], v[3] (Velocities), x[3]");
  EXPECT_EQ(read_hdf5(path, "Cells").column_names(), "Centres[3]");
}

TEST(Hdf5File, UnsignedIntegersThatFitAreRead) {
  const test::ScratchFolder folder;
  std::vector<std::uint64_t> values = {1, (std::uint64_t(1) << 63) - 2};
  const auto fill = [&](hid_t file) { write_dataset(file, "n", H5T_NATIVE_UINT64, H5T_STD_U64BE, {2}, values); };
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(read_hdf5(make_file(folder, fill)).columns[0].data)[1],
            std::int64_t(values[1]));
  values[1] = std::uint64_t(1) << 63;
  const std::string path = make_file(folder, fill);
  EXPECT_EQ(error_of([&] { read_hdf5(path); }),
            path + ": dataset 'n' holds unsigned 64-bit integers that do not fit int64; store int64");
}

TEST(Hdf5File, OnlyWantedDatasetsAreRead) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) {
    add_dataset(file, "m", H5T_NATIVE_DOUBLE, {2});
    add_dataset(file, "grid", H5T_NATIVE_DOUBLE, {2, 2, 2});
  });
  EXPECT_EQ(read_hdf5(path, "", parse_columns("m")).column_names(), "m");
}

TEST(Hdf5File, LoneNumbersAreAttributes) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) {
    add_dataset(file, "m", H5T_NATIVE_DOUBLE, {2});
    add_dataset(file, "time", H5T_NATIVE_INT, {});
  });
  const ParticleTable table = read_hdf5(path);
  ASSERT_NE(table.find_attribute("time"), nullptr);
  EXPECT_EQ(*table.find_attribute("time"), "0");
}

TEST(Hdf5File, StringsOfVariableLengthArePassedOver) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t file) {
    add_dataset(file, "m", H5T_NATIVE_DOUBLE, {2});
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    add_dataset(file, "note", type, {});
    H5Tclose(type);
  });
  const ParticleTable table = read_hdf5(path);
  EXPECT_EQ(table.column_names(), "m");
  EXPECT_TRUE(table.attributes.empty());
}

TEST(Hdf5File, DamagedBytesNeverCrash) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the HDF5 library itself leaks memory when it gives a damaged file up";
#endif
  const std::string whole = encode_hdf5(test::mixed_table(), "a.h5");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x91);
    try {
      decode_hdf5(bytes, "a.h5");
    } catch (const FileError& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with("a.h5: "));
    }
  }
}

TEST(Hdf5File, ErrorsNameTheDataset) {
  const test::ScratchFolder folder;
  const struct {
    hid_t type;
    std::vector<hsize_t> shape;
    bool chunked;
    const char* reason;
  } cases[] = {
      {H5T_NATIVE_DOUBLE, {2, 2, 2}, false, "dataset 'x' has 3 dimensions; particles are (N) or (N, K)"},
      {H5T_NATIVE_DOUBLE, {2, 0}, false, "dataset 'x' has rows of 0 numbers"},
      {H5T_NATIVE_LDOUBLE, {2}, false, "dataset 'x' holds 128-bit floating point numbers; store float32 or float64"},
      {H5T_C_S1, {2}, false, "dataset 'x' holds text, not numbers"},
      {H5T_STD_REF_OBJ, {2}, false, "dataset 'x' holds neither floating point numbers nor integers"},
      {H5T_NATIVE_DOUBLE,
       {hsize_t{1} << 50},
       true,
       "dataset 'x' claims 1125899906842624 rows of 1 numbers, but only 0 bytes are stored for it"},
      {H5T_NATIVE_DOUBLE,
       {hsize_t{1} << 40, hsize_t{1} << 20},
       true,
       "dataset 'x' claims 1099511627776 rows of 1048576 numbers, but only 0 bytes are stored for it"},
  };
  for (const auto& [type, shape, chunked, reason] : cases) {
    const std::string path = make_file(folder, [&](hid_t file) { add_dataset(file, "x", type, shape, chunked); });
    EXPECT_EQ(error_of([&] { read_hdf5(path); }), path + ": " + reason);
  }
}

TEST(Hdf5File, EmptyFileHasNoDatasets) {
  const test::ScratchFolder folder;
  const std::string path = make_file(folder, [](hid_t) {});
  EXPECT_EQ(error_of([&] { read_hdf5(path); }), path + ": there are no datasets in it");
}

TEST(Hdf5File, WhatIsNotHdf5IsAnErrorAndPrintsNothing) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("a.h5", "1 2 3\n");
  testing::internal::CaptureStderr();
  EXPECT_TRUE(error_of([&] { read_hdf5(path); }).starts_with(path + ": it cannot be opened as HDF5: "));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Hdf5File, TruncationsAreErrors) {
  const std::string bytes = encode_hdf5(test::mixed_table(), "a.h5");
  for (std::size_t length = 1; length < bytes.size(); length += 97)
    EXPECT_NE(error_of([&] { decode_hdf5(std::string_view(bytes).substr(0, length), "a.h5"); }), "") << length;
}

}  // namespace
}  // namespace nbcc
