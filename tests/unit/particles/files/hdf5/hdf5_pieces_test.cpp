// HDF5 files whose numbers are in several files: snapshots of GADGET and SWIFT, virtual datasets, raw external files. A
// piece is never read as the whole, and numbers of a missing file are not zeros.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <filesystem>
#include <functional>

#include "particles/files/particle_files.h"
#include "tests/support/particle_tables.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using test::error_of;

constexpr hsize_t kGas = 5, kDark = 4;

void add_attribute(hid_t place, const char* name, hid_t type, const std::vector<double>& numbers) {
  const hsize_t count = numbers.size();
  const hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr);
  const hid_t attribute = H5Acreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_DOUBLE, numbers.data());
  H5Aclose(attribute);
  H5Sclose(space);
}

void add_column(hid_t place, const char* name, std::vector<hsize_t> shape, double first, double step = 1) {
  const hid_t space = H5Screate_simple(int(shape.size()), shape.data(), nullptr);
  const hid_t dataset = H5Dcreate2(place, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  std::vector<double> numbers(shape[0] * (shape.size() > 1 ? shape[1] : 1), first);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] += step * double(k);
  H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
  H5Dclose(dataset);
  H5Sclose(space);
}

hid_t make(const std::string& path) {
  H5dont_atexit();  // as the library does before its first call: see Silence
  return H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}
hid_t piece_group(hid_t file, const char* name) {
  return H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

struct Header {
  std::vector<double> here{kGas, kDark, 0}, total{kGas, kDark, 0}, high{0, 0, 0}, masses{0, 0.25, 0};
  double files = 1;
};

std::string snapshot(const test::ScratchFolder& folder, const Header& header) {
  const std::string path = folder.path("snap.hdf5");
  const hid_t file = make(path), group = piece_group(file, "Header");
  add_attribute(group, "NumPart_ThisFile", H5T_NATIVE_INT32, header.here);
  add_attribute(group, "NumPart_Total", H5T_NATIVE_UINT32, header.total);
  add_attribute(group, "NumPart_Total_HighWord", H5T_NATIVE_UINT32, header.high);
  add_attribute(group, "MassTable", H5T_NATIVE_DOUBLE, header.masses);
  add_attribute(group, "NumFilesPerSnapshot", H5T_NATIVE_INT32, {header.files});
  H5Gclose(group);
  const hid_t gas = piece_group(file, "PartType0"), dark = piece_group(file, "PartType1");
  add_column(gas, "Coordinates", {kGas, 3}, 0.5);
  add_column(gas, "Masses", {kGas}, 2, 0);
  add_column(dark, "Coordinates", {kDark, 3}, 0.75);
  H5Gclose(gas);
  H5Gclose(dark);
  H5Fclose(file);
  return path;
}

TEST(Hdf5Pieces, EachCountOfASnapshotOffByOneIsNoticed) {
  const test::ScratchFolder folder;
  const std::string path = snapshot(folder, {});
  for (const char* group : {":PartType0", ":PartType1", ":PartType0+PartType1"})
    EXPECT_EQ(error_of([&] { read_particles(path + group); }), "");
  for (auto numbers : {&Header::here, &Header::total, &Header::high})
    for (const std::size_t type : {0, 1})
      for (const int step : {-1, 1}) {
        Header header;
        double& number = (header.*numbers)[type];
        if (number + step < 0) continue;
        number += step;
        snapshot(folder, header);
        const std::string of_type = "PartType" + std::to_string(type);
        const std::string error = error_of([&] { read_particles(path + ":" + of_type); });
        EXPECT_TRUE(error.starts_with(path + ": ") && error.find("NumPart_") != std::string::npos &&
                    error.find(of_type) != std::string::npos)
            << error;
        EXPECT_EQ(error_of([&] { read_particles(path + (type == 0 ? ":PartType1" : ":PartType0")); }), "");
      }
}

TEST(Hdf5Pieces, APieceIsNotTheWhole) {
  const test::ScratchFolder folder;
  Header header;
  header.total = {0, 0, 0};
  header.high = {2, 0, 0};
  header.files = 128;
  EXPECT_EQ(
      error_of([path = snapshot(folder, header)] { read_particles(path + ":PartType0"); }),
      folder.path("snap.hdf5") +
          ": it holds 5 of the 8589934592 particles of PartType0 that its snapshot has in 128 files (NumPart_Total "
          "and NumPart_Total_HighWord of Header); join them first");
}

TEST(Hdf5Pieces, AMassOfTheHeaderBesideOtherMassesIsRefused) {
  const test::ScratchFolder folder;
  Header header;
  header.masses[0] = 2;
  EXPECT_EQ(error_of([path = snapshot(folder, header)] { read_particles(path + ":PartType0"); }), "");
  header.masses[0] = 3;
  EXPECT_EQ(error_of([path = snapshot(folder, header)] { read_particles(path + ":PartType0"); }),
            folder.path("snap.hdf5") +
                ": PartType0 has Masses that differ from MassTable of Header: 2 in row 0, but 3; one of them is wrong");
  ReadOptions positions;
  positions.columns = "x[3]";
  EXPECT_EQ(read_particles(snapshot(folder, header) + ":PartType0", positions).rows, std::int64_t(kGas));
}

// The masses of the header are not those of the link.
TEST(Hdf5Pieces, ALinkToAMissingFileIsNamed) {
  const test::ScratchFolder folder;
  const std::string path = snapshot(folder, {});
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Lcreate_external("masses.h5", "/m", file, "PartType1/Masses", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  const auto read = [&](const char* columns) {
    ReadOptions options;
    options.columns = columns;
    return error_of([&] { read_particles(path + ":PartType1", options); });
  };
  EXPECT_EQ(read("x[3],m"),
            path + ": link 'Masses' refers to the file 'masses.h5', in which no such object can be opened");
  EXPECT_EQ(read("x[3]"), "");
}

// A virtual dataset x of `rows` numbers: the first three from one file, the next two from another.
// `by_rows`: each source is longer by one row, which is not taken.
void add_virtual(hid_t file, hsize_t rows, bool by_rows) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &rows, nullptr);
  hsize_t first = 0;
  for (const auto& [name, count] : {std::pair<const char*, hsize_t>{"part.0.h5", 3}, {"part.1.h5", 2}}) {
    const hsize_t length = by_rows ? count + 1 : count, none = 0;
    const hid_t of_source = H5Screate_simple(1, &length, nullptr);
    if (by_rows) H5Sselect_hyperslab(of_source, H5S_SELECT_SET, &none, nullptr, &count, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &count, nullptr);
    H5Pset_virtual(creation, space, name, "x", of_source);
    H5Sclose(of_source);
    first += count;
  }
  H5Sselect_all(space);
  H5Dclose(H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  H5Sclose(space);
  H5Pclose(creation);
}

std::string virtual_file(const test::ScratchFolder& folder, hsize_t rows = 5, hsize_t rows_of_last = 2,
                         bool by_rows = false) {
  for (const auto& [name, count] :
       {std::pair<const char*, hsize_t>{"part.0.h5", 3 + by_rows}, {"part.1.h5", rows_of_last}}) {
    const hid_t file = make(folder.path(name));
    add_column(file, "x", {count}, name[5] == '0' ? 1 : 4);
    H5Fclose(file);
  }
  const std::string path = folder.path("all.h5");
  const hid_t file = make(path);
  add_virtual(file, rows, by_rows);
  H5Fclose(file);
  return path;
}

TEST(Hdf5Pieces, VirtualDatasetsAreReadWhole) {
  const test::ScratchFolder folder;
  const ParticleTable table = read_particles(virtual_file(folder));
  EXPECT_EQ(std::get<std::vector<double>>(table.columns.at(0).data), (std::vector<double>{1, 2, 3, 4, 5}));
}

TEST(Hdf5Pieces, AMissingSourceIsNamed) {
  const test::ScratchFolder folder;
  const std::string path = virtual_file(folder);
  std::filesystem::remove(folder.path("part.1.h5"));
  EXPECT_EQ(
      error_of([&] { read_particles(path); }),
      path + ": dataset 'x' has numbers in the file 'part.1.h5', which cannot be opened: they would be read as 0");
  folder.write("part.1.h5", "no HDF5");
  EXPECT_TRUE(error_of([&] { read_particles(path); }).find("part.1.h5") != std::string::npos);
  const hid_t file = make(folder.path("part.1.h5"));
  add_column(file, "y", {2}, 4);
  H5Fclose(file);
  EXPECT_EQ(error_of([&] { read_particles(path); }),
            path +
                ": dataset 'x' has numbers in the dataset 'x' of 'part.1.h5', which does not exist: they would be "
                "read as 0");
}

TEST(Hdf5Pieces, ASourceThatIsTooShortIsNamed) {
  const test::ScratchFolder folder;
  const std::string path = virtual_file(folder, 5, 1);
  EXPECT_EQ(error_of([&] { read_particles(path); }),
            path + ": dataset 'x' has 2 numbers in the dataset 'x' of 'part.1.h5', which has 1");
  EXPECT_EQ(read_particles(virtual_file(folder, 5, 3, true)).rows, 5);
  virtual_file(folder, 5, 1, true);
  EXPECT_EQ(error_of([&] { read_particles(path); }),
            path +
                ": dataset 'x' takes rows up to 1 of the dataset 'x' of 'part.1.h5', which has 1 rows: the others "
                "would be read as 0");
}

TEST(Hdf5Pieces, RowsThatNoSourceHasAreCounted) {
  const test::ScratchFolder folder;
  const std::string path = virtual_file(folder, 7);
  EXPECT_EQ(error_of([&] { read_particles(path); }),
            path + ": dataset 'x' has 7 numbers, but its sources have 5 of them: the others would be read as 0");
}

TEST(Hdf5Pieces, AnExternalFileThatIsTooShortIsNamed) {
  const test::ScratchFolder folder;
  const std::string raw = folder.path("raw.bin"), path = folder.path("a.h5");
  const hid_t file = make(path), creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t rows = 4;
  H5Pset_external(creation, raw.c_str(), 0, rows * sizeof(double));
  const hid_t space = H5Screate_simple(1, &rows, nullptr);
  H5Dclose(H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  H5Sclose(space);
  H5Pclose(creation);
  H5Fclose(file);
  EXPECT_NE(error_of([&] { read_particles(path); }).find(raw), std::string::npos);
  folder.write("raw.bin", std::string(rows * sizeof(double), '\1'));
  EXPECT_EQ(error_of([&] { read_particles(path); }), "");
  folder.write("raw.bin", std::string(rows * sizeof(double) - 1, '\1'));
  EXPECT_EQ(error_of([&] { read_particles(path); }),
            path + ": dataset 'x' has 32 bytes in the file '" + raw + "', which has 31: the others would be read as 0");
}

ParticleTable results_of(std::int64_t rows) {
  ParticleTable table;
  table.rows = rows;
  table.columns = {{"acc", 1, std::vector<double>(std::size_t(rows), 1.5)}};
  return table;
}

TEST(Hdf5Pieces, AnUpdateInAnotherFolderKeepsNoRelativeSource) {
  const test::ScratchFolder folder;
  const std::string path = virtual_file(folder);
  std::filesystem::create_directory(folder.path("other"));
  const auto update_to = [&](const std::string& to) {
    return error_of([&] {
      const auto update = ParticleUpdate::of(path, to, {});
      ASSERT_TRUE(update);
      update->check(results_of(5));
      update->write(results_of(5));
    });
  };
  EXPECT_EQ(update_to(folder.path("other/new.h5")), path + ": dataset 'x' has numbers in the file 'part.0.h5', which " +
                                                        folder.path("other/new.h5") +
                                                        " would not find: write into the folder of the file");
  EXPECT_FALSE(std::filesystem::exists(folder.path("other/new.h5")));
  EXPECT_EQ(update_to(folder.path("new.h5")), "");
  EXPECT_EQ(read_particles(folder.path("new.h5")).rows, 5);
}

}  // namespace
}  // namespace nbcc
